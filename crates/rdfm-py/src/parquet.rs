//! Parquet column sizes and joined files for Python. Python reads and writes the pages.
//!
//! - In: the pages of one column in a row group. Out: bounds on their decoded size.
//! - In: files. Out: one file with all row groups.
//! - Cost: pages are scanned without the GIL.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rdfm_arrow::parquet::{self, Chunk, Joiner, Leaf, Page, page};

use crate::errors;

/// Location and layout of a page: offset, size in the file, decompressed size, size of the leading
/// uncompressed levels (all in bytes), and whether the remaining bytes are compressed.
type Place = (u64, usize, usize, usize, bool);

fn place((offset, page): &(u64, Page)) -> Place {
    let (levels, is_compressed) = (page.levels(), page.is_compressed);
    (*offset, page.compressed, page.size, levels, is_compressed)
}

/// The pages of one column in a Parquet row group.
///
/// Args:
///     values: Number of values, as declared in the file.
///     max_definition: Highest definition level of the column.
///     max_repetition: Highest repetition level of the column.
///     width: Size of each value in bytes; None for strings.
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
    ///     The offset after the page, or None if the header is truncated.
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

    /// Whether all pages have been added.
    #[getter]
    fn complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |chunk| Ok(chunk.is_complete()))
    }

    /// Total size in bytes of the pages that are in memory at the same time.
    #[getter]
    fn page_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.page_bytes()))
    }

    /// Upper bound on the decoded size of all rows, in bytes.
    #[getter]
    fn bound(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |chunk| Ok(chunk.bound()))
    }

    /// The dictionary page, or None if it has been scanned or its entries have a fixed size.
    #[getter]
    fn dictionary(&self, py: Python<'_>) -> PyResult<Option<Place>> {
        self.with(py, |chunk| Ok(chunk.dictionary().map(place)))
    }

    /// The data pages, each with two flags: whether its values may be larger than the page, and
    /// whether it must be scanned to count its rows.
    #[getter]
    fn pages(&self, py: Python<'_>) -> PyResult<Vec<(Place, bool, bool)>> {
        self.with(py, |chunk| {
            let pages = chunk.pages().iter().enumerate();
            let pages =
                pages.map(|(at, page)| (place(page), chunk.expands(at), chunk.needs_scan(at)));
            Ok(pages.collect())
        })
    }

    /// Read the lengths of the dictionary entries.
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

    /// Scan a page. Returns False if a row is too large.
    fn scan(&self, py: Python<'_>, page: usize, data: &[u8]) -> PyResult<bool> {
        self.with(py, |chunk| chunk.scan(page, data))
    }

    /// Count the rows of a page that does not need to be scanned.
    fn skip(&self, py: Python<'_>, page: usize) -> PyResult<()> {
        self.with(py, |chunk| {
            chunk.skip_page(page);
            Ok(())
        })
    }

    /// Return the maximum size in bytes of aligned groups of 1, 2, 4 … scanned rows, and the index
    /// of the row that is too large, or None.
    fn finish(&self, py: Python<'_>) -> PyResult<(Vec<u64>, Option<u64>)> {
        self.with(py, |chunk| {
            chunk.finish();
            Ok((chunk.windows().to_vec(), chunk.too_large()))
        })
    }
}

impl ParquetColumn {
    /// Runs `work` on the pages without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Chunk) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        // Never waits, since a thread that holds the lock may be waiting for the GIL.
        let Ok(mut chunk) = self.chunk.try_lock() else {
            return Err(errors::in_use_error("column"));
        };
        let chunk = &mut *chunk;
        errors::run_guarded(py, || work(chunk))?.map_err(PyValueError::new_err)
    }
}

/// Number of values, compression codec, total page size in bytes, offset of the first data page,
/// offset of the dictionary page.
type Column = (i64, i64, i64, i64, Option<i64>);

/// Read the columns of each row group of a Parquet file from its footer.
///
/// Returns:
///     For each column: number of values, number of the compression codec, total page size in
///     bytes, offset of the first data page, and offset of the dictionary page or None.
/// Raises:
///     ValueError: If the bytes are not a footer.
#[pyfunction]
fn parquet_columns(footer: &[u8]) -> PyResult<Vec<Vec<Column>>> {
    let groups = parquet::column_locations(footer).map_err(PyValueError::new_err)?;
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

/// Joins Parquet files with the same schema into one file.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ParquetJoiner {
    joiner: Mutex<Joiner>,
}

#[pymethods]
impl ParquetJoiner {
    #[new]
    fn new() -> Self {
        Self {
            joiner: Mutex::default(),
        }
    }

    /// Add the next file.
    ///
    /// Returns:
    ///     The bytes of this file to write to the joined file next.
    /// Raises:
    ///     ValueError: If the bytes are not a Parquet file.
    fn add<'py>(&self, py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let range = self.lock()?.add(file).map_err(PyValueError::new_err)?;
        Ok(PyBytes::new(py, &file[range]))
    }

    /// Return the bytes at the end of the joined file. At least one file must have been added.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock()?.finish()))
    }
}

impl ParquetJoiner {
    fn lock(&self) -> PyResult<MutexGuard<'_, Joiner>> {
        self.joiner
            .try_lock()
            .map_err(|_| errors::in_use_error("file"))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ParquetColumn>()?;
    module.add_class::<ParquetJoiner>()?;
    module.add_function(wrap_pyfunction!(parquet_columns, module)?)
}
