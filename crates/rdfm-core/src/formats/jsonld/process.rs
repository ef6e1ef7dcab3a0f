//! Context processing (JSON-LD 1.1 API, 4.1.2).
//!
//! - In: the value of an `@context`, and its origin.
//! - Out: the resulting state of the active context.
//! - Law: errors have the specification's code and the position of the invalid value, in the
//!   message or in the named remote context.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::context::{ContextState, Contexts, Direction, Expanded};
use super::definition::ScopedContext;
use super::error::{JsonLdError, Read};
use super::iri::{BaseIri, accepts_plain, has_iri_form, has_scheme_and_slashes};
use super::loader::StoredJson;
use super::table::Seeded;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::{JsonKind, View};

/// Maximum nesting of contexts that refer to others.
const MAX_REMOTE: usize = 10;

/// The origin of a context.
pub(super) struct Origin<'v> {
    pub view: View<'v>,
    /// Keeps the context alive beyond the message.
    pub stored: Option<Arc<StoredJson>>,
    /// Base for references to other contexts.
    pub url: Option<Arc<BaseIri>>,
    /// Whether positions refer to the message. Otherwise they refer to `url`, if any.
    in_message: bool,
    remote: bool,
}

impl<'v> Origin<'v> {
    /// Returns the origin of a context in the message itself.
    pub fn message(view: &View<'v>, url: Option<Arc<BaseIri>>) -> Self {
        Self {
            view: *view,
            stored: None,
            url,
            in_message: true,
            remote: false,
        }
    }

    /// Returns the origin of a context in a definition that was processed before.
    pub fn from_stored(scoped: &'v ScopedContext) -> Self {
        Self {
            view: scoped.stored.view(),
            stored: Some(Arc::clone(&scoped.stored)),
            url: scoped.url.clone(),
            in_message: false,
            remote: false,
        }
    }

    /// Returns the origin of a context in a definition of this context.
    pub fn within(&self, scoped: &'v ScopedContext) -> Self {
        Self {
            in_message: self.in_message,
            remote: self.remote,
            ..Self::from_stored(scoped)
        }
    }

    /// Creates an error at a node.
    #[cold]
    pub fn error_at(&self, code: &str, node: u32, reason: &str) -> JsonLdError {
        let index = self.view.node(node).index;
        if self.in_message {
            return JsonLdError::new(code, Some(index), reason);
        }
        match (&self.url, &self.stored) {
            (Some(url), Some(stored)) if self.remote => {
                let position = stored.position(index as usize);
                let url = quote(url.text());
                JsonLdError::new(
                    code,
                    None,
                    &format!("in the context {url}, {position}: {reason}"),
                )
            }
            _ => JsonLdError::new(code, None, reason),
        }
    }

    /// The quoted text of a node, for errors.
    pub fn quote(&self, node: u32) -> String {
        quote(self.view.text(node))
    }
}

/// A context definition that is being processed.
pub(super) struct LocalContext<'v> {
    pub own: &'v Origin<'v>,
    pub imported: Option<&'v Origin<'v>>,
    pub entries: HashMap<&'v [u8], ContextEntry, Seeded>,
    /// Whether its definitions are protected by default.
    pub protected: bool,
    /// Whether its definitions may override protected terms.
    pub overrides: bool,
}

/// An entry of a context definition.
#[derive(Clone, Copy)]
pub(super) struct ContextEntry {
    pub value: u32,
    pub imported: bool,
    pub progress: TermProgress,
}

/// Progress of a term.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TermProgress {
    New,
    Begun,
    Defined,
}

impl<'v> LocalContext<'v> {
    /// Returns the origin of an entry.
    pub fn origin(&self, entry: ContextEntry) -> &'v Origin<'v> {
        match self.imported {
            Some(imported) if entry.imported => imported,
            _ => self.own,
        }
    }

    fn add(&mut self, origin: &'v Origin<'v>, object: u32, imported: bool) {
        for key in origin.view.keys(object) {
            let entry = ContextEntry {
                value: key + 1,
                imported,
                progress: TermProgress::New,
            };
            self.entries.insert(origin.view.text(key), entry);
        }
    }

