//! Term definitions (JSON-LD 1.1 API, 4.2.2).
//!
//! - In: an entry of a context definition.
//! - Out: a [`Definition`] in the state of the active context.
//! - Law: a definition is created after those that it refers to. The length of such chains is
//!   limited.

use std::sync::Arc;

use super::context::{Direction, Expanded, TERM_BYTES};
use super::error::{JsonLdError, Read};
use super::iri::{BaseIri, accepts_plain, has_iri_form, has_scheme_and_slashes};
use super::keyword::{Keyword, has_keyword_form};
use super::loader::StoredJson;
use super::process::{LocalContext, Origin, PlainEntry, Processor, TermProgress, direction_of};
use crate::model::error::{ErrorClass, quote};
use crate::syntax::json::{JsonKind, Tape, write};
use crate::syntax::stack;

/// The meaning of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    /// Explicitly unmapped.
    Null,
    Keyword(Keyword),
    /// An IRI or a blank node.
    Iri(Box<[u8]>),
}

/// The type to which the strings of a term are coerced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Coercion {
    /// Literals with the language and direction of the term or context.
    Default,
    /// Like `Default`, but specified by `@none`.
    Untyped,
    Id,
    Vocab,
    Json,
    Datatype(Box<[u8]>),
}

/// A value in a term definition that may override the default of the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Override<T> {
    /// No override.
    Default,
    Null,
    Value(T),
}

impl<T> Override<T> {
    /// Returns the value in effect.
    pub fn or<'a, U: ?Sized>(&'a self, default: Option<&'a U>) -> Option<&'a U>
    where
        T: AsRef<U>,
    {
        match self {
            Self::Default => default,
            Self::Null => None,
            Self::Value(value) => Some(value.as_ref()),
        }
    }
}

/// The structure of a term's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Containers(u8);

impl Containers {
    pub const GRAPH: Self = Self(1);
    pub const ID: Self = Self(2);
    pub const INDEX: Self = Self(4);
    pub const LANGUAGE: Self = Self(8);
    pub const LIST: Self = Self(16);
    pub const SET: Self = Self(32);
    pub const TYPE: Self = Self(64);
    /// Containers with maps of nodes.
    pub const MAPS: Self = Self(2 | 4 | 64);

    /// Whether any of these containers is included.
    #[inline]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Whether no other containers are included.
    pub const fn has_only(self, allowed: Self) -> bool {
        self.0 & !allowed.0 == 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn from_keyword(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"@graph" => Self::GRAPH,
            b"@id" => Self::ID,
            b"@index" => Self::INDEX,
            b"@language" => Self::LANGUAGE,
            b"@list" => Self::LIST,
            b"@set" => Self::SET,
            b"@type" => Self::TYPE,
            _ => return None,
        })
    }

    /// Whether the combination is valid.
    fn is_valid(self) -> bool {
        let rest = Self(self.0 & !Self::SET.0);
        let maps = Self(rest.0 & !Self::GRAPH.0);
        match rest.0.count_ones() {
            0 => true,
            1 => rest == self || rest != Self::LIST,
            2 => maps != rest && (maps == Self::ID || maps == Self::INDEX),
            _ => false,
        }
    }
}

/// The scoped context of a term, stored until the term is used.
#[derive(Debug)]
pub(super) struct ScopedContext {
    /// Unique number.
    pub number: u64,
    pub stored: Arc<StoredJson>,
    pub value: u32,
    pub url: Option<Arc<BaseIri>>,
}

impl PartialEq for ScopedContext {
    fn eq(&self, other: &Self) -> bool {
        let text = |scoped: &Self| {
            let mut text = Vec::new();
            write::write(&scoped.stored.view(), scoped.value, &mut text);
            text
        };
        let url = |scoped: &Self| scoped.url.as_ref().map(|url| url.text().to_vec());
        self.number == other.number || (url(self) == url(other) && text(self) == text(other))
    }
}

impl Eq for ScopedContext {}

