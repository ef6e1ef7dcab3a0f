//! Arrow rows for Python: batches to rows, merging and resizing of Arrow batches, and rows to
//! batches.
//!
//! - In: batches, or Arrow rows. Out: Arrow batches, or batches.
//! - Cost: the GIL is released during all work, and results are passed without a copy.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use rdfm_arrow::from_arrow::{QuadReader, RowReader};
use rdfm_arrow::schema::{RowKind, RowLayout, detect_row_kind};
use rdfm_arrow::to_arrow::{self, Coalesce, QuadCoalescer};
use rdfm_core::codec::batch::{Batch, LogRecord as _};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::Quad;

use crate::arrow::{self, ArrowBatch, Reader};
use crate::batch::MessageBatch;
use crate::codecs::{to_core_batch, to_python_batch};
use crate::{errors, options};

/// Convert several batches to one Arrow batch, like `MessageBatch.to_arrow` for a single batch.
///
/// Raises:
///     LimitError: If the strings would exceed 2 GiB; use `ArrowCoalescer` instead.
#[pyfunction]
#[pyo3(signature = (batches, columns=None, source=None, *, rows="messages", terms="ntriples"))]
fn coalesce(
    py: Python<'_>,
    batches: Vec<Bound<'_, MessageBatch>>,
    columns: Option<Vec<String>>,
    source: Option<&str>,
    rows: &str,
    terms: &str,
) -> PyResult<ArrowBatch> {
    let rows = arrow::rows(Kind::Messages, columns.as_deref(), rows, terms)?;
    let batches: Vec<_> = batches.iter().map(|batch| batch.get().inner()).collect();
    arrow::batch_of_rows(py, &batches, &rows, source)
}

/// Collects messages in Arrow batches of similar size.
///
/// Each Arrow batch ends after `max_rows` rows, or with the row with which its strings exceed
/// `max_bytes` bytes. The last batch may be smaller.
///
/// Args:
///     columns: Same as for a batch's `to_arrow`. Results have one column per variable.
///     kind: "messages", "patches" or "results".
///     max_rows: Number of rows after which an Arrow batch ends.
///     max_bytes: Bytes of strings after which an Arrow batch ends.
///     rows: What each row contains: "messages" or, if `kind` is "messages", "quads".
///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowCoalescer {
    coalescer: Mutex<Box<dyn Coalesce>>,
}

#[pymethods]
impl ArrowCoalescer {
    #[new]
    #[pyo3(signature = (
        columns=None, *, kind="messages", max_rows=8192, max_bytes=67_108_864, rows="messages", terms="ntriples"
    ))]
    fn new(
        columns: Option<Vec<String>>,
        kind: &str,
        max_rows: usize,
        max_bytes: usize,
        rows: &str,
        terms: &str,
    ) -> PyResult<Self> {
        let kind = options::parse_kind(kind)?;
        let rows = arrow::rows(kind, columns.as_deref(), rows, terms)?;
        let coalescer = match rows {
            RowLayout::Whole(layout) => to_arrow::new_coalescer(kind, layout, max_rows, max_bytes),
            RowLayout::Quads(layout) => QuadCoalescer::new(&layout, max_rows, max_bytes)
                .map(|coalescer| -> Box<dyn Coalesce> { Box::new(coalescer) }),
        };
        let coalescer = coalescer.map_err(errors::option)?;
        Ok(Self {
            coalescer: Mutex::new(coalescer),
        })
    }

    /// Add the messages of a batch and return the completed Arrow batches.
    ///
    /// Args:
    ///     batch: The messages.
    ///     source: Value of the source column; null by default.
    /// Raises:
    ///     LimitError: If the strings of one message exceed 2 GiB.
    ///     ValueError: If the batch is of another kind, is the answer to an ASK query, or contains
    ///         results whose variables differ from those of earlier rows.
    #[pyo3(signature = (batch, source=None))]
    fn push(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        source: Option<&str>,
    ) -> PyResult<Vec<ArrowBatch>> {
        let batch = to_core_batch(batch)?;
        let complete = self.with(py, |coalescer| coalescer.push_any(batch, source))?;
        Ok(complete.into_iter().map(ArrowBatch::new).collect())
    }

    /// Return the remaining rows, or None.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        let rest = self.with(py, |coalescer| coalescer.finish())?;
        Ok(rest.map(ArrowBatch::new))
    }

    /// Return counts of the data that the quad rows returned so far do not contain.
    ///
    /// Returns:
    ///     The numbers of messages without quads, of metadata entries, and of messages that cannot
    ///     be distinguished from the previous message because both have the same source and index.
    fn dropped(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let dropped = self.with(py, |coalescer| Ok(coalescer.dropped_counts()))?;
        Ok((dropped.empty_messages, dropped.metadata, dropped.merged))
    }
}

