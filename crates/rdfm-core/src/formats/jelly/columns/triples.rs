//! Reads IRIs, literals and triple terms that are messages of their own.
//!
//! - In: the ranges of a message. There are several if a field occurs more than once, because
//!   protobuf merges them.
//! - Out: ids and ranges; for a triple term its three parts.
//! - Cost: an allocation per part of a triple term.
//! - Law: a triple term has a subject, a predicate and an object. Of a `oneof`, the last field
//!   applies.

use std::ops::Range;

use super::fields::{Fields, Located, fault, unknown_field};

/// The ranges of a message that protobuf merges.
pub(super) type Pieces = Vec<Range<usize>>;

/// Fields of a triple term, of which the strings are not merged.
pub(super) const S_IRI: u32 = 1;
pub(super) const S_BNODE: u32 = 2;
pub(super) const P_IRI: u32 = 5;
pub(super) const O_IRI: u32 = 9;
pub(super) const O_BNODE: u32 = 10;
pub(super) const O_LITERAL: u32 = 11;
pub(super) const O_TRIPLE: u32 = 12;

/// A term in a triple term.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub field: u32,
    pub pieces: Pieces,
}

/// Prefix and name of the previous IRI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::formats::jelly) struct IriState {
    pub prefix: u32,
    pub name: u32,
}

impl IriState {
    /// Infers ids that are 0 from those of the previous IRI.
    #[inline]
    pub fn infer(&mut self, prefix: u32, name: u32) {
        if prefix != 0 {
            self.prefix = prefix;
        }
        self.next_name(name);
    }

    /// Infers the name only.
    #[inline]
    pub fn next_name(&mut self, name: u32) {
        self.name = if name == 0 {
            self.name.saturating_add(1)
        } else {
            name
        };
    }
}

/// A literal in a triple term.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LiteralParts {
    pub lexical: Range<usize>,
    pub tag: Option<Range<usize>>,
    pub datatype: Option<u32>,
    pub direction: u32,
}

/// Index of the first byte of a message.
pub(super) fn start_of(pieces: &[Range<usize>]) -> usize {
    pieces.first().map_or(0, |piece| piece.start)
}

/// Returns the subject, predicate and object of a triple term.
pub(super) fn parts(bytes: &[u8], pieces: &[Range<usize>]) -> Located<[Part; 3]> {
    let mut parts: [Part; 3] = Default::default();
    for piece in pieces {
        let mut fields = Fields::new(bytes, piece, "the triple term");
        while let Some(field) = fields.next()? {
            let position = match field.number {
                S_IRI | S_BNODE => 0,
                P_IRI => 1,
                O_IRI | O_BNODE | O_LITERAL | O_TRIPLE => 2,
                other => return Err(fields.unknown(field.start, other)),
            };
            let part = &mut parts[position];
            if part.field != field.number || matches!(field.number, S_BNODE | O_BNODE) {
                part.field = field.number;
                part.pieces.clear();
            }
            fields.push_bytes(&field, &mut part.pieces)?;
        }
    }
    for (part, name) in parts.iter().zip(["subject", "predicate", "object"]) {
        if part.field == 0 {
            let reason = format!("a triple term omits its {name}");
            return Err(fault(start_of(pieces), reason));
        }
    }
    Ok(parts)
}

/// Reads an IRI, and infers its ids.
pub(super) fn iri(bytes: &[u8], pieces: &[Range<usize>], state: &mut IriState) -> Located<()> {
    let (mut prefix, mut name) = (0, 0);
    for piece in pieces {
        let mut fields = Fields::new(bytes, piece, "the IRI");
        while let Some(field) = fields.next()? {
            match field.number {
                1 => prefix = fields.number(&field)?,
                2 => name = fields.number(&field)?,
                other => return Err(fields.unknown(field.start, other)),
            }
        }
    }
    state.infer(prefix, name);
    Ok(())
}

/// Reads a literal.
pub(super) fn literal(bytes: &[u8], pieces: &[Range<usize>]) -> Located<LiteralParts> {
    let mut literal = LiteralParts::default();
    for piece in pieces {
        let mut fields = Fields::new(bytes, piece, "the literal");
        while let Some(field) = fields.next()? {
            match field.number {
                1 => literal.lexical = fields.bytes(&field)?,
                2 => {
                    literal.tag = Some(fields.bytes(&field)?);
                    literal.datatype = None;
                }
                3 => {
                    literal.datatype = Some(fields.number(&field)?);
                    literal.tag = None;
                }
                4 => literal.direction = fields.number(&field)?,
                other => return Err(unknown_field(field.start, other, "the literal")),
            }
        }
    }
    if literal.direction != 0 && literal.tag.is_none() {
        let reason = "a literal has a direction, but no language tag";
        return Err(fault(start_of(pieces), reason));
    }
    Ok(literal)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn one(range: Range<usize>) -> Pieces {
        vec![range]
    }

    #[test]
    fn merged_messages_are_read_as_one() {
        // The predicate occurs twice: a prefix, and a name.
        let bytes = [
            0x12, 1, b'a', 0x12, 1, b's', 0x2a, 2, 0x08, 3, 0x4a, 0, 0x2a, 2, 0x10, 7, 0x52, 1,
            b'o',
        ];
        let [subject, predicate, object] = parts(&bytes, &one(0..bytes.len())).unwrap();
        assert_eq!(
            (subject.field, &bytes[subject.pieces[0].clone()]),
            (2, &b"s"[..])
        );
        assert_eq!(
            (object.field, &bytes[object.pieces[0].clone()]),
            (10, &b"o"[..])
        );
        assert_eq!((subject.pieces.len(), object.pieces.len()), (1, 1));
        let mut state = IriState::default();
        iri(&bytes, &predicate.pieces, &mut state).unwrap();
        assert_eq!(state, IriState { prefix: 3, name: 7 });
        iri(&bytes, &[], &mut state).unwrap();
        assert_eq!(state, IriState { prefix: 3, name: 8 });
    }

    #[test]
    fn omitted_parts_and_lone_directions_are_errors() {
        let reason =
            |fault: super::super::fields::Fault| fault.error.into_parts().1.text().to_owned();
        let bytes = [0x12, 1, b's', 0x2a, 0];
        let missing = parts(&bytes, &one(0..5)).unwrap_err();
        assert_eq!(reason(missing), "a triple term omits its object");
        let alone = literal(&[0x20, 1], &one(0..2)).unwrap_err();
        assert_eq!(
            reason(alone),
            "a literal has a direction, but no language tag"
        );
        let tagged = literal(&[0x18, 3, 0x12, 0, 0x20, 2], &one(0..6)).unwrap();
        assert_eq!(
            (tagged.datatype, tagged.tag, tagged.direction),
            (None, Some(4..4), 2)
        );
    }
}
