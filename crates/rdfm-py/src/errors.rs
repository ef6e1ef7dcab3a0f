//! Maps the core's errors to the exceptions of `rdfm/errors.py`. No other file does this.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rdfm_analysis::canonical::{self, CanonicalError};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass, LimitExceeded};
use rdfm_core::model::remedy::{Reason, Remedy, Side};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::model::write::Style;
use rdfm_core::registry;
use rdfm_query::query::parse::QueryError;

/// The exception classes are imported from Python, so that they are defined only once.
mod py {
    pyo3::import_exception!(rdfm.errors, DecodeError);
    pyo3::import_exception!(rdfm.errors, TruncatedError);
    pyo3::import_exception!(rdfm.errors, LimitError);
    pyo3::import_exception!(rdfm.errors, UnsupportedError);
    pyo3::import_exception!(rdfm.errors, EncodeError);
    pyo3::import_exception!(rdfm.errors, OptionError);
    pyo3::import_exception!(rdfm.errors, QueryError);
    pyo3::import_exception!(rdfm.errors, UnknownFormatError);
    pyo3::import_exception!(rdfm.errors, InternalError);
}

/// Creates an `rdfm.errors.Remedy`.
fn new_remedy<'py>(py: Python<'py>, remedy: &Remedy) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("rdfm.errors")?.getattr("Remedy")?;
    class.call1((
        remedy.side.name(),
        remedy.option,
        remedy.value.as_deref(),
        &*remedy.text,
    ))
}

/// Returns the text of a note with its remedies, spelled for the interface in use (such as Python
/// or the CLI).
pub fn note(py: Python<'_>, note: &Reason) -> PyResult<String> {
    let mut text = note.text().to_owned();
    if !note.remedies().is_empty() {
        let remedies = note
            .remedies()
            .iter()
            .map(|note_remedy| new_remedy(py, note_remedy));
        let remedies = remedies.collect::<PyResult<Vec<_>>>()?;
        let recommendations = py.import("rdfm.errors")?.getattr("recommendations")?;
        text.push_str(recommendations.call1((remedies,))?.extract()?);
    }
    Ok(text)
}

/// Creates an exception from a reason, its remedies and an optional additional remedy.
fn new_exception(
    class: &Bound<'_, PyType>,
    reason: &Reason,
    extra_remedy: Option<Remedy>,
    attributes: &Bound<'_, PyDict>,
) -> PyResult<PyErr> {
    let py = class.py();
    let remedies = reason.remedies().iter().chain(&extra_remedy);
    let remedies: Vec<_> = remedies
        .map(|remedy_data| new_remedy(py, remedy_data))
        .collect::<PyResult<_>>()?;
    attributes.set_item("remedies", PyTuple::new(py, remedies)?)?;
    if let Some(feature) = reason.missing_feature() {
        attributes.set_item("missing_feature", feature.name())?;
    }
    let error = class.call((reason.text(),), Some(attributes))?;
    Ok(PyErr::from_value(error))
}

/// Creates an exception whose only attributes are its remedies.
fn plain<E: pyo3::PyTypeInfo>(reason: &Reason) -> PyErr {
    Python::attach(|py| {
        new_exception(&py.get_type::<E>(), reason, None, &PyDict::new(py))
            .unwrap_or_else(|error| error)
    })
}