impl ArrowCoalescer {
    /// Runs `work` on the rows without the GIL. If `work` panics, the rows are dropped.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Coalesce) -> Result<R, rdfm_arrow::Error> + Send,
    ) -> PyResult<R> {
        // Never waits, since a thread that holds the lock may be waiting for the GIL.
        let Ok(mut coalescer) = self.coalescer.try_lock() else {
            return Err(errors::in_use_error("coalescer"));
        };
        let coalescer = &mut **coalescer;
        errors::run_guarded(py, || work(&mut *coalescer))
            .inspect_err(|_| coalescer.clear())?
            .map_err(|error| arrow::exception(py, error))
    }
}

/// Iterate over batches of the messages in Arrow rows. The batches have the same size as a
/// decoder's.
///
/// Rows with an `operations` column are patches. Rows with neither an `operations` nor a `quads`
/// column contain one quad each.
///
/// Args:
///     rows: Any object with the Arrow PyCapsule interface, as in `MessageBatch.from_arrow`.
///     first_message_index: Index of the first row's message. Error positions are relative to it, too.
///     max_depth: Maximum nesting of triple terms.
///     max_message_bytes: Maximum size of a message in decoded bytes; 2 GiB by default.
/// Returns:
///     An iterator that reads on demand. At the first term that is not valid N-Triples, it yields
///     the messages of all rows before it, then raises DecodeError, and again on later calls.
/// Raises:
///     TypeError: If `rows` is not Arrow data, has both a `quads` and an `operations` column, or
///         has neither of them and lacks the columns of quad rows.
#[pyfunction]
#[pyo3(signature = (rows, *, first_message_index=0, max_depth=64, max_message_bytes=None))]
fn batches_from_arrow(
    rows: &Bound<'_, PyAny>,
    first_message_index: u64,
    max_depth: u32,
    max_message_bytes: Option<u64>,
) -> PyResult<ArrowRows> {
    fn read<R: rdfm_arrow::from_arrow::InputListRecord>(
        reader: Reader,
        first_message_index: u64,
        max_depth: u32,
        max_message_bytes: Option<u64>,
    ) -> Box<dyn Batches> {
        Box::new(match max_message_bytes {
            Some(max) => RowReader::<_, R>::with_limit(reader, first_message_index, max_depth, max),
            None => RowReader::new(reader, first_message_index, max_depth),
        })
    }
    let reader = arrow::reader(rows)?;
    let max_depth = options::check_depth(max_depth)?;
    let found =
        detect_row_kind(&reader.schema()).map_err(|error| arrow::exception(rows.py(), error))?;
    let rows = match found {
        RowKind::Patches => {
            read::<Operation>(reader, first_message_index, max_depth, max_message_bytes)
        }
        RowKind::Messages => {
            read::<Quad>(reader, first_message_index, max_depth, max_message_bytes)
        }
        RowKind::Quads => Box::new(QuadBatches {
            reader,
            quads: match max_message_bytes {
                Some(max) => QuadReader::new(first_message_index, max_depth, max, false),
                None => QuadReader::within_2_gib(first_message_index, max_depth),
            },
        }),
    };
    Ok(ArrowRows {
        rows: Mutex::new(Some(rows)),
    })
}

/// Converts rows to batches of any kind.
trait Batches: Send {
    fn next_batch(&mut self) -> Result<Option<Batch>, rdfm_arrow::Error>;
}

impl<R: rdfm_arrow::from_arrow::InputListRecord> Batches for RowReader<Reader, R> {
    fn next_batch(&mut self) -> Result<Option<Batch>, rdfm_arrow::Error> {
        Ok(Self::next_batch(self)?.map(R::any))
    }
}