/// A term definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub mapping: Mapping,
    pub prefix: bool,
    /// Whether the term's IRI, followed by plain bytes, is always an IRI.
    pub takes_plain: bool,
    pub protected: bool,
    pub reverse: bool,
    pub containers: Containers,
    pub coercion: Coercion,
    pub language: Override<Box<[u8]>>,
    pub direction: Override<Direction>,
    /// The property whose values are the keys of an index map.
    pub index: Option<Box<[u8]>>,
    pub nest: Option<Box<[u8]>>,
    pub scoped: Option<Arc<ScopedContext>>,
}

impl Definition {
    const NEW: Self = Self {
        mapping: Mapping::Null,
        prefix: false,
        takes_plain: false,
        protected: false,
        reverse: false,
        containers: Containers(0),
        coercion: Coercion::Default,
        language: Override::Default,
        direction: Override::Default,
        index: None,
        nest: None,
        scoped: None,
    };

    /// The IRI of the term; empty if it has none.
    pub fn iri(&self) -> &[u8] {
        match &self.mapping {
            Mapping::Iri(iri) => iri,
            Mapping::Null | Mapping::Keyword(_) => &[],
        }
    }

    /// Whether the definition does nothing except map a name to this absolute IRI.
    pub fn is_name_of(&self, iri: &[u8]) -> bool {
        let Mapping::Iri(own) = &self.mapping else {
            return false;
        };
        **own == *iri
            && self.is_name()
            && self.prefix == is_prefix(iri)
            && has_scheme_and_slashes(iri)
    }

    /// Whether the definition contains only a mapping.
    fn is_name(&self) -> bool {
        !self.protected
            && !self.reverse
            && self.containers == Containers(0)
            && self.coercion == Coercion::Default
            && self.language == Override::Default
            && self.direction == Override::Default
            && self.index.is_none()
            && self.nest.is_none()
            && self.scoped.is_none()
    }

    /// Whether another definition is equal, ignoring protection.
    fn is_like(&self, other: &Self) -> bool {
        let other = Self {
            protected: self.protected,
            ..other.clone()
        };
        *self == other
    }
}

/// A definition that is being created.
struct NewDefinition<'v, 'l> {
    local: &'l mut LocalContext<'v>,
    origin: &'v Origin<'v>,
    term: &'v [u8],
    /// Value of the entry.
    value: u32,
}

impl NewDefinition<'_, '_> {
    fn get(&self, key: &[u8]) -> Option<u32> {
        let view = self.origin.view;
        if view.kind(self.value) == JsonKind::Object {
            view.get(self.value, key)
        } else {
            None
        }
    }

    /// Creates an error at a node.
    #[cold]
    fn error_at(&self, code: &str, node: u32, reason: &str) -> JsonLdError {
        let reason = format!("the term {}: {reason}", quote(self.term));
        self.origin.error_at(code, node, &reason)
    }
}

