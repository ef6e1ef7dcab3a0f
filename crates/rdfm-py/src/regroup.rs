//! Regrouping for Python: batches in, batches of regrouped messages out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rdfm_core::model::limits::Limits;
use rdfm_core::regroup::{self, GroupBy, RegroupOptions};

use crate::batch::MessageBatch;
use crate::errors;

/// Regroups the quads of a log into other messages.
///
/// Call `feed` with each batch, then `next_batch` until `next_batch` returns None. After the last
/// batch, call `finish`, then `next_batch` for the remaining batches.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Regrouper {
    state: Mutex<regroup::Regrouper>,
}

impl Regrouper {
    fn state(&self) -> MutexGuard<'_, regroup::Regrouper> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Regrouper {
    /// Create a regrouper.
    ///
    /// Args:
    ///     by: Grouping criterion: "message", "subject", "graph", "cbd", "nanopub", "count",
    ///         "bytes" or "all".
    ///     number: Number of quads per message for "count", or of bytes for "bytes".
    ///     skolemize: Base of the IRIs that replace blank nodes. By default they are not replaced.
    ///     parts: Whether to return messages in parts.
    ///     max_message_bytes: Maximum size of a message in decoded bytes.
    #[new]
    #[pyo3(signature = (by, number=0, *, skolemize=None, parts=false, max_message_bytes=None))]
    fn new(
        by: &str,
        number: u64,
        skolemize: Option<String>,
        parts: bool,
        max_message_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let by = match by {
            "message" => GroupBy::Message,
            "subject" => GroupBy::Subject,
            "graph" => GroupBy::Graph,
            "cbd" => GroupBy::Cbd,
            "nanopub" => GroupBy::Nanopub,
            "count" => GroupBy::Count(number),
            "bytes" => GroupBy::Bytes(number),
            "all" => GroupBy::All,
            _ => return Err(errors::option(format!("unknown group_by '{by}'"))),
        };
        let mut limits = Limits::default();
        if let Some(max) = max_message_bytes {
            limits.max_message_bytes = max;
        }
        let options = RegroupOptions {
            by,
            skolemize,
            parts,
            limits,
        };
        let regrouper = regroup::Regrouper::new(options).map_err(errors::option)?;
        Ok(Self {
            state: Mutex::new(regrouper),
        })
    }

    /// Set the number of the first message in the IRIs that replace blank nodes. Call it before
    /// `feed`.
    #[pyo3(signature = (first, /))]
    fn number_from(&self, first: u64) {
        self.state().set_first_number(first);
    }

    /// Add a batch. All output for the previous batch must have been returned.
    #[pyo3(signature = (batch, /))]
    fn feed(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        errors::run_guarded(py, || self.state().feed(batch.clone()))
    }

    /// Mark the end of the input.
    fn finish(&self) {
        self.state().finish();
    }

    /// Return the next batch. None means that more input is needed or, after `finish`, that there
    /// are no more batches.
    ///
    /// Raises:
    ///     EncodeError: If messages cannot be regrouped this way. Raised after the messages before
    ///         the error have been returned.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<MessageBatch>> {
        errors::run_guarded(py, || self.state().next_batch())?
            .map(|batch| batch.map(MessageBatch::new))
            .map_err(|error| errors::encode(py, &error, b""))
    }

    /// Return counts of the data omitted so far, by name.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in self.state().dropped_counts() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Regrouper>()
}
