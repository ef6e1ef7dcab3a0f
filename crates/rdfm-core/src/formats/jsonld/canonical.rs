//! JSON literals in their canonical form (RFC 8785).
//!
//! - In: a tape value.
//! - Out: JSON text without white space, with keys ordered by UTF-16 code units and numbers in
//!   ECMAScript form.
//! - Cost: linear, plus sorting the keys of each object. No recursion.

use super::number;
use crate::syntax::json::{JsonKind, View};

/// An item that remains to be written.
enum WriteStep {
    Value(u32),
    Key(u32),
    Text(u8),
}

/// Appends a value. The error is the node of a number outside the range of doubles, which has no
/// canonical form.
pub(super) fn write(view: &View<'_>, value: u32, out: &mut Vec<u8>) -> Result<(), u32> {
    let mut steps = vec![WriteStep::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            WriteStep::Text(byte) => out.push(byte),
            WriteStep::Key(key) => {
                write_string(view.text(key), out);
                out.push(b':');
            }
            WriteStep::Value(value) => match view.kind(value) {
                JsonKind::Object => write_object(view, value, &mut steps, out),
                JsonKind::Array => {
                    out.push(b'[');
                    steps.push(WriteStep::Text(b']'));
                    let from = steps.len();
                    for item in view.items(value) {
                        if steps.len() > from {
                            steps.push(WriteStep::Text(b','));
                        }
                        steps.push(WriteStep::Value(item));
                    }
                    steps[from..].reverse();
                }
                JsonKind::String | JsonKind::Key => write_string(view.text(value), out),
                JsonKind::Number => {
                    if !number::write_ecmascript(view.text(value), out) {
                        return Err(value);
                    }
                }
                JsonKind::True => out.extend_from_slice(b"true"),
                JsonKind::False => out.extend_from_slice(b"false"),
                JsonKind::Null => out.extend_from_slice(b"null"),
            },
        }
    }
    Ok(())
}

fn write_object(view: &View<'_>, object: u32, steps: &mut Vec<WriteStep>, out: &mut Vec<u8>) {
    let mut keys: Vec<u32> = view.keys(object).collect();
    keys.sort_by(|&a, &b| units(view.text(a)).cmp(units(view.text(b))));
    out.push(b'{');
    steps.push(WriteStep::Text(b'}'));
    for (index, &key) in keys.iter().enumerate().rev() {
        steps.push(WriteStep::Value(key + 1));
        steps.push(WriteStep::Key(key));
        if index > 0 {
            steps.push(WriteStep::Text(b','));
        }
    }
}

/// The UTF-16 code units of a string.
fn units(text: &[u8]) -> impl Iterator<Item = u16> {
    std::str::from_utf8(text).unwrap_or_default().encode_utf16()
}

/// Appends a string as ECMAScript's `JSON.stringify` does.
fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            8 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::syntax::json::{Bounds, Tape, parse};

    fn canonical(text: &str) -> Result<String, u32> {
        let bounds = Bounds {
            max_depth: 9,
            max_bytes: 1 << 20,
            max_repeated: 0,
            duplicates: true,
        };
        let mut tape = Tape::new();
        parse(text.as_bytes(), &mut tape, &bounds).unwrap();
        let view = View {
            tape: &tape,
            source: text.as_bytes(),
        };
        let mut out = Vec::new();
        write(&view, 0, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_have_their_canonical_form() {
        for (text, expected) in [
            (" [ ] ", "[]"),
            ("{}", "{}"),
            (
                r#"{"b": [1, {"z": null, "a": true}], "a": -0}"#,
                r#"{"a":0,"b":[1,{"a":true,"z":null}]}"#,
            ),
            (
                r#"{"a": 1, "a": [2.50, false, ""]}"#,
                r#"{"a":[2.5,false,""]}"#,
            ),
            (
                r#""\u20ac$\u000F\nA'B\"\\\/\u007f\b""#,
                "\"€$\\u000f\\nA'B\\\"\\\\/\u{7f}\\b\"",
            ),
            // RFC 8785, 3.2.3: surrogates come before U+FB33.
            (
                r#"{"\u20ac": 0, "\r": 1, "\ufb33": 2, "1": 3, "\ud83d\ude00": 4, "\u0080": 5, "\u00f6": 6}"#,
                "{\"\\r\":1,\"1\":3,\"\u{80}\":5,\"ö\":6,\"€\":0,\"😀\":4,\"\u{fb33}\":2}",
            ),
        ] {
            assert_eq!(canonical(text).unwrap(), expected);
        }
        assert!(canonical("[1e400]").is_err());
    }
}
