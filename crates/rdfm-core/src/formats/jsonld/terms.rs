//! Adds the terms of a message to the batch. Most recurring terms are stored only once.
//!
//! - In: strings. Out: term ids.
//! - Cost: one lookup per IRI. An IRI is checked only if it is not found.
//! - Law: the charge of a message does not depend on earlier messages. A term is charged when it is
//!   stored, and when it is first found in a message.

use memchr::memmem::Finder;

use super::context::Property;
use super::iri::is_iri;
use crate::model::builder::BatchBuilder;
use crate::model::chars::{self, ESCAPE};
use crate::model::error::LimitExceeded;
use crate::model::labels::Labels;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::model::write;
use crate::syntax::cache::{Cache, RecentTerm, SLOTS};
use crate::syntax::json::{JsonKind, View};

/// A term of at least this many bytes is charged a fraction of its length for each use, because
/// each use compares the text.
const LONG_TERM: usize = 4096;
/// Divisor of that fraction.
const USE_DIVISOR: usize = 64;
const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Creates terms.
pub(super) struct MessageTerms {
    cache: Cache,
    /// The message in which each cache slot was last used.
    used: Box<[u32]>,
    message: u32,
    /// The term `rdf:type`.
    type_term: RecentTerm,
    /// The message that was last charged for this term.
    type_charged: u32,
    labels: Labels,
    /// Finds labels that begin like generated ones.
    generated: Finder<'static>,
}

/// A result that fails only if a limit is exceeded.
type LimitResult<T = TermId> = Result<T, LimitExceeded>;

impl MessageTerms {
    pub fn new() -> Self {
        Self {
            cache: Cache::new(),
            used: vec![0; SLOTS].into(),
            message: 0,
            type_term: RecentTerm::NONE,
            type_charged: 0,
            labels: Labels::default(),
            generated: Finder::new(b"_:_g"),
        }
    }

    /// Restarts the numbers of generated labels.
    pub fn begin_message(&mut self) {
        self.labels.begin_message();
        self.message = self.message.wrapping_add(1);
        if self.message == 0 {
            self.used.fill(0);
            self.message = 1;
        }
    }

    /// Returns the term of a string, if `check` accepts it. `check` is called only if the term is
    /// not cached.
    #[inline]
    fn add_shared(
        &mut self,
        builder: &mut BatchBuilder,
        kind: TermKind,
        text: &[u8],
        flags: u8,
        check: impl FnOnce() -> bool,
    ) -> LimitResult<Option<TermId>> {
        let slot = Cache::slot(kind, text);
        let cached = self.cache.get(slot);
        let cached_id = cached.is(builder, kind, text);
        if !cached_id && !check() {
            return Ok(None);
        }
        let used = self.used.get_mut(slot);
        let is_new = used.is_none_or(|used| std::mem::replace(used, self.message) != self.message);
        if !cached_id || is_new {
            builder.charge(text.len() + 16)?;
        } else if text.len() >= LONG_TERM {
            builder.charge(text.len() / USE_DIVISOR)?;
        }
        if cached_id {
            return Ok(Some(cached.id));
        }
        let id = push(builder, kind, text, flags);
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(Some(id))
    }

    /// Like [`add_shared`](Self::add_shared), for a string that needs no check.
    #[inline]
    fn add_valid(
        &mut self,
        builder: &mut BatchBuilder,
        kind: TermKind,
        text: &[u8],
        flags: u8,
    ) -> LimitResult {
        let id = self.add_shared(builder, kind, text, flags, || true)?;
        Ok(id.unwrap_or(TermId::DEFAULT_GRAPH))
    }

    /// Returns an IRI, or `None` if the string is not one.
    #[inline]
    pub fn add_iri(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
    ) -> LimitResult<Option<TermId>> {
        self.add_iri_if(builder, text, || false)
    }

    /// Like [`add_iri`](Self::add_iri). `is_sure` returns true if the text is certainly an IRI.
    #[inline]
    pub fn add_iri_if(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        is_sure: impl FnOnce() -> bool,
    ) -> LimitResult<Option<TermId>> {
        self.add_shared(builder, TermKind::Iri, text, flags::PLAIN, || {
            is_sure() || is_iri(text)
        })
    }

    /// Returns the term of an IRI that is known to be valid.
    #[inline]
    pub fn add_valid_iri(&mut self, builder: &mut BatchBuilder, text: &[u8]) -> LimitResult {
        self.add_valid(builder, TermKind::Iri, text, flags::PLAIN)
    }

    /// Returns the IRI of a property.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each property
    pub fn add_property(&self, builder: &mut BatchBuilder, property: &mut Property) -> LimitResult {
        if property.charged != self.message {
            property.charged = self.message;
            builder.charge(property.iri().len() + 16)?;
        }
        if !property.recent.is_current(builder) {
            let id = push(builder, TermKind::Iri, property.iri(), flags::PLAIN);
            property.recent = RecentTerm::new(builder, id);
        }
        Ok(property.recent.id)
    }

