//! Remote JSON-LD contexts from a Python callable.
//!
//! - In: a callable that takes a URL and returns `(document, final URL)`, or None if it has no
//!   document for that URL.
//! - Out: a context loader for the core. It calls the callable on the decoding thread, with the
//!   GIL.

use pyo3::prelude::*;
use rdfm_core::codec::contexts::{ContextLoader, RemoteContext};

/// A loader that calls a Python callable.
#[derive(Debug)]
pub struct PyLoader {
    load: Py<PyAny>,
}

impl PyLoader {
    /// Creates a loader from a callable.
    pub fn new(load: Py<PyAny>) -> Self {
        Self { load }
    }
}

impl ContextLoader for PyLoader {
    fn load(&self, url: &str) -> Result<Option<RemoteContext>, String> {
        Python::attach(|py| {
            let loaded: PyResult<Option<(Vec<u8>, String)>> = self
                .load
                .call1(py, (url,))
                .and_then(|loaded| loaded.extract(py));
            match loaded {
                Ok(loaded) => Ok(loaded.map(|(document, url)| RemoteContext { document, url })),
                Err(error) => Err(error.value(py).to_string()),
            }
        })
    }
}
