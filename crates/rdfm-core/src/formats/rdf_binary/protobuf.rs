//! Decodes and encodes rows of RDF Protobuf (`proto/rdf-binary.proto`).
//!
//! - In: the complete bytes of one row, or a row to encode.
//! - Out: [`BinaryRow`], or an encoded row with fields in numeric order, like the output of
//!   protobuf's own writers.
//! - Law: unknown fields are skipped. A field with the wrong wire type is an error, as is a
//!   repeated field that protobuf would merge.

use super::encode::RowWriter;
use super::options::Framing;
use super::row::BinaryRow;
use crate::codec::start::Start;
use crate::syntax::rdf_binary::encode::TermRange;
use crate::syntax::rdf_binary::model::{Slots, ambiguous_error, unset_error};
use crate::syntax::rdf_binary::protobuf::{
    POSITIONS, ProtobufTerms, QUAD_FIELDS, TRIPLE_FIELDS, field_size, put_length, put_text,
    read_statement, string, strings, text_size,
};
use crate::syntax::wire::{Checked, Wire, put_varint};

const ROW_FIELDS: u32 = 0b1_1110;

/// Tags of written fields.
pub(super) const ROW: u8 = 0x0a;
const PREFIX: u8 = 0x0a;
const TRIPLE: u8 = 0x12;
const QUAD: u8 = 0x1a;
const BASE: u8 = 0x22;
/// Tag of the subject in a triple.
const SUBJECT: u8 = 0x0a;

/// Decodes a row. The terms of a statement go into empty slots.
#[inline]
pub(super) fn read_row<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<BinaryRow<'a>> {
    let mut wire = Wire::new(bytes);
    let mut row = None;
    while !wire.is_done() {
        let (field, payload) = wire.read_field(ROW_FIELDS, "the row")?;
        if field == 0 {
            continue;
        }
        if row.is_some() {
            return Err(ambiguous_error("the row"));
        }
        row = Some(match field {
            1 => {
                let [name, iri] = strings(payload, "the prefix declaration")?;
                BinaryRow::Prefix(name, iri)
            }
            2 => {
                read_statement(payload, TRIPLE_FIELDS, slots)?;
                BinaryRow::Statement
            }
            3 => {
                read_statement(payload, QUAD_FIELDS, slots)?;
                BinaryRow::Statement
            }
            _ => BinaryRow::Base(string(payload, "the base")?),
        });
    }
    row.ok_or_else(|| unset_error("the row"))
}

/// Returns the framing that the first bytes of a log show; `None` if more bytes are needed.
///
/// A log without a length prefix begins with the field of a row or a triple. If its first byte were
/// the length 10, the third byte would be the length of a row, or of the content of a row, in these
/// 10 bytes. Without a length prefix, it is the tag of a row or of a subject, and all these tags
/// are larger than 8. So no log has both framings.
pub(super) fn detect_framing(first: &[u8]) -> Option<Framing> {
    let mut rest = first;
    if *rest.split_off_first()? != ROW {
        return detect_prefixed_framing(first);
    }
    let length = take_varint(&mut rest)?;
    let tag = *rest.split_off_first()?;
    if !matches!(tag, PREFIX | TRIPLE | QUAD | BASE) {
        return detect_prefixed_framing(first);
    }
    let before = rest.len();
    let inner = take_varint(&mut rest)?;
    let end = inner.saturating_add(1 + (before - rest.len()) as u64);
    if end == length {
        return Some(Framing::Stream);
    }
    if tag == SUBJECT
        && inner > 0
        && end < length
        && matches!(*rest.first()?, 0x0a | 0x12 | 0x1a | 0x22 | 0x32)
    {
        return Some(Framing::Graph);
    }
    detect_prefixed_framing(first)
}

/// Like [`detect_framing`], for logs that begin with a length.
fn detect_prefixed_framing(first: &[u8]) -> Option<Framing> {
    let messages = looks_like_messages(first)?;
    Some(if messages {
        Framing::Messages
    } else {
        Framing::Rows
    })
}

/// Decodes a triple of an `RDF_Graph`.
pub(super) fn read_graph_triple<'a>(
    bytes: &'a [u8],
    slots: &mut Slots<'a>,
) -> Checked<BinaryRow<'a>> {
    read_statement(bytes, TRIPLE_FIELDS, slots)?;
    Ok(BinaryRow::Statement)
}

/// Whether a log begins with messages, not rows; `None` if more bytes are needed.
///
/// Both begin with a length. In a message, the tag of a row follows. In a row, the tag of its kind
/// follows. For a prefix declaration, both tags are the same byte. The next bytes differ: after
/// three lengths, a message contains another tag where a prefix declaration contains text.
fn looks_like_messages(first: &[u8]) -> Option<bool> {
    let mut rest = first;
    if take_varint(&mut rest)? == 0 {
        return Some(true);
    }
    if *rest.split_off_first()? != ROW {
        return Some(false);
    }
    let before = take_varint(&mut rest)?;
    if before == 0 {
        return Some(false);
    }
    match *rest.split_off_first()? {
        0x0a | 0x12 => {}
        tag => return Some(matches!(tag, 0x1a | 0x22)),
    }
    match take_varint(&mut rest)? {
        0 => Some(before == 2),
        _ => Some(*rest.first()? < 0x20),
    }
}

/// Whether the first bytes of a log of rows look like RDF Protobuf. A row is recognized by a field
/// that fills the row.
pub(super) fn start(first: &[u8]) -> Start {
    let mut rest = first;
    let Some(length) = take_varint(&mut rest) else {
        return Start::Unclear;
    };
    // Limited to the row, because later bytes may not have arrived.
    let row = rest.get(..length as usize).unwrap_or(rest);
    match *row {
        [] => Start::Unclear,
        [tag, ref rest @ ..] if POSITIONS.contains(&tag) => {
            let mut payload = rest;
            match take_varint(&mut payload) {
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

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    match crate::syntax::wire::read_long_varint(rest) {
        crate::syntax::wire::Varint::Value(value, length) => {
            *rest = &rest[length..];
            Some(value)
        }
        crate::syntax::wire::Varint::Incomplete => None,
        // Not a valid length: both framings report the error.
        crate::syntax::wire::Varint::TooLong => Some(0),
    }
}

/// Writes RDF Protobuf rows with their lengths.
pub(super) struct ProtobufRows {
    /// Whether rows are fields of an `RDF_Stream`.
    pub in_message: bool,
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

impl RowWriter for ProtobufRows {
    type Terms = ProtobufTerms;

    #[inline]
    fn write_statement(&self, terms: &[u8], parts: &[TermRange], out: &mut Vec<u8>) {
        let size = parts.iter().map(|part| 1 + part.length()).sum();
        let tag = if parts.len() == 3 { TRIPLE } else { QUAD };
        self.begin_row(out, tag, size);
        for (tag, part) in POSITIONS.into_iter().zip(parts) {
            out.push(tag);
            out.extend_from_slice(&terms[part.range()]);
        }
    }

    fn write_prefix(&self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) {
        self.begin_row(out, PREFIX, text_size(name.len()) + text_size(iri.len()));
        put_text(out, 0x0a, name);
        put_text(out, 0x12, iri);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_distinguish_messages_and_rows() {
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
            rows.write_prefix(name.as_bytes(), iri.as_bytes(), &mut prefix);
            assert_eq!(looks_like_messages(&prefix), Some(false), "{prefix:x?}");
            let rows = ProtobufRows { in_message: true };
            rows.write_prefix(name.as_bytes(), iri.as_bytes(), &mut message);
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
