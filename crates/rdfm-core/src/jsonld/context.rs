//! Contexts, processed once into tables of terms for all messages that use them.
//!
//! - In: the value of an `@context` and the context that it is processed in.
//! - Out: the number of an [`Active`] context.
//! - Cost: that of the definitions in it: tables share what they do not change. Contexts are found again by
//!   their parent and their text, those of definitions by the definition.
//! - Law: what is found again means what processing it again would give; forgetting changes no result.
//!   Both what a message may have processed and what its contexts may take are bounded.

use std::sync::Arc;

use rpds::HashTrieMapSync;
use rustc_hash::FxHashMap;

use super::definition::{Definition, Mapping, Scoped};
use super::error::{Read, Wrong};
use super::iri::{Base, is_iri};
use super::keyword::{Keyword, has_keyword_form};
use super::loader::Store;
use super::process::{Origin, Processor};
use crate::cache::Known;
use crate::json::{Kind, View, write};
use crate::limits::Limits;

/// Bytes of contexts and keys that are kept for later messages.
const MOST_KEPT: usize = 32 << 20;
/// Bytes that a definition, a context and a known key take beside their texts, roughly.
pub(super) const TERM_BYTES: usize = 400;
const CONTEXT_BYTES: usize = 600;
const KEY_BYTES: usize = 250;
/// Bytes of known keys.
const MOST_KEYS: usize = 8 << 20;
/// Terms that a message may define whatever its size, in any case, and for each of its bytes.
const FREE_WORK: u64 = 1 << 18;
const MOST_WORK: u64 = 1 << 22;
const WORK_OF_BYTE: u64 = 16;

/// The context of a log that names none.
pub(super) const INITIAL: u32 = 0;

/// A base direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Ltr,
    Rtl,
}

/// What a key of a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Keyword(Keyword),
    /// The number of a [`Property`].
    Property(u32),
    /// A property that is not kept.
    Unkept,
    /// Nothing: its term is `null`.
    Null,
    /// Nothing: no context maps it to an IRI.
    Unmapped,
}

/// A key that expands to an IRI.
#[derive(Debug)]
pub(super) struct Property {
    pub key: Box<[u8]>,
    pub iri: Box<[u8]>,
    /// Whether it is an absolute IRI, as predicates have to be.
    pub is_iri: bool,
    /// The definition of the key, where it is a term.
    pub definition: Option<Arc<Definition>>,
    /// The term in the batch, and the message that was charged for it last.
    pub known: Known,
    pub charged: u32,
}

impl Property {
    /// A key that is no property here.
    pub fn without_iri(key: Box<[u8]>, definition: Option<Arc<Definition>>) -> Self {
        Self {
            key,
            iri: Box::default(),
            is_iri: false,
            definition,
            known: Known::NONE,
            charged: 0,
        }
    }
}

/// What an active context consists of (JSON-LD 1.1 API, 4.1). Copies are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub terms: HashTrieMapSync<Box<[u8]>, Arc<Definition>>,
    /// How many terms are protected.
    pub protected: usize,
    pub vocab: Option<Arc<[u8]>>,
    pub base: Option<Arc<Base>>,
    pub language: Option<Arc<[u8]>>,
    pub direction: Option<Direction>,
    /// The context that comes back in nodes below, where this one does not propagate.
    pub previous: Option<u32>,
    /// Some definition has a context of its own.
    pub has_scoped: bool,
    /// Some term has a colon, so that a text with one may be a term.
    pub has_colons: bool,
}

/// How a context came to be, so that its parent can forget it.
#[derive(Debug)]
enum Cause {
    None,
    Local(Box<[u8]>),
    Scoped(Box<[u64]>),
}

/// A context that messages are read with.
#[derive(Debug)]
pub(super) struct Active {
    pub state: State,
    keys: FxHashMap<Box<[u8]>, Meaning>,
    properties: Vec<Property>,
    /// Contexts that texts make of this one.
    locals: FxHashMap<Box<[u8]>, u32>,
    /// Contexts that definitions make of this one, one after the other.
    scoped: FxHashMap<Box<[u64]>, u32>,
    parent: u32,
    cause: Cause,
    bytes: usize,
}

/// How the context of a definition is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// To the values of a property.
    Property,
    /// To a node of a type.
    Type,
    /// To a value in a type map.
    Map,
}

