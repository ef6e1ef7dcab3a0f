//! Reads the attributes of a tag. Some of them declare namespaces or set the base or the language;
//! the others have a meaning in RDF/XML.
//!
//! - In: the attributes of a tag, as written.
//! - Out: [`AttributeValues`], bindings of the scope, the element's frame, [`RdfAttributes`].
//! - Cost: a copy of each value. The total size of bases and languages is limited.
//! - Law: no name occurs twice in a tag; every prefix is declared.

use std::sync::Arc;

use oxiri::Iri;
use rustc_hash::FxHashSet;

use super::{ElementFrame, RdfXmlMachine};
use crate::codec::LogHeader;
use crate::formats::rdfxml::vocabulary::{ITS, rdf_name};
use crate::model::chars;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::model::term::flags;
use crate::syntax::text::grammar::limit;
use crate::syntax::xml::entities::TextContext;
use crate::syntax::xml::scope::NamespaceScope;
use crate::syntax::xml::{Attribute, Read, XML, XMLNS, fail, fail_malformed};

/// Number of attributes above which duplicate names are found with a hash table.
const MANY_ATTRIBUTES: usize = 12;

/// The attributes of an element; values are indexes into [`AttributeValues`].
#[derive(Default)]
pub(super) struct RdfAttributes {
    pub about: Option<usize>,
    pub id: Option<usize>,
    pub node_id: Option<usize>,
    pub resource: Option<usize>,
    pub datatype: Option<usize>,
    pub parse_type: Option<usize>,
    pub annotation: Option<usize>,
    pub annotation_node_id: Option<usize>,
    /// `rdf:type` and all property attributes.
    pub properties: Vec<usize>,
}

/// The attribute values of a tag, concatenated, and the end of each.
#[derive(Default)]
pub(super) struct AttributeValues {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl AttributeValues {
    /// Returns the value of an attribute, by its index in the tag.
    pub fn get(&self, index: usize) -> &[u8] {
        let from = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[from..self.ends[index]]
    }
}

impl RdfXmlMachine {
    /// Decodes the attribute values of a tag, and rejects duplicate names.
    pub(super) fn read_values(&mut self, text: &[u8], attributes: &[Attribute]) -> Read<()> {
        let max = self.max();
        self.values.bytes.clear();
        self.values.ends.clear();
        let mut names = FxHashSet::default();
        for (index, attribute) in attributes.iter().enumerate() {
            let name = attribute.name.whole(text);
            let is_duplicate = if attributes.len() > MANY_ATTRIBUTES {
                !names.insert(name)
            } else {
                attributes[..index]
                    .iter()
                    .any(|other| other.name.whole(text) == name)
            };
            if is_duplicate {
                return fail_malformed(
                    attribute.name.start,
                    format!("the attribute {} occurs twice in a tag", quote(name)),
                );
            }
            let range = attribute.value;
            let repeated = self.entities.expand(
                text,
                range,
                TextContext::Attribute,
                max,
                &mut self.values.bytes,
            )?;
            self.charge_repeated(repeated, attribute.name.start)?;
            self.values.ends.push(self.values.bytes.len());
        }
        Ok(())
    }

    /// Binds the prefixes that a tag declares.
    pub(super) fn bind(&mut self, text: &[u8], attributes: &[Attribute]) -> Read<()> {
        let root = self.frames.is_empty();
        for (index, attribute) in attributes.iter().enumerate() {
            let name = attribute.name;
            let prefix = match (name.prefix(text), name.local(text)) {
                (b"", b"xmlns") => &b""[..],
                (b"xmlns", local) => local,
                _ => continue,
            };
            let iri = self.values.get(index);
            if prefix == b"xmlns"
                || (prefix == b"xml") != (iri == XML)
                || iri == XMLNS
                || (iri.is_empty() && !prefix.is_empty())
            {
                return fail_malformed(
                    name.start,
                    format!(
                        "the prefix {} cannot be bound to {}",
                        quote(prefix),
                        quote(iri)
                    ),
                );
            }
            if prefix == b"xml" {
                continue;
            }
            if self.scope.bytes() + NamespaceScope::size(prefix, iri) > self.max() {
                let max = self.max();
                return fail(
                    name.start,
                    ErrorClass::Limit,
                    Reason::limit(
                        format!("the namespaces take more than {max} bytes"),
                        "max_message_bytes",
                    ),
                );
            }
            self.scope.bind(prefix, iri);
            if root && !iri.is_empty() && self.declared.get(prefix) != Some(iri) {
                self.builder
                    .add_namespace(prefix, iri)
                    .map_err(|exceeded| limit(name.start, exceeded))?;
                self.declared.set(prefix, iri);
            }
        }
        Ok(())
    }

