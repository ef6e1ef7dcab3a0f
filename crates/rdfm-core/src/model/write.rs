//! Writes terms as canonical N-Triples 1.2, whatever text they contain.
//!
//! - In: a term of a table. Its text may be any UTF-8, because binary formats allow any string.
//! - Out: its N-Triples form, appended to a buffer.
//! - Cost: linear in the term; a single copy if the text is plain.
//! - Law: the result is always one token, and different terms have different results.
//!
//! Content that the grammar forbids is rewritten: characters of an IRI as `\uXXXX`, labels by
//! [`write_label`], language tags by [`write_language`]. By default, encoders reject such IRIs and
//! tags (see [`term_error`]).

use crate::model::chars::{self, ESCAPE, IRI, NAME};
use crate::model::labels::{self, write_hex};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind, flags, is_language_type};

const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Start of the prefix of labels with a message number, see [`write_message_prefix`].
const MESSAGE_LABEL: &[u8] = b"_gm";
/// Prefix of tags that [`write_language`] escapes.
const ESCAPED_TAG: &[u8] = b"x-gx";

/// Appends a term as canonical N-Triples 1.2, except that language tags keep their case. The
/// default graph has no text.
pub fn write_term(table: &TermTable, id: TermId, out: &mut Vec<u8>) {
    Style::CANONICAL.write(table, id, out);
}

/// Options for writing terms in a form other than the canonical one.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Start of a triple term.
    pub open: &'static [u8],
    /// End of a triple term.
    pub close: &'static [u8],
    /// Whether language tags are escaped if necessary ([`write_language`]). Otherwise they are
    /// written unchanged, because the writer rejects invalid tags and the reader decodes none.
    pub escape_tags: bool,
    /// Message number that makes blank node labels unique ([`write_label_of`]).
    pub message_number: Option<u64>,
    /// Once the buffer is longer than this, no more parts of triple terms are written. The result
    /// is then incomplete. The caller detects this by the length of the buffer.
    pub max_bytes: usize,
}

impl Style {
    /// Canonical N-Triples 1.2.
    pub const CANONICAL: Self = Self {
        open: b"<<( ",
        close: b")>>",
        escape_tags: true,
        message_number: None,
        max_bytes: usize::MAX,
    };
    /// Terms in text formats.
    pub const TEXT: Self = Self {
        escape_tags: false,
        ..Self::CANONICAL
    };
    /// `<< s p o >>`, as in RDF-star.
    pub const STAR: Self = Self {
        open: b"<< ",
        close: b">>",
        ..Self::TEXT
    };

    /// Appends a term.
    pub fn write(&self, table: &TermTable, id: TermId, out: &mut Vec<u8>) {
        let term = table.term(id);
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        match term.kind {
            TermKind::DefaultGraph => {}
            TermKind::Iri => write_iri(text, plain, out),
            TermKind::BlankNode => match self.message_number {
                None => write_label(text, plain, out),
                Some(message) => write_label_of(message, text, plain, out),
            },
            TermKind::Language => self.write_tag(text, plain, out),
            TermKind::Literal => write_string(text, plain, out),
            TermKind::LangLiteral => {
                write_string(text, plain, out);
                let tag = table.term(TermId(term.aux));
                self.write_tag(table.text_of(tag), tag.flags & flags::PLAIN != 0, out);
                out.extend_from_slice(direction(term.flags));
            }
            TermKind::TypedLiteral => {
                write_string(text, plain, out);
                let datatype = table.term(TermId(term.aux));
                out.extend_from_slice(b"^^");
                write_iri(
                    table.text_of(datatype),
                    datatype.flags & flags::PLAIN != 0,
                    out,
                );
            }
            TermKind::TripleTerm => {
                out.extend_from_slice(self.open);
                for part in table.triple(term) {
                    if out.len() > self.max_bytes {
                        return;
                    }
                    self.write(table, part, out);
                    out.push(b' ');
                }
                out.extend_from_slice(self.close);
            }
        }
    }

    fn write_tag(&self, tag: &[u8], plain: bool, out: &mut Vec<u8>) {
        if self.escape_tags {
            return write_language(tag, plain, out);
        }
        out.push(b'@');
        out.extend_from_slice(tag);
    }
}

