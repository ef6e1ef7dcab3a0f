//! Detects TriG, including Turtle, from a log's first bytes.

use memchr::memchr;

use crate::codec::sniff::{Sniff, head};
use crate::syntax::text::sniff::{
    LineKind, after_iri, is_blank, is_control, is_space, is_xml, line_kind, lines, trim_start,
};

/// Checks that the text contains a Turtle directive, and is not N-Quads, XML or JSON. A complete
/// head without a directive must begin like a statement.
pub fn sniff(bytes: &[u8], complete: bool) -> Sniff {
    let mut text = Vec::new();
    let (mut is_text, mut line_format, mut triples) = (true, true, false);
    for line in lines(bytes, complete) {
        // Text in a binary log may look like a directive.
        is_text &= !line.iter().copied().any(is_control);
        if is_blank(line) {
            continue;
        }
        if !text.is_empty() {
            text.push(b'\n');
        }
        text.extend_from_slice(line);
        if is_text && is_directive(line) {
            return Sniff::from_match(!is_other(&text), true);
        }
        match line_kind(line) {
            _ if !line_format => {}
            LineKind::Triple => triples = true,
            LineKind::Quad => return Sniff::No,
            LineKind::Directive => {}
            LineKind::Other => line_format = false,
        }
    }
    let begins = complete
        && !(line_format && triples)
        && memchr(0, head(bytes)).is_none()
        && !is_other(&text)
        && starts_statement(&text);
    Sniff::from_match(begins, complete)
}

/// Whether the text begins with XML or JSON, ignoring comments.
fn is_other(text: &[u8]) -> bool {
    let text = trim_start(text);
    let json = text.split_first().is_some_and(|(first, rest)| {
        let next = trim_start(rest).first();
        match first {
            b'{' => next == Some(&b'"'),
            b'[' => matches!(next, Some(b'[' | b'{')),
            _ => false,
        }
    });
    json || is_xml(text)
}

/// Whether a line begins with a directive of Turtle.
fn is_directive(line: &[u8]) -> bool {
    let line = trim_start(line);
    for directive in [&b"@prefix"[..], b"@base", b"@version"] {
        if let Some(rest) = line.strip_prefix(directive) {
            return rest.first().copied().is_some_and(is_space);
        }
    }
    if let Some(rest) = line.strip_prefix(b"@message") {
        return trim_start(rest).first() == Some(&b'.');
    }
    let word = line.iter().position(|&byte| is_space(byte));
    let Some((word, rest)) = word.and_then(|end| line.split_at_checked(end)) else {
        return false;
    };
    let rest = trim_start(rest);
    if word.eq_ignore_ascii_case(b"graph") {
        return !rest.is_empty();
    }
    if !word.eq_ignore_ascii_case(b"prefix") && !word.eq_ignore_ascii_case(b"base") {
        return false;
    }
    // An IRI, possibly after a name and a colon.
    let end = rest.iter().position(|&byte| is_space(byte));
    let (name, after) = rest
        .split_at_checked(end.unwrap_or(rest.len()))
        .unwrap_or_default();
    name.first() == Some(&b'<')
        || name.array_windows().any(|pair| pair == b":<")
        || (name.last() == Some(&b':') && trim_start(after).first() == Some(&b'<'))
}

/// Whether the text begins with a subject or graph, followed by something that is valid there.
fn starts_statement(text: &[u8]) -> bool {
    let after = match trim_start(text) {
        [b'<', iri @ ..] => after_iri(iri, b"<"),
        [b'_', b':', label @ ..] => {
            let ends = |byte: &u8| is_space(*byte) || b"<>\"'()[]{}".contains(byte);
            let end = label.iter().position(ends);
            end.filter(|&end| end > 0).and_then(|end| label.get(end..))
        }
        [b'[' | b'(', rest @ ..] => Some(rest),
        _ => None,
    };
    match trim_start(after.unwrap_or_default()) {
        [b'<', iri @ ..] => after_iri(iri, b"<").is_some(),
        [b'a', next, ..] => is_space(*next),
        [b'[' | b']' | b'{' | b'"' | b'(', ..] | [b'_', b':', ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &[u8] = b"@prefix a: <b> .\n";

    #[test]
    fn a_directive_is_detected_whatever_follows() {
        for directive in [
            "@prefix a: <b> .",
            " @base <b> .",
            "@version \"1.2\" .",
            "@message .",
            "@message.",
            "PREFIX a: <b>",
            "prefix : <b>",
            "Prefix a:<b>",
            "BASE <b>",
            "graph <g> {",
        ] {
            for start in [
                &b""[..],
                b"\xef\xbb\xbf",
                b"# c\n",
                b"<a> <b> <c> .\n",
                b"a:b a c:d .\n",
            ] {
                for end in [&b"\n"[..], b"\r\n<a", b"\n\0", b"\n<a> <b> <c> <d> .\n"] {
                    let head = [start, directive.as_bytes(), end].concat();
                    assert_eq!(sniff(&head, false), Sniff::Yes, "{directive}");
                    assert_eq!(sniff(&head, true), Sniff::Yes, "{directive}");
                }
            }
            assert_eq!(
                sniff(directive.as_bytes(), false),
                Sniff::More,
                "{directive}"
            );
        }
    }

    #[test]
    fn other_lines_are_not_directives() {
        for line in [
            "prefix",
            "prefix a",
            "prefix a: b",
            "base a",
            "graph",
            "graphs <g>",
            "@prefix",
            "@prefixes a",
            "@message",
            "MESSAGE",
            "a b c",
        ] {
            assert!(!is_directive(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_statement_is_detected_at_the_end() {
        for text in [
            "<a> a <b> ;",
            "<a>\n  <b> 1 .",
            "<g> { <a> <b> 1 }",
            "_:a <b> 1 .",
            "_:a<b> 1 .",
            "[] <b> 1 .",
            "[ <b> 1 ] .",
            "( 1 ) <b> 1 .\n(<a>) <b> 1 .",
            "(\"a\") <b> 1 .",
        ] {
            let is_statement = !text.starts_with("( 1");
            assert_eq!(sniff(text.as_bytes(), false), Sniff::More, "{text}");
            assert_eq!(
                sniff(text.as_bytes(), true),
                Sniff::from_match(is_statement, true),
                "{text}"
            );
        }
    }

    #[test]
    fn other_formats_are_not_detected() {
        for start in [
            "<a> <b> <c> <g> .\n",
            "{ \"@id\": 1,\n",
            "{\n# c\n\"@id\": 1,\n",
            "[\n{\n",
            "<?xml version='1.0'?>\n",
            "<a:b xmlns:a='c'>\n",
            "<!-- c -->\n",
            "\0\n",
            "\x0a\x10\x0a\x0e\n",
        ] {
            let head = [start.as_bytes(), PREFIX].concat();
            assert_ne!(sniff(&head, false), Sniff::Yes, "{start}");
            assert_eq!(sniff(&head, true), Sniff::No, "{start}");
        }
        for text in [
            "<a> <b> <c> .",
            "",
            "# c",
            "s,p,o\n1,2,3",
            "_:xa b",
            "<a> b",
            "_: <b>",
            "a",
        ] {
            assert_eq!(sniff(text.as_bytes(), true), Sniff::No, "{text}");
        }
    }
}