    /// Returns the IRI `rdf:type`.
    #[inline]
    pub fn add_rdf_type(&mut self, builder: &mut BatchBuilder) -> LimitResult {
        if self.type_charged != self.message {
            self.type_charged = self.message;
            builder.charge(RDF_TYPE.len() + 16)?;
        }
        if !self.type_term.is_current(builder) {
            let id = push(builder, TermKind::Iri, RDF_TYPE, flags::PLAIN);
            self.type_term = RecentTerm::new(builder, id);
        }
        Ok(self.type_term.id)
    }

    /// Returns a literal with a datatype that is in the batch and is not `xsd:string`.
    #[inline]
    pub fn add_with_datatype(
        builder: &mut BatchBuilder,
        text: &[u8],
        clean: bool,
        datatype: TermId,
    ) -> LimitResult {
        builder.add_with_aux(TermKind::TypedLiteral, text, datatype.0, plain(text, clean))
    }

    /// Returns the blank node with the given label in the message. The label excludes `_:`.
    #[inline]
    pub fn add_blank_node(&mut self, builder: &mut BatchBuilder, label: &[u8]) -> LimitResult {
        if label.starts_with(b"_g") {
            return self.special_blank_node(builder, label);
        }
        self.add_valid(builder, TermKind::BlankNode, label, flags::PLAIN)
    }

    /// Returns the blank node of a label that may be escaped, or that looks like a generated one.
    fn special_blank_node(&mut self, builder: &mut BatchBuilder, label: &[u8]) -> LimitResult {
        if let Some(decoded) = write::read_label(label) {
            return self.add_valid(builder, TermKind::BlankNode, &decoded, 0);
        }
        let mut labels = std::mem::take(&mut self.labels);
        let result = self.add_valid(
            builder,
            TermKind::BlankNode,
            labels.map_given(label),
            flags::PLAIN,
        );
        self.labels = labels;
        result
    }

    /// Records all labels of a message before a label is generated for its first unlabelled node.
    /// List cells are written without labels, so every conversion generates their labels again,
    /// before or after other labels.
    fn note_labels(&mut self, view: &View<'_>) {
        let is_generated = |text| self.generated.find(text).is_some();
        if is_generated(view.source) || is_generated(view.tape.texts()) {
            self.note_each_label(view);
        }
    }

    #[cold]
    fn note_each_label(&mut self, view: &View<'_>) {
        for (index, node) in view.tape.nodes().iter().enumerate() {
            if matches!(node.kind, JsonKind::Key | JsonKind::String)
                && let Some(label) = view.text(index as u32).strip_prefix(b"_:")
            {
                self.labels.note(label);
            }
        }
    }

    /// Returns a new blank node for the message in the view.
    #[inline]
    pub fn add_anonymous(&mut self, view: &View<'_>, builder: &mut BatchBuilder) -> LimitResult {
        if self.labels.is_unused() {
            self.note_labels(view);
        }
        builder.add_simple(TermKind::BlankNode, self.labels.generate(), flags::PLAIN)
    }

    /// Returns a string literal. `clean` is true if the text contains no quotes, backslashes or C0
    /// controls.
    #[inline]
    pub fn add_string(builder: &mut BatchBuilder, text: &[u8], clean: bool) -> LimitResult {
        builder.add_simple(TermKind::Literal, text, plain(text, clean))
    }

    /// Returns a language-tagged string.
    #[inline]
    pub fn add_tagged(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        clean: bool,
        tag: &[u8],
        direction: u8,
    ) -> LimitResult {
        let language = self.add_valid(builder, TermKind::Language, tag, flags::PLAIN)?;
        let flags = plain(text, clean) | direction;
        builder.add_with_aux(TermKind::LangLiteral, text, language.0, flags)
    }

    /// Returns a literal with a datatype.
    #[inline]
    pub fn add_typed(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        clean: bool,
        datatype: &[u8],
    ) -> LimitResult {
        if datatype == XSD_STRING {
            return Self::add_string(builder, text, clean);
        }
        let datatype = self.add_valid_iri(builder, datatype)?;
        builder.add_with_aux(TermKind::TypedLiteral, text, datatype.0, plain(text, clean))
    }
}

#[inline]
fn push(builder: &mut BatchBuilder, kind: TermKind, text: &[u8], flags: u8) -> TermId {
    let offset = builder.append_text(text);
    builder.push_term(Term {
        offset,
        length: text.len() as u32,
        aux: 0,
        split: NO_SPLIT,
        kind,
        flags,
    })
}

#[inline]
fn plain(text: &[u8], clean: bool) -> u8 {
    let plain = if clean {
        // The compiler compares many bytes at once.
        let escaped =
            |is_escaped, &byte: &u8| is_escaped | u8::from(byte == 0x7f) | u8::from(byte == 0xef);
        text.iter().fold(0, escaped) == 0
    } else {
        !text.iter().any(|&byte| chars::is(byte, ESCAPE))
    };
    if plain { flags::PLAIN } else { 0 }
}
