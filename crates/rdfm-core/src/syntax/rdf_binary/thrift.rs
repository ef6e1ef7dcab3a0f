//! Decodes and encodes terms of RDF Thrift in Thrift's compact protocol
//! (`proto/rdf-binary.thrift`).
//!
//! - In: bytes or terms. If the bytes end too early, the error has the class Truncated.
//! - Out: [`Raw`] terms or encoded terms, identical to those of Thrift's own writers.
//! - Cost: each level of a triple term is skipped once before it is decoded.
//! - Law: unknown fields are skipped up to a fixed depth. A field with the wrong type is an error.

use super::encode::{BinaryTermWriter, TermRange};
use super::model::{
    NativeValue, Placeholder, PrefixedName, Raw, RawLiteralKind, Slots, ambiguous_error,
    unset_error,
};
use super::terms::TripleTermReader;
use crate::codec::unknown;
use crate::model::fast_path::FastPath;
use crate::syntax::wire::{
    Checked, Varint, WireError, from_zigzag, limit, malformed_error, put_varint, read_long_varint,
    to_zigzag, truncated_error,
};

/// Types of the compact protocol.
pub(crate) const STOP: u8 = 0;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(crate) const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
pub(crate) const BINARY: u8 = 8;
pub(crate) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(crate) const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Maximum nesting depth of unknown fields, as in Thrift.
pub(crate) const MAX_NESTING: u32 = 64;
/// Depth up to which triple terms are skipped. Their actual depth is checked when they are decoded.
const MAX_TRIPLES: u32 = 2 * 1002;

/// Reads RDF Thrift.
pub(crate) struct Thrift;

impl TripleTermReader for Thrift {
    fn read_triple<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<()> {
        read_statement(&mut CompactReader { rest: bytes }, 3, slots)
    }
}

/// Decodes the terms of a statement with this number of fields into empty slots.
#[inline]
pub(crate) fn read_statement<'a>(
    wire: &mut CompactReader<'a>,
    fields: i16,
    slots: &mut Slots<'a>,
) -> Checked<()> {
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        if (1..=fields).contains(&field) {
            expect(kind, STRUCT, field, "the statement")?;
            let slot = slots.empty_slot(field.unsigned_abs().into())?;
            // Fast path: only an IRI or a label.
            // Gain: 1.5 times (`make bench-gains PATHS=thrift-terms`).
            if FastPath::ThriftTerms.is_on()
                && let [tag @ (0x1c | 0x2c), 0x18, length, rest @ ..] = wire.rest
                && *length < 0x80
                && let Some((text, [0, 0, rest @ ..])) = rest.split_at_checked(*length as usize)
            {
                wire.rest = rest;
                *slot = Some(if *tag == 0x1c {
                    Raw::Iri(text)
                } else {
                    Raw::BlankNode(text)
                });
            } else {
                *slot = Some(read_term(wire)?);
            }
        } else {
            wire.skip_unknown(field, kind)?;
        }
    }
    Ok(())
}

/// Decodes a term.
pub(crate) fn read_term<'a>(wire: &mut CompactReader<'a>) -> Checked<Raw<'a>> {
    let mut term = None;
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        let expected = match field {
            1..=9 | 12 => STRUCT,
            10 => I64,
            11 => DOUBLE,
            _ => {
                wire.skip_unknown(field, kind)?;
                continue;
            }
        };
        expect(kind, expected, field, "the term")?;
        if term.is_some() {
            return Err(ambiguous_error("the term"));
        }
        term = Some(match field {
            1 => Raw::Iri(wire.read_string("the IRI")?),
            2 => Raw::BlankNode(wire.read_string("the blank node")?),
            3 => read_literal(wire)?,
            4 => Raw::Name(name(wire)?),
            5 => read_placeholder(wire, Placeholder::Variable)?,
            6 => read_placeholder(wire, Placeholder::Any)?,
            7 => read_placeholder(wire, Placeholder::Undef)?,
            8 => read_placeholder(wire, Placeholder::Repeat)?,
            9 => {
                let whole = wire.rest;
                wire.skip(STRUCT, MAX_TRIPLES)?;
                Raw::Triple(&whole[..whole.len() - wire.rest.len()])
            }
            10 => Raw::Value(NativeValue::Integer(wire.read_zigzag()?)),
            11 => Raw::Value(NativeValue::Double(f64::from_le_bytes(
                wire.read_eight_bytes()?,
            ))),
            _ => Raw::Value(read_decimal(wire)?),
        });
    }
    term.ok_or_else(|| unset_error("the term"))
}