/// All contexts of a decoder.
#[derive(Debug)]
pub(super) struct Contexts {
    list: Vec<Active>,
    /// Contexts up to here are never forgotten.
    kept: usize,
    /// What they all take, and the known keys of that.
    bytes: usize,
    key_bytes: usize,
    /// What they took when the message began.
    bytes_before: usize,
    /// Terms that may still be defined for the message.
    work: u64,
    max_bytes: u64,
    max_depth: u32,
    store: Store,
    /// The base that a null context goes back to, which is the URL of the log.
    original_base: Option<Arc<Base>>,
    scratch: Vec<u8>,
    chain: Vec<u64>,
    /// How many definitions with contexts there were.
    numbers: u64,
}

impl Contexts {
    pub fn new(base: Option<Base>, limits: &Limits, store: Store) -> Self {
        let original_base = base.map(Arc::new);
        let mut made = Self {
            list: Vec::new(),
            kept: 1,
            bytes: 0,
            key_bytes: 0,
            bytes_before: 0,
            work: FREE_WORK,
            max_bytes: limits.max_message_bytes,
            max_depth: limits.max_depth,
            store,
            original_base,
            scratch: Vec::new(),
            chain: Vec::new(),
            numbers: 0,
        };
        let state = made.initial();
        made.list.push(Active::new(state, INITIAL, Cause::None, 0));
        made
    }

    /// A newly initialized context.
    pub fn initial(&self) -> State {
        State {
            base: self.original_base.clone(),
            ..State::default()
        }
    }

    /// Never forgets the contexts there are.
    pub fn keep(&mut self) {
        self.kept = self.list.len();
    }

    /// Forgets all contexts but those that are kept: their numbers mean nothing any more.
    pub fn forget(&mut self) {
        self.list.truncate(self.kept);
        self.bytes = 0;
        self.key_bytes = 0;
        for active in &mut self.list {
            active.keys = FxHashMap::default();
            active.properties = Vec::new();
            active.locals = FxHashMap::default();
            active.scoped = FxHashMap::default();
        }
    }

    /// Whether so much is kept that [`forget`](Self::forget) is due.
    pub fn is_full(&self) -> bool {
        self.bytes > MOST_KEPT || self.key_bytes > MOST_KEYS
    }

    /// A message, or a context, of so many bytes begins.
    pub fn begin(&mut self, bytes: usize) {
        let bytes = bytes as u64 + self.store.bytes();
        self.work = MOST_WORK.min(FREE_WORK + WORK_OF_BYTE * bytes);
        self.bytes_before = self.bytes;
    }

    /// A place to [`release`](Self::release) to.
    pub fn mark(&self) -> u32 {
        self.list.len() as u32
    }

