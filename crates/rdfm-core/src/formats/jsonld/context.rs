//! Contexts, each processed once into a term table for all messages that use it.
//!
//! - In: the value of an `@context`, and the context in which it is processed.
//! - Out: the number of an [`ActiveContext`].
//! - Cost: proportional to the definitions in the context, because tables share unchanged parts.
//!   Contexts are cached by parent and text, scoped contexts by parent and definition.
//! - Law: a cached context equals the result of processing it again, so dropping cached contexts
//!   does not change results. The number of definitions and the memory for the contexts of a
//!   message are limited.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::definition::{Definition, Mapping, ScopedContext};
use super::error::{JsonLdError, Read};
use super::iri::{BaseIri, is_iri, is_plain};
use super::keys::ContextKeys;
use super::keyword::{Keyword, has_keyword_form};
use super::loader::ContextStore;
use super::process::{Origin, Processor};
use super::table::{DefinitionTable, Seeded, TermName};
use crate::model::fast_path::FastPath;
use crate::model::limits::Limits;
use crate::model::remedy::Reason;
use crate::model::term::is_language_type;
use crate::syntax::cache::RecentTerm;
use crate::syntax::json::{JsonKind, View, write};

/// Maximum size in bytes of the contexts and keys that are kept for later messages.
const MAX_KEPT: usize = 4 << 20;
/// Approximate size in bytes of a definition, a context and a cached key, in addition to their
/// strings.
pub(super) const TERM_BYTES: usize = 400;
const CONTEXT_BYTES: usize = 600;
const KEY_BYTES: usize = 250;
/// Maximum size in bytes of the cached keys, and maximum number of keys per context.
const MAX_KEY_BYTES: usize = 4 << 20;
const MAX_KEYS: usize = 1 << 13;
/// Binary logarithm of the number of guessed keys.
const GUESS_BITS: u32 = 10;
/// Limits for the number of term definitions in a message: the number allowed at any size, the
/// absolute maximum, and an additional number per byte.
const FREE_WORK: u64 = 1 << 18;
const MAX_WORK: u64 = 1 << 20;
const WORK_PER_BYTE: u64 = 16;
/// Number of bytes of expanded text that count as one definition.
const TEXT_PER_DEFINITION: usize = 256;

/// The context of a log without `@context`.
pub(super) const INITIAL: u32 = 0;

/// A base direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Ltr,
    Rtl,
}

/// The meaning of a key in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Keyword(Keyword),
    /// The number of a [`Property`].
    Property(u32),
    /// A property that is not cached.
    Uncached,
    /// No meaning, because a context maps the key to `null`.
    Null,
    /// No meaning, because no context maps the key to an IRI.
    Unmapped,
}

/// A key that expands to an IRI.
#[derive(Debug)]
pub(super) struct Property {
    /// The key followed by its IRI.
    texts: Box<[u8]>,
    key: u32,
    /// Whether the IRI is absolute, as predicates must be.
    pub is_iri: bool,
    /// Whether the key can be a prefix.
    pub is_prefix: bool,
    /// Kind of the IRI as a datatype, and whether the datatype requires a language.
    pub datatype: DatatypeKind,
    pub is_language_type: bool,
    /// The definition of the key, if it is a term.
    pub definition: Option<Arc<Definition>>,
    /// The term in the batch, and the message that was last charged for it.
    pub recent: RecentTerm,
    pub charged: u32,
}

/// The kind of a datatype, for numbers and strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatatypeKind {
    String,
    Double,
    Other,
}

impl DatatypeKind {
    fn from_iri(iri: &[u8]) -> Self {
        match iri.strip_prefix(b"http://www.w3.org/2001/XMLSchema#") {
            Some(b"string") => Self::String,
            Some(b"double") => Self::Double,
            _ => Self::Other,
        }
    }
}