    /// Classifies the attributes of an RDF element, and applies those that are inherited.
    pub(super) fn read_attributes(
        &mut self,
        text: &[u8],
        attributes: &[Attribute],
        frame: &mut ElementFrame,
        rdf: &mut RdfAttributes,
    ) -> Read<()> {
        let mut direction = None;
        for (index, attribute) in attributes.iter().enumerate() {
            let name = attribute.name;
            let (prefix, local) = (name.prefix(text), name.local(text));
            if prefix == b"xml" {
                match local {
                    b"lang" => frame.language = self.read_language(index, name.start)?,
                    b"base" => frame.base = self.read_base(index, frame.base, name.start)?,
                    _ => {}
                }
                continue;
            }
            if name.whole(text).starts_with(b"xml") {
                continue; // xmlns, and names that XML reserves
            }
            let rdf_local = if prefix.is_empty() {
                match local {
                    b"about" | b"ID" | b"resource" | b"parseType" | b"type" => Some(local),
                    _ => {
                        return fail_malformed(
                            name.start,
                            format!("the attribute {} has no namespace prefix", quote(local)),
                        );
                    }
                }
            } else {
                let Some(namespace) = self.scope.get(prefix) else {
                    return fail_malformed(
                        name.start,
                        format!("the prefix {} is not declared", quote(prefix)),
                    );
                };
                if namespace == ITS {
                    if local == b"dir" {
                        direction = Some(index);
                    }
                    if matches!(local, b"dir" | b"version") {
                        continue;
                    }
                }
                rdf_name(namespace, local)
            };
            let slot = match rdf_local {
                Some(b"about") => &mut rdf.about,
                Some(b"ID") => &mut rdf.id,
                Some(b"nodeID") => &mut rdf.node_id,
                Some(b"resource") => &mut rdf.resource,
                Some(b"datatype") => &mut rdf.datatype,
                Some(b"parseType") => &mut rdf.parse_type,
                Some(b"annotation") => &mut rdf.annotation,
                Some(b"annotationNodeID") => &mut rdf.annotation_node_id,
                Some(b"version") => {
                    self.read_version(index, name.start)?;
                    continue;
                }
                Some(
                    b"RDF" | b"Description" | b"li" | b"aboutEach" | b"aboutEachPrefix" | b"bagID",
                ) => {
                    return fail_malformed(
                        name.start,
                        format!("{} is not an RDF/XML attribute", quote(name.whole(text))),
                    );
                }
                _ => {
                    rdf.properties.push(index);
                    continue;
                }
            };
            if slot.replace(index).is_some() {
                return fail_malformed(
                    name.start,
                    format!("the attribute {} occurs twice in a tag", quote(local)),
                );
            }
        }
        if let Some(index) = direction {
            frame.direction = match self.values.get(index) {
                b"ltr" => flags::LTR,
                b"rtl" => flags::RTL,
                other => {
                    return fail_malformed(
                        attributes[index].name.start,
                        format!("its:dir must be 'ltr' or 'rtl', not {}", quote(other)),
                    );
                }
            };
        }
        Ok(())
    }

    /// Reads a version label. It does not change the meaning of the document: writers such as Jena
    /// use the constructs of RDF 1.2 without it.
    fn read_version(&mut self, index: usize, position: usize) -> Read<()> {
        match self.values.get(index) {
            label @ (b"1.1" | b"1.2-basic" | b"1.2") => {
                if self.header.version_label.is_none() {
                    self.header = Arc::new(LogHeader {
                        version_label: Some(String::from_utf8_lossy(label).into_owned()),
                        ..LogHeader::default()
                    });
                }
                Ok(())
            }
            other => fail(
                position,
                ErrorClass::Unsupported,
                format!(
                    "rdf:version must be '1.1', '1.2' or '1.2-basic', not {}",
                    quote(other)
                ),
            ),
        }
    }

    /// Stores the language of an `xml:lang` attribute and returns its number. An empty value means
    /// no language.
    fn read_language(&mut self, index: usize, position: usize) -> Read<u32> {
        let tag = self.values.get(index);
        if !tag.is_empty() && !chars::is_language_tag(tag) {
            return fail_malformed(position, chars::describe_invalid_language_tag(tag));
        }
        let tag: Box<[u8]> = tag.into();
        let bytes: usize = self.languages.iter().map(|tag| tag.len()).sum();
        if (bytes + tag.len()) as u64 > self.max() {
            let max = self.max();
            return fail(
                position,
                ErrorClass::Limit,
                Reason::limit(
                    format!("the language tags in scope take more than {max} bytes"),
                    "max_message_bytes",
                ),
            );
        }
        self.languages.push(tag);
        Ok(self.languages.len() as u32)
    }

    /// Resolves and stores the base of an `xml:base` attribute, and returns its number.
    fn read_base(&mut self, index: usize, outer: u32, position: usize) -> Read<u32> {
        let text = String::from_utf8_lossy(self.values.get(index)).into_owned();
        let resolved = match outer
            .checked_sub(1)
            .and_then(|index| self.bases.get(index as usize))
        {
            Some(base) => base.resolve(&text),
            None => Iri::parse(text.clone()),
        };
        match resolved {
            Ok(base) => {
                self.charge_repeated(base.as_str().len(), position)?;
                let bytes: usize = self.bases.iter().map(|base| base.as_str().len()).sum();
                if (bytes + base.as_str().len()) as u64 > self.max() {
                    let max = self.max();
                    return fail(
                        position,
                        ErrorClass::Limit,
                        Reason::limit(
                            format!("the bases in scope take more than {max} bytes"),
                            "max_message_bytes",
                        ),
                    );
                }
                self.bases.push(base);
                Ok(self.bases.len() as u32)
            }
            Err(error) => fail_malformed(
                position,
                format!(
                    "the base {} is not a valid absolute IRI ({error})",
                    quote(text.as_bytes())
                ),
            ),
        }
    }
}
