//! Contexts compiled into tables of terms, once for all messages that use them.
//!
//! - In: the value of an `@context`, and the context that it is processed in.
//! - Out: the number of an [`Active`] context; None where it holds what this way does not read.
//! - Cost: one table a context; contexts are found again by their JSON text and their parent.
//! - Law: what compiles means what the JSON-LD algorithms say. A term with a feature that the walk does
//!   not know compiles, and makes the messages decline that use it.

use std::sync::Arc;

use oxiri::Iri;
use rustc_hash::FxHashMap;

use super::iri::is_iri;
use super::loader::Store;
use crate::cache::Known;
use crate::json::{Bounds, Kind, Tape, View, parse, write};

/// Bytes of compiled contexts that are kept, roughly.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of a definition, and of a context besides, roughly.
const TERM_BYTES: usize = 256;
const CONTEXT_BYTES: usize = 512;
/// Keys of messages that a context remembers.
const MOST_KEYS: usize = 1 << 14;
/// Contexts that refer to others, at most so deep.
const MOST_REMOTE: u32 = 8;

/// The context of a log that names none.
pub(super) const INITIAL: u32 = 0;

/// A keyword that the walk reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Context,
    Graph,
    Id,
    Included,
    Language,
    List,
    Set,
    Type,
    Value,
}

/// What a key of a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Keyword(Keyword),
    /// The number of a [`Property`].
    Property(u32),
    /// Nothing: the value is left out, as JSON-LD has it.
    Ignored,
    /// What the walk does not know.
    Decline,
}

/// What a string of a property becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coercion {
    None,
    Id,
    Vocab,
    /// The number of a datatype.
    Datatype(u32),
}

/// The language of a property's strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// That of the context.
    Default,
    /// None.
    Null,
    Tag(Box<[u8]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    None,
    List,
    /// Values that always stand in an array, which makes no difference to a reader.
    Set,
    Language,
}

/// A key that expands to an IRI.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub iri: Box<[u8]>,
    pub known: Known,
    pub coercion: Coercion,
    pub language: Language,
    pub container: Container,
}

/// A name and an IRI.
pub(super) type Namespace = (Box<[u8]>, Box<[u8]>);

/// A definition.
#[derive(Clone, Debug)]
struct Term {
    /// None where the term means nothing.
    iri: Option<Box<[u8]>>,
    keyword: Option<Keyword>,
    prefix: bool,
    /// `oxjsonld` takes it as a prefix, and JSON-LD does not.
    doubtful_prefix: bool,
    protected: bool,
    /// It has a feature that the walk does not know.
    unknown: bool,
    /// It has a context of its own.
    scoped: bool,
    coercion: Coercion,
    language: Language,
    container: Container,
}

/// A compiled context.
#[derive(Debug)]
pub(super) struct Active {
    terms: Arc<FxHashMap<Box<[u8]>, Term>>,
    vocab: Option<Box<[u8]>>,
    pub base: Option<Iri<String>>,
    pub language: Option<Box<[u8]>>,
    datatypes: Arc<Vec<Box<[u8]>>>,
    /// Keys met so far.
    keys: FxHashMap<Box<[u8]>, Meaning>,
    properties: Vec<Property>,
    /// A term might be taken for an IRI with a colon.
    colon_terms: bool,
    /// It holds what was compiled without being understood, so it must be checked.
    unchecked: bool,
    /// JSON text of the context that made it of its parent.
    text: Box<[u8]>,
    parent: u32,
}

/// All contexts of a decoder.
#[derive(Debug)]
pub(super) struct Contexts {
    list: Vec<Active>,
    found: FxHashMap<(u32, Box<[u8]>), Option<u32>>,
    bytes: usize,
    /// Bytes of the largest one.
    largest: usize,
    bounds: Bounds,
    store: Store,
    scratch: Vec<u8>,
    /// The entry at which the last context that did not compile stopped.
    stopped: Option<Box<[u8]>>,
}

impl Contexts {
    pub fn new(base: Option<Iri<String>>, bounds: Bounds, store: Store) -> Self {
        Self {
            list: vec![Active {
                terms: Arc::default(),
                vocab: None,
                base,
                language: None,
                datatypes: Arc::default(),
                keys: FxHashMap::default(),
                properties: Vec::new(),
                colon_terms: false,
                unchecked: false,
                text: Box::default(),
                parent: INITIAL,
            }],
            found: FxHashMap::default(),
            bytes: 0,
            largest: 0,
            bounds,
            store,
            scratch: Vec::new(),
            stopped: None,
        }
    }

