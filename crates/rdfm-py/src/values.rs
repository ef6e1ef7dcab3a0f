//! Conversion of value columns for Python.
//!
//! - In: an array of binary values or of quad or operation lists, and a native codec or a Python
//!   function for a single value.
//! - Out: an array of lists or of binary values.
//! - Cost: with a native codec, the GIL is released.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use rdfm_arrow::values::{self, Cause, OnError, SEVERAL_MESSAGES, ValueError};
use rdfm_core::codec;
use rdfm_core::codec::batch::{Batch, BatchRef};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass, Position};
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::Quad;

use crate::arrow::{self, ArrowArray};
use crate::codecs::{Decoder, Encoder, to_core_batch, to_python_batch};
use crate::{errors, options};

/// Returns the exception for an error. `raised` is the exception that a Python codec raised, if it
/// caused the error.
fn exception(py: Python<'_>, error: ValueError, raised: Option<PyErr>) -> PyErr {
    let exception = match (*error.cause, raised) {
        (Cause::Arrow(error), _) => return arrow::exception(py, error),
        (Cause::Decode(_) | Cause::Encode(_), Some(raised)) => raised,
        (Cause::Decode(error), None) => errors::decode(py, &error),
        (Cause::Encode(error), None) => errors::encode(py, &error, b""),
        (Cause::Several, _) => errors::unsupported_error(SEVERAL_MESSAGES),
    };
    if let Some(value) = error.value {
        errors::set_source(py, &exception, &format!("value {value}"));
    }
    exception
}

/// A decoder that calls a Python function, which returns the batches of a value. Each log must be
/// fed in one piece.
struct DecodeFunction {
    function: Py<PyAny>,
    value: Option<Py<PyBytes>>,
    batches: Option<Py<PyIterator>>,
    /// The exception that the function raised for this value.
    raised: Option<PyErr>,
}

impl DecodeFunction {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        if let Some(value) = self.value.take() {
            let batches = self.function.bind(py).call1((value,))?.try_iter()?;
            self.batches = Some(batches.unbind());
        }
        let Some(batches) = &self.batches else {
            return Ok(None);
        };
        for batch in batches.bind(py).clone() {
            let batch = batch?;
            let batch = to_core_batch(&batch)?.to_owned();
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// Stores an exception and returns an error that represents it.
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

/// Decode binary values, each a complete log of one message.
///
/// Args:
///     decoder: A native decoder, or a function that takes one value (bytes) and returns its
///         batches.
///     values: An Arrow array of bytes, through the PyCapsule interface.
///     on_error: "raise", or "null" to convert invalid values to null.
///     kind: "messages" or "patches".
/// Returns:
///     An Arrow array like the `quads` column of `MessageBatch.to_arrow`, or the `operations`
///     column of `PatchBatch.to_arrow`. A value without a message becomes an empty list, and null
///     remains null.
/// Raises:
///     DecodeError: If a value is invalid or contains several messages. `source` identifies the
///         value by number.
///     LimitError: If the result exceeds 2 GiB.
#[pyfunction]
#[pyo3(signature = (decoder, values, *, on_error="raise", kind="messages"))]
fn decode_values(
    py: Python<'_>,
    decoder: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    on_error: &str,
    kind: &str,
) -> PyResult<ArrowArray> {
    let decode = match values::find_kind(kind).map_err(errors::option)? {
        Kind::Patches => values::decode::<Operation>,
        _ => values::decode::<Quad>,
    };
    let on_error = OnError::from_name(on_error).map_err(errors::option)?;
    let arrays = arrow::arrays(values)?;
    if let Ok(native) = decoder.cast::<Decoder>() {
        let outcome = native
            .get()
            .with(py, move |decoder| decode(arrays, on_error, decoder))?;
        return outcome
            .map(ArrowArray::new)
            .map_err(|error| exception(py, error, None));
    }
    let mut function = DecodeFunction {
        function: decoder.clone().unbind(),
        value: None,
        batches: None,
        raised: None,
    };
    let outcome = decode(arrays, on_error, &mut function);
    outcome
        .map(ArrowArray::new)
        .map_err(|error| exception(py, error, function.raised))
}

/// An encoder that calls a Python function, which returns the bytes of a batch of one message.
struct EncodeFunction {
    function: Py<PyAny>,
    /// The exception that the function raised.
    raised: Option<PyErr>,
}

impl codec::Encoder for EncodeFunction {
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut encode = |py: Python<'_>| -> PyResult<()> {
            let batch = to_python_batch(py, batch.to_owned())?;
            let encoded = self.function.call1(py, (batch,))?;
            out.extend_from_slice(encoded.bind(py).cast::<PyBytes>()?.as_bytes());
            Ok(())
        };
        Python::attach(&mut encode).map_err(|raised| {
            self.raised = Some(raised);
            EncodeError {
                format: "python",
                class: ErrorClass::Internal,
                reason: "".into(),
                message_index: 0,
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

/// Encode quad lists or operation lists, each as a complete log of one message.
///
/// Args:
///     encoder: A native encoder, or a function that takes a batch of one message and returns its
///         bytes.
///     lists: An Arrow array through the PyCapsule interface, like the `quads` column of
///         `MessageBatch.from_arrow` or the `operations` column of `PatchBatch.from_arrow`.
///     max_depth: Maximum nesting of triple terms.
///     kind: "messages" or "patches".
/// Returns:
///     An Arrow array of bytes. Null remains null.
/// Raises:
///     DecodeError: If a term is not valid N-Triples; the error names the row and the term.
///     EncodeError: If a message cannot be written. `source` identifies its value by number.
///     LimitError: If the result exceeds 2 GiB.
#[pyfunction]
#[pyo3(signature = (encoder, lists, *, max_depth=64, kind="messages"))]
fn encode_values(
    py: Python<'_>,
    encoder: &Bound<'_, PyAny>,
    lists: &Bound<'_, PyAny>,
    max_depth: u32,
    kind: &str,
) -> PyResult<ArrowArray> {
    let encode = match values::find_kind(kind).map_err(errors::option)? {
        Kind::Patches => values::encode::<Operation>,
        _ => values::encode::<Quad>,
    };
    let max_depth = options::check_depth(max_depth)?;
    let arrays = arrow::arrays(lists)?;
    if let Ok(native) = encoder.cast::<Encoder>() {
        let outcome = native
            .get()
            .with(py, move |encoder| encode(arrays, max_depth, encoder))?;
        return outcome
            .map(ArrowArray::new)
            .map_err(|error| exception(py, error, None));
    }
    let mut function = EncodeFunction {
        function: encoder.clone().unbind(),
        raised: None,
    };
    let outcome = encode(arrays, max_depth, &mut function);
    outcome
        .map(ArrowArray::new)
        .map_err(|error| exception(py, error, function.raised))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_values, module)?)?;
    module.add_function(wrap_pyfunction!(encode_values, module)?)
}
