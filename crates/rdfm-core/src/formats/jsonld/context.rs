//! Contexts, processed once into tables of terms for all messages that use them.
//!
//! - In: the value of an `@context` and the context that it is processed in.
//! - Out: the number of an [`Active`] context.
//! - Cost: that of the definitions in it: tables share what they do not change. Contexts are found again by
//!   their parent and their text, those of definitions by the definition.
//! - Law: what is found again means what processing it again would give; forgetting changes no result.
//!   Both what a message may have processed and what its contexts may take are bounded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::definition::{Definition, Mapping, Scoped};
use super::error::{Read, Wrong};
use super::iri::{Base, is_iri, is_plain};
use super::keys::Keys;
use super::keyword::{Keyword, has_keyword_form};
use super::loader::Store;
use super::process::{Origin, Processor};
use super::table::{Name, Seeded, Table};
use crate::model::limits::Limits;
use crate::model::remedy::Reason;
use crate::syntax::cache::Known;
use crate::syntax::json::{Kind, View, write};

/// Bytes of contexts and keys that are kept for later messages.
const MAX_KEPT: usize = 4 << 20;
/// Bytes that a definition, a context and a known key take beside their texts, roughly.
pub(super) const TERM_BYTES: usize = 400;
const CONTEXT_BYTES: usize = 600;
const KEY_BYTES: usize = 250;
/// Bytes of known keys, and how many a context knows.
const MAX_KEY_BYTES: usize = 4 << 20;
const MAX_KEYS: usize = 1 << 13;
/// Keys that are guessed, as a power of two.
const GUESSES: u32 = 10;
/// Terms that a message may define whatever its size, in any case, and for each of its bytes.
const FREE_WORK: u64 = 1 << 18;
const MAX_WORK: u64 = 1 << 20;
const WORK_OF_BYTE: u64 = 16;
/// Bytes of a text that an expansion makes which count as a term that is defined.
const TEXT_OF_WORK: usize = 256;

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
    /// The key, and the IRI behind it.
    texts: Box<[u8]>,
    key: u32,
    /// Whether it is an absolute IRI, as predicates have to be.
    pub is_iri: bool,
    /// Whether the key can stand as a prefix.
    pub is_prefix: bool,
    /// What it is as a datatype; and whether it goes with a language only.
    pub datatype: Datatype,
    pub is_language_type: bool,
    /// The definition of the key, where it is a term.
    pub definition: Option<Arc<Definition>>,
    /// The term in the batch, and the message that was charged for it last.
    pub known: Known,
    pub charged: u32,
}

/// A datatype, as far as numbers and strings are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datatype {
    String,
    Double,
    Other,
}

impl Datatype {
    fn of(iri: &[u8]) -> Self {
        match iri.strip_prefix(b"http://www.w3.org/2001/XMLSchema#") {
            Some(b"string") => Self::String,
            Some(b"double") => Self::Double,
            _ => Self::Other,
        }
    }
}

impl Property {
    /// A key that is no property here.
    pub fn without_iri(key: &[u8], definition: Option<Arc<Definition>>) -> Self {
        Self {
            texts: key.into(),
            key: key.len() as u32,
            is_iri: false,
            is_prefix: false,
            datatype: Datatype::Other,
            is_language_type: false,
            definition,
            known: Known::NONE,
            charged: 0,
        }
    }

    pub fn key(&self) -> &[u8] {
        self.texts.get(..self.key as usize).unwrap_or_default()
    }

    #[inline]
    pub fn iri(&self) -> &[u8] {
        self.texts.get(self.key as usize..).unwrap_or_default()
    }
}

/// What an active context consists of (JSON-LD 1.1 API, 4.1). Copies are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub terms: Table,
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
    Local(Arc<[u8]>),
    Scoped(Box<[u64]>),
}

