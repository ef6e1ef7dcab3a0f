//! Arrow for Python: the PyCapsule interface, and the mapping of `rdfm-arrow` errors to exceptions.
//!
//! - In: Python objects that export Arrow data; arrays and record batches of `rdfm-arrow`.
//! - Out: readers of arrays and record batches; objects that export their data without a copy.
//! - Law: a requested schema determines the columns, their order and the widths of their types. The
//!   consumer must make any further conversion, as the interface allows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use pyo3_arrow::{PyField, PySchema};
use rdfm_arrow::schema::{Column, Layout, RowLayout, schema};
use rdfm_arrow::to_arrow::{self, RowRecord};
use rdfm_arrow::widths::widen;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::{LogBatch, MessageBatch};
use rdfm_core::model::error::ErrorClass;

use crate::errors;

/// Returns the exception for an `rdfm-arrow` error.
pub fn exception(py: Python<'_>, error: rdfm_arrow::Error) -> PyErr {
    match (error.row, error.class) {
        (Some(row), class) => errors::row(py, row, class, error.reason),
        (None, ErrorClass::Limit) => errors::limit(error.reason),
        (None, ErrorClass::Internal) => errors::internal_error(error.reason.to_string()),
        // Rows cannot represent the data.
        (None, ErrorClass::Unsupported) => PyValueError::new_err(error.reason.to_string()),
        // The columns have the wrong types.
        (None, _) => PyTypeError::new_err(error.reason.to_string()),
    }
}

/// Returns the requested row layout for a kind of log, with the default columns if `names` is
/// `None`.
pub fn rows(kind: Kind, names: Option<&[String]>, rows: &str, terms: &str) -> PyResult<RowLayout> {
    RowLayout::from_name(kind, names, rows, terms).map_err(errors::option)
}

/// Returns the layout with the columns `names` for rows that are messages, patches or results.
pub fn layout(kind: Kind, names: Option<&[String]>, terms: &str) -> PyResult<Layout> {
    match rows(kind, names, "messages", terms)? {
        RowLayout::Whole(layout) => Ok(layout),
        RowLayout::Quads(_) => Err(errors::internal_error("unexpected quad rows".to_owned())),
    }
}

/// Returns the columns that a consumer requests. If the request cannot be met, returns the default
/// columns, because the consumer checks the schema of the result.
pub fn requested_columns<R: RowRecord>(
    requested: Option<&Bound<'_, PyCapsule>>,
) -> PyResult<Vec<Column>> {
    if let Some(requested) = requested {
        let schema = PySchema::from_arrow_pycapsule(requested)?.into_inner();
        if let Some(found) = Column::from_schema(R::KIND, &schema) {
            return Ok(found);
        }
    }
    Ok(Column::default_for(R::KIND))
}

/// Exports a batch as an Arrow array, with the requested columns if possible.
pub fn export<'py, R: RowRecord>(
    py: Python<'py>,
    batch: &LogBatch<R>,
    requested: Option<&Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let columns = requested_columns::<R>(requested)?;
    record_batch(py, &[batch], &columns.into(), None)?.export(py, requested)
}

/// Exports a batch as a stream of one array.
pub fn export_stream<'py, R: RowRecord>(
    py: Python<'py>,
    batch: &LogBatch<R>,
    requested: Option<&Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let columns = requested_columns::<R>(requested)?;
    record_batch(py, &[batch], &columns.into(), None)?.export_stream(py, requested)
}

/// Exports the schema of a batch.
pub fn export_schema<'py, R: RowRecord>(
    py: Python<'py>,
    batch: &LogBatch<R>,
) -> PyResult<Bound<'py, PyCapsule>> {
    R::check(batch.head()).map_err(|error| exception(py, error))?;
    let columns = Column::default_for(R::KIND);
    let schema = schema(columns, R::variables(batch.head()));
    schema_capsule(py, schema.as_ref())
}

