//! Nodes and properties: the meaning of their elements and attributes.
//!
//! - In: the name and the attributes of an element, and the enclosing frame.
//! - Out: quads, and the frame's terms and state.
//! - Law: a quad is emitted as soon as its object is known. Inside `parseType="Triple"` nothing is
//!   emitted, and one triple is kept.

use super::attributes::RdfAttributes;
use super::{
    ANNOTATION, ElementFrame, ElementState, IDS, INNER, NONE, OBJECT, PREDICATE, RdfXmlMachine,
    STATEMENT, SUBJECT,
};
use crate::formats::rdfxml::terms::QUAD;
use crate::formats::rdfxml::vocabulary::{RDF, is_core, rdf_name};
use crate::model::chars::{SPACE, is};
use crate::model::error::quote;
use crate::model::term::{Quad, TermId, is_language_type};
use crate::syntax::iri::missing_tag_error;
use crate::syntax::text::grammar::limit;
use crate::syntax::xml::{Attribute, Read, XmlName, fail_malformed};

impl RdfXmlMachine {
    /// Processes the start tag of a node element.
    pub(super) fn begin_node(
        &mut self,
        text: &[u8],
        name: XmlName,
        namespace: &[u8],
        attributes: &[Attribute],
        rdf: &RdfAttributes,
        frame: &mut ElementFrame,
    ) -> Read<()> {
        let local = name.local(text);
        let rdf_local = rdf_name(namespace, local);
        if matches!(rdf_local, Some(core) if is_core(core) || core == b"li") {
            return fail_malformed(
                name.start,
                format!(
                    "{} is not allowed as a node element",
                    quote(name.whole(text))
                ),
            );
        }
        let misplaced = [
            rdf.resource,
            rdf.datatype,
            rdf.parse_type,
            rdf.annotation,
            rdf.annotation_node_id,
        ];
        if let Some(&index) = misplaced.iter().flatten().next() {
            return fail_malformed(
                attributes[index].name.start,
                format!(
                    "the attribute {} is allowed only on property elements, and {} is a node \
                     element",
                    quote(attributes[index].name.whole(text)),
                    quote(name.whole(text))
                ),
            );
        }
        let given = [rdf.about, rdf.id, rdf.node_id];
        if given.iter().flatten().count() > 1 {
            return fail_malformed(
                name.start,
                "a node element can have only one of rdf:about, rdf:ID and rdf:nodeID",
            );
        }
        let subject = if let Some(index) = rdf.about {
            self.add_reference(index, frame.base, attributes[index].name.start)?
        } else if let Some(index) = rdf.id {
            self.add_id(index, frame.base, attributes[index].name.start)?
        } else if let Some(index) = rdf.node_id {
            self.add_label(index, attributes[index].name.start)?
        } else {
            self.terms
                .add_anonymous(&mut self.builder)
                .map_err(|exceeded| limit(name.start, exceeded))?
        };
        frame.state = ElementState::Node;
        frame.ids[SUBJECT] = subject;
        self.attach_node(subject, name.start)?;
        if rdf_local != Some(b"Description") {
            let class = self.name_term(namespace, local, name.start)?;
            let predicate = self.add_rdf_term(b"type", name.start)?;
            self.emit([subject, predicate, class], name.start)?;
        }
        self.emit_property_attributes(text, attributes, rdf, subject, frame)
    }

    /// Connects a new node to its parent element.
    fn attach_node(&mut self, node: TermId, index: usize) -> Read<()> {
        let Some(parent) = self.frames.last().copied() else {
            return Ok(());
        };
        match parent.state {
            ElementState::Property => {
                if !self.text.iter().all(|&byte| is(byte, SPACE)) {
                    return fail_malformed(
                        index,
                        "a property element cannot contain both text and a node element",
                    );
                }
                self.text.clear();
                if parent.ids[OBJECT] != NONE {
                    return fail_malformed(
                        index,
                        "a property element with rdf:datatype must contain text, not a node \
                         element",
                    );
                }
                self.top_mut()?.state = ElementState::Full;
                self.state_property(parent, node, index)
            }
            ElementState::Collection => {
                let cell = self
                    .terms
                    .add_anonymous(&mut self.builder)
                    .map_err(|exceeded| limit(index, exceeded))?;
                if parent.ids[OBJECT] == NONE {
                    self.state_property(parent, cell, index)?;
                } else {
                    let rest = self.add_rdf_term(b"rest", index)?;
                    self.emit([parent.ids[OBJECT], rest, cell], index)?;
                }
                self.top_mut()?.ids[OBJECT] = cell;
                let first = self.add_rdf_term(b"first", index)?;
                self.emit([cell, first, node], index)
            }
            _ => Ok(()),
        }
    }

