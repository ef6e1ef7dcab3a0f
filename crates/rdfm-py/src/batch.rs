//! `MessageBatch` for Python: views of a core batch.
//!
//! - In: a batch from a decoder, Arrow, or Python messages.
//! - Out: counts, messages, quads as objects, slices, Arrow.
//! - Cost: each term becomes an object on first access, and nearby messages share the object.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString, PyTuple};
use rdfm_arrow::from_arrow::{self, QuadReader};
use rdfm_arrow::schema::{RowKind, detect_row_kind};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::namespaces::NamespaceChange;
use rdfm_core::model::term::{self, TermId};
use rdfm_core::regroup::{graphs, slices};

use crate::arrow::ArrowBatch;
use crate::terms::Quad;
use crate::views::{View, batch_methods, call};
use crate::{arrow, build, errors, options};

/// Index of a message in its batch, and the name and IRI of a namespace.
type Declaration<'py> = (u32, Bound<'py, PyString>, Bound<'py, PyString>);

/// Consecutive messages of a log, columnar and dictionary-encoded.
///
/// Iteration yields `Message` views. The batch exports Arrow data through the PyCapsule interface,
/// with one row per message.
#[pyclass(frozen, module = "rdfm._core")]
pub struct MessageBatch {
    view: View<term::Quad>,
}

batch_methods!(MessageBatch of term::Quad, message {
    /// Number of quads; batches of every kind have this property.
    #[getter]
    fn record_count(&self) -> usize {
        self.view.batch.quads().len()
    }

    /// Number of quads.
    #[getter]
    fn quad_count(&self) -> usize {
        self.view.batch.quads().len()
    }

    /// Return the batch with its messages numbered from `first_message_index`.
    #[pyo3(signature = (first_message_index, /))]
    fn numbered(&self, py: Python<'_>, first_message_index: u64) -> PyResult<Self> {
        errors::run_guarded(py, || {
            self.inner().with_first_message_index(first_message_index)
        })
        .map(Self::new)
    }

    /// Return the batch without its first quads, as the continuation of its first message.
    #[pyo3(signature = (quads, /))]
    fn rest_after(&self, py: Python<'_>, quads: usize) -> PyResult<Self> {
        errors::run_guarded(py, || self.inner().rest_after(quads)).map(Self::new)
    }

    /// Whether any quad is in a named graph.
    #[getter]
    fn has_graphs(&self) -> bool {
        self.view.batch.has_graphs()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static VIEWS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        call(slf, &VIEWS, "views")
    }

    fn __repr__(&self) -> String {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (messages, quads) = (self.view.batch.len(), self.view.batch.quads().len());
        format!(
            "<MessageBatch: {messages} message{}, {quads} quad{}>",
            plural(messages),
            plural(quads)
        )
    }

    /// Return the quads of a message, in order.
    fn quads<'py>(&self, py: Python<'py>, message: isize) -> PyResult<Bound<'py, PyList>> {
        let message = self.view.at(message)?;
        let quads = self.view.with_objects(|table, objects| {
            let mut make = |id: TermId| objects.get(py, table, id);
            let quad = |quad: &term::Quad| -> PyResult<Py<Quad>> {
                let quad = Quad {
                    subject: make(quad.subject)?,
                    predicate: make(quad.predicate)?,
                    object: make(quad.object)?,
                    graph: make(quad.graph)?,
                };
                Py::new(py, quad)
            };
            let quads = self.view.batch.message(message).iter().map(quad);
            quads.collect::<PyResult<Vec<_>>>()
        })?;
        PyList::new(py, quads)
    }

    /// Return the number of quads of each message.
    fn quad_counts(&self) -> Vec<usize> {
        self.view.counts()
    }

    /// Return the number of quads of a message.
    fn quad_count_of(&self, message: isize) -> PyResult<usize> {
        self.view.count_of(message)
    }

    /// Return the metadata of a message: Jelly frame metadata, or an empty dict.
    fn metadata<'py>(&self, py: Python<'py>, message: isize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for entry in self.view.batch.metadata(self.view.at(message)?) {
            dict.set_item(&*entry.key, PyBytes::new(py, &entry.value))?;
        }
        Ok(dict)
    }

    /// Return the namespaces in scope at a message: names (without colon) and IRIs.
    fn namespaces<'py>(&self, py: Python<'py>, message: isize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, iri) in self.view.batch.namespaces(self.view.at(message)?).iter() {
            dict.set_item(
                PyString::from_bytes(py, name)?,
                PyString::from_bytes(py, iri)?,
            )?;
        }
        Ok(dict)
    }

    /// Whether any namespace is in scope at a message.
    fn has_namespaces(&self, message: isize) -> PyResult<bool> {
        let message = self.view.at(message)?;
        let declared = self.view.batch.namespace_changes();
        Ok(!self.view.batch.namespaces_at_start().is_empty()
            || declared
                .first()
                .is_some_and(|change| change.message as usize <= message))
    }

    /// Return the namespaces that the batch's messages declare, in order.
    ///
    /// Returns:
    ///     Tuples of the message's number in the batch, the name (without colon) and the IRI.
    fn declarations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Declaration<'py>>> {
        let table = self.view.batch.table();
        let declaration = |change: &NamespaceChange| {
            Ok((
                change.message,
                PyString::from_bytes(py, table.span(change.name))?,
                PyString::from_bytes(py, table.span(change.iri))?,
            ))
        };
        let changes = self.view.batch.namespace_changes().iter();
        changes.map(declaration).collect()
    }

    /// Return the same messages with the quads of the default graph moved to the graph with this
    /// name.
    ///
    /// Raises:
    ///     OptionError: If the name is not an absolute IRI.
    fn with_default_graph(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        errors::run_guarded(py, || graphs::with_default_graph(&self.view.batch, name))?
            .map(Self::new)
            .map_err(errors::option)
    }

    /// Convert the batch to Arrow, with one row per message or quad.
    ///
    /// Args:
    ///     columns: Any of "source", "message_index", "byte_offset", "quads", "metadata",
    ///         "namespaces", in the requested order; all but "byte_offset" and "namespaces" by
    ///         default. For quad rows, any of "source", "message_index", "subject", "predicate",
    ///         "object", "graph"; all by default.
    ///     source: Value of the source column; null by default.
    ///     rows: "messages" for one row per message, or "quads" for one row per quad.
    ///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
    /// Returns:
    ///     An object with the Arrow PyCapsule interface: `pyarrow.record_batch(…)` accepts it.
    /// Raises:
    ///     OptionError: If a column is unknown.
    ///     LimitError: If the strings would exceed 2 GiB; use smaller batches.
    #[pyo3(signature = (columns=None, source=None, *, rows="messages", terms="ntriples"))]
    fn to_arrow(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        source: Option<&str>,
        rows: &str,
        terms: &str,
    ) -> PyResult<ArrowBatch> {
        let rows = arrow::rows(Kind::Messages, columns.as_deref(), rows, terms)?;
        arrow::batch_of_rows(py, &[&self.view.batch], &rows, source)
    }

    /// Create a batch from Arrow rows that each contain one message or one quad.
    ///
    /// Args:
    ///     batch: Any object with the Arrow PyCapsule interface (array or stream). Message rows
    ///         have a `quads` column as in `to_arrow`, and optionally a `metadata` column. Quad
    ///         rows have the columns `message`, `subject`, `predicate` and `object`. Consecutive
    ///         quad rows with the same source and message form a message.
    ///     max_depth: Maximum nesting of triple terms.
    /// Raises:
    ///     DecodeError: If a term is not valid N-Triples; the error names the row and the term.
    ///     TypeError: If `batch` is not Arrow data, or a column is missing or has another type.
    #[staticmethod]
    #[pyo3(signature = (batch, *, max_depth=64))]
    fn from_arrow(py: Python<'_>, batch: &Bound<'_, PyAny>, max_depth: u32) -> PyResult<Self> {
        let reader = arrow::reader(batch)?;
        let max_depth = options::check_depth(max_depth)?;
        let quads = detect_row_kind(&reader.schema()) == Ok(RowKind::Quads);
        let result = errors::run_guarded(py, || {
            if quads {
                QuadReader::read_batch(reader, max_depth)
            } else {
                from_arrow::read_batch(reader, max_depth)
            }
        })?;
        result
            .map(Self::new)
            .map_err(|error| arrow::exception(py, error))
    }

    /// Create a batch from messages, or from iterables of quads.
    ///
    /// Args:
    ///     messages: `Message` objects or iterables of `Quad`.
    ///     first_message_index: Index of the first message in the log.
    ///     after: The previous batch of the log, whose namespaces remain in scope.
    /// Raises:
    ///     TypeError: If `messages` contains anything else.
    #[staticmethod]
    #[pyo3(signature = (messages, *, first_message_index=0, after=None))]
    fn from_messages(
        messages: &Bound<'_, PyAny>,
        first_message_index: u64,
        after: Option<&Bound<'_, Self>>,
    ) -> PyResult<Self> {
        let after = after.map(|batch| batch.get().inner());
        build::from_messages(messages, first_message_index, after, |object| {
            Ok(object.cast::<Self>()?.get().inner())
        })
        .map(Self::new)
    }
});

