//! The Python interface of the warnings, and a function that counts lines to locate findings.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rdfm_analysis::warnings::{self, Finding, Rule, SuspiciousLabels, lines};
use rdfm_core::codec::batch::BatchRef;
use rdfm_core::model::datatypes::Datatype;

use crate::codecs::{to_contiguous, to_core_batch};
use crate::errors;

/// Rule, message index, byte offset of the message if known, text, and the term as it is usually
/// written.
type FindingTuple<'py> = (&'static str, u64, Option<u64>, String, Bound<'py, PyBytes>);

/// Finds valid but suspicious data in batches, log by log.
///
/// Args:
///     limit: Maximum number of findings to return for each rule. Further ones are only counted.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Checker {
    checker: Mutex<warnings::Checker>,
}

#[pymethods]
impl Checker {
    #[new]
    fn new(limit: u64) -> Self {
        Self {
            checker: Mutex::new(warnings::Checker::new(limit)),
        }
    }

    /// Start another log, which has separate blank node labels and prefixes.
    ///
    /// Args:
    ///     own: Prefix of the IRIs that were resolved against the log's own URL. Empty if there are
    ///         none.
    fn begin_log(&self, own: &str) {
        self.lock().begin_log(own.as_bytes());
    }

    /// Check the next batch of the log.
    ///
    /// Args:
    ///     batch: A batch of any kind.
    ///     labels: Which blank node labels are suspicious if several messages share them: "none",
    ///         "chosen" (those that do not just number the blank nodes of a message) or "all".
    /// Returns:
    ///     Findings in message order, as tuples of rule, message index, byte offset of the
    ///     message or None, text, and the term as it is usually written in text formats.
    fn check<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        labels: &str,
    ) -> PyResult<Vec<FindingTuple<'py>>> {
        let labels = match labels {
            "none" => SuspiciousLabels::Ignored,
            "chosen" => SuspiciousLabels::Chosen,
            "all" => SuspiciousLabels::All,
            _ => return Err(errors::option(format!("unknown labels '{labels}'"))),
        };
        let batch = to_core_batch(batch)?;
        let findings = errors::run_guarded(py, || {
            let mut checker = self.lock();
            match batch {
                BatchRef::Messages(batch) => checker.check(batch, labels),
                // In patches and results, labels are scoped to the entire log.
                BatchRef::Patches(batch) => checker.check(batch, SuspiciousLabels::Ignored),
                BatchRef::Results(batch) => checker.check(batch, SuspiciousLabels::Ignored),
            }
        })?;
        let tuple = |finding: Finding| {
            (
                finding.rule.name(),
                finding.message_index,
                finding.byte_offset,
                finding.text,
                PyBytes::new(py, &finding.term_text),
            )
        };
        Ok(findings.into_iter().map(tuple).collect())
    }

    /// Return the name of each rule and the number of its findings.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let counts = self.lock().counts();
        PyList::new(py, Rule::ALL.iter().map(|rule| rule.name()).zip(counts))
    }
}

impl Checker {
    fn lock(&self) -> std::sync::MutexGuard<'_, warnings::Checker> {
        self.checker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Return the number of line feeds in a piece.
#[pyfunction]
fn count_lines(piece: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(lines::count(to_contiguous(piece)?.as_bytes()))
}

/// Check whether a string is a valid lexical form of a datatype. None if the datatype is not
/// checked.
#[pyfunction]
fn is_lexical_form(datatype: &str, text: &str) -> Option<bool> {
    Datatype::from_iri(datatype.as_bytes()).map(|datatype| datatype.allows(text.as_bytes()))
}

/// Return the datatypes whose lexical forms are checked, such as "xsd:integer".
#[pyfunction]
fn checked_datatypes() -> Vec<&'static str> {
    Datatype::all().map(Datatype::name).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Checker>()?;
    module.add_function(wrap_pyfunction!(count_lines, module)?)?;
    module.add_function(wrap_pyfunction!(is_lexical_form, module)?)?;
    module.add_function(wrap_pyfunction!(checked_datatypes, module)?)
}
