//! Arrow columns whose values each contain one message as a complete log, such as table cells or
//! queue records.
//!
//! - In: arrays of binary values, or of quad or operation lists, and a codec.
//! - Out: an array of lists or of binary values. Null remains null.
//! - Cost: the codec is reset for each value, not created again.
//! - Law: the result for a value does not depend on other values.

use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::ArrowError;
use rdfm_core::codec::batch::{LogRecord, NextBatchOf as _};
use rdfm_core::codec::spec::Kind;
use rdfm_core::codec::{Decoder, Encoder};
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass};

use crate::error::Error;
use crate::from_arrow::lists::{InputListRecord, InputLists};
use crate::from_arrow::messages::MessagesBuilder;
use crate::from_arrow::strings::Strings;
use crate::schema::TermLayout;
use crate::to_arrow::limit::{BuildError, MAX_BYTES};
use crate::to_arrow::lists;
use crate::to_arrow::terms::RenderedTerms;
use crate::to_arrow::texts::{Texts, nulls};

const TOO_LARGE: &str =
    "the result exceeds the 2 GiB limit of an Arrow array; convert fewer values at once";

/// Error for a value that contains several messages.
pub const SEVERAL_MESSAGES: &str = "the value contains more than one message; read a log of several messages from a \
                            file (open_log, or Spark's format \"rdfm\"), or read the value as one message with \
                            dialect=\"plain\" (text) or frames=\"flat\" (Jelly)";

/// Handling of invalid values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Return an error.
    Raise,
    /// Replace the value with null.
    Null,
}

impl OnError {
    /// Returns the handling with the given name, `raise` or `null`.
    ///
    /// # Errors
    /// If the name is unknown; the error names it.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            other => Err(format!("on_error must be 'raise' or 'null', not '{other}'")),
        }
    }
}

/// Returns the kind of log with the given name. Values can be messages or patches, not results.
///
/// # Errors
/// If the name is unknown, or values cannot have that kind; the error says which.
pub fn find_kind(name: &str) -> Result<Kind, String> {
    match Kind::from_name(name)? {
        Kind::Results => Err("values must be messages or patches, not results".to_owned()),
        kind => Ok(kind),
    }
}

/// Cause of a failed conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The array has the wrong type, a row contains an invalid term, or the result is too large.
    Arrow(Error),
    /// The decoder's error. The value is invalid, unless the error is internal.
    Decode(DecodeError),
    /// The encoder's error.
    Encode(EncodeError),
    /// The value contains more than one message; see [`SEVERAL_MESSAGES`].
    Several,
}

impl Cause {
    /// Whether the value is invalid and may therefore become null.
    fn is_invalid_value(&self) -> bool {
        match self {
            Self::Decode(error) => error.class != ErrorClass::Internal,
            Self::Several => true,
            Self::Arrow(_) | Self::Encode(_) => false,
        }
    }
}

/// An error, and the index of the value that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The cause.
    pub cause: Box<Cause>,
    /// Index of the value, from 0. `None` if no single value caused the error, or if the cause
    /// contains the row.
    pub value: Option<usize>,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.value {
            write!(f, "value {value}: ")?;
        }
        match &*self.cause {
            Cause::Arrow(error) => error.fmt(f),
            Cause::Decode(error) => error.fmt(f),
            Cause::Encode(error) => error.fmt(f),
            Cause::Several => f.write_str(SEVERAL_MESSAGES),
        }
    }
}

impl std::error::Error for ValueError {}

impl From<Error> for ValueError {
    fn from(error: Error) -> Self {
        Self {
            cause: Box::new(Cause::Arrow(error)),
            value: None,
        }
    }
}

impl From<ArrowError> for ValueError {
    fn from(error: ArrowError) -> Self {
        Error::from(error).into()
    }
}

fn value_error(value: usize, cause: Cause) -> ValueError {
    ValueError {
        cause: Box::new(cause),
        value: Some(value),
    }
}

fn map_too_large<T>(result: Result<T, impl Into<BuildError>>) -> Result<T, Error> {
    result.map_err(|error| error.into().into_error(TOO_LARGE))
}

