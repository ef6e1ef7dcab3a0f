//! Builder of string or binary columns.
//!
//! - In: bytes, value by value. Out: an array.
//! - Law: offsets fit in 32 bits, because the caller counts the bytes that it appends
//!   ([`charge`](super::limit::charge)).

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use arrow_array::{BinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

/// Maximum capacity in bytes that a column reserves based on the size of the previous record batch.
const MAX_ROOM_BYTES: usize = 8 << 20;

/// Returns an empty vector with capacity for about as many elements as `other`, so that it does not
/// have to grow.
pub fn empty_like<T>(other: &[T]) -> Vec<T> {
    let room = other.len() + other.len() / 16;
    Vec::with_capacity(room.min(MAX_ROOM_BYTES / size_of::<T>()))
}

/// A builder of a string or binary column.
pub struct Texts {
    values: Vec<u8>,
    offsets: Vec<i32>,
}

impl Texts {
    /// Creates an empty column.
    pub fn new() -> Self {
        Self {
            values: Vec::new(),
            offsets: vec![0],
        }
    }

    /// Returns the number of values.
    pub const fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Creates an empty column with capacity for about the same number of values.
    pub fn empty_like(&self) -> Self {
        let mut offsets = empty_like(&self.offsets);
        offsets.push(0);
        Self {
            values: empty_like(&self.values),
            offsets,
        }
    }

    /// Returns the buffer to which the current value's bytes are appended.
    #[inline]
    pub const fn values_mut(&mut self) -> &mut Vec<u8> {
        &mut self.values
    }

    /// Ends the current value. The offset fits in 32 bits, because all bytes have been counted.
    #[inline]
    pub fn end(&mut self) {
        self.offsets.push(self.values.len() as i32);
    }

    /// Appends a value.
    #[inline]
    pub fn add(&mut self, text: &[u8]) {
        self.values.extend_from_slice(text);
        self.end();
    }

    /// Adds empty values until there are `count` values.
    pub fn fill(&mut self, count: usize) {
        let end = self.values.len() as i32;
        self.offsets.resize(self.offsets.len().max(count + 1), end);
    }

    /// Keeps the first `count` values.
    pub fn truncate(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        let length = self.offsets.last().copied().unwrap_or_default();
        self.values.truncate(length.unsigned_abs() as usize);
    }

    /// Returns the offsets as an Arrow buffer.
    pub fn offsets(offsets: Vec<i32>) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }

    /// Returns the array of strings.
    pub fn into_strings(self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        StringArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }

    /// Returns the array of bytes.
    pub fn into_binary(self, nulls: Option<NullBuffer>) -> Result<BinaryArray, ArrowError> {
        BinaryArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }
}

/// Returns the validity of the values, or `None` if all are valid.
pub fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    valid.contains(&false).then(|| NullBuffer::from(valid))
}
