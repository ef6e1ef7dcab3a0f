//! A user's context, and how it abbreviates IRIs and properties.
//!
//! - In: the JSON text of a context, compiled as for decoding; IRIs.
//! - Out: the [`Key`]s of a predicate, the names of types and nodes, aliases of keywords.
//! - Cost: a few lookups in the context per IRI. Keys are cached.
//! - Law: a name is used only if the decoder's rules expand it to the same IRI.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::formats::jsonld::context::{ActiveContext, Contexts, Expanded, INITIAL, Namespace};
use crate::formats::jsonld::definition::{Coercion, Containers, Definition, Mapping, Override};
use crate::formats::jsonld::iri::is_iri;
use crate::formats::jsonld::keyword::Keyword;
use crate::formats::jsonld::loader::Store;
use crate::formats::jsonld::reader::context_document;
use crate::formats::jsonld::sink::{Sink, copy};
use crate::model::error::quote;
use crate::model::limits::Limits;
use crate::syntax::json::{Bounds, Kind, Tape, View, parse, write};

/// Maximum number of predicates with cached keys.
const MAX_KNOWN: usize = 1 << 14;
/// Maximum number of terms considered per predicate.
const MAX_TERMS: usize = 48;

/// Node of the `@context` value in the tape of a context document.
const VALUE: u32 = 2;

/// How strings of a property are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coerced {
    /// As strings, with an optional language.
    Text(Option<Box<[u8]>>),
    /// As nodes, by IRI.
    Id,
    /// As nodes, named like types.
    Vocab,
    /// As literals with a datatype.
    Datatype(Box<[u8]>),
}

/// How the values of a key are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A single value alone, several in an array.
    Values,
    /// Always in an array.
    Set,
    /// As one list, in an array.
    List,
    /// As a language map.
    Language,
}

/// A key for a predicate.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: Vec<u8>,
    pub coerced: Coerced,
    pub holder: Holder,
}

/// The keys that a predicate may have, best first.
pub type Keys = Arc<[Key]>;