    /// Whether so much is kept that [`forget`](Self::forget) is due.
    pub fn is_full(&self) -> bool {
        // A log's context that is large itself stays.
        self.bytes > MOST_BYTES.max(2 * self.largest)
    }

    /// Forgets all contexts but the initial one: their numbers mean nothing any more.
    pub fn forget(&mut self) {
        self.list.truncate(1);
        self.found.clear();
        self.bytes = 0;
        self.largest = 0;
        if let Some(initial) = self.list.first_mut() {
            initial.keys.clear();
            initial.properties.clear();
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&Active> {
        self.list.get(number as usize)
    }

    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Active> {
        self.list.get_mut(number as usize)
    }

    /// The context that a value makes of its parent; None also where one message has too many.
    /// `check` says of the JSON text of contexts whether the JSON-LD algorithms take it.
    pub fn compile(
        &mut self,
        parent: u32,
        view: &View<'_>,
        value: u32,
        check: impl Fn(&[u8]) -> bool,
    ) -> Option<u32> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        write::write(view, value, &mut text);
        let key = (parent, text.into_boxed_slice());
        if let Some(known) = self.found.get(&key) {
            let known = *known;
            self.scratch = key.1.into_vec();
            return known;
        }
        if self.is_full() {
            self.scratch = key.1.into_vec();
            return None;
        }
        let made = self.compile_new(parent, view, value, &key.1, check);
        self.bytes += key.1.len() + 64;
        self.found.insert(key, made);
        made
    }

    fn compile_new(
        &mut self,
        parent: u32,
        view: &View<'_>,
        value: u32,
        text: &[u8],
        check: impl Fn(&[u8]) -> bool,
    ) -> Option<u32> {
        let number = u32::try_from(self.list.len()).ok()?;
        let above = parent;
        let parent = self.get(above)?;
        let initial_base = self.get(INITIAL)?.base.clone();
        let mut maker = Maker {
            active: Active {
                terms: Arc::clone(&parent.terms),
                vocab: parent.vocab.clone(),
                base: parent.base.clone(),
                language: parent.language.clone(),
                datatypes: Arc::clone(&parent.datatypes),
                keys: FxHashMap::default(),
                properties: Vec::new(),
                colon_terms: false,
                unchecked: false,
                text: text.into(),
                parent: above,
            },
            initial_base,
            bounds: &self.bounds,
            store: &self.store,
            stopped: None,
        };
        if maker.any(view, value, None, 0).is_none() {
            self.stopped = maker.stopped;
            return None;
        }
        let mut active = maker.active;
        if active.unchecked && !check(&self.texts(above, text)) {
            return None;
        }
        active.colon_terms = active.terms.iter().any(|(name, _)| name.contains(&b':'));
        let shared = self
            .get(above)
            .is_some_and(|parent| Arc::ptr_eq(&parent.terms, &active.terms));
        let terms = if shared { 0 } else { active.terms.len() };
        let bytes = text.len() + TERM_BYTES * terms + CONTEXT_BYTES;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
        self.list.push(active);
        Some(number)
    }

    /// The JSON text of a context and of those that it is made of, with commas between.
    fn texts(&self, mut number: u32, last: &[u8]) -> Vec<u8> {
        let mut texts = vec![members(last)];
        while number != INITIAL
            && let Some(active) = self.get(number)
        {
            texts.push(members(&active.text));
            number = active.parent;
        }
        texts.retain(|text| !text.is_empty());
        texts.reverse();
        texts.join(&b',')
    }

    /// One context alone.
    pub fn take(mut self, number: u32) -> Option<Active> {
        let at = number as usize;
        (at < self.list.len()).then(|| self.list.swap_remove(at))
    }

    /// The entry at which the last context that did not compile stopped, if one is to blame.
    pub fn stopped(&self) -> Option<&[u8]> {
        self.stopped.as_deref()
    }

    /// The names and IRIs of a context that can stand as prefixes, by name.
    pub fn prefixes(&self, number: u32) -> Vec<Namespace> {
        let Some(active) = self.get(number) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, term) in active.terms.iter() {
            if let Some(iri) = term.iri.clone().filter(|iri| term.prefix && is_iri(iri)) {
                found.push((name.clone(), iri));
            }
        }
        found.sort_unstable();
        found
    }
}