    fn get(&self, key: &[u8]) -> Option<(&'v Origin<'v>, u32)> {
        let entry = *self.entries.get(key)?;
        Some((self.origin(entry), entry.value))
    }
}

/// Processes contexts in order.
pub(super) struct Processor<'c> {
    pub contexts: &'c mut Contexts,
    pub state: ContextState,
    /// Number of the context with which processing started.
    parent: u32,
    /// Whether the state differs from that of the parent.
    differs: bool,
    /// The remote contexts that are being processed.
    references: Vec<Box<[u8]>>,
    /// Number of definitions that are being processed.
    pub depth: u32,
    /// Whether contexts of definitions are only checked for errors.
    validating: bool,
}

impl<'c> Processor<'c> {
    pub fn new(contexts: &'c mut Contexts, state: ContextState, parent: u32) -> Self {
        Self {
            contexts,
            state,
            parent,
            differs: false,
            references: Vec::new(),
            depth: 0,
            validating: false,
        }
    }

    pub fn finish(mut self) -> ContextState {
        self.state.terms.seal();
        self.state
    }

    /// Checks the context of a definition for errors.
    pub fn validate(&mut self, origin: &Origin<'_>, value: u32) -> Read<()> {
        self.state.terms.seal();
        let state = self.state.clone();
        let validating = std::mem::replace(&mut self.validating, true);
        let outcome = self.process_value(origin, value, true, true);
        self.validating = validating;
        self.state = state;
        outcome
    }

    /// Processes the value of an `@context`.
    pub fn process_value(
        &mut self,
        origin: &Origin<'_>,
        value: u32,
        overrides: bool,
        mut propagates: bool,
    ) -> Read<()> {
        let view = origin.view;
        if view.kind(value) == JsonKind::Object
            && let Some(propagate) = view.get(value, b"@propagate")
        {
            propagates = view.kind(propagate) != JsonKind::False;
        }
        if !propagates && self.state.previous.is_none() {
            let previous = if self.differs {
                self.state.terms.seal();
                self.contexts.add_alone(self.state.clone(), self.parent)?
            } else {
                self.parent
            };
            self.state.previous = Some(previous);
        }
        self.differs = true;
        if view.kind(value) != JsonKind::Array {
            return self.process_context(origin, value, overrides, propagates);
        }
        for item in view.items(value) {
            self.process_context(origin, item, overrides, propagates)?;
        }
        Ok(())
    }

    fn process_context(
        &mut self,
        origin: &Origin<'_>,
        value: u32,
        overrides: bool,
        propagates: bool,
    ) -> Read<()> {
        self.contexts.take_work()?;
        match origin.view.kind(value) {
            JsonKind::Null => {
                if !overrides && self.state.protected > 0 {
                    return Err(origin.error_at(
                        "invalid context nullification",
                        value,
                        "the null context would clear protected terms",
                    ));
                }
                let previous = self.state.previous.filter(|_| !propagates);
                self.state = self.contexts.initial();
                self.state.previous = previous;
                Ok(())
            }
            JsonKind::String => self.process_reference(origin, value, overrides),
            JsonKind::Object => self.process_definition(origin, value, overrides),
            _ => Err(origin.error_at(
                "invalid local context",
                value,
                "a context must be an object, the URL of one, null, or an array of these",
            )),
        }
    }

    /// Returns the absolute URL of a context.
    fn url(origin: &Origin<'_>, value: u32) -> Read<Box<[u8]>> {
        let text = origin.view.text(value);
        if has_iri_form(text) {
            return Ok(text.into());
        }
        let Some(base) = &origin.url else {
            let error = origin.error_at(
                "loading document failed",
                value,
                &format!(
                    "the context {} is a relative URL, and no base is given",
                    quote(text)
                ),
            );
            return Err(error.with(Remedy::read("base", "IRI", "makes it absolute")));
        };
        let mut url = Vec::new();
        base.resolve(text, &mut url);
        Ok(url.into())
    }

