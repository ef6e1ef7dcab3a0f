//! Tar archive members for Python: pieces in, member tuples out.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rdfm_core::archive;

use crate::codecs::to_contiguous;
use crate::errors;

/// Reads the members of a tar archive.
///
/// Call `feed` with each piece, then `parts` until `parts` returns an empty list. After the last
/// piece, call `finish`, then `parts` for the remaining members.
#[pyclass(frozen, module = "rdfm._core")]
pub struct TarMembers {
    members: Mutex<archive::TarMembers>,
}

#[pymethods]
impl TarMembers {
    #[new]
    fn new() -> Self {
        Self {
            members: Mutex::default(),
        }
    }

    /// Add a piece of the archive, cut anywhere. Nothing is read yet.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = to_contiguous(piece)?;
        self.with(|members| members.feed(bytes.as_bytes()));
        Ok(())
    }

    /// Mark the end of the archive.
    fn finish(&self) {
        self.with(archive::TarMembers::finish);
    }

    /// Return the members, or parts of members, that are available.
    ///
    /// Returns:
    ///     Tuples of name, bytes, whether the member ends after these bytes, and the reason if the
    ///     member is rejected. If the name is None, the bytes continue the previous member.
    /// Raises:
    ///     DecodeError: If the archive is invalid or truncated. Raised after the members before the
    ///         error have been returned.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with(|members| {
            let parts = members
                .take_parts()
                .map_err(|error| errors::decode(py, &error))?;
            let tuples = parts.into_iter().map(|part| {
                let data = PyBytes::new(py, members.bytes(&part));
                (part.name, data, part.ended, part.rejection)
            });
            PyList::new(py, tuples.collect::<Vec<_>>())
        })
    }
}

impl TarMembers {
    fn with<R>(&self, work: impl FnOnce(&mut archive::TarMembers) -> R) -> R {
        work(&mut self.members.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TarMembers>()
}