/// A context that messages are read with.
#[derive(Debug)]
pub(super) struct Active {
    pub state: State,
    keys: Keys,
    /// Contexts that texts make of this one.
    locals: HashMap<Arc<[u8]>, u32, Seeded>,
    /// Contexts that definitions make of this one, one after the other.
    scoped: HashMap<Box<[u64]>, u32, Seeded>,
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
    /// What they took when the message began, and what the largest context of the log took.
    bytes_before: usize,
    largest: usize,
    /// Terms that may still be defined for the message.
    work: u64,
    max_bytes: u64,
    max_depth: u32,
    store: Store,
    /// The base that a null context goes back to, which is the URL of the log.
    original_base: Option<Arc<Base>>,
    scratch: Vec<u8>,
    chain: Vec<u64>,
    /// The numbers of the keys that were looked up last, mixed, and by these of those that came next.
    history: u32,
    guesses: Box<[u32; 1 << GUESSES]>,
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
            largest: 0,
            work: FREE_WORK,
            max_bytes: limits.max_message_bytes,
            max_depth: limits.max_depth,
            store,
            original_base,
            scratch: Vec::new(),
            chain: Vec::new(),
            history: 0,
            guesses: Box::new([0; 1 << GUESSES]),
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
            active.keys = Keys::default();
            active.locals = HashMap::default();
            active.scoped = HashMap::default();
        }
    }

    /// Goes to the start of another log.
    pub fn reset(&mut self) {
        self.forget();
        self.largest = 0;
    }

    /// What may be kept: a log's context that is large itself, and as much besides, stays.
    fn most_kept(&self) -> usize {
        MAX_KEPT.max(2 * self.largest)
    }

    /// As many for known keys.
    fn most_key_bytes(&self) -> usize {
        MAX_KEY_BYTES.max(2 * self.largest)
    }

    /// Whether so much is kept that [`forget`](Self::forget) is due.
    pub fn is_full(&self) -> bool {
        self.bytes > self.most_kept() || self.key_bytes > self.most_key_bytes() / 2
    }

    /// A message, or a context, of so many bytes begins.
    pub fn begin(&mut self, bytes: usize) {
        let bytes = bytes as u64 + self.store.bytes();
        self.work = MAX_WORK.min(FREE_WORK + WORK_OF_BYTE * bytes);
        self.bytes_before = self.bytes;
    }

    /// A place to [`release`](Self::release) to.
    pub fn mark(&self) -> u32 {
        self.list.len() as u32
    }

    /// Forgets the contexts since a mark, where much is kept. None of them may be in use.
    pub fn release(&mut self, mark: u32) {
        if self.bytes <= self.most_kept() {
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
        self.list[context as usize].keys.property(number)
    }

    #[inline]
    pub fn property_mut(&mut self, context: u32, number: u32) -> &mut Property {
        self.list[context as usize].keys.property_mut(number)
    }

    /// What a key means in a context.
    #[inline]
    pub fn meaning(&mut self, context: u32, key: &[u8]) -> Meaning {
        if let Some(keyword) = Keyword::of(key) {
            return Meaning::Keyword(keyword);
        }
        // Messages of one shape look keys up in one order: what came after the last few is tried first.
        let slot = (self.history.wrapping_mul(0x9E37_79B1) >> (32 - GUESSES)) as usize;
        let guess = self.guesses[slot];
        if let Some(meaning) = self.list[context as usize].keys.at(guess, key) {
            self.history = self.history << 7 ^ guess;
            return meaning;
        }
        self.known_meaning(context, key, slot)
    }

    /// What a key means that was not guessed.
    #[inline(never)]
    fn known_meaning(&mut self, context: u32, key: &[u8], slot: usize) -> Meaning {
        let Some((meaning, number)) = self.list[context as usize].keys.get(key) else {
            return self.new_meaning(context, key);
        };
        self.guesses[slot] = number;
        self.history = self.history << 7 ^ number;
        meaning
    }

    #[cold]
    fn new_meaning(&mut self, context: u32, key: &[u8]) -> Meaning {
        let state = &self.list[context as usize].state;
        let property = state.expand_key_in(key, &mut self.scratch);
        let texts = property.as_ref().map_or(0, |property| property.texts.len());
        self.spend_text(texts);
        let bytes = KEY_BYTES + key.len() + texts;
        let most = self.most_key_bytes();
        let active = &mut self.list[context as usize];
        let is_kept = self.key_bytes + bytes <= most && active.keys.len() < MAX_KEYS;
        let meaning = match property {
            Ok(property) if is_kept => Meaning::Property(active.keys.add_property(property)),
            Ok(_) => Meaning::Unkept,
            Err(meaning) => meaning,
        };
        if is_kept {
            self.key_bytes += bytes;
            active.keys.add(key, meaning);
        }
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
        write::copy(view, value, &mut text);
        let known = self.get(parent).locals.get(&*text).copied();
        let made = match known {
            Some(known) => Ok(known),
            None => self.new_local(parent, view, value, &text),
        };
        self.scratch = text;
        made
    }

    /// The context that a log has from here on, `before` being the one that it had: as [`local`](Self::local). Logs
    /// redeclare contexts in which little changes, so what is known of keys goes from one to the next.
    pub fn next_of_log(
        &mut self,
        before: Option<u32>,
        parent: u32,
        view: &View<'_>,
        value: u32,
    ) -> Read<u32> {
        let (count, bytes) = (self.list.len(), self.bytes);
        let before = before.filter(|_| self.get(parent).state.terms.len() == 0);
        if let Some(before) = before
            && let Some(number) = self.redefine(before, parent, view, value)?
        {
            return Ok(number);
        }
        let number = self.local(parent, view, value)?;
        self.largest = self.largest.max(self.bytes - bytes);
        if let Some(before) = before
            && before != number
            && number as usize >= count
        {
            self.inherit(before, number);
        }
        Ok(number)
    }

    /// A context that names what another one names, some of it for other IRIs, as those of messages with their own
    /// prefixes do: only these are defined anew. None of any other context, and of one that is known.
    fn redefine(
        &mut self,
        before: u32,
        parent: u32,
        view: &View<'_>,
        value: u32,
    ) -> Read<Option<u32>> {
        let Some(raw) = view.raw(value) else {
            return Ok(None);
        };
        let (old, above) = (self.get(before), self.get(parent));
        if view.kind(value) != Kind::Object
            || !old.state.is_above_terms(&above.state)
            || above.locals.contains_key(raw)
        {
            return Ok(None);
        }
        let bytes = self.bytes;
        let mut processor = self.processor(before);
        let Some(changed) = processor.redefine(view, value)? else {
            return Ok(None);
        };
        let state = processor.finish();
        let text: Arc<[u8]> = raw.into();
        let cause = Cause::Local(Arc::clone(&text));
        let number = self.add(state, parent, cause, bytes, text.len())?;
        self.list[parent as usize].locals.insert(text, number);
        self.move_keys(before, number, &changed);
        Ok(Some(number))
    }

    /// Gives the keys of a context to another, but for those of terms that differ.
    fn inherit(&mut self, before: u32, after: u32) {
        let (old, new) = (&self.get(before).state, &self.get(after).state);
        if old.vocab != new.vocab || old.has_colons || new.has_colons {
            return;
        }
        let mut changed: Vec<Name> = Vec::new();
        let mut same = 0;
        for (name, definition) in new.terms.iter() {
            if old.terms.get(name).is_some_and(|found| found == definition) {
                same += 1;
            } else {
                changed.push(Arc::clone(name));
            }
        }
        if old.terms.len() != same {
            for (name, _) in old.terms.iter() {
                if new.terms.get(name).is_none() {
                    changed.push(Arc::clone(name));
                }
            }
        }
        let changed = changed.iter().map(|name| &**name).collect();
        self.move_keys(before, after, &changed);
    }

    /// Gives the keys of a context to another, but for those of some terms.
    fn move_keys(&mut self, before: u32, after: u32, changed: &HashSet<&[u8], Seeded>) {
        let mut keys = std::mem::take(&mut self.list[before as usize].keys);
        // No term has a colon here.
        keys.forget(|key| {
            let colon = memchr::memchr(b':', key).unwrap_or(key.len());
            changed.contains(&key[..colon])
        });
        self.list[after as usize].keys = keys;
    }

    fn new_local(&mut self, parent: u32, view: &View<'_>, value: u32, text: &[u8]) -> Read<u32> {
        let url = self.original_base.clone();
        let before = self.bytes;
        let mut processor = self.processor(parent);
        processor.value(&Origin::message(view, url), value, false, true)?;
        let state = processor.finish();
        let text: Arc<[u8]> = text.into();
        let cause = Cause::Local(Arc::clone(&text));
        let number = self.add(state, parent, cause, before, text.len())?;
        self.list[parent as usize].locals.insert(text, number);
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
        let before = self.bytes;
        let mut processor = self.processor(parent);
        for scoped in chain {
            let overrides = scope == Scope::Property;
            let propagates = scope != Scope::Type;
            processor.value(&Origin::kept(scoped), scoped.value, overrides, propagates)?;
        }
        let state = processor.finish();
        let bytes = 16 * numbers.len();
        let cause = Cause::Scoped(numbers.into());
        let number = self.add(state, parent, cause, before, bytes)?;
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
        self.add(state, parent, Cause::None, self.bytes, 0)
    }

    /// Adds a context that was made since so many bytes were taken.
    fn add(
        &mut self,
        state: State,
        parent: u32,
        cause: Cause,
        before: usize,
        text: usize,
    ) -> Read<u32> {
        self.take_bytes(CONTEXT_BYTES + 2 * text)?;
        let bytes = self.bytes.saturating_sub(before);
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
                Reason::limit(
                    format!(
                        "the contexts of the message take more than {} bytes",
                        self.max_bytes
                    ),
                    "max_message_bytes",
                ),
            ));
        }
        Ok(())
    }

    /// Takes note that a term is defined.
    #[inline]
    pub fn take_work(&mut self) -> Read<()> {
        self.spend(1);
        self.check_work()
    }

    /// Takes note of a text that an expansion made.
    #[inline]
    pub fn spend_text(&mut self, bytes: usize) {
        self.spend((bytes / TEXT_OF_WORK) as u64);
    }

    fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_sub(work);
    }

    /// Whether the message may still define terms and expand keys.
    #[inline]
    pub fn check_work(&self) -> Read<()> {
        if self.work > 0 {
            return Ok(());
        }
        Err(Wrong::limit(
            None,
            format!(
                "the contexts of the message define terms, or expand keys to long IRIs, too often: more than \
                 {FREE_WORK} times, and {WORK_OF_BYTE} times for each of its bytes, or {MAX_WORK} times in all; \
                 divide it, or use fewer contexts"
            ),
        ))
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

    /// The terms of a context that can stand as prefixes, by name; without those of another that it is made of.
    pub fn prefixes(&self, number: u32, parent: Option<u32>) -> Vec<Namespace> {
        let beside = parent.map(|parent| &self.get(parent).state.terms);
        let mut found = Vec::new();
        for (name, definition) in self.get(number).state.terms.iter_beside(beside) {
            if let Mapping::Iri(iri) = &definition.mapping
                && definition.prefix
                && (definition.takes_plain || is_iri(iri))
            {
                found.push((Arc::clone(name), Arc::clone(definition)));
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        found
    }

    /// One context alone.
    pub fn take(mut self, number: u32) -> Active {
        self.list.swap_remove(number as usize)
    }
}

/// A name, and the definition that has its IRI.
pub(super) type Namespace = (Name, Arc<Definition>);

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
            keys: Keys::default(),
            locals: HashMap::default(),
            scoped: HashMap::default(),
            parent,
            cause,
            bytes,
        }
    }
}

