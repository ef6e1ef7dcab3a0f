//! Serialization and merging of statistics, for logs that are counted by several processes.
//!
//! - In: statistics of other messages, as returned by [`Statistics::to_bytes`]. Out: statistics of
//!   all messages.
//! - Law: if statistics are merged in message order, exact numbers are equal to those of a single
//!   pass. Estimates may differ within their bounds. The mean and deviation of ratios may differ in
//!   their last digits.

use super::batch::Statistics;

/// Version of the serialization. Other versions of this crate may use a different one.
const VERSION: u8 = 1;

/// The bytes are not statistics, or have a different version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// A value that can be written as bytes and added to another value.
pub trait Mergeable {
    /// Appends the value.
    fn write(&self, out: &mut Writer);

    /// Adds a value that was written by `write`.
    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable>;
}

/// Serializes values.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Appends an integer.
    pub fn write_number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Appends a large integer.
    pub fn write_large_number(&mut self, number: u128) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Appends bytes, preceded by their length.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.write_number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Deserializes values.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Unreadable)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next integer.
    pub fn read_number(&mut self) -> Result<u64, Unreadable> {
        let bytes = self.take(8)?.try_into().map_err(|_| Unreadable)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The next large integer.
    pub fn read_large_number(&mut self) -> Result<u128, Unreadable> {
        let bytes = self.take(16)?.try_into().map_err(|_| Unreadable)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// The next byte string, which is preceded by its length.
    pub fn read_bytes(&mut self) -> Result<&'a [u8], Unreadable> {
        let length = usize::try_from(self.read_number()?).map_err(|_| Unreadable)?;
        self.take(length)
    }
}

impl Statistics {
    /// Serializes the statistics. Must be called after a complete message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(vec![VERSION]);
        self.write(&mut out);
        out.0
    }

    /// Adds the statistics of other messages of the same kind. The messages may come from the same
    /// logs or from other logs.
    ///
    /// # Errors
    /// If the bytes are not statistics from this version. `self` must not be used after this error.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        let (VERSION, rest) = bytes
            .split_first()
            .ok_or(Unreadable)
            .map(|(v, r)| (*v, r))?
        else {
            return Err(Unreadable);
        };
        let mut input = Reader(rest);
        self.merge(&mut input)?;
        if input.0.is_empty() {
            Ok(())
        } else {
            Err(Unreadable)
        }
    }
}

impl Mergeable for u64 {
    fn write(&self, out: &mut Writer) {
        out.write_number(*self);
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        *self += input.read_number()?;
        Ok(())
    }
}

impl<T: Mergeable> Mergeable for [T] {
    fn write(&self, out: &mut Writer) {
        for each in self {
            each.write(out);
        }
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.iter_mut().try_for_each(|each| each.merge(input))
    }
}