/// Skips the content of a placeholder, which is irrelevant, and returns the placeholder.
fn read_placeholder<'a>(
    wire: &mut CompactReader<'a>,
    placeholder: Placeholder,
) -> Checked<Raw<'a>> {
    wire.skip(STRUCT, MAX_NESTING)?;
    Ok(Raw::Placeholder(placeholder))
}

#[inline]
fn read_literal<'a>(wire: &mut CompactReader<'a>) -> Checked<Raw<'a>> {
    let mut lexical = None;
    let (mut language, mut direction) = (None, None);
    let (mut datatype, mut datatype_name) = (None, None);
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        match field {
            1 | 2 | 3 | 5 => {
                expect(kind, BINARY, field, "the literal")?;
                let text = wire.read_binary()?;
                match field {
                    1 => lexical = Some(text),
                    2 => language = Some(text).filter(|text| !text.is_empty()), // as in Jena
                    3 => datatype = Some(RawLiteralKind::Datatype(text)),
                    _ => direction = Some(text),
                }
            }
            4 => {
                expect(kind, STRUCT, field, "the literal")?;
                datatype_name = Some(RawLiteralKind::DatatypeName(name(wire)?));
            }
            _ => wire.skip_unknown(field, kind)?,
        }
    }
    let lexical = lexical.ok_or_else(|| unset_error("the lexical form of a literal"))?;
    if datatype.is_some() && datatype_name.is_some() {
        return Err(ambiguous_error("the literal"));
    }
    let kind = match (language, direction, datatype.or(datatype_name)) {
        (None, None, None) => RawLiteralKind::Plain,
        (None, None, Some(datatype)) => datatype,
        (Some(language), None, None) => RawLiteralKind::Language(language),
        (Some(language), Some(direction), None) => RawLiteralKind::Directed(language, direction),
        (None, Some(_), _) => return Err(malformed_error("a base direction without a language")),
        (Some(_), _, Some(_)) => return Err(ambiguous_error("the literal")),
    };
    Ok(Raw::Literal(lexical, kind))
}

#[inline]
fn name<'a>(wire: &mut CompactReader<'a>) -> Checked<PrefixedName<'a>> {
    let [prefix, local] = wire.read_strings("the prefixed name")?;
    Ok(PrefixedName { prefix, local })
}

fn read_decimal(wire: &mut CompactReader<'_>) -> Checked<NativeValue> {
    let (mut value, mut scale) = (None, None);
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        match field {
            1 => {
                expect(kind, I64, field, "the decimal")?;
                value = Some(wire.read_zigzag()?);
            }
            2 => {
                expect(kind, I32, field, "the decimal")?;
                scale = i32::try_from(wire.read_zigzag()?).ok();
            }
            _ => wire.skip_unknown(field, kind)?,
        }
    }
    match (value, scale) {
        (Some(value), Some(scale)) => Ok(NativeValue::Decimal(value, scale)),
        _ => Err(unset_error("the value or scale of a decimal")),
    }
}

/// Checks the type of a field.
///
/// # Errors
/// If the type differs.
#[inline]
pub(crate) fn expect(kind: u8, expected: u8, field: i16, description: &str) -> Checked<()> {
    if kind == expected {
        return Ok(());
    }
    Err(malformed_error(format!(
        "field {field} of {description} has type {kind}, expected {expected}"
    )))
}

/// A cursor over bytes of the compact protocol.
pub(crate) struct CompactReader<'a> {
    pub rest: &'a [u8],
}

impl<'a> CompactReader<'a> {
    /// Returns the next field of a struct and its type; `None` at the end of the struct.
    #[inline]
    pub fn read_field(&mut self, last: &mut i16) -> Checked<Option<(i16, u8)>> {
        let header = self.read_byte()?;
        if header == STOP {
            return Ok(None);
        }
        let kind = header & 0x0f;
        *last = match header >> 4 {
            0 => i16::try_from(self.read_zigzag()?)
                .map_err(|_| malformed_error("a field number exceeds 16 bits"))?,
            delta => last.wrapping_add(i16::from(delta)),
        };
        Ok(Some((*last, kind)))
    }

