//! The grammar of RDF/XML as a push-down automaton: every token is a checkpoint.
//!
//! - In: text that is valid UTF-8 and grows at its end ([`RdfXmlMachine::run`]).
//! - Out: quads, namespaces and message ends in the [`BatchBuilder`].
//! - Cost: linear in the text. Memory is bounded by a frame for each open element, the text of one
//!   property, and the `rdf:ID`s of the document, whose size is limited.
//! - Law: nothing is rolled back and nothing recurses. A document is complete at the end tag of its
//!   root.
//!
//! This module processes open elements, from start tag to end tag. The other modules process:
//!
//! - `documents`: the text between documents.
//! - `attributes`: the attributes of a tag.
//! - `elements`: nodes and properties.
//! - `references`: the terms to which nodes and properties refer.
//! - `texts`: character data.
//! - `markup`: XML literals.

mod attributes;
mod documents;
mod elements;
mod markup;
mod references;
mod texts;

use attributes::{AttributeValues, RdfAttributes};
use documents::Prolog;

use std::sync::Arc;

use oxiri::Iri;
use rustc_hash::{FxHashMap, FxHashSet};

use super::canonical::Canonical;
use super::terms::XmlTerms;
use super::vocabulary::{RDF, TRIX};
use crate::codec::LogHeader;
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::{SPACE, is};
use crate::model::error::{ErrorClass, quote};
use crate::model::namespaces::Namespaces;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::TermId;
use crate::syntax::iri::parse_base;
use crate::syntax::text::grammar::Pause;
use crate::syntax::xml::entities::Entities;
use crate::syntax::xml::scope::NamespaceScope;
use crate::syntax::xml::{
    self, Attribute, Read, TokenScan, XmlName, XmlToken, check_characters, fail, fail_malformed,
};

/// Maximum number of bytes that entities, namespaces, bases and languages may repeat per byte of
/// the log, beyond `max_message_bytes`. Ordinary documents stay below 10.
const MAX_REPEATS: u64 = 100;

/// The kind of an element, which determines its allowed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementState {
    /// `rdf:RDF`: contains nodes.
    Rdf,
    /// A node, or a property with `parseType="Resource"`: contains properties.
    Node,
    /// A property: contains one node, or text.
    Property,
    /// A property whose object is known: contains nothing else.
    Full,
    /// A property with `parseType="Collection"`: contains nodes.
    Collection,
    /// A property with `parseType="Triple"`: contains a node with one property.
    Triple,
    /// A property with `parseType="Literal"`: contains any markup.
    Literal,
    /// An element inside an XML literal.
    Markup,
}

// Indexes of the terms of a frame, which are NONE until they are known.
/// For a node, the node; for a property, the node to which it belongs.
const SUBJECT: usize = 0;
const PREDICATE: usize = 1;
/// For a collection, the last cell; for a property, its datatype.
const OBJECT: usize = 2;
/// The IRI from `rdf:ID` on a property.
const STATEMENT: usize = 3;
/// The term from `rdf:annotation`.
const ANNOTATION: usize = 4;
/// For `parseType="Triple"`, the first of three indexes for the inner triple.
const INNER: usize = 5;
const IDS: usize = INNER + 3;

const NONE: TermId = TermId::DEFAULT_GRAPH;

/// An open element.
#[derive(Clone, Copy, Debug)]
struct ElementFrame {
    state: ElementState,
    ids: [TermId; IDS],
    /// Start of its name in [`RdfXmlMachine::open_names`].
    name: u32,
    /// Marks to revert to when the element ends.
    scope: u32,
    rendered: u32,
    /// Numbers of the base and the language in force; 0 for none.
    base: u32,
    language: u32,
    /// A flag of [`flags`](crate::model::term::flags).
    direction: u8,
    /// Last number used for `rdf:li`.
    li: u64,
}

/// State of a log between two tokens.
pub(super) struct RdfXmlMachine {
    /// Index of the next token in the text.
    pub pos: usize,
    /// Byte offset of the text in the log.
    pub offset: u64,
    pub builder: BatchBuilder,
    lenient: bool,
    parts: bool,
    full: bool,
    /// Number of bytes that entities, namespaces, bases and languages repeated.
    repeated: u64,
    scan: TokenScan,
    prolog: Prolog,
    /// Whether a document has white space with a line break between two tags.
    pub multiline: bool,
    terms: XmlTerms,
    entities: Entities,
    scope: NamespaceScope,
    /// The namespaces that roots declared, as declarations of the log.
    declared: Namespaces,
    frames: Vec<ElementFrame>,
    /// Names of the open elements.
    open_names: Vec<u8>,
    /// The bases in force. The first is the base option, if there is one.
    bases: Vec<Iri<String>>,
    outer_base: u32,
    languages: Vec<Box<[u8]>>,
    /// Every `rdf:ID` of the document.
    ids: FxHashSet<Box<[u8]>>,
    ids_bytes: u64,
    /// The text of the open property.
    text: Vec<u8>,
    canonical: Canonical,
    attributes: Vec<Attribute>,
    values: AttributeValues,
    resolved: String,
    /// The namespace of the element being opened.
    namespace: Vec<u8>,
    /// The first version label of the log.
    pub header: Arc<LogHeader>,
}