    /// Loads the document with a remote context. Returns the document and the position of the
    /// context.
    fn load(
        &mut self,
        origin: &Origin<'_>,
        value: u32,
        url: &[u8],
    ) -> Read<(Arc<StoredJson>, u32)> {
        let text = String::from_utf8_lossy(url);
        let loaded = self.contexts.store().load(&text).map_err(|error| {
            let text = error.reason.text();
            let load_error = origin.error_at("loading remote context failed", value, text);
            let mut load_error = load_error.because_of(&error.reason);
            load_error.class = error.class;
            load_error
        })?;
        let view = loaded.view();
        match view.get(0, b"@context") {
            Some(context) if view.kind(0) == JsonKind::Object => Ok((loaded, context)),
            _ => Err(origin.error_at(
                "invalid remote context",
                value,
                &format!("the document {} contains no context", quote(url)),
            )),
        }
    }

    fn process_reference(&mut self, origin: &Origin<'_>, value: u32, overrides: bool) -> Read<()> {
        let url = Self::url(origin, value)?;
        if self.validating && self.references.contains(&url) {
            return Ok(());
        }
        if self.references.len() >= MAX_REMOTE {
            return Err(origin.error_at(
                "context overflow",
                value,
                &format!(
                    "contexts refer to each other more than {MAX_REMOTE} levels deep, at {}",
                    quote(&url)
                ),
            ));
        }
        let (stored, context) = self.load(origin, value, &url)?;
        self.references.push(url);
        let remote = Origin {
            view: stored.view(),
            url: stored.url.clone(),
            stored: Some(Arc::clone(&stored)),
            in_message: false,
            remote: true,
        };
        let outcome = self.process_value(&remote, context, overrides, true);
        self.references.pop();
        outcome
    }

    fn process_definition(
        &mut self,
        origin: &Origin<'_>,
        object: u32,
        overrides: bool,
    ) -> Read<()> {
        let view = origin.view;
        let Some(import) = view.get(object, b"@import") else {
            return self.process_entries(origin, object, None, overrides);
        };
        if view.kind(import) != JsonKind::String {
            return Err(origin.error_at(
                "invalid @import value",
                import,
                "@import must be a string",
            ));
        }
        let url = Self::url(origin, import)?;
        let (stored, context) = self.load(origin, import, &url)?;
        let imported = Origin {
            view: stored.view(),
            // References in it are relative to the importing context.
            url: origin.url.clone(),
            stored: Some(Arc::clone(&stored)),
            in_message: false,
            remote: true,
        };
        if imported.view.kind(context) != JsonKind::Object {
            return Err(origin.error_at(
                "invalid remote context",
                import,
                &format!("the context of {} is not an object", quote(&url)),
            ));
        }
        if let Some(nested_import) = imported.view.get(context, b"@import") {
            return Err(imported.error_at(
                "invalid context entry",
                nested_import,
                "an imported context must not import another",
            ));
        }
        self.process_entries(origin, object, Some((&imported, context)), overrides)
    }

