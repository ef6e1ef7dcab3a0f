//! Terms from names, references, labels and text.
//!
//! - In: names of elements and attributes, values of attributes, text; the base and the language
//!   in force.
//! - Out: term ids of the current batch.
//! - Cost: a lookup in the term cache. Every `rdf:ID` of a document is kept, within a limit.
//! - Law: the bytes of IRIs resolved against a base, and of language tags in force, are counted. An
//!   IRI is absolute unless decoding is lenient.

use super::{ElementFrame, RdfXmlMachine};
use crate::formats::rdfxml::terms::XmlTerms;
use crate::formats::rdfxml::vocabulary::RDF;
use crate::model::chars;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::TermId;
use crate::syntax::iri::resolve;
use crate::syntax::text::grammar::limit;
use crate::syntax::xml::{Read, fail, fail_malformed, is_nc_name};

impl RdfXmlMachine {
    /// Returns the term for the name of an element or attribute.
    pub(super) fn name_term(
        &mut self,
        namespace: &[u8],
        local: &[u8],
        index: usize,
    ) -> Read<TermId> {
        if !self.lenient && !chars::is_absolute_iri(namespace) {
            return fail_malformed(
                index,
                Reason::from(format!(
                    "the namespace {} is not an absolute IRI",
                    quote(namespace)
                ))
                .with(Remedy::lenient("keeps it unchanged")),
            );
        }
        self.terms
            .add_iri(&mut self.builder, namespace, local)
            .map_err(|exceeded| limit(index, exceeded))
    }

    pub(super) fn add_rdf_term(&mut self, local: &[u8], index: usize) -> Read<TermId> {
        self.terms
            .add_iri(&mut self.builder, RDF, local)
            .map_err(|exceeded| limit(index, exceeded))
    }

    /// Returns the IRI to which an attribute refers.
    pub(super) fn add_reference(
        &mut self,
        index: usize,
        base: u32,
        position: usize,
    ) -> Read<TermId> {
        let values = std::mem::take(&mut self.values);
        let result = self.resolve(values.get(index), base, position);
        self.values = values;
        result
    }

    /// Resolves a reference to an IRI.
    fn resolve(&mut self, text: &[u8], base: u32, position: usize) -> Read<TermId> {
        let whole = |machine: &mut Self| {
            machine
                .terms
                .add_iri(&mut machine.builder, b"", text)
                .map_err(|exceeded| limit(position, exceeded))
        };
        if !chars::is_iri_text(text) {
            if self.lenient {
                return whole(self);
            }
            return fail_malformed(
                position,
                Reason::from(format!(
                    "{} contains characters that are not allowed in an IRI",
                    quote(text)
                ))
                .with(Remedy::lenient("keeps it unchanged")),
            );
        }
        if chars::has_scheme(text) {
            return whole(self);
        }
        let base = base
            .checked_sub(1)
            .and_then(|index| self.bases.get(index as usize));
        match resolve(text, base, self.lenient, &mut self.resolved) {
            Ok(true) => {}
            Ok(false) => return whole(self),
            Err(reason) => return fail_malformed(position, reason),
        }
        self.charge_repeated(self.resolved.len(), position)?;
        self.terms
            .add_iri(&mut self.builder, b"", self.resolved.as_bytes())
            .map_err(|exceeded| limit(position, exceeded))
    }

    /// Returns the IRI of an `rdf:ID`, which must be unique in the document.
    pub(super) fn add_id(&mut self, index: usize, base: u32, position: usize) -> Read<TermId> {
        let value = self.values.get(index);
        if !is_nc_name(value) {
            return fail_malformed(
                position,
                format!("rdf:ID must be an XML name, not {}", quote(value)),
            );
        }
        let reference = [b"#", value].concat();
        let id = self.resolve(&reference, base, position)?;
        if self.lenient {
            return Ok(id);
        }
        let iri = self.builder.table().text(id);
        self.ids_bytes += (iri.len() + 64) as u64;
        if self.ids_bytes > self.max() {
            let max = self.max();
            return fail(
                position,
                ErrorClass::Limit,
                Reason::limit(
                    format!("the rdf:IDs of the document take more than {max} bytes"),
                    "max_message_bytes",
                )
                .with(Remedy::lenient("accepts repeated IDs")),
            );
        }
        if !self.ids.insert(iri.into()) {
            return fail_malformed(
                position,
                Reason::from(format!(
                    "the rdf:ID {} occurs twice in the document",
                    quote(&reference[1..])
                ))
                .with(Remedy::lenient("accepts it")),
            );
        }
        Ok(id)
    }

    /// Returns the blank node of an `rdf:nodeID`.
    pub(super) fn add_label(&mut self, index: usize, position: usize) -> Read<TermId> {
        let values = std::mem::take(&mut self.values);
        let label = values.get(index);
        let result = if is_nc_name(label) {
            self.terms
                .add_blank_node(&mut self.builder, label)
                .map_err(|exceeded| limit(position, exceeded))
        } else {
            fail_malformed(
                position,
                format!("rdf:nodeID must be an XML name, not {}", quote(label)),
            )
        };
        self.values = values;
        result
    }

    /// Returns a literal with the language in force, or with a datatype.
    pub(super) fn add_text_term(
        &mut self,
        text: &[u8],
        frame: &ElementFrame,
        datatype: Option<TermId>,
        index: usize,
    ) -> Read<TermId> {
        let language = frame
            .language
            .checked_sub(1)
            .and_then(|index| self.languages.get(index as usize))
            .filter(|tag| datatype.is_none() && !tag.is_empty());
        let Some(tag) = language else {
            return XmlTerms::add_literal(&mut self.builder, text, datatype)
                .map_err(|exceeded| limit(index, exceeded));
        };
        let length = tag.len();
        let literal = self
            .terms
            .add_tagged(&mut self.builder, text, tag, frame.direction)
            .map_err(|exceeded| limit(index, exceeded))?;
        self.charge_repeated(length, index)?;
        Ok(literal)
    }
}