impl Active {
    /// What a key means.
    #[inline]
    pub fn meaning(&mut self, key: &[u8]) -> Meaning {
        if key.first() == Some(&b'@') {
            return keyword(key).map_or(Meaning::Decline, Meaning::Keyword);
        }
        if let Some(&meaning) = self.keys.get(key) {
            return meaning;
        }
        self.new_meaning(key)
    }

    fn new_meaning(&mut self, key: &[u8]) -> Meaning {
        let meaning = match self.expand_key(key) {
            Ok(property) => {
                self.properties.push(property);
                Meaning::Property(self.properties.len() as u32 - 1)
            }
            Err(meaning) => meaning,
        };
        if self.keys.len() < MOST_KEYS && key.len() < 1024 {
            self.keys.insert(key.into(), meaning);
        } else if let Meaning::Property(_) = meaning {
            // Not to be kept for ever: the complete way has no memory of keys.
            self.properties.pop();
            return Meaning::Decline;
        }
        meaning
    }

    /// The property that a key which is no keyword names, or what else it means.
    pub fn expand_key(&self, key: &[u8]) -> Result<Property, Meaning> {
        if let Some(term) = self.terms.get(key) {
            if term.unknown || term.scoped {
                return Err(Meaning::Decline);
            }
            if let Some(keyword) = term.keyword {
                return Err(Meaning::Keyword(keyword));
            }
            let iri = term.iri.clone().ok_or(Meaning::Ignored)?;
            if !is_iri(&iri) {
                return Err(Meaning::Decline);
            }
            return Ok(Property {
                iri,
                known: Known::NONE,
                coercion: term.coercion,
                language: term.language.clone(),
                container: term.container,
            });
        }
        let mut iri = Vec::new();
        match self.absolute(key, &mut iri) {
            Some(true) => {}
            Some(false) => match &self.vocab {
                Some(vocab) => iri.extend([vocab, key].into_iter().flatten()),
                None if key.is_empty() || key.contains(&b':') => return Err(Meaning::Decline),
                None => return Err(Meaning::Ignored),
            },
            None => return Err(Meaning::Decline),
        }
        if !is_iri(&iri) {
            return Err(Meaning::Decline);
        }
        Ok(Property {
            iri: iri.into(),
            known: Known::NONE,
            coercion: Coercion::None,
            language: Language::Default,
            container: Container::None,
        })
    }

    /// A property of a key; its term in the batch is remembered there.
    #[inline]
    pub fn property(&mut self, number: u32) -> Option<&mut Property> {
        self.properties.get_mut(number as usize)
    }

    #[inline]
    pub fn datatype(&self, number: u32) -> Option<&[u8]> {
        self.datatypes.get(number as usize).map(|iri| &**iri)
    }

    /// Terms that mean an IRI or a keyword, in no order.
    pub fn names(&self) -> impl Iterator<Item = (&[u8], &[u8], Option<Keyword>)> {
        self.terms
            .iter()
            .filter_map(|(name, term)| Some((&**name, term.iri.as_deref()?, term.keyword)))
    }

    /// Where names without a colon belong.
    pub fn vocab(&self) -> Option<&[u8]> {
        self.vocab.as_deref()
    }

    /// Whether a term is protected, so that `null` cannot clear the context.
    pub fn is_protected(&self) -> bool {
        self.terms.values().any(|term| term.protected)
    }

    /// Whether a text is a term.
    pub fn has_term(&self, text: &[u8]) -> bool {
        self.terms.contains_key(text)
    }

    /// The language of the strings of a property.
    #[inline]
    pub fn language_of(&self, number: u32) -> Option<&[u8]> {
        match &self.properties.get(number as usize)?.language {
            Language::Default => self.language.as_deref(),
            Language::Null => None,
            Language::Tag(tag) => Some(tag),
        }
    }

