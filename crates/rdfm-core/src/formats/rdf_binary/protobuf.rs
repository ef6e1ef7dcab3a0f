//! Rows of RDF Protobuf to and from bytes (`proto/rdf-binary.proto`).
//!
//! - In: the bytes of one row, wholly there.
//! - Out: [`Row`]; and rows, with fields in the order of their numbers, as protobuf's own writers have them.
//! - Law: unknown fields are skipped; a field of the wrong wire type, or one that is repeated where
//!   protobuf would merge, is an error.

use super::encode::{Place, RowWriter};
use super::model::{Kind, Name, Raw, Row, Slots, Value, ambiguous, no_data, unset};
use super::terms::RowReader;
use crate::codec::start::Start;
use crate::syntax::wire::{
    Checked, FIXED64, LENGTH, VARINT, Wire, from_zigzag, malformed, put_bytes, put_varint,
    to_zigzag, varint_size,
};

const ROW_FIELDS: u32 = 0b1_1110;
const TRIPLE_FIELDS: u32 = 0b1110;
const QUAD_FIELDS: u32 = 0b1_1110;

/// Tags of the fields that are written.
pub(super) const ROW: u8 = 0x0a;
const PREFIX: u8 = 0x0a;
const TRIPLE: u8 = 0x12;
const QUAD: u8 = 0x1a;
/// Of the terms of a statement, and of the kinds of a row.
const POSITIONS: [u8; 4] = [0x0a, 0x12, 0x1a, 0x22];
const IRI: u8 = 0x0a;
const BNODE: u8 = 0x12;
const LITERAL: u8 = 0x1a;
const NAME: u8 = 0x22;
const TRIPLE_TERM: u8 = 0x32;

/// Reads RDF Protobuf.
pub(super) struct Protobuf;

impl RowReader for Protobuf {
    #[inline]
    fn triple<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<()> {
        statement(bytes, TRIPLE_FIELDS, slots)
    }
}

/// A row; of a statement the terms go into slots, which must be empty.
#[inline]
pub(super) fn row<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<Row<'a>> {
    let mut wire = Wire::new(bytes);
    let mut row = None;
    while !wire.is_done() {
        let (field, payload) = wire.field(ROW_FIELDS, "the row")?;
        if field == 0 {
            continue;
        }
        if row.is_some() {
            return Err(ambiguous("the row"));
        }
        row = Some(match field {
            1 => {
                let [name, iri] = strings(payload, "the prefix declaration")?;
                Row::Prefix(name, iri)
            }
            2 => {
                statement(payload, TRIPLE_FIELDS, slots)?;
                Row::Statement
            }
            3 => {
                statement(payload, QUAD_FIELDS, slots)?;
                Row::Statement
            }
            _ => Row::Base(string(payload, "the base")?),
        });
    }
    row.ok_or_else(|| unset("the row"))
}

#[inline]
fn statement<'a>(bytes: &'a [u8], fields: u32, slots: &mut Slots<'a>) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.field(fields, "the statement")?;
        if field != 0 {
            let slot = slots.slot(field)?;
            match *payload {
                // An IRI or a label and nothing else.
                [tag @ (IRI | BNODE), outer, 0x0a, inner, ref text @ ..]
                    if inner < 0x7e && text.len() == inner as usize && outer == inner + 2 =>
                {
                    *slot = Some(if tag == IRI {
                        Raw::Iri(text)
                    } else {
                        Raw::Bnode(text)
                    });
                }
                _ => *slot = Some(term(payload)?),
            }
        }
    }
    Ok(())
}

fn term(bytes: &[u8]) -> Checked<Raw<'_>> {
    let mut wire = Wire::new(bytes);
    let mut term = None;
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        let expected = match field {
            1..=9 | 22 => LENGTH,
            20 => VARINT,
            21 => FIXED64,
            _ => {
                wire.skip(field, kind)?;
                continue;
            }
        };
        Wire::expect(kind, expected, field, "the term")?;
        if term.is_some() {
            return Err(ambiguous("the term"));
        }
        term = Some(match field {
            20 => Raw::Value(Value::Integer(from_zigzag(wire.varint()?))),
            21 => Raw::Value(Value::Double(f64::from_le_bytes(wire.fixed64()?))),
            _ => message_term(field, wire.bytes()?)?,
        });
    }
    term.ok_or_else(|| unset("the term"))
}