/// Whether a simple term with this IRI or blank node can be a prefix.
fn is_prefix(iri: &[u8]) -> bool {
    iri.starts_with(b"_:")
        || matches!(
            iri.last(),
            Some(b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
        )
}

/// Whether a string is an IRI or a blank node.
fn is_name(text: &[u8]) -> bool {
    has_iri_form(text) || text.starts_with(b"_:")
}

impl Processor<'_> {
    /// Defines a term of a local context after those that it refers to.
    pub fn define<'v>(&mut self, local: &mut LocalContext<'v>, term: &'v [u8]) -> Read<()> {
        let Some(entry) = local.entries.get_mut(term) else {
            return Ok(());
        };
        let state = *entry;
        match state.progress {
            TermProgress::Defined => return Ok(()),
            TermProgress::New => entry.progress = TermProgress::Begun,
            TermProgress::Begun => {
                return Err(local.origin(state).error_at(
                    "cyclic IRI mapping",
                    state.value,
                    &format!("the definition of {} refers to itself", quote(term)),
                ));
            }
        }
        let origin = local.origin(state);
        self.contexts.take_work()?;
        if self.depth >= self.contexts.max_depth() {
            return Err(self.too_deep(origin, state.value));
        }
        self.depth += 1;
        let new = NewDefinition {
            local: &mut *local,
            origin,
            term,
            value: state.value,
        };
        let outcome = stack::run_one_level(self.depth as usize, || self.create(new));
        self.depth -= 1;
        outcome.unwrap_or_else(|error| Err(JsonLdError::out_of_stack(&error)))?;
        if let Some(entry) = local.entries.get_mut(term) {
            entry.progress = TermProgress::Defined;
        }
        Ok(())
    }

    /// Performs the steps of the specification. A term with the form of a keyword is ignored.
    fn create(&mut self, mut new: NewDefinition<'_, '_>) -> Read<()> {
        let (origin, term, value) = (new.origin, new.term, new.value);
        let view = origin.view;
        if term.is_empty() {
            return Err(new.error_at("invalid term definition", value, "a term must not be empty"));
        }
        if term == b"@type" {
            check_type_definition(&new)?;
        } else if Keyword::from_text(term).is_some() {
            return Err(new.error_at("keyword redefinition", value, "a keyword cannot be defined"));
        } else if has_keyword_form(term) {
            return Ok(());
        }
        let previous = self.state.undefine(term);
        let simple = view.kind(value) == JsonKind::String;
        if !matches!(
            view.kind(value),
            JsonKind::String | JsonKind::Null | JsonKind::Object
        ) {
            return Err(new.error_at(
                "invalid term definition",
                value,
                "a definition must be an IRI, an object or null",
            ));
        }
        let mut definition = Definition::NEW;
        definition.protected = new.local.protected;
        if let Some(protected) = new.get(b"@protected") {
            definition.protected = boolean(&new, protected, "@protected")?;
        }
        self.define_coercion(&mut new, &mut definition)?;
        if let Some(reverse) = new.get(b"@reverse") {
            if !self.reverse(&mut new, &mut definition, reverse)? {
                return Ok(());
            }
        } else {
            if !self.identify(&mut new, &mut definition, simple)? {
                return Ok(());
            }
            define_containers(&new, &mut definition)?;
        }
        self.define_index(&mut new, &mut definition)?;
        self.define_scope(&new, &mut definition)?;
        define_languages(&new, &mut definition)?;
        define_nest(&new, &mut definition)?;
        define_prefix(&new, &mut definition)?;
        reject_unknown_entries(&new)?;
        if let Mapping::Iri(iri) = &definition.mapping {
            definition.takes_plain = definition.prefix && accepts_plain(iri);
        }
        if !new.local.overrides
            && let Some(previous) = previous
            && previous.protected
        {
            if !definition.is_like(&previous) {
                return Err(new.error_at(
                    "protected term redefinition",
                    value,
                    "it is protected and must not be redefined",
                ));
            }
            self.state.define(term, previous);
            return Ok(());
        }
        self.contexts.take_bytes(bytes_of(term, &definition))?;
        self.state.define(term, Arc::new(definition));
        Ok(())
    }

    /// Defines a term from an entry that does not depend on other entries. Does not check whether
    /// an existing definition is protected.
    pub fn define_plain(&mut self, term: &[u8], plain: &PlainEntry<'_>) -> Read<()> {
        let definition = Definition {
            mapping: Mapping::Iri(plain.iri.into()),
            prefix: plain.prefix.unwrap_or_else(|| is_prefix(plain.iri)),
            takes_plain: plain.is_open,
            ..Definition::NEW
        };
        self.contexts.take_bytes(bytes_of(term, &definition))?;
        self.state.define(term, Arc::new(definition));
        Ok(())
    }

    /// Expands a string after defining the terms that it needs.
    fn expand<'v>(
        &mut self,
        local: &mut LocalContext<'v>,
        text: &'v [u8],
        out: &mut Vec<u8>,
    ) -> Read<Expanded> {
        if Keyword::from_text(text).is_none() && !has_keyword_form(text) {
            self.define(local, text)?;
            if self.state.terms.get(text).is_none()
                && let Some(colon) = memchr::memchr(b':', text).filter(|&index| index > 0)
                && &text[..colon] != b"_"
                && !text[colon + 1..].starts_with(b"//")
            {
                self.define(local, &text[..colon])?;
            }
        }
        let expanded = self.state.expand(text, true, false, out);
        self.contexts.spend_text(out.len());
        Ok(expanded)
    }

    /// Step 12: `@type`.
    fn define_coercion(
        &mut self,
        new: &mut NewDefinition<'_, '_>,
        definition: &mut Definition,
    ) -> Read<()> {
        let Some(value) = new.get(b"@type") else {
            return Ok(());
        };
        let origin = new.origin;
        let invalid = |new: &NewDefinition<'_, '_>| {
            new.error_at(
                "invalid type mapping",
                value,
                "its @type must be an IRI, @id, @vocab, @json or @none",
            )
        };
        if origin.view.kind(value) != JsonKind::String {
            return Err(invalid(new));
        }
        let mut iri = Vec::new();
        definition.coercion = match self.expand(new.local, origin.view.text(value), &mut iri)? {
            Expanded::Keyword(Keyword::Id) => Coercion::Id,
            Expanded::Keyword(Keyword::Vocab) => Coercion::Vocab,
            Expanded::Keyword(Keyword::Json) => Coercion::Json,
            Expanded::Keyword(Keyword::None) => Coercion::Untyped,
            Expanded::Text if has_iri_form(&iri) => Coercion::Datatype(iri.into()),
            _ => return Err(invalid(new)),
        };
        Ok(())
    }

    /// Step 13: `@reverse`. Returns false if the term is ignored.
    fn reverse(
        &mut self,
        new: &mut NewDefinition<'_, '_>,
        definition: &mut Definition,
        value: u32,
    ) -> Read<bool> {
        let view = new.origin.view;
        for key in [&b"@id"[..], b"@nest"] {
            if let Some(node) = new.get(key) {
                let reason = format!("it has @reverse and {}", String::from_utf8_lossy(key));
                return Err(new.error_at("invalid reverse property", node, &reason));
            }
        }
        let text = view.text(value);
        let invalid = |new: &NewDefinition<'_, '_>| {
            new.error_at("invalid IRI mapping", value, "its @reverse must be an IRI")
        };
        if view.kind(value) != JsonKind::String {
            return Err(invalid(new));
        }
        if has_keyword_form(text) {
            return Ok(false);
        }
        let mut iri = Vec::new();
        if self.expand(new.local, text, &mut iri)? != Expanded::Text || !is_name(&iri) {
            return Err(invalid(new));
        }
        definition.mapping = Mapping::Iri(iri.into());
        definition.reverse = true;
        if let Some(container) = new.get(b"@container") {
            // An array of one keyword means the same as the keyword (step 19.1).
            let name = match view.kind(container) {
                JsonKind::Array if view.items(container).count() == 1 => container + 1,
                _ => container,
            };
            definition.containers = match (view.kind(name), view.text(name)) {
                (JsonKind::Null, _) if name == container => Containers::default(),
                (JsonKind::String, b"@set") => Containers::SET,
                (JsonKind::String, b"@index") => Containers::INDEX,
                _ => {
                    return Err(new.error_at(
                        "invalid reverse property",
                        container,
                        "the @container of a reverse property must be @set or @index",
                    ));
                }
            };
        }
        Ok(true)
    }

    /// Steps 14 to 18: the mapping of the term. Returns false if the term is ignored.
    fn identify(
        &mut self,
        new: &mut NewDefinition<'_, '_>,
        definition: &mut Definition,
        simple: bool,
    ) -> Read<bool> {
        let (origin, term, value) = (new.origin, new.term, new.value);
        let view = origin.view;
        let id = match view.kind(value) {
            JsonKind::Object => view.get(value, b"@id"),
            _ => Some(value),
        };
        let colon = memchr::memchr(b':', &term[1..]).map(|index| index + 1);
        let Some(id) = id.filter(|&id| view.kind(id) != JsonKind::String || view.text(id) != term)
        else {
            return self.identify_itself(new, definition, colon);
        };
        if view.kind(id) == JsonKind::Null {
            return Ok(true);
        }
        let text = view.text(id);
        if view.kind(id) != JsonKind::String {
            return Err(new.error_at(
                "invalid IRI mapping",
                id,
                "its @id must be a string or null",
            ));
        }
        if Keyword::from_text(text).is_none() && has_keyword_form(text) {
            return Ok(false);
        }
        let mut iri = Vec::new();
        match self.expand(new.local, text, &mut iri)? {
            Expanded::Keyword(Keyword::Context) => {
                return Err(new.error_at(
                    "invalid keyword alias",
                    id,
                    "@context must not have aliases",
                ));
            }
            Expanded::Keyword(keyword) => definition.mapping = Mapping::Keyword(keyword),
            Expanded::Text if is_name(&iri) => {
                definition.mapping = Mapping::Iri(iri.as_slice().into());
            }
            _ => {
                return Err(new.error_at(
                    "invalid IRI mapping",
                    id,
                    &format!("{} does not expand to an IRI or a keyword", quote(text)),
                ));
            }
        }
        let slash = term.contains(&b'/');
        if colon.is_some_and(|index| index + 1 < term.len()) || slash {
            if let Some(entry) = new.local.entries.get_mut(term) {
                entry.progress = TermProgress::Defined;
            }
            let mut itself = Vec::new();
            let expanded = self.expand(new.local, term, &mut itself)?;
            let same = match &definition.mapping {
                Mapping::Iri(iri) => expanded == Expanded::Text && **iri == *itself,
                Mapping::Keyword(keyword) => expanded == Expanded::Keyword(*keyword),
                Mapping::Null => false,
            };
            if !same {
                return Err(new.error_at(
                    "invalid IRI mapping",
                    id,
                    "a term in the form of an IRI must be defined as that IRI",
                ));
            }
        }
        if !term.contains(&b':') && !slash && simple {
            definition.prefix = match &definition.mapping {
                Mapping::Iri(iri) => is_prefix(iri),
                _ => false,
            };
        }
        Ok(true)
    }

    /// Steps 15 to 18: a term that determines its own mapping.
    fn identify_itself(
        &mut self,
        new: &mut NewDefinition<'_, '_>,
        definition: &mut Definition,
        colon: Option<usize>,
    ) -> Read<bool> {
        let (term, value) = (new.term, new.value);
        let invalid = |new: &NewDefinition<'_, '_>, reason: &str| {
            Err(new.error_at("invalid IRI mapping", value, reason))
        };
        if let Some(colon) = colon {
            let (prefix, suffix) = (&term[..colon], &term[colon + 1..]);
            definition.mapping = Mapping::Iri(term.into());
            if prefix != b"_" && !suffix.starts_with(b"//") {
                self.define(new.local, prefix)?;
                match self
                    .state
                    .terms
                    .get(prefix)
                    .map(|definition| &definition.mapping)
                {
                    Some(Mapping::Iri(iri)) => {
                        definition.mapping = Mapping::Iri([iri, suffix].concat().into());
                    }
                    Some(Mapping::Keyword(_)) => {
                        return invalid(new, "its prefix is a keyword");
                    }
                    Some(Mapping::Null) | None => {}
                }
            }
        } else if term.contains(&b'/') {
            let mut iri = Vec::new();
            if self.expand_undefined(term, &mut iri) != Expanded::Text || !has_iri_form(&iri) {
                return invalid(
                    new,
                    "it is a relative IRI, and there is no @vocab that makes it absolute",
                );
            }
            definition.mapping = Mapping::Iri(iri.into());
        } else if term == b"@type" {
            definition.mapping = Mapping::Keyword(Keyword::Type);
        } else if let Some(vocab) = &self.state.vocab {
            definition.mapping = Mapping::Iri([vocab, term].concat().into());
        } else {
            return invalid(new, "it has no @id, and there is no @vocab");
        }
        Ok(true)
    }

    /// Expands a term that is currently undefined.
    fn expand_undefined(&self, term: &[u8], out: &mut Vec<u8>) -> Expanded {
        self.state.expand(term, true, false, out)
    }

    /// Step 20: `@index`.
    fn define_index(
        &mut self,
        new: &mut NewDefinition<'_, '_>,
        definition: &mut Definition,
    ) -> Read<()> {
        let Some(value) = new.get(b"@index") else {
            return Ok(());
        };
        let origin = new.origin;
        let invalid = |new: &NewDefinition<'_, '_>, reason: &str| {
            Err(new.error_at("invalid term definition", value, reason))
        };
        if !definition.containers.has(Containers::INDEX) {
            return invalid(
                new,
                "it has an @index, but its @container does not include @index",
            );
        }
        let text = origin.view.text(value);
        let mut iri = Vec::new();
        if origin.view.kind(value) != JsonKind::String
            || self.expand(new.local, text, &mut iri)? != Expanded::Text
            || !has_iri_form(&iri)
        {
            return invalid(new, "its @index does not expand to an IRI");
        }
        definition.index = Some(text.into());
        Ok(())
    }

    /// Step 21: `@context`.
    fn define_scope(
        &mut self,
        new: &NewDefinition<'_, '_>,
        definition: &mut Definition,
    ) -> Read<()> {
        let Some(value) = new.get(b"@context") else {
            return Ok(());
        };
        let origin = new.origin;
        let (stored, value) = match &origin.stored {
            Some(stored) => (Arc::clone(stored), value),
            None => (
                Arc::new(StoredJson::new(Tape::from_value(&origin.view, value))),
                0,
            ),
        };
        if origin.stored.is_none() {
            self.contexts.take_bytes(stored.bytes())?;
        }
        let scoped = ScopedContext {
            number: self.contexts.next_number(),
            stored,
            value,
            url: origin.url.clone(),
        };
        self.depth += 1;
        if self.depth > self.contexts.max_depth() {
            return Err(self.too_deep(origin, new.value));
        }
        let outcome = stack::run_one_level(self.depth as usize, || {
            self.validate(&origin.within(&scoped), scoped.value)
        });
        self.depth -= 1;
        let outcome = outcome.unwrap_or_else(|error| Err(JsonLdError::out_of_stack(&error)));
        outcome.map_err(|error| {
            if error.class == ErrorClass::Limit {
                return error;
            }
            let reason = format!(
                "the context of the term {}: {}",
                quote(new.term),
                error.reason
            );
            JsonLdError::new("invalid scoped context", error.position, &reason)
                .because_of(&error.reason)
        })?;
        definition.scoped = Some(Arc::new(scoped));
        Ok(())
    }
}

