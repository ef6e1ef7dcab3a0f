//! Says of each definition that it is protected where its context says so of all.
//!
//! - In: a value that holds contexts.
//! - Out: the same value as JSON text, to the same effect.
//! - Why: `oxjsonld` takes a definition that another one refers to for one that is not protected, or
//!   not, by the order of a hash map with a random key.

use rustc_hash::FxHashSet;

use crate::json::{Kind, View, write};

/// Appends a value; `extra` may append members, each with a comma behind it, at the start of an object.
pub(super) fn write(
    view: &View<'_>,
    value: u32,
    out: &mut Vec<u8>,
    extra: impl Fn(u32, &mut Vec<u8>),
) {
    let marked = definitions(view, value);
    write::write_with(view, value, out, |node, out| {
        let is_object = view.kind(node) == Kind::Object;
        if is_object {
            extra(node, out);
        }
        if !marked.contains(&node) {
            return false;
        }
        out.extend_from_slice(if is_object {
            b"\"@protected\":true,"
        } else {
            b"{\"@protected\":true,\"@id\":"
        });
        !is_object
    });
}

/// The definitions that are protected without saying so themselves.
fn definitions(view: &View<'_>, value: u32) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    let end = view.node(value).next;
    let mut at = value;
    while at < end {
        if view.kind(at) == Kind::Key {
            match view.text(at) {
                b"@context" => contexts(view, at + 1, &mut found),
                // A JSON literal is no context.
                b"@value" => at = view.node(at + 1).next - 1,
                _ => {}
            }
        }
        at += 1;
    }
    found
}

/// Of a context or an array of contexts.
fn contexts(view: &View<'_>, value: u32, found: &mut FxHashSet<u32>) {
    let mut at = value;
    let end = view.node(value).next;
    while at < end {
        if view.kind(at) == Kind::Array {
            at += 1;
            continue;
        }
        let protects = view.kind(at) == Kind::Object
            && view
                .get(at, b"@protected")
                .is_some_and(|value| view.kind(value) == Kind::True);
        if protects {
            for key in view.keys(at) {
                let own = match view.kind(key + 1) {
                    Kind::Object => view.get(key + 1, b"@protected").is_some(),
                    Kind::String | Kind::Null => false,
                    _ => true,
                };
                if !own && view.text(key).first() != Some(&b'@') {
                    found.insert(key + 1);
                }
            }
        }
        at = view.node(at).next;
    }
}
