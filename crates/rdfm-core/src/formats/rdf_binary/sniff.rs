//! Detects RDF Protobuf and RDF Thrift from a log's first bytes.

use crate::codec::sniff::Sniff;
use crate::syntax::wire::length_at;

/// Checks that the log begins with an RDF Protobuf row whose lengths are consistent. The row may be
/// on its own or in a message.
pub fn protobuf(head: &[u8], complete: bool) -> Sniff {
    let detected = || {
        let empty = head.iter().take_while(|&&byte| byte == 0).count(); // empty messages
        let (length, index) = length_at(head, empty)?;
        let end = index + length;
        let row = TaggedField::at(head, index)?;
        Some(
            length > 0
                && (is_row(head, index, end)
                    || row.tag == 0x0a && row.end <= end && is_row(head, row.start, row.end)),
        )
    };
    let is_protobuf = detected() == Some(true) || is_bare(head) == Some(true);
    Sniff::from_match(is_protobuf, complete)
}

/// Whether the log begins with a row of an `RDF_Stream`, or a triple of an `RDF_Graph`, without a
/// length prefix. `None` if the bytes end before the result is known.
fn is_bare(head: &[u8]) -> Option<bool> {
    let field = TaggedField::at(head, 0)?;
    if field.tag != 0x0a || is_row(head, field.start, field.end) {
        return Some(field.tag == 0x0a);
    }
    let subject = TaggedField::at(head, field.start)?;
    let term = TaggedField::at(head, subject.start)?;
    let predicate = TaggedField::at(head, subject.end)?;
    Some(
        subject.tag == 0x0a
            && term.end == subject.end
            && matches!(term.tag, 0x0a | 0x12 | 0x1a | 0x22 | 0x32)
            && predicate.tag == 0x12
            && predicate.end < field.end,
    )
}

/// A length-delimited field with a one-byte tag.
#[derive(Clone, Copy)]
struct TaggedField {
    tag: u8,
    start: usize,
    end: usize,
}

impl TaggedField {
    fn at(data: &[u8], index: usize) -> Option<Self> {
        let tag = *data.get(index)?;
        let (length, start) = length_at(data, index + 1)?;
        Some(Self {
            tag,
            start,
            end: start + length,
        })
    }
}

/// Whether the range contains exactly one row: a field that fills it and begins correctly.
fn is_row(data: &[u8], index: usize, end: usize) -> bool {
    row_begins(data, index, end) == Some(true)
}

/// Like [`is_row`], but `None` if the bytes end before the result is known.
fn row_begins(data: &[u8], index: usize, end: usize) -> Option<bool> {
    let row = TaggedField::at(data, index)?;
    let inner = TaggedField::at(data, row.start)?;
    if row.end != end || inner.end > end {
        return Some(false);
    }
    Some(match row.tag {
        // A prefix declaration: a name that is not empty, then an IRI.
        0x0a if inner.tag == 0x0a && inner.end < end => {
            let iri = TaggedField::at(data, inner.end)?;
            iri.tag == 0x12 && iri.end == end
        }
        0x0a => inner.tag == 0x12 && inner.end == end,
        // A triple or a quad: a single term must fill its first field.
        0x12 | 0x1a => {
            let term = TaggedField::at(data, inner.start)?;
            let is_term = matches!(term.tag, 0x0a | 0x12 | 0x1a | 0x22 | 0x32);
            inner.tag == 0x0a && term.end == inner.end && is_term
        }
        // A base.
        0x22 => inner.tag == 0x0a && inner.end == end,
        _ => false,
    })
}

/// Checks that the log begins with a prefix declaration of RDF Thrift, or with a statement that
/// begins with a term.
pub fn thrift(head: &[u8], complete: bool) -> Sniff {
    let detected = match head {
        [0x1c, 0x18, ..] => prefix_fits(head) == Some(true),
        [0x2c | 0x3c, 0x1c, term, ..] => {
            matches!(term, 0x1c | 0x2c | 0x3c | 0x4c | 0x9c | 0xa6 | 0xb7 | 0xcc)
        }
        _ => false,
    };
    Sniff::from_match(detected, complete)
}

/// Whether the bytes after the first two are a name, an IRI and the ends of two structs.
fn prefix_fits(head: &[u8]) -> Option<bool> {
    let (name, index) = length_at(head, 2)?;
    let tag = index + name;
    if *head.get(tag)? != 0x18 {
        return Some(false);
    }
    let (iri, index) = length_at(head, tag + 1)?;
    Some(head.get(index + iri..)?.starts_with(&[0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &[u8] = b"\x0b\x0a\x09\x0a\x01e\x12\x04a:b/";
    const TRIPLE: &[u8] = b"\x0b\x12\x09\x0a\x05\x0a\x03\x0a\x01a\x12\x00";
    const BASE: &[u8] = b"\x07\x22\x05\x0a\x03a:b";

    #[test]
    fn a_row_identifies_protobuf() {
        for row in [PREFIX, TRIPLE, BASE] {
            let message = [&[row.len() as u8 + 1, 0x0a], row].concat();
            let after_empty = [b"\0\0", &*message].concat();
            for head in [row, &message, &after_empty] {
                assert_eq!(protobuf(head, false), Sniff::Yes, "{head:x?}");
                assert_eq!(protobuf(&[head, b"\xff"].concat(), true), Sniff::Yes);
                for end in 0..4 {
                    assert_eq!(protobuf(&head[..end], false), Sniff::More, "{head:x?}");
                    assert_eq!(protobuf(&head[..end], true), Sniff::No, "{head:x?}");
                }
            }
        }
    }

    #[test]
    fn other_bytes_are_not_protobuf() {
        for head in [
            &b"\0\0\0"[..],
            b"\n\n\n\n\n\n",
            b"<a> <b> <c> .\n",
            b"\x0b\x0a\x08\x0a\x01e\x12\x04a:b/", // the row is longer than its field
            b"\x0b\x0a\x09\x0a\x01e\x12\x05a:b/", // the IRI is longer than the row
            b"\x0b\x2a\x09\x0a\x01e\x12\x04a:b/", // no row has this tag
            b"\xff\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(protobuf(head, false), Sniff::More, "{head:x?}");
            assert_eq!(protobuf(head, true), Sniff::No, "{head:x?}");
        }
    }

    #[test]
    fn a_prefix_or_a_term_identifies_thrift() {
        for head in [
            &b"\x1c\x18\x01e\x18\x04a:b/\0\0"[..],
            b"\x2c\x1c\x1c",
            b"\x3c\x1c\xcc\x18",
        ] {
            assert_eq!(thrift(head, false), Sniff::Yes, "{head:x?}");
            assert_eq!(thrift(&[head, b"\xff"].concat(), true), Sniff::Yes);
            assert_eq!(thrift(&head[..2], false), Sniff::More);
            assert_eq!(thrift(&head[..2], true), Sniff::No);
        }
        for head in [
            &b"\x1c\x18\x01e\x18\x04a:b/\0\x01"[..],
            b"\x2c\x1c\x18",
            b"<a> <b> <c> .",
        ] {
            assert_eq!(thrift(head, true), Sniff::No, "{head:x?}");
        }
    }
}