impl Property {
    /// Creates the property of a key without an IRI.
    pub fn without_iri(key: &[u8], definition: Option<Arc<Definition>>) -> Self {
        Self {
            texts: key.into(),
            key: key.len() as u32,
            is_iri: false,
            is_prefix: false,
            datatype: DatatypeKind::Other,
            is_language_type: false,
            definition,
            recent: RecentTerm::NONE,
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

/// The content of an active context (JSON-LD 1.1 API, 4.1). Copies are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct ContextState {
    pub terms: DefinitionTable,
    /// Number of protected terms.
    pub protected: usize,
    pub vocab: Option<Arc<[u8]>>,
    pub base: Option<Arc<BaseIri>>,
    pub language: Option<Arc<[u8]>>,
    pub direction: Option<Direction>,
    /// The context to restore in nested nodes if this one does not propagate.
    pub previous: Option<u32>,
    /// Whether any definition has a scoped context.
    pub has_scoped: bool,
    /// Whether any term contains a colon, so that a string with a colon may be a term.
    pub has_colons: bool,
}

/// The key under which the parent caches a context, used to remove the context from the cache.
#[derive(Debug)]
enum ContextCause {
    None,
    Local(Arc<[u8]>),
    Scoped(Box<[u64]>),
}

/// A context that applies to messages.
#[derive(Debug)]
pub(super) struct ActiveContext {
    pub state: ContextState,
    keys: ContextKeys,
    /// Contexts created from this one, by their JSON texts.
    locals: HashMap<Arc<[u8]>, u32, Seeded>,
    /// Contexts created from this one, by sequences of definitions.
    scoped: HashMap<Box<[u64]>, u32, Seeded>,
    parent: u32,
    cause: ContextCause,
    bytes: usize,
}

/// The part of a document to which a scoped context applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextScope {
    /// The values of a property.
    Property,
    /// A node with a type. The type may be the key of the node in a type map.
    Type,
}

/// All contexts of a decoder.
#[derive(Debug)]
pub(super) struct Contexts {
    list: Vec<ActiveContext>,
    /// Contexts below this number are never dropped.
    permanent_count: usize,
    /// Size in bytes of all contexts, and the part used by cached keys.
    bytes: usize,
    key_bytes: usize,
    /// Size in bytes of all contexts when the message began, and of the largest context of the log.
    bytes_before: usize,
    largest: usize,
    /// Remaining number of term definitions for the message.
    work: u64,
    max_bytes: u64,
    max_depth: u32,
    store: ContextStore,
    /// The base that a null context restores, which is the URL of the log.
    original_base: Option<Arc<BaseIri>>,
    scratch: Vec<u8>,
    chain: Vec<u64>,
    /// Hash of the last keys looked up, and guesses of the next key by that hash.
    history: u32,
    guesses: Box<[u32; 1 << GUESS_BITS]>,
    /// Number of definitions with contexts so far.
    numbers: u64,
}

impl Contexts {
    pub fn new(base: Option<BaseIri>, limits: &Limits, store: ContextStore) -> Self {
        let original_base = base.map(Arc::new);
        let mut result = Self {
            list: Vec::new(),
            permanent_count: 1,
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
            guesses: Box::new([0; 1 << GUESS_BITS]),
            numbers: 0,
        };
        let state = result.initial();
        result
            .list
            .push(ActiveContext::new(state, INITIAL, ContextCause::None, 0));
        result
    }

    /// Returns a newly initialized context.
    pub fn initial(&self) -> ContextState {
        ContextState {
            base: self.original_base.clone(),
            ..ContextState::default()
        }
    }

    /// Keeps all current contexts permanently.
    pub fn keep(&mut self) {
        self.permanent_count = self.list.len();
    }

    /// Drops all contexts except the kept ones. The numbers of dropped contexts become invalid.
    pub fn forget(&mut self) {
        self.list.truncate(self.permanent_count);
        self.bytes = 0;
        self.key_bytes = 0;
        for active in &mut self.list {
            active.keys = ContextKeys::default();
            active.locals = HashMap::default();
            active.scoped = HashMap::default();
        }
    }

    /// Prepares for the next log.
    pub fn reset(&mut self) {
        self.forget();
        self.largest = 0;
    }

    /// Maximum size in bytes to keep. A log with a large context may keep twice its size.
    fn max_kept_bytes(&self) -> usize {
        MAX_KEPT.max(2 * self.largest)
    }

    /// Maximum size in bytes of the cached keys to keep.
    fn max_key_bytes(&self) -> usize {
        MAX_KEY_BYTES.max(2 * self.largest)
    }

    /// Whether so much is cached that [`forget`](Self::forget) should be called.
    pub fn is_full(&self) -> bool {
        self.bytes > self.max_kept_bytes() || self.key_bytes > self.max_key_bytes() / 2
    }

    /// Begins a message or context with this size in bytes.
    pub fn begin(&mut self, bytes: usize) {
        let bytes = bytes as u64 + self.store.bytes();
        self.work = MAX_WORK.min(FREE_WORK + WORK_PER_BYTE * bytes);
        self.bytes_before = self.bytes;
    }

    /// Returns a mark for [`release`](Self::release).
    pub fn mark(&self) -> u32 {
        self.list.len() as u32
    }