    /// Forgets the contexts since a mark, where much is kept. None of them may be in use.
    pub fn release(&mut self, mark: u32) {
        if self.bytes <= MOST_KEPT {
            return;
        }
        while self.list.len() > self.kept.max(mark as usize) {
            let Some(active) = self.list.pop() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(active.bytes);
            let Some(parent) = self.list.get_mut(active.parent as usize) else {
                continue;
            };
            match &active.cause {
                Cause::None => {}
                Cause::Local(text) => drop(parent.locals.remove(text)),
                Cause::Scoped(chain) => drop(parent.scoped.remove(chain)),
            }
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> &Active {
        &self.list[number as usize]
    }

    #[inline]
    pub fn property(&self, context: u32, number: u32) -> &Property {
        &self.list[context as usize].properties[number as usize]
    }

    #[inline]
    pub fn property_mut(&mut self, context: u32, number: u32) -> &mut Property {
        &mut self.list[context as usize].properties[number as usize]
    }

    /// What a key means in a context.
    #[inline]
    pub fn meaning(&mut self, context: u32, key: &[u8]) -> Meaning {
        if let Some(&meaning) = self.list[context as usize].keys.get(key) {
            return meaning;
        }
        self.new_meaning(context, key)
    }

    #[cold]
    fn new_meaning(&mut self, context: u32, key: &[u8]) -> Meaning {
        let active = &mut self.list[context as usize];
        let (meaning, property) = match active.expand_key(key) {
            Ok(property) => (
                Meaning::Property(active.properties.len() as u32),
                Some(property),
            ),
            Err(meaning) => (meaning, None),
        };
        let text = property.as_ref().map_or(0, |property| property.iri.len());
        let bytes = KEY_BYTES + 2 * key.len() + text;
        if self.key_bytes + bytes > MOST_KEYS {
            return match meaning {
                Meaning::Property(_) => Meaning::Unkept,
                meaning => meaning,
            };
        }
        self.key_bytes += bytes;
        active.properties.extend(property);
        active.keys.insert(key.into(), meaning);
        meaning
    }

    /// The context that the value of an `@context` makes of another.
    pub fn local(&mut self, parent: u32, view: &View<'_>, value: u32) -> Read<u32> {
        let raw = view.raw(value);
        if let Some(raw) = raw
            && let Some(&known) = self.get(parent).locals.get(raw)
        {
            return Ok(known);
        }
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        match raw {
            Some(raw) => text.extend_from_slice(raw),
            None => write::write(view, value, &mut text),
        }
        let known = self.get(parent).locals.get(&*text).copied();
        let made = match known {
            Some(known) => Ok(known),
            None => self.new_local(parent, view, value, &text),
        };
        self.scratch = text;
        made
    }

    fn new_local(
        &mut self,
        parent: u32,
        view: &View<'_>,
        value: u32,
        text: &[u8],
    ) -> Read<u32> {
        let url = self.original_base.clone();
        let mut processor = self.processor(parent);
        processor.process(Origin::message(view, url), value, false, true)?;
        let state = processor.finish();
        let number = self.add(state, parent, Cause::Local(text.into()), text.len())?;
        self.list[parent as usize]
            .locals
            .insert(text.into(), number);
        Ok(number)
    }

    /// The context that the contexts of definitions make of another, one after the other.
    pub fn scoped(&mut self, parent: u32, chain: &[Arc<Scoped>], scope: Scope) -> Read<u32> {
        let mut numbers = std::mem::take(&mut self.chain);
        numbers.clear();
        numbers.push(scope as u64);
        numbers.extend(chain.iter().map(|scoped| scoped.number));
        let known = self.get(parent).scoped.get(&*numbers).copied();
        let made = match known {
            Some(known) => Ok(known),
            None => self.new_scoped(parent, chain, scope, &numbers),
        };
        self.chain = numbers;
        made
    }

    fn new_scoped(
        &mut self,
        parent: u32,
        chain: &[Arc<Scoped>],
        scope: Scope,
        numbers: &[u64],
    ) -> Read<u32> {
        let mut processor = self.processor(parent);
        for scoped in chain {
            let overrides = scope == Scope::Property;
            let propagates = scope != Scope::Type;
            processor.process(Origin::kept(scoped), scoped.value, overrides, propagates)?;
        }
        let state = processor.finish();
        let bytes = 16 * numbers.len();
        let number = self.add(state, parent, Cause::Scoped(numbers.into()), bytes)?;
        self.list[parent as usize]
            .scoped
            .insert(numbers.into(), number);
        Ok(number)
    }

    fn processor(&mut self, parent: u32) -> Processor<'_> {
        let state = self.get(parent).state.clone();
        Processor::new(self, state, parent)
    }

    /// A context by itself, that nothing finds again.
    pub fn add_alone(&mut self, state: State, parent: u32) -> Read<u32> {
        self.add(state, parent, Cause::None, 0)
    }

    fn add(&mut self, state: State, parent: u32, cause: Cause, text: usize) -> Read<u32> {
        let bytes = CONTEXT_BYTES + 2 * text;
        self.take_bytes(bytes)?;
        let number = self.list.len() as u32;
        self.list.push(Active::new(state, parent, cause, bytes));
        Ok(number)
    }

    /// Takes note of memory that contexts take.
    pub fn take_bytes(&mut self, bytes: usize) -> Read<()> {
        self.bytes += bytes;
        if self.bytes.saturating_sub(self.bytes_before) as u64 > self.max_bytes {
            return Err(Wrong::limit(
                None,
                format!(
                    "the contexts of the message take more than {} bytes; raise max_message_bytes \
                     (--max-message-bytes) if the source is trusted",
                    self.max_bytes
                ),
            ));
        }
        Ok(())
    }

    /// Takes note that a term is defined.
    #[inline]
    pub fn take_work(&mut self) -> Read<()> {
        match self.work.checked_sub(1) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => Err(Wrong::limit(
                None,
                format!(
                    "the contexts of the message define terms too often: more than {FREE_WORK} times, and \
                     {WORK_OF_BYTE} times for each of its bytes, or {MOST_WORK} times in all; divide it, or \
                     use fewer contexts"
                ),
            )),
        }
    }

    /// A number for the context of a definition.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub fn max_depth(&self) -> u32 {
        self.max_depth
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The names and IRIs of a context that can stand as prefixes, by name.
    pub fn prefixes(&self, number: u32) -> Vec<Namespace> {
        let mut found = Vec::new();
        for (name, definition) in &self.get(number).state.terms {
            if let Mapping::Iri(iri) = &definition.mapping
                && definition.prefix
                && is_iri(iri)
            {
                found.push((name.clone(), iri.clone()));
            }
        }
        found.sort_unstable();
        found
    }

    /// One context alone.
    pub fn take(mut self, number: u32) -> Active {
        self.list.swap_remove(number as usize)
    }
}

