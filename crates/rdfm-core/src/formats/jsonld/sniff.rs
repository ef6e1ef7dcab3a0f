//! Detects NDJSON-LD, JSON-LD and YAML-LD from a log's first bytes.

use memchr::{memmem, memrchr};

use crate::codec::sniff::{self, HEAD_BYTES, Sniff};
use crate::syntax::json::{Bounds, Tape, parse};
use crate::syntax::text::sniff::lines as text_lines;
use crate::syntax::text::sniff::{is_blank, is_control, is_space, trim_start, without_mark};

/// Checks that every line is a JSON object, up to the first one that seems to contain a keyword.
pub fn lines(bytes: &[u8], complete: bool) -> Sniff {
    let head = without_mark(sniff::head(bytes));
    let full = bytes.len() >= HEAD_BYTES;
    let end = match memrchr(b'\n', head) {
        _ if complete && !full => head.len(),
        Some(index) => index,
        None => 0,
    };
    let whole = head.get(..end).unwrap_or_default();
    let mut objects = false;
    for line in whole.split(|&byte| byte == b'\n') {
        if is_space_only(line) {
            continue;
        }
        if !is_object(line) {
            return Sniff::No;
        }
        if has_keyword(line) {
            return Sniff::Yes;
        }
        objects = true;
    }
    // The truncated line may contain the keyword.
    let detected = complete
        && full
        && if objects {
            has_keyword(head)
        } else {
            starts_with_context(head)
        };
    Sniff::from_match(detected, complete)
}

/// Checks that the text begins with a JSON object or array and seems to contain a keyword, and is
/// not NDJSON-LD.
pub fn sniff_document(bytes: &[u8], complete: bool) -> Sniff {
    let head = without_mark(sniff::head(bytes));
    let begins = match trim_start(head) {
        [b'{', rest @ ..] => trim_start(rest).first() == Some(&b'"'),
        [b'[', rest @ ..] => trim_start(rest).first() == Some(&b'{'),
        _ => false,
    };
    let detected = complete && begins && has_keyword(head) && lines(bytes, true) == Sniff::No;
    Sniff::from_match(detected, complete)
}

/// Checks that a YAML mapping has a keyword as a key, and that the text does not begin like JSON.
pub fn yaml(bytes: &[u8], complete: bool) -> Sniff {
    if !complete || sniff::head(bytes).iter().copied().any(is_control) {
        return Sniff::from_match(false, complete);
    }
    let mut lines = text_lines(bytes, true).filter(|line| {
        let is_start = line.strip_prefix(b"---").is_some_and(is_space_only);
        !is_blank(line) && !is_start && !line.starts_with(b"%")
    });
    let Some(first) = lines.next() else {
        return Sniff::No;
    };
    let begin = trim_start(first.strip_prefix(b"--- ").unwrap_or(first));
    let other = matches!(begin.first(), Some(b'{' | b'[' | b'<'));
    let detected = !other && (has_yaml_keyword(first) || lines.any(has_yaml_keyword));
    Sniff::from_match(detected, true)
}

/// Whether the text seems to contain a quoted keyword.
fn has_keyword(text: &[u8]) -> bool {
    memmem::find(text, b"\"@").is_some()
}

fn is_space_only(text: &[u8]) -> bool {
    text.iter().copied().all(is_space)
}

/// Whether the input is a JSON object.
fn is_object(text: &[u8]) -> bool {
    let bounds = Bounds {
        max_depth: u32::MAX,
        max_bytes: u64::MAX,
        max_repeated: 0,
        duplicates: true,
    };
    let mut tape = Tape::new();
    trim_start(text).first() == Some(&b'{') && parse(text, &mut tape, &bounds).is_ok()
}

/// Whether the input begins with an object whose first key is `@context`.
fn starts_with_context(text: &[u8]) -> bool {
    let key = trim_start(text).strip_prefix(b"{").map(trim_start);
    let after = key.and_then(|key| key.strip_prefix(b"\"@context\""));
    after.is_some_and(|after| trim_start(after).first() == Some(&b':'))
}

