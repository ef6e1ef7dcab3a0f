//! Determines whether unreadable text may have been a context message. If so, the context in
//! force is unknown.
//!
//! - In: an invalid NDJSON-LD line or YAML-LD document, or the beginning of one.
//! - Out: false if the text has a key other than `@context`, which makes it a data message.
//! - Cost: one pass, only for a line or document with an error.

const CONTEXT: &[u8] = b"@context";

/// Whether a JSON text, or the beginning of one, may be a context message.
pub(super) fn may_be_context(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let Some(inside) = text.strip_prefix(b"{") else {
        return text.is_empty();
    };
    let inside = inside.trim_ascii_start();
    let key = b"\"@context\"";
    let Some(rest) = inside.strip_prefix(key) else {
        return key.starts_with(inside);
    };
    match rest.trim_ascii_start().strip_prefix(b":") {
        Some(rest) => {
            value_end(rest).is_none_or(|end| !rest[end..].trim_ascii_start().starts_with(b","))
        }
        None => true,
    }
}

/// End of the value at the start of `text`; `None` if the value does not end.
fn value_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut index) = (0u64, 0);
    while let Some(&byte) = text.get(index) {
        match byte {
            b'"' => {
                index += 1;
                while *text.get(index)? != b'"' {
                    index += if text[index] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return Some(index),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        index += 1;
    }
    None
}

/// Whether a YAML document, or the beginning of one, may be a context message.
pub(super) fn may_be_context_document(text: &[u8]) -> bool {
    let Some(content) = find_content(text) else {
        return true;
    };
    if content.starts_with(b"{") {
        return may_be_context(content);
    }
    let key = match content.first() {
        Some(b'"' | b'\'') => &content[1..],
        // Properties of the mapping come before the first key.
        Some(b'&' | b'!' | b'?') => return true,
        _ => content,
    };
    if !key.starts_with(CONTEXT) {
        return CONTEXT.starts_with(key);
    }
    let before = &text[..text.len() - content.len()];
    let indent = before
        .iter()
        .rev()
        .take_while(|byte| **byte == b' ')
        .count();
    let other_key = |line: &[u8]| {
        let indentation = line.iter().take_while(|byte| **byte == b' ').count();
        let first = line.get(indentation);
        // A list may have the same indentation as its key.
        indentation == indent
            && !matches!(first, None | Some(b'#' | b'-' | b']' | b'}' | b'.' | b'\r'))
    };
    !content.split(|byte| *byte == b'\n').skip(1).any(other_key)
}

/// The content of a YAML document after markers, directives, comments and white space. `None` if
/// there is no content.
fn find_content(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = text.trim_ascii_start();
        text = match text.first()? {
            b'#' | b'%' => &text[text.iter().position(|byte| *byte == b'\n')?..],
            b'-' if text.starts_with(b"---") => &text[3..],
            b'.' if text.starts_with(b"...") => &text[3..],
            _ => return Some(text),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_second_key_is_a_message() {
        for (text, expected) in [
            (r#"{"@context":{"a":"b"}"#, true),
            (r#"{"@context":{"a":"b"}}}"#, true),
            (r#"{"@context":{"a":"}"#, true),
            (r#" { "@context" : "x" "#, true),
            (r#"{"@context" "x"}"#, true),
            (
                r#"{"@context":["a,b","\",", {"c":1}] , "@id": oops}"#,
                false,
            ),
            (r#"{"@context":null,"@id":}"#, false),
            (r#"{"@id":"x","@context":}"#, false),
            (r#"["@context"]"#, false),
            (r#"{"@con"#, true),
            ("", true),
            ("oops", false),
        ] {
            assert_eq!(may_be_context(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_document_with_a_second_key_is_a_message() {
        for (text, expected) in [
            ("\"@context\":\n  a: [\n", true),
            ("--- # c\n%x\n\n'@context':\n- a\n- : {\n...\n", true),
            ("@context:\n  a: b\n", true),
            ("---\n\"@context\":\n  a: b\n\"@id\": [\n", false),
            ("  \"@context\": {}\n  \"@id\": [\n", false),
            ("--- {\"@context\": {\"a\": \"b\"}, x: ]\n", false),
            ("{\"@context\": {a: b}", true),
            ("&a \"@context\": [", true),
            ("a: [\n\"@context\": {}\n", false),
            ("# only\n", true),
        ] {
            assert_eq!(may_be_context_document(text.as_bytes()), expected, "{text}");
        }
    }
}