    fn process_entries(
        &mut self,
        own: &Origin<'_>,
        object: u32,
        imported: Option<(&Origin<'_>, u32)>,
        overrides: bool,
    ) -> Read<()> {
        let mut local = LocalContext {
            own,
            imported: imported.map(|(origin, _)| origin),
            entries: HashMap::default(),
            protected: false,
            overrides,
        };
        if let Some((origin, context)) = imported {
            local.add(origin, context, true);
        }
        local.add(own, object, false);
        Self::version(&local)?;
        self.process_base(&local)?;
        self.process_vocab(&local)?;
        self.process_language(&local)?;
        self.process_direction(&local)?;
        for key in [&b"@propagate"[..], b"@protected"] {
            let Some((origin, value)) = local.get(key) else {
                continue;
            };
            let word = String::from_utf8_lossy(key);
            match origin.view.kind(value) {
                JsonKind::True => local.protected |= key == b"@protected",
                JsonKind::False => {}
                _ => {
                    return Err(origin.error_at(
                        &format!("invalid {word} value"),
                        value,
                        &format!("{word} must be true or false"),
                    ));
                }
            }
        }
        if let Some((origin, context)) = imported {
            for key in origin.view.keys(context) {
                self.process_entry(&mut local, origin.view.text(key))?;
            }
        }
        for key in own.view.keys(object) {
            self.process_entry(&mut local, own.view.text(key))?;
        }
        Ok(())
    }

    /// Processes a context definition with exactly the same names as the state. Returns the names
    /// with changed IRIs, or `None` for other definitions.
    pub fn redefine<'v>(
        &mut self,
        view: &View<'v>,
        object: u32,
    ) -> Read<Option<HashSet<&'v [u8], Seeded>>> {
        let mut changed: Vec<(&[u8], PlainEntry<'_>)> = Vec::new();
        let mut count = 0;
        for key in view.keys(object) {
            let term = view.text(key);
            let Some(definition) = self.state.terms.get(term) else {
                return Ok(None);
            };
            count += 1;
            if view.kind(key + 1) != JsonKind::String || !definition.is_name_of(view.text(key + 1))
            {
                let Some(plain) = plain_entry(view, key) else {
                    return Ok(None);
                };
                changed.push((term, plain));
            }
        }
        if count != self.state.terms.len() {
            return Ok(None);
        }
        for _ in 0..count {
            self.contexts.take_work()?;
        }
        for (term, plain) in &changed {
            self.define_plain(term, plain)?;
        }
        Ok(Some(changed.into_iter().map(|(term, _)| term).collect()))
    }

    fn process_entry<'v>(&mut self, local: &mut LocalContext<'v>, key: &'v [u8]) -> Read<()> {
        match key {
            b"@base" | b"@direction" | b"@import" | b"@language" | b"@propagate"
            | b"@protected" | b"@version" | b"@vocab" => Ok(()),
            _ => self.define(local, key),
        }
    }

    fn version(local: &LocalContext<'_>) -> Read<()> {
        let Some((origin, value)) = local.get(b"@version") else {
            return Ok(());
        };
        let number = std::str::from_utf8(origin.view.text(value)).map(str::parse::<f64>);
        let is_valid = matches!(number, Ok(Ok(number)) if (number - 1.1).abs() < f64::EPSILON);
        if origin.view.kind(value) == JsonKind::Number && is_valid {
            return Ok(());
        }
        Err(origin.error_at(
            "invalid @version value",
            value,
            "@version must be the number 1.1",
        ))
    }

    fn process_base(&mut self, local: &LocalContext<'_>) -> Read<()> {
        let Some((origin, value)) = local.get(b"@base") else {
            return Ok(());
        };
        if !self.references.is_empty() {
            return Ok(());
        }
        let text = origin.view.text(value);
        let base = match (origin.view.kind(value), &self.state.base) {
            (JsonKind::Null, _) => {
                self.state.base = None;
                return Ok(());
            }
            (JsonKind::String, _) if has_iri_form(text) => BaseIri::of_form(text),
            (JsonKind::String, Some(base)) => {
                let mut resolved = Vec::new();
                base.resolve(text, &mut resolved);
                BaseIri::of_form(&resolved)
            }
            _ => None,
        };
        let Some(base) = base else {
            return Err(origin.error_at(
                "invalid base IRI",
                value,
                &format!(
                    "@base must be an IRI, null, or relative to the current base; found {}",
                    origin.quote(value)
                ),
            ));
        };
        self.contexts.take_bytes(base.text().len())?;
        self.state.base = Some(Arc::new(base));
        Ok(())
    }

    fn process_vocab(&mut self, local: &LocalContext<'_>) -> Read<()> {
        let Some((origin, value)) = local.get(b"@vocab") else {
            return Ok(());
        };
        if origin.view.kind(value) == JsonKind::Null {
            self.state.vocab = None;
            return Ok(());
        }
        let mut vocab = Vec::new();
        let is_text = origin.view.kind(value) == JsonKind::String
            && self
                .state
                .expand(origin.view.text(value), true, true, &mut vocab)
                == Expanded::Text;
        if !is_text || !(has_iri_form(&vocab) || vocab.starts_with(b"_:")) {
            return Err(origin.error_at(
                "invalid vocab mapping",
                value,
                &format!(
                    "@vocab must be an IRI, null, or relative to the base or the current @vocab; \
                     found {}",
                    origin.quote(value)
                ),
            ));
        }
        self.contexts.take_bytes(vocab.len())?;
        self.state.vocab = Some(vocab.into());
        Ok(())
    }

    fn process_language(&mut self, local: &LocalContext<'_>) -> Read<()> {
        let Some((origin, value)) = local.get(b"@language") else {
            return Ok(());
        };
        self.state.language = match origin.view.kind(value) {
            JsonKind::Null => None,
            JsonKind::String => Some(origin.view.text(value).into()),
            _ => {
                return Err(origin.error_at(
                    "invalid default language",
                    value,
                    "@language must be a string or null",
                ));
            }
        };
        Ok(())
    }

    fn process_direction(&mut self, local: &LocalContext<'_>) -> Read<()> {
        let Some((origin, value)) = local.get(b"@direction") else {
            return Ok(());
        };
        self.state.direction = match direction_of(&origin.view, value) {
            Some(direction) => Some(direction),
            None if origin.view.kind(value) == JsonKind::Null => None,
            None => {
                return Err(origin.error_at(
                    "invalid base direction",
                    value,
                    "@direction must be \"ltr\", \"rtl\" or null",
                ));
            }
        };
        Ok(())
    }

    /// Creates the error for definitions that refer to each other too deeply.
    #[cold]
    pub fn too_deep(&self, origin: &Origin<'_>, node: u32) -> JsonLdError {
        let mut error = origin.error_at(
            "",
            node,
            "definitions of a context refer to each other too deeply",
        );
        error.class = ErrorClass::Limit;
        error.reason = Reason::limit(
            format!(
                "definitions of a context refer to each other more than {} levels deep",
                self.contexts.max_depth()
            ),
            "max_depth",
        );
        error
    }
}