    /// Appends the IRI of a text with a colon; true if it has one that says what it is, false if it is
    /// to be taken as relative, None if the walk does not know.
    #[inline]
    fn absolute(&self, text: &[u8], out: &mut Vec<u8>) -> Option<bool> {
        let Some(colon) = memchr::memchr(b':', text) else {
            return Some(false);
        };
        let (prefix, rest) = text.split_at(colon);
        let suffix = rest.get(1..).unwrap_or_default();
        if prefix == b"_" {
            return None;
        }
        if !suffix.starts_with(b"//")
            && let Some(term) = self.terms.get(prefix)
        {
            if term.doubtful_prefix {
                return None;
            }
            if let Some(iri) = &term.iri
                && term.prefix
            {
                out.extend_from_slice(iri);
                out.extend_from_slice(suffix);
                return Some(true);
            }
        }
        out.extend_from_slice(text);
        is_iri(text).then_some(true)
    }

    /// Appends the IRI of an `@id` (or, with `vocab`, of a type); false if the walk does not know.
    /// Blank nodes are the caller's.
    #[inline]
    pub fn node_iri(&self, text: &[u8], vocab: bool, out: &mut Vec<u8>) -> bool {
        out.clear();
        if text.first() == Some(&b'@') {
            return false;
        }
        if vocab {
            if let Some(term) = self.terms.get(text) {
                let Some(iri) = &term.iri else {
                    return false;
                };
                out.extend_from_slice(iri);
                return !term.scoped && term.keyword.is_none() && is_iri(out);
            }
        } else if (self.colon_terms || memchr::memchr(b':', text).is_none())
            && self
                .terms
                .get(text)
                .is_some_and(|term| term.keyword.is_some() || term.iri.is_none())
        {
            return false;
        }
        match self.absolute(text, out) {
            Some(true) => return is_iri(out),
            None => return false,
            Some(false) => {}
        }
        if vocab && let Some(vocab) = &self.vocab {
            out.extend_from_slice(vocab);
            out.extend_from_slice(text);
            return is_iri(out);
        }
        let (Some(base), Ok(text)) = (&self.base, std::str::from_utf8(text)) else {
            return false;
        };
        match base.resolve(text) {
            Ok(iri) => {
                out.extend_from_slice(iri.as_bytes());
                is_iri(out)
            }
            Err(_) => false,
        }
    }
}

/// The keyword that a text is, if the walk reads it.
pub(super) fn keyword(text: &[u8]) -> Option<Keyword> {
    Some(match text {
        b"@context" => Keyword::Context,
        b"@graph" => Keyword::Graph,
        b"@id" => Keyword::Id,
        b"@included" => Keyword::Included,
        b"@language" => Keyword::Language,
        b"@list" => Keyword::List,
        b"@set" => Keyword::Set,
        b"@type" => Keyword::Type,
        b"@value" => Keyword::Value,
        _ => return None,
    })
}

/// Makes one context.
struct Maker<'a> {
    active: Active,
    initial_base: Option<Iri<String>>,
    bounds: &'a Bounds,
    store: &'a Store,
    /// The entry at which it stopped.
    stopped: Option<Box<[u8]>>,
}

/// How far a term of a local context is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Begun,
    Defined,
}

/// A local context under way.
struct Local<'v> {
    view: View<'v>,
    terms: FxHashMap<&'v [u8], u32>,
    progress: FxHashMap<&'v [u8], Progress>,
    protected: bool,
}

