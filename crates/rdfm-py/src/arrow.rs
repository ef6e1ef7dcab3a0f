//! Arrow for Python: the PyCapsule interface, and the mapping of `rdfm-arrow` errors to exceptions.
//!
//! - In: Python objects that export Arrow data; arrays and record batches of `rdfm-arrow`.
//! - Out: readers of arrays and record batches; objects that export their data without a copy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::PySchema;
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use rdfm_arrow::schema::{Column, Layout, RowLayout, schema};
use rdfm_arrow::to_arrow::{self, Rowed};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::{LogBatch, MessageBatch};
use rdfm_core::model::error::ErrorClass;

use crate::errors;

/// Returns the exception for an error.
pub fn exception(py: Python<'_>, error: rdfm_arrow::Error) -> PyErr {
    match (error.row, error.class) {
        (Some(row), class) => errors::row(py, row, class, error.reason),
        (None, ErrorClass::Limit) => errors::limit(error.reason),
        (None, ErrorClass::Internal) => errors::internal(error.reason.to_string()),
        // Rows cannot represent the data.
        (None, ErrorClass::Unsupported) => PyValueError::new_err(error.reason.to_string()),
        // The columns have other types.
        (None, _) => PyTypeError::new_err(error.reason.to_string()),
    }
}

/// Returns the requested rows of a kind of log, with the default columns unless names are given.
pub fn rows(kind: Kind, names: Option<&[String]>, rows: &str, terms: &str) -> PyResult<RowLayout> {
    RowLayout::by_name(kind, names, rows, terms).map_err(errors::option)
}

/// Returns the layout of messages, patches or results with these columns.
pub fn layout(kind: Kind, names: Option<&[String]>, terms: &str) -> PyResult<Layout> {
    match rows(kind, names, "messages", terms)? {
        RowLayout::Whole(layout) => Ok(layout),
        RowLayout::Quads(_) => Err(errors::internal("rows of quads".to_owned())),
    }
}

/// Returns the columns that a consumer requests, and whether its schema can be satisfied; otherwise
/// the default columns (a consumer checks the schema of the result).
pub fn requested_columns<R: Rowed>(
    requested: Option<&Bound<'_, PyCapsule>>,
    head: &R::Head,
) -> PyResult<(Vec<Column>, bool)> {
    let usual = Column::default_of(R::KIND);
    let Some(requested) = requested else {
        return Ok((usual, false));
    };
    let wanted = PySchema::from_arrow_pycapsule(requested)?.into_inner();
    if let Some(found) = Column::of_schema(R::KIND, &wanted) {
        return Ok((found, true));
    }
    let names = wanted.fields().iter().map(|field| field.name().as_str());
    let variables = R::variables(head).iter().map(AsRef::as_ref);
    let follow = R::KIND == Kind::Results && names.eq(variables);
    Ok((usual, follow))
}

/// Exports a batch as an Arrow array, with the requested columns if possible.
pub fn export<'py, R: Rowed>(
    py: Python<'py>,
    batch: &LogBatch<R>,
    requested: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (columns, follow) = requested_columns::<R>(requested.as_ref(), batch.head())?;
    let rows = record_batch(py, &[batch], &columns.into(), None)?;
    rows.export(py, requested.filter(|_| follow))
}

/// Exports a batch as a stream of one array.
pub fn export_stream<'py, R: Rowed>(
    py: Python<'py>,
    batch: &LogBatch<R>,
    requested: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (columns, follow) = requested_columns::<R>(requested.as_ref(), batch.head())?;
    let rows = record_batch(py, &[batch], &columns.into(), None)?;
    rows.export_stream(py, requested.filter(|_| follow))
}

/// Exports the schema of a batch.
pub fn export_schema<'py, R: Rowed>(
    py: Python<'py>,
    batch: &LogBatch<R>,
) -> PyResult<Bound<'py, PyCapsule>> {
    R::check(batch.head()).map_err(|error| exception(py, error))?;
    let columns = Column::default_of(R::KIND);
    let schema = schema(columns, R::variables(batch.head()));
    Ok(to_schema_pycapsule(py, schema.as_ref())?)
}

/// An Arrow record batch with the PyCapsule interface.
///
/// `pyarrow.record_batch(…)`, `polars.DataFrame(…)` and others accept it without a copy.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowBatch {
    rows: RecordBatch,
}

impl ArrowBatch {
    pub const fn new(rows: RecordBatch) -> Self {
        Self { rows }
    }

    fn array(&self) -> (FieldRef, StructArray) {
        let fields = self.rows.schema().fields().clone();
        let field = Field::new("", DataType::Struct(fields), false);
        (Arc::new(field), self.rows.clone().into())
    }

    pub fn export<'py>(
        &self,
        py: Python<'py>,
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (field, array) = self.array();
        Ok(to_array_pycapsules(py, field, &array, requested)?)
    }

    pub fn export_stream<'py>(
        &self,
        py: Python<'py>,
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (field, array) = self.array();
        let array: ArrayRef = Arc::new(array);
        let reader = ArrayIterator::new(std::iter::once(Ok(array)), field);
        Ok(to_stream_pycapsule(py, Box::new(reader), requested)?)
    }
}

