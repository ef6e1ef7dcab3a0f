//! Keys that mean nothing, said in a context, so that the complete way leaves out what stands below them.
//!
//! - In: a document, and the keys that no context maps.
//! - Out: the same document with these keys mapped to null before all else.
//! - Cost: linear, with a tape of its own.
//! - Law: the document means what it meant. Where that is not sure, none is given: a vocabulary may make
//!   something of such a key elsewhere, and a type of that name would vanish.

use rustc_hash::FxHashSet;

use crate::json::{Bounds, Kind, Tape, View, parse, write};

/// The document with the keys mapped to null.
pub(super) fn mapped(text: &[u8], keys: &FxHashSet<String>, bounds: &Bounds) -> Option<Vec<u8>> {
    let bounds = Bounds {
        max_depth: bounds.max_depth.saturating_add(2),
        duplicates: true,
        ..*bounds
    };
    let mut tape = Tape::new();
    parse(text, &mut tape, &bounds).ok()?;
    let view = View {
        tape: &tape,
        source: text,
    };
    if tape.has_duplicates() || view.kind(0) != Kind::Object {
        return None;
    }
    for at in 0..tape.nodes().len() as u32 {
        let known = match view.kind(at) {
            Kind::Key => view.text(at) == b"@vocab",
            Kind::String => {
                std::str::from_utf8(view.text(at)).is_ok_and(|text| keys.contains(text))
            }
            _ => false,
        };
        if known {
            return None;
        }
    }
    let mut names: Vec<&String> = keys.iter().collect();
    names.sort_unstable();
    let mut out = b"{\"@context\":[".to_vec();
    for (separator, name) in std::iter::once(b'{')
        .chain(std::iter::repeat(b','))
        .zip(names)
    {
        out.push(separator);
        write::string(name.as_bytes(), &mut out);
        out.extend_from_slice(b":null");
    }
    out.push(b'}');
    if let Some(context) = view.get(0, b"@context") {
        let several = view.kind(context) == Kind::Array;
        let contexts = if several {
            view.items(context).collect()
        } else {
            vec![context]
        };
        for context in contexts {
            out.push(b',');
            write::write(&view, context, &mut out);
        }
    }
    out.push(b']');
    for key in view.keys(0) {
        if view.text(key) != b"@context" {
            out.push(b',');
            write::string(view.text(key), &mut out);
            out.push(b':');
            write::write(&view, key + 1, &mut out);
        }
    }
    out.push(b'}');
    Some(out)
}
