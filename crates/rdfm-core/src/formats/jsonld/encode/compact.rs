//! Writes IRIs and properties with a user-defined context.
//!
//! - In: the JSON text of a context, compiled as for reading; IRIs.
//! - Out: the [`PredicateKey`]s of a predicate, the names of types and nodes, and keyword aliases.
//! - Cost: a few lookups in the context per IRI; keys are cached.
//! - Law: a name is used only if the reader's own rules expand it to the same IRI.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::formats::jsonld::context::{
    ActiveContext, ContextNamespace, Contexts, Expanded, INITIAL,
};
use crate::formats::jsonld::definition::{Coercion, Containers, Definition, Mapping, Override};
use crate::formats::jsonld::iri::is_iri;
use crate::formats::jsonld::keyword::Keyword;
use crate::formats::jsonld::loader::ContextStore;
use crate::formats::jsonld::reader::parse_context_document;
use crate::formats::jsonld::sink::{Sink, copy};
use crate::model::error::quote;
use crate::model::limits::Limits;
use crate::syntax::json::{Bounds, JsonKind, Tape, View, parse, write};

/// Maximum number of predicates whose keys are cached.
const MAX_CACHED: usize = 1 << 14;
/// Maximum number of terms considered for one predicate.
const MAX_TERMS: usize = 48;

/// Tape position of the context in a context document.
const VALUE: u32 = 2;

/// The type to which the strings of a property are coerced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueCoercion {
    /// Strings, possibly with a language.
    Text(Option<Box<[u8]>>),
    /// Nodes, named by their IRIs.
    Id,
    /// Nodes, named like types.
    Vocab,
    /// Literals of a datatype.
    Datatype(Box<[u8]>),
}

/// The structure of a key's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueHolder {
    /// A single value, or several in an array.
    Values,
    /// An array.
    Set,
    /// An array that is one list.
    List,
    /// A map by language.
    Language,
}

/// A key that represents a predicate.
#[derive(Clone, Debug)]
pub struct PredicateKey {
    pub name: Vec<u8>,
    pub coerced: ValueCoercion,
    pub holder: ValueHolder,
}

/// The possible keys of a predicate, best first.
pub type PredicateKeys = Arc<[PredicateKey]>;

