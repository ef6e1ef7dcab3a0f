//! Log statistics for Python: batches in, dicts of numbers out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rdfm_analysis::statistics::{
    self, Estimate, NamesReport, PERCENTILES, Report, SeriesReport, SizesReport, Spread, bits,
};

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::{PatchBatch, ResultBatch};

/// Collects log statistics. Call `add` with each batch in order, and `report` at any time.
#[pyclass(frozen, module = "rdfm._core")]
pub struct StatisticsCounter {
    state: Mutex<statistics::Statistics>,
}

impl StatisticsCounter {
    fn state(&self) -> MutexGuard<'_, statistics::Statistics> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names and bits of the term statistics.
const TERMS: [(&str, u16); 12] = [
    ("iris", bits::IRI),
    ("blank_nodes", bits::BNODE),
    ("literals", bits::LITERAL),
    ("simple_literals", bits::SIMPLE),
    ("datatype_literals", bits::TYPED),
    ("language_literals", bits::LANGUAGE),
    ("datatypes", bits::DATATYPE),
    ("subjects", bits::SUBJECT),
    ("predicates", bits::PREDICATE),
    ("objects", bits::OBJECT),
    ("graphs", bits::GRAPH),
    ("distinct_quoted_triples", bits::TRIPLE),
];

#[pymethods]
impl StatisticsCounter {
    /// Create empty statistics.
    ///
    /// Args:
    ///     plain: Whether message sizes in bytes exclude delimiters.
    ///     first: Number of the first message and log. Statistics that are to be merged need
    ///         disjoint ranges of these numbers.
    #[new]
    #[pyo3(signature = (*, plain=false, first=0))]
    fn new(plain: bool, first: u64) -> Self {
        let statistics = if plain {
            statistics::Statistics::plain()
        } else {
            statistics::Statistics::default()
        };
        Self {
            state: Mutex::new(statistics.with_first_index(first)),
        }
    }

    /// Start another log, with separate blank nodes.
    fn start_log(&self) {
        self.state().start_log();
    }

    /// Add the next batch. All batches must be of the same kind.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(batch) = batch.cast::<MessageBatch>() {
            let batch = batch.get().inner();
            errors::run_guarded(py, || self.state().add_messages(batch))
        } else if let Ok(batch) = batch.cast::<PatchBatch>() {
            let batch = batch.get().inner();
            errors::run_guarded(py, || self.state().add_patches(batch))
        } else if let Ok(batch) = batch.cast::<ResultBatch>() {
            let batch = batch.get().inner();
            errors::run_guarded(py, || self.state().add_results(batch))
        } else {
            Err(PyTypeError::new_err("expected a batch"))
        }
    }

    /// Return the current statistics as bytes, for `merge`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = errors::run_guarded(py, || self.state().to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Add the statistics of other messages of the same kind, in the form returned by `to_bytes`.
    ///
    /// Raises:
    ///     ValueError: If the bytes are not statistics from this version of rdfm.
    fn merge(&self, py: Python<'_>, other: &[u8]) -> PyResult<()> {
        errors::run_guarded(py, || self.state().merge_bytes(other))?.map_err(|_| {
            PyValueError::new_err("the bytes are not statistics from this version of rdfm")
        })
    }

    /// Return the current statistics. Each list contains the `top` most frequent names.
    fn report<'py>(&self, py: Python<'py>, top: usize) -> PyResult<Bound<'py, PyDict>> {
        let report = errors::run_guarded(py, || self.state().report(top))?;
        report_dict(py, &report)
    }
}

fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("messages", report.messages)?;
    dict.set_item("empty_messages", report.empty_messages)?;
    dict.set_item("approximate_messages", report.approximate_messages)?;
    dict.set_item("sizes", sizes_dict(py, &report.sizes)?)?;
    for (name, optional) in [
        ("bytes", &report.bytes),
        ("adds", &report.adds),
        ("deletes", &report.deletes),
    ] {
        let optional = optional
            .as_ref()
            .map(|optional| sizes_dict(py, optional))
            .transpose()?;
        dict.set_item(name, optional)?;
    }
    let operations = PyDict::new(py);
    for (code, count) in &report.operations {
        operations.set_item(code.name(), count)?;
    }
    dict.set_item("operations", operations)?;
    let variables = PyList::empty(py);
    for variable in &report.variables {
        let entry = PyDict::new(py);
        entry.set_item("name", &variable.name)?;
        entry.set_item("bound", variable.bound)?;
        entry.set_item("unique", variable.unique.map(unique))?;
        variables.append(entry)?;
    }
    dict.set_item("variables", variables)?;
    let terms = PyDict::new(py);
    for (name, bit) in TERMS {
        let term = &report.terms[bit.trailing_zeros() as usize];
        let entry = series_dict(py, &term.series)?;
        entry.set_item("unique", unique(term.unique))?;
        terms.set_item(name, entry)?;
    }
    for (name, values) in [
        ("statements", &report.statements),
        ("ascii_control_characters", &report.controls),
        ("quoted_triples", &report.triples),
    ] {
        terms.set_item(name, series_dict(py, values)?)?;
    }
    let density = PyDict::new(py);
    add_spread(&density, report.density.as_ref())?;
    terms.set_item("byte_density", density)?;
    dict.set_item("series", terms)?;
    let occurrences = PyDict::new(py);
    let numbers = &report.occurrences;
    for (name, count) in [
        ("iris", numbers.iris),
        ("blank_nodes", numbers.blank_nodes),
        ("simple_literals", numbers.simple_literals),
        ("datatype_literals", numbers.datatype_literals),
        ("language_literals", numbers.language_literals),
        ("quoted_triples", numbers.quoted_triples),
    ] {
        occurrences.set_item(name, count)?;
    }
    dict.set_item("occurrences", occurrences)?;
    for (name, values) in [
        ("datatypes", &report.datatypes),
        ("languages", &report.languages),
        ("predicates", &report.predicates),
        ("types", &report.types),
        ("namespaces", &report.namespaces),
    ] {
        dict.set_item(name, names_dict(py, values)?)?;
    }
    Ok(dict)
}

const fn unique(estimate: Estimate) -> (u64, u64, u64) {
    (estimate.value, estimate.lower, estimate.upper)
}

fn add_spread<'py, T>(dict: &Bound<'py, PyDict>, spread: Option<&Spread<T>>) -> PyResult<()>
where
    T: Copy + IntoPyObject<'py>,
{
    dict.set_item("minimum", spread.map(|spread| spread.minimum))?;
    dict.set_item("maximum", spread.map(|spread| spread.maximum))?;
    dict.set_item("mean", spread.map(|spread| spread.mean))?;
    dict.set_item("standard_deviation", spread.map(|spread| spread.deviation))
}

fn series_dict<'py>(py: Python<'py>, report: &SeriesReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    add_spread(&dict, report.spread.as_ref())?;
    dict.set_item("sum", report.sum)?;
    Ok(dict)
}

fn sizes_dict<'py>(py: Python<'py>, report: &SizesReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = series_dict(py, &report.series)?;
    let percentiles = PyDict::new(py);
    for (percent, value) in PERCENTILES.iter().zip(report.percentiles.iter().flatten()) {
        percentiles.set_item(format!("p{percent}"), value)?;
    }
    dict.set_item("percentiles", percentiles)?;
    let bars: Vec<_> = report
        .histogram
        .iter()
        .map(|bar| (bar.from, bar.to, bar.count))
        .collect();
    dict.set_item("histogram", bars)?;
    Ok(dict)
}

fn names_dict<'py>(py: Python<'py>, report: &NamesReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let counts = PyDict::new(py);
    for (name, count) in &report.names {
        counts.set_item(name, count)?;
    }
    dict.set_item("counts", counts)?;
    dict.set_item("number", report.counted)?;
    dict.set_item("others", report.others)?;
    Ok(dict)
}

/// Counts the predicates, datatypes and keys of a log. Call `add` with each batch, then `report`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct NameListing {
    state: Mutex<statistics::Listing>,
}

impl NameListing {
    fn state(&self) -> MutexGuard<'_, statistics::Listing> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl NameListing {
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// Add a batch of messages or patches.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(batch) = batch.cast::<MessageBatch>() {
            let batch = batch.get().inner();
            errors::run_guarded(py, || self.state().add_messages(batch))
        } else if let Ok(batch) = batch.cast::<PatchBatch>() {
            let batch = batch.get().inner();
            errors::run_guarded(py, || self.state().add_patches(batch))
        } else {
            Err(PyTypeError::new_err(
                "expected a batch of messages or patches",
            ))
        }
    }

    /// Return the statistics of each name list.
    ///
    /// Returns:
    ///     For each list: the counts of the `top` most frequent names, the number of stored names,
    ///     and the number of occurrences of other names.
    fn report<'py>(&self, py: Python<'py>, top: usize) -> PyResult<Bound<'py, PyDict>> {
        let report = errors::run_guarded(py, || self.state().report(top))?;
        let dict = PyDict::new(py);
        for (name, report) in [
            ("predicates", &report.predicates),
            ("datatypes", &report.datatypes),
            ("metadata", &report.metadata),
            ("headers", &report.headers),
        ] {
            dict.set_item(name, names_dict(py, report)?)?;
        }
        Ok(dict)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NameListing>()?;
    module.add_class::<StatisticsCounter>()
}