/// A term whose field is a message.
#[inline]
fn message_term(field: u32, payload: &[u8]) -> Checked<Raw<'_>> {
    Ok(match field {
        1 => Raw::Iri(string(payload, "the IRI")?),
        2 => Raw::Bnode(string(payload, "the blank node")?),
        3 => literal(payload)?,
        4 => Raw::Name(name(payload)?),
        5 => return Err(no_data("a variable")),
        6 => Raw::Triple(payload),
        7 => return Err(no_data("ANY")),
        8 => return Err(no_data("UNDEF")),
        9 => return Err(no_data("REPEAT")),
        _ => Raw::Value(decimal(payload)?),
    })
}

#[inline]
fn literal(bytes: &[u8]) -> Checked<Raw<'_>> {
    let mut lexical = &[][..];
    let mut literal = None;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        let expected = match field {
            1..=5 => LENGTH,
            9 => VARINT,
            _ => {
                wire.skip(field, kind)?;
                continue;
            }
        };
        Wire::expect(kind, expected, field, "the literal")?;
        if field == 1 {
            lexical = wire.bytes()?;
            continue;
        }
        if literal.is_some() {
            return Err(ambiguous("the literal"));
        }
        literal = Some(match field {
            2 => match wire.bytes()? {
                [] => Kind::Plain, // as Jena reads it
                language => Kind::Language(language),
            },
            3 => Kind::Datatype(wire.bytes()?),
            4 => Kind::DatatypeName(name(wire.bytes()?)?),
            5 => directed(wire.bytes()?)?,
            _ => {
                wire.varint()?;
                Kind::Plain
            }
        });
    }
    let kind = literal.ok_or_else(|| unset("the kind of a literal"))?;
    Ok(Raw::Literal(lexical, kind))
}

/// Language and direction, as in `he--rtl`.
fn directed(both: &[u8]) -> Checked<Kind<'_>> {
    let direction = both.len().saturating_sub(3);
    match both.split_at(direction) {
        (language, direction) if language.ends_with(b"--") => {
            Ok(Kind::Directed(&language[..language.len() - 2], direction))
        }
        _ => Err(malformed(
            "a language with a base direction ends in --ltr or --rtl, and this one does not",
        )),
    }
}

#[inline]
fn name(bytes: &[u8]) -> Checked<Name<'_>> {
    let [prefix, local] = strings(bytes, "the prefixed name")?;
    Ok(Name { prefix, local })
}

fn decimal(bytes: &[u8]) -> Checked<Value> {
    let (mut value, mut scale) = (0, 0);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.tag()? {
            (1, VARINT) => value = from_zigzag(wire.varint()?),
            (2, VARINT) => scale = from_zigzag(u64::from(wire.varint32()?)) as i32,
            (field @ 1..=2, kind) => Wire::expect(kind, VARINT, field, "the decimal")?,
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok(Value::Decimal(value, scale))
}

/// The string that is field 1.
#[inline]
fn string<'a>(bytes: &'a [u8], message: &'static str) -> Checked<&'a [u8]> {
    let mut text = &[][..];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        if let (1, payload) = wire.field(0b10, message)? {
            text = payload;
        }
    }
    Ok(text)
}

/// The strings that are fields 1 and 2.
#[inline]
fn strings<'a>(bytes: &'a [u8], message: &'static str) -> Checked<[&'a [u8]; 2]> {
    let mut texts = [&[][..]; 2];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.field(0b110, message)? {
            (0, _) => {}
            (field, payload) => texts[field - 1] = payload,
        }
    }
    Ok(texts)
}

/// Whether the first bytes of a log are of messages, not of rows; `None` where more bytes are needed.
///
/// Both begin with a length. A message then has the tag of a row, a row that of its kind; the tag of a
/// prefix declaration is the same byte. What follows tells: in a message, three lengths later, comes
/// another tag, where the prefix declaration has text.
pub(super) fn looks_like_messages(first: &[u8]) -> Option<bool> {
    let mut rest = first;
    if varint(&mut rest)? == 0 {
        return Some(true);
    }
    if *rest.split_off_first()? != ROW {
        return Some(false);
    }
    let before = varint(&mut rest)?;
    if before == 0 {
        return Some(false);
    }
    match *rest.split_off_first()? {
        0x0a | 0x12 => {}
        tag => return Some(matches!(tag, 0x1a | 0x22)),
    }
    match varint(&mut rest)? {
        0 => Some(before == 2),
        _ => Some(*rest.first()? < 0x20),
    }
}