/// Decodes binary values, each a complete log of one message, into quad or operation lists.
///
/// # Errors
/// If a value is invalid and does not become null, or the result is too large.
pub fn decode<R: lists::OutputListRecord>(
    arrays: impl Iterator<Item = Result<ArrayRef, ArrowError>>,
    on_error: OnError,
    decoder: &mut dyn Decoder,
) -> Result<ArrayRef, ValueError> {
    let mut lists = lists::OutputLists::<R>::new(TermLayout::NTriples);
    let mut valid = Vec::new();
    let mut bytes = 0;
    let mut places = RenderedTerms::default();
    for array in arrays {
        let array = array?;
        let texts = from_binary(&array)?;
        for value in 0..array.len() {
            if let Some(reason) = texts.invalid_reason(value) {
                let error = Error::in_row(valid.len() as u64, ErrorClass::Malformed, reason);
                return Err(error.into());
            }
            let value = texts.get(value);
            let (batch, is_valid) =
                match value.map(|value| decode_only_message::<R>(decoder, value)) {
                    None => (None, false),
                    Some(Ok(batch)) => (batch, true),
                    Some(Err(cause)) if on_error == OnError::Null && cause.is_invalid_value() => {
                        (None, false)
                    }
                    Some(Err(cause)) => return Err(value_error(valid.len(), cause)),
                };
            if let Some(batch) = &batch {
                places.begin_batch(batch.table());
                let (table, records) = (batch.table(), batch.records());
                map_too_large(lists.add(table, records, &mut places, &mut bytes))?;
            } else {
                lists.end();
            }
            valid.push(is_valid);
        }
    }
    Ok(Arc::new(map_too_large(lists.finish(nulls(valid)))?))
}

/// Returns the only message of a value, or `None` if the value contains no message.
fn decode_only_message<R: LogRecord>(
    decoder: &mut dyn Decoder,
    value: &[u8],
) -> Result<Option<LogBatch<R>>, Cause> {
    decoder.reset();
    decoder.feed(value);
    decoder.finish();
    let Some(batch) = decoder.next_batch_of::<R>().map_err(Cause::Decode)? else {
        return Ok(None);
    };
    if batch.len() > 1 || decoder.next_batch().map_err(Cause::Decode)?.is_some() {
        return Err(Cause::Several);
    }
    Ok(Some(batch))
}

/// Reads an array of binary values.
fn from_binary(array: &ArrayRef) -> Result<Strings, Error> {
    Strings::bytes(array, false).ok_or_else(|| {
        let data_type = array.data_type();
        Error::wrong_columns(format!("expected an array of bytes, found {data_type}"))
    })
}

/// Encodes quad or operation lists as binary values, each a complete log of one message.
///
/// # Errors
/// If a term is not valid N-Triples, a message cannot be written, or the result is too large.
pub fn encode<R: InputListRecord>(
    arrays: impl Iterator<Item = Result<ArrayRef, ArrowError>>,
    max_depth: u32,
    encoder: &mut dyn Encoder,
) -> Result<ArrayRef, ValueError> {
    let mut values = Values::<R> {
        texts: Texts::new(),
        valid: Vec::new(),
        messages: MessagesBuilder::new(0, max_depth),
    };
    for array in arrays {
        let lists = InputLists::new(&array?)?;
        for row in 0..lists.len() {
            values.valid.push(!lists.is_null(row));
            values.messages.add(&lists, row, |_| Ok(()))?;
            if values.messages.is_full() {
                values.flush(encoder)?;
            }
        }
    }
    values.flush(encoder)?;
    let array = values.texts.into_binary(nulls(values.valid));
    Ok(Arc::new(map_too_large(array)?))
}

/// Builds binary values.
struct Values<R: InputListRecord> {
    texts: Texts,
    valid: Vec<bool>,
    messages: MessagesBuilder<R>,
}

impl<R: InputListRecord> Values<R> {
    /// Encodes the messages collected so far.
    fn flush(&mut self, encoder: &mut dyn Encoder) -> Result<(), ValueError> {
        let Some(batch) = self.messages.take() else {
            return Ok(());
        };
        for message in 0..batch.len() {
            let number = batch.first_message_index() as usize + message;
            if self.valid[number] {
                let single = batch.slice(message..message + 1);
                let out = self.texts.values_mut();
                encoder.reset();
                let result = encoder.encode((&single).into(), out);
                result.and_then(|()| encoder.finish(out)).map_err(|error| {
                    // Each value is a separate log, so its only message has index 0.
                    let error = EncodeError {
                        message_index: 0,
                        ..error
                    };
                    value_error(number, Cause::Encode(error))
                })?;
                if out.len() > MAX_BYTES {
                    return Err(BuildError::TooLarge.into_error(TOO_LARGE).into());
                }
            }
            self.texts.end();
        }
        Ok(())
    }
}