/// Step 4: checks a definition of `@type`, the only keyword that may have one.
fn check_type_definition(new: &NewDefinition<'_, '_>) -> Read<()> {
    let (view, value) = (new.origin.view, new.value);
    let fits = |key: u32| match view.text(key) {
        b"@container" => view.kind(key + 1) == JsonKind::String && view.text(key + 1) == b"@set",
        b"@protected" => true,
        _ => false,
    };
    if view.kind(value) == JsonKind::Object
        && view.next(value) > value + 1
        && view.keys(value).all(fits)
    {
        return Ok(());
    }
    Err(new.error_at(
        "keyword redefinition",
        value,
        "its definition may contain only \"@container\": \"@set\" and @protected",
    ))
}

/// Step 19: `@container`.
fn define_containers(new: &NewDefinition<'_, '_>, definition: &mut Definition) -> Read<()> {
    let Some(value) = new.get(b"@container") else {
        return Ok(());
    };
    let view = new.origin.view;
    let of = |node: u32| match view.kind(node) {
        JsonKind::String => Containers::from_keyword(view.text(node)),
        _ => None,
    };
    let all = match view.kind(value) {
        JsonKind::Array => view
            .items(value)
            .try_fold(Containers::default(), |all, item| Some(all.with(of(item)?)))
            .filter(|all| *all != Containers::default()),
        _ => of(value),
    };
    let Some(all) = all.filter(|all| all.is_valid()) else {
        return Err(new.error_at(
            "invalid container mapping",
            value,
            "its @container is not a valid container or combination of containers",
        ));
    };
    definition.containers = all;
    if all.has(Containers::TYPE) {
        if definition.coercion == Coercion::Default {
            definition.coercion = Coercion::Id;
        }
        if !matches!(definition.coercion, Coercion::Id | Coercion::Vocab) {
            return Err(new.error_at(
                "invalid type mapping",
                value,
                "the @type of a type map must be @id or @vocab",
            ));
        }
    }
    Ok(())
}

