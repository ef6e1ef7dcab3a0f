//! Reads the fields of messages in the column layout, with their positions.
//!
//! - In: the bytes of a frame, and the range of a message in them.
//! - Out: fields ([`Fields`]), and the entries of a repeated field ([`Numbers`], [`Strings`]).
//! - Cost: a branch per number, and one per string, in the usual encoding.
//! - Law: fields may be in any order, and numbers may be packed, unpacked or in several pieces. An
//!   unknown field is an error, because earlier states of the draft have other fields.

use std::ops::Range;

use super::DRAFT;
use crate::model::error::ErrorClass;
use crate::syntax::wire::{Checked, LENGTH, VARINT, Wire, WireError, limit, malformed_error};

/// Largest number of ranges of a repeated field. Empty fields, of two bytes each, would otherwise need
/// eight times the memory of their frame.
const MAX_RANGES: usize = 1 << 20;

/// An error at a position of the frame's bytes.
#[derive(Debug)]
pub(in crate::formats::jelly) struct Fault {
    /// Index of the byte.
    pub start: usize,
    /// Index of the row in its frame.
    pub row: u64,
    pub error: WireError,
}

/// A value that was read, or an error with its position.
pub(in crate::formats::jelly) type Located<T> = Result<T, Fault>;

/// Adds a position to an error.
pub(in crate::formats::jelly) trait Locate<T> {
    /// Adds the position of a byte.
    fn locate(self, start: usize) -> Located<T>;
}

impl<T> Locate<T> for Checked<T> {
    #[inline]
    fn locate(self, start: usize) -> Located<T> {
        self.map_err(|error| Fault {
            start,
            row: 0,
            error,
        })
    }
}

/// Returns the error for a violated rule.
#[cold]
pub(in crate::formats::jelly) fn fault(start: usize, reason: impl Into<String>) -> Fault {
    let error = malformed_error(reason.into());
    Fault {
        start,
        row: 0,
        error,
    }
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats::jelly) struct Field {
    pub number: u32,
    /// Index of its first byte, which is its tag.
    pub start: usize,
    pub value: FieldValue,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats::jelly) enum FieldValue {
    Number(u32),
    /// The range of a string, of a message, or of packed numbers.
    Bytes(Range<usize>),
}

/// A cursor over the fields of a message.
pub(in crate::formats::jelly) struct Fields<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
    message: &'static str,
}

impl<'a> Fields<'a> {
    /// Creates a cursor. `message` names the message in errors.
    pub fn new(bytes: &'a [u8], range: &Range<usize>, message: &'static str) -> Self {
        Self {
            bytes,
            start: range.start,
            end: range.end,
            message,
        }
    }

    /// Returns the next field.
    pub fn next(&mut self) -> Located<Option<Field>> {
        let start = self.start;
        if start >= self.end {
            return Ok(None);
        }
        let mut wire = Wire::new(&self.bytes[start..self.end]);
        let (number, kind) = wire.read_tag().locate(start)?;
        let value = match kind {
            VARINT => FieldValue::Number(wire.read_varint32().locate(start)?),
            LENGTH => {
                let length = wire.read_bytes().locate(start)?.len();
                let end = self.end - wire.rest().len();
                FieldValue::Bytes(end - length..end)
            }
            _ => return Err(self.unknown(start, number)),
        };
        self.start = self.end - wire.rest().len();
        Ok(Some(Field {
            number,
            start,
            value,
        }))
    }

    /// Adds the short strings that follow the last field and have its number to a list.
    pub fn add_short_strings(&mut self, number: u32, list: &mut List) {
        let tag = number << 3 | u32::from(LENGTH);
        let message = &self.bytes[..self.end];
        while let Some(&[next, length]) = message.get(self.start..).and_then(<[u8]>::first_chunk)
            && u32::from(next) == tag
            && length < 0x80
            && self.start + 2 + usize::from(length) <= self.end
        {
            self.start += 2 + usize::from(length);
            list.count += 1;
        }
        list.range.end = self.start;
    }