/// A context to compact with.
pub struct Compact {
    active: ActiveContext,
    /// `{"@context": …}`.
    text: Box<[u8]>,
    tape: Tape,
    /// Terms by IRI, best first.
    terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>>,
    /// Longest IRI first.
    prefixes: Vec<Namespace>,
    /// Keywords in quotes, and their aliases.
    aliases: Vec<(&'static [u8], Box<[u8]>)>,
    cached: FxHashMap<Box<[u8]>, Keys>,
    scratch: Vec<u8>,
}

impl Compact {
    /// Compiles a context: an object or an array, or a document with an `@context`.
    ///
    /// # Errors
    /// The context is invalid, or uses a feature that this encoder does not support. The error contains the entry.
    pub fn new(text: &str) -> Result<Self, String> {
        let limits = Limits::default();
        let bounds = Bounds {
            max_depth: limits.max_depth,
            max_bytes: limits.max_message_bytes,
            max_repeated: 0,
            duplicates: false,
        };
        let (text, tape) = wrapped(text, &bounds)?;
        let view = View {
            tape: &tape,
            source: &text,
        };
        let store = Store::new(None, &limits);
        let mut contexts = Contexts::new(None, &limits, store);
        check(&view)?;
        let number = contexts.local(INITIAL, &view, VALUE).map_err(|wrong| {
            format!(
                "compact_with is not a valid JSON-LD 1.1 context: {}",
                wrong.reason
            )
        })?;
        let mut prefixes = contexts.prefixes(number, None);
        let active = contexts.take(number);
        prefixes.sort_by_key(|(_, found)| std::cmp::Reverse(found.iri().len()));
        let mut terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>> = FxHashMap::default();
        let mut aliases: Vec<(&'static [u8], Box<[u8]>)> = Vec::new();
        for (name, definition) in active.state.terms.iter() {
            match &definition.mapping {
                Mapping::Keyword(keyword) => {
                    let Some(quoted) = quoted(*keyword) else {
                        return Err(beyond(name));
                    };
                    aliases.push((quoted, (**name).into()));
                }
                Mapping::Iri(iri) => terms.entry(iri.clone()).or_default().push(name.to_vec()),
                Mapping::Null => {}
            }
        }
        let better = |a: &[u8], b: &[u8]| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
        for names in terms.values_mut() {
            names.sort_by(|a, b| better(a, b));
            names.truncate(MAX_TERMS);
        }
        aliases.sort_by(|(_, a), (_, b)| better(a, b));
        Ok(Self {
            active,
            text,
            tape,
            terms,
            prefixes,
            aliases,
            cached: FxHashMap::default(),
            scratch: Vec::new(),
        })
    }

    /// Writes the context.
    pub fn write<S: Sink>(&self, sink: &mut S, out: &mut Vec<u8>) {
        let view = View {
            tape: &self.tape,
            source: &self.text,
        };
        copy(&view, VALUE, sink, out);
    }

    /// Whether the context has protected terms, which `null` cannot clear.
    pub fn is_protected(&self) -> bool {
        self.active.state.protected > 0
    }

    /// Whether a reader of the context obtains this namespace.
    pub fn has(&self, name: &[u8], iri: &[u8]) -> bool {
        self.prefixes
            .iter()
            .any(|(known, theirs)| **known == *name && theirs.iri() == iri)
    }

    /// The alias of a keyword, which is given in quotes.
    pub fn alias(&self, quoted: &[u8]) -> Option<&[u8]> {
        let (_, alias) = self.aliases.iter().find(|(known, _)| *known == quoted)?;
        Some(alias)
    }

    /// Whether a blank node could be read as a term.
    pub fn is_term(&self, text: &[u8]) -> bool {
        self.active.state.terms.get(text).is_some()
    }

    /// The keys of a predicate; empty if no key expands to it.
    pub fn keys(&mut self, iri: &[u8]) -> Keys {
        if let Some(keys) = self.cached.get(iri) {
            return keys.clone();
        }
        let names = self.candidates(iri, true);
        let keys: Keys = names
            .into_iter()
            .filter_map(|name| self.key(name, iri))
            .collect();
        if self.cached.len() >= MAX_KNOWN {
            self.cached.clear();
        }
        self.cached.insert(iri.into(), keys.clone());
        keys
    }

    fn key(&self, name: Vec<u8>, iri: &[u8]) -> Option<Key> {
        let property = self.active.state.expand_key(&name).ok()?;
        if *property.iri() != *iri || !property.is_iri {
            return None;
        }
        let Some(definition) = property.definition else {
            return Some(Key {
                name,
                coerced: Coerced::Text(self.active.state.language.as_deref().map(Into::into)),
                holder: Holder::Values,
            });
        };
        if !is_plain(&definition) {
            return None;
        }
        let coerced = match &definition.coercion {
            Coercion::Id => Coerced::Id,
            Coercion::Vocab => Coerced::Vocab,
            Coercion::Datatype(datatype) => Coerced::Datatype(datatype.clone()),
            Coercion::Json | Coercion::Untyped => return None,
            Coercion::Default => Coerced::Text(
                definition
                    .language
                    .or(self.active.state.language.as_deref())
                    .map(Into::into),
            ),
        };
        let containers = definition.containers;
        let holder = if containers == Containers::default() {
            Holder::Values
        } else if containers == Containers::SET {
            Holder::Set
        } else if containers == Containers::LIST {
            Holder::List
        } else if containers == Containers::LANGUAGE {
            Holder::Language
        } else {
            return None;
        };
        Some(Key {
            name,
            coerced,
            holder,
        })
    }

    /// The name of a node, or of a type with `vocab`. `None` if a reader would not accept any name for this IRI.
    pub fn name(&mut self, iri: &[u8], vocab: bool) -> Option<Vec<u8>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let names = self.candidates(iri, vocab).into_iter();
        let mut names = names;
        let found = names.find(|name| self.names(name, vocab, &mut scratch) && *scratch == *iri);
        self.scratch = scratch;
        found
    }

