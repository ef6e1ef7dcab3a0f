//! Decodes and encodes terms of RDF Protobuf (`proto/rdf-binary.proto`).
//!
//! - In: the complete bytes of one term or statement; or terms.
//! - Out: [`Raw`] terms; or encoded terms, with fields in the order of their numbers, like the
//!   output of protobuf's own writers.
//! - Law: unknown fields are skipped. A field with the wrong wire type is an error, as is a
//!   repeated field whose values protobuf would merge.

use super::encode::{BinaryTermWriter, TermRange};
use super::model::{
    NativeValue, Placeholder, PrefixedName, Raw, RawLiteralKind, Slots, ambiguous_error,
    unset_error,
};
use super::terms::TripleTermReader;
use crate::model::fast_path::FastPath;
use crate::syntax::wire::{
    Checked, FIXED64, LENGTH, VARINT, Wire, from_zigzag, malformed_error, put_bytes, put_varint,
    to_zigzag, varint_size,
};

/// Bit sets of the fields of a statement, without and with a graph.
pub(crate) const TRIPLE_FIELDS: u32 = 0b1110;
pub(crate) const QUAD_FIELDS: u32 = 0b1_1110;

/// Tags of the terms of a statement.
pub(crate) const POSITIONS: [u8; 4] = [0x0a, 0x12, 0x1a, 0x22];
/// Tags of the kinds of terms.
const IRI: u8 = 0x0a;
const BNODE: u8 = 0x12;
const LITERAL: u8 = 0x1a;
const NAME: u8 = 0x22;
const TRIPLE_TERM: u8 = 0x32;

/// Reads RDF Protobuf.
pub(crate) struct Protobuf;

impl TripleTermReader for Protobuf {
    #[inline]
    fn read_triple<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<()> {
        read_statement(bytes, TRIPLE_FIELDS, slots)
    }
}

/// Decodes the terms of a statement into empty slots.
#[inline]
pub(crate) fn read_statement<'a>(
    bytes: &'a [u8],
    fields: u32,
    slots: &mut Slots<'a>,
) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.read_field(fields, "the statement")?;
        if field != 0 {
            let slot = slots.empty_slot(field)?;
            match *payload {
                // Fast path: only an IRI or a label.
                // Gain: 1.1 to 1.2 times (`make bench-gains PATHS=protobuf-terms`).
                [tag @ (IRI | BNODE), outer, 0x0a, inner, ref text @ ..]
                    if FastPath::ProtobufTerms.is_on()
                        && inner < 0x7e
                        && text.len() == inner as usize
                        && outer == inner + 2 =>
                {
                    *slot = Some(if tag == IRI {
                        Raw::Iri(text)
                    } else {
                        Raw::BlankNode(text)
                    });
                }
                _ => *slot = Some(read_term(payload)?),
            }
        }
    }
    Ok(())
}

/// Decodes a term.
pub(crate) fn read_term(bytes: &[u8]) -> Checked<Raw<'_>> {
    let mut wire = Wire::new(bytes);
    let mut term = None;
    while !wire.is_done() {
        let (field, kind) = wire.read_tag()?;
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
            return Err(ambiguous_error("the term"));
        }
        term = Some(match field {
            20 => Raw::Value(NativeValue::Integer(from_zigzag(wire.read_varint()?))),
            21 => Raw::Value(NativeValue::Double(f64::from_le_bytes(
                wire.read_fixed64()?,
            ))),
            _ => read_message_term(field, wire.read_bytes()?)?,
        });
    }
    term.ok_or_else(|| unset_error("the term"))
}

/// Decodes a term whose field is a message.
#[inline]
fn read_message_term(field: u32, payload: &[u8]) -> Checked<Raw<'_>> {
    Ok(match field {
        1 => Raw::Iri(string(payload, "the IRI")?),
        2 => Raw::BlankNode(string(payload, "the blank node")?),
        3 => read_literal(payload)?,
        4 => Raw::Name(name(payload)?),
        5 => Raw::Placeholder(Placeholder::Variable),
        6 => Raw::Triple(payload),
        7 => Raw::Placeholder(Placeholder::Any),
        8 => Raw::Placeholder(Placeholder::Undef),
        9 => Raw::Placeholder(Placeholder::Repeat),
        _ => Raw::Value(decimal(payload)?),
    })
}

