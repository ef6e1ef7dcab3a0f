//! Arrow columns of values that each hold one message as a whole log, as in the rows of a table or the
//! records of a queue.
//!
//! - In: an array of binary values, or of lists of quads; a native codec, or a Python function for one
//!   value.
//! - Out: an array of lists of quads, or of binary values; null for null.
//! - Cost: a codec is reset for each value, not made anew. With a native one the GIL is released.
//! - Law: what becomes of a value does not depend on its neighbours.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyTuple};
use pyo3_arrow::ffi::{to_array_pycapsules, to_schema_pycapsule};
use pyo3_arrow::input::AnyArray;
use rdfm_core::codec;
use rdfm_core::model::batch;
use rdfm_core::model::error::{DecodeError, EncodeError};

use crate::arrow_in::{self, Messages, Quads};
use crate::batch::MessageBatch;
use crate::codecs::{Decoder, Encoder};
use crate::rows::{self, Places, QuadLists, Texts};
use crate::{errors, options};

/// An Arrow array, behind the PyCapsule interface: `pyarrow.array(…)`, `polars.Series(…)` and others
/// take it without a copy.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ArrowArray {
    array: ArrayRef,
}

impl ArrowArray {
    fn field(&self) -> FieldRef {
        Arc::new(Field::new("", self.array.data_type().clone(), true))
    }
}

#[pymethods]
impl ArrowArray {
    /// The number of values.
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The bytes of its buffers.
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

/// Why values could not be converted.
enum Fault {
    /// The values are no Arrow of this shape.
    Rows(arrow_in::Fault),
    /// The result is too large, or there is a bug.
    Made(rows::Fault),
    Decode(DecodeError),
    Encode(EncodeError),
    /// A value holds more than one message.
    Several,
    /// A Python codec raised.
    Raised(PyErr),
}

impl From<arrow_in::Fault> for Fault {
    fn from(fault: arrow_in::Fault) -> Self {
        Self::Rows(fault)
    }
}

impl From<rows::Fault> for Fault {
    fn from(fault: rows::Fault) -> Self {
        Self::Made(fault)
    }
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Rows(error.into())
    }
}

impl Fault {
    /// Whether the value breaks its format, so that it may become null.
    fn is_of_value(&self) -> bool {
        match self {
            Self::Decode(_) | Self::Several => true,
            Self::Raised(error) => Python::attach(|py| errors::is_decode(py, error)),
            Self::Rows(_) | Self::Made(_) | Self::Encode(_) => false,
        }
    }

    /// The exception, at a value if it is of one.
    fn into_py(self, py: Python<'_>, value: Option<usize>) -> PyErr {
        let error = match self {
            Self::Rows(fault) => return fault.into_py(py),
            Self::Made(rows::Fault::TooLarge) => {
                return errors::limit(
                    "the result passes the 2 GiB of an Arrow array; convert fewer values at once",
                );
            }
            Self::Made(fault) => return fault.into(),
            Self::Decode(error) => errors::decode(py, &error),
            Self::Encode(error) => errors::encode(py, &error, b""),
            Self::Several => errors::unsupported(SEVERAL),
            Self::Raised(error) => error,
        };
        if let Some(value) = value {
            errors::set_source(py, &error, &format!("value {value}"));
        }
        error
    }
}

/// A fault, and the number of the value that it is of.
struct AtValue {
    fault: Box<Fault>,
    value: Option<usize>,
}

fn nowhere<F: Into<Fault>>(fault: F) -> AtValue {
    AtValue {
        fault: Box::new(fault.into()),
        value: None,
    }
}

fn at(value: usize, fault: Fault) -> AtValue {
    AtValue {
        value: Some(value),
        ..nowhere(fault)
    }
}

/// The array, or the exception.
fn result(py: Python<'_>, made: Result<ArrayRef, AtValue>) -> PyResult<ArrowArray> {
    made.map(|array| ArrowArray { array })
        .map_err(|AtValue { fault, value }| fault.into_py(py, value))
}

/// The arrays of an object, one after the other.
type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

fn arrays(values: &Bound<'_, PyAny>) -> PyResult<Arrays> {
    if !values.hasattr("__arrow_c_array__")? && !values.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err(format!(
            "expected an array with the Arrow PyCapsule interface, not {}",
            values.get_type().name()?
        )));
    }
    Ok(Box::new(values.extract::<AnyArray>()?.into_reader()?))
}

/// Gives the batches of one value after the other.
trait Logs {
    /// Goes to the start of a value.
    fn begin(&mut self, value: &[u8]) -> Result<(), Fault>;