/// Suffix of the language tag for the base direction in a literal's flags.
#[inline]
pub fn direction(flags: u8) -> &'static [u8] {
    if flags & flags::LTR != 0 {
        b"--ltr"
    } else if flags & flags::RTL != 0 {
        b"--rtl"
    } else {
        b""
    }
}

/// Appends `<iri>`. Characters that `IRIREF` forbids become `\uXXXX`. `plain` is true if the IRI
/// has none.
#[inline]
pub fn write_iri(text: &[u8], plain: bool, out: &mut Vec<u8>) {
    out.push(b'<');
    if plain {
        out.extend_from_slice(text);
    } else {
        let mut rest = text;
        while let Some(index) = rest.iter().position(|&byte| !chars::is(byte, IRI)) {
            out.extend_from_slice(&rest[..index]);
            write_escape(u16::from(rest[index]), out);
            rest = &rest[index + 1..];
        }
        out.extend_from_slice(rest);
    }
    out.push(b'>');
}

/// Appends `"text"` with the escapes of canonical N-Triples. `plain` is true if none are needed.
#[inline]
pub fn write_string(text: &[u8], plain: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    if plain {
        out.extend_from_slice(text);
    } else {
        write_escaped(text, out);
    }
    out.push(b'"');
}

/// Appends text with the escapes of canonical N-Triples, without quotes.
pub fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(index) = escape_at(rest) {
        out.extend_from_slice(&rest[..index]);
        let mut used = 1;
        match rest[index] {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            0xEF => match rest.get(index..index + 3) {
                Some([_, 0xBF, last @ (0xBE | 0xBF)]) => {
                    write_escape(0xFF40 | u16::from(*last), out);
                    used = 3;
                }
                _ => out.push(0xEF),
            },
            control => write_escape(u16::from(control), out),
        }
        rest = &rest[index + used..];
    }
    out.extend_from_slice(rest);
}

/// Index of the first byte that may need an escape.
fn escape_at(text: &[u8]) -> Option<usize> {
    let mut start = 0;
    // Checks sixteen bytes at a time, so that the compiler can vectorize the comparisons.
    for chunk in text.chunks_exact(16) {
        let special_bits = chunk.iter().fold(0, |special_bits, &byte| {
            special_bits
                | u8::from(byte < 0x20)
                | u8::from(byte == b'"')
                | u8::from(byte == b'\\')
                | u8::from(byte == 0x7F)
                | u8::from(byte == 0xEF)
        });
        if special_bits != 0 {
            break;
        }
        start += 16;
    }
    let index = text[start..]
        .iter()
        .position(|&byte| chars::is(byte, ESCAPE))?;
    Some(start + index)
}

/// Appends `\uXXXX`.
fn write_escape(code: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(HEX_UPPER[usize::from(code >> shift & 15)]);
    }
}

/// Appends `_:label`. A label that is not a `BLANK_NODE_LABEL` is escaped; reading it restores the
/// label (see [`labels`]). `plain` is true if no escape is needed.
#[inline]
pub fn write_label(text: &[u8], plain: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"_:");
    labels::write(text, plain, is_label, out);
}

/// Decodes an escape of [`write_label`]. Returns `None` for a label that represents itself.
#[inline]
pub(crate) fn read_label(text: &[u8]) -> Option<Vec<u8>> {
    labels::read(text, is_label)
}

/// Appends `_:label` like [`write_label`], with a prefix if necessary so that labels of different
/// messages differ even without message delimiters ([`write_message_prefix`]).
pub fn write_label_of(message: u64, text: &[u8], plain: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"_:");
    let rest = write_message_prefix(message, text, out);
    labels::write(rest, plain, is_label, out);
}

/// Appends the prefix that makes a label unique in a log without message delimiters. Returns the
/// rest of the label, which follows the prefix.
///
/// Labels of message 0 get no prefix unless they begin with `_gm`. Other labels get
/// `_gm<message>_`. If a label already has the prefix, it becomes `_gm<message>x2_`, then
/// `_gm<message>x3_` and so on, so that labels do not grow with each conversion. The mapping of
/// message and label is one-to-one and needs no state.
#[inline]
pub fn write_message_prefix<'a>(message: u64, label: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let may_repeat = label.starts_with(MESSAGE_LABEL);
    if message == 0 && !may_repeat {
        return label;
    }
    out.extend_from_slice(MESSAGE_LABEL);
    out.extend_from_slice(message.to_string().as_bytes());
    let (count, rest) = match may_repeat.then(|| repeats(message, label)) {
        Some(Some((count, rest))) => (count, rest),
        _ => (0, label),
    };
    if count > 0 {
        out.extend_from_slice(format!("x{}", count + 1).as_bytes());
    }
    out.push(b'_');
    rest
}