/// Cuts the batches of a log into slices for separate logs, such as files in a folder or archive
/// members.
///
/// Each of these logs begins with the namespaces in scope at that point. If there are more than
/// 256, it begins only with those that its messages declare or use.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Slices {
    slices: Mutex<slices::Slices>,
}

#[pymethods]
impl Slices {
    #[new]
    fn new() -> Self {
        Self {
            slices: Mutex::default(),
        }
    }

    /// Return the messages of a batch from `start`, where the previous slices ended, up to `stop`
    /// (exclusive).
    ///
    /// Args:
    ///     batch: The batch.
    ///     start: Number of the first message; 0 in the first call for each batch of the log.
    ///     stop: Number of the message after the last one.
    ///     begins: Whether a log begins with these messages.
    /// Returns:
    ///     One or more slices.
    fn take(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
        stop: usize,
        begins: bool,
    ) -> PyResult<Vec<Py<MessageBatch>>> {
        let messages = batch.get().inner();
        let taken = errors::run_guarded(py, || {
            let mut slices = self.slices.lock().unwrap_or_else(PoisonError::into_inner);
            if start == 0 {
                slices.begin_batch(messages);
            }
            slices.take(messages, stop, begins)
        })?;
        match taken {
            None => Ok(vec![batch.clone().unbind()]),
            Some(taken) => {
                let make = |slice| Py::new(py, MessageBatch::new(slice));
                taken.into_iter().map(make).collect()
            }
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MessageBatch>()?;
    module.add_class::<Slices>()
}