/// Converts quad rows to batches.
struct QuadBatches {
    reader: Reader,
    quads: QuadReader,
}

impl Batches for QuadBatches {
    fn next_batch(&mut self) -> Result<Option<Batch>, rdfm_arrow::Error> {
        loop {
            if let Some(batch) = self.quads.next_batch()? {
                return Ok(Some(Quad::any(batch)));
            }
            match self.reader.next() {
                Some(rows) => {
                    let rows = rows.map_err(|error| self.quads.read_error(&error))?;
                    self.quads.feed(&rows)?;
                }
                None if self.quads.has_ended() => return Ok(None),
                None => self.quads.finish(),
            }
        }
    }
}

/// Reads messages from quad rows, one record batch at a time.
///
/// Args:
///     first_message_index: Index of the first message.
///     max_depth: Maximum nesting of triple terms.
///     max_message_bytes: Maximum size of a message in decoded bytes.
///     parts: Whether to return large messages in parts.
#[pyclass(frozen, module = "rdfm._core")]
pub struct QuadRows {
    quads: Mutex<QuadReader>,
}

#[pymethods]
impl QuadRows {
    #[new]
    #[pyo3(signature = (*, max_depth, max_message_bytes, first_message_index=0, parts=false))]
    fn new(
        max_depth: u32,
        max_message_bytes: u64,
        first_message_index: u64,
        parts: bool,
    ) -> PyResult<Self> {
        let max_depth = options::check_depth(max_depth)?;
        let quads = QuadReader::new(first_message_index, max_depth, max_message_bytes, parts);
        Ok(Self {
            quads: Mutex::new(quads),
        })
    }

    /// Add the next rows, after `next_batch` has returned None.
    ///
    /// Raises:
    ///     TypeError: If the columns are not those of quad rows.
    fn feed(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        for rows in arrow::reader(rows)? {
            let rows = rows.map_err(|error| arrow::exception(py, error.into()))?;
            self.with(py, |quads| quads.feed(&rows))?;
        }
        Ok(())
    }

    /// Mark the end of the rows.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |quads| {
            quads.finish();
            Ok(())
        })
    }

    /// Return the next batch. None means that more input is needed or, after `finish`, that there
    /// are no more batches.
    ///
    /// Raises:
    ///     DecodeError: If a row is invalid. Raised after the messages before that row have been
    ///         returned, and again on later calls.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let batch = self.with(py, QuadReader::next_batch)?;
        batch
            .map(|batch| to_python_batch(py, Quad::any(batch)))
            .transpose()
    }

    /// Index of the next row in the current input; None if all rows have been read.
    #[getter]
    fn row(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        self.with(py, |quads| Ok(quads.row()))
    }
}

impl QuadRows {
    /// Runs `work` on the rows without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut QuadReader) -> Result<T, rdfm_arrow::Error> + Send,
    ) -> PyResult<T> {
        // Never waits, since a thread that holds the lock may be waiting for the GIL.
        let Ok(mut quads) = self.quads.try_lock() else {
            return Err(errors::in_use_error("reader"));
        };
        let quads = &mut *quads;
        errors::run_guarded(py, || work(quads))?.map_err(|error| arrow::exception(py, error))
    }
}

/// An iterator over the batches of Arrow rows.
#[pyclass(frozen, module = "rdfm._core")]
struct ArrowRows {
    /// Taken out during a read, so that no lock is held while another thread may run.
    rows: Mutex<Option<Box<dyn Batches>>>,
}

#[pymethods]
impl ArrowRows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(mut rows) = self.swap(None) else {
            return Err(errors::in_use_error("iterator"));
        };
        let (next_rows, rows) = errors::run_guarded(py, move || (rows.next_batch(), rows))?;
        self.swap(Some(rows));
        let batch = next_rows.map_err(|error| arrow::exception(py, error))?;
        batch.map(|batch| to_python_batch(py, batch)).transpose()
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
    module.add_class::<QuadRows>()?;
    module.add_function(wrap_pyfunction!(coalesce, module)?)?;
    module.add_function(wrap_pyfunction!(batches_from_arrow, module)?)
}
