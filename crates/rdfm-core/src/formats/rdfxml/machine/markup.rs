//! XML literals: the markup inside a property with `parseType="Literal"`.
//!
//! - In: the tags, comments and processing instructions inside such a property.
//! - Out: their canonical form in the text of the property, and the literal at the end of the
//!   property.
//! - Cost: that of [`canonical`](crate::formats::rdfxml::canonical). The namespaces of attributes
//!   count as repeated bytes, because sorting attributes compares them.
//! - Law: the markup is not interpreted as RDF.

use super::{ElementFrame, ElementState, RdfXmlMachine};
use crate::formats::rdfxml::canonical::Canonical;
use crate::formats::rdfxml::terms::XmlTerms;
use crate::syntax::text::grammar::limit;
use crate::syntax::xml::{Attribute, Read, XmlName};

impl RdfXmlMachine {
    pub(super) fn is_in_markup(&self) -> bool {
        self.frames.last().is_some_and(|frame| {
            matches!(frame.state, ElementState::Literal | ElementState::Markup)
        })
    }

    /// Adds a comment or a processing instruction to the literal.
    pub(super) fn copy_markup(&mut self, text: &[u8], start: usize, end: usize) -> Read<()> {
        let max = self.max();
        Canonical::copy(&text[start..end], max, &mut self.text)
            .map_err(|exceeded| limit(start, exceeded))
    }

    /// Opens an element of an XML literal.
    pub(super) fn open_markup(
        &mut self,
        text: &[u8],
        name: XmlName,
        attributes: &[Attribute],
        mut frame: ElementFrame,
    ) -> Read<()> {
        frame.state = ElementState::Markup;
        for attribute in attributes {
            // Sorting the attributes compares their namespaces.
            let namespace = self.scope.get(attribute.name.prefix(text));
            let length = namespace.map_or(0, <[u8]>::len);
            self.charge_repeated(length, attribute.name.start)?;
        }
        let values: Vec<&[u8]> = (0..attributes.len())
            .map(|index| self.values.get(index))
            .collect();
        let max = self.max();
        self.canonical.start(
            text,
            name,
            attributes,
            &values,
            &self.scope,
            max,
            &mut self.text,
        )?;
        self.open_names.extend_from_slice(name.whole(text));
        self.frames.push(frame);
        Ok(())
    }

    /// Closes an element of the literal.
    pub(super) fn close_markup(&mut self, frame: &ElementFrame, index: usize) -> Read<()> {
        let max = self.max();
        let name = &self.open_names[frame.name as usize..];
        self.canonical
            .end(name, frame.rendered, max, &mut self.text)
            .map_err(|exceeded| limit(index, exceeded))
    }

    /// Closes the property, whose object is the literal.
    pub(super) fn close_literal(&mut self, frame: ElementFrame, index: usize) -> Read<()> {
        let datatype = self.add_rdf_term(b"XMLLiteral", index)?;
        let text = std::mem::take(&mut self.text);
        let object = XmlTerms::add_literal(&mut self.builder, &text, Some(datatype));
        self.text = text;
        self.text.clear();
        let object = object.map_err(|exceeded| limit(index, exceeded))?;
        self.state_property(frame, object, index)
    }
}