/// An entry of a context that does not depend on other entries: a name mapped to an absolute IRI.
pub(super) struct PlainEntry<'v> {
    pub iri: &'v [u8],
    /// Whether the IRI followed by plain bytes is always an IRI.
    pub is_open: bool,
    /// Whether the name is a prefix, if the entry specifies that.
    pub prefix: Option<bool>,
}

fn plain_entry<'v>(view: &View<'v>, key: u32) -> Option<PlainEntry<'v>> {
    let (term, value) = (view.text(key), key + 1);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if term.is_empty() || !term.iter().all(is_plain) {
        return None;
    }
    let (id, prefix) = match view.kind(value) {
        JsonKind::String => (value, None),
        JsonKind::Object => {
            let mut keys = view.keys(value);
            let (Some(id), Some(prefix), None) = (keys.next(), keys.next(), keys.next()) else {
                return None;
            };
            let fits = view.text(id) == b"@id"
                && view.text(prefix) == b"@prefix"
                && view.kind(prefix + 1) == JsonKind::True;
            if !fits {
                return None;
            }
            (id + 1, Some(true))
        }
        _ => return None,
    };
    let iri = view.text(id);
    if view.kind(id) != JsonKind::String || !has_scheme_and_slashes(iri) {
        return None;
    }
    let is_open = accepts_plain(iri);
    (is_open || has_iri_form(iri)).then_some(PlainEntry {
        iri,
        is_open,
        prefix,
    })
}

/// Parses a base direction.
pub(super) fn direction_of(view: &View<'_>, value: u32) -> Option<Direction> {
    if view.kind(value) != JsonKind::String {
        return None;
    }
    match view.text(value) {
        b"ltr" => Some(Direction::Ltr),
        b"rtl" => Some(Direction::Rtl),
        _ => None,
    }
}