/// Whether a line of YAML begins with a quoted keyword as a key, possibly in sequences.
fn has_yaml_keyword(line: &[u8]) -> bool {
    let mut rest = trim_start(line.strip_prefix(b"--- ").unwrap_or(line));
    while let Some(item) = rest.strip_prefix(b"- ") {
        rest = item;
    }
    let [quote @ (b'"' | b'\''), b'@', name @ ..] = rest else {
        return false;
    };
    let length = name
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    match name.split_at_checked(length) {
        Some((_, [end, b':', after @ ..])) => {
            length > 0 && end == quote && after.first().is_none_or(|&byte| is_space(byte))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &[u8] = b"{\"@id\": \"a:b\"}\n";

    /// A head of full size that begins with `start`.
    fn full(start: &[u8]) -> Vec<u8> {
        let mut head = start.to_vec();
        head.resize(HEAD_BYTES, b'x');
        head
    }

    #[test]
    fn an_object_on_a_line_identifies_ndjsonld_whatever_follows() {
        for start in [&b""[..], b"\r\n", b"{}\n", b"{\"a\": 1, \"a\": NULL}\n"] {
            for end in [&b""[..], b"{", b"x\n", b"[]\n"] {
                let head = [start, OBJECT, end].concat();
                let detected = !start.ends_with(b"NULL}\n");
                assert_eq!(lines(&head, false) == Sniff::Yes, detected);
                assert_eq!(lines(&head, true) == Sniff::Yes, detected);
                assert_eq!(lines(&full(&head), true) == Sniff::Yes, detected);
            }
        }
        let cut = OBJECT.strip_suffix(b"\n").unwrap_or(OBJECT);
        assert_eq!(lines(cut, false), Sniff::More);
        assert_eq!(lines(cut, true), Sniff::Yes);
    }

    #[test]
    fn a_long_line_is_identified_by_its_context() {
        let context = full(b" { \"@context\" : {");
        assert_eq!(lines(&context, false), Sniff::More);
        assert_eq!(lines(&context, true), Sniff::Yes);
        assert_eq!(lines(&full(b"{\"@id\": {"), true), Sniff::No);
        // After an object, any keyword suffices.
        assert_eq!(lines(&full(b"{}\n{\"@id\": {"), true), Sniff::Yes);
        assert_eq!(lines(&full(b"{}\n{\"id\": {"), true), Sniff::No);
    }

    #[test]
    fn other_text_is_not_ndjsonld() {
        for (head, incomplete) in [
            (&b""[..], Sniff::More),
            (b"{}\n", Sniff::More),
            (b"{\n", Sniff::No),
            (b"[{\"@id\": 1}]\n", Sniff::No),
            (b"{\"@id\": 1} {}\n", Sniff::No),
        ] {
            assert_eq!(lines(head, false), incomplete);
            assert_eq!(lines(head, true), Sniff::No);
        }
    }

    #[test]
    fn documents_with_keywords_are_detected() {
        for head in [
            &b"{\n \"@id\": 1\n}"[..],
            b" [\n{\"@id\": 1}]",
            b"{\"a\": \"@b",
        ] {
            assert_eq!(sniff_document(head, false), Sniff::More);
            assert_eq!(sniff_document(head, true), Sniff::Yes);
        }
        for head in [
            &b""[..],
            OBJECT,
            b"{\"id\": 1",
            b"[1, \"@id\"]",
            b"a: \"@id\"",
        ] {
            assert_eq!(sniff_document(head, true), Sniff::No);
        }
    }

    #[test]
    fn yaml_with_keywords_is_detected() {
        for head in [
            "\"@id\": a:b\n",
            "'@id': a:b\n",
            "%YAML 1.2\n--- # c\na: b\n  \"@type\":\n",
            "---\n- \"@id\": a:b",
            "--- - - \"@id\": a:b",
        ] {
            assert_eq!(yaml(head.as_bytes(), false), Sniff::More, "{head}");
            assert_eq!(yaml(head.as_bytes(), true), Sniff::Yes, "{head}");
        }
        for head in [
            "",
            "# \"@id\": a:b\n",
            "a: b\n",
            "@id: a:b\n",
            "\"@id': a:b\n",
            "\"@\": a:b\n",
            "\"@id\":a\n",
            "--- [\n\"@id\": a:b\n",
            "{\n\"@id\": a:b\n}",
            "\"@id\": \u{1}\n",
        ] {
            assert_eq!(yaml(head.as_bytes(), true), Sniff::No, "{head}");
        }
    }
}
