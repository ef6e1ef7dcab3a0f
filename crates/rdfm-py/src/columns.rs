//! Typed columns of result rows for Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rdfm_arrow::columns::{self, Failure};
use rdfm_core::model::batch;

use crate::arrow::{self, ArrowBatch};
use crate::errors;
use crate::query::EvaluationResult;
use crate::records::ResultBatch;

/// Typed columns of result rows.
#[pyclass(frozen, module = "rdfm._core")]
pub struct TypedColumns {
    columns: columns::ResultColumns,
}

#[pymethods]
impl TypedColumns {
    /// Create columns with the requested types. Columns without a type contain terms as N-Triples.
    ///
    /// Args:
    ///     variables: The variables, in order.
    ///     types: Type of each variable: string, iri, boolean, integer, decimal, float, double,
    ///         dateTime, date, time or duration.
    ///     messages: Whether `source` and `message_index` columns precede the variables.
    /// Raises:
    ///     OptionError: If a type or variable is unknown, or two columns would have the same name.
    #[new]
    #[pyo3(signature = (variables, types=None, *, messages=true))]
    fn new(
        variables: Vec<String>,
        types: Option<BTreeMap<String, String>>,
        messages: bool,
    ) -> PyResult<Self> {
        let types = types.unwrap_or_default();
        let types = types
            .iter()
            .map(|(name, type_name)| (name.as_str(), type_name.as_str()));
        let names = variables.iter().map(String::as_str);
        let columns =
            columns::ResultColumns::new(names, types, messages).map_err(errors::option)?;
        Ok(Self { columns })
    }

    /// Return the schema. It does not depend on the rows.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, self.columns.schema().as_ref())
    }

    /// Return the result rows of messages, and the number of values that are null because they do
    /// not fit their column.
    ///
    /// Args:
    ///     evaluated: The result of a SELECT query for the messages of a batch.
    ///     batch: The batch.
    ///     source: Name of the messages' log.
    ///     misfits_are_null: Whether a value that does not fit becomes null.
    /// Raises:
    ///     UnsupportedError: If a value does not fit its column; `message_index` identifies the
    ///         message.
    ///     LimitError: If the strings exceed 2 GiB.
    #[pyo3(signature = (evaluated, batch, source=None, *, misfits_are_null=false))]
    fn of_messages(
        &self,
        py: Python<'_>,
        evaluated: &Bound<'_, EvaluationResult>,
        batch: &Bound<'_, crate::batch::MessageBatch>,
        source: Option<&str>,
        misfits_are_null: bool,
    ) -> PyResult<(ArrowBatch, usize)> {
        let evaluated = evaluated.get();
        let Some(rows) = &evaluated.rows else {
            return Err(errors::option(
                "typed columns require the rows of a SELECT query",
            ));
        };
        let (rows, batch) = (rows.get().inner(), batch.get().inner());
        let index = |message: &u32| batch.message_index(*message as usize);
        let messages: Vec<u64> = evaluated.messages.iter().map(index).collect();
        self.make(py, rows, &messages, source, misfits_are_null)
    }

    /// Return the rows, and the number of values that are null because they do not fit their
    /// column.
    ///
    /// Args:
    ///     rows: The rows.
    ///     messages: Index of each row's message, if there is a `message_index` column.
    ///     source: Name of the messages' log.
    ///     misfits_are_null: Whether a value that does not fit becomes null.
    /// Raises:
    ///     UnsupportedError: If a value does not fit its column.
    ///     LimitError: If the strings exceed 2 GiB.
    #[pyo3(signature = (rows, messages=None, source=None, *, misfits_are_null=false))]
    fn of_rows(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, ResultBatch>,
        messages: Option<Vec<u64>>,
        source: Option<&str>,
        misfits_are_null: bool,
    ) -> PyResult<(ArrowBatch, usize)> {
        let messages = messages.unwrap_or_default();
        let rows = rows.get().inner();
        self.make(py, rows, &messages, source, misfits_are_null)
    }
}

impl TypedColumns {
    fn make(
        &self,
        py: Python<'_>,
        rows: &batch::ResultBatch,
        messages: &[u64],
        source: Option<&str>,
        misfits_are_null: bool,
    ) -> PyResult<(ArrowBatch, usize)> {
        let make = || {
            self.columns
                .record_batch(rows, messages, source, misfits_are_null)
        };
        match errors::run_guarded(py, make)? {
            Ok((rows, misfits)) => Ok((ArrowBatch::new(rows), misfits)),
            Err(Failure::Error(error)) => Err(arrow::exception(py, error)),
            Err(Failure::Misfit(misfit)) => Err(errors::misfit(
                py,
                misfit.reason,
                misfit.message_index,
                misfit.row,
                source,
            )),
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TypedColumns>()
}