    /// Whether a name expands to an IRI, which is appended, and has no scoped context.
    fn names(&self, name: &[u8], vocab: bool, out: &mut Vec<u8>) -> bool {
        out.clear();
        let terms = &self.active.state.terms;
        if vocab && terms.get(name).is_some_and(|found| found.scoped.is_some()) {
            return false;
        }
        // Relative names are not used, because the encoder has no base.
        self.active.state.expand(name, vocab, false, out) == Expanded::Text && is_iri(out)
    }

    /// Possible names of an IRI: terms, the rest after `@vocab` or after a prefix, and the full IRI.
    fn candidates(&self, iri: &[u8], vocab: bool) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        if vocab {
            found.extend(self.terms.get(iri).into_iter().flatten().cloned());
            if let Some(rest) = self
                .active
                .state
                .vocab
                .as_deref()
                .and_then(|vocab| iri.strip_prefix(vocab))
                && !matches!(rest, [] | [b'@', ..])
            {
                found.push(rest.into());
            }
        }
        for (name, definition) in &self.prefixes {
            if let Some(rest) = iri.strip_prefix(definition.iri()) {
                found.push([name, &b":"[..], rest].concat());
            }
        }
        found.push(iri.into());
        found
    }
}

/// Whether a definition uses only features that the encoder supports.
fn is_plain(definition: &Definition) -> bool {
    !definition.reverse
        && definition.scoped.is_none()
        && definition.nest.is_none()
        && definition.index.is_none()
        && definition.direction == Override::Default
}

/// A keyword in quotes, if the encoder uses its aliases.
fn quoted(keyword: Keyword) -> Option<&'static [u8]> {
    Some(match keyword {
        Keyword::Graph => b"\"@graph\"",
        Keyword::Id => b"\"@id\"",
        Keyword::Included => b"\"@included\"",
        Keyword::Language => b"\"@language\"",
        Keyword::List => b"\"@list\"",
        Keyword::Set => b"\"@set\"",
        Keyword::Type => b"\"@type\"",
        Keyword::Value => b"\"@value\"",
        _ => return None,
    })
}

/// Rejects unsupported features: remote contexts, and entries that affect nested nodes.
fn check(view: &View<'_>) -> Result<(), String> {
    let contexts: Vec<u32> = match view.kind(VALUE) {
        Kind::Array => view.items(VALUE).collect(),
        _ => vec![VALUE],
    };
    for context in contexts {
        if view.kind(context) == Kind::String {
            return Err(remote(view.text(context)));
        }
        if view.kind(context) != Kind::Object {
            continue;
        }
        for key in view.keys(context) {
            let (name, value) = (view.text(key), key + 1);
            match name {
                b"@import" => return Err(remote(view.text(value))),
                b"@direction" | b"@propagate" | b"@type" => return Err(beyond(name)),
                _ => {}
            }
        }
    }
    Ok(())
}

fn beyond(name: &[u8]) -> String {
    format!(
        "the entry {} of compact_with is not supported; remove it",
        quote(name)
    )
}

fn remote(url: &[u8]) -> String {
    format!(
        "compact_with refers to the remote context {}, which is not loaded for writing; insert its content instead",
        quote(url)
    )
}

/// The context as the only entry of a document, and its tape.
fn wrapped(text: &str, bounds: &Bounds) -> Result<(Box<[u8]>, Tape), String> {
    let source = text.as_bytes();
    let (mut tape, value) = context_document(source, "compact_with", bounds)?;
    let view = View {
        tape: &tape,
        source,
    };
    let mut text = b"{\"@context\":".to_vec();
    write::write(&view, value, &mut text);
    text.push(b'}');
    parse(&text, &mut tape, bounds)
        .map_err(|error| format!("compact_with is not valid JSON: {}", error.reason))?;
    Ok((text.into(), tape))
}
