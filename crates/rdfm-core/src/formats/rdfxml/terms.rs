//! Terms of RDF/XML, with a cache for the current batch.
//!
//! - In: strings; an IRI as a namespace and a local part.
//! - Out: term ids of the current batch.
//! - Cost: a lookup in a table of fixed size.
//! - Law: every use is charged as a new term, so that the size of a message does not depend on its
//!   batch.

use crate::model::builder::BatchBuilder;
use crate::model::error::LimitExceeded;
use crate::model::labels::{self, Labels};
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::syntax::cache::{Cache, RecentTerm};
use crate::syntax::text::scan;
use crate::syntax::xml::is_nc_name;

/// Bytes charged for a quad.
pub(super) const QUAD: usize = 16;
/// Bytes charged for the record of a term.
const RECORD: usize = 16;

/// Term state of a log.
pub(super) struct XmlTerms {
    cache: Cache,
    labels: Labels,
    scratch: Vec<u8>,
}

impl XmlTerms {
    pub fn new() -> Self {
        Self {
            cache: Cache::new(),
            labels: Labels::default(),
            scratch: Vec::new(),
        }
    }

    /// Begins a message; generated labels start from 0 again.
    pub fn begin_message(&mut self) {
        self.labels.begin_message();
    }

    /// Returns an IRI given in two parts. The first may be empty.
    pub fn add_iri(
        &mut self,
        builder: &mut BatchBuilder,
        namespace: &[u8],
        local: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        let length = namespace.len() + local.len();
        builder.charge(length + RECORD)?;
        let (text, split) = if namespace.is_empty() {
            (local, NO_SPLIT)
        } else {
            self.scratch.clear();
            self.scratch.extend_from_slice(namespace);
            self.scratch.extend_from_slice(local);
            (
                &*self.scratch,
                u16::try_from(namespace.len()).unwrap_or(NO_SPLIT),
            )
        };
        let slot = Cache::slot(TermKind::Iri, text);
        let cached = self.cache.get(slot);
        if cached.is(builder, TermKind::Iri, text) {
            return Ok(cached.id);
        }
        let id = push(
            builder,
            TermKind::Iri,
            text,
            0,
            split,
            scan::iri(text).unwrap_or(0),
        );
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(id)
    }

    /// Returns the blank node for a label of the document.
    pub fn add_blank_node(
        &mut self,
        builder: &mut BatchBuilder,
        label: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        builder.charge(label.len() + 1 + RECORD)?;
        let decoded = labels::read(label, is_nc_name);
        let text = match &decoded {
            Some(decoded) => decoded,
            None => self.labels.map_given(label),
        };
        let flags = scan::label(text).unwrap_or(0);
        let slot = Cache::slot(TermKind::BlankNode, text);
        let cached = self.cache.get(slot);
        if cached.is(builder, TermKind::BlankNode, text) {
            return Ok(cached.id);
        }
        let id = push(builder, TermKind::BlankNode, text, 0, NO_SPLIT, flags);
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(id)
    }

    /// Returns a new blank node.
    pub fn add_anonymous(&mut self, builder: &mut BatchBuilder) -> Result<TermId, LimitExceeded> {
        let label = self.labels.generate();
        builder.charge(label.len() + RECORD)?;
        Ok(push(
            builder,
            TermKind::BlankNode,
            label,
            0,
            NO_SPLIT,
            flags::PLAIN,
        ))
    }

    /// Returns a literal without a language. Its datatype is the given IRI term, or xsd:string.
    pub fn add_literal(
        builder: &mut BatchBuilder,
        text: &[u8],
        datatype: Option<TermId>,
    ) -> Result<TermId, LimitExceeded> {
        builder.charge(text.len() + RECORD)?;
        let flags = scan::lexical(text).unwrap_or(0);
        let datatype = datatype.filter(|&id| builder.table().text(id) != XSD_STRING);
        let kind = if datatype.is_some() {
            TermKind::TypedLiteral
        } else {
            TermKind::Literal
        };
        let aux = datatype.unwrap_or_default().0;
        Ok(push(builder, kind, text, aux, NO_SPLIT, flags))
    }

    /// Returns a literal with a language, and optionally a base direction (one of [`flags`]).
    pub fn add_tagged(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        language: &[u8],
        direction: u8,
    ) -> Result<TermId, LimitExceeded> {
        builder.charge(text.len() + language.len() + 2 * RECORD)?;
        let slot = Cache::slot(TermKind::Language, language);
        let cached = self.cache.get(slot);
        let tag = if cached.is(builder, TermKind::Language, language) {
            cached.id
        } else {
            // Invalid language tags have already been rejected.
            let id = push(
                builder,
                TermKind::Language,
                language,
                0,
                NO_SPLIT,
                flags::PLAIN,
            );
            self.cache.set(slot, RecentTerm::new(builder, id));
            id
        };
        let flags = scan::lexical(text).unwrap_or(0) | direction;
        let kind = TermKind::LangLiteral;
        Ok(push(builder, kind, text, tag.0, NO_SPLIT, flags))
    }
}

/// Adds a term that has already been charged.
fn push(
    builder: &mut BatchBuilder,
    kind: TermKind,
    text: &[u8],
    aux: u32,
    split: u16,
    flags: u8,
) -> TermId {
    let offset = builder.append_text(text);
    builder.push_term(Term {
        offset,
        length: text.len() as u32,
        aux,
        split,
        kind,
        flags,
    })
}