/// A context for compaction.
#[derive(Clone)]
pub struct CompactContext {
    active: Arc<ActiveContext>,
    /// The context as a document: `{"@context": …}`.
    text: Box<[u8]>,
    tape: Tape,
    /// Terms by their IRIs, best first.
    terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>>,
    /// Terms that can be prefixes, sorted with the longest IRI first.
    prefixes: Vec<ContextNamespace>,
    /// Quoted keywords and their aliases.
    aliases: Vec<(&'static [u8], Box<[u8]>)>,
    cached: FxHashMap<Box<[u8]>, PredicateKeys>,
    scratch: Vec<u8>,
}

impl CompactContext {
    /// Compiles a context, given as an object, an array, or a document with an `@context`.
    ///
    /// # Errors
    /// If the text is not a context, or contains an entry that this writer does not support; the
    /// error says why.
    pub fn new(text: &str) -> Result<Self, String> {
        let limits = Limits::default();
        let bounds = Bounds {
            max_depth: limits.max_depth,
            max_bytes: limits.max_message_bytes,
            max_repeated: 0,
            duplicates: false,
        };
        let (text, tape) = parse_wrapped(text, &bounds)?;
        let view = View {
            tape: &tape,
            source: &text,
        };
        let store = ContextStore::new(None, &limits);
        let mut contexts = Contexts::new(None, &limits, store);
        check(&view)?;
        let number = contexts
            .apply_local(INITIAL, &view, VALUE)
            .map_err(|error| {
                format!(
                    "compact_with is not a JSON-LD 1.1 context: {}",
                    error.reason
                )
            })?;
        let mut prefixes = contexts.prefixes(number, None);
        let active = contexts.take(number);
        prefixes.sort_by_key(|(_, prefix)| std::cmp::Reverse(prefix.iri().len()));
        let mut terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>> = FxHashMap::default();
        let mut aliases: Vec<(&'static [u8], Box<[u8]>)> = Vec::new();
        for (name, definition) in active.state.terms.iter() {
            match &definition.mapping {
                Mapping::Keyword(keyword) => {
                    let Some(quoted) = quoted_name(*keyword) else {
                        return Err(unsupported_entry_error(name));
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
            active: Arc::new(active),
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

    /// Whether the context has protected terms, so that `null` cannot clear it.
    pub fn is_protected(&self) -> bool {
        self.active.state.protected > 0
    }

    /// Whether the context contains this namespace.
    pub fn has(&self, name: &[u8], iri: &[u8]) -> bool {
        self.prefixes
            .iter()
            .any(|(known, theirs)| **known == *name && theirs.iri() == iri)
    }

    /// Returns the alias of a quoted keyword, if the context has one.
    pub fn alias(&self, quoted: &[u8]) -> Option<&[u8]> {
        let (_, alias) = self.aliases.iter().find(|(known, _)| *known == quoted)?;
        Some(alias)
    }

    /// Whether a blank node could be read as a term.
    pub fn is_term(&self, text: &[u8]) -> bool {
        self.active.state.terms.get(text).is_some()
    }

    /// Returns the keys of a predicate; empty if no key expands to the predicate.
    pub fn find_keys(&mut self, iri: &[u8]) -> PredicateKeys {
        if let Some(keys) = self.cached.get(iri) {
            return keys.clone();
        }
        let names = self.candidates(iri, true);
        let keys: PredicateKeys = names
            .into_iter()
            .filter_map(|name| self.key(name, iri))
            .collect();
        if self.cached.len() >= MAX_CACHED {
            self.cached.clear();
        }
        self.cached.insert(iri.into(), keys.clone());
        keys
    }

    fn key(&self, name: Vec<u8>, iri: &[u8]) -> Option<PredicateKey> {
        let property = self.active.state.expand_key(&name).ok()?;
        if *property.iri() != *iri || !property.is_iri {
            return None;
        }
        let Some(definition) = property.definition else {
            return Some(PredicateKey {
                name,
                coerced: ValueCoercion::Text(self.active.state.language.as_deref().map(Into::into)),
                holder: ValueHolder::Values,
            });
        };
        if !is_plain(&definition) {
            return None;
        }
        let coerced = match &definition.coercion {
            Coercion::Id => ValueCoercion::Id,
            Coercion::Vocab => ValueCoercion::Vocab,
            Coercion::Datatype(datatype) => ValueCoercion::Datatype(datatype.clone()),
            Coercion::Json | Coercion::Untyped => return None,
            Coercion::Default => ValueCoercion::Text(
                definition
                    .language
                    .or(self.active.state.language.as_deref())
                    .map(Into::into),
            ),
        };
        let containers = definition.containers;
        let holder = if containers == Containers::default() {
            ValueHolder::Values
        } else if containers == Containers::SET {
            ValueHolder::Set
        } else if containers == Containers::LIST {
            ValueHolder::List
        } else if containers == Containers::LANGUAGE {
            ValueHolder::Language
        } else {
            return None;
        };
        Some(PredicateKey {
            name,
            coerced,
            holder,
        })
    }

    /// Returns the name of a node, or of a type if `vocab` is true. Returns `None` if no name
    /// expands to this IRI.
    pub fn name(&mut self, iri: &[u8], vocab: bool) -> Option<Vec<u8>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut names = self.candidates(iri, vocab).into_iter();
        let compact_name =
            names.find(|name| self.is_expandable(name, vocab, &mut scratch) && *scratch == *iri);
        self.scratch = scratch;
        compact_name
    }

    /// Whether readers expand a name to an IRI without side effects. Stores the IRI in `out`.
    fn is_expandable(&self, name: &[u8], vocab: bool, out: &mut Vec<u8>) -> bool {
        out.clear();
        let terms = &self.active.state.terms;
        if vocab
            && terms
                .get(name)
                .is_some_and(|definition| definition.scoped.is_some())
        {
            return false;
        }
        // Writers do not use relative names, because the base is unknown.
        self.active.state.expand(name, vocab, false, out) == Expanded::Text && is_iri(out)
    }

    /// Possible names of an IRI: terms, names relative to `@vocab`, compact IRIs, and the full IRI.
    fn candidates(&self, iri: &[u8], vocab: bool) -> Vec<Vec<u8>> {
        let mut candidates = Vec::new();
        if vocab {
            candidates.extend(self.terms.get(iri).into_iter().flatten().cloned());
            if let Some(rest) = self
                .active
                .state
                .vocab
                .as_deref()
                .and_then(|vocab| iri.strip_prefix(vocab))
                && !matches!(rest, [] | [b'@', ..])
            {
                candidates.push(rest.into());
            }
        }
        for (name, definition) in &self.prefixes {
            if let Some(rest) = iri.strip_prefix(definition.iri()) {
                candidates.push([name, &b":"[..], rest].concat());
            }
        }
        candidates.push(iri.into());
        candidates
    }
}

/// Whether a definition uses only features that the writer supports.
fn is_plain(definition: &Definition) -> bool {
    !definition.reverse
        && definition.scoped.is_none()
        && definition.nest.is_none()
        && definition.index.is_none()
        && definition.direction == Override::Default
}

/// Returns a quoted keyword if the writer uses aliases for it.
fn quoted_name(keyword: Keyword) -> Option<&'static [u8]> {
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
        JsonKind::Array => view.items(VALUE).collect(),
        _ => vec![VALUE],
    };
    for context in contexts {
        if view.kind(context) == JsonKind::String {
            return Err(remote(view.text(context)));
        }
        if view.kind(context) != JsonKind::Object {
            continue;
        }
        for key in view.keys(context) {
            let (name, value) = (view.text(key), key + 1);
            match name {
                b"@import" => return Err(remote(view.text(value))),
                b"@direction" | b"@propagate" | b"@type" => {
                    return Err(unsupported_entry_error(name));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn unsupported_entry_error(name: &[u8]) -> String {
    format!(
        "the entry {} of compact_with is not supported; remove it",
        quote(name)
    )
}

fn remote(url: &[u8]) -> String {
    format!(
        "compact_with refers to the remote context {}, which is not supported; replace it with its content",
        quote(url)
    )
}

/// Wraps the context in a document with one key, and parses it.
fn parse_wrapped(text: &str, bounds: &Bounds) -> Result<(Box<[u8]>, Tape), String> {
    let source = text.as_bytes();
    let (mut tape, value) = parse_context_document(source, "compact_with", bounds)?;
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
