//! Writes a tape as JSON text.
//!
//! - In: a view and the value to write.
//! - Out: JSON without white space; numbers as they are written in the source.
//! - Cost: linear, no recursion.

use super::tape::{Kind, View};

/// Appends a value.
pub fn write(view: &View<'_>, value: u32, out: &mut Vec<u8>) {
    write_with(view, value, out, |_, _| false);
}

/// Appends a value. At the start of an object `extra` may append members, each with a comma behind it;
/// before a string or a null it may append the start of an object, and then gives true.
pub fn write_with(
    view: &View<'_>,
    value: u32,
    out: &mut Vec<u8>,
    mut extra: impl FnMut(u32, &mut Vec<u8>) -> bool,
) {
    let end = view.node(value).next;
    // The ends of the open objects and arrays, and what closes each.
    let mut open: Vec<(u32, u8)> = Vec::new();
    let mut at = value;
    while at < end {
        let node = view.node(at);
        match node.kind {
            Kind::Object => {
                out.push(b'{');
                let before = out.len();
                extra(at, out);
                if node.next == at + 1 && out.len() > before {
                    out.pop();
                }
                open.push((node.next, b'}'));
            }
            Kind::Array => {
                out.push(b'[');
                open.push((node.next, b']'));
            }
            Kind::Key => string(view.text(at), out),
            Kind::String => {
                let wrapped = extra(at, out);
                string(view.text(at), out);
                out.extend(wrapped.then_some(b'}'));
            }
            Kind::Number => out.extend_from_slice(view.text(at)),
            Kind::True => out.extend_from_slice(b"true"),
            Kind::False => out.extend_from_slice(b"false"),
            Kind::Null => {
                let wrapped = extra(at, out);
                out.extend_from_slice(b"null");
                out.extend(wrapped.then_some(b'}'));
            }
        }
        at += 1;
        if node.kind == Kind::Key {
            out.push(b':');
            continue;
        }
        let starts = matches!(node.kind, Kind::Object | Kind::Array) && node.next > at;
        while let Some((_, close)) = open.pop_if(|(end, _)| *end == at) {
            out.push(close);
        }
        if !open.is_empty() && !starts {
            out.push(b',');
        }
    }
}

/// Appends a JSON string.
pub fn string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(text.get(from..at).unwrap_or_default());
        from = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out.push(b'"');
}
