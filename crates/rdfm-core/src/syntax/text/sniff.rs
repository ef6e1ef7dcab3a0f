//! Checks for format detection that several text formats share.
//!
//! - In: a log's head, or a line of it. Any bytes; UTF-8 is not required.
//! - Cost: linear in the checked bytes.

use memchr::{memchr, memrchr2};

use crate::codec::sniff::{HEAD_BYTES, head};
use crate::model::chars::BOM;

/// White space of the text formats, line breaks included.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether a byte is unlikely in text: a control character other than white space.
pub(crate) const fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t'..=b'\r')
}

/// Removes leading white space.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|&&byte| is_space(byte)).count();
    text.get(spaces..).unwrap_or_default()
}

/// Removes a leading byte order mark.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// Returns the lines of a log's head, including blank ones. If the head is `complete`, text after
/// the last line end also counts as a line if the log ends there or if there is no other line.
pub(crate) fn lines(bytes: &[u8], complete: bool) -> impl Iterator<Item = &[u8]> {
    let text = without_mark(head(bytes));
    let end = match memrchr2(b'\n', b'\r', text) {
        _ if complete && bytes.len() < HEAD_BYTES => text.len(),
        Some(index) => index,
        None if complete => text.len(),
        None => 0,
    };
    // Between `\r` and `\n` there is an additional blank line.
    text.get(..end)
        .unwrap_or_default()
        .split(|&byte| byte == b'\n' || byte == b'\r')
}

/// Whether a line is empty except for a comment.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    matches!(trim_start(line).first(), None | Some(b'#'))
}

/// Kind of a line of N-Triples or N-Quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Three terms and a dot, which is also valid in Turtle.
    Triple,
    /// Four terms and a dot, which is valid only in N-Quads.
    Quad,
    /// `VERSION` or `MESSAGE`.
    Directive,
    /// Something else.
    Other,
}

/// Returns the kind of a line that is not blank.
pub(crate) fn line_kind(line: &[u8]) -> LineKind {
    match count_terms(line) {
        Some(3) => LineKind::Triple,
        Some(4) => LineKind::Quad,
        _ if is_line_directive(line) => LineKind::Directive,
        _ => LineKind::Other,
    }
}

/// Counts the terms before the dot of a line. A triple term counts as one. Returns `None` if the
/// line is not a statement.
fn count_terms(line: &[u8]) -> Option<usize> {
    let (mut terms, mut depth) = (0_usize, 0_usize);
    let mut rest = line;
    loop {
        rest = match trim_start(rest) {
            [b'.', rest @ ..] => return (depth == 0 && is_blank(rest)).then_some(terms),
            [b'<', b'<', rest @ ..] => {
                terms += usize::from(depth == 0);
                depth += 1;
                rest.strip_prefix(b"(").unwrap_or(rest)
            }
            [b'>', b'>', rest @ ..] | [b')', b'>', b'>', rest @ ..] => {
                depth = depth.checked_sub(1)?;
                rest
            }
            term => {
                terms += usize::from(depth == 0);
                after_term(term)?
            }
        };
    }
}

/// Returns the text after an IRI, a blank node or a literal.
fn after_term(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'<', rest @ ..] => after_iri(rest, b"<\"{}|^`"),
        [b'_', b':', rest @ ..] => {
            let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'<' | b'>' | b'"');
            let run = rest.iter().position(ends).unwrap_or(rest.len());
            let label = rest.get(..run)?.iter().rposition(|&byte| byte != b'.')?;
            rest.get(label + 1..)
        }
        [b'"', rest @ ..] => {
            let mut index = 0;
            loop {
                match rest.get(index)? {
                    b'"' => break,
                    b'\\' => index += 2,
                    _ => index += 1,
                }
            }
            let after = rest.get(index + 1..)?;
            Some(match after {
                [b'@', tag @ ..] => {
                    let in_tag = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
                    let length = tag.iter().take_while(in_tag).count();
                    tag.get(length..).filter(|_| length > 0)?
                }
                [b'^', b'^', b'<', datatype @ ..] => after_iri(datatype, b"<")?,
                _ => after,
            })
        }
        _ => None,
    }
}

/// Returns the text after the `>` of an IRI. Returns `None` if the IRI contains white space or a
/// byte in `forbidden`.
pub(crate) fn after_iri<'a>(text: &'a [u8], forbidden: &[u8]) -> Option<&'a [u8]> {
    let ends = |&byte: &u8| byte == b'>' || is_space(byte) || forbidden.contains(&byte);
    let end = text.iter().position(ends)?;
    (text.get(end) == Some(&b'>')).then(|| text.get(end + 1..))?
}

/// Whether a line is `MESSAGE`, or `VERSION` followed by a quoted string.
fn is_line_directive(line: &[u8]) -> bool {
    let line = trim_start(line);
    if let Some(rest) = line.strip_prefix(b"MESSAGE") {
        return is_blank(rest);
    }
    let Some(after) = line.strip_prefix(b"VERSION") else {
        return false;
    };
    let [quote @ (b'"' | b'\''), label @ ..] = trim_start(after) else {
        return false;
    };
    let end = memchr(*quote, label).and_then(|end| label.get(end + 1..));
    after.first().copied().is_some_and(is_space) && end.is_some_and(is_blank)
}