    /// Index of the byte after the last field that was returned.
    pub fn end_of_field(&self) -> usize {
        self.start
    }

    /// Returns the error for a field that the message does not have.
    #[cold]
    pub fn unknown(&self, start: usize, number: u32) -> Fault {
        unknown_field(start, number, self.message)
    }

    /// Returns a number.
    pub fn number(&self, field: &Field) -> Located<u32> {
        match field.value {
            FieldValue::Number(number) => Ok(number),
            FieldValue::Bytes(_) => Err(self.wrong_kind(field, VARINT)),
        }
    }

    /// Returns the range of a string or a message.
    pub fn bytes(&self, field: &Field) -> Located<Range<usize>> {
        match &field.value {
            FieldValue::Bytes(range) => Ok(range.clone()),
            FieldValue::Number(_) => Err(self.wrong_kind(field, LENGTH)),
        }
    }

    /// Adds the range of a string or a message to the ranges of a repeated field.
    pub fn push_bytes(&self, field: &Field, ranges: &mut Vec<Range<usize>>) -> Located<()> {
        if ranges.len() == MAX_RANGES {
            let reason = format!(
                "field {} of {} occurs more than {MAX_RANGES} times in a frame",
                field.number, self.message
            );
            return Err(limit(reason)).locate(field.start);
        }
        ranges.push(self.bytes(field)?);
        Ok(())
    }

    #[cold]
    fn wrong_kind(&self, field: &Field, expected: u8) -> Fault {
        let wire_type = LENGTH - expected;
        let reason = format!(
            "field {} of {} has wire type {wire_type}, expected {expected}; rdfm reads {DRAFT}",
            field.number, self.message
        );
        fault(field.start, reason)
    }
}

/// Returns the error for a field that is not in the definition.
#[cold]
pub(super) fn unknown_field(start: usize, number: u32, message: &str) -> Fault {
    let reason = format!(
        "field {number} of {message} is unknown; Jelly 1.2 is a draft, and rdfm reads {DRAFT}"
    );
    let error = WireError::new(ErrorClass::Unsupported, reason);
    Fault {
        start,
        row: 0,
        error,
    }
}

/// The entries of a repeated field: their number, and the range from the first to the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::formats::jelly) struct List {
    pub count: usize,
    pub range: Range<usize>,
}

impl List {
    /// Adds a string or a message.
    pub fn add(&mut self, start: usize, end: usize) {
        self.add_all(1, start, end);
    }

    /// Adds one number, or the numbers of a packed field.
    pub fn add_numbers(&mut self, bytes: &[u8], field: &Field, end: usize) -> Located<()> {
        let count = match &field.value {
            FieldValue::Number(_) => 1,
            FieldValue::Bytes(range) => {
                let packed = &bytes[range.clone()];
                if packed.last().is_some_and(|last| *last >= 0x80) {
                    return Err(fault(field.start, "packed numbers end inside a number"));
                }
                packed.iter().filter(|byte| **byte < 0x80).count()
            }
        };
        if count > 0 {
            self.add_all(count, field.start, end);
        }
        Ok(())
    }

    fn add_all(&mut self, count: usize, start: usize, end: usize) {
        if self.count == 0 {
            self.range.start = start;
        }
        self.count += count;
        self.range.end = end;
    }
}

/// A cursor over a list of numbers. Positions are in the bytes of the frame, so it outlives them.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::jelly) struct Numbers {
    field: u32,
    /// The rest of the current piece.
    piece: Range<usize>,
    /// The bytes after that piece.
    rest: Range<usize>,
}

