//! `PatchBatch` and `ResultBatch` for Python: views of core batches.
//!
//! - In: a batch from a decoder, or Python operations or rows.
//! - Out: counts, operations and rows as tuples of objects, slices, Arrow.
//! - Cost: each term becomes an object on first access, and nearby messages share the object.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use rdfm_arrow::from_arrow;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::error::format_count;
use rdfm_core::model::record::{Operation, OperationCode, ResultHead};
use rdfm_core::model::term::TermId;
use rdfm_query::labelled::add_labels;

use crate::arrow::{self, ArrowBatch};
use crate::views::{View, batch_methods, call};
use crate::{build, errors, options};

/// Consecutive patches of a log, columnar and dictionary-encoded. Iteration yields `Patch` views.
#[pyclass(frozen, module = "rdfm._core")]
pub struct PatchBatch {
    view: View<Operation>,
}

batch_methods!(PatchBatch of Operation, patch {
    /// Number of operations.
    #[getter]
    fn record_count(&self) -> usize {
        self.inner().records().len()
    }

    /// Whether any operation is in a named graph.
    #[getter]
    fn has_graphs(&self) -> bool {
        self.inner().has_graphs()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static VIEWS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        call(slf, &VIEWS, "patch_views")
    }

    fn __repr__(&self) -> String {
        let patches = match self.__len__() {
            1 => "1 patch".to_owned(),
            patches => format!("{patches} patches"),
        };
        let operations = format_count(self.record_count(), "operation");
        format!("<PatchBatch: {patches}, {operations}>")
    }

    /// Return the operations of a patch, in order, as tuples.
    ///
    /// Returns:
    ///     Tuples of code, name, subject, predicate, object and graph.
    fn operations<'py>(&self, py: Python<'py>, patch: isize) -> PyResult<Bound<'py, PyList>> {
        let patch = self.view.at(patch)?;
        let tuples = self.view.with_objects(|table, objects| {
            let operations = self.inner().message(patch).iter();
            operations
                .map(|operation| {
                    let name = (operation.name != TermId::DEFAULT_GRAPH)
                        .then(|| String::from_utf8_lossy(table.text(operation.name)));
                    let mut term = |id| objects.get(py, table, id);
                    let parts = (
                        operation.code.name(),
                        name,
                        term(operation.subject)?,
                        term(operation.predicate)?,
                        term(operation.object)?,
                        term(operation.graph)?,
                    );
                    parts.into_pyobject(py)
                })
                .collect::<PyResult<Vec<_>>>()
        })?;
        PyList::new(py, tuples)
    }

    /// Return the headers as tuples of the number of the patch in the batch, the key and the value.
    fn headers(&self, py: Python<'_>) -> PyResult<Vec<(usize, String, Py<PyAny>)>> {
        self.view.with_objects(|table, objects| {
            let mut headers = Vec::new();
            for patch in 0..self.inner().len() {
                for operation in self.inner().message(patch) {
                    if operation.code == OperationCode::Header {
                        let key = String::from_utf8_lossy(table.text(operation.name)).into_owned();
                        headers.push((patch, key, objects.get(py, table, operation.object)?));
                    }
                }
            }
            Ok(headers)
        })
    }

    /// Return the number of operations of each patch.
    fn operation_counts(&self) -> Vec<usize> {
        self.view.counts()
    }

    /// Return the number of operations of a patch.
    fn operation_count_of(&self, patch: isize) -> PyResult<usize> {
        self.view.count_of(patch)
    }

    /// Return each operation code that occurs, and how often it occurs.
    fn code_counts(&self) -> Vec<(&'static str, usize)> {
        let codes = OperationCode::ALL.into_iter();
        let records = self.inner().records();
        codes
            .map(|code| {
                (
                    code.name(),
                    records.iter().filter(|record| record.code == code).count(),
                )
            })
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Convert the batch to Arrow, with one row per patch.
    ///
    /// Args:
    ///     columns: Any of "source", "message_index", "byte_offset", "operations", "metadata",
    ///         "namespaces", in the requested order; all but "byte_offset" and "namespaces" by
    ///         default. Patches have neither metadata nor namespaces.
    ///     source: Value of the source column; null by default.
    ///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
    /// Returns:
    ///     An object with the Arrow PyCapsule interface: `pyarrow.record_batch(…)` accepts it.
    /// Raises:
    ///     OptionError: If a column is unknown.
    ///     LimitError: If the strings would exceed 2 GiB; use smaller batches.
    #[pyo3(signature = (columns=None, source=None, *, terms="ntriples"))]
    fn to_arrow(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        source: Option<&str>,
        terms: &str,
    ) -> PyResult<ArrowBatch> {
        let layout = arrow::layout(Kind::Patches, columns.as_deref(), terms)?;
        arrow::record_batch(py, &[self.inner()], &layout, source)
    }

    /// Create a batch from Arrow rows that each contain one patch.
    ///
    /// Args:
    ///     batch: Any object with the Arrow PyCapsule interface (array or stream) and an
    ///         `operations` column as in `to_arrow`.
    ///     max_depth: Maximum nesting of triple terms.
    /// Raises:
    ///     DecodeError: If an operation lacks a required value or has a value that its code does
    ///         not allow. The error names the row, the operation and the part.
    ///     TypeError: If `batch` is not Arrow data, or a column is missing or has another type.
    #[staticmethod]
    #[pyo3(signature = (batch, *, max_depth=64))]
    fn from_arrow(py: Python<'_>, batch: &Bound<'_, PyAny>, max_depth: u32) -> PyResult<Self> {
        let reader = arrow::reader(batch)?;
        let max_depth = options::check_depth(max_depth)?;
        errors::run_guarded(py, || from_arrow::read_batch(reader, max_depth))?
            .map(Self::new)
            .map_err(|error| arrow::exception(py, error))
    }

    /// Create a batch from patches, each an iterable of operations as returned by `operations`.
    ///
    /// Args:
    ///     patches: `Patch` objects or iterables of operation tuples.
    ///     first_message_index: Index of the first patch in the log.
    /// Raises:
    ///     TypeError: If `patches` contains anything else.
    ///     ValueError: If a code is unknown, or an operation has too few or too many values for its
    ///         code.
    #[staticmethod]
    #[pyo3(signature = (patches, *, first_message_index=0))]
    fn from_patches(patches: &Bound<'_, PyAny>, first_message_index: u64) -> PyResult<Self> {
        build::from_patches(patches, first_message_index).map(Self::new)
    }
});

