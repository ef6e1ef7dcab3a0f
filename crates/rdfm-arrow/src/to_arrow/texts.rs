//! Columns of strings or bytes under construction.
//!
//! - In: bytes, a value after the other. Out: an array.
//! - Law: offsets fit, since whoever appends bytes counted them ([`charge`](super::limit::charge)).

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use arrow_array::{BinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

/// Bytes that are set aside for a column because the record batch before had as many, at most.
const MAX_ROOM_BYTES: usize = 8 << 20;

/// An empty vector with room for about as much as another one holds, so that it need not grow.
pub fn like<T>(other: &[T]) -> Vec<T> {
    let room = other.len() + other.len() / 16;
    Vec::with_capacity(room.min(MAX_ROOM_BYTES / size_of::<T>()))
}

/// A column of strings or bytes under construction.
pub struct Texts {
    values: Vec<u8>,
    offsets: Vec<i32>,
}

impl Texts {
    /// No values yet.
    pub fn new() -> Self {
        Self {
            values: Vec::new(),
            offsets: vec![0],
        }
    }

    /// The number of values.
    pub const fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// An empty column with room for about as much.
    pub fn like(&self) -> Self {
        let mut offsets = like(&self.offsets);
        offsets.push(0);
        Self {
            values: like(&self.values),
            offsets,
        }
    }

    /// The bytes, to append the current value's to.
    #[inline]
    pub const fn values(&mut self) -> &mut Vec<u8> {
        &mut self.values
    }

    /// Ends the current value. Its bytes were counted, so the length fits.
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

    /// Adds empty values until there are so many.
    pub fn fill(&mut self, count: usize) {
        let end = self.values.len() as i32;
        self.offsets.resize(self.offsets.len().max(count + 1), end);
    }

    /// Keeps the first values.
    pub fn truncate(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        let length = self.offsets.last().copied().unwrap_or_default();
        self.values.truncate(length.unsigned_abs() as usize);
    }

    /// Offsets as Arrow has them.
    pub fn offsets(offsets: Vec<i32>) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }

    /// The array of strings.
    pub fn strings(self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        StringArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }

    /// The array of bytes.
    pub fn binary(self, nulls: Option<NullBuffer>) -> Result<BinaryArray, ArrowError> {
        BinaryArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }
}

/// Which values are null, if any.
pub fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    valid.contains(&false).then(|| NullBuffer::from(valid))
}