#[inline]
fn read_literal(bytes: &[u8]) -> Checked<Raw<'_>> {
    let mut lexical = &[][..];
    let mut literal = None;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.read_tag()?;
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
            lexical = wire.read_bytes()?;
            continue;
        }
        if literal.is_some() {
            return Err(ambiguous_error("the literal"));
        }
        literal = Some(match field {
            2 => match wire.read_bytes()? {
                [] => RawLiteralKind::Plain, // as in Jena
                language => RawLiteralKind::Language(language),
            },
            3 => RawLiteralKind::Datatype(wire.read_bytes()?),
            4 => RawLiteralKind::DatatypeName(name(wire.read_bytes()?)?),
            5 => split_directed_tag(wire.read_bytes()?)?,
            _ => {
                wire.read_varint()?;
                RawLiteralKind::Plain
            }
        });
    }
    let kind = literal.ok_or_else(|| unset_error("the kind of a literal"))?;
    Ok(Raw::Literal(lexical, kind))
}

/// Splits a language and direction such as `he--rtl`.
fn split_directed_tag(tag: &[u8]) -> Checked<RawLiteralKind<'_>> {
    let direction = tag.len().saturating_sub(3);
    match tag.split_at(direction) {
        (b"--", _) => Err(malformed_error("a base direction without a language")),
        (language, direction) if language.ends_with(b"--") => Ok(RawLiteralKind::Directed(
            &language[..language.len() - 2],
            direction,
        )),
        _ => Err(malformed_error(
            "expected a language with a base direction that ends in --ltr or --rtl",
        )),
    }
}

#[inline]
fn name(bytes: &[u8]) -> Checked<PrefixedName<'_>> {
    let [prefix, local] = strings(bytes, "the prefixed name")?;
    Ok(PrefixedName { prefix, local })
}

fn decimal(bytes: &[u8]) -> Checked<NativeValue> {
    let (mut value, mut scale) = (0, 0);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_tag()? {
            (1, VARINT) => value = from_zigzag(wire.read_varint()?),
            (2, VARINT) => scale = from_zigzag(u64::from(wire.read_varint32()?)) as i32,
            (field @ 1..=2, kind) => Wire::expect(kind, VARINT, field, "the decimal")?,
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok(NativeValue::Decimal(value, scale))
}

/// Returns the string in field 1.
#[inline]
pub(crate) fn string<'a>(bytes: &'a [u8], message: &'static str) -> Checked<&'a [u8]> {
    let mut text = &[][..];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        if let (1, payload) = wire.read_field(0b10, message)? {
            text = payload;
        }
    }
    Ok(text)
}

/// Returns the strings in fields 1 and 2.
#[inline]
pub(crate) fn strings<'a>(bytes: &'a [u8], message: &'static str) -> Checked<[&'a [u8]; 2]> {
    let mut texts = [&[][..]; 2];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_field(0b110, message)? {
            (0, _) => {}
            (field, payload) => texts[field - 1] = payload,
        }
    }
    Ok(texts)
}

/// Encoded size of a string field, which proto3 omits if it is empty.
#[inline]
pub(crate) const fn text_size(length: usize) -> usize {
    if length == 0 { 0 } else { field_size(length) }
}

/// Encoded size of a length-delimited field.
#[inline]
pub(crate) const fn field_size(length: usize) -> usize {
    1 + varint_size(length as u64) + length
}

/// Appends a string field, unless it is empty.
#[inline]
pub(crate) fn put_text(out: &mut Vec<u8>, tag: u8, text: &[u8]) {
    if !text.is_empty() {
        put_bytes(out, tag, text);
    }
}