impl RdfXmlMachine {
    /// Creates a machine for a new log.
    ///
    /// # Errors
    /// If the base is not an absolute IRI.
    pub fn new(
        builder: BatchBuilder,
        base: Option<&str>,
        lenient: bool,
        parts: bool,
    ) -> Result<Self, Reason> {
        let bases = Vec::from_iter(parse_base(base)?);
        Ok(Self {
            pos: 0,
            offset: 0,
            builder,
            lenient,
            parts,
            full: false,
            repeated: 0,
            scan: TokenScan::default(),
            prolog: Prolog::default(),
            multiline: false,
            terms: XmlTerms::new(),
            entities: Entities::default(),
            scope: NamespaceScope::default(),
            declared: Namespaces::default(),
            frames: Vec::new(),
            open_names: Vec::new(),
            outer_base: bases.len() as u32,
            bases,
            languages: Vec::new(),
            ids: FxHashSet::default(),
            ids_bytes: 0,
            text: Vec::new(),
            canonical: Canonical::default(),
            attributes: Vec::new(),
            values: AttributeValues::default(),
            resolved: String::new(),
            namespace: Vec::new(),
            header: LogHeader::none(),
        })
    }

    /// Prepares for the next log; the builder has already been reset.
    pub fn reset(&mut self) {
        self.pos = 0;
        self.offset = 0;
        self.full = false;
        self.repeated = 0;
        self.scan = TokenScan::default();
        self.prolog = Prolog::default();
        self.multiline = false;
        self.declared = Namespaces::default();
        self.header = LogHeader::none();
        self.frames.clear();
        self.open_names.clear();
        self.forget_document();
    }

    /// Discards the state of a document.
    fn forget_document(&mut self) {
        self.entities.clear();
        self.scope.clear();
        self.canonical.clear();
        self.bases.truncate(self.outer_base as usize);
        self.languages.clear();
        self.ids.clear();
        self.ids_bytes = 0;
        self.text.clear();
        self.terms.begin_message();
    }

    /// Offset after the last complete document.
    pub fn complete(&self) -> u64 {
        let position = self.offset + self.pos as u64;
        self.prolog.position.unwrap_or(position)
    }

    fn max(&self) -> u64 {
        self.builder.limits().max_message_bytes
    }

    /// Counts bytes that the document contains once but uses repeatedly, so that reading a short
    /// log takes a limited time.
    fn charge_repeated(&mut self, bytes: usize, index: usize) -> Read<()> {
        self.repeated += bytes as u64;
        let read = self.offset + index as u64;
        let max = self.max().saturating_add(MAX_REPEATS * read);
        if self.repeated <= max {
            return Ok(());
        }
        fail(
            index,
            ErrorClass::Limit,
            Reason::limit(
                format!(
                    "entities, namespaces, bases and languages repeat more than {max} bytes \
                     in the first {read} bytes of the log"
                ),
                "max_message_bytes",
            ),
        )
    }

    /// Processes `text` from [`Self::pos`] until the caller must act.
    pub fn run(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        loop {
            if self.full {
                return Ok(Pause::Full);
            }
            let start = self.pos;
            if start == text.len() {
                return self.pause(text, ended);
            }
            let next = xml::next(text, start, &mut self.scan);
            let length = match &next {
                Ok(Some((_, end))) => end - start,
                Ok(None) => text.len() - start,
                Err(error) => error.index.saturating_sub(start),
            };
            if length as u64 > self.max() {
                return fail(
                    start,
                    ErrorClass::Limit,
                    Reason::limit(
                        format!("a text node or tag is longer than {} bytes", self.max()),
                        "max_message_bytes",
                    ),
                );
            }
            let Some((token, end)) = next? else {
                return self.pause(text, ended);
            };
            if self.frames.is_empty() {
                self.process_token_between_documents(text, token, end)?;
            } else {
                self.process_token_in_document(text, token, end)?;
            }
            self.pos = end;
            self.full = if self.builder.is_open() {
                self.parts && self.builder.is_part_full()
            } else {
                self.builder.is_full()
            };
        }
    }