/// Steps 22 and 23: `@language` and `@direction`.
fn define_languages(new: &NewDefinition<'_, '_>, definition: &mut Definition) -> Read<()> {
    if new.get(b"@type").is_some() {
        return Ok(());
    }
    let view = new.origin.view;
    if let Some(value) = new.get(b"@language") {
        definition.language = match view.kind(value) {
            JsonKind::Null => Override::Null,
            JsonKind::String => Override::Value(view.text(value).into()),
            _ => {
                return Err(new.error_at(
                    "invalid language mapping",
                    value,
                    "its @language must be a string or null",
                ));
            }
        };
    }
    if let Some(value) = new.get(b"@direction") {
        definition.direction = match direction_of(&view, value) {
            Some(direction) => Override::Value(direction),
            None if view.kind(value) == JsonKind::Null => Override::Null,
            None => {
                return Err(new.error_at(
                    "invalid base direction",
                    value,
                    "its @direction must be \"ltr\", \"rtl\" or null",
                ));
            }
        };
    }
    Ok(())
}

/// Step 24: `@nest`.
fn define_nest(new: &NewDefinition<'_, '_>, definition: &mut Definition) -> Read<()> {
    let Some(value) = new.get(b"@nest") else {
        return Ok(());
    };
    let text = new.origin.view.text(value);
    let is_keyword = Keyword::from_text(text).is_some_and(|keyword| keyword != Keyword::Nest);
    if new.origin.view.kind(value) != JsonKind::String || is_keyword {
        return Err(new.error_at(
            "invalid @nest value",
            value,
            "its @nest must be a term, or @nest itself",
        ));
    }
    definition.nest = Some(text.into());
    Ok(())
}