    /// The value's next batch, or None at its end.
    fn next_batch(&mut self) -> Result<Option<batch::MessageBatch>, Fault>;

    /// The one message of a value; None where there is none.
    fn only(&mut self, value: &[u8]) -> Result<Option<batch::MessageBatch>, Fault> {
        self.begin(value)?;
        let Some(batch) = self.next_batch()? else {
            return Ok(None);
        };
        if batch.len() > 1 || self.next_batch()?.is_some() {
            return Err(Fault::Several);
        }
        Ok(Some(batch))
    }
}

impl Logs for &mut dyn codec::Decoder {
    fn begin(&mut self, value: &[u8]) -> Result<(), Fault> {
        self.reset();
        self.feed(value);
        self.finish();
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<batch::MessageBatch>, Fault> {
        codec::Decoder::next_batch(*self).map_err(Fault::Decode)
    }
}

/// A Python function that gives the batches of a value.
struct Function<'a, 'py> {
    function: &'a Bound<'py, PyAny>,
    batches: Option<Bound<'py, PyIterator>>,
}

impl Logs for Function<'_, '_> {
    fn begin(&mut self, value: &[u8]) -> Result<(), Fault> {
        let value = PyBytes::new(self.function.py(), value);
        let batches = self.function.call1((value,));
        let batches = batches.and_then(|batches| batches.try_iter());
        self.batches = Some(batches.map_err(Fault::Raised)?);
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<batch::MessageBatch>, Fault> {
        for batch in self.batches.iter_mut().flatten() {
            let batch = batch.map_err(Fault::Raised)?;
            let batch = batch.cast::<MessageBatch>();
            let batch = batch.map_err(|error| Fault::Raised(error.into()))?;
            let batch = batch.get().inner();
            if !batch.is_empty() {
                return Ok(Some(batch.clone()));
            }
        }
        Ok(None)
    }
}

/// Lists of quads from binary values; without `raise` a value that breaks its format gives null.
fn decode_all(arrays: Arrays, raise: bool, mut logs: impl Logs) -> Result<ArrayRef, AtValue> {
    let mut lists = QuadLists::new();
    let mut valid = Vec::new();
    let mut bytes = 0;
    let mut places = Places::default();
    for array in arrays {
        let array = binary(&array.map_err(nowhere)?).map_err(nowhere)?;
        for value in array.as_binary::<i64>() {
            let (batch, is_valid) = match value.map(|value| logs.only(value)) {
                None => (None, false),
                Some(Ok(batch)) => (batch, true),
                Some(Err(fault)) if !raise && fault.is_of_value() => (None, false),
                Some(Err(fault)) => return Err(at(valid.len(), fault)),
            };
            if let Some(batch) = &batch {
                places.begin_batch(batch.table());
                let added = lists.add(batch.table(), batch.quads(), &mut places, &mut bytes);
                added.map_err(nowhere)?;
            } else {
                lists.end();
            }
            valid.push(is_valid);
        }
    }
    let lists = lists.finish(rows::nulls(valid));
    Ok(Arc::new(lists.map_err(nowhere)?))
}

/// An array of bytes with offsets of one width.
fn binary(array: &ArrayRef) -> Result<ArrayRef, Fault> {
    match array.data_type() {
        DataType::LargeBinary => Ok(Arc::clone(array)),
        DataType::Binary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Dictionary(..)
        | DataType::Null => Ok(arrow_cast::cast(array, &DataType::LargeBinary)?),
        other => {
            let reason = format!("values are an array of bytes, not of {other}");
            Err(arrow_in::Fault::Shape(reason).into())
        }
    }
}

/// Decodes binary values, each a whole log of one message.
///
/// Args:
///     decoder: A native decoder, whose options count; or a function that gives the batches of one
///         value (bytes).
///     values: An Arrow array of bytes, through the PyCapsule interface.
///     on_error: "raise", or "null" for values that break their format.
/// Returns:
///     An Arrow array as the column `quads` of `MessageBatch.to_arrow`: an empty list for a value that
///     holds no message, null for null.
/// Raises:
///     DecodeError: A value breaks its format or holds several messages; `source` is its number.
///     LimitError: The result passes 2 GiB.
#[pyfunction]
#[pyo3(signature = (decoder, values, *, on_error="raise"))]
fn decode_values(
    py: Python<'_>,
    decoder: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    on_error: &str,
) -> PyResult<ArrowArray> {
    let raise = match on_error {
        "raise" => true,
        "null" => false,
        other => {
            return Err(errors::option(format!(
                "on_error is 'raise' or 'null', not '{other}'"
            )));
        }
    };
    let arrays = arrays(values)?;
    let made = if let Ok(native) = decoder.cast::<Decoder>() {
        native
            .get()
            .with(py, move |decoder| decode_all(arrays, raise, decoder))?
    } else {
        let function = Function {
            function: decoder,
            batches: None,
        };
        decode_all(arrays, raise, function)
    };
    result(py, made)
}

/// Binary values from lists of quads, each a whole log of one message.
struct Values {
    texts: Texts,
    valid: Vec<bool>,
    messages: Messages,
}

impl Values {
    /// Encodes the messages of the batch so far.
    fn flush(
        &mut self,
        mut encode: impl FnMut(batch::MessageBatch, &mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<(), AtValue> {
        let Some(batch) = self.messages.take() else {
            return Ok(());
        };
        for message in 0..batch.len() {
            let number = batch.first_index() as usize + message;
            if self.valid[number] {
                let one = batch.slice(message..message + 1);
                encode(one, self.texts.values()).map_err(|fault| at(number, fault))?;
                if self.texts.values().len() > rows::MAX_BYTES {
                    return Err(nowhere(rows::Fault::TooLarge));
                }
            }
            self.texts.end();
        }
        Ok(())
    }
}

fn encode_all(
    arrays: Arrays,
    max_depth: u32,
    mut encode: impl FnMut(batch::MessageBatch, &mut Vec<u8>) -> Result<(), Fault>,
) -> Result<ArrayRef, AtValue> {
    let mut values = Values {
        texts: Texts::new(),
        valid: Vec::new(),
        messages: Messages::new(0, max_depth),
    };
    for array in arrays {
        let quads = Quads::new(&array.map_err(nowhere)?).map_err(nowhere)?;
        for row in 0..quads.len() {
            values.valid.push(!quads.is_null(row));
            let added = values.messages.add(&quads, row, |_| Ok(()));
            added.map_err(nowhere)?;
            if values.messages.full() {
                values.flush(&mut encode)?;
            }
        }
    }
    values.flush(encode)?;
    let array = values.texts.binary(rows::nulls(values.valid));
    Ok(Arc::new(array.map_err(nowhere)?))
}

/// Encodes lists of quads, each as a whole log of one message.
///
/// Args:
///     encoder: A native encoder, whose options count; or a function that gives the bytes of a batch of
///         one message.
///     quads: An Arrow array as the column `quads` of `MessageBatch.from_arrow`, through the PyCapsule
///         interface.
///     max_depth: How deep triple terms may nest.
/// Returns:
///     An Arrow array of bytes; null for null.
/// Raises:
///     DecodeError: A term breaks N-Triples; names row and term.
///     EncodeError: A message cannot be written; `source` is the number of its value.
///     LimitError: The result passes 2 GiB.
#[pyfunction]
#[pyo3(signature = (encoder, quads, *, max_depth=64))]
fn encode_values(
    py: Python<'_>,
    encoder: &Bound<'_, PyAny>,
    quads: &Bound<'_, PyAny>,
    max_depth: u32,
) -> PyResult<ArrowArray> {
    let max_depth = options::depth(max_depth)?;
    let arrays = arrays(quads)?;
    let made = if let Ok(native) = encoder.cast::<Encoder>() {
        native.get().with(py, move |encoder| {
            encode_all(arrays, max_depth, |batch, out| {
                encoder.reset();
                let done = encoder.encode(&batch, out);
                done.and_then(|()| encoder.finish(out)).map_err(|error| {
                    // The value is a log of its own.
                    Fault::Encode(EncodeError {
                        message: 0,
                        ..error
                    })
                })
            })
        })?
    } else {
        encode_all(arrays, max_depth, |batch, out| {
            let written = encoder
                .call1((MessageBatch::new(batch),))
                .map_err(Fault::Raised)?;
            let written = written
                .cast::<PyBytes>()
                .map_err(|error| Fault::Raised(error.into()))?;
            out.extend_from_slice(written.as_bytes());
            Ok(())
        })
    };
    result(py, made)
}

/// Why a value is refused.
const SEVERAL: &str = "the value holds more than one message, expected one; a log of many is read \
    from a file (open_log, or Spark's format \"rdfm\"), and the option dialect=\"plain\" (text) or \
    frames=\"flat\" (Jelly) takes it as one message";

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowArray>()?;
    module.add_function(wrap_pyfunction!(decode_values, module)?)?;
    module.add_function(wrap_pyfunction!(encode_values, module)?)
}
