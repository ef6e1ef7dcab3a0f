//! Canonical messages for Python: RDFC-1.0 text, labels, batches and hashes.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rdfm_analysis::canonical::{self, CanonicalError, Canonicalizer, Effort, Hash, MessageKey};
use rdfm_core::model::batch::MessageBatch as Batch;

use crate::batch::MessageBatch;
use crate::errors;

/// A batch in canonical form, the number of repeated quads, and the error after these messages.
type CanonicalTuple = (MessageBatch, usize, Option<PyErr>);
/// Hashes of 32 bytes each, and the error after these messages.
type HashesTuple<'py> = (Bound<'py, PyBytes>, Option<PyErr>);

/// Runs work that signals such as Ctrl-C can cancel, without the GIL. Returns the exception of the
/// signal, if any.
fn run_cancellable<T: Send>(
    py: Python<'_>,
    max_steps: u64,
    work: impl FnOnce(Effort<'_>) -> T + Send,
) -> PyResult<T> {
    let raised = Mutex::new(None);
    let is_cancelled = || {
        let signals = Python::attach(|py: Python<'_>| py.check_signals());
        let error = signals.err();
        let is_raised = error.is_some();
        if let Ok(mut raised) = raised.lock() {
            *raised = error;
        }
        is_raised
    };
    let result = errors::run_guarded(py, || {
        work(Effort {
            max_steps,
            is_cancelled: &is_cancelled,
        })
    })?;
    match raised.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(result),
    }
}

fn exception(
    py: Python<'_>,
    batch: &Batch,
    max_steps: u64,
    error: Option<(usize, CanonicalError)>,
) -> Option<PyErr> {
    error.map(|(message, error)| errors::canonical(py, batch, message, &error, max_steps))
}

/// Works on the canonical form of one message.
fn with_message<T: Send>(
    py: Python<'_>,
    batch: &Batch,
    message: usize,
    max_steps: u64,
    work: impl FnOnce(&Canonicalizer<'_>) -> T + Send,
) -> PyResult<T> {
    if message >= batch.len() {
        return Err(PyIndexError::new_err(format!(
            "the batch has no message {message}"
        )));
    }
    run_cancellable(py, max_steps, |effort| {
        let mut canonicalizer = Canonicalizer::new(batch.table());
        canonicalizer.load(batch.message(message), effort)?;
        Ok(work(&canonicalizer))
    })?
    .map_err(|error| errors::canonical(py, batch, message, &error, max_steps))
}

/// Return a message as canonical N-Quads.
///
/// Raises:
///     IndexError: If there is no such message.
///     EncodeError: If RDFC-1.0 does not support a quad.
///     LimitError: If the labels need more than `max_steps` steps.
#[pyfunction]
#[pyo3(signature = (batch, message, *, max_steps))]
fn canonical_text<'py>(
    py: Python<'py>,
    batch: &Bound<'py, MessageBatch>,
    message: usize,
    max_steps: u64,
) -> PyResult<Bound<'py, PyString>> {
    let text = with_message(py, batch.get().inner(), message, max_steps, |canonical| {
        let mut text = Vec::new();
        canonical.write(&mut text);
        text
    })?;
    PyString::from_bytes(py, &text)
}

/// Return the canonical labels of the blank nodes of a message, as pairs of labels.
///
/// Raises:
///     IndexError, EncodeError, LimitError: As in `canonical_text`.
#[pyfunction]
#[pyo3(signature = (batch, message, *, max_steps))]
fn canonical_labels<'py>(
    py: Python<'py>,
    batch: &Bound<'py, MessageBatch>,
    message: usize,
    max_steps: u64,
) -> PyResult<Vec<(Bound<'py, PyString>, String)>> {
    let batch = batch.get().inner();
    let numbers = with_message(py, batch, message, max_steps, |canonical| {
        canonical.numbers().collect::<Vec<_>>()
    })?;
    let label = |id| PyString::from_bytes(py, batch.table().text(id));
    numbers
        .into_iter()
        .map(|(id, number)| Ok((label(id)?, format!("{}{number}", canonical::LABEL_PREFIX))))
        .collect()
}

/// Bring complete messages into canonical form: sorted, distinct quads with canonical labels.
///
/// Returns:
///     The messages before the first error, the number of repeated quads, and the error or None.
#[pyfunction]
#[pyo3(signature = (batch, *, max_steps))]
fn canonicalize(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
    max_steps: u64,
) -> PyResult<CanonicalTuple> {
    let batch = batch.get().inner();
    let (done, error) = run_cancellable(py, max_steps, |effort| {
        canonical::canonicalize(batch, effort)
    })?;
    let error = exception(py, batch, max_steps, error);
    Ok((MessageBatch::new(done.batch), done.repeated, error))
}

/// Return the SHA-256 hashes of the canonical N-Quads of complete messages.
///
/// Returns:
///     The hashes of the messages before the first error, of 32 bytes each, and the error or None.
#[pyfunction]
#[pyo3(signature = (batch, *, max_steps))]
fn canonical_hashes<'py>(
    py: Python<'py>,
    batch: &Bound<'py, MessageBatch>,
    max_steps: u64,
) -> PyResult<HashesTuple<'py>> {
    let batch = batch.get().inner();
    let (hashes, error) = run_cancellable(py, max_steps, |effort| {
        canonical::hash_messages(batch, effort)
    })?;
    let hashes: &[Hash] = &hashes;
    let bytes = PyBytes::new(py, hashes.as_flattened());
    Ok((bytes, exception(py, batch, max_steps, error)))
}

/// Keeps the first of equal messages.
#[pyclass(frozen, module = "rdfm._core")]
pub struct SeenMessages {
    state: Mutex<canonical::SeenMessages>,
}

/// New messages, the number of other ones, and the error after these messages.
type NewMessagesTuple = (Vec<MessageBatch>, usize, Option<PyErr>);

#[pymethods]
impl SeenMessages {
    /// Begin without messages.
    ///
    /// Args:
    ///     by: "dataset", or "nanopub" for the artifact codes of nanopublications.
    #[new]
    fn new(by: &str) -> PyResult<Self> {
        let key = match by {
            "dataset" => MessageKey::Dataset,
            "nanopub" => MessageKey::Nanopub,
            _ => return Err(errors::option(format!("unknown key '{by}'"))),
        };
        Ok(Self {
            state: Mutex::new(canonical::SeenMessages::new(key)),
        })
    }

    /// Add complete messages.
    ///
    /// Returns:
    ///     The new messages before the first error, the number of the others, and the error or
    ///     None.
    #[pyo3(signature = (batch, *, max_steps))]
    fn add(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        max_steps: u64,
    ) -> PyResult<NewMessagesTuple> {
        let batch = batch.get().inner();
        let (are_new, error) = run_cancellable(py, max_steps, |effort| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.add(batch, effort)
        })?;
        let count = are_new.iter().filter(|is_new| **is_new).count();
        let kept = batch.with_messages(|message| are_new.get(message) == Some(&true));
        let kept = kept.into_iter().map(MessageBatch::new).collect();
        Ok((
            kept,
            are_new.len() - count,
            exception(py, batch, max_steps, error),
        ))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SeenMessages>()?;
    module.add("MAX_CANONICAL_STEPS", canonical::MAX_STEPS)?;
    module.add_function(wrap_pyfunction!(canonical_text, module)?)?;
    module.add_function(wrap_pyfunction!(canonical_labels, module)?)?;
    module.add_function(wrap_pyfunction!(canonicalize, module)?)?;
    module.add_function(wrap_pyfunction!(canonical_hashes, module)?)
}