/// Exports a schema.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| exception(py, error.into()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports the type of an array.
fn type_capsule<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyCapsule>> {
    let field = Field::new("", array.data_type().clone(), true);
    let schema = FFI_ArrowSchema::try_from(&field).map_err(|error| exception(py, error.into()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports an array.
fn array_capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let values = FFI_ArrowArray::new(&array.to_data());
    let values = PyCapsule::new_with_value(py, values, c"arrow_array")?;
    PyTuple::new(py, [type_capsule(py, array)?, values])
}

/// Converts an array to the requested type if only the widths differ; otherwise returns it
/// unchanged.
fn as_requested(array: ArrayRef, requested: Option<&Bound<'_, PyCapsule>>) -> PyResult<ArrayRef> {
    let Some(requested) = requested else {
        return Ok(array);
    };
    let field = PyField::from_arrow_pycapsule(requested)?.into_inner();
    Ok(widen(&array, field.data_type()).unwrap_or(array))
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

    fn structs(&self, requested: Option<&Bound<'_, PyCapsule>>) -> PyResult<ArrayRef> {
        let rows = StructArray::from(self.rows.clone());
        as_requested(Arc::new(rows), requested)
    }

    fn export<'py>(
        &self,
        py: Python<'py>,
        requested: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        array_capsules(py, &self.structs(requested)?)
    }

    fn export_stream<'py>(
        &self,
        py: Python<'py>,
        requested: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = RecordBatch::from(self.structs(requested)?.as_struct());
        let schema = rows.schema();
        let reader = RecordBatchIterator::new(std::iter::once(Ok(rows)), schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
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
        self.export(py, requested_schema.as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.export_stream(py, requested_schema.as_ref())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, self.rows.schema_ref())
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
pub fn record_batch<R: RowRecord>(
    py: Python<'_>,
    batches: &[&LogBatch<R>],
    layout: &Layout,
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let rows = errors::run_guarded(py, || {
        to_arrow::record_batch(batches, layout.clone(), source)
    })?;
    rows.map(ArrowBatch::new)
        .map_err(|error| exception(py, error))
}

/// Converts several message batches to one Arrow batch, with one row per message or quad.
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
    let rows = errors::run_guarded(py, || to_arrow::quad_record_batch(batches, layout, source))?;
    rows.map(ArrowBatch::new)
        .map_err(|error| exception(py, error))
}

/// A reader of record batches.
pub type Reader = Box<dyn RecordBatchReader + Send>;

/// Returns a reader of the record batches that an object exports.
pub fn reader(object: &Bound<'_, PyAny>) -> PyResult<Reader> {
    expect_arrow(object, "an object")?;
    Ok(Box::new(Guarded(
        imported::<AnyRecordBatch>(object)?.into_reader()?,
    )))
}

/// Imports the data that an object exports.
fn imported<'a, 'py, T: FromPyObject<'a, 'py>>(object: &'a Bound<'py, PyAny>) -> PyResult<T> {
    let py = object.py();
    // pyarrow must validate its data, because the exported structs do not contain buffer sizes.
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
    .unwrap_or_else(|_| Err(malformed(py, INCONSISTENT)))
}

const INCONSISTENT: &str = "lengths, offsets or buffers are inconsistent";

fn malformed(py: Python<'_>, reason: &str) -> PyErr {
    let reason = reason.lines().next().unwrap_or_default();
    errors::row(
        py,
        0,
        ErrorClass::Malformed,
        format!("malformed Arrow data: {reason}").into(),
    )
}

/// A reader that returns an error instead of panicking if arrays are inconsistent.
struct Guarded<T: ?Sized>(Box<T>);

impl<T: ?Sized, R> Iterator for Guarded<T>
where
    T: Iterator<Item = Result<R, ArrowError>>,
{
    type Item = Result<R, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        catch_unwind(AssertUnwindSafe(|| self.0.next())).unwrap_or_else(|_| {
            Some(Err(ArrowError::InvalidArgumentError(
                INCONSISTENT.to_owned(),
            )))
        })
    }
}

impl RecordBatchReader for Guarded<dyn RecordBatchReader + Send> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// An iterator over arrays.
pub type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

/// Returns an iterator over the arrays that an object exports.
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
        let array = as_requested(Arc::clone(&self.array), requested_schema.as_ref())?;
        array_capsules(py, &array)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        type_capsule(py, &self.array)
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