    #[inline]
    pub fn read_byte(&mut self) -> Checked<u8> {
        match *self.rest {
            [byte, ref rest @ ..] => {
                self.rest = rest;
                Ok(byte)
            }
            [] => Err(truncated_row_error()),
        }
    }

    #[inline]
    fn read_varint(&mut self) -> Checked<u64> {
        if let [byte, rest @ ..] = self.rest
            && *byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        match read_long_varint(self.rest) {
            Varint::Value(value, length) => {
                self.rest = &self.rest[length..];
                Ok(value)
            }
            Varint::Incomplete => Err(truncated_row_error()),
            Varint::TooLong => Err(malformed_error("a varint is longer than 10 bytes")),
        }
    }

    #[inline]
    pub fn read_zigzag(&mut self) -> Checked<i64> {
        Ok(from_zigzag(self.read_varint()?))
    }

    fn read_eight_bytes(&mut self) -> Checked<[u8; 8]> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(truncated_row_error()),
        }
    }

    /// Reads the size of a string in bytes, or the number of elements in a collection.
    #[inline]
    pub fn read_size(&mut self) -> Checked<usize> {
        let size = self.read_varint()?;
        match i32::try_from(size) {
            Ok(size) => Ok(size.unsigned_abs() as usize),
            // 32 bits with the highest bit set.
            Err(_) if u32::try_from(size).is_ok() => Err(malformed_error(format!(
                "a size is negative: {}",
                (size as u32).cast_signed()
            ))),
            Err(_) => Err(malformed_error(format!("a size exceeds 32 bits: {size}"))),
        }
    }

    #[inline]
    fn take(&mut self, length: usize) -> Checked<&'a [u8]> {
        match self.rest.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(truncated_row_error()),
        }
    }

    #[inline]
    pub fn read_binary(&mut self) -> Checked<&'a [u8]> {
        let length = self.read_size()?;
        self.take(length)
    }

    /// Returns the required string in field 1 of a struct.
    pub fn read_string(&mut self, description: &'static str) -> Checked<&'a [u8]> {
        let mut text = None;
        let mut last = 0;
        while let Some((field, kind)) = self.read_field(&mut last)? {
            if field == 1 {
                expect(kind, BINARY, field, description)?;
                text = Some(self.read_binary()?);
            } else {
                self.skip_unknown(field, kind)?;
            }
        }
        text.ok_or_else(|| unset_error(description))
    }

    /// Returns the required strings in fields 1 and 2 of a struct.
    #[inline]
    pub fn read_strings(&mut self, description: &'static str) -> Checked<[&'a [u8]; 2]> {
        let mut texts = [None; 2];
        let mut last = 0;
        while let Some((field, kind)) = self.read_field(&mut last)? {
            let index = usize::try_from(i32::from(field) - 1).ok();
            if let Some(text) = index.and_then(|index| texts.get_mut(index)) {
                expect(kind, BINARY, field, description)?;
                *text = Some(self.read_binary()?);
            } else {
                self.skip_unknown(field, kind)?;
            }
        }
        match texts {
            [Some(first), Some(second)] => Ok([first, second]),
            _ => Err(unset_error(description)),
        }
    }

    /// Skips the value of a field that the format does not define.
    #[cold]
    pub fn skip_unknown(&mut self, field: i16, kind: u8) -> Checked<()> {
        unknown::note(field.unsigned_abs().into());
        self.skip(kind, MAX_NESTING)
    }

    /// Skips a value.
    pub fn skip(&mut self, kind: u8, depth: u32) -> Checked<()> {
        if depth == 0 {
            return Err(limit("a row is nested too deeply"));
        }
        match kind {
            1 | 2 => {}
            BYTE => drop(self.read_byte()?),
            I16 | I32 | I64 => drop(self.read_varint()?),
            DOUBLE => drop(self.read_eight_bytes()?),
            BINARY => drop(self.read_binary()?),
            LIST | SET => {
                let header = self.read_byte()?;
                let count = match header >> 4 {
                    15 => self.read_size()?,
                    count => usize::from(count),
                };
                for _ in 0..count {
                    self.skip_element(header & 0x0f, depth - 1)?;
                }
            }
            MAP => {
                let count = self.read_size()?;
                let kinds = if count == 0 { 0 } else { self.read_byte()? };
                for _ in 0..count {
                    self.skip_element(kinds >> 4, depth - 1)?;
                    self.skip_element(kinds & 0x0f, depth - 1)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.read_field(&mut last)? {
                    self.skip(kind, depth - 1)?;
                }
            }
            UUID => drop(self.take(16)?),
            _ => return Err(malformed_error(format!("type {kind} does not exist"))),
        }
        Ok(())
    }

    /// Skips a value in a collection, in which booleans take one byte.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Checked<()> {
        match kind {
            1 | 2 => self.skip(BYTE, depth),
            kind => self.skip(kind, depth),
        }
    }
}