/// What the first bytes of a log of rows look like: a row whose field fills it.
pub(super) fn start(first: &[u8]) -> Start {
    let mut rest = first;
    let Some(length) = varint(&mut rest) else {
        return Start::Unclear;
    };
    // No further than the row, since more may be there or not.
    let row = rest.get(..length as usize).unwrap_or(rest);
    match *row {
        [] => Start::Unclear,
        [tag, ref rest @ ..] if POSITIONS.contains(&tag) => {
            let mut payload = rest;
            match varint(&mut payload) {
                Some(inner)
                    if inner.checked_add((1 + rest.len() - payload.len()) as u64)
                        == Some(length) =>
                {
                    Start::Same
                }
                _ => Start::Unclear,
            }
        }
        _ => Start::Other,
    }
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    match crate::syntax::wire::long_varint(rest) {
        crate::syntax::wire::Varint::Value(value, length) => {
            *rest = &rest[length..];
            Some(value)
        }
        crate::syntax::wire::Varint::Incomplete => None,
        // No length: whichever it is taken for says what is wrong.
        crate::syntax::wire::Varint::TooLong => Some(0),
    }
}

/// Writes RDF Protobuf rows, each behind its length.
pub(super) struct ProtobufRows {
    /// As fields of an `RDF_Stream`.
    pub in_message: bool,
}

/// The bytes of a string field, which proto3 leaves out where it is empty.
#[inline]
const fn text_size(length: usize) -> usize {
    if length == 0 { 0 } else { field_size(length) }
}

/// The bytes of a length-delimited field.
#[inline]
const fn field_size(length: usize) -> usize {
    1 + varint_size(length as u64) + length
}

#[inline]
fn put_text(out: &mut Vec<u8>, tag: u8, text: &[u8]) {
    if !text.is_empty() {
        put_bytes(out, tag, text);
    }
}

#[inline]
fn put_length(out: &mut Vec<u8>, tag: u8, length: usize) {
    out.push(tag);
    put_varint(out, length as u64);
}

impl ProtobufRows {
    #[inline]
    fn begin_row(&self, out: &mut Vec<u8>, tag: u8, length: usize) {
        if self.in_message {
            out.push(ROW);
        }
        put_varint(out, field_size(length) as u64);
        put_length(out, tag, length);
    }
}

/// A term is written as the length and the bytes of its message.
impl RowWriter for ProtobufRows {
    #[inline]
    fn iri(out: &mut Vec<u8>, text: &[u8]) {
        let size = text_size(text.len());
        put_varint(out, field_size(size) as u64);
        put_length(out, IRI, size);
        put_text(out, 0x0a, text);
    }

    #[inline]
    fn name(out: &mut Vec<u8>, name: Name<'_>) {
        let size = text_size(name.prefix.len()) + text_size(name.local.len());
        put_varint(out, field_size(size) as u64);
        put_length(out, NAME, size);
        put_text(out, 0x0a, name.prefix);
        put_text(out, 0x12, name.local);
    }

    #[inline]
    fn bnode(out: &mut Vec<u8>, apart: &[u8], label: &[u8]) {
        let length = apart.len() + label.len();
        let size = text_size(length);
        put_varint(out, field_size(size) as u64);
        put_length(out, BNODE, size);
        if length > 0 {
            put_length(out, 0x0a, length);
            out.extend_from_slice(apart);
            out.extend_from_slice(label);
        }
    }

    #[inline]
    fn literal(out: &mut Vec<u8>, lexical: &[u8], kind: Kind<'_>) {
        let name_size = |name: Name<'_>| text_size(name.prefix.len()) + text_size(name.local.len());
        let kind_size = match kind {
            Kind::Plain => 2,
            Kind::Language(text) | Kind::Datatype(text) => field_size(text.len()),
            Kind::Directed(language, direction) => field_size(language.len() + 2 + direction.len()),
            Kind::DatatypeName(name) => field_size(name_size(name)),
        };
        let size = text_size(lexical.len()) + kind_size;
        put_varint(out, field_size(size) as u64);
        put_length(out, LITERAL, size);
        put_text(out, 0x0a, lexical);
        match kind {
            Kind::Plain => out.extend_from_slice(&[0x48, 1]),
            Kind::Language(tag) => put_bytes(out, 0x12, tag),
            Kind::Datatype(iri) => put_bytes(out, 0x1a, iri),
            Kind::Directed(language, direction) => {
                put_length(out, 0x2a, language.len() + 2 + direction.len());
                out.extend_from_slice(language);
                out.extend_from_slice(b"--");
                out.extend_from_slice(direction);
            }
            Kind::DatatypeName(name) => {
                put_length(out, 0x22, name_size(name));
                put_text(out, 0x0a, name.prefix);
                put_text(out, 0x12, name.local);
            }
        }
    }