    /// Processes the start tag of a property element.
    pub(super) fn begin_property(
        &mut self,
        text: &[u8],
        name: XmlName,
        namespace: &[u8],
        attributes: &[Attribute],
        rdf: &RdfAttributes,
        frame: &mut ElementFrame,
    ) -> Read<()> {
        let local = name.local(text);
        let rdf_local = rdf_name(namespace, local);
        if matches!(rdf_local, Some(core) if is_core(core) || core == b"Description") {
            return fail_malformed(
                name.start,
                format!(
                    "{} is not allowed as a property element",
                    quote(name.whole(text))
                ),
            );
        }
        let subject = self.top_mut()?.ids[SUBJECT];
        frame.ids[SUBJECT] = subject;
        frame.ids[PREDICATE] = if rdf_local == Some(b"li") {
            let node = self.top_mut()?;
            node.li += 1;
            let number = format!("_{}", node.li);
            self.name_term(namespace, number.as_bytes(), name.start)?
        } else {
            self.name_term(namespace, local, name.start)?
        };
        if let Some(index) = rdf.about {
            return fail_malformed(
                attributes[index].name.start,
                format!(
                    "rdf:about is allowed only on node elements, and {} is a property element",
                    quote(name.whole(text))
                ),
            );
        }
        if let Some(index) = rdf.id {
            frame.ids[STATEMENT] = self.add_id(index, frame.base, attributes[index].name.start)?;
        }
        frame.ids[ANNOTATION] = match (rdf.annotation, rdf.annotation_node_id) {
            (None, None) => NONE,
            (Some(index), None) => {
                self.add_reference(index, frame.base, attributes[index].name.start)?
            }
            (None, Some(index)) => self.add_label(index, attributes[index].name.start)?,
            (Some(_), Some(index)) => {
                return fail_malformed(
                    attributes[index].name.start,
                    "a property element can have only one of rdf:annotation and \
                     rdf:annotationNodeID",
                );
            }
        };
        let object = [rdf.resource, rdf.node_id];
        let described = object.iter().flatten().next().is_some() || !rdf.properties.is_empty();
        if let Some(index) = rdf.parse_type {
            if described || rdf.datatype.is_some() {
                return fail_malformed(
                    attributes[index].name.start,
                    "rdf:parseType cannot be combined with another attribute that specifies the \
                     object",
                );
            }
            return self.parse_type(index, name.start, frame);
        }
        if let Some(index) = rdf.datatype {
            if described {
                return fail_malformed(
                    attributes[index].name.start,
                    "rdf:datatype cannot be combined with another attribute that specifies the \
                     object",
                );
            }
            let datatype = self.add_reference(index, frame.base, attributes[index].name.start)?;
            let iri = self.builder.table().text(datatype);
            if !self.lenient && is_language_type(iri) {
                return fail_malformed(attributes[index].name.start, missing_tag_error(iri));
            }
            frame.ids[OBJECT] = datatype;
        }
        self.text.clear();
        frame.state = ElementState::Property;
        if !described {
            return Ok(());
        }
        let object = match (rdf.resource, rdf.node_id) {
            (Some(index), None) => {
                self.add_reference(index, frame.base, attributes[index].name.start)?
            }
            (None, Some(index)) => self.add_label(index, attributes[index].name.start)?,
            (None, None) => self
                .terms
                .add_anonymous(&mut self.builder)
                .map_err(|exceeded| limit(name.start, exceeded))?,
            (Some(_), Some(index)) => {
                return fail_malformed(
                    attributes[index].name.start,
                    "a property element can have only one of rdf:resource and rdf:nodeID",
                );
            }
        };
        frame.state = ElementState::Full;
        self.state_property(*frame, object, name.start)?;
        self.emit_property_attributes(text, attributes, rdf, object, frame)
    }