    /// Returns the current part of the open message. The terms of open elements move to the next
    /// batch.
    pub fn take_part(&mut self) -> MessageBatch {
        self.full = false;
        let batch = self.builder.take_part();
        self.move_frames(batch.table(), &mut FxHashMap::default());
        batch
    }

    /// Returns the completed messages, if any. An open message moves to the next batch.
    pub fn take(&mut self) -> Option<MessageBatch> {
        self.full = false;
        let mut moved = FxHashMap::default();
        let batch = self.builder.take_complete(&mut moved)?;
        if self.builder.is_open() {
            self.move_frames(batch.table(), &mut moved);
        }
        Some(batch)
    }

    fn move_frames(&mut self, from: &TermTable, moved: &mut FxHashMap<TermId, TermId>) {
        for frame in &mut self.frames {
            for id in &mut frame.ids {
                *id = self.builder.copy_term(from, *id, moved);
            }
        }
    }

    // --- within a document ---

    fn process_token_in_document(&mut self, text: &[u8], token: XmlToken, end: usize) -> Read<()> {
        let start = self.pos;
        match token {
            XmlToken::Start | XmlToken::Empty => {
                self.start_tag(text, end, token == XmlToken::Empty)
            }
            XmlToken::End => self.end_tag(text, end),
            XmlToken::Text => self.process_characters(text, (start, end), false),
            XmlToken::CData => self.process_characters(text, (start + 9, end - 3), true),
            XmlToken::Comment | XmlToken::Instruction => {
                check_characters(text, start, end)?;
                if self.is_in_markup() {
                    self.copy_markup(text, start, end)?;
                }
                Ok(())
            }
            XmlToken::Doctype => {
                fail_malformed(start, "a DOCTYPE is allowed only before the first element")
            }
        }
    }

    fn top_mut(&mut self) -> Read<&mut ElementFrame> {
        match self.frames.last_mut() {
            Some(frame) => Ok(frame),
            None => fail_malformed(self.pos, "no element is open"),
        }
    }

    fn start_tag(&mut self, text: &[u8], end: usize, empty: bool) -> Read<()> {
        let start = self.pos;
        let stop = end - if empty { 2 } else { 1 };
        let max_depth = self.builder.limits().max_depth as usize;
        if self.frames.len() >= max_depth {
            return fail(
                start,
                ErrorClass::Limit,
                Reason::limit(
                    format!("elements are nested deeper than {max_depth}"),
                    "max_depth",
                ),
            );
        }
        let name = xml::name(text, start + 1, stop)?;
        let mut attributes = std::mem::take(&mut self.attributes);
        let result = xml::read_attributes(text, name.end, stop, &mut attributes)
            .and_then(|()| self.open(text, name, &attributes));
        self.attributes = attributes;
        result?;
        if empty {
            self.close()?;
        }
        Ok(())
    }

    /// Opens an element.
    fn open(&mut self, text: &[u8], name: XmlName, attributes: &[Attribute]) -> Read<()> {
        self.read_values(text, attributes)?;
        let mut frame = self.frames.last().map_or(
            ElementFrame {
                state: ElementState::Rdf,
                ids: [NONE; IDS],
                name: 0,
                scope: 0,
                rendered: 0,
                base: self.outer_base,
                language: 0,
                direction: 0,
                li: 0,
            },
            |frame| ElementFrame {
                ids: [NONE; IDS],
                li: 0,
                ..*frame
            },
        );
        frame.name = self.open_names.len() as u32;
        frame.scope = self.scope.mark();
        frame.rendered = self.canonical.mark();
        self.bind(text, attributes)?;
        let Some(namespace) = self.scope.get(name.prefix(text)) else {
            if name.colon > name.start {
                return fail_malformed(
                    name.start,
                    format!(
                        "the prefix {} is not declared; xmlns:{} declares it",
                        quote(name.prefix(text)),
                        String::from_utf8_lossy(
                            &name.prefix(text)[..name.prefix(text).len().min(40)]
                        )
                    ),
                );
            }
            if self.is_in_markup() {
                return self.open_markup(text, name, attributes, frame);
            }
            return fail_malformed(
                name.start,
                format!(
                    "the element {} has no namespace; declare one with xmlns",
                    quote(name.whole(text))
                ),
            );
        };
        let length = namespace.len();
        if self.is_in_markup() {
            self.charge_repeated(length, name.start)?;
            return self.open_markup(text, name, attributes, frame);
        }
        let mut own = std::mem::take(&mut self.namespace);
        own.clear();
        own.extend_from_slice(namespace);
        let result = self
            .charge_repeated(length, name.start)
            .and_then(|()| self.open_rdf(text, name, &own, attributes, frame));
        self.namespace = own;
        result
    }

