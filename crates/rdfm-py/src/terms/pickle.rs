//! Pickling of triple terms.
//!
//! - In: a triple term, or the steps from a pickle.
//! - Out: the steps that build the term, or the term.
//! - Cost: a part that occurs several times takes only one step.
//! - Law: a pickle is never nested deeper than a tuple of tuples, regardless of the depth of the
//!   term. Untrusted steps result in a triple term or an error.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;

use super::{AnyTerm, TripleTerm};

/// Returns the steps that build a triple term.
pub(super) fn build_steps<'py>(triple: &Bound<'py, TripleTerm>) -> PyResult<Bound<'py, PyTuple>> {
    let mut steps = Steps {
        items: Vec::new(),
        item_indices: FxHashMap::default(),
    };
    steps.add_triple(triple)?;
    PyTuple::new(triple.py(), steps.items)
}

/// Pickling steps of a triple term. Each part occurs once, before the terms that contain it.
struct Steps<'py> {
    /// A term or, for a triple term, the indexes of its parts.
    items: Vec<Bound<'py, PyAny>>,
    item_indices: FxHashMap<usize, usize>,
}

impl<'py> Steps<'py> {
    fn add_triple(&mut self, triple: &Bound<'py, TripleTerm>) -> PyResult<()> {
        let py = triple.py();
        let mut places = [0; 3];
        for (slot, part) in places.iter_mut().zip(triple.get().parts()) {
            let part = part.bind(py);
            let address = part.as_ptr() as usize;
            if let Some(existing) = self.item_indices.get(&address) {
                *slot = *existing;
                continue;
            }
            match AnyTerm::expect(part, "a part")? {
                AnyTerm::Triple(inner) => self.add_triple(inner)?,
                _ => self.items.push(part.clone()),
            }
            *slot = self.items.len() - 1;
            self.item_indices.insert(address, *slot);
        }
        self.items.push(PyTuple::new(py, places)?.into_any());
        Ok(())
    }
}

/// Build a triple term from its steps in a pickle.
///
/// Args:
///     steps: Each step is a term or, for a triple term, the indexes of its parts among the earlier
///         steps.
/// Raises:
///     ValueError: If the steps do not build a triple term.
#[pyfunction]
pub(super) fn build_triple_term<'py>(steps: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = steps.py();
    let invalid = || PyValueError::new_err("the steps do not build a triple term");
    let mut built: Vec<Bound<'py, PyAny>> = Vec::with_capacity(steps.len());
    for step in steps.iter() {
        let Ok(places) = step.extract::<[usize; 3]>() else {
            built.push(step);
            continue;
        };
        let mut parts = Vec::with_capacity(3);
        for slot in places {
            parts.push(built.get(slot).ok_or_else(invalid)?.clone());
        }
        let term = TripleTerm::new(&parts[0], &parts[1], &parts[2])?;
        built.push(Bound::new(py, term)?.into_any());
    }
    built
        .pop()
        .filter(|last| last.cast_exact::<TripleTerm>().is_ok())
        .ok_or_else(invalid)
}