    /// Drops the contexts created since a mark, if many bytes are cached. The contexts must not be
    /// in use.
    pub fn release(&mut self, mark: u32) {
        if self.bytes <= self.max_kept_bytes() {
            return;
        }
        while self.list.len() > self.permanent_count.max(mark as usize) {
            let Some(active) = self.list.pop() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(active.bytes);
            let Some(parent) = self.list.get_mut(active.parent as usize) else {
                continue;
            };
            match &active.cause {
                ContextCause::None => {}
                ContextCause::Local(text) => drop(parent.locals.remove(text)),
                ContextCause::Scoped(chain) => drop(parent.scoped.remove(chain)),
            }
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> &ActiveContext {
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

    /// Returns the meaning of a key in a context.
    #[inline]
    pub fn find_meaning(&mut self, context: u32, key: &[u8]) -> Meaning {
        if let Some(keyword) = Keyword::from_text(key) {
            return Meaning::Keyword(keyword);
        }
        // Messages of the same shape look up keys in the same order, so the key that followed the
        // last ones is tried first.
        let slot = (self.history.wrapping_mul(0x9E37_79B1) >> (32 - GUESS_BITS)) as usize;
        let guess = self.guesses[slot];
        if let Some(meaning) = self.list[context as usize].keys.at(guess, key) {
            self.history = self.history << 7 ^ guess;
            return meaning;
        }
        self.look_up_meaning(context, key, slot)
    }

    /// Returns the meaning of a key that was not guessed.
    #[inline(never)]
    fn look_up_meaning(&mut self, context: u32, key: &[u8], slot: usize) -> Meaning {
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
        let max = self.max_key_bytes();
        let active = &mut self.list[context as usize];
        let is_kept = self.key_bytes + bytes <= max && active.keys.len() < MAX_KEYS;
        let meaning = match property {
            Ok(property) if is_kept => Meaning::Property(active.keys.add_property(property)),
            Ok(_) => Meaning::Uncached,
            Err(meaning) => meaning,
        };
        if is_kept {
            self.key_bytes += bytes;
            active.keys.add(key, meaning);
        }
        meaning
    }

    /// Returns the context that results from the value of an `@context`.
    pub fn apply_local(&mut self, parent: u32, view: &View<'_>, value: u32) -> Read<u32> {
        let raw = view.raw(value);
        if let Some(raw) = raw
            && let Some(&cached) = self.get(parent).locals.get(raw)
        {
            return Ok(cached);
        }
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        write::copy(view, value, &mut text);
        let cached = self.get(parent).locals.get(&*text).copied();
        let result = match cached {
            Some(cached) => Ok(cached),
            None => self.new_local(parent, view, value, &text),
        };
        self.scratch = text;
        result
    }

    /// Like [`apply_local`](Self::apply_local), for a context that applies to the following
    /// messages of the log. `before` is the previous context of the log. Logs often redeclare
    /// contexts with few changes, so cached keys are moved to the new context.
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
            && FastPath::RedefinedContexts.is_on()
            && let Some(number) = self.redefine(before, parent, view, value)?
        {
            return Ok(number);
        }
        let number = self.apply_local(parent, view, value)?;
        self.largest = self.largest.max(self.bytes - bytes);
        if let Some(before) = before
            && before != number
            && number as usize >= count
        {
            self.inherit(before, number);
        }
        Ok(number)
    }

    /// Returns a context with the same names as `before` but different IRIs for some of them, which
    /// is common if messages have their own prefixes. Only the changed terms are defined again.
    /// Returns `None` if the context differs in another way or is cached.
    ///
    /// Gain: 1.07 times (`make bench-gains PATHS=redefined-contexts`).
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
        let (old, parent_context) = (self.get(before), self.get(parent));
        if view.kind(value) != JsonKind::Object
            || !old.state.differs_only_in_terms(&parent_context.state)
            || parent_context.locals.contains_key(raw)
        {
            return Ok(None);
        }
        let bytes = self.bytes;
        let mut processor = self.new_processor(before);
        let Some(changed) = processor.redefine(view, value)? else {
            return Ok(None);
        };
        let state = processor.finish();
        let text: Arc<[u8]> = raw.into();
        let cause = ContextCause::Local(Arc::clone(&text));
        let number = self.add(state, parent, cause, bytes, text.len())?;
        self.list[parent as usize].locals.insert(text, number);
        self.move_keys(before, number, &changed);
        Ok(Some(number))
    }

    /// Moves the cached keys of a context to another, except those of terms that differ.
    fn inherit(&mut self, before: u32, after: u32) {
        let (old, new) = (&self.get(before).state, &self.get(after).state);
        if old.vocab != new.vocab || old.has_colons || new.has_colons {
            return;
        }
        let mut changed: Vec<TermName> = Vec::new();
        let mut unchanged = 0;
        for (name, definition) in new.terms.iter() {
            if old
                .terms
                .get(name)
                .is_some_and(|inherited| inherited == definition)
            {
                unchanged += 1;
            } else {
                changed.push(Arc::clone(name));
            }
        }
        if old.terms.len() != unchanged {
            for (name, _) in old.terms.iter() {
                if new.terms.get(name).is_none() {
                    changed.push(Arc::clone(name));
                }
            }
        }
        let changed = changed.iter().map(|name| &**name).collect();
        self.move_keys(before, after, &changed);
    }

    /// Moves the cached keys of a context to another, except those of the `changed` terms.
    fn move_keys(&mut self, before: u32, after: u32, changed: &HashSet<&[u8], Seeded>) {
        let mut keys = std::mem::take(&mut self.list[before as usize].keys);
        // No term contains a colon here.
        keys.forget(|key| {
            let colon = memchr::memchr(b':', key).unwrap_or(key.len());
            changed.contains(&key[..colon])
        });
        self.list[after as usize].keys = keys;
    }

    fn new_local(&mut self, parent: u32, view: &View<'_>, value: u32, text: &[u8]) -> Read<u32> {
        let url = self.original_base.clone();
        let before = self.bytes;
        let mut processor = self.new_processor(parent);
        processor.process_value(&Origin::message(view, url), value, false, true)?;
        let state = processor.finish();
        let text: Arc<[u8]> = text.into();
        let cause = ContextCause::Local(Arc::clone(&text));
        let number = self.add(state, parent, cause, before, text.len())?;
        self.list[parent as usize].locals.insert(text, number);
        Ok(number)
    }

    /// Returns the context that results from applying the contexts of definitions in order.
    pub fn apply_scoped(
        &mut self,
        parent: u32,
        chain: &[Arc<ScopedContext>],
        scope: ContextScope,
    ) -> Read<u32> {
        let mut numbers = std::mem::take(&mut self.chain);
        numbers.clear();
        numbers.push(scope as u64);
        numbers.extend(chain.iter().map(|scoped| scoped.number));
        let cached = self.get(parent).scoped.get(&*numbers).copied();
        let result = match cached {
            Some(cached) => Ok(cached),
            None => self.new_scoped(parent, chain, scope, &numbers),
        };
        self.chain = numbers;
        result
    }

    fn new_scoped(
        &mut self,
        parent: u32,
        chain: &[Arc<ScopedContext>],
        scope: ContextScope,
        numbers: &[u64],
    ) -> Read<u32> {
        let before = self.bytes;
        let mut processor = self.new_processor(parent);
        for scoped in chain {
            let overrides = scope == ContextScope::Property;
            let propagates = scope != ContextScope::Type;
            processor.process_value(
                &Origin::from_stored(scoped),
                scoped.value,
                overrides,
                propagates,
            )?;
        }
        let state = processor.finish();
        let bytes = 16 * numbers.len();
        let cause = ContextCause::Scoped(numbers.into());
        let number = self.add(state, parent, cause, before, bytes)?;
        self.list[parent as usize]
            .scoped
            .insert(numbers.into(), number);
        Ok(number)
    }

    fn new_processor(&mut self, parent: u32) -> Processor<'_> {
        let state = self.get(parent).state.clone();
        Processor::new(self, state, parent)
    }

