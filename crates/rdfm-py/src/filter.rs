//! Message filters for Python.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use rdfm_query::filter::{self, Period, Position};

use crate::batch::MessageBatch;
use crate::errors;

/// A message filter: patterns that quads must match.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Filter {
    state: Mutex<filter::MessageFilter>,
}

impl Filter {
    fn state(&self) -> MutexGuard<'_, filter::MessageFilter> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Filter {
    /// Create a filter. `prefixes` maps prefixes to namespaces; other prefixes are looked up in the
    /// logs.
    #[new]
    fn new(prefixes: BTreeMap<String, String>) -> Self {
        let bytes = |(name, iri): (String, String)| (name.into_bytes(), iri.into_bytes());
        Self {
            state: Mutex::new(filter::MessageFilter::new(prefixes.into_iter().map(bytes))),
        }
    }

    /// Start a pattern for another quad.
    fn begin_pattern(&self) {
        self.state().begin_pattern();
    }

    /// Match a term, written as N-Triples, a prefixed name, a number, `true`, `false` or `a`.
    ///
    /// Args:
    ///     position: Position of the term, such as "subject".
    ///     text: The term.
    /// Raises:
    ///     OptionError: If the text is not a valid term.
    fn term(&self, position: &str, text: &str) -> PyResult<()> {
        let position = parse_position(position)?;
        self.state()
            .add_term(position, text)
            .map_err(errors::option)
    }

    /// Match one of several terms, written as N-Triples.
    ///
    /// Args:
    ///     position: Position of the term, such as "subject".
    ///     texts: The terms.
    /// Raises:
    ///     OptionError: If a text is not a valid term.
    fn one_of(&self, position: &str, texts: Vec<String>) -> PyResult<()> {
        let position = parse_position(position)?;
        self.state()
            .add_terms(position, &texts)
            .map_err(errors::option)
    }

    /// Match the default graph.
    fn default_graph(&self) {
        self.state().default_graph();
    }

    /// Match literals whose lexical form contains a string.
    fn contains(&self, text: &str) {
        self.state().add_text(text);
    }

    /// Match literals whose lexical form contains a match of a regular expression.
    ///
    /// Raises:
    ///     OptionError: If the regular expression is invalid.
    fn matches(&self, expression: &str) -> PyResult<()> {
        self.state().matches(expression).map_err(errors::option)
    }

    /// Match points in time from `first` (inclusive) to `end` (exclusive).
    ///
    /// Raises:
    ///     OptionError: If a string is neither an xsd:dateTime nor an xsd:date.
    /// With `any_property`, the predicate is one of the known time properties, in another quad.
    #[pyo3(signature = (first, end, *, any_property=false))]
    fn within(&self, first: Option<&str>, end: Option<&str>, any_property: bool) -> PyResult<()> {
        let read = |text: Option<&str>| {
            text.map(|text| {
                filter::parse_moment(text).ok_or_else(|| {
                    errors::option(format!(
                        "'{text}' is not a date or time; write 2026-06-01 or 2026-06-01T13:00:00Z"
                    ))
                })
            })
            .transpose()
        };
        let period = Period {
            from: read(first)?,
            until: read(end)?,
        };
        let mut state = self.state();
        if any_property {
            return state.add_time_within(period).map_err(errors::option);
        }
        state.add_period(period);
        Ok(())
    }

    /// Whether messages were filtered by a known time property, but none has any.
    fn lacks_times(&self) -> bool {
        self.state().lacks_times()
    }

    /// Return the messages that match or, if `inverted`, those that do not.
    fn messages(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        inverted: bool,
    ) -> PyResult<Vec<Py<MessageBatch>>> {
        let messages = batch.get().inner();
        let selected = errors::run_guarded(py, || {
            let matches = self.state().matching_messages(messages);
            let all = matches.iter().all(|matches| *matches != inverted);
            (!all).then(|| messages.with_messages(|index| matches[index] != inverted))
        })?;
        match selected {
            None => Ok(vec![batch.clone().unbind()]),
            Some(selected) => batches(py, selected),
        }
    }

    /// Return the messages with only their matching quads or, if `inverted`, only their other
    /// quads. Messages without such quads are omitted. Messages may be in parts if
    /// `tests_single_quads`.
    fn quads(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        inverted: bool,
    ) -> PyResult<Vec<Py<MessageBatch>>> {
        let messages = batch.get().inner();
        let found = errors::run_guarded(py, || self.state().select_quads(messages, inverted))?;
        batches(py, found)
    }

    /// Whether the quads of a message match independently of each other.
    fn tests_single_quads(&self) -> bool {
        self.state().tests_single_quads()
    }

    /// Return the prefixes whose namespaces are taken from the logs.
    fn prefixes(&self) -> Vec<String> {
        let text = |prefix: &[u8]| String::from_utf8_lossy(prefix).into_owned();
        self.state().prefixes().map(text).collect()
    }

    /// Return the prefixes that no log has declared so far.
    fn undeclared(&self) -> Vec<String> {
        let text = |prefix: &[u8]| String::from_utf8_lossy(prefix).into_owned();
        self.state().undeclared().map(text).collect()
    }
}

fn parse_position(name: &str) -> PyResult<Position> {
    Ok(match name {
        "subject" => Position::Subject,
        "predicate" => Position::Predicate,
        "object" => Position::Object,
        "graph" => Position::Graph,
        "any" => Position::Any,
        _ => return Err(errors::option(format!("unknown position '{name}'"))),
    })
}

fn batches(
    py: Python<'_>,
    batches: Vec<rdfm_core::model::batch::MessageBatch>,
) -> PyResult<Vec<Py<MessageBatch>>> {
    let make = |batch| Py::new(py, MessageBatch::new(batch));
    batches.into_iter().map(make).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Filter>()
}