#[cold]
fn truncated_row_error() -> WireError {
    truncated_error("the log ends inside a row")
}

/// Writes terms of RDF Thrift.
pub(crate) struct ThriftTerms;

/// Appends a string field.
#[inline]
pub(crate) fn put_binary(out: &mut Vec<u8>, header: u8, text: &[u8]) {
    out.push(header);
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// A term is encoded as a field whose number is the previous number plus 1, so that it can be
/// copied into every position.
impl BinaryTermWriter for ThriftTerms {
    #[inline]
    fn write_iri(out: &mut Vec<u8>, text: &[u8]) {
        out.extend_from_slice(&[0x1c, 0x1c]);
        put_binary(out, 0x18, text);
        out.extend_from_slice(&[0, 0]);
    }

    #[inline]
    fn name(out: &mut Vec<u8>, name: PrefixedName<'_>) {
        out.extend_from_slice(&[0x1c, 0x4c]);
        put_binary(out, 0x18, name.prefix);
        put_binary(out, 0x18, name.local);
        out.extend_from_slice(&[0, 0]);
    }

    #[inline]
    fn write_blank_node(out: &mut Vec<u8>, label_prefix: &[u8], label: &[u8]) {
        out.extend_from_slice(&[0x1c, 0x2c, 0x18]);
        put_varint(out, (label_prefix.len() + label.len()) as u64);
        out.extend_from_slice(label_prefix);
        out.extend_from_slice(label);
        out.extend_from_slice(&[0, 0]);
    }

    #[inline]
    fn write_literal(out: &mut Vec<u8>, lexical: &[u8], kind: RawLiteralKind<'_>) {
        out.extend_from_slice(&[0x1c, 0x3c]);
        put_binary(out, 0x18, lexical);
        match kind {
            RawLiteralKind::Plain => {}
            RawLiteralKind::Language(tag) => put_binary(out, 0x18, tag),
            RawLiteralKind::Directed(tag, direction) => {
                put_binary(out, 0x18, tag);
                put_binary(out, 0x38, direction);
            }
            RawLiteralKind::Datatype(iri) => put_binary(out, 0x28, iri),
            RawLiteralKind::DatatypeName(name) => {
                out.push(0x3c);
                put_binary(out, 0x18, name.prefix);
                put_binary(out, 0x18, name.local);
                out.push(0);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }

    fn write_value(out: &mut Vec<u8>, value: NativeValue) {
        out.push(0x1c);
        match value {
            NativeValue::Integer(number) => {
                out.push(0xa6);
                put_varint(out, to_zigzag(number));
            }
            NativeValue::Double(number) => {
                out.push(0xb7);
                out.extend_from_slice(&number.to_le_bytes());
            }
            NativeValue::Decimal(number, scale) => {
                out.extend_from_slice(&[0xcc, 0x16]);
                put_varint(out, to_zigzag(number));
                out.push(0x15);
                put_varint(out, to_zigzag(i64::from(scale)));
                out.push(0);
            }
        }
        out.push(0);
    }

    fn write_triple(terms: &mut Vec<u8>, parts: [TermRange; 3]) {
        terms.extend_from_slice(&[0x1c, 0x9c]);
        for part in parts {
            terms.extend_from_within(part.range());
        }
        terms.extend_from_slice(&[0, 0]);
    }
}
