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