/// Whether text begins like an XML document: with an XML declaration, a document type, a comment,
/// `rdf:RDF`, or an element that cannot be an IRI because white space follows its name.
pub(crate) fn is_xml(text: &[u8]) -> bool {
    let text = trim_start(text);
    let starts = [&b"<?xml"[..], b"<!DOCTYPE", b"<!--", b"<rdf:RDF"];
    if starts.iter().any(|start| text.starts_with(start)) {
        return true;
    }
    let in_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'.' | 0x80..)
    };
    let [b'<', name @ ..] = text else {
        return false;
    };
    let length = name.iter().take_while(|byte| in_name(byte)).count();
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | 0x80..);
    name.first().is_some_and(begins) && name.get(length).copied().is_some_and(is_space)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn line_kinds_are_recognized() {
        for (line, kind) in [
            ("<a> <b> <c> .", LineKind::Triple),
            (" \t<a><b>_:c .#d", LineKind::Triple),
            ("<a> <b> _:c.", LineKind::Triple),
            ("<a> <b> _:c.d.", LineKind::Triple),
            ("<a> <b> _:c. .", LineKind::Other),
            (r#"<a> <b> "c \" . \\"@en-x <g> ."#, LineKind::Quad),
            (r#"<a> <b> "c"^^<d> _:g . # e"#, LineKind::Quad),
            (
                "<a> <b> <<( <a> <b> <<(<a> <b> _:c)>> )>> .",
                LineKind::Triple,
            ),
            ("<<<a> <b> <c>>> <b> <c> <g> .", LineKind::Quad),
            ("MESSAGE", LineKind::Directive),
            (" MESSAGE # x", LineKind::Directive),
            ("VERSION \"1.2\"", LineKind::Directive),
            ("VERSION '1.2' # x", LineKind::Directive),
            ("VERSION\"1.2\"", LineKind::Other),
            ("VERSION '1.2\"", LineKind::Other),
            ("MESSAGES", LineKind::Other),
            ("<a> <b> .", LineKind::Other),
            ("<a> <b> <c> <d> <e> .", LineKind::Other),
            ("<a> <b> <c>", LineKind::Other),
            ("<a> <b> <c> ;", LineKind::Other),
            ("<a> <b> <c> . <d>", LineKind::Other),
            ("<a> <b> <c d> .", LineKind::Other),
            ("<a> <b> \"c .", LineKind::Other),
            ("<a> <b> \"c\\", LineKind::Other),
            ("<a> <b> \"c\"^^<d .", LineKind::Other),
            ("<a> <b> \"c\"@ .", LineKind::Other),
            ("<a> <b> _:. .", LineKind::Other),
            ("<a> <b> <<( <a> <b> _:c .", LineKind::Other),
            ("<a> <b> <c> )>> .", LineKind::Other),
            ("a <b> <c> .", LineKind::Other),
            ("", LineKind::Other),
        ] {
            assert_eq!(line_kind(line.as_bytes()), kind, "{line}");
        }
    }

    #[test]
    fn only_complete_lines_of_a_head_are_used() {
        let actual = |head: &[u8], complete| -> Vec<Vec<u8>> {
            let lines = lines(head, complete).filter(|line| !is_blank(line));
            lines.map(<[u8]>::to_vec).collect()
        };
        let cut = b"\xef\xbb\xbfa\r\nb\n # c\n\nd";
        assert_eq!(actual(cut, false), [b"a", b"b"]);
        assert_eq!(actual(cut, true), [b"a", b"b", b"d"]);
        assert_eq!(actual(b"a", false), [b""; 0]);
        assert_eq!(actual(b"a\r", false), [b"a"]);
        // A full head may end within a line, so its last line counts only if it is the only one.
        let mut full = b"a\n".to_vec();
        full.resize(HEAD_BYTES, b'b');
        assert_eq!(actual(&full, true), [b"a"]);
        assert_eq!(actual(full.get(2..).unwrap(), true).len(), 2 - 1);
        full.extend_from_slice(b"\nc\n");
        assert_eq!(actual(&full, true), [b"a"]);
        assert_eq!(actual(&[b'b'; HEAD_BYTES], true).len(), 1);
    }

    #[test]
    fn beginnings_of_xml_are_recognized() {
        for text in [
            "<?xml version='1.0'?>",
            "<?xml-stylesheet?>",
            " \n<!DOCTYPE rdf:RDF [",
            "<!-- x -->",
            "<rdf:RDF>",
            "<é:B\nxmlns:é='x'>",
        ] {
            assert!(is_xml(text.as_bytes()), "{text}");
        }
        for text in ["", "<", "<a", "<a>", "<urn:a> <b> <c> .", "<1 >", "a <b >"] {
            assert!(!is_xml(text.as_bytes()), "{text}");
        }
    }
}
