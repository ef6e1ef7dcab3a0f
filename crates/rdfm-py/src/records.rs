//! `PatchBatch` and `ResultBatch` for Python: views of core batches.
//!
//! - In: a batch from a decoder, or Python's operations and rows.
//! - Out: counts, operations and rows as tuples of objects, slices, Arrow.
//! - Cost: each term becomes an object once a batch, when first asked for.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use rdfm_arrow::from_arrow;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::{self, LogBatch};
use rdfm_core::model::error::counted;
use rdfm_core::model::record::{Operation, OperationCode, Record, ResultHead};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::TermId;
use rdfm_query::labelled::labelled;

use crate::arrow::{self, ArrowBatch};
use crate::batch::place;
use crate::terms::TermObjects;
use crate::{build, errors, options};

/// A batch and the objects of its terms, taken out while objects are made, so that no lock is held while Python runs.
struct Records<R: Record> {
    batch: LogBatch<R>,
    objects: Mutex<TermObjects>,
}

impl<R: Record> Records<R> {
    fn new(batch: LogBatch<R>) -> Self {
        Self {
            batch,
            objects: Mutex::default(),
        }
    }

    /// Makes objects of terms.
    fn with_objects<T>(
        &self,
        make: impl FnOnce(&TermTable, &mut TermObjects) -> PyResult<T>,
    ) -> PyResult<T> {
        let slot = || self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = std::mem::take(&mut *slot());
        objects.for_table(self.batch.table());
        let result = make(self.batch.table(), &mut objects);
        *slot() = objects;
        result
    }

    fn at(&self, message: isize) -> PyResult<usize> {
        place(message, self.batch.len())
    }
}

/// Consecutive patches of a log, columnar and dictionary-encoded. Iterating gives `Patch` views.
#[pyclass(frozen, module = "rdfm._core")]
pub struct PatchBatch {
    records: Records<Operation>,
}

impl PatchBatch {
    pub fn new(batch: batch::PatchBatch) -> Self {
        Self {
            records: Records::new(batch),
        }
    }

    pub const fn inner(&self) -> &batch::PatchBatch {
        &self.records.batch
    }
}

#[pymethods]
impl PatchBatch {
    /// The number of patches.
    fn __len__(&self) -> usize {
        self.records.batch.len()
    }