    fn value(out: &mut Vec<u8>, value: Value) {
        match value {
            Value::Integer(number) => {
                let number = to_zigzag(number);
                put_varint(out, 2 + varint_size(number) as u64);
                out.extend_from_slice(&[0xa0, 1]);
                put_varint(out, number);
            }
            Value::Double(number) => {
                out.extend_from_slice(&[10, 0xa9, 1]);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Value::Decimal(number, scale) => {
                let (number, scale) = (to_zigzag(number), to_zigzag(i64::from(scale)));
                let size = |value| {
                    if value == 0 {
                        0
                    } else {
                        1 + varint_size(value)
                    }
                };
                let length = size(number) + size(scale);
                put_varint(out, (2 + varint_size(length as u64) + length) as u64);
                out.extend_from_slice(&[0xb2, 1]);
                put_varint(out, length as u64);
                for (tag, value) in [(0x08, number), (0x10, scale)] {
                    if value != 0 {
                        out.push(tag);
                        put_varint(out, value);
                    }
                }
            }
        }
    }

    fn triple(terms: &mut Vec<u8>, parts: [Place; 3]) {
        let size = parts.iter().map(|part| 1 + part.length()).sum();
        put_varint(terms, field_size(size) as u64);
        put_length(terms, TRIPLE_TERM, size);
        for (tag, part) in POSITIONS.into_iter().zip(parts) {
            terms.push(tag);
            terms.extend_from_within(part.range());
        }
    }

    #[inline]
    fn statement(&self, terms: &[u8], parts: &[Place], out: &mut Vec<u8>) {
        let size = parts.iter().map(|part| 1 + part.length()).sum();
        let tag = if parts.len() == 3 { TRIPLE } else { QUAD };
        self.begin_row(out, tag, size);
        for (tag, part) in POSITIONS.into_iter().zip(parts) {
            out.push(tag);
            out.extend_from_slice(&terms[part.range()]);
        }
    }

    fn prefix(&self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) {
        self.begin_row(out, PREFIX, text_size(name.len()) + text_size(iri.len()));
        put_text(out, 0x0a, name);
        put_text(out, 0x12, iri);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_messages_from_rows() {
        let mut prefix = Vec::new();
        let mut message = Vec::new();
        for (name, iri) in [
            ("ex", "http://ex/"),
            ("", "http://ex/"),
            ("ex", ""),
            ("", ""),
        ] {
            prefix.clear();
            message.clear();
            let rows = ProtobufRows { in_message: false };
            rows.prefix(name.as_bytes(), iri.as_bytes(), &mut prefix);
            assert_eq!(looks_like_messages(&prefix), Some(false), "{prefix:x?}");
            let rows = ProtobufRows { in_message: true };
            rows.prefix(name.as_bytes(), iri.as_bytes(), &mut message);
            message.insert(0, message.len() as u8);
            assert_eq!(looks_like_messages(&message), Some(true), "{message:x?}");
        }
        // Triple, quad and base.
        assert_eq!(looks_like_messages(&[0x50, 0x12]), Some(false));
        assert_eq!(looks_like_messages(&[0x50, 0x1a]), Some(false));
        assert_eq!(looks_like_messages(&[0x50, 0x22]), Some(false));
        assert_eq!(looks_like_messages(&[0x50, 0x0a, 0x4e, 0x1a]), Some(true));
        let triple = [0x50, 0x0a, 0x4e, 0x12, 0x4c, 0x0a];
        assert_eq!(looks_like_messages(&triple), Some(true));
        for end in 0..triple.len() {
            assert_eq!(looks_like_messages(&triple[..end]), None);
        }
        assert_eq!(looks_like_messages(&[0]), Some(true));
    }
}
