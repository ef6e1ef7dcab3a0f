//! The one table from the core's errors to the exceptions of `rdfm/errors.py`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass, LimitExceeded};

/// The exceptions, taken from Python so that they are written once.
mod py {
    pyo3::import_exception!(rdfm.errors, DecodeError);
    pyo3::import_exception!(rdfm.errors, TruncatedError);
    pyo3::import_exception!(rdfm.errors, LimitError);
    pyo3::import_exception!(rdfm.errors, UnsupportedError);
    pyo3::import_exception!(rdfm.errors, EncodeError);
    pyo3::import_exception!(rdfm.errors, OptionError);
    pyo3::import_exception!(rdfm.errors, UnknownFormatError);
    pyo3::import_exception!(rdfm.errors, InternalError);
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
    let make = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("offset", error.place.offset)?;
        attributes.set_item("message_index", error.place.message)?;
        if let Some((line, column)) = error.place.line_column {
            attributes.set_item("line", line)?;
            attributes.set_item("column", column)?;
        }
        if let Some((frame, row)) = error.place.frame_row {
            attributes.set_item("frame", frame)?;
            attributes.set_item("row", row)?;
        }
        let error = class.call((error.reason.as_str(),), Some(&attributes))?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception of an encoder's error, with the bytes of the messages before it.
pub fn encode(py: Python<'_>, error: &EncodeError, completed: &[u8]) -> PyErr {
    if error.class == ErrorClass::Internal {
        return internal(error.to_string());
    }
    let make = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", error.format)?;
        attributes.set_item("message_index", error.message)?;
        attributes.set_item("completed", PyBytes::new(py, completed))?;
        let error = py
            .get_type::<py::EncodeError>()
            .call((error.reason.as_str(),), Some(&attributes))?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|error| error)
}

/// A fault in a row of Arrow.
pub fn row(py: Python<'_>, row: u64, class: ErrorClass, reason: &str) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("format", "arrow")?;
        attributes.set_item("row", row)?;
        let error = decode_class(py, class).call((reason,), Some(&attributes))?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|error| error)
}

/// A term whose text is none.
pub fn term(reason: impl Into<String>) -> PyErr {
    py::DecodeError::new_err(reason.into())
}

/// Input that is valid, but not what was asked for; without a place in a log.
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

/// A limit that has no place in a log.
pub fn limit(reason: impl Into<String>) -> PyErr {
    py::LimitError::new_err(reason.into())
}

/// A limit met while a batch was built.
pub fn exceeded(limit_exceeded: LimitExceeded) -> PyErr {
    limit(limit_exceeded.0)
}

/// An option that does not fit.
pub fn option(reason: impl Into<String>) -> PyErr {
    py::OptionError::new_err(reason.into())
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
