//! The subset of protobuf's wire format that Jelly and RDF Protobuf use.
//!
//! - In: the complete bytes of one message.
//! - Out: fields in wire order ([`Wire`]); varints and their sizes for the encoder.
//! - Cost: a branch and a load per field in the common case (one-byte tags and lengths).
//! - Law: never reads outside the bytes. Unknown fields are skipped, as protobuf specifies.

use crate::codec::unknown;
use crate::model::error::{ErrorClass, LimitExceeded, quote};
use crate::model::remedy::Reason;

/// An error in a row or a frame. The decoder adds the position. The type is one word wide, so that
/// results stay small.
#[derive(Debug)]
pub(crate) struct WireError(Box<(ErrorClass, Reason)>);

/// A value that was read, or an error.
pub(crate) type Checked<T> = Result<T, WireError>;

impl WireError {
    /// Creates an error with a class.
    #[cold]
    pub fn new(class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self(Box::new((class, reason.into())))
    }

    /// The class.
    pub fn class(&self) -> ErrorClass {
        self.0.0
    }

    /// Returns the class and reason.
    pub fn into_parts(self) -> (ErrorClass, Reason) {
        *self.0
    }
}

impl From<LimitExceeded> for WireError {
    fn from(limit: LimitExceeded) -> Self {
        Self::new(ErrorClass::Limit, limit.0)
    }
}

/// Returns the error for a violated rule of the format.
#[cold]
pub(crate) fn malformed_error(reason: impl Into<Reason>) -> WireError {
    WireError::new(ErrorClass::Malformed, reason)
}

/// Returns the error for bytes that end inside a field, because of a truncated log or wrong
/// lengths.
#[cold]
pub(crate) fn truncated_error(reason: impl Into<Reason>) -> WireError {
    WireError::new(ErrorClass::Truncated, reason)
}

/// Returns the error for an exceeded limit.
#[cold]
pub(crate) fn limit(reason: impl Into<Reason>) -> WireError {
    WireError::new(ErrorClass::Limit, reason)
}

/// Wire type of a varint.
pub(crate) const VARINT: u8 = 0;
/// Wire type of eight bytes.
pub(crate) const FIXED64: u8 = 1;
/// Wire type of strings, bytes and messages.
pub(crate) const LENGTH: u8 = 2;

/// Maximum nesting of groups, as in protobuf.
const MAX_GROUPS: usize = 100;

/// A cursor over the fields of one message.
#[derive(Clone, Copy)]
pub(crate) struct Wire<'a> {
    rest: &'a [u8],
}