    fn parse_type(&mut self, index: usize, position: usize, frame: &mut ElementFrame) -> Read<()> {
        match self.values.get(index) {
            b"Resource" => {
                let object = self
                    .terms
                    .add_anonymous(&mut self.builder)
                    .map_err(|exceeded| limit(position, exceeded))?;
                self.state_property(*frame, object, position)?;
                frame.ids = [NONE; IDS];
                frame.ids[SUBJECT] = object;
                frame.state = ElementState::Node;
            }
            b"Collection" => frame.state = ElementState::Collection,
            b"Triple" => frame.state = ElementState::Triple,
            _ => {
                frame.state = ElementState::Literal;
                self.text.clear();
            }
        }
        Ok(())
    }

    /// Emits the quads of the property attributes of a node.
    fn emit_property_attributes(
        &mut self,
        text: &[u8],
        attributes: &[Attribute],
        rdf: &RdfAttributes,
        node: TermId,
        frame: &ElementFrame,
    ) -> Read<()> {
        for &index in &rdf.properties {
            let name = attributes[index].name;
            let (prefix, local) = (name.prefix(text), name.local(text));
            let namespace: Box<[u8]> = if prefix.is_empty() {
                RDF.into()
            } else {
                self.scope.get(prefix).unwrap_or_default().into()
            };
            self.charge_repeated(namespace.len(), name.start)?;
            let predicate = self.name_term(&namespace, local, name.start)?;
            let object = if rdf_name(&namespace, local) == Some(b"type") {
                self.add_reference(index, frame.base, name.start)?
            } else {
                let values = std::mem::take(&mut self.values);
                let object = self.add_text_term(values.get(index), frame, None, name.start);
                self.values = values;
                object?
            };
            self.emit([node, predicate, object], name.start)?;
        }
        Ok(())
    }

    /// Emits the quads of a property after its object is known.
    pub(super) fn state_property(
        &mut self,
        property: ElementFrame,
        object: TermId,
        index: usize,
    ) -> Read<()> {
        let [subject, predicate] = [property.ids[SUBJECT], property.ids[PREDICATE]];
        self.emit([subject, predicate, object], index)?;
        let statement = property.ids[STATEMENT];
        if statement != NONE {
            let class = self.add_rdf_term(b"Statement", index)?;
            for (name, value) in [
                (&b"type"[..], class),
                (b"subject", subject),
                (b"predicate", predicate),
                (b"object", object),
            ] {
                let name = self.add_rdf_term(name, index)?;
                self.emit([statement, name, value], index)?;
            }
        }
        if property.ids[ANNOTATION] != NONE {
            let reifies = self.add_rdf_term(b"reifies", index)?;
            let triple = self.triple_term([subject, predicate, object], index)?;
            self.emit([property.ids[ANNOTATION], reifies, triple], index)?;
        }
        Ok(())
    }

    pub(super) fn triple_term(&mut self, triple: [TermId; 3], index: usize) -> Read<TermId> {
        self.builder
            .charge(12 + QUAD)
            .map_err(|exceeded| limit(index, exceeded))?;
        Ok(self.builder.push_triple_term(triple))
    }

    /// Emits a triple. Inside `parseType="Triple"`, stores it in that element's frame instead.
    pub(super) fn emit(
        &mut self,
        [subject, predicate, object]: [TermId; 3],
        index: usize,
    ) -> Read<()> {
        let enclosing = self
            .frames
            .iter_mut()
            .rev()
            .find(|frame| frame.state == ElementState::Triple);
        if let Some(enclosing) = enclosing {
            if enclosing.ids[INNER] != NONE {
                return fail_malformed(
                    index,
                    "rdf:parseType=\"Triple\" can contain only one triple, found another",
                );
            }
            enclosing.ids[INNER..].copy_from_slice(&[subject, predicate, object]);
            return Ok(());
        }
        self.builder
            .charge(QUAD)
            .map_err(|exceeded| limit(index, exceeded))?;
        self.builder.push_quad(Quad {
            subject,
            predicate,
            object,
            graph: NONE,
        });
        Ok(())
    }
}