/// Step 25: `@prefix`.
fn define_prefix(new: &NewDefinition<'_, '_>, definition: &mut Definition) -> Read<()> {
    let Some(value) = new.get(b"@prefix") else {
        return Ok(());
    };
    let invalid = |reason: &str| Err(new.error_at("invalid term definition", value, reason));
    if new.term.iter().any(|byte| matches!(byte, b':' | b'/')) {
        return invalid("a prefix must not contain a colon or a slash");
    }
    definition.prefix = boolean(new, value, "@prefix")?;
    if definition.prefix && matches!(definition.mapping, Mapping::Keyword(_)) {
        return invalid("a keyword cannot be a prefix");
    }
    Ok(())
}

/// Step 26: other entries.
fn reject_unknown_entries(new: &NewDefinition<'_, '_>) -> Read<()> {
    let view = new.origin.view;
    if view.kind(new.value) != JsonKind::Object {
        return Ok(());
    }
    for key in view.keys(new.value) {
        if !matches!(
            view.text(key),
            b"@id"
                | b"@reverse"
                | b"@container"
                | b"@context"
                | b"@direction"
                | b"@index"
                | b"@language"
                | b"@nest"
                | b"@prefix"
                | b"@protected"
                | b"@type"
        ) {
            let reason = format!(
                "a definition must not have the entry {}",
                quote(view.text(key))
            );
            return Err(new.error_at("invalid term definition", key, &reason));
        }
    }
    Ok(())
}

fn boolean(new: &NewDefinition<'_, '_>, value: u32, key: &str) -> Read<bool> {
    match new.origin.view.kind(value) {
        JsonKind::True => Ok(true),
        JsonKind::False => Ok(false),
        _ => {
            let code = format!("invalid {key} value");
            Err(new.error_at(&code, value, &format!("its {key} must be true or false")))
        }
    }
}

/// Approximate size of a definition in bytes.
fn bytes_of(term: &[u8], definition: &Definition) -> usize {
    let mapping = match &definition.mapping {
        Mapping::Iri(iri) => iri.len(),
        _ => 0,
    };
    let coercion = match &definition.coercion {
        Coercion::Datatype(iri) => iri.len(),
        _ => 0,
    };
    let language = match &definition.language {
        Override::Value(tag) => tag.len(),
        _ => 0,
    };
    let rest = |text: &Option<Box<[u8]>>| text.as_ref().map_or(0, |text| text.len());
    TERM_BYTES
        + term.len()
        + mapping
        + coercion
        + language
        + rest(&definition.index)
        + rest(&definition.nest)
}
