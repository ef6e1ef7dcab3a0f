//! Sizes of Parquet columns for Python, which reads and decompresses the pages.
//!
//! - In: pages of a column of a row group. Out: bounds of what they decode to.
//! - Cost: a page is scanned without the GIL.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rdfm_arrow::parquet::{self, Chunk, Leaf, Page, page};

use crate::errors;

/// Where a page is, and what its bytes are: offset, bytes in the file, decompressed bytes, bytes of levels in front that
/// are not compressed, whether the others are compressed.
type Place = (u64, usize, usize, usize, bool);

fn place((offset, page): &(u64, Page)) -> Place {
    let (levels, is_compressed) = (page.levels(), page.is_compressed);
    (*offset, page.compressed, page.size, levels, is_compressed)
}

/// The pages of one column of a row group of a Parquet file.
///
/// Args:
///     values: The number of values that the file declares.
///     max_definition: The column's highest definition level.
///     max_repetition: The column's highest repetition level.
///     width: Bytes of each value; None for texts.
///     max_row_bytes: The most bytes that a row may have.
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

    /// Add the page whose header starts at an offset; gives the offset after the page, or None if the bytes end within
    /// the header.
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

    /// Bytes of the pages that are in memory at once.
    #[getter]
    fn page_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.page_bytes()))
    }

    /// A bound of the decoded bytes of all rows.
    #[getter]
    fn bound(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.bound()))
    }

    /// The dictionary page, unless it was scanned or its entries have one size.
    #[getter]
    fn dictionary(&self, py: Python<'_>) -> PyResult<Option<Place>> {
        self.with(py, |chunk| Ok(chunk.dictionary().map(place)))
    }

    /// The data pages, and whether each expands, and is opaque: only a scan counts its rows.
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

    /// Begin to scan the pages.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |chunk| {
            chunk.begin();
            Ok(())
        })
    }

    /// Scan a page; False once a row is too large.
    fn scan(&self, py: Python<'_>, page: usize, data: &[u8]) -> PyResult<bool> {
        self.with(py, |chunk| chunk.scan(page, data))
    }

    /// Count the rows of a page that is not opaque.
    fn skip(&self, py: Python<'_>, page: usize) -> PyResult<()> {
        self.with(py, |chunk| {
            chunk.pass(page);
            Ok(())
        })
    }

    /// The largest bytes of each aligned 1, 2, 4 … rows that were scanned; and the row that is too large.
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
        // Never waits, since another thread that uses it may wait for the GIL.
        let Ok(mut chunk) = self.chunk.try_lock() else {
            return Err(errors::in_use("column"));
        };
        let chunk = &mut *chunk;
        errors::guarded(py, || work(chunk))?.map_err(PyValueError::new_err)
    }
}

/// Values, number of the compression, bytes of all pages, offsets of the first data page and of the dictionary page.
type Column = (i64, i64, i64, i64, Option<i64>);

/// The columns of each row group of a Parquet file, from its footer: values, number of the compression, bytes of all
/// pages, offsets of the first data page and of the dictionary page.
///
/// Raises:
///     ValueError: It is not a footer.
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