impl State {
    /// Whether a context is another one, which has no terms, and terms that say nothing of others.
    fn is_above_terms(&self, other: &Self) -> bool {
        self.vocab == other.vocab
            && match (&self.base, &other.base) {
                (Some(own), Some(base)) => Arc::ptr_eq(own, base),
                (own, base) => own.is_none() && base.is_none(),
            }
            && self.language == other.language
            && self.direction == other.direction
            && self.previous == other.previous
            && !self.has_scoped
            && !self.has_colons
            && self.protected == 0
    }

    /// The property that a key names, or what else it means.
    pub fn expand_key(&self, key: &[u8]) -> Result<Property, Meaning> {
        let mut texts = Vec::new();
        self.expand_key_in(key, &mut texts)
    }

    /// The same; the buffer is used for the texts under way.
    pub fn expand_key_in(&self, key: &[u8], texts: &mut Vec<u8>) -> Result<Property, Meaning> {
        texts.clear();
        texts.extend_from_slice(key);
        let is_valid = self.expand_compact(key, texts);
        if is_valid.is_none() {
            match self.expand(key, true, false, texts) {
                Expanded::Nothing => return Err(Meaning::Unmapped),
                Expanded::Null => return Err(Meaning::Null),
                Expanded::Keyword(keyword) => return Err(Meaning::Keyword(keyword)),
                Expanded::Text => {}
            }
        }
        let iri = texts.get(key.len()..).unwrap_or_default();
        if !iri.contains(&b':') {
            return Err(Meaning::Unmapped);
        }
        let definition = self.terms.get(key).cloned();
        Ok(Property {
            key: key.len() as u32,
            is_prefix: definition.as_ref().is_some_and(|found| found.prefix),
            is_iri: is_valid.unwrap_or(false) || is_iri(iri),
            datatype: Datatype::of(iri),
            is_language_type: super::is_language_type(iri),
            texts: texts.as_slice().into(),
            definition,
            known: Known::NONE,
            charged: 0,
        })
    }

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

