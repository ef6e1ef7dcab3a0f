//! Rows for Python: several batches as one, rows regrouped, and batches of rows.
//!
//! - In: batches, or Arrow rows. Out: Arrow batches, or batches.
//! - Cost: everything is done without the GIL, and handed over without a copy.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use rdfm_arrow::from_arrow::RowReader;
use rdfm_arrow::schema::kind_of;
use rdfm_arrow::to_arrow::{self, Coalesce};
use rdfm_core::codec::batch::Batch;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::Quad;

use crate::arrow::{self, ArrowBatch, Reader};
use crate::batch::MessageBatch;
use crate::codecs::{core_batch, python_batch};
use crate::{errors, options};

/// Several batches as one Arrow batch, as `MessageBatch.to_arrow` makes it of one.
///
/// Raises:
///     LimitError: The strings would pass 2 GiB; see ArrowCoalescer.
#[pyfunction]
#[pyo3(signature = (batches, columns=None, source=None))]
fn coalesce(
    py: Python<'_>,
    batches: Vec<Bound<'_, MessageBatch>>,
    columns: Option<Vec<String>>,
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let columns = arrow::columns(Kind::Messages, columns.as_deref())?;
    let batches: Vec<_> = batches.iter().map(|batch| batch.get().inner()).collect();
    arrow::record_batch(py, &batches, &columns, source)
}

/// Regroups messages into Arrow batches of even size: each has `max_rows` rows or passes `max_bytes`
/// bytes of strings with its last row; the last one has less.
///
/// Args:
///     columns: As in `to_arrow` of a batch; results have theirs, one a variable.
///     kind: "messages", "patches" or "results".
///     max_rows: Rows after which an Arrow batch ends.
///     max_bytes: Bytes of strings after which an Arrow batch ends.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowCoalescer {
    coalescer: Mutex<Box<dyn Coalesce>>,
}

#[pymethods]
impl ArrowCoalescer {
    #[new]
    #[pyo3(signature = (columns=None, *, kind="messages", max_rows=8192, max_bytes=67_108_864))]
    fn new(
        columns: Option<Vec<String>>,
        kind: &str,
        max_rows: usize,
        max_bytes: usize,
    ) -> PyResult<Self> {
        let kind = options::kind(kind)?;
        let columns = arrow::columns(kind, columns.as_deref())?;
        let coalescer = to_arrow::coalescer(kind, columns, max_rows, max_bytes);
        let coalescer = coalescer.map_err(errors::option)?;
        Ok(Self {
            coalescer: Mutex::new(coalescer),
        })
    }

    /// Take a batch's messages; gives the Arrow batches that are complete.
    ///
    /// Args:
    ///     batch: The messages.
    ///     source: The text of their source column; null by default.
    /// Raises:
    ///     LimitError: The strings of one message pass 2 GiB.
    ///     ValueError: The batch is of another kind, or of results with other variables than the rows before; or it
    ///         is the answer of an ASK query.
    #[pyo3(signature = (batch, source=None))]
    fn push(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        source: Option<&str>,
    ) -> PyResult<Vec<ArrowBatch>> {
        let batch = core_batch(batch)?;
        let complete = self.with(py, |coalescer| coalescer.push_any(batch, source))?;
        Ok(complete.into_iter().map(ArrowBatch::new).collect())
    }

    /// The rows that are left, or None.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        let rest = self.with(py, |coalescer| coalescer.finish())?;
        Ok(rest.map(ArrowBatch::new))
    }
}

impl ArrowCoalescer {
    /// Works with the rows without the GIL; a panic drops them.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Coalesce) -> Result<R, rdfm_arrow::Error> + Send,
    ) -> PyResult<R> {
        // Never waits, since another thread that holds it may wait for the GIL.
        let Ok(mut coalescer) = self.coalescer.try_lock() else {
            return Err(errors::in_use("coalescer"));
        };
        let coalescer = &mut **coalescer;
        errors::guarded(py, || work(&mut *coalescer))
            .inspect_err(|_| coalescer.clear())?
            .map_err(|error| arrow::exception(py, error))
    }
}

/// Batches of the messages of Arrow rows, of the size that a decoder makes: of patches where there is a column
/// `operations`.
///
/// Args:
///     rows: Anything with the Arrow PyCapsule interface, as in `MessageBatch.from_arrow`.
///     first_index: The index of the first row's message; errors count from it too.
///     max_depth: How deep triple terms may nest.
/// Returns:
///     An iterator that reads on when asked for a batch. It raises DecodeError after the messages of
///     all rows before the one whose term breaks N-Triples, and again when asked again.
/// Raises:
///     TypeError: `rows` is no Arrow, or has no column of `quads` or of `operations`, or both.
#[pyfunction]
#[pyo3(signature = (rows, *, first_index=0, max_depth=64))]
fn batches_from_arrow(
    rows: &Bound<'_, PyAny>,
    first_index: u64,
    max_depth: u32,
) -> PyResult<ArrowRows> {
    fn read<R: rdfm_arrow::from_arrow::Listed>(
        reader: Reader,
        first_index: u64,
        max_depth: u32,
    ) -> Box<dyn Batches> {
        Box::new(RowReader::<_, R>::new(reader, first_index, max_depth))
    }
    let reader = arrow::reader(rows)?;
    let max_depth = options::depth(max_depth)?;
    let kind = kind_of(&reader.schema()).map_err(|error| arrow::exception(rows.py(), error))?;
    let rows = match kind {
        Kind::Patches => read::<Operation>(reader, first_index, max_depth),
        _ => read::<Quad>(reader, first_index, max_depth),
    };
    Ok(ArrowRows {
        rows: Mutex::new(Some(rows)),
    })
}

/// Rows on their way into batches of any kind.
trait Batches: Send {
    fn next_batch(&mut self) -> Result<Option<Batch>, rdfm_arrow::Error>;
}

impl<R: rdfm_arrow::from_arrow::Listed> Batches for RowReader<Reader, R> {
    fn next_batch(&mut self) -> Result<Option<Batch>, rdfm_arrow::Error> {
        Ok(Self::next_batch(self)?.map(R::any))
    }
}

/// An iterator over the batches of Arrow rows.
#[pyclass(frozen, module = "rdfm._core")]
struct ArrowRows {
    /// Taken out while it reads, so that no lock is held while another thread may run.
    rows: Mutex<Option<Box<dyn Batches>>>,
}

#[pymethods]
impl ArrowRows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(mut rows) = self.swap(None) else {
            return Err(errors::in_use("iterator"));
        };
        let (made, rows) = errors::guarded(py, move || (rows.next_batch(), rows))?;
        self.swap(Some(rows));
        let batch = made.map_err(|error| arrow::exception(py, error))?;
        batch.map(|batch| python_batch(py, batch)).transpose()
    }
}

impl ArrowRows {
    fn swap(&self, rows: Option<Box<dyn Batches>>) -> Option<Box<dyn Batches>> {
        let mut slot = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, rows)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowCoalescer>()?;
    module.add_function(wrap_pyfunction!(coalesce, module)?)?;
    module.add_function(wrap_pyfunction!(batches_from_arrow, module)?)
}
