//! A context of the user's, and how IRIs and properties are written with it.
//!
//! - In: the JSON text of a context, compiled as for reading; IRIs.
//! - Out: the [`Key`]s of a predicate, the names of types and nodes, aliases of keywords.
//! - Cost: a few look-ups in the context an IRI; keys are remembered.
//! - Law: a name is given only if the reader's own rules make the same IRI of it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::codec::RdfDirection;
use crate::error::quote;
use crate::json::{Bounds, Kind, Tape, View, parse, write};
use crate::jsonld::complete::Complete;
use crate::jsonld::context::{
    Active, Coercion, Container, Contexts, INITIAL, Keyword, Language, Namespace, members,
};
use crate::jsonld::guard::survey;
use crate::jsonld::loader::Store;
use crate::jsonld::reader::explicit;
use crate::jsonld::sink::{Sink, copy};
use crate::limits::Limits;

/// Predicates whose keys are remembered.
const MOST_KNOWN: usize = 1 << 14;
/// Terms of one predicate that are looked at.
const MOST_TERMS: usize = 48;

/// Where the value of the one key of a context document stands in its tape.
const VALUE: u32 = 2;

/// What the strings of a property become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coerced {
    /// Strings, perhaps of a language.
    Text(Option<Box<[u8]>>),
    /// Nodes, named by their IRIs.
    Id,
    /// Nodes, named as types are.
    Vocab,
    /// Literals of a datatype.
    Datatype(Box<[u8]>),
}

/// How the values of a key stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// One alone, several in an array.
    Values,
    /// In an array.
    Set,
    /// The array is one list.
    List,
    /// By language.
    Language,
}

/// A key that stands for a predicate.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: Vec<u8>,
    pub coerced: Coerced,
    pub holder: Holder,
}

/// The keys that a predicate may have, the best first.
pub type Keys = Arc<[Key]>;