    /// Appends what a compact IRI expands to whose prefix is a term, and tells whether it is surely an IRI; None of
    /// any other text.
    #[inline]
    fn expand_compact(&self, text: &[u8], out: &mut Vec<u8>) -> Option<bool> {
        let colon = memchr::memchr(b':', text).filter(|&colon| colon > 0)?;
        let (prefix, suffix) = (&text[..colon], &text[colon + 1..]);
        if self.has_colons || suffix.starts_with(b"//") || prefix == b"_" {
            return None;
        }
        let definition = self.terms.get(prefix)?;
        let Mapping::Iri(iri) = &definition.mapping else {
            return None;
        };
        if !definition.prefix {
            return None;
        }
        out.extend_from_slice(iri);
        out.extend_from_slice(suffix);
        Some(definition.takes_plain && is_plain(suffix))
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
        if self.protected > 0 {
            self.undefine(name);
        }
        self.protected += usize::from(definition.protected);
        self.has_scoped |= definition.scoped.is_some();
        self.has_colons |= name.contains(&b':');
        self.terms.insert(name, definition);
    }

    /// Removes a term.
    pub fn undefine(&mut self, name: &[u8]) -> Option<Arc<Definition>> {
        let before = self.terms.get(name).cloned()?;
        self.protected -= usize::from(before.protected);
        self.terms.remove(name);
        Some(before)
    }
}

/// Whether a value of a tape is an object of nothing.
pub(super) fn is_empty_object(view: &View<'_>, value: u32) -> bool {
    view.kind(value) == Kind::Object && view.next(value) == value + 1
}