impl<'a> Wire<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The unread bytes.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next field if it is length-delimited and its number is in `known` (a bit set up
    /// to 31). Other fields are skipped and returned as number 0. The number is as wide as an
    /// error, because both occupy the same bytes of the result, and reading a narrower number from
    /// memory would be slow.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the hottest function: one call per field
    pub fn read_field(&mut self, known: u32, message: &'static str) -> Checked<(usize, &'a [u8])> {
        if let [tag, length, rest @ ..] = self.rest
            && tag & 0x87 == LENGTH
            && known >> (tag >> 3) & 1 == 1
            && *length < 0x80
            && let Some((payload, rest)) = rest.split_at_checked(*length as usize)
        {
            self.rest = rest;
            return Ok((usize::from(tag >> 3), payload));
        }
        self.read_long_field(known, message)
    }

    /// Whether the next field is length-delimited, has a number in `known` of at most 16, and has
    /// the shortest tag.
    #[inline]
    pub fn next_is(&self, known: u32) -> bool {
        match *self.rest {
            [tag, ..] if tag & 0x87 == LENGTH => known >> (tag >> 3) & 1 == 1,
            [0x82, 0x01, ..] => known >> 16 & 1 == 1,
            _ => false,
        }
    }

    #[inline(never)]
    fn read_long_field(&mut self, known: u32, message: &'static str) -> Checked<(usize, &'a [u8])> {
        let (field, kind) = self.read_tag()?;
        if field < 32 && known >> field & 1 == 1 {
            Self::expect(kind, LENGTH, field, message)?;
            return Ok((field as usize, self.read_bytes()?));
        }
        self.skip(field, kind)?;
        Ok((0, &[]))
    }

    /// Reads a varint of at most ten bytes. Bits beyond 64 are dropped, as in protobuf.
    #[inline]
    pub fn read_varint(&mut self) -> Checked<u64> {
        match *self.rest {
            [byte, ref rest @ ..] if byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(byte))
            }
            _ => self.read_long_varint(),
        }
    }

    #[inline(never)]
    fn read_long_varint(&mut self) -> Checked<u64> {
        match read_long_varint(self.rest) {
            Varint::Value(value, length) => {
                self.rest = &self.rest[length..];
                Ok(value)
            }
            Varint::Incomplete => Err(truncated_error("a varint runs past the end of its message")),
            Varint::TooLong => Err(malformed_error("a varint is longer than 10 bytes")),
        }
    }

    /// Reads a varint of a 32-bit field. As in protobuf, only the low 32 bits are used.
    #[inline]
    pub fn read_varint32(&mut self) -> Checked<u32> {
        Ok(self.read_varint()? as u32)
    }

    /// Reads a field number and wire type.
    #[inline]
    pub fn read_tag(&mut self) -> Checked<(u32, u8)> {
        let tag = self.read_varint()?;
        let field = tag >> 3;
        if field == 0 || field > 0x1fff_ffff {
            return Err(bad_number(field));
        }
        Ok((field as u32, (tag & 7) as u8))
    }

    /// Reads the payload of a length-delimited field.
    #[inline]
    pub fn read_bytes(&mut self) -> Checked<&'a [u8]> {
        let length = self.read_varint()?;
        match usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
        {
            Some((payload, rest)) => {
                self.rest = rest;
                Ok(payload)
            }
            None => Err(overrun_error(length, self.rest.len())),
        }
    }

    /// Reads an eight-byte field.
    pub fn read_fixed64(&mut self) -> Checked<[u8; 8]> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(overrun_error(8, self.rest.len())),
        }
    }

    /// Checks the wire type of a known field.
    #[inline]
    pub fn expect(kind: u8, expected: u8, field: u32, message: &'static str) -> Checked<()> {
        if kind == expected {
            return Ok(());
        }
        Err(malformed_error(format!(
            "field {field} of {message} has wire type {kind}, expected {expected}"
        )))
    }

    /// Skips an unknown field.
    #[cold]
    pub fn skip(&mut self, field: u32, kind: u8) -> Checked<()> {
        unknown::note(field);
        let mut groups: Vec<u32> = Vec::new();
        let (mut field, mut kind) = (field, kind);
        loop {
            match kind {
                VARINT => drop(self.read_varint()?),
                FIXED64 => self.advance(8)?,
                LENGTH => drop(self.read_bytes()?),
                3 if groups.len() < MAX_GROUPS => groups.push(field),
                3 => return Err(malformed_error("groups are nested deeper than 100 levels")),
                4 if groups.pop() == Some(field) => {}
                4 => return Err(malformed_error("a group ends without a start")),
                5 => self.advance(4)?,
                _ => return Err(malformed_error(format!("wire type {kind} does not exist"))),
            }
            if groups.is_empty() {
                return Ok(());
            }
            (field, kind) = self.read_tag()?;
        }
    }

    fn advance(&mut self, count: usize) -> Checked<()> {
        self.rest = self
            .rest
            .get(count..)
            .ok_or_else(|| overrun_error(count as u64, self.rest.len()))?;
        Ok(())
    }
}

#[cold]
fn bad_number(field: u64) -> WireError {
    malformed_error(format!(
        "field number {field} is not allowed; the data is in another format or damaged"
    ))
}

#[cold]
fn overrun_error(length: u64, rest: usize) -> WireError {
    truncated_error(format!(
        "a field of {length} bytes runs past the end of its message, which has {rest} bytes left"
    ))
}

