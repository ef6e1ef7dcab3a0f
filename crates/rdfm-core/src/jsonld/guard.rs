//! What keeps contexts from costing too much: chains of definitions, references, scoped contexts.
//!
//! - In: a tape.
//! - Out: the remote contexts that it names, how many contexts and terms it holds; or why it is refused.
//! - Cost: linear, no recursion.
//! - Law: the algorithms of JSON-LD follow chains of definitions by recursion; no chain is deeper than
//!   `max_depth` afterwards.

use rustc_hash::FxHashMap;

use crate::json::{Kind, View};

/// What stands in a tape.
pub(super) struct Survey<'a> {
    /// Strings that name remote contexts, and whether a definition does.
    pub references: Vec<(&'a str, bool)>,
    /// Values of `@context`, those of definitions included.
    pub contexts: u64,
    /// Entries of these.
    pub entries: u64,
    /// A definition has a context of its own.
    pub scoped: bool,
    /// Objects.
    pub objects: u64,
}

/// Looks at every context in a value.
///
/// # Errors
/// Definitions refer to each other too deep.
pub(super) fn survey<'a>(view: &View<'a>, root: u32, max_depth: u32) -> Result<Survey<'a>, String> {
    let mut found = Survey {
        references: Vec::new(),
        contexts: 0,
        entries: 0,
        scoped: false,
        objects: 0,
    };
    let end = view.node(root).next;
    // Behind here, a context is one of a definition.
    let mut inside = 0;
    for at in root..end {
        let node = view.node(at);
        if node.kind == Kind::Object {
            found.objects += 1;
        }
        if node.kind != Kind::Key {
            continue;
        }
        match view.text(at) {
            b"@context" => {
                found.contexts += 1;
                found.scoped |= at < inside;
                let definitions = inside;
                inside = inside.max(view.node(at + 1).next);
                context(view, at + 1, at < definitions, max_depth, &mut found)?;
            }
            b"@import" => reference(view, at + 1, false, &mut found),
            _ => {}
        }
    }
    Ok(found)
}

/// Looks at the value of an `@context`, its arrays taken apart.
fn context<'a>(
    view: &View<'a>,
    value: u32,
    scoped: bool,
    max_depth: u32,
    found: &mut Survey<'a>,
) -> Result<(), String> {
    let mut at = value;
    let end = view.node(value).next;
    while at < end {
        match view.kind(at) {
            Kind::Array => at += 1,
            Kind::Object => {
                found.entries += view.keys(at).count() as u64;
                chains(view, at, max_depth)?;
                at = view.node(at).next;
            }
            _ => {
                reference(view, at, scoped, found);
                at += 1;
            }
        }
    }
    Ok(())
}

fn reference<'a>(view: &View<'a>, value: u32, scoped: bool, found: &mut Survey<'a>) {
    if view.kind(value) == Kind::String
        && let Ok(text) = std::str::from_utf8(view.text(value))
    {
        found.references.push((text, scoped));
    }
}

/// The depth of a definition that was not looked at.
const NEW: u32 = u32::MAX;

/// Whether definitions of an object refer to each other too deep.
fn chains(view: &View<'_>, object: u32, max_depth: u32) -> Result<(), String> {
    let keys: Vec<u32> = view.keys(object).collect();
    let mut place: FxHashMap<&[u8], u32> = FxHashMap::default();
    for (at, &key) in keys.iter().enumerate() {
        place.insert(view.text(key), at as u32);
    }
    let mut targets: Vec<u32> = Vec::new();
    let mut starts: Vec<u32> = Vec::with_capacity(keys.len() + 1);
    for &key in &keys {
        starts.push(targets.len() as u32);
        let mut refer = |text: &[u8]| {
            targets.extend(place.get(text));
            if let Some(colon) = memchr::memchr(b':', text) {
                targets.extend(text.get(..colon).and_then(|prefix| place.get(prefix)));
            }
        };
        refer(view.text(key));
        match view.kind(key + 1) {
            Kind::String => refer(view.text(key + 1)),
            Kind::Object => {
                for part in view.keys(key + 1) {
                    if view.kind(part + 1) == Kind::String {
                        refer(view.text(part + 1));
                    }
                }
            }
            _ => {}
        }
    }
    starts.push(targets.len() as u32);
    // The depth below each definition; a cycle is the reader's to refuse.
    let mut depths = vec![NEW; keys.len()];
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for first in 0..keys.len() as u32 {
        if depths[first as usize] != NEW {
            continue;
        }
        depths[first as usize] = 0;
        stack.push((first, starts[first as usize]));
        while let Some((at, edge)) = stack.last_mut() {
            let (at, next) = (*at as usize, *edge);
            if next < starts[at + 1] {
                *edge += 1;
                let target = targets[next as usize];
                if depths[target as usize] == NEW {
                    depths[target as usize] = 0;
                    stack.push((target, starts[target as usize]));
                } else {
                    depths[at] = depths[at].max(depths[target as usize] + 1);
                }
            } else {
                stack.pop();
                let depth = depths[at] + 1;
                if let Some((parent, _)) = stack.last() {
                    let parent = *parent as usize;
                    depths[parent] = depths[parent].max(depth);
                }
            }
            if stack.len() > max_depth as usize || depths[at] > max_depth {
                return Err(format!(
                    "definitions of a context refer to each other more than {max_depth} deep; raise \
                     max_depth (--max-depth)"
                ));
            }
        }
    }
    Ok(())
}