/// The prefixes of the labels of one message ([`write_message_prefix`]). The usual prefix is
/// stored, because encoders write it very often.
#[derive(Default)]
pub struct MessagePrefix {
    message: u64,
    usual: Vec<u8>,
    other: Vec<u8>,
}

impl MessagePrefix {
    /// Begins a message.
    pub fn begin(&mut self, message: u64) {
        self.message = message;
        self.usual.clear();
        write_message_prefix(message, b"", &mut self.usual);
    }

    /// Returns the prefix that a label gets, and the rest of the label.
    #[inline]
    pub fn split<'a>(&'a mut self, label: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        if !label.starts_with(MESSAGE_LABEL) {
            return (&self.usual, label);
        }
        self.other.clear();
        let rest = write_message_prefix(self.message, label, &mut self.other);
        (&self.other, rest)
    }
}

/// Returns how often a label has the prefix of a message, and the rest of the label. `None` if it
/// does not have the prefix, or the rest could not begin a label.
fn repeats(message: u64, label: &[u8]) -> Option<(u64, &[u8])> {
    let after = label
        .strip_prefix(MESSAGE_LABEL)?
        .strip_prefix(message.to_string().as_bytes())?;
    let (count, rest) = if let Some(rest) = after.strip_prefix(b"_") {
        (1, rest)
    } else {
        let digits = after.strip_prefix(b"x")?;
        let end = digits.iter().position(|&byte| byte == b'_')?;
        let text = std::str::from_utf8(&digits[..end]).ok()?;
        let count = text.parse().ok().filter(|&count: &u64| count > 1)?;
        // Only the form that `write_message_prefix` writes, so that different labels stay
        // different.
        (count.to_string() == text && count < u64::MAX).then_some((count, &digits[end + 1..]))?
    };
    let begins_label = |&byte: &u8| byte == b'_' || byte.is_ascii_alphanumeric();
    rest.first()
        .is_some_and(begins_label)
        .then_some((count, rest))
}

/// Whether a string is the label part of a `BLANK_NODE_LABEL`.
fn is_label(text: &[u8]) -> bool {
    let plain = !text.is_empty() && text[0] != b'-' && text.iter().all(|&b| chars::is(b, NAME));
    plain || std::str::from_utf8(text).is_ok_and(chars::is_label)
}

/// Appends `@tag`. A tag that the grammar forbids, or that [`read_language`] would decode, becomes
/// `x-gx` and the lower-case hex of its bytes in subtags of eight digits. `plain` is true if the
/// grammar is known to allow it.
#[inline]
pub fn write_language(text: &[u8], plain: bool, out: &mut Vec<u8>) {
    out.push(b'@');
    let allowed = plain || chars::is_language_tag(text);
    if allowed && !(text.starts_with(ESCAPED_TAG) && read_language(text).is_some()) {
        out.extend_from_slice(text);
    } else {
        out.extend_from_slice(ESCAPED_TAG);
        for subtag in text.chunks(4) {
            out.push(b'-');
            write_hex(subtag, out);
        }
    }
}

/// Decodes an escape of [`write_language`]. Returns `None` for a tag that represents itself.
pub(crate) fn read_language(tag: &[u8]) -> Option<Vec<u8>> {
    labels::decode_canonical(tag, unescape_tag, chars::is_language_tag)
}

/// Decodes any tag in the form that [`write_language`] writes.
fn unescape_tag(tag: &[u8]) -> Option<Vec<u8>> {
    let rest = tag.strip_prefix(ESCAPED_TAG)?;
    let mut digits = Vec::with_capacity(rest.len());
    for subtag in rest.chunks(9) {
        match subtag {
            [b'-', hex @ ..] if !hex.is_empty() => digits.extend_from_slice(hex),
            _ => return None,
        }
    }
    labels::unhex(&digits)
}

/// Reason why a text grammar does not allow a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermError {
    /// The IRI has characters that `IRIREF` forbids. Escapes can represent them.
    Iri(TermId),
    /// The IRI is relative. Readers reject it or resolve it against a base.
    Relative(TermId),
    /// The IRI is absolute, but RFC 3987 does not allow it. JSON-LD readers drop its statements.
    Invalid(TermId),
    /// The datatype requires a language tag. Readers reject such literals.
    Untagged(TermId),
    /// The language tag is invalid. The grammar has no escapes for tags.
    Language(TermId),
}