impl Numbers {
    pub fn new(field: u32, list: &List) -> Self {
        Self {
            field,
            piece: 0..0,
            rest: list.range.clone(),
        }
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> Checked<Option<u32>> {
        let piece = bytes.get(self.piece.clone()).unwrap_or_default();
        if let Some((number, length)) = short_number(piece) {
            self.piece.start += length;
            return Ok(Some(number));
        }
        self.long(bytes)
    }

    /// Reads as many numbers as `out` has elements. Numbers after the end of the list are 0.
    #[inline]
    pub fn fill(&mut self, bytes: &[u8], out: &mut [u32]) -> Checked<()> {
        let mut at = 0;
        loop {
            let mut piece = bytes.get(self.piece.clone()).unwrap_or_default();
            while at < out.len()
                && let Some((number, length)) = short_number(piece)
            {
                out[at] = number;
                at += 1;
                piece = &piece[length..];
            }
            self.piece.start = self.piece.end - piece.len();
            if at == out.len() {
                return Ok(());
            }
            out[at] = self.long(bytes)?.unwrap_or_default();
            at += 1;
        }
    }

    /// Passes the remaining numbers to a function. Returns false if one is malformed.
    #[inline]
    pub fn for_each(&mut self, bytes: &[u8], mut function: impl FnMut(u32)) -> bool {
        loop {
            let mut piece = bytes.get(self.piece.clone()).unwrap_or_default();
            while let Some((number, length)) = short_number(piece) {
                function(number);
                piece = &piece[length..];
            }
            self.piece.start = self.piece.end - piece.len();
            match self.long(bytes) {
                Ok(Some(number)) => function(number),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Index of the next number, for errors.
    pub fn position(&self) -> usize {
        if self.piece.is_empty() {
            self.rest.start
        } else {
            self.piece.start
        }
    }

    #[inline(never)]
    fn long(&mut self, bytes: &[u8]) -> Checked<Option<u32>> {
        while self.piece.is_empty() {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let mut wire = Wire::new(&bytes[self.rest.clone()]);
            let (field, kind) = wire.read_tag()?;
            let start = self.rest.end - wire.rest().len();
            let length = if kind == LENGTH {
                wire.read_bytes()?.len()
            } else {
                wire.read_varint()?;
                self.rest.end - wire.rest().len() - start
            };
            self.rest.start = self.rest.end - wire.rest().len();
            if field == self.field {
                self.piece = self.rest.start - length..self.rest.start;
            }
        }
        let mut wire = Wire::new(&bytes[self.piece.clone()]);
        let number = wire.read_varint32()?;
        self.piece.start = self.piece.end - wire.rest().len();
        Ok(Some(number))
    }
}

/// Returns the number at the start, and its length, if it has one or two bytes.
#[inline]
fn short_number(bytes: &[u8]) -> Option<(u32, usize)> {
    match *bytes {
        [byte, ..] if byte < 0x80 => Some((u32::from(byte), 1)),
        [low, high, ..] if high < 0x80 => Some((u32::from(low & 0x7f) | u32::from(high) << 7, 2)),
        _ => None,
    }
}

/// A cursor over a list of strings or messages.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::jelly) struct Strings {
    field: u32,
    rest: Range<usize>,
}

impl Strings {
    pub fn new(field: u32, list: &List) -> Self {
        Self {
            field,
            rest: list.range.clone(),
        }
    }

    /// Returns the range of the next string.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> Checked<Option<Range<usize>>> {
        let start = self.rest.start;
        if let Some([tag, length, ..]) = bytes.get(start..self.rest.end)
            && u32::from(*tag) == self.field << 3 | u32::from(LENGTH)
            && *length < 0x80
        {
            let end = start + 2 + usize::from(*length);
            if end <= self.rest.end {
                self.rest.start = end;
                return Ok(Some(start + 2..end));
            }
        }
        self.long(bytes)
    }

    #[inline(never)]
    fn long(&mut self, bytes: &[u8]) -> Checked<Option<Range<usize>>> {
        while !self.rest.is_empty() {
            let mut wire = Wire::new(&bytes[self.rest.clone()]);
            let (field, kind) = wire.read_tag()?;
            let length = if kind == LENGTH {
                wire.read_bytes()?.len()
            } else {
                wire.read_varint()?;
                0
            };
            self.rest.start = self.rest.end - wire.rest().len();
            if field == self.field {
                return Ok(Some(self.rest.start - length..self.rest.start));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// The numbers of field 2 and the strings of field 3 in a message.
    fn lists(bytes: &[u8]) -> (Vec<u32>, Vec<&[u8]>) {
        let (mut numbers, mut strings) = (List::default(), List::default());
        let mut fields = Fields::new(bytes, &(0..bytes.len()), "the message");
        while let Some(field) = fields.next().unwrap() {
            match field.number {
                2 => numbers.add_numbers(bytes, &field, fields.start).unwrap(),
                3 => strings.add(field.start, fields.start),
                _ => {}
            }
        }
        let (mut ids, mut texts) = (Numbers::new(2, &numbers), Strings::new(3, &strings));
        let mut entries = (Vec::new(), Vec::new());
        while let Some(id) = ids.next(bytes).unwrap() {
            entries.0.push(id);
        }
        while let Some(text) = texts.next(bytes).unwrap() {
            entries.1.push(&bytes[text]);
        }
        assert_eq!(
            (numbers.count, strings.count),
            (entries.0.len(), entries.1.len())
        );
        entries
    }

    #[test]
    fn numbers_may_be_packed_and_unpacked_and_in_several_pieces() {
        assert_eq!(lists(&[]), (vec![], vec![]));
        assert_eq!(lists(&[0x12, 0]), (vec![], vec![]));
        assert_eq!(lists(&[0x12, 3, 1, 0x80, 1]), (vec![1, 128], vec![]));
        let mixed = [
            &[0x08, 9, 0x12, 2, 5, 0, 0x1a, 1, b'a', 0x10, 0xac, 0x02][..],
            &[
                0x12, 0, 0x0a, 1, 7, 0x1a, 0, 0x12, 1, 4, 0x1a, 2, b'b', b'c',
            ],
        ]
        .concat();
        let texts: Vec<&[u8]> = vec![b"a", b"", b"bc"];
        assert_eq!(lists(&mixed), (vec![5, 0, 300, 4], texts));
    }

    #[test]
    fn long_strings_are_found() {
        let text = vec![b'x'; 300];
        let bytes = [&[0x1a, 0xac, 0x02], text.as_slice()].concat();
        assert_eq!(lists(&bytes), (vec![], vec![text.as_slice()]));
    }

    #[test]
    fn the_ranges_of_a_field_are_limited() {
        let bytes = [0x2a, 0].repeat(MAX_RANGES + 1);
        let mut fields = Fields::new(&bytes, &(0..bytes.len()), "the columns");
        let mut ranges = Vec::new();
        for _ in 0..MAX_RANGES {
            let field = fields.next().unwrap().unwrap();
            fields.push_bytes(&field, &mut ranges).unwrap();
        }
        let field = fields.next().unwrap().unwrap();
        let fault = fields.push_bytes(&field, &mut ranges).unwrap_err();
        assert_eq!(fault.start, 2 * MAX_RANGES);
        assert_eq!(fault.error.class(), ErrorClass::Limit);
    }

    #[test]
    fn errors_have_positions() {
        let field = Field {
            number: 2,
            start: 0,
            value: FieldValue::Bytes(2..3),
        };
        let mut list = List::default();
        let cut = list.add_numbers(&[0x12, 1, 0x80], &field, 3).unwrap_err();
        assert_eq!(cut.start, 0);
        let bytes = [0x08, 1, 0x15, 0, 0, 0, 0];
        let mut fields = Fields::new(&bytes, &(0..7), "the columns");
        fields.next().unwrap();
        let unknown = fields.next().unwrap_err();
        assert_eq!(unknown.start, 2);
        let reason = unknown.error.into_parts().1;
        assert!(
            reason
                .text()
                .starts_with("field 2 of the columns is unknown")
        );
        assert!(reason.text().contains("15c10bef"));
    }
}
