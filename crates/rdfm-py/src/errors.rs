//! The one table from the core's errors to the exceptions of `rdfm/errors.py`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass, LimitExceeded};
use rdfm_core::model::remedy::{Reason, Remedy};
use rdfm_core::registry;

/// The exceptions, taken from Python so that they are written once.
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

/// `rdfm.errors.Remedy`.
fn remedy<'py>(py: Python<'py>, remedy: &Remedy) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("rdfm.errors")?.getattr("Remedy")?;
    class.call1((
        remedy.side.name(),
        remedy.option,
        remedy.value.as_deref(),
        &*remedy.text,
    ))
}

/// An exception of a reason with its remedies, and one more.
fn make(
    class: &Bound<'_, PyType>,
    reason: &Reason,
    more: Option<Remedy>,
    attributes: &Bound<'_, PyDict>,
) -> PyResult<PyErr> {
    let py = class.py();
    let remedies = reason.remedies().iter().chain(&more);
    let remedies: Vec<_> = remedies
        .map(|found| remedy(py, found))
        .collect::<PyResult<_>>()?;
    attributes.set_item("remedies", PyTuple::new(py, remedies)?)?;
    if let Some(feature) = reason.lacks() {
        attributes.set_item("lacks", feature.name())?;
    }
    let error = class.call((reason.text(),), Some(attributes))?;
    Ok(PyErr::from_value(error))
}

/// An exception that has no attributes but its remedies.
fn plain<E: pyo3::PyTypeInfo>(reason: &Reason) -> PyErr {
    Python::attach(|py| {
        make(&py.get_type::<E>(), reason, None, &PyDict::new(py)).unwrap_or_else(|error| error)
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

/// The exception of a decoder's error.
pub fn decode(py: Python<'_>, error: &DecodeError) -> PyErr {
    if error.class == ErrorClass::Internal {
        return internal(error.to_string());
    }
    let class = decode_class(py, error.class);
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("offset", error.position.offset)?;
        attributes.set_item("message_index", error.position.message)?;
        if let Some((line, column)) = error.position.line_column {
            attributes.set_item("line", line)?;
            attributes.set_item("column", column)?;
        }
        if let Some((frame, row)) = error.position.frame_row {
            attributes.set_item("frame", frame)?;
            attributes.set_item("row", row)?;
        }
        if error.follows() {
            attributes.set_item("follows", true)?;
        }
        let lacks = error.reason.lacks();
        let more = lacks.and_then(|lacks| registry::another_source(error.format, lacks));
        make(&class, &error.reason, more, &attributes)
    };
    made().unwrap_or_else(|error| error)
}

/// The exception of an encoder's error, with the bytes of the messages before it.
pub fn encode(py: Python<'_>, error: &EncodeError, completed: &[u8]) -> PyErr {
    if error.class == ErrorClass::Internal {
        return internal(error.to_string());
    }
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("message_index", error.message)?;
        attributes.set_item("completed", PyBytes::new(py, completed))?;
        let lacks = error.lacks();
        let more = lacks.and_then(|lacks| registry::another_target(error.format, lacks));
        let class = py.get_type::<py::EncodeError>();
        make(&class, &error.reason, more, &attributes)
    };
    made().unwrap_or_else(|error| error)
}

/// The exception of a row of a patch that an encoder refuses, with the row's first byte in its log.
pub fn encode_row(py: Python<'_>, error: &EncodeError, offset: u64) -> PyErr {
    let made = encode(py, error, b"");
    match made.value(py).setattr("offset", offset) {
        Ok(()) => made,
        Err(error) => error,
    }
}

/// An error in a row of Arrow.
pub fn row(py: Python<'_>, row: u64, class: ErrorClass, reason: Reason) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", "arrow")?;
        attributes.set_item("row", row)?;
        make(&decode_class(py, class), &reason, None, &attributes)
    };
    made().unwrap_or_else(|error| error)
}

/// A value that does not fit its column.
pub fn misfit(
    py: Python<'_>,
    reason: String,
    message: Option<u64>,
    row: usize,
    source: Option<&str>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("message_index", message)?;
        attributes.set_item("source", source)?;
        if message.is_none() {
            attributes.set_item("row", row)?;
        }
        let class = decode_class(py, ErrorClass::Unsupported);
        make(&class, &reason.into(), None, &attributes)
    };
    made().unwrap_or_else(|error| error)
}

/// A term whose text is none.
pub fn term(reason: impl Into<Reason>) -> PyErr {
    plain::<py::DecodeError>(&reason.into())
}

/// Input that is valid, but not what was asked for; without a position in a log.
pub fn unsupported(reason: &str) -> PyErr {
    py::UnsupportedError::new_err(reason.to_owned())
}

/// Whether an exception says that the input breaks its format.
pub fn is_decode(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<py::DecodeError>(py)
}

/// Says where an exception is from, if it has a place for that.
pub fn set_source(py: Python<'_>, error: &PyErr, source: &str) {
    let value = error.value(py);
    if value.hasattr("source").unwrap_or(false) {
        // An exception without room for it stays as it is.
        let _ = value.setattr("source", source);
    }
}

/// A limit that has no position in a log.
pub fn limit(reason: impl Into<Reason>) -> PyErr {
    plain::<py::LimitError>(&reason.into())
}

/// A limit met while a batch was built.
pub fn exceeded(limit_exceeded: LimitExceeded) -> PyErr {
    limit(limit_exceeded.0)
}

/// An option that does not fit.
pub fn option(reason: impl Into<Reason>) -> PyErr {
    plain::<py::OptionError>(&reason.into())
}

/// A text that is no query, with its line and column.
pub fn query(py: Python<'_>, reason: &str, position: Option<(u64, u64)>) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        if let Some((line, column)) = position {
            attributes.set_item("line", line)?;
            attributes.set_item("column", column)?;
        }
        let class = py.get_type::<py::QueryError>();
        let error = class.call((reason,), Some(&attributes))?;
        Ok(PyErr::from_value(error))
    };
    made().unwrap_or_else(|error| error)
}

/// A format that does not exist.
pub fn unknown_format(reason: impl Into<String>) -> PyErr {
    py::UnknownFormatError::new_err(reason.into())
}

/// An object that another thread uses.
pub fn in_use(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "this {what} is in use by another thread; give each thread its own"
    ))
}

/// A bug.
pub fn internal(reason: impl Into<String>) -> PyErr {
    py::InternalError::new_err(reason.into())
}

/// Runs native work without the GIL; a panic becomes an `InternalError`.
pub fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|panic| internal(panic_text(&*panic)))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let what = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    format!("rdfm met a bug of its own, please report it: {what}")
}