/// A varint at the start of bytes that may be incomplete.
pub(crate) enum Varint {
    /// The value, and the length in bytes.
    Value(u64, usize),
    /// The bytes end inside the varint.
    Incomplete,
    /// More than ten bytes.
    TooLong,
}

/// Reads a varint of one to ten bytes.
pub(crate) fn read_long_varint(bytes: &[u8]) -> Varint {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Varint::Value(value, index + 1);
        }
    }
    if bytes.len() < 10 {
        Varint::Incomplete
    } else {
        Varint::TooLong
    }
}

/// Returns the length prefix at a position, and the position after it. Returns `None` if the prefix
/// is incomplete, or if the length exceeds the maximum for a field.
pub(crate) fn length_at(bytes: &[u8], index: usize) -> Option<(usize, usize)> {
    match read_long_varint(bytes.get(index..)?) {
        Varint::Value(length, size) if i32::try_from(length).is_ok() => {
            Some((length as usize, index + size))
        }
        _ => None,
    }
}

/// Decodes a signed number from a varint.
pub(crate) const fn from_zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Encodes a signed number as a varint.
pub(crate) const fn to_zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Checks that a string is UTF-8.
pub(crate) fn check_utf8<'a>(bytes: &'a [u8], description: &'static str) -> Checked<&'a str> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| invalid_utf8_error(bytes, description))
}

/// Returns the error for a string that is not UTF-8.
#[cold]
pub(crate) fn invalid_utf8_error(bytes: &[u8], description: &'static str) -> WireError {
    malformed_error(format!(
        "{description} is not valid UTF-8: {}",
        quote(bytes)
    ))
}

/// Appends a varint.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a varint field, unless it is zero, which is protobuf's default.
#[inline]
pub(crate) fn put_number(out: &mut Vec<u8>, tag: u8, value: u32) {
    if value != 0 {
        out.push(tag);
        put_varint(out, u64::from(value));
    }
}

/// Appends a length-delimited field.
#[inline]
pub(crate) fn put_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    if bytes.len() < 0x80 {
        out.extend_from_slice(&[tag, bytes.len() as u8]);
    } else {
        out.push(tag);
        put_varint(out, bytes.len() as u64);
    }
    out.extend_from_slice(bytes);
}

/// Encoded size of a varint in bytes.
#[inline]
pub(crate) const fn varint_size(value: u64) -> usize {
    ((63 - (value | 1).leading_zeros() as usize) / 7) + 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing test may panic
    use super::*;

    #[test]
    fn varints_round_trip_with_their_size() {
        for value in [
            0,
            1,
            127,
            128,
            300,
            16_383,
            16_384,
            u64::from(u32::MAX),
            u64::MAX,
        ] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_size(value), "{value}");
            assert_eq!(Wire::new(&out).read_varint().unwrap(), value);
        }
    }

    #[test]
    fn zigzag_is_one_to_one() {
        for value in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            assert_eq!(from_zigzag(to_zigzag(value)), value);
        }
        assert_eq!((to_zigzag(-1), to_zigzag(1)), (1, 2));
    }

    #[test]
    fn overlong_and_truncated_varints_are_errors() {
        assert!(Wire::new(&[0x80; 9]).read_varint().is_err());
        let error = Wire::new(&[0x80; 11]).read_varint().unwrap_err();
        assert_eq!(
            error.into_parts().1.text(),
            "a varint is longer than 10 bytes"
        );
    }

    #[test]
    fn unknown_fields_and_groups_are_skipped() {
        let bytes = [0xa3, 0x06, 0xa8, 0x06, 0x05, 0xa4, 0x06, 0x08, 0x07];
        let mut wire = Wire::new(&bytes);
        let (field, kind) = wire.read_tag().unwrap();
        assert_eq!((field, kind), (100, 3));
        wire.skip(field, kind).unwrap();
        assert_eq!(wire.read_tag().unwrap(), (1, VARINT));
        assert_eq!(wire.read_varint().unwrap(), 7);
    }
}