/// Consecutive rows of SPARQL results, columnar and dictionary-encoded.
///
/// Iteration yields tuples of terms. None represents an unbound variable.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ResultBatch {
    view: View<TermId>,
}

batch_methods!(ResultBatch of TermId, row {
    /// Number of rows.
    #[getter]
    fn record_count(&self) -> usize {
        self.inner().len()
    }

    /// Names of the variables, without `?`.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let variables = self.inner().head().variables.iter();
        PyTuple::new(py, variables.map(AsRef::<str>::as_ref))
    }

    /// Answer to an ASK query; None for rows.
    #[getter]
    fn boolean(&self) -> Option<bool> {
        self.inner().head().boolean
    }

    /// IRI references of documents with more information.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let links = self.inner().head().links.iter();
        PyTuple::new(py, links.map(AsRef::<str>::as_ref))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let rows = slf.get().rows(slf.py())?;
        rows.into_any().call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        let rows = format_count(self.__len__(), "row");
        let variables = format_count(self.inner().head().variables.len(), "variable");
        format!("<ResultBatch: {rows} of {variables}>")
    }

    /// Return the rows as tuples of terms or None.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.view.with_objects(|table, objects| {
            (0..self.inner().len())
                .map(|row| {
                    let cells = self.inner().message(row).iter();
                    let cells: PyResult<Vec<_>> =
                        cells.map(|cell| objects.get(py, table, *cell)).collect();
                    PyTuple::new(py, cells?)
                })
                .collect::<PyResult<Vec<_>>>()
        })?;
        PyList::new(py, rows)
    }

    /// Return the rows with leading `source` and `message_index` cells, and with blank node labels
    /// that are unique to each message.
    ///
    /// Args:
    ///     source: Name of the log.
    ///     messages: Index of each row's message in the log.
    ///     first: Number that is added to each index, so that messages are numbered across all
    ///         logs.
    /// Raises:
    ///     LimitError: If the rows are too large.
    ///     ValueError: If the number of indexes differs from the number of rows.
    fn labelled(
        &self,
        py: Python<'_>,
        source: &str,
        messages: Vec<u64>,
        first: i64,
    ) -> PyResult<Self> {
        let rows = self.inner();
        if messages.len() != rows.len() {
            let text = format!("{} message indexes for {} rows", messages.len(), rows.len());
            return Err(PyValueError::new_err(text));
        }
        errors::run_guarded(py, || add_labels(rows, source, &messages, first))?
            .map(Self::new)
            .map_err(errors::limit_error)
    }

    /// Return the cells of one variable in some rows, as rows of that variable.
    ///
    /// Args:
    ///     variable: Position of the variable.
    ///     rows: Positions of the rows.
    fn cells(&self, variable: usize, rows: Vec<usize>) -> Self {
        Self::new(self.inner().cells(variable, &rows))
    }

    /// Convert the batch to Arrow, with one row per result row.
    ///
    /// Each variable becomes a column of terms. Null represents an unbound variable.
    ///
    /// Args:
    ///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
    /// Returns:
    ///     An object with the Arrow PyCapsule interface: `pyarrow.record_batch(…)` accepts it.
    /// Raises:
    ///     ValueError: If the batch is the answer to an ASK query, or a variable occurs twice.
    ///     LimitError: If the strings would exceed 2 GiB; use smaller batches.
    #[pyo3(signature = (*, terms="ntriples"))]
    fn to_arrow(&self, py: Python<'_>, terms: &str) -> PyResult<ArrowBatch> {
        let layout = arrow::layout(Kind::Results, None, terms)?;
        arrow::record_batch(py, &[self.inner()], &layout, None)
    }

    /// Create a batch from rows.
    ///
    /// Args:
    ///     rows: Iterables that yield a term or None for each variable.
    ///     variables: Names of the variables, without `?`.
    ///     boolean: Answer to an ASK query, if there are no rows.
    ///     links: IRI references of documents with more information.
    ///     first_message_index: Index of the first row.
    /// Raises:
    ///     TypeError: If `rows` contains anything else.
    ///     ValueError: If a row has too many or too few terms, or both rows and an answer are
    ///         given.
    #[staticmethod]
    #[pyo3(
        signature = (rows, variables, *, boolean=None, links=Vec::new(), first_message_index=0),
        text_signature = "(rows, variables, *, boolean=None, links=(), first_message_index=0)"
    )]
    fn from_rows(
        rows: &Bound<'_, PyAny>,
        variables: Vec<String>,
        boolean: Option<bool>,
        links: Vec<String>,
        first_message_index: u64,
    ) -> PyResult<Self> {
        let boxed = |texts: Vec<String>| texts.into_iter().map(String::into_boxed_str).collect();
        let head = ResultHead {
            variables: boxed(variables),
            boolean,
            links: boxed(links),
        };
        build::from_rows(rows, head, first_message_index).map(Self::new)
    }
});

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PatchBatch>()?;
    module.add_class::<ResultBatch>()
}
