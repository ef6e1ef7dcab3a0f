//! Columns of values for Python.
//!
//! - In: an array of binary values, or of lists of quads; a native codec, or a Python function for one value.
//! - Out: an array of lists of quads, or of binary values.
//! - Cost: with a native codec the GIL is released.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use rdfm_arrow::values::{self, Cause, OnError, SEVERAL, ValueError};
use rdfm_core::codec::{
    self,
    batch::{Batch, BatchRef},
};
use rdfm_core::model::batch;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass, Position};

use crate::arrow::{self, ArrowArray};
use crate::batch::MessageBatch;
use crate::codecs::{Decoder, Encoder};
use crate::{errors, options};

/// The exception of an error; `raised` is what a Python codec raised, if that is the cause.
fn exception(py: Python<'_>, error: ValueError, raised: Option<PyErr>) -> PyErr {
    let exception = match (*error.cause, raised) {
        (Cause::Arrow(error), _) => return arrow::exception(py, error),
        (Cause::Decode(_) | Cause::Encode(_), Some(raised)) => raised,
        (Cause::Decode(error), None) => errors::decode(py, &error),
        (Cause::Encode(error), None) => errors::encode(py, &error, b""),
        (Cause::Several, _) => errors::unsupported(SEVERAL),
    };
    if let Some(value) = error.value {
        errors::set_source(py, &exception, &format!("value {value}"));
    }
    exception
}

/// A Python function that gives the batches of a value, as a decoder of logs that come in one piece.
struct DecodeFunction {
    function: Py<PyAny>,
    value: Option<Py<PyBytes>>,
    batches: Option<Py<PyIterator>>,
    /// What the function raised for this value.
    raised: Option<PyErr>,
}

impl DecodeFunction {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<batch::MessageBatch>> {
        if let Some(value) = self.value.take() {
            let batches = self.function.bind(py).call1((value,))?.try_iter()?;
            self.batches = Some(batches.unbind());
        }
        let Some(batches) = &self.batches else {
            return Ok(None);
        };
        for batch in batches.bind(py).clone() {
            let batch = batch?;
            let batch = batch.cast::<MessageBatch>()?.get().inner();
            if !batch.is_empty() {
                return Ok(Some(batch.clone()));
            }
        }
        Ok(None)
    }

    /// Keeps an exception, and gives an error that stands for it.
    fn fail(&mut self, py: Python<'_>, raised: PyErr) -> DecodeError {
        let class = if errors::is_decode(py, &raised) {
            ErrorClass::Malformed
        } else {
            ErrorClass::Internal
        };
        self.raised = Some(raised);
        DecodeError {
            format: "python",
            class,
            reason: "".into(),
            position: Position::default(),
        }
    }
}

impl codec::Decoder for DecodeFunction {
    fn feed(&mut self, piece: &[u8]) {
        self.value = Some(Python::attach(|py| PyBytes::new(py, piece).unbind()));
    }

    fn finish(&mut self) {}

    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError> {
        Python::attach(|py| self.next(py).map_err(|raised| self.fail(py, raised)))
            .map(|batch| batch.map(Batch::Messages))
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        Ok(None)
    }

    fn reset(&mut self) {
        self.value = None;
        self.batches = None;
        self.raised = None;
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
    let on_error = OnError::by_name(on_error).map_err(errors::option)?;
    let arrays = arrow::arrays(values)?;
    if let Ok(native) = decoder.cast::<Decoder>() {
        let made = native
            .get()
            .with(py, move |decoder| values::decode(arrays, on_error, decoder))?;
        return made
            .map(ArrowArray::new)
            .map_err(|error| exception(py, error, None));
    }
    let mut function = DecodeFunction {
        function: decoder.clone().unbind(),
        value: None,
        batches: None,
        raised: None,
    };
    let made = values::decode(arrays, on_error, &mut function);
    made.map(ArrowArray::new)
        .map_err(|error| exception(py, error, function.raised))
}

/// A Python function that gives the bytes of a batch of one message, as an encoder.
struct EncodeFunction {
    function: Py<PyAny>,
    /// What the function raised.
    raised: Option<PyErr>,
}

impl codec::Encoder for EncodeFunction {
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let BatchRef::Messages(batch) = batch else {
            unreachable!("values are messages");
        };
        let mut encode = |py: Python<'_>| -> PyResult<()> {
            let batch = MessageBatch::new(batch.clone());
            let written = self.function.call1(py, (batch,))?;
            out.extend_from_slice(written.bind(py).cast::<PyBytes>()?.as_bytes());
            Ok(())
        };
        Python::attach(&mut encode).map_err(|raised| {
            self.raised = Some(raised);
            EncodeError {
                format: "python",
                class: ErrorClass::Internal,
                reason: "".into(),
                message: 0,
            }
        })
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn reset(&mut self) {
        self.raised = None;
    }
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
    let arrays = arrow::arrays(quads)?;
    if let Ok(native) = encoder.cast::<Encoder>() {
        let made = native.get().with(py, move |encoder| {
            values::encode(arrays, max_depth, encoder)
        })?;
        return made
            .map(ArrowArray::new)
            .map_err(|error| exception(py, error, None));
    }
    let mut function = EncodeFunction {
        function: encoder.clone().unbind(),
        raised: None,
    };
    let made = values::encode(arrays, max_depth, &mut function);
    made.map(ArrowArray::new)
        .map_err(|error| exception(py, error, function.raised))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_values, module)?)?;
    module.add_function(wrap_pyfunction!(encode_values, module)?)
}