    /// Adds a context that is not cached.
    pub fn add_alone(&mut self, state: ContextState, parent: u32) -> Read<u32> {
        self.add(state, parent, ContextCause::None, self.bytes, 0)
    }

    /// Adds a context. `before` is the number of bytes that were in use before it was created.
    fn add(
        &mut self,
        state: ContextState,
        parent: u32,
        cause: ContextCause,
        before: usize,
        text: usize,
    ) -> Read<u32> {
        self.take_bytes(CONTEXT_BYTES + 2 * text)?;
        let bytes = self.bytes.saturating_sub(before);
        let number = self.list.len() as u32;
        self.list
            .push(ActiveContext::new(state, parent, cause, bytes));
        Ok(number)
    }

    /// Charges memory for contexts.
    pub fn take_bytes(&mut self, bytes: usize) -> Read<()> {
        self.bytes += bytes;
        if self.bytes.saturating_sub(self.bytes_before) as u64 > self.max_bytes {
            return Err(JsonLdError::limit(
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

    /// Charges the definition of a term.
    #[inline]
    pub fn take_work(&mut self) -> Read<()> {
        self.spend(1);
        self.check_work()
    }

    /// Charges the text of an expansion.
    #[inline]
    pub fn spend_text(&mut self, bytes: usize) {
        self.spend((bytes / TEXT_PER_DEFINITION) as u64);
    }

    fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_sub(work);
    }

    /// Checks that the message may still define terms and expand keys.
    #[inline]
    pub fn check_work(&self) -> Read<()> {
        if self.work > 0 {
            return Ok(());
        }
        Err(JsonLdError::limit(
            None,
            format!(
                "the contexts of the message define terms, or expand keys to long IRIs, too often: more than \
                 {FREE_WORK} times plus {WORK_PER_BYTE} times per byte, or {MAX_WORK} times in total; \
                 split the message, or use fewer contexts"
            ),
        ))
    }

    /// Returns a unique number for the context of a definition.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub fn max_depth(&self) -> u32 {
        self.max_depth
    }

    pub fn store(&self) -> &ContextStore {
        &self.store
    }

    /// Returns the terms of a context that can be prefixes, sorted by name, without those of its
    /// parent.
    pub fn prefixes(&self, number: u32, parent: Option<u32>) -> Vec<ContextNamespace> {
        let parent_terms = parent.map(|parent| &self.get(parent).state.terms);
        let mut prefixes = Vec::new();
        for (name, definition) in self.get(number).state.terms.iter_unshared(parent_terms) {
            if let Mapping::Iri(iri) = &definition.mapping
                && definition.prefix
                && (definition.takes_plain || is_iri(iri))
            {
                prefixes.push((Arc::clone(name), Arc::clone(definition)));
            }
        }
        prefixes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        prefixes
    }

    /// Extracts one context.
    pub fn take(mut self, number: u32) -> ActiveContext {
        self.list.swap_remove(number as usize)
    }
}

/// A name, and the definition with its IRI.
pub(super) type ContextNamespace = (TermName, Arc<Definition>);

/// The result of expanding a string (JSON-LD 1.1 API, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// No result, because the string has the form of a keyword.
    Nothing,
    /// No result, because the term is `null`.
    Null,
    Keyword(Keyword),
    /// The text that was appended, usually an IRI, or a blank node with its `_:`.
    Text,
}

impl ActiveContext {
    fn new(state: ContextState, parent: u32, cause: ContextCause, bytes: usize) -> Self {
        Self {
            state,
            keys: ContextKeys::default(),
            locals: HashMap::default(),
            scoped: HashMap::default(),
            parent,
            cause,
            bytes,
        }
    }
}

impl ContextState {
    /// Whether this context differs from `other`, which has no terms, only in terms that do not
    /// affect each other.
    fn differs_only_in_terms(&self, other: &Self) -> bool {
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

    /// Returns the property of a key, or its other meaning.
    pub fn expand_key(&self, key: &[u8]) -> Result<Property, Meaning> {
        let mut texts = Vec::new();
        self.expand_key_in(key, &mut texts)
    }

    /// Like [`expand_key`](Self::expand_key), with a buffer for intermediate strings.
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
            is_prefix: definition
                .as_ref()
                .is_some_and(|definition| definition.prefix),
            is_iri: is_valid.unwrap_or(false) || is_iri(iri),
            datatype: DatatypeKind::from_iri(iri),
            is_language_type: is_language_type(iri),
            texts: texts.as_slice().into(),
            definition,
            recent: RecentTerm::NONE,
            charged: 0,
        })
    }

    /// Appends the expansion of a string (JSON-LD 1.1 API, 5.2.2). `vocab` expands it as a property
    /// or type; `relative` resolves it against the base.
    #[inline]
    pub fn expand(&self, text: &[u8], vocab: bool, relative: bool, out: &mut Vec<u8>) -> Expanded {
        if text.first() == Some(&b'@') {
            if let Some(keyword) = Keyword::from_text(text) {
                return Expanded::Keyword(keyword);
            }
            if has_keyword_form(text) {
                return Expanded::Nothing;
            }
        }
        let colon = memchr::memchr(b':', text).filter(|&index| index > 0);
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

    /// Appends the expansion of a compact IRI whose prefix is a term. Returns whether the expansion
    /// is certainly an IRI, or `None` if the string is not such a compact IRI.
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
        Some(FastPath::SureIris.is_on() && definition.takes_plain && is_plain(suffix))
    }

    /// The IRI of a term that can be a prefix.
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

/// Whether a value is an empty object.
pub(super) fn is_empty_object(view: &View<'_>, value: u32) -> bool {
    view.kind(value) == JsonKind::Object && view.next(value) == value + 1
}