/// A name and an IRI.
pub(super) type Namespace = (Box<[u8]>, Box<[u8]>);

/// What a text expands to (JSON-LD 1.1 API, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// Nothing, since it has the form of a keyword.
    Nothing,
    /// Nothing, since its term is `null`.
    Null,
    Keyword(Keyword),
    /// The text that was appended: mostly an IRI, or a blank node with its `_:`.
    Text,
}

impl Active {
    fn new(state: State, parent: u32, cause: Cause, bytes: usize) -> Self {
        Self {
            state,
            keys: FxHashMap::default(),
            properties: Vec::new(),
            locals: FxHashMap::default(),
            scoped: FxHashMap::default(),
            parent,
            cause,
            bytes,
        }
    }

    /// The property that a key names, or what else it means.
    pub fn expand_key(&self, key: &[u8]) -> Result<Property, Meaning> {
        let mut iri = Vec::new();
        match self.state.expand(key, true, false, &mut iri) {
            Expanded::Nothing => return Err(Meaning::Unmapped),
            Expanded::Null => return Err(Meaning::Null),
            Expanded::Keyword(keyword) => return Err(Meaning::Keyword(keyword)),
            Expanded::Text => {}
        }
        if !iri.contains(&b':') {
            return Err(Meaning::Unmapped);
        }
        Ok(Property {
            key: key.into(),
            is_iri: is_iri(&iri),
            iri: iri.into(),
            definition: self.state.terms.get(key).cloned(),
            known: Known::NONE,
            charged: 0,
        })
    }
}

impl State {
    /// Appends what a text expands to (JSON-LD 1.1 API, 5.2.2), as that of a property or type with `vocab`,
    /// relative to the base with `relative`.
    #[inline]
    pub fn expand(&self, text: &[u8], vocab: bool, relative: bool, out: &mut Vec<u8>) -> Expanded {
        if text.first() == Some(&b'@') {
            if let Some(keyword) = Keyword::of(text) {
                return Expanded::Keyword(keyword);
            }
            if has_keyword_form(text) {
                return Expanded::Nothing;
            }
        }
        let colon = memchr::memchr(b':', text).filter(|&at| at > 0);
        if (colon.is_none() || self.has_colons)
            && let Some(definition) = self.terms.get(text)
        {
            match &definition.mapping {
                Mapping::Keyword(keyword) => return Expanded::Keyword(*keyword),
                Mapping::Null if vocab => return Expanded::Null,
                Mapping::Iri(iri) if vocab => {
                    out.extend_from_slice(iri);
                    return Expanded::Text;
                }
                _ => {}
            }
        }
        if let Some(colon) = colon {
            let (prefix, suffix) = (&text[..colon], &text[colon + 1..]);
            if prefix == b"_" || suffix.starts_with(b"//") {
                out.extend_from_slice(text);
                return Expanded::Text;
            }
            if let Some(iri) = self.prefix(prefix) {
                out.extend_from_slice(iri);
                out.extend_from_slice(suffix);
                return Expanded::Text;
            }
            if super::iri::has_iri_form(text) {
                out.extend_from_slice(text);
                return Expanded::Text;
            }
        }
        if vocab && let Some(vocab) = &self.vocab {
            out.extend_from_slice(vocab);
            out.extend_from_slice(text);
        } else if relative && let Some(base) = &self.base {
            base.resolve(text, out);
        } else {
            out.extend_from_slice(text);
        }
        Expanded::Text
    }

    /// The IRI of a term that can stand as a prefix.
    #[inline]
    pub fn prefix(&self, name: &[u8]) -> Option<&[u8]> {
        let definition = self.terms.get(name)?;
        match &definition.mapping {
            Mapping::Iri(iri) if definition.prefix => Some(iri),
            _ => None,
        }
    }

    /// Sets a term.
    pub fn define(&mut self, name: &[u8], definition: Arc<Definition>) {
        self.undefine(name);
        self.protected += usize::from(definition.protected);
        self.has_scoped |= definition.scoped.is_some();
        self.has_colons |= name.contains(&b':');
        self.terms.insert_mut(name.into(), definition);
    }

    /// Removes a term.
    pub fn undefine(&mut self, name: &[u8]) -> Option<Arc<Definition>> {
        let before = self.terms.get(name).cloned()?;
        self.protected -= usize::from(before.protected);
        self.terms.remove_mut(name);
        Some(before)
    }
}

/// Whether a value of a tape is an object of nothing.
pub(super) fn is_empty_object(view: &View<'_>, value: u32) -> bool {
    view.kind(value) == Kind::Object && view.next(value) == value + 1
}