impl Maker<'_> {
    /// Processes the value of an `@context`. `remote` is where it was loaded from.
    fn any(&mut self, view: &View<'_>, value: u32, remote: Option<&str>, depth: u32) -> Option<()> {
        match view.kind(value) {
            Kind::Array => {
                for item in view.items(value) {
                    if view.kind(item) == Kind::Array {
                        return None;
                    }
                    self.any(view, item, remote, depth)?;
                }
                Some(())
            }
            Kind::Null => self.null(),
            Kind::String => self.load(view.text(value), depth),
            Kind::Object => self.object(view, value, remote),
            _ => None,
        }
    }

    fn null(&mut self) -> Option<()> {
        if self.active.is_protected() {
            return None;
        }
        self.active.terms = Arc::default();
        self.active.vocab = None;
        self.active.language = None;
        self.active.base = self.initial_base.clone();
        Some(())
    }

    fn load(&mut self, url: &[u8], depth: u32) -> Option<()> {
        let url = std::str::from_utf8(url).ok()?;
        if depth >= MOST_REMOTE {
            return None;
        }
        // What a relative URL is relative to is the complete way's to know.
        Iri::parse(url).ok()?;
        let loaded = self.store.load(url).ok()?;
        let mut tape = Tape::new();
        parse(&loaded.document, &mut tape, self.bounds).ok()?;
        let view = View {
            tape: &tape,
            source: &loaded.document,
        };
        if view.kind(0) != Kind::Object || tape.has_duplicates() {
            return None;
        }
        let context = view.get(0, b"@context")?;
        self.any(&view, context, Some(&loaded.url), depth + 1)
    }

    fn object(&mut self, view: &View<'_>, object: u32, remote: Option<&str>) -> Option<()> {
        let mut local = Local {
            view: *view,
            terms: FxHashMap::default(),
            progress: FxHashMap::default(),
            protected: false,
        };
        let mut names = Vec::new();
        // `@base` before `@vocab` before terms, wherever they stand.
        let (mut base, mut vocab) = (None, None);
        for key in view.keys(object) {
            let (name, value) = (view.text(key), key + 1);
            match name {
                b"@base" => base = Some(value),
                b"@vocab" => vocab = Some(value),
                [] | [b'@', ..] => {
                    let taken = self.keyword(view, name, value, &mut local.protected);
                    self.at(name, taken)?;
                }
                _ => {
                    local.terms.insert(name, value);
                    names.push(name);
                }
            }
        }
        if let Some(base) = base.filter(|_| remote.is_none()) {
            let taken = self.base(view, base);
            self.at(b"@base", taken)?;
        }
        if let Some(vocab) = vocab {
            let taken = self.vocab(view, vocab);
            self.at(b"@vocab", taken)?;
        }
        for name in names {
            let taken = self.define(&mut local, name);
            self.at(name, taken)?;
        }
        Some(())
    }

    /// Notes at which entry a context stops.
    fn at(&mut self, name: &[u8], taken: Option<()>) -> Option<()> {
        if taken.is_none() {
            self.stopped = Some(name.into());
        }
        taken
    }

    /// An entry that is no term.
    fn keyword(
        &mut self,
        view: &View<'_>,
        name: &[u8],
        value: u32,
        protected: &mut bool,
    ) -> Option<()> {
        match name {
            b"@version" if view.kind(value) == Kind::Number && view.text(value) == b"1.1" => {}
            b"@language" => match view.kind(value) {
                Kind::Null => self.active.language = None,
                Kind::String => self.active.language = Some(view.text(value).into()),
                _ => return None,
            },
            b"@protected" => *protected = boolean(view, value)?,
            _ => return None,
        }
        Some(())
    }

    fn base(&mut self, view: &View<'_>, value: u32) -> Option<()> {
        self.active.base = match view.kind(value) {
            Kind::Null => None,
            Kind::String => {
                let text = std::str::from_utf8(view.text(value)).ok()?;
                Some(match &self.active.base {
                    Some(base) => base.resolve(text).ok()?,
                    None => Iri::parse(text.to_owned()).ok()?,
                })
            }
            _ => return None,
        };
        Some(())
    }

    fn vocab(&mut self, view: &View<'_>, value: u32) -> Option<()> {
        self.active.vocab = match view.kind(value) {
            Kind::Null => None,
            Kind::String => {
                let text = view.text(value);
                let colon = memchr::memchr(b':', text)?;
                let (prefix, rest) = text.split_at(colon);
                let known =
                    self.active.terms.contains_key(prefix) || self.active.terms.contains_key(text);
                if known && !rest.starts_with(b"://") || !is_iri(text) {
                    return None;
                }
                Some(text.into())
            }
            _ => return None,
        };
        Some(())
    }

    /// Defines a term of the local context, and those that it refers to first. The depth of that is
    /// bounded by [`super::guard`].
    fn define<'v>(&mut self, local: &mut Local<'v>, name: &'v [u8]) -> Option<()> {
        match local.progress.get(name) {
            Some(Progress::Defined) => return Some(()),
            Some(Progress::Begun) => return None,
            None => {}
        }
        local.progress.insert(name, Progress::Begun);
        let value = *local.terms.get(name)?;
        if self
            .active
            .terms
            .get(name)
            .is_some_and(|term| term.protected)
        {
            return None;
        }
        Arc::make_mut(&mut self.active.terms).remove(name);
        let view = local.view;
        let mut term = Term {
            iri: None,
            keyword: None,
            prefix: false,
            doubtful_prefix: false,
            protected: local.protected,
            unknown: false,
            scoped: false,
            coercion: Coercion::None,
            language: Language::Default,
            container: Container::None,
        };
        match view.kind(value) {
            Kind::Null => {}
            Kind::String => self.identify(local, name, Some(value), true, &mut term)?,
            Kind::Object => self.describe(local, name, value, &mut term)?,
            _ => return None,
        }
        Arc::make_mut(&mut self.active.terms).insert(name.into(), term);
        local.progress.insert(name, Progress::Defined);
        Some(())
    }

    /// A definition that is an object.
    fn describe<'v>(
        &mut self,
        local: &mut Local<'v>,
        name: &'v [u8],
        object: u32,
        term: &mut Term,
    ) -> Option<()> {
        let view = local.view;
        let mut id = None;
        let (mut typed, mut tagged, mut reverse) = (false, false, false);
        let mut prefix = None;
        for key in view.keys(object) {
            let value = key + 1;
            match view.text(key) {
                b"@id" => id = Some(value),
                b"@type" => {
                    typed = true;
                    self.coercion(local, value, term)?;
                }
                b"@language" => {
                    tagged = true;
                    term.language = match view.kind(value) {
                        Kind::Null => Language::Null,
                        Kind::String => Language::Tag(view.text(value).into()),
                        _ => return None,
                    };
                }
                b"@prefix" => prefix = Some(boolean(&view, value)?),
                b"@protected" => term.protected = boolean(&view, value)?,
                b"@container" => Self::container(&view, value, term),
                b"@reverse" => {
                    reverse = true;
                    term.unknown = true;
                }
                b"@context" => {
                    term.scoped = true;
                    term.unknown = true;
                }
                b"@nest" | b"@index" | b"@direction" => term.unknown = true,
                _ => return None,
            }
        }
        self.active.unchecked |= term.unknown;
        if typed && tagged {
            return None;
        }
        if reverse {
            // It has no place as a prefix or a type.
            term.scoped = true;
            term.doubtful_prefix = true;
            term.iri = Some(Box::default());
            return Some(());
        }
        if id.is_some_and(|id| view.kind(id) == Kind::Null) {
            // Nothing.
        } else {
            self.identify(local, name, id, false, term)?;
        }
        if let Some(prefix) = prefix {
            if name.iter().any(|byte| matches!(byte, b':' | b'/')) || term.keyword.is_some() {
                return None;
            }
            term.prefix = prefix;
            term.doubtful_prefix = false;
        }
        Some(())
    }

    /// The IRI of a term: its `@id`, or what the term itself says.
    fn identify<'v>(
        &mut self,
        local: &mut Local<'v>,
        name: &'v [u8],
        id: Option<u32>,
        simple: bool,
        term: &mut Term,
    ) -> Option<()> {
        let view = local.view;
        let id = match id {
            Some(id) if view.kind(id) != Kind::String => return None,
            Some(id) => Some(view.text(id)).filter(|text| *text != name),
            None => None,
        };
        let slash = name.contains(&b'/');
        let colon = memchr::memchr(b':', name);
        if colon == Some(0) || colon == Some(name.len() - 1) {
            return None;
        }
        let Some(id) = id else {
            let mut iri = Vec::new();
            if let Some(colon) = colon {
                let (prefix, suffix) = (&name[..colon], &name[colon + 1..]);
                if prefix == b"_" {
                    return None;
                }
                if local.terms.contains_key(prefix) {
                    self.define(local, prefix)?;
                }
                if let Some(known) = self.active.terms.get(prefix) {
                    if known.keyword.is_some() {
                        return None;
                    }
                    iri.extend_from_slice(known.iri.as_deref()?);
                    iri.extend_from_slice(suffix);
                } else {
                    iri.extend_from_slice(name);
                }
            } else if slash {
                return None;
            } else {
                iri.extend_from_slice(self.active.vocab.as_deref()?);
                iri.extend_from_slice(name);
            }
            if !is_iri(&iri) {
                return None;
            }
            term.iri = Some(iri.into());
            return Some(());
        };
        if id.first() == Some(&b'@') {
            term.keyword = Some(keyword(id).filter(|word| *word != Keyword::Context)?);
            term.iri = Some(id.into());
            if slash || colon.is_some() {
                return None;
            }
            return Some(());
        }
        let iri = self.expand(local, id)?;
        if iri.first() == Some(&b'@') {
            return None;
        }
        if let Some(colon) = colon {
            // The term must mean as an IRI what it is defined as.
            let (prefix, suffix) = (&name[..colon], &name[colon + 1..]);
            if local.terms.contains_key(prefix) {
                self.define(local, prefix)?;
            }
            let known = self.active.terms.get(prefix)?;
            let same = known.prefix
                && !suffix.starts_with(b"//")
                && known.iri.as_ref()?.iter().chain(suffix).eq(iri.iter());
            if !same || slash {
                return None;
            }
        } else if slash {
            return None;
        }
        let ends = matches!(
            iri.last(),
            Some(b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
        );
        term.prefix = simple && ends && colon.is_none();
        term.doubtful_prefix = !simple && ends && colon.is_none();
        term.iri = Some(iri);
        Some(())
    }

    /// The IRI of an `@id` or `@type` within a definition.
    fn expand<'v>(&mut self, local: &mut Local<'v>, text: &'v [u8]) -> Option<Box<[u8]>> {
        if local.terms.contains_key(text) {
            self.define(local, text)?;
        }
        if let Some(term) = self.active.terms.get(text) {
            return term.iri.clone().filter(|iri| !iri.is_empty());
        }
        if let Some(colon) = memchr::memchr(b':', text) {
            let (prefix, suffix) = (&text[..colon], &text[colon + 1..]);
            if prefix == b"_" {
                return None;
            }
            if suffix.starts_with(b"//") {
                return is_iri(text).then(|| text.into());
            }
            if local.terms.contains_key(prefix) {
                self.define(local, prefix)?;
            }
            if let Some(term) = self.active.terms.get(prefix) {
                if term.doubtful_prefix {
                    return None;
                }
                if let Some(iri) = term.iri.as_deref()
                    && term.prefix
                {
                    let iri = [iri, suffix].concat();
                    return is_iri(&iri).then(|| iri.into());
                }
            }
            return is_iri(text).then(|| text.into());
        }
        let iri = [self.active.vocab.as_deref()?, text].concat();
        is_iri(&iri).then(|| iri.into())
    }

    fn coercion(&mut self, local: &mut Local<'_>, value: u32, term: &mut Term) -> Option<()> {
        if local.view.kind(value) != Kind::String {
            return None;
        }
        term.coercion = match local.view.text(value) {
            b"@id" => Coercion::Id,
            b"@vocab" => Coercion::Vocab,
            b"@json" | b"@none" => {
                term.unknown = true;
                Coercion::None
            }
            [b'@', ..] => return None,
            text => {
                let iri = self.expand(local, text)?;
                if iri.first() == Some(&b'@') || is_language_type(&iri) {
                    return None;
                }
                let datatypes = Arc::make_mut(&mut self.active.datatypes);
                let number = datatypes.iter().position(|known| *known == iri);
                let number = number.unwrap_or_else(|| {
                    datatypes.push(iri);
                    datatypes.len() - 1
                });
                Coercion::Datatype(number as u32)
            }
        };
        Some(())
    }

    fn container(view: &View<'_>, value: u32, term: &mut Term) {
        let mut items = vec![value];
        if view.kind(value) == Kind::Array {
            items = view.items(value).collect();
        }
        match *items {
            [one] if view.kind(one) == Kind::String => match view.text(one) {
                b"@list" => term.container = Container::List,
                b"@set" => term.container = Container::Set,
                b"@language" => term.container = Container::Language,
                _ => term.unknown = true,
            },
            _ => term.unknown = true,
        }
    }
}

/// The contexts of a JSON text, without the brackets of an array.
pub(super) fn members(text: &[u8]) -> &[u8] {
    let inner = text.strip_prefix(b"[");
    inner
        .and_then(|text| text.strip_suffix(b"]"))
        .unwrap_or(text)
}

/// Datatypes that go with a language tag only.
pub(super) fn is_language_type(iri: &[u8]) -> bool {
    matches!(
        iri.strip_prefix(b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        Some(b"langString" | b"dirLangString")
    )
}

fn boolean(view: &View<'_>, value: u32) -> Option<bool> {
    match view.kind(value) {
        Kind::True => Some(true),
        Kind::False => Some(false),
        _ => None,
    }
}