/// Returns the reason why strict readers of a text format reject or change a term. The caller
/// checks the parts of a triple term. Labels are never an error, because they are rewritten
/// one-to-one. If `lenient`, IRIs and datatypes are not an error either: forbidden characters are
/// escaped, and the rest is written unchanged.
pub fn term_error(table: &TermTable, id: TermId, lenient: bool) -> Option<TermError> {
    let term = table.term(id);
    match term.kind {
        TermKind::Iri if lenient || term.flags & flags::PLAIN != 0 => None,
        TermKind::Iri => {
            let text = table.text_of(term);
            if !chars::is_iri_text(text) {
                return Some(TermError::Iri(id));
            }
            (!chars::has_scheme(text)).then_some(TermError::Relative(id))
        }
        TermKind::Language => (term.flags & flags::PLAIN == 0
            && !chars::is_language_tag(table.text_of(term)))
        .then_some(TermError::Language(id)),
        TermKind::LangLiteral => term_error(table, TermId(term.aux), lenient),
        TermKind::TypedLiteral => datatype_error(table, TermId(term.aux), lenient),
        TermKind::DefaultGraph | TermKind::BlankNode | TermKind::Literal | TermKind::TripleTerm => {
            None
        }
    }
}

/// Like [`term_error`], for the datatype of a literal.
pub fn datatype_error(table: &TermTable, datatype: TermId, lenient: bool) -> Option<TermError> {
    if !lenient && is_language_type(table.text(datatype)) {
        return Some(TermError::Untagged(datatype));
    }
    term_error(table, datatype, lenient)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;
    use crate::model::builder::BatchBuilder;
    use crate::model::limits::Limits;

    fn written(build: impl FnOnce(&mut BatchBuilder) -> TermId) -> String {
        let mut builder = BatchBuilder::new(Limits::default());
        let id = build(&mut builder);
        let mut out = Vec::new();
        write_term(builder.table(), id, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn simple(kind: TermKind, text: &str) -> String {
        written(|b| b.add_simple(kind, text.as_bytes(), 0).unwrap())
    }

    fn tagged(text: &str, tag: &str, direction: u8) -> String {
        written(|b| {
            let tag = b.add_simple(TermKind::Language, tag.as_bytes(), 0).unwrap();
            b.add_with_aux(TermKind::LangLiteral, text.as_bytes(), tag.0, direction)
                .unwrap()
        })
    }

    #[test]
    fn literals_have_the_canonical_escapes() {
        let controls: String = (0u8..0x20).chain([0x7f]).map(char::from).collect();
        assert_eq!(
            simple(TermKind::Literal, &controls),
            "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000B\\f\\r\\u000E\\u000F\
             \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001A\\u001B\\u001C\
             \\u001D\\u001E\\u001F\\u007F\""
        );
        assert_eq!(simple(TermKind::Literal, "a\"b\\c'd"), r#""a\"b\\c'd""#);
        assert_eq!(
            simple(
                TermKind::Literal,
                "\u{FFFD}\u{FFFE}\u{FFFF}\u{10FFFF}\u{FF01}"
            ),
            "\"\u{FFFD}\\uFFFE\\uFFFF\u{10FFFF}\u{FF01}\""
        );
    }

    #[test]
    fn characters_that_would_end_an_iri_are_escaped() {
        assert_eq!(simple(TermKind::Iri, "http://ex/a"), "<http://ex/a>");
        assert_eq!(
            simple(TermKind::Iri, "x> <y\n\\"),
            r"<x\u003E\u0020\u003Cy\u000A\u005C>"
        );
        assert_eq!(simple(TermKind::Iri, "é\u{7f}"), "<é\u{7f}>");
    }

    #[test]
    fn labels_are_rewritten_one_to_one() {
        for label in ["b0", "a.b", "1", "_", "_g1", "é", "a-b", "_gu1"] {
            assert_eq!(simple(TermKind::BlankNode, label), format!("_:{label}"));
        }
        assert_eq!(simple(TermKind::BlankNode, "a b"), "_:_gx612062");
        assert_eq!(
            simple(TermKind::BlankNode, "_gx612062"),
            "_:_gx5f6778363132303632"
        );
        assert_eq!(simple(TermKind::BlankNode, ""), "_:_gx");
        for label in ["-a", ".a", "a.", "a:b", "a\n", "a> .", "-"] {
            assert!(
                simple(TermKind::BlankNode, label).starts_with("_:_gx"),
                "{label}"
            );
        }
    }

    #[test]
    fn labels_of_different_messages_differ() {
        let label = |message, text: &str| {
            let mut out = Vec::new();
            write_label_of(message, text.as_bytes(), false, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(label(0, "b0"), "_:b0");
        assert_eq!(label(0, "_gm1_b0"), "_:_gm0__gm1_b0");
        assert_eq!(label(1, "b0"), "_:_gm1_b0");
        assert_eq!(label(1, "a b"), "_:_gm1__gx612062");
        assert_eq!(label(1, "_gx612062"), "_:_gm1__gx5f6778363132303632");
        assert_eq!(label(0, "_gm 1"), "_:_gm0__gx5f676d2031");
    }

    #[test]
    fn a_repeated_message_prefix_is_a_count() {
        let label = |message, text: &str| {
            let mut out = Vec::new();
            write_label_of(message, text.as_bytes(), false, &mut out);
            String::from_utf8(out).unwrap().split_off(2)
        };
        let repeated = |message, mut text: String| {
            for _ in 0..12 {
                text = label(message, &text);
            }
            text
        };
        assert_eq!(repeated(0, "_gm1_x".to_owned()), "_gm0x12__gm1_x");
        assert_eq!(repeated(7, "x".to_owned()), "_gm7x12_x");
        assert_eq!(repeated(0, "x".to_owned()), "x");
        for text in [
            "_gm7_",
            "_gm7_-x",
            "_gm7_.x",
            "_gm7_·",
            "_gm7x1_a",
            "_gm7x02_a",
        ] {
            assert_eq!(label(7, text), format!("_gm7_{text}"));
        }
        let longest = format!("_gm7x{}_a", u64::MAX);
        assert_eq!(label(7, &longest), format!("_gm7_{longest}"));
    }

    #[test]
    fn message_prefixes_are_one_to_one() {
        let messages = [0, 1, 7, 10, 17];
        let mut texts = vec![String::new()];
        for part in ["_gm", "0", "1", "7", "x", "2", "x2_", "_", "a", "-", " "] {
            let mut longer: Vec<_> = texts.iter().map(|text| format!("{text}{part}")).collect();
            longer.extend(texts.iter().map(|text| format!("_gm7_{text}{part}")));
            texts.extend(longer);
            texts.sort();
            texts.dedup();
        }
        let mut actual = rustc_hash::FxHashMap::default();
        for message in messages {
            for text in &texts {
                let mut out = Vec::new();
                write_label_of(message, text.as_bytes(), false, &mut out);
                let other = actual.insert(out, (message, text));
                assert_eq!(other, None, "{message} {text}");
            }
        }
    }

    #[test]
    fn invalid_language_tags_are_escaped() {
        assert_eq!(tagged("x", "en-GB", 0), "\"x\"@en-GB");
        assert_eq!(tagged("x", "ar", flags::RTL), "\"x\"@ar--rtl");
        assert_eq!(tagged("x", "en .\n", 0), "\"x\"@x-gx-656e202e-0a");
        assert_eq!(tagged("x", "x-gx", 0), "\"x\"@x-gx-782d6778");
        assert_eq!(tagged("x", "", 0), "\"x\"@x-gx");
    }

    #[test]
    fn invalid_parts_of_triple_terms_are_rejected() {
        let text = written(|b| {
            let iri = b.add_simple(TermKind::Iri, b"a", 0).unwrap();
            let bad = b.add_simple(TermKind::Iri, b"t>", 0).unwrap();
            let typed = b
                .add_with_aux(TermKind::TypedLiteral, b"1", bad.0, 0)
                .unwrap();
            let inner = b.add_triple_term([iri, iri, typed]).unwrap();
            assert_eq!(
                term_error(b.table(), typed, false),
                Some(TermError::Iri(bad))
            );
            assert_eq!(term_error(b.table(), typed, true), None);
            b.add_triple_term([iri, iri, inner]).unwrap()
        });
        assert_eq!(text, r#"<<( <a> <a> <<( <a> <a> "1"^^<t\u003E> )>> )>>"#);
    }
}
