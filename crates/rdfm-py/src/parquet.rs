//! Sizes of Parquet columns for Python, which reads and decompresses the pages.
//!
//! - In: pages of a column of a row group. Out: bounds of their decoded size.
//! - Cost: a page is scanned without the GIL.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rdfm_arrow::parquet::{self, Chunk, Leaf, Page, page};

use crate::errors;

/// Location and layout of a page: offset, bytes in the file, decompressed bytes, bytes of leading
/// uncompressed levels, and whether the remaining bytes are compressed.
type Place = (u64, usize, usize, usize, bool);

fn place((offset, page): &(u64, Page)) -> Place {
    let (levels, is_compressed) = (page.levels(), page.is_compressed);
    (*offset, page.compressed, page.size, levels, is_compressed)
}

/// Pages of one column of a row group of a Parquet file.
///
/// Args:
///     values: Number of values that the file declares.
///     max_definition: Highest definition level of the column.
///     max_repetition: Highest repetition level of the column.
///     width: Size of each value in bytes; None for texts.
///     max_row_bytes: Maximum size of a row in bytes.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ParquetColumn {
    chunk: Mutex<Chunk>,
}

#[pymethods]
impl ParquetColumn {
    #[new]
    #[pyo3(signature = (values, *, max_definition, max_repetition, width, max_row_bytes))]
    fn new(
        values: u64,
        max_definition: u32,
        max_repetition: u32,
        width: Option<u64>,
        max_row_bytes: u64,
    ) -> Self {
        let leaf = Leaf {
            max_definition,
            max_repetition,
            width,
        };
        Self {
            chunk: Mutex::new(Chunk::new(leaf, values, max_row_bytes)),
        }
    }

    /// Add the page whose header starts at an offset.
    ///
    /// Returns:
    ///     The offset after the page, or None if the bytes end within the header.
    fn add(&self, py: Python<'_>, offset: u64, header: &[u8]) -> PyResult<Option<u64>> {
        self.with(py, |chunk| {
            let Some(page) = page(header)? else {
                return Ok(None);
            };
            let after = offset + (page.header + page.compressed) as u64;
            chunk.add(offset, page)?;
            Ok(Some(after))
        })
    }

    /// Whether all pages were added.
    #[getter]
    fn complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |chunk| Ok(chunk.is_complete()))
    }

    /// Bytes of the pages that are in memory at the same time.
    #[getter]
    fn page_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.page_bytes()))
    }

    /// Upper bound of the decoded bytes of all rows.
    #[getter]
    fn bound(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.bound()))
    }

    /// Dictionary page; None if it was scanned or its entries have a fixed size.
    #[getter]
    fn dictionary(&self, py: Python<'_>) -> PyResult<Option<Place>> {
        self.with(py, |chunk| Ok(chunk.dictionary().map(place)))
    }

    /// Data pages, and for each whether it expands, and whether only a scan can count its rows.
    #[getter]
    fn pages(&self, py: Python<'_>) -> PyResult<Vec<(Place, bool, bool)>> {
        self.with(py, |chunk| {
            let pages = chunk.pages().iter().enumerate();
            let pages =
                pages.map(|(at, page)| (place(page), chunk.expands(at), chunk.is_opaque(at)));
            Ok(pages.collect())
        })
    }

    /// Read the lengths of the dictionary's entries.
    fn scan_dictionary(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        self.with(py, |chunk| chunk.scan_dictionary(data))
    }

    /// Start a scan of the pages.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |chunk| {
            chunk.begin();
            Ok(())
        })
    }

    /// Scan a page; returns False if a row is too large.
    fn scan(&self, py: Python<'_>, page: usize, data: &[u8]) -> PyResult<bool> {
        self.with(py, |chunk| chunk.scan(page, data))
    }

    /// Count the rows of a page that does not need a scan.
    fn skip(&self, py: Python<'_>, page: usize) -> PyResult<()> {
        self.with(py, |chunk| {
            chunk.pass(page);
            Ok(())
        })
    }

    /// Return the maximum bytes of each aligned 1, 2, 4 … scanned rows, and the row that is too
    /// large.
    fn finish(&self, py: Python<'_>) -> PyResult<(Vec<u64>, Option<u64>)> {
        self.with(py, |chunk| {
            chunk.finish();
            Ok((chunk.windows().to_vec(), chunk.too_large()))
        })
    }
}

impl ParquetColumn {
    /// Works with the pages without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Chunk) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        // Never waits, since a thread that holds the lock may be waiting for the GIL.
        let Ok(mut chunk) = self.chunk.try_lock() else {
            return Err(errors::in_use("column"));
        };
        let chunk = &mut *chunk;
        errors::guarded(py, || work(chunk))?.map_err(PyValueError::new_err)
    }
}

/// Number of values, compression codec, bytes of all pages, offsets of the first data page and of
/// the dictionary page.
type Column = (i64, i64, i64, i64, Option<i64>);

/// Read the columns of each row group of a Parquet file from its footer.
///
/// Returns:
///     For each column: number of values, number of the compression codec, bytes of all pages,
///     offsets of the first data page and of the dictionary page.
/// Raises:
///     ValueError: If the bytes are not a footer.
#[pyfunction]
fn parquet_columns(footer: &[u8]) -> PyResult<Vec<Vec<Column>>> {
    let groups = parquet::places(footer).map_err(PyValueError::new_err)?;
    let groups = groups.into_iter().map(|columns| {
        let columns = columns.into_iter();
        let columns = columns.map(|place| {
            let (values, codec, bytes) = (place.values, place.codec, place.compressed);
            (values, codec, bytes, place.data, place.dictionary)
        });
        columns.collect()
    });
    Ok(groups.collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ParquetColumn>()?;
    module.add_function(wrap_pyfunction!(parquet_columns, module)?)
}
