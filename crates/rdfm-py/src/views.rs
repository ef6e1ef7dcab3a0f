//! Code shared by the Python batches of all kinds.
//!
//! - In: a core batch.
//! - Out: indexes, positions, counts and slices of its messages; Python objects for its terms.
//! - Cost: each term becomes an object on first access. Nearby messages share the object.

use std::sync::{Mutex, PoisonError};

use pyo3::PyClass;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;

use crate::terms::TermObjects;

/// A batch and the Python objects for its terms.
pub struct View<R: Record> {
    pub batch: LogBatch<R>,
    /// Taken out while objects are created, so that no lock is held while Python runs.
    objects: Mutex<TermObjects>,
}

impl<R: Record> View<R> {
    pub fn new(batch: LogBatch<R>) -> Self {
        Self {
            batch,
            objects: Mutex::default(),
        }
    }

    /// Calls `make` with the batch's term table and the Python objects for its terms.
    pub fn with_objects<T>(
        &self,
        make: impl FnOnce(&TermTable, &mut TermObjects) -> PyResult<T>,
    ) -> PyResult<T> {
        let slot = || self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = std::mem::take(&mut *slot());
        objects.begin_call(self.batch.table());
        let result = make(self.batch.table(), &mut objects);
        *slot() = objects;
        result
    }

    /// Returns the index of a message in the batch; negative numbers count from the end.
    pub fn at(&self, message: isize) -> PyResult<usize> {
        number_in_batch(message, self.batch.len())
    }

    /// Returns the index of a message in the log.
    pub fn message_index(&self, message: isize) -> PyResult<u64> {
        Ok(self.batch.message_index(self.at(message)?))
    }

    /// Returns the offset of a message's first byte in the log; `None` if the message is not from a
    /// log of bytes.
    pub fn byte_offset(&self, message: isize) -> PyResult<Option<u64>> {
        Ok(self.batch.byte_offset(self.at(message)?))
    }

    /// Returns the number of records of each message.
    pub fn counts(&self) -> Vec<usize> {
        let messages = 0..self.batch.len();
        messages
            .map(|message| self.batch.range(message).len())
            .collect()
    }

    /// Returns the number of records of a message.
    pub fn count_of(&self, message: isize) -> PyResult<usize> {
        Ok(self.batch.range(self.at(message)?).len())
    }

    /// Returns the messages from `start` up to `stop` (exclusive).
    pub fn slice(&self, start: usize, stop: usize) -> LogBatch<R> {
        self.batch.slice(start..stop.max(start))
    }
}

/// Methods of all batches: indexes, offsets, slices, pickling, Arrow.
macro_rules! batch_methods {
    ($class:ident of $record:ty, $one:ident { $($own:tt)* }) => {
        impl $class {
            pub fn new(batch: rdfm_core::model::batch::LogBatch<$record>) -> Self {
                Self {
                    view: $crate::views::View::new(batch),
                }
            }

            pub const fn inner(&self) -> &rdfm_core::model::batch::LogBatch<$record> {
                &self.view.batch
            }
        }

        #[pymethods]
        impl $class {
            /// Number of messages, patches or rows.
            fn __len__(&self) -> usize {
                self.inner().len()
            }

            /// Kind of the batch: "messages", "patches" or "results".
            #[getter]
            fn kind(&self) -> &'static str {
                <$record as rdfm_core::codec::batch::LogRecord>::KIND.name()
            }

            /// Index of the first message, patch or row in the log, from 0.
            #[getter]
            fn first_message_index(&self) -> u64 {
                self.inner().first_message_index()
            }

            /// Return the index of a message, patch or row in the log, given its number in the
            /// batch; negative numbers count from the end.
            ///
            /// Raises:
            ///     IndexError: If there is no such number.
            fn message_index(&self, $one: isize) -> PyResult<u64> {
                self.view.message_index($one)
            }

            /// Return the offset of the first byte of a message, patch or row in the decompressed
            /// log; None if it is not from a log of bytes, but for example from Arrow rows.
            fn byte_offset(&self, $one: isize) -> PyResult<Option<u64>> {
                self.view.byte_offset($one)
            }

            /// Whether the first message or patch continues the last one of the previous batch.
            #[getter]
            fn continued(&self) -> bool {
                self.inner().continued()
            }

            /// Whether the last message or patch continues in the next batch.
            #[getter]
            fn continues(&self) -> bool {
                self.inner().continues()
            }

            /// Approximate memory use of the batch in bytes, for limiting queues.
            #[getter]
            fn memory_bytes(&self) -> usize {
                self.inner().memory_bytes()
            }

            /// Return the messages, patches or rows from `start` up to `stop` (exclusive), sharing
            /// this batch's terms.
            fn slice(&self, start: usize, stop: usize) -> Self {
                Self::new(self.view.slice(start, stop))
            }

            /// Return the batch with other places of its messages in the log, for pickling. Without
            /// `indexes`, messages are numbered from `first_message_index`. `edges` are `continued`
            /// and `continues`.
            ///
            /// Raises:
            ///     ValueError: If the numbers of indexes or offsets do not match.
            fn _with_places(
                &self,
                first_message_index: u64,
                indexes: Vec<u64>,
                byte_offsets: Vec<Option<u64>>,
                edges: [bool; 2],
            ) -> PyResult<Self> {
                self.inner()
                    .with_places(first_message_index, indexes, &byte_offsets, edges)
                    .map(Self::new)
                    .ok_or_else(|| PyValueError::new_err("expected an index and an offset per message"))
            }

            /// Pickles the batch with its content and the places of its messages in the log.
            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                static REDUCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                $crate::views::call(slf, &REDUCE, "reduce_batch")
            }

            #[pyo3(signature = (requested_schema=None))]
            fn __arrow_c_array__<'py>(
                &self,
                py: Python<'py>,
                requested_schema: Option<Bound<'py, PyCapsule>>,
            ) -> PyResult<Bound<'py, PyTuple>> {
                $crate::arrow::export(py, self.inner(), requested_schema.as_ref())
            }

            #[pyo3(signature = (requested_schema=None))]
            fn __arrow_c_stream__<'py>(
                &self,
                py: Python<'py>,
                requested_schema: Option<Bound<'py, PyCapsule>>,
            ) -> PyResult<Bound<'py, PyCapsule>> {
                $crate::arrow::export_stream(py, self.inner(), requested_schema.as_ref())
            }

            fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
                $crate::arrow::export_schema(py, self.inner())
            }

            $($own)*
        }
    };
}
pub(crate) use batch_methods;

/// Calls a function from `rdfm.message` with a batch.
pub fn call<'py, T: PyClass>(
    batch: &Bound<'py, T>,
    found: &PyOnceLock<Py<PyAny>>,
    function: &str,
) -> PyResult<Bound<'py, PyAny>> {
    found
        .import(batch.py(), "rdfm.message", function)?
        .call1((batch,))
}

/// Returns the index of one of `count` messages; negative numbers count from the end.
fn number_in_batch(message: isize, count: usize) -> PyResult<usize> {
    let index = if message < 0 {
        message.checked_add_unsigned(count)
    } else {
        Some(message)
    };
    index
        .and_then(|index| usize::try_from(index).ok())
        .filter(|index| *index < count)
        .ok_or_else(|| {
            PyIndexError::new_err(format!(
                "message index {message} is out of range for a batch of size {count}"
            ))
        })
}
