//! Writes a tape as JSON text.
//!
//! - In: a view and the value to write.
//! - Out: JSON without white space; numbers as in the source.
//! - Cost: linear, without recursion.

use super::tape::{JsonKind, View};

/// Appends a value, copied from the source if that is JSON.
pub fn copy(view: &View<'_>, value: u32, out: &mut Vec<u8>) {
    match view.raw(value) {
        Some(raw) => out.extend_from_slice(raw),
        None => write(view, value, out),
    }
}

/// Appends a value. Entries whose key is repeated later in the object are omitted.
pub fn write(view: &View<'_>, value: u32, out: &mut Vec<u8>) {
    let end = view.next(value);
    // The ends of the open objects and arrays, with their closing brackets.
    let mut open: Vec<(u32, u8)> = Vec::new();
    let mut index = value;
    while index < end {
        let kind = view.kind(index);
        match kind {
            JsonKind::Object => {
                out.push(b'{');
                open.push((view.next(index), b'}'));
            }
            JsonKind::Array => {
                out.push(b'[');
                open.push((view.next(index), b']'));
            }
            JsonKind::Key => {
                if view.is_replaced(index) {
                    index = view.next(index + 1);
                    continue;
                }
                write_string(view.text(index), out);
            }
            JsonKind::String => write_string(view.text(index), out),
            JsonKind::Number => out.extend_from_slice(view.text(index)),
            JsonKind::True => out.extend_from_slice(b"true"),
            JsonKind::False => out.extend_from_slice(b"false"),
            JsonKind::Null => out.extend_from_slice(b"null"),
        }
        index += 1;
        if kind == JsonKind::Key {
            out.push(b':');
            continue;
        }
        let starts =
            matches!(kind, JsonKind::Object | JsonKind::Array) && view.next(index - 1) > index;
        while let Some((_, close)) = open.pop_if(|(end, _)| *end == index) {
            out.push(close);
        }
        if !open.is_empty() && !starts {
            out.push(b',');
        }
    }
}

/// Appends a JSON string.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (index, &byte) in text.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(text.get(from..index).unwrap_or_default());
        from = index + 1;
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