    /// Opens an element that is not inside an XML literal.
    fn open_rdf(
        &mut self,
        text: &[u8],
        name: XmlName,
        namespace: &[u8],
        attributes: &[Attribute],
        mut frame: ElementFrame,
    ) -> Read<()> {
        let local = name.local(text);
        if self.frames.is_empty() && local == b"TriX" && namespace.starts_with(TRIX) {
            return fail(
                name.start,
                ErrorClass::Unsupported,
                "TriX is not supported; convert it to TriG with Apache Jena",
            );
        }
        let mut rdf = RdfAttributes::default();
        self.read_attributes(text, attributes, &mut frame, &mut rdf)?;
        if self.frames.is_empty() && namespace == RDF && local == b"RDF" {
            let disallowed = [rdf.about, rdf.id, rdf.node_id, rdf.resource, rdf.datatype]
                .into_iter()
                .chain([rdf.parse_type, rdf.properties.first().copied()])
                .flatten()
                .next();
            if let Some(index) = disallowed {
                return fail_malformed(
                    attributes[index].name.start,
                    format!(
                        "the attribute {} is not allowed on rdf:RDF",
                        quote(attributes[index].name.whole(text))
                    ),
                );
            }
            frame.state = ElementState::Rdf;
        } else {
            match self.frames.last().map(|parent| parent.state) {
                Some(ElementState::Node) => {
                    self.begin_property(text, name, namespace, attributes, &rdf, &mut frame)?;
                }
                Some(ElementState::Full) => {
                    return fail_malformed(
                        name.start,
                        format!(
                            "the property already has an object; found the element {}",
                            quote(name.whole(text))
                        ),
                    );
                }
                _ => self.begin_node(text, name, namespace, attributes, &rdf, &mut frame)?,
            }
        }
        self.open_names.extend_from_slice(name.whole(text));
        self.frames.push(frame);
        Ok(())
    }

    // --- the end of elements ---

    fn end_tag(&mut self, text: &[u8], end: usize) -> Read<()> {
        let start = self.pos;
        let mut tag_name = &text[start + 2..end - 1];
        while let [rest @ .., last] = tag_name
            && is(*last, SPACE)
        {
            tag_name = rest;
        }
        let name = self.top_mut()?.name as usize;
        let open = &self.open_names[name..];
        if tag_name != open {
            return fail_malformed(
                start,
                format!(
                    "expected the end tag of {}, found the end tag of {}",
                    quote(open),
                    quote(tag_name)
                ),
            );
        }
        self.close()
    }

    /// Closes the innermost element.
    fn close(&mut self) -> Read<()> {
        let index = self.pos;
        let Some(frame) = self.frames.pop() else {
            return fail_malformed(index, "no element is open");
        };
        match frame.state {
            ElementState::Rdf | ElementState::Node | ElementState::Full => {}
            ElementState::Property => {
                let text = std::mem::take(&mut self.text);
                let datatype = Some(frame.ids[OBJECT]).filter(|&id| id != NONE);
                let object = self.add_text_term(&text, &frame, datatype, index);
                self.text = text;
                self.text.clear();
                self.state_property(frame, object?, index)?;
            }
            ElementState::Collection => {
                let nil = self.add_rdf_term(b"nil", index)?;
                if frame.ids[OBJECT] == NONE {
                    self.state_property(frame, nil, index)?;
                } else {
                    let rest = self.add_rdf_term(b"rest", index)?;
                    self.emit([frame.ids[OBJECT], rest, nil], index)?;
                }
            }
            ElementState::Triple => {
                let [.., subject, predicate, object] = frame.ids;
                if subject == NONE {
                    return fail_malformed(index, "rdf:parseType=\"Triple\" contains no triple");
                }
                let object = self.triple_term([subject, predicate, object], index)?;
                self.state_property(frame, object, index)?;
            }
            ElementState::Literal => self.close_literal(frame, index)?,
            ElementState::Markup => self.close_markup(&frame, index)?,
        }
        self.open_names.truncate(frame.name as usize);
        self.scope.undo_to(frame.scope);
        let (base, language) = self
            .frames
            .last()
            .map_or((self.outer_base, 0), |frame| (frame.base, frame.language));
        self.bases.truncate(base as usize);
        self.languages.truncate(language as usize);
        if self.frames.is_empty() {
            self.builder.end_message();
            self.forget_document();
            self.prolog = Prolog {
                after_document: true,
                ..Prolog::default()
            };
        }
        Ok(())
    }
}

/// Description of the allowed content in a state.
fn describe_expected(state: ElementState) -> &'static str {
    match state {
        ElementState::Rdf | ElementState::Collection | ElementState::Triple => "a node element",
        ElementState::Node => "a property element",
        ElementState::Full => "the end tag of the property",
        ElementState::Property | ElementState::Literal | ElementState::Markup => "content",
    }
}