/// Appends the tag and the length of a field.
#[inline]
pub(crate) fn put_length(out: &mut Vec<u8>, tag: u8, length: usize) {
    out.push(tag);
    put_varint(out, length as u64);
}

/// Writes terms of RDF Protobuf.
pub(crate) struct ProtobufTerms;

/// A term is encoded as the length and the bytes of its message.
impl BinaryTermWriter for ProtobufTerms {
    #[inline]
    fn write_iri(out: &mut Vec<u8>, text: &[u8]) {
        let size = text_size(text.len());
        put_varint(out, field_size(size) as u64);
        put_length(out, IRI, size);
        put_text(out, 0x0a, text);
    }

    #[inline]
    fn name(out: &mut Vec<u8>, name: PrefixedName<'_>) {
        let size = text_size(name.prefix.len()) + text_size(name.local.len());
        put_varint(out, field_size(size) as u64);
        put_length(out, NAME, size);
        put_text(out, 0x0a, name.prefix);
        put_text(out, 0x12, name.local);
    }

    #[inline]
    fn write_blank_node(out: &mut Vec<u8>, label_prefix: &[u8], label: &[u8]) {
        let length = label_prefix.len() + label.len();
        let size = text_size(length);
        put_varint(out, field_size(size) as u64);
        put_length(out, BNODE, size);
        if length > 0 {
            put_length(out, 0x0a, length);
            out.extend_from_slice(label_prefix);
            out.extend_from_slice(label);
        }
    }

    #[inline]
    fn write_literal(out: &mut Vec<u8>, lexical: &[u8], kind: RawLiteralKind<'_>) {
        let name_size =
            |name: PrefixedName<'_>| text_size(name.prefix.len()) + text_size(name.local.len());
        let kind_size = match kind {
            RawLiteralKind::Plain => 2,
            RawLiteralKind::Language(text) | RawLiteralKind::Datatype(text) => {
                field_size(text.len())
            }
            RawLiteralKind::Directed(language, direction) => {
                field_size(language.len() + 2 + direction.len())
            }
            RawLiteralKind::DatatypeName(name) => field_size(name_size(name)),
        };
        let size = text_size(lexical.len()) + kind_size;
        put_varint(out, field_size(size) as u64);
        put_length(out, LITERAL, size);
        put_text(out, 0x0a, lexical);
        match kind {
            RawLiteralKind::Plain => out.extend_from_slice(&[0x48, 1]),
            RawLiteralKind::Language(tag) => put_bytes(out, 0x12, tag),
            RawLiteralKind::Datatype(iri) => put_bytes(out, 0x1a, iri),
            RawLiteralKind::Directed(language, direction) => {
                put_length(out, 0x2a, language.len() + 2 + direction.len());
                out.extend_from_slice(language);
                out.extend_from_slice(b"--");
                out.extend_from_slice(direction);
            }
            RawLiteralKind::DatatypeName(name) => {
                put_length(out, 0x22, name_size(name));
                put_text(out, 0x0a, name.prefix);
                put_text(out, 0x12, name.local);
            }
        }
    }

    fn write_value(out: &mut Vec<u8>, value: NativeValue) {
        match value {
            NativeValue::Integer(number) => {
                let number = to_zigzag(number);
                put_varint(out, 2 + varint_size(number) as u64);
                out.extend_from_slice(&[0xa0, 1]);
                put_varint(out, number);
            }
            NativeValue::Double(number) => {
                out.extend_from_slice(&[10, 0xa9, 1]);
                out.extend_from_slice(&number.to_le_bytes());
            }
            NativeValue::Decimal(number, scale) => {
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

    fn write_triple(terms: &mut Vec<u8>, parts: [TermRange; 3]) {
        let size = parts.iter().map(|part| 1 + part.length()).sum();
        put_varint(terms, field_size(size) as u64);
        put_length(terms, TRIPLE_TERM, size);
        for (tag, part) in POSITIONS.into_iter().zip(parts) {
            terms.push(tag);
            terms.extend_from_within(part.range());
        }
    }
}
