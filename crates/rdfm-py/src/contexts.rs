//! Remote contexts of JSON-LD from a Python callable.
//!
//! - In: a callable that takes a URL and gives `(document, final URL)`, or None where it has none.
//! - Out: the core's loader. It is called with the GIL, on the thread that decodes.

use pyo3::prelude::*;
use rdfm_core::codec::contexts::{ContextLoader, RemoteContext};

/// A callable as a loader.
#[derive(Debug)]
pub struct PyLoader {
    load: Py<PyAny>,
}

impl PyLoader {
    /// Takes the callable.
    pub fn new(load: Py<PyAny>) -> Self {
        Self { load }
    }
}

impl ContextLoader for PyLoader {
    fn load(&self, url: &str) -> Result<Option<RemoteContext>, String> {
        Python::attach(|py| {
            let found: PyResult<Option<(Vec<u8>, String)>> = self
                .load
                .call1(py, (url,))
                .and_then(|found| found.extract(py));
            match found {
                Ok(found) => Ok(found.map(|(document, url)| RemoteContext { document, url })),
                Err(error) => Err(error.value(py).to_string()),
            }
        })
    }
}