/// A context to compact with.
pub struct Compact {
    active: Active,
    /// `{"@context": …}`.
    text: Box<[u8]>,
    tape: Tape,
    /// Terms by what they mean, the best first.
    terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>>,
    /// The longest IRI first.
    prefixes: Vec<Namespace>,
    /// Keywords in quotes, and what stands for them.
    aliases: Vec<(&'static [u8], Box<[u8]>)>,
    known: FxHashMap<Box<[u8]>, Keys>,
    scratch: Vec<u8>,
}

impl Compact {
    /// Compiles a context: an object or an array, or a document that holds one as its `@context`.
    ///
    /// # Errors
    /// It is no context, or holds what this writer does not use; the text names the entry.
    pub fn new(text: &str) -> Result<Self, String> {
        let limits = Limits::default();
        let bounds = Bounds {
            max_depth: limits.max_depth,
            max_bytes: limits.max_message_bytes,
            duplicates: false,
        };
        let (text, tape) = document(text, &bounds)?;
        let view = View {
            tape: &tape,
            source: &text,
        };
        let found = survey(&view, 0, bounds.max_depth)
            .map_err(|reason| format!("compact_with cannot be used: {reason}"))?;
        if let Some((url, _)) = found.references.first() {
            return Err(format!(
                "compact_with names the remote context {}, and a writer loads none; put what it holds \
                 in its place",
                quote(url.as_bytes())
            ));
        }
        let store = Store::new(None, &limits);
        let complete = Complete {
            base: None,
            lenient: true,
            direction: RdfDirection::None,
            store: store.clone(),
        };
        complete.check(members(&explicit(&view))).map_err(|wrong| {
            format!(
                "compact_with is no context of JSON-LD 1.1: {}",
                wrong.reason
            )
        })?;
        let mut contexts = Contexts::new(None, bounds, store);
        let made = contexts.compile(INITIAL, &view, VALUE, |text| complete.takes(text));
        let Some(number) = made else {
            return Err(match contexts.stopped() {
                Some(name) => format!(
                    "the entry {} of compact_with is beyond what rdfm compacts with; leave it out",
                    quote(name)
                ),
                None => "compact_with is a context that rdfm cannot compact with".to_owned(),
            });
        };
        let mut prefixes = contexts.prefixes(number);
        let Some(active) = contexts.take(number) else {
            return Err("compact_with was lost; please report it".to_owned());
        };
        prefixes.sort_by_key(|(_, iri)| std::cmp::Reverse(iri.len()));
        let mut terms: FxHashMap<Box<[u8]>, Vec<Vec<u8>>> = FxHashMap::default();
        let mut aliases: Vec<(&'static [u8], Box<[u8]>)> = Vec::new();
        for (name, iri, keyword) in active.names() {
            match keyword.map(quoted) {
                Some(quoted) => aliases.push((quoted, name.into())),
                None => terms.entry(iri.into()).or_default().push(name.into()),
            }
        }
        let better = |a: &[u8], b: &[u8]| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
        for names in terms.values_mut() {
            names.sort_by(|a, b| better(a, b));
            names.truncate(MOST_TERMS);
        }
        aliases.sort_by(|(_, a), (_, b)| better(a, b));
        Ok(Self {
            active,
            text,
            tape,
            terms,
            prefixes,
            aliases,
            known: FxHashMap::default(),
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

    /// Whether `null` cannot clear the context.
    pub fn is_protected(&self) -> bool {
        self.active.is_protected()
    }

    /// Whether a reader of the context gets this namespace.
    pub fn has(&self, name: &[u8], iri: &[u8]) -> bool {
        self.prefixes
            .iter()
            .any(|(known, theirs)| **known == *name && **theirs == *iri)
    }

    /// What stands for a keyword, given in quotes.
    pub fn alias(&self, quoted: &[u8]) -> Option<&[u8]> {
        let (_, alias) = self.aliases.iter().find(|(known, _)| *known == quoted)?;
        Some(alias)
    }

    /// Whether a blank node could be taken for a term.
    pub fn is_term(&self, text: &[u8]) -> bool {
        self.active.has_term(text)
    }

    /// The keys of a predicate; none if no key means it.
    pub fn keys(&mut self, iri: &[u8]) -> Keys {
        if let Some(keys) = self.known.get(iri) {
            return keys.clone();
        }
        let names = self.candidates(iri, true);
        let keys: Keys = names
            .into_iter()
            .filter_map(|name| self.key(name, iri))
            .collect();
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(iri.into(), keys.clone());
        keys
    }

    fn key(&self, name: Vec<u8>, iri: &[u8]) -> Option<Key> {
        let property = self.active.expand_key(&name).ok()?;
        if *property.iri != *iri {
            return None;
        }
        let coerced = match property.coercion {
            Coercion::Id => Coerced::Id,
            Coercion::Vocab => Coerced::Vocab,
            Coercion::Datatype(number) => Coerced::Datatype(self.active.datatype(number)?.into()),
            Coercion::None => Coerced::Text(match property.language {
                Language::Default => self.active.language.clone(),
                Language::Null => None,
                Language::Tag(tag) => Some(tag),
            }),
        };
        let holder = match property.container {
            Container::None => Holder::Values,
            Container::Set => Holder::Set,
            Container::List => Holder::List,
            Container::Language => Holder::Language,
        };
        Some(Key {
            name,
            coerced,
            holder,
        })
    }

    /// The name of a node, or of a type with `vocab`; None if a reader takes none for this IRI.
    pub fn name(&mut self, iri: &[u8], vocab: bool) -> Option<Vec<u8>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let names = self.candidates(iri, vocab).into_iter();
        let mut names = names;
        let found =
            names.find(|name| self.active.node_iri(name, vocab, &mut scratch) && *scratch == *iri);
        self.scratch = scratch;
        found
    }

    /// What might name an IRI: terms, the rest behind `@vocab`, behind a prefix, all of it.
    fn candidates(&self, iri: &[u8], vocab: bool) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        if vocab {
            found.extend(self.terms.get(iri).into_iter().flatten().cloned());
            if let Some(rest) = self
                .active
                .vocab()
                .and_then(|vocab| iri.strip_prefix(vocab))
                && !matches!(rest, [] | [b'@', ..])
            {
                found.push(rest.into());
            }
        }
        for (name, namespace) in &self.prefixes {
            if let Some(rest) = iri.strip_prefix(&**namespace) {
                found.push([name, &b":"[..], rest].concat());
            }
        }
        found.push(iri.into());
        found
    }
}

/// A keyword in quotes.
fn quoted(keyword: Keyword) -> &'static [u8] {
    match keyword {
        Keyword::Context => b"\"@context\"",
        Keyword::Graph => b"\"@graph\"",
        Keyword::Id => b"\"@id\"",
        Keyword::Included => b"\"@included\"",
        Keyword::Language => b"\"@language\"",
        Keyword::List => b"\"@list\"",
        Keyword::Set => b"\"@set\"",
        Keyword::Type => b"\"@type\"",
        Keyword::Value => b"\"@value\"",
    }
}

/// The context as the value of the one key of a document, and its tape.
fn document(text: &str, bounds: &Bounds) -> Result<(Box<[u8]>, Tape), String> {
    let broken = |reason: &str| format!("compact_with is no JSON that can be read: {reason}");
    let source = text.as_bytes();
    let mut tape = Tape::new();
    parse(source, &mut tape, bounds).map_err(|fault| {
        let before = source.get(..fault.at).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        broken(&format!("{} (line {line})", fault.reason))
    })?;
    let view = View {
        tape: &tape,
        source,
    };
    let mut context = 0;
    if view.kind(0) == Kind::Object
        && let Some(value) = view.get(0, b"@context")
    {
        context = value;
    }
    let wrapped = |view: &View<'_>, value| {
        let mut text = b"{\"@context\":".to_vec();
        write::write(view, value, &mut text);
        text.push(b'}');
        text
    };
    if !matches!(
        view.kind(context),
        Kind::Object | Kind::Array | Kind::String
    ) {
        return Err("compact_with holds no context, which is an object".to_owned());
    }
    let text: Box<[u8]> = wrapped(&view, context).into();
    tape.clear();
    parse(&text, &mut tape, bounds).map_err(|fault| broken(&fault.reason))?;
    Ok((text, tape))
}