    /// What the messages are: "patches".
    #[getter]
    fn kind(&self) -> &'static str {
        Kind::Patches.name()
    }

    /// The number of operations.
    #[getter]
    fn record_count(&self) -> usize {
        self.records.batch.records().len()
    }

    /// The index in the log of the first patch, from 0.
    #[getter]
    fn first_index(&self) -> u64 {
        self.records.batch.first_index()
    }

    /// Whether the first patch is the rest of the last patch of the batch before.
    #[getter]
    fn continued(&self) -> bool {
        self.records.batch.continued()
    }

    /// Whether the last patch goes on in the next batch.
    #[getter]
    fn continues(&self) -> bool {
        self.records.batch.continues()
    }

    /// Whether any operation is in a named graph.
    #[getter]
    fn has_graphs(&self) -> bool {
        self.records.batch.has_graphs()
    }

    /// The bytes of memory the batch holds, near enough for queue bounds.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.records.batch.memory_bytes()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static VIEWS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        VIEWS
            .import(slf.py(), "rdfm.message", "patch_views")?
            .call1((slf,))
    }

    fn __repr__(&self) -> String {
        let patches = match self.__len__() {
            1 => "1 patch".to_owned(),
            patches => format!("{patches} patches"),
        };
        let operations = counted(self.record_count(), "operation");
        format!("<PatchBatch: {patches}, {operations}>")
    }

    /// The operations of a patch, in order: tuples of code, name, subject, predicate, object and graph.
    fn operations<'py>(&self, py: Python<'py>, patch: isize) -> PyResult<Bound<'py, PyList>> {
        let patch = self.records.at(patch)?;
        let tuples = self.records.with_objects(|table, objects| {
            let operations = self.records.batch.message(patch).iter();
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

    /// The header lines: the number of the patch in the batch, the key and the value.
    fn headers(&self, py: Python<'_>) -> PyResult<Vec<(usize, String, Py<PyAny>)>> {
        self.records.with_objects(|table, objects| {
            let mut headers = Vec::new();
            for patch in 0..self.records.batch.len() {
                for operation in self.records.batch.message(patch) {
                    if operation.code == OperationCode::Header {
                        let key = String::from_utf8_lossy(table.text(operation.name)).into_owned();
                        headers.push((patch, key, objects.get(py, table, operation.object)?));
                    }
                }
            }
            Ok(headers)
        })
    }

    /// The number of operations of each patch.
    fn operation_counts(&self) -> Vec<usize> {
        let batch = &self.records.batch;
        (0..batch.len())
            .map(|patch| batch.range(patch).len())
            .collect()
    }

    /// The number of operations of a patch.
    fn operation_count_of(&self, patch: isize) -> PyResult<usize> {
        Ok(self.records.batch.range(self.records.at(patch)?).len())
    }

    /// How often each code occurs, of all operations: those that occur.
    fn code_counts(&self) -> Vec<(&'static str, usize)> {
        let codes = OperationCode::ALL.into_iter();
        let records = self.records.batch.records();
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

    /// The first byte of a patch in the decompressed log.
    fn position(&self, patch: isize) -> PyResult<u64> {
        Ok(self.records.batch.position(self.records.at(patch)?))
    }

    /// The patches from `start` up to `stop`, sharing this batch's terms.
    fn slice(&self, start: usize, stop: usize) -> Self {
        Self::new(self.records.batch.slice(start..stop.max(start)))
    }

    /// The batch as Arrow, one row a patch.
    ///
    /// Args:
    ///     columns: Any of "source", "offset", "operations", "metadata", "position", "namespaces", in the order
    ///         wanted; the first four by default. Patches have neither metadata nor namespaces.
    ///     source: The text of the source column; null by default.
    ///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
    /// Returns:
    ///     An object with the Arrow PyCapsule interface: `pyarrow.record_batch(…)` takes it.
    /// Raises:
    ///     OptionError: An unknown column.
    ///     LimitError: The strings would pass 2 GiB; use smaller batches.
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

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        arrow::export(py, self.inner(), requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_stream(py, self.inner(), requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_schema(py, self.inner())
    }

    /// A batch from Arrow rows, one patch a row.
    ///
    /// Args:
    ///     batch: Anything with the Arrow PyCapsule interface (array or stream) and a column `operations` as
    ///         `to_arrow` makes it.
    ///     max_depth: How deep triple terms may nest.
    /// Raises:
    ///     DecodeError: An operation has what it cannot have, or lacks what it needs; names row, operation and part.
    ///     TypeError: `batch` is no Arrow, or its columns have other types.
    #[staticmethod]
    #[pyo3(signature = (batch, *, max_depth=64))]
    fn from_arrow(py: Python<'_>, batch: &Bound<'_, PyAny>, max_depth: u32) -> PyResult<Self> {
        let reader = arrow::reader(batch)?;
        let max_depth = options::depth(max_depth)?;
        errors::guarded(py, || from_arrow::batch(reader, max_depth))?
            .map(Self::new)
            .map_err(|error| arrow::exception(py, error))
    }

    /// A batch from patches: iterables of operations, as `operations` gives them.
    ///
    /// Args:
    ///     patches: `Patch` objects or iterables of tuples.
    ///     first_index: The index in the log of the first patch.
    /// Raises:
    ///     TypeError: Something else was given.
    ///     ValueError: A code is unknown, or an operation lacks what its code needs, or has more.
    #[staticmethod]
    #[pyo3(signature = (patches, *, first_index=0))]
    fn from_patches(patches: &Bound<'_, PyAny>, first_index: u64) -> PyResult<Self> {
        build::from_patches(patches, first_index).map(Self::new)
    }
}

/// Consecutive rows of SPARQL results, columnar and dictionary-encoded. Iterating gives tuples of terms, with None for
/// what is unbound.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ResultBatch {
    records: Records<TermId>,
}

impl ResultBatch {
    pub fn new(batch: batch::ResultBatch) -> Self {
        Self {
            records: Records::new(batch),
        }
    }

    pub const fn inner(&self) -> &batch::ResultBatch {
        &self.records.batch
    }
}

#[pymethods]
impl ResultBatch {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.records.batch.len()
    }

    /// What the messages are: "results".
    #[getter]
    fn kind(&self) -> &'static str {
        Kind::Results.name()
    }

    /// The number of rows.
    #[getter]
    fn record_count(&self) -> usize {
        self.records.batch.len()
    }

    /// The index of the first row, from 0.
    #[getter]
    fn first_index(&self) -> u64 {
        self.records.batch.first_index()
    }

    /// The names of the variables, without `?`.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.records
                .batch
                .head()
                .variables
                .iter()
                .map(AsRef::<str>::as_ref),
        )
    }

    /// The answer of an ASK query; None for rows.
    #[getter]
    fn boolean(&self) -> Option<bool> {
        self.records.batch.head().boolean
    }

    /// Documents that say more: IRI references.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.records
                .batch
                .head()
                .links
                .iter()
                .map(AsRef::<str>::as_ref),
        )
    }

    /// Whether the first row is the rest of one of the batch before: never.
    #[getter]
    fn continued(&self) -> bool {
        self.records.batch.continued()
    }

    /// Whether the last row goes on in the next batch: never.
    #[getter]
    fn continues(&self) -> bool {
        self.records.batch.continues()
    }

    /// The bytes of memory the batch holds, near enough for queue bounds.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.records.batch.memory_bytes()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let rows = slf.get().rows(slf.py())?;
        rows.into_any().call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        let rows = counted(self.__len__(), "row");
        let variables = counted(self.records.batch.head().variables.len(), "variable");
        format!("<ResultBatch: {rows} of {variables}>")
    }

    /// The rows, each a tuple of terms or None.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.records.with_objects(|table, objects| {
            (0..self.records.batch.len())
                .map(|row| {
                    let cells = self.records.batch.message(row).iter();
                    let cells: PyResult<Vec<_>> =
                        cells.map(|cell| objects.get(py, table, *cell)).collect();
                    PyTuple::new(py, cells?)
                })
                .collect::<PyResult<Vec<_>>>()
        })?;
        PyList::new(py, rows)
    }

    /// The first byte of a row in the decompressed log.
    fn position(&self, row: isize) -> PyResult<u64> {
        Ok(self.records.batch.position(self.records.at(row)?))
    }

    /// The rows behind cells `source` and `message`, which say whose they are; blank nodes get labels of their message.
    ///
    /// Args:
    ///     source: The name of the log.
    ///     messages: The index in it of each row's message.
    ///     first: How much more the number of a message over all logs is.
    /// Raises:
    ///     LimitError: The rows are too large.
    ///     ValueError: There are more or fewer indexes than rows.
    fn labelled(
        &self,
        py: Python<'_>,
        source: &str,
        messages: Vec<u64>,
        first: i64,
    ) -> PyResult<Self> {
        let rows = self.inner();
        if messages.len() != rows.len() {
            let text = format!("{} indexes of {} rows", messages.len(), rows.len());
            return Err(PyValueError::new_err(text));
        }
        errors::guarded(py, || labelled(rows, source, &messages, first))?
            .map(Self::new)
            .map_err(errors::exceeded)
    }

    /// The rows from `start` up to `stop`, sharing this batch's terms.
    fn slice(&self, start: usize, stop: usize) -> Self {
        Self::new(self.records.batch.slice(start..stop.max(start)))
    }

    /// The batch as Arrow, one row a row of results: a column of terms for each variable, null where it is unbound.
    ///
    /// Args:
    ///     terms: "ntriples", or "structs" of kind, value, datatype, language and direction.
    /// Returns:
    ///     An object with the Arrow PyCapsule interface: `pyarrow.record_batch(…)` takes it.
    /// Raises:
    ///     ValueError: It is the answer of an ASK query, or a variable occurs twice.
    ///     LimitError: The strings would pass 2 GiB; use smaller batches.
    #[pyo3(signature = (*, terms="ntriples"))]
    fn to_arrow(&self, py: Python<'_>, terms: &str) -> PyResult<ArrowBatch> {
        let layout = arrow::layout(Kind::Results, None, terms)?;
        arrow::record_batch(py, &[self.inner()], &layout, None)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        arrow::export(py, self.inner(), requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_stream(py, self.inner(), requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_schema(py, self.inner())
    }

    /// A batch from rows.
    ///
    /// Args:
    ///     rows: Iterables of terms or None, as many as there are variables.
    ///     variables: Their names, without `?`.
    ///     boolean: The answer of an ASK query, which has no rows.
    ///     links: Documents that say more.
    ///     first_index: The index of the first row.
    /// Raises:
    ///     TypeError: Something else was given.
    ///     ValueError: A row has more or fewer terms, or there are rows and an answer.
    #[staticmethod]
    #[pyo3(
        signature = (rows, variables, *, boolean=None, links=Vec::new(), first_index=0),
        text_signature = "(rows, variables, *, boolean=None, links=(), first_index=0)"
    )]
    fn from_rows(
        rows: &Bound<'_, PyAny>,
        variables: Vec<String>,
        boolean: Option<bool>,
        links: Vec<String>,
        first_index: u64,
    ) -> PyResult<Self> {
        let boxed = |texts: Vec<String>| texts.into_iter().map(String::into_boxed_str).collect();
        let head = ResultHead {
            variables: boxed(variables),
            boolean,
            links: boxed(links),
        };
        build::from_rows(rows, head, first_index).map(Self::new)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PatchBatch>()?;
    module.add_class::<ResultBatch>()
}
