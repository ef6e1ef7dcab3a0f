//! Batches as Arrow, for Python: the PyCapsule interface, and rows regrouped.
//!
//! - In: core batches; the columns wanted. Out: Arrow record batches, made by [`crate::rows`].
//! - Cost: everything is done without the GIL, and handed over without a copy.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, FieldRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::PySchema;
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};
use rdfm_core::model::batch;
use rdfm_core::syntax::needed::Needs;

use crate::batch::MessageBatch;
use crate::errors;
use crate::rows::{Column, Fault, MAX_BYTES, Places, Rows, schema};

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TooLarge => errors::limit(
                "the strings of the messages pass the 2 GiB of an Arrow batch; use smaller batches \
                 (batch_quads, batch_bytes), or smaller messages (max_message_bytes)",
            ),
            Fault::Arrow(error) => errors::internal(error.to_string()),
        }
    }
}

/// The columns of these names; the first four by default.
pub fn columns(names: Option<&[String]>) -> PyResult<Vec<Column>> {
    let Some(names) = names else {
        return Ok(Column::ALL[..4].to_vec());
    };
    let column = |name: &String| {
        Column::by_name(name).ok_or_else(|| {
            errors::option(format!(
                "no column is named {}; known: {}",
                rdfm_core::model::error::quote(name.as_bytes()),
                Column::ALL.map(Column::name).join(", ")
            ))
        })
    };
    names.iter().map(column).collect()
}

/// The columns that a consumer asks for, and whether its schema can be followed; otherwise the
/// default ones (a consumer checks what it gets).
pub fn requested_columns(
    requested: Option<&Bound<'_, PyCapsule>>,
) -> PyResult<(Vec<Column>, bool)> {
    if let Some(requested) = requested {
        let wanted = PySchema::from_arrow_pycapsule(requested)?.into_inner();
        let found: Option<Vec<Column>> = wanted
            .fields()
            .iter()
            .map(|field| Column::by_name(field.name()))
            .collect();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Ok((found, true));
        }
    }
    Ok((columns(None)?, false))
}

pub fn schema_capsule<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyCapsule>> {
    Ok(to_schema_pycapsule(py, schema(columns).as_ref())?)
}

/// An Arrow record batch, behind the PyCapsule interface: `pyarrow.record_batch(…)`,
/// `polars.DataFrame(…)` and others take it without a copy.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowBatch {
    rows: RecordBatch,
}

impl ArrowBatch {
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
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// The bytes of its buffers.
    #[getter]
    fn nbytes(&self) -> usize {
        self.rows.get_array_memory_size()
    }

    /// The names of the columns, in order.
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

/// Several batches as one Arrow batch.
pub fn render(
    py: Python<'_>,
    batches: &[&batch::MessageBatch],
    columns: &[Column],
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let made = errors::guarded(py, || -> Result<RecordBatch, Fault> {
        let mut rows = Rows::new(columns);
        let mut needs = Needs::default();
        for batch in batches {
            let mut places = Places::new(batch.table());
            rows.begin_batch(batch, &mut needs);
            for message in 0..batch.len() {
                rows.add(batch, message, source, &mut places, &mut needs)?;
            }
        }
        rows.finish()
    })?;
    Ok(ArrowBatch { rows: made? })
}

/// Several batches as one Arrow batch, as `MessageBatch.to_arrow` makes it of one.
///
/// Raises:
///     LimitError: The strings would pass 2 GiB; see ArrowCoalescer.
#[pyfunction]
#[pyo3(signature = (batches, columns=None, source=None))]
fn coalesce(
    py: Python<'_>,
    batches: Vec<Bound<'_, MessageBatch>>,
    columns: Option<Vec<String>>,
    source: Option<&str>,
) -> PyResult<ArrowBatch> {
    let columns = self::columns(columns.as_deref())?;
    let batches: Vec<&batch::MessageBatch> =
        batches.iter().map(|batch| batch.get().inner()).collect();
    render(py, &batches, &columns, source)
}

/// Regroups messages into Arrow batches of even size: each has `max_rows` rows or passes `max_bytes`
/// bytes of strings with its last row; the last one has less.
///
/// Args:
///     columns: As in `MessageBatch.to_arrow`.
///     max_rows: Rows after which an Arrow batch ends.
///     max_bytes: Bytes of strings after which an Arrow batch ends.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowCoalescer {
    columns: Vec<Column>,
    max_rows: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

/// Rows under construction, and the namespaces in force behind the last one.
struct State {
    rows: Rows,
    needs: Needs,
}

#[pymethods]
impl ArrowCoalescer {
    #[new]
    #[pyo3(signature = (columns=None, *, max_rows=8192, max_bytes=67_108_864))]
    fn new(columns: Option<Vec<String>>, max_rows: usize, max_bytes: usize) -> PyResult<Self> {
        if max_rows == 0 || max_bytes == 0 {
            return Err(errors::option("max_rows and max_bytes are at least 1"));
        }
        let columns = self::columns(columns.as_deref())?;
        Ok(Self {
            state: Mutex::new(State {
                rows: Rows::new(&columns),
                needs: Needs::default(),
            }),
            columns,
            max_rows: max_rows.min(i32::MAX as usize),
            max_bytes: max_bytes.min(MAX_BYTES),
        })
    }

    /// Take a batch's messages; gives the Arrow batches that are complete.
    ///
    /// Args:
    ///     batch: The messages.
    ///     source: The text of their source column; null by default.
    /// Raises:
    ///     LimitError: The strings of one message pass 2 GiB.
    #[pyo3(signature = (batch, source=None))]
    fn push(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        source: Option<&str>,
    ) -> PyResult<Vec<ArrowBatch>> {
        let batch = batch.get().inner();
        // Taken out, so that no lock is held while another thread may run.
        let mut state = self.take();
        let complete = errors::guarded(py, || {
            let complete = self.fill(&mut state, batch, source);
            (complete, state)
        });
        let (complete, state) = complete?;
        *self.locked() = state;
        Ok(complete?
            .into_iter()
            .map(|rows| ArrowBatch { rows })
            .collect())
    }

    /// The rows that are left, or None.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        let rows = self.take().rows;
        if rows.count() == 0 {
            return Ok(None);
        }
        let rows = errors::guarded(py, || rows.finish())??;
        Ok(Some(ArrowBatch { rows }))
    }
}

impl ArrowCoalescer {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> State {
        let empty = State {
            rows: Rows::new(&self.columns),
            needs: Needs::default(),
        };
        std::mem::replace(&mut *self.locked(), empty)
    }

    fn fill(
        &self,
        State { rows, needs }: &mut State,
        batch: &batch::MessageBatch,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Fault> {
        let mut complete = Vec::new();
        let mut places = Places::new(batch.table());
        rows.begin_batch(batch, needs);
        for message in 0..batch.len() {
            let mut before = rows.mark();
            let mut result = rows.add(batch, message, source, &mut places, needs);
            if result.is_err() && before.count() > 0 {
                rows.truncate(&before);
                complete.push(rows.cut(&mut places)?);
                before = rows.mark();
                result = rows.add(batch, message, source, &mut places, needs);
            }
            if let Err(fault) = result {
                rows.truncate(&before);
                return Err(fault);
            }
            if rows.count() >= self.max_rows || rows.bytes() >= self.max_bytes {
                complete.push(rows.cut(&mut places)?);
            }
        }
        Ok(complete)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowBatch>()?;
    module.add_class::<ArrowCoalescer>()?;
    module.add_function(wrap_pyfunction!(coalesce, module)?)
}