#[pymethods]
impl ArrowBatch {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// Size of the buffers in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.rows.get_array_memory_size()
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.rows.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.export(py, requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.export_stream(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.rows.schema().as_ref())?)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ArrowBatch: {} rows of {}>",
            self.rows.num_rows(),
            self.column_names().join(", ")
        )
    }
}

/// Converts several batches to one Arrow batch.
pub fn record_batch<R: Rowed>(
    py: Python<'_>,
    batches: &[&LogBatch<R>],
    layout: &Layout,
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let made = errors::guarded(py, || {
        to_arrow::record_batch(batches, layout.clone(), source)
    })?;
    made.map(ArrowBatch::new)
        .map_err(|error| exception(py, error))
}

/// Converts several batches of messages to one Arrow batch, with a row per message or per quad.
pub fn batch_of_rows(
    py: Python<'_>,
    batches: &[&MessageBatch],
    rows: &RowLayout,
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let layout = match rows {
        RowLayout::Whole(layout) => return record_batch(py, batches, layout, source),
        RowLayout::Quads(layout) => layout,
    };
    let made = errors::guarded(py, || to_arrow::quad_record_batch(batches, layout, source))?;
    made.map(ArrowBatch::new)
        .map_err(|error| exception(py, error))
}

/// Reader of an object's record batches.
pub type Reader = Box<dyn RecordBatchReader + Send>;

/// Reads the record batches of an object.
pub fn reader(object: &Bound<'_, PyAny>) -> PyResult<Reader> {
    expect_arrow(object, "an object")?;
    Ok(Box::new(Guarded(
        imported::<AnyRecordBatch>(object)?.into_reader()?,
    )))
}

/// Imports the data that an object exports.
fn imported<'a, 'py, T: FromPyObject<'a, 'py>>(object: &'a Bound<'py, PyAny>) -> PyResult<T> {
    let py = object.py();
    // pyarrow knows the sizes of its buffers; the exported structs do not contain them.
    if object
        .get_type()
        .module()?
        .to_str()?
        .starts_with("pyarrow.")
        && object.hasattr("validate")?
        && let Err(error) = object.call_method0("validate")
    {
        return Err(malformed(py, &error.value(py).to_string()));
    }
    catch_unwind(AssertUnwindSafe(|| {
        object.extract::<T>().map_err(Into::into)
    }))
    .unwrap_or_else(|_| Err(malformed(py, CONTRADICTION)))
}

const CONTRADICTION: &str = "lengths, offsets or buffers contradict each other";

fn malformed(py: Python<'_>, reason: &str) -> PyErr {
    let reason = reason.lines().next().unwrap_or_default();
    errors::row(
        py,
        0,
        ErrorClass::Malformed,
        format!("malformed Arrow: {reason}").into(),
    )
}

/// A reader that returns an error instead of a panic for inconsistent arrays.
struct Guarded<T: ?Sized>(Box<T>);

impl<T: ?Sized, R> Iterator for Guarded<T>
where
    T: Iterator<Item = Result<R, ArrowError>>,
{
    type Item = Result<R, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        catch_unwind(AssertUnwindSafe(|| self.0.next())).unwrap_or_else(|_| {
            Some(Err(ArrowError::InvalidArgumentError(
                CONTRADICTION.to_owned(),
            )))
        })
    }
}

impl RecordBatchReader for Guarded<dyn RecordBatchReader + Send> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// Iterator over an object's arrays.
pub type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

/// Reads the arrays of an object.
pub fn arrays(values: &Bound<'_, PyAny>) -> PyResult<Arrays> {
    expect_arrow(values, "an array")?;
    Ok(Box::new(Guarded(
        imported::<AnyArray>(values)?.into_reader()?,
    )))
}

fn expect_arrow(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    if object.hasattr("__arrow_c_array__")? || object.hasattr("__arrow_c_stream__")? {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "expected {what} with the Arrow PyCapsule interface, not {}",
        object.get_type().name()?
    )))
}

/// An Arrow array with the PyCapsule interface.
///
/// `pyarrow.array(…)`, `polars.Series(…)` and others accept it without a copy.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowArray {
    array: ArrayRef,
}

impl ArrowArray {
    pub const fn new(array: ArrayRef) -> Self {
        Self { array }
    }

    fn field(&self) -> FieldRef {
        Arc::new(Field::new("", self.array.data_type().clone(), true))
    }
}

#[pymethods]
impl ArrowArray {
    /// Number of values.
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Size of the buffers in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.array.get_array_memory_size()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        Ok(to_array_pycapsules(
            py,
            self.field(),
            &self.array,
            requested_schema,
        )?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.field().as_ref())?)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ArrowArray: {} of {}>",
            self.array.len(),
            self.array.data_type()
        )
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowBatch>()?;
    module.add_class::<ArrowArray>()
}
