//! The members of a tar archive for Python: pieces in, tuples of members out.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rdfm_core::archive;

use crate::codecs::contiguous;
use crate::errors;

/// The members of a tar archive: `feed` pieces, then take `parts` until it gives none; after the last
/// piece call `finish` and take the rest.
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

    /// Take a piece of the archive, cut anywhere. Reads nothing.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = contiguous(piece)?;
        self.with(|members| members.feed(bytes.as_bytes()));
        Ok(())
    }

    /// Mark the end of the archive.
    fn finish(&self) {
        self.with(archive::TarMembers::finish);
    }

    /// The members that are there, as tuples of name, bytes, whether it ends there, and why it is
    /// refused. Without a name the bytes are those that follow of the member before.
    ///
    /// Raises:
    ///     DecodeError: The archive is broken or cut off; raised after every member before the error.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with(|members| {
            let parts = members
                .parts()
                .map_err(|error| errors::decode(py, &error))?;
            let tuples = parts.into_iter().map(|part| {
                let data = PyBytes::new(py, members.bytes(&part));
                (part.name, data, part.ended, part.refusal)
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