fn decode_class(py: Python<'_>, class: ErrorClass) -> Bound<'_, PyType> {
    match class {
        ErrorClass::Malformed | ErrorClass::Internal => py.get_type::<py::DecodeError>(),
        ErrorClass::Truncated => py.get_type::<py::TruncatedError>(),
        ErrorClass::Limit => py.get_type::<py::LimitError>(),
        ErrorClass::Unsupported => py.get_type::<py::UnsupportedError>(),
    }
}

/// Returns the exception for a decoder's error.
pub fn decode(py: Python<'_>, error: &DecodeError) -> PyErr {
    if error.class == ErrorClass::Internal {
        return internal_error(error.to_string());
    }
    let class = decode_class(py, error.class);
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("byte_offset", error.position.byte_offset)?;
        attributes.set_item("message_index", error.position.message_index)?;
        if let Some((line, column)) = error.position.line_column {
            attributes.set_item("line", line)?;
            attributes.set_item("column", column)?;
        }
        if let Some((frame, row)) = error.position.frame_row {
            attributes.set_item("frame", frame)?;
            attributes.set_item("row", row)?;
        }
        if error.may_follow_from_skipping() {
            attributes.set_item("follows", true)?;
        }
        let lacks = error.reason.missing_feature();
        let extra_remedy = lacks.and_then(|lacks| registry::suggest_source(error.format, lacks));
        new_exception(&class, &error.reason, extra_remedy, &attributes)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns the exception for an encoder's error, with the bytes of the messages before it.
pub fn encode(py: Python<'_>, error: &EncodeError, completed: &[u8]) -> PyErr {
    if error.class == ErrorClass::Internal {
        return internal_error(error.to_string());
    }
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("message_index", error.message_index)?;
        attributes.set_item("completed", PyBytes::new(py, completed))?;
        let lacks = error.missing_feature();
        let extra_remedy = lacks.and_then(|lacks| registry::suggest_target(error.format, lacks));
        let class = py.get_type::<py::EncodeError>();
        new_exception(&class, &error.reason, extra_remedy, &attributes)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns the exception for a row of a patch that an encoder rejects, with the offset of the row's
/// first byte in its log.
pub fn encode_row(py: Python<'_>, error: &EncodeError, byte_offset: Option<u64>) -> PyErr {
    let exception = encode(py, error, b"");
    match exception.value(py).setattr("byte_offset", byte_offset) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// Returns the exception for a message without a canonical form.
pub fn canonical(
    py: Python<'_>,
    batch: &MessageBatch,
    message: usize,
    error: &CanonicalError,
    max_steps: u64,
) -> PyErr {
    let (class, reason) = match error {
        CanonicalError::Unsupported(unsupported, quad) => {
            let text = quad_text(batch.table(), *quad);
            let text = format!("{}: {text}", unsupported.text());
            (py.get_type::<py::EncodeError>(), text.into())
        }
        CanonicalError::TooManySteps => {
            let text = format!("the canonical labels need more than {max_steps} steps");
            let remedy = Remedy {
                side: Side::Stage,
                ..Remedy::larger("max_steps")
            };
            let reason = Reason::from(text).with(remedy);
            (py.get_type::<py::LimitError>(), reason)
        }
        CanonicalError::TooLarge => {
            let text = format!(
                "the terms need more than {} MiB as text",
                canonical::MAX_TEXT_BYTES >> 20
            );
            (py.get_type::<py::LimitError>(), text.into())
        }
        CanonicalError::TooManyMessages => {
            let text = format!(
                "the hashes of distinct messages need more than {} MiB",
                canonical::MAX_HASH_BYTES >> 20
            );
            (py.get_type::<py::LimitError>(), text.into())
        }
        CanonicalError::Cancelled => return internal_error("cancelled"),
    };
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", "RDFC-1.0")?;
        attributes.set_item("message_index", batch.message_index(message))?;
        new_exception(&class, &reason, None, &attributes)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns a quad in one line, truncated to about 80 bytes.
fn quad_text(table: &TermTable, quad: Quad) -> String {
    const MAX_BYTES: usize = 80;
    let style = Style {
        max_bytes: MAX_BYTES,
        ..Style::CANONICAL
    };
    let mut text = Vec::new();
    for id in [quad.subject, quad.predicate, quad.object, quad.graph] {
        if text.len() <= MAX_BYTES && id != TermId::DEFAULT_GRAPH {
            style.write(table, id, &mut text);
            text.push(b' ');
        }
    }
    text.push(b'.');
    let text = String::from_utf8_lossy(&text);
    match text.char_indices().nth(MAX_BYTES) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Returns the exception for an error in an Arrow row.
pub fn row(py: Python<'_>, row: u64, class: ErrorClass, reason: Reason) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", "arrow")?;
        attributes.set_item("row", row)?;
        new_exception(&decode_class(py, class), &reason, None, &attributes)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns the exception for a value that does not fit the type of its column.
pub fn misfit(
    py: Python<'_>,
    reason: String,
    message: Option<u64>,
    row: usize,
    source: Option<&str>,
) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("message_index", message)?;
        attributes.set_item("source", source)?;
        if message.is_none() {
            attributes.set_item("row", row)?;
        }
        let class = decode_class(py, ErrorClass::Unsupported);
        new_exception(&class, &reason.into(), None, &attributes)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns the exception for text that is not a valid term.
pub fn term(reason: impl Into<Reason>) -> PyErr {
    plain::<py::DecodeError>(&reason.into())
}

/// Returns the exception for valid but unsupported input that has no position in a log.
pub fn unsupported_error(reason: &str) -> PyErr {
    py::UnsupportedError::new_err(reason.to_owned())
}

/// Whether an exception reports invalid input.
pub fn is_decode(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<py::DecodeError>(py)
}

/// Sets the `source` of an exception, if it has this attribute.
pub fn set_source(py: Python<'_>, error: &PyErr, source: &str) {
    let value = error.value(py);
    if value.hasattr("source").unwrap_or(false) {
        // If the attribute cannot be set, the exception is used unchanged.
        let _ = value.setattr("source", source);
    }
}

/// Returns the exception for an exceeded limit that has no position in a log.
pub fn limit(reason: impl Into<Reason>) -> PyErr {
    plain::<py::LimitError>(&reason.into())
}

/// Returns the exception for a limit that was exceeded while a batch was built.
pub fn limit_error(limit_exceeded: LimitExceeded) -> PyErr {
    limit(limit_exceeded.0)
}

/// Returns the exception for an invalid option.
pub fn option(reason: impl Into<Reason>) -> PyErr {
    plain::<py::OptionError>(&reason.into())
}

/// Returns the exception for an invalid query, with its attributes.
pub fn query(py: Python<'_>, error: QueryError) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        if let Some((line, column)) = error.position {
            attributes.set_item("line", line)?;
            attributes.set_item("column", column)?;
        }
        attributes.set_item("undeclared", error.undeclared)?;
        let class = py.get_type::<py::QueryError>();
        let error = class.call((error.reason,), Some(&attributes))?;
        Ok(PyErr::from_value(error))
    };
    build().unwrap_or_else(|error| error)
}

/// Returns the exception for an unknown format.
pub fn unknown_format_error(reason: impl Into<String>) -> PyErr {
    py::UnknownFormatError::new_err(reason.into())
}

/// Returns the exception for an object that another thread is using.
pub fn in_use_error(name: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "this {name} is in use by another thread; give each thread its own"
    ))
}

/// Returns the exception for a bug.
pub fn internal_error(reason: impl Into<String>) -> PyErr {
    py::InternalError::new_err(reason.into())
}

/// Runs native work without the GIL; a panic becomes an `InternalError`.
pub fn run_guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|panic| internal_error(panic_text(&*panic)))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    format!("internal error in rdfm; please report it: {message}")
}
