//! The grammar of RDF/XML as a push-down automaton: every token is a checkpoint.
//!
//! - In: text that is valid UTF-8, growing at its end ([`Machine::run`]).
//! - Out: quads, namespaces and message ends in the [`BatchBuilder`].
//! - Cost: linear in the text; memory holds a frame for each open element, the text of one property,
//!   and the `rdf:ID`s of the document, which are bounded.
//! - Law: nothing is rolled back and nothing recurses. A document is complete at its root's end tag.

use oxiri::Iri;
use rustc_hash::{FxHashMap, FxHashSet};

use super::canonical::Canonical;
use super::entities::{Entities, Place};
use super::scope::{Scope, rdf_name};
use super::terms::{QUAD, Terms, has_scheme};
use super::xml::{self, Attribute, Name, Read, Scan, Token, fault, is_nc_name, malformed, not_xml};
use super::{ITS, RDF, XML, XMLNS};
use crate::codec::DecodeOptions;
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::{self, SPACE, is};
use crate::model::error::{ErrorClass, LimitExceeded, quote};
use crate::model::namespaces::Namespaces;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, flags};
use crate::syntax::text::grammar::{Fault, Pause};

/// How often a byte of the log may be repeated by entities, namespaces, bases and languages, beyond
/// `max_message_bytes`. Documents as people write them stay below 10.
const MOST_REPEATS: u64 = 100;
/// Attributes from which on repeated names are looked for in a table.
const MANY_ATTRIBUTES: usize = 12;

/// What an element is, and so what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `rdf:RDF`: nodes.
    Rdf,
    /// A node, or a property with `parseType="Resource"`: properties.
    Node,
    /// A property: one node, or text.
    Property,
    /// A property whose object is known: nothing more.
    Full,
    /// A property with `parseType="Collection"`: nodes.
    Collection,
    /// A property with `parseType="Triple"`: a node with one property.
    Triple,
    /// A property with `parseType="Literal"`: any markup.
    Literal,
    /// An element of such markup.
    Markup,
}

/// The version that `rdf:version` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V11,
    V12Basic,
    V12,
}

// The terms that a frame holds; NONE until they are known.
/// Of a node: itself. Of a property: the node it belongs to.
const SUBJECT: usize = 0;
const PREDICATE: usize = 1;
/// Of a collection: the last cell. Of a property: its datatype.
const OBJECT: usize = 2;
/// What `rdf:ID` names on a property.
const STATEMENT: usize = 3;
/// What `rdf:annotation` names.
const ANNOTATION: usize = 4;
/// Of `parseType="Triple"`: the triple within, from here on.
const INNER: usize = 5;
const IDS: usize = INNER + 3;

const NONE: TermId = TermId::DEFAULT_GRAPH;

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Frame {
    state: State,
    ids: [TermId; IDS],
    /// Where its name begins in [`Machine::open_names`].
    name: u32,
    /// What its end goes back to.
    scope: u32,
    rendered: u32,
    /// Numbers of the base and the language in force; 0 is none.
    base: u32,
    language: u32,
    /// A flag of [`flags`].
    direction: u8,
    version: Version,
    /// The last number that `rdf:li` stood for.
    li: u64,
}

/// Where in a document, or between two, the machine is.
#[derive(Clone, Copy, Debug, Default)]
struct Prolog {
    /// A document was read before; the next stands on another line.
    after: bool,
    /// The line of that document ended.
    line_ended: bool,
    /// The XML declaration, a comment or a DOCTYPE of the next document was read.
    begun: bool,
    /// Its DOCTYPE was read.
    doctype: bool,
    /// Where it began.
    position: Option<u64>,
}

/// What the attributes of an element say, the values by their number in [`Machine::values`].
#[derive(Default)]
struct Said {
    about: Option<usize>,
    id: Option<usize>,
    node_id: Option<usize>,
    resource: Option<usize>,
    datatype: Option<usize>,
    parse_type: Option<usize>,
    annotation: Option<usize>,
    annotation_node_id: Option<usize>,
    /// `rdf:type` and all that are properties.
    properties: Vec<usize>,
}

/// The state of a log between two tokens.
pub(super) struct Machine {
    /// Index in the text of the next token.
    pub pos: usize,
    /// Byte in the log of the text's first byte.
    pub offset: u64,
    pub builder: BatchBuilder,
    lenient: bool,
    parts: bool,
    full: bool,
    /// Bytes that entities, namespaces, bases and languages repeated.
    repeated: u64,
    scan: Scan,
    prolog: Prolog,
    terms: Terms,
    entities: Entities,
    scope: Scope,
    /// The namespaces that roots declared, as the log's.
    declared: Namespaces,
    frames: Vec<Frame>,
    /// Names of the open elements.
    open_names: Vec<u8>,
    /// The bases in force; the first was given from outside, or is missing.
    bases: Vec<Iri<String>>,
    outer_base: u32,
    languages: Vec<Box<[u8]>>,
    /// Every `rdf:ID` of the document.
    ids: FxHashSet<Box<[u8]>>,
    ids_bytes: u64,
    /// The text of the property that is open.
    text: Vec<u8>,
    canonical: Canonical,
    attributes: Vec<Attribute>,
    /// The values of a tag's attributes, one after the other, and where each ends.
    values: Vec<u8>,
    value_ends: Vec<usize>,
    resolved: String,
    /// The namespace of the element that opens.
    namespace: Vec<u8>,
}

/// A limit of the builder as a fault at a byte.
#[cold]
#[allow(
    clippy::unnecessary_box_returns,
    reason = "faults are boxed everywhere"
)]
fn limit(at: usize, exceeded: LimitExceeded) -> Box<Fault> {
    Box::new(Fault {
        at,
        class: ErrorClass::Limit,
        reason: exceeded.0,
    })
}

impl Machine {
    /// At the start of a log.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub fn new(builder: BatchBuilder, options: &DecodeOptions) -> Result<Self, String> {
        let mut bases = Vec::new();
        if let Some(text) = &options.base {
            bases.push(Iri::parse(text.clone()).map_err(|error| {
                format!(
                    "base is not an absolute IRI: {} ({error})",
                    quote(text.as_bytes())
                )
            })?);
        }
        Ok(Self {
            pos: 0,
            offset: 0,
            builder,
            lenient: options.lenient,
            parts: options.parts,
            full: false,
            repeated: 0,
            scan: Scan::default(),
            prolog: Prolog::default(),
            terms: Terms::new(),
            entities: Entities::default(),
            scope: Scope::default(),
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
            values: Vec::new(),
            value_ends: Vec::new(),
            resolved: String::new(),
            namespace: Vec::new(),
        })
    }

    /// Goes to the start of another log.
    pub fn reset(&mut self) {
        self.pos = 0;
        self.offset = 0;
        self.builder.reset();
        self.full = false;
        self.repeated = 0;
        self.scan = Scan::default();
        self.prolog = Prolog::default();
        self.declared = Namespaces::default();
        self.frames.clear();
        self.open_names.clear();
        self.forget_document();
    }

    /// Forgets what belongs to one document.
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

    fn most(&self) -> u64 {
        self.builder.limits().max_message_bytes
    }

    /// Counts bytes that the document names once and uses again, so that a short log takes a short time.
    fn repeat(&mut self, bytes: usize, at: usize) -> Read<()> {
        self.repeated += bytes as u64;
        let read = self.offset + at as u64;
        let most = self.most().saturating_add(MOST_REPEATS * read);
        if self.repeated <= most {
            return Ok(());
        }
        fault(
            at,
            ErrorClass::Limit,
            format!(
                "entities, namespaces, bases and languages repeat more than {most} bytes in {read} of the log; \
                 raise max_message_bytes (--max-message-bytes) if the source is trusted"
            ),
        )
    }

    /// Reads on in `text` from [`Self::pos`] until something has to happen.
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
                Err(fault) => fault.at.saturating_sub(start),
            };
            if length as u64 > self.most() {
                return fault(
                    start,
                    ErrorClass::Limit,
                    format!(
                        "a text or tag is longer than {} bytes; raise max_message_bytes \
                         (--max-message-bytes) if the source is trusted",
                        self.most()
                    ),
                );
            }
            let Some((token, end)) = next? else {
                return self.pause(text, ended);
            };
            if self.frames.is_empty() {
                self.between(text, token, end)?;
            } else {
                self.within(text, token, end)?;
            }
            self.pos = end;
            self.full = if self.builder.is_open() {
                self.parts && self.builder.part_full()
            } else {
                self.builder.full()
            };
        }
    }

    /// Where the text ends.
    fn pause(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        if !ended {
            return Ok(Pause::Need);
        }
        if self.frames.is_empty() {
            let rest = &text[self.pos..];
            if rest.first() != Some(&b'<') {
                self.white_space(text, text.len())?;
                return if self.prolog.begun {
                    fault(
                        text.len(),
                        ErrorClass::Truncated,
                        "the log ends before the document's first element",
                    )
                } else {
                    Ok(Pause::Done)
                };
            }
            return fault(
                text.len(),
                ErrorClass::Truncated,
                "the log ends inside a tag or comment",
            );
        }
        let open = self.frames.last().map_or(0, |frame| frame.name as usize);
        fault(
            text.len(),
            ErrorClass::Truncated,
            format!(
                "the log ends before the end tag of {}",
                quote(&self.open_names[open..])
            ),
        )
    }

    /// Takes the open message's part; the terms of open elements move to the next batch.
    pub fn take_part(&mut self) -> MessageBatch {
        self.full = false;
        let batch = self.builder.take_part();
        self.move_frames(batch.table(), &mut FxHashMap::default());
        batch
    }

    /// The completed messages, if any. An open message moves to the next batch.
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

    // --- between documents ---

    /// A token outside every element.
    fn between(&mut self, text: &[u8], token: Token, end: usize) -> Read<()> {
        let start = self.pos;
        match token {
            Token::Text => return self.white_space(text, end),
            Token::Comment => return characters(text, start, end),
            Token::Instruction if !is_declaration(&text[start..end]) => {
                return characters(text, start, end);
            }
            Token::CData | Token::End => {
                return malformed(
                    start,
                    format!("expected a document, found {}", quote(&text[start..end])),
                );
            }
            Token::Instruction | Token::Doctype | Token::Start | Token::Empty => {}
        }
        if self.prolog.after && !self.prolog.line_ended {
            return malformed(
                start,
                "another document begins on the line of the one before; documents of a log stand on lines \
                 of their own",
            );
        }
        self.prolog
            .position
            .get_or_insert(self.offset + start as u64);
        match token {
            Token::Instruction => {
                if self.prolog.begun {
                    return malformed(
                        start,
                        "an XML declaration stands at the start of its document only",
                    );
                }
                self.prolog.begun = true;
                declaration(text, start, end)
            }
            Token::Doctype => {
                if self.prolog.doctype {
                    return malformed(start, "a document has one DOCTYPE");
                }
                self.prolog.begun = true;
                self.prolog.doctype = true;
                characters(text, start, end)?;
                let most = self.most();
                self.entities.declare(text, start, end, most)?;
                self.repeat(self.entities.bytes() as usize, start)
            }
            _ => {
                let position = self.prolog.position.unwrap_or_default();
                self.builder.begin_message(position);
                self.start_tag(text, end, token == Token::Empty)
            }
        }
    }

    /// What stands between documents, up to `end`.
    fn white_space(&mut self, text: &[u8], end: usize) -> Read<()> {
        let mut from = self.pos;
        if self.offset + from as u64 == 0 && text.starts_with("\u{feff}".as_bytes()) {
            from = 3;
        }
        for (at, &byte) in text[from..end].iter().enumerate() {
            if !is(byte, SPACE) {
                let found = quote(&text[from + at..end]);
                return malformed(
                    from + at,
                    format!("expected an XML document, which begins with '<', found {found}"),
                );
            }
            self.prolog.line_ended |= byte == b'\n' || byte == b'\r';
        }
        Ok(())
    }

    // --- within a document ---

    fn within(&mut self, text: &[u8], token: Token, end: usize) -> Read<()> {
        let start = self.pos;
        match token {
            Token::Start | Token::Empty => self.start_tag(text, end, token == Token::Empty),
            Token::End => self.end_tag(text, end),
            Token::Text => self.characters(text, (start, end), false),
            Token::CData => self.characters(text, (start + 9, end - 3), true),
            Token::Comment | Token::Instruction => {
                characters(text, start, end)?;
                if self.in_markup() {
                    let most = self.most();
                    Canonical::copy(&text[start..end], most, &mut self.text)
                        .map_err(|exceeded| limit(start, exceeded))?;
                }
                Ok(())
            }
            Token::Doctype => malformed(start, "a DOCTYPE stands before the first element only"),
        }
    }

    fn top(&mut self) -> Read<&mut Frame> {
        match self.frames.last_mut() {
            Some(frame) => Ok(frame),
            None => malformed(self.pos, "no element is open"),
        }
    }

    fn in_markup(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| matches!(frame.state, State::Literal | State::Markup))
    }

    /// Text or CDATA.
    fn characters(&mut self, text: &[u8], range: (usize, usize), cdata: bool) -> Read<()> {
        let most = self.most();
        let (start, end) = range;
        let state = self.top()?.state;
        if !cdata && let Some(at) = memchr::memmem::find(&text[start..end], b"]]>") {
            return malformed(start + at, "']]>' in a text is written ]]&gt;");
        }
        if matches!(state, State::Property | State::Literal | State::Markup) {
            let length = self.text.len();
            if cdata {
                self.verbatim(text, range)?;
            } else {
                let repeated =
                    self.entities
                        .expand(text, range, Place::Content, most, &mut self.text)?;
                self.repeat(repeated, start)?;
            }
            if state == State::Property {
                return Ok(());
            }
            return Canonical::escape_from(length, most, &mut self.text)
                .map_err(|exceeded| limit(start, exceeded));
        }
        let mut from = start;
        if !cdata {
            // A reference may stand for a space.
            while from < end && is(text[from], SPACE) {
                from += 1;
            }
            if from == end {
                return Ok(());
            }
            self.text.clear();
            let range = (from, end);
            let repeated =
                self.entities
                    .expand(text, range, Place::Content, most, &mut self.text)?;
            self.repeat(repeated, start)?;
            let blank = self.text.iter().all(|&byte| is(byte, SPACE));
            self.text.clear();
            if blank {
                return Ok(());
            }
        }
        malformed(
            from,
            format!(
                "text stands where {} expected, found {}",
                expected(state),
                quote(&text[from..end])
            ),
        )
    }

    /// Appends what stands in CDATA.
    fn verbatim(&mut self, text: &[u8], (start, end): (usize, usize)) -> Read<()> {
        characters(text, start, end)?;
        if (self.text.len() + end - start) as u64 > self.most() {
            let most = self.most();
            return fault(
                start,
                ErrorClass::Limit,
                format!(
                    "a text is longer than {most} bytes; raise max_message_bytes (--max-message-bytes) if the source is trusted"
                ),
            );
        }
        let mut at = start;
        while at < end {
            let length = memchr::memchr(b'\r', &text[at..end]).unwrap_or(end - at);
            self.text.extend_from_slice(&text[at..at + length]);
            at += length;
            if at < end {
                self.text.push(b'\n');
                at += 1 + usize::from(at + 1 < end && text[at + 1] == b'\n');
            }
        }
        Ok(())
    }

    fn start_tag(&mut self, text: &[u8], end: usize, empty: bool) -> Read<()> {
        let start = self.pos;
        let stop = end - if empty { 2 } else { 1 };
        let max_depth = self.builder.limits().max_depth as usize;
        if self.frames.len() >= max_depth {
            return fault(
                start,
                ErrorClass::Limit,
                format!(
                    "elements are nested deeper than {max_depth}; raise max_depth (--max-depth) if the \
                     source is trusted"
                ),
            );
        }
        let name = xml::name(text, start + 1, stop)?;
        let mut attributes = std::mem::take(&mut self.attributes);
        let result = xml::attributes(text, name.end, stop, &mut attributes)
            .and_then(|()| self.open(text, name, &attributes));
        self.attributes = attributes;
        result?;
        if empty {
            self.close()?;
        }
        Ok(())
    }

    /// Opens an element.
    fn open(&mut self, text: &[u8], name: Name, attributes: &[Attribute]) -> Read<()> {
        self.read_values(text, attributes)?;
        let mut frame = self.frames.last().map_or(
            Frame {
                state: State::Rdf,
                ids: [NONE; IDS],
                name: 0,
                scope: 0,
                rendered: 0,
                base: self.outer_base,
                language: 0,
                direction: 0,
                version: Version::V11,
                li: 0,
            },
            |frame| Frame {
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
                return malformed(
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
            if self.in_markup() {
                return self.open_markup(text, name, attributes, frame);
            }
            return malformed(
                name.start,
                format!(
                    "the element {} is in no namespace, and so names nothing; declare one with xmlns",
                    quote(name.whole(text))
                ),
            );
        };
        let length = namespace.len();
        if self.in_markup() {
            self.repeat(length, name.start)?;
            return self.open_markup(text, name, attributes, frame);
        }
        let mut own = std::mem::take(&mut self.namespace);
        own.clear();
        own.extend_from_slice(namespace);
        let result = self
            .repeat(length, name.start)
            .and_then(|()| self.open_rdf(text, name, &own, attributes, frame));
        self.namespace = own;
        result
    }

    /// Opens an element of RDF in a namespace.
    fn open_rdf(
        &mut self,
        text: &[u8],
        name: Name,
        namespace: &[u8],
        attributes: &[Attribute],
        mut frame: Frame,
    ) -> Read<()> {
        let local = name.local(text);
        let mut said = Said::default();
        self.read_attributes(text, attributes, &mut frame, &mut said)?;
        if self.frames.is_empty() && namespace == RDF && local == b"RDF" {
            let strange = [
                said.about,
                said.id,
                said.node_id,
                said.resource,
                said.datatype,
            ]
            .into_iter()
            .chain([said.parse_type, said.properties.first().copied()])
            .flatten()
            .next();
            if let Some(at) = strange {
                return malformed(
                    attributes[at].name.start,
                    format!(
                        "the attribute {} does not belong on rdf:RDF",
                        quote(attributes[at].name.whole(text))
                    ),
                );
            }
            frame.state = State::Rdf;
        } else {
            match self.frames.last().map(|parent| parent.state) {
                Some(State::Node) => {
                    self.property(text, name, namespace, attributes, &said, &mut frame)?;
                }
                Some(State::Full) => {
                    return malformed(
                        name.start,
                        format!(
                            "the property has its object already; found the element {}",
                            quote(name.whole(text))
                        ),
                    );
                }
                _ => self.node(text, name, namespace, attributes, &said, &mut frame)?,
            }
        }
        self.open_names.extend_from_slice(name.whole(text));
        self.frames.push(frame);
        Ok(())
    }

    /// Decodes the values of a tag's attributes, and refuses names that stand twice.
    fn read_values(&mut self, text: &[u8], attributes: &[Attribute]) -> Read<()> {
        let most = self.most();
        self.values.clear();
        self.value_ends.clear();
        let mut names = FxHashSet::default();
        for (at, attribute) in attributes.iter().enumerate() {
            let name = attribute.name.whole(text);
            let twice = if attributes.len() > MANY_ATTRIBUTES {
                !names.insert(name)
            } else {
                attributes[..at]
                    .iter()
                    .any(|other| other.name.whole(text) == name)
            };
            if twice {
                return malformed(
                    attribute.name.start,
                    format!("the attribute {} stands twice in a tag", quote(name)),
                );
            }
            let range = attribute.value;
            let repeated =
                self.entities
                    .expand(text, range, Place::Attribute, most, &mut self.values)?;
            self.repeat(repeated, attribute.name.start)?;
            self.value_ends.push(self.values.len());
        }
        Ok(())
    }

    fn value(&self, at: usize) -> &[u8] {
        let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
        &self.values[from..self.value_ends[at]]
    }

    /// Binds the prefixes that a tag declares.
    fn bind(&mut self, text: &[u8], attributes: &[Attribute]) -> Read<()> {
        let root = self.frames.is_empty();
        for (at, attribute) in attributes.iter().enumerate() {
            let name = attribute.name;
            let prefix = match (name.prefix(text), name.local(text)) {
                (b"", b"xmlns") => &b""[..],
                (b"xmlns", local) => local,
                _ => continue,
            };
            let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
            let iri = &self.values[from..self.value_ends[at]];
            if prefix == b"xmlns"
                || (prefix == b"xml") != (iri == XML)
                || iri == XMLNS
                || (iri.is_empty() && !prefix.is_empty())
            {
                return malformed(
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
            if self.scope.bytes() + (2 * prefix.len() + iri.len() + 64) as u64 > self.most() {
                let most = self.most();
                return fault(
                    name.start,
                    ErrorClass::Limit,
                    format!(
                        "the namespaces take more than {most} bytes; raise max_message_bytes \
                         (--max-message-bytes) if the source is trusted"
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

    /// Sorts the attributes of an element of RDF, and takes those that hold for all within.
    fn read_attributes(
        &mut self,
        text: &[u8],
        attributes: &[Attribute],
        frame: &mut Frame,
        said: &mut Said,
    ) -> Read<()> {
        let mut direction = None;
        for (at, attribute) in attributes.iter().enumerate() {
            let name = attribute.name;
            let (prefix, local) = (name.prefix(text), name.local(text));
            if prefix == b"xml" {
                match local {
                    b"lang" => frame.language = self.language(at, name.start)?,
                    b"base" => frame.base = self.base(at, frame.base, name.start)?,
                    _ => {}
                }
                continue;
            }
            if name.whole(text).starts_with(b"xml") {
                continue; // xmlns, and what XML keeps for itself
            }
            let rdf = if prefix.is_empty() {
                match local {
                    b"about" | b"ID" | b"resource" | b"parseType" | b"type" => Some(local),
                    _ => {
                        return malformed(
                            name.start,
                            format!(
                                "the attribute {} has no prefix, and so names nothing",
                                quote(local)
                            ),
                        );
                    }
                }
            } else {
                let Some(namespace) = self.scope.get(prefix) else {
                    return malformed(
                        name.start,
                        format!("the prefix {} is not declared", quote(prefix)),
                    );
                };
                if namespace == ITS {
                    if local == b"dir" {
                        direction = Some(at);
                    }
                    if matches!(local, b"dir" | b"version") {
                        continue;
                    }
                }
                rdf_name(namespace, local)
            };
            let slot = match rdf {
                Some(b"about") => &mut said.about,
                Some(b"ID") => &mut said.id,
                Some(b"nodeID") => &mut said.node_id,
                Some(b"resource") => &mut said.resource,
                Some(b"datatype") => &mut said.datatype,
                Some(b"parseType") => &mut said.parse_type,
                Some(b"annotation") => &mut said.annotation,
                Some(b"annotationNodeID") => &mut said.annotation_node_id,
                Some(b"version") => {
                    frame.version = self.version(at, name.start)?;
                    continue;
                }
                Some(
                    b"RDF" | b"Description" | b"li" | b"aboutEach" | b"aboutEachPrefix" | b"bagID",
                ) => {
                    return malformed(
                        name.start,
                        format!("{} is no attribute of RDF/XML", quote(name.whole(text))),
                    );
                }
                _ => {
                    said.properties.push(at);
                    continue;
                }
            };
            if slot.replace(at).is_some() {
                return malformed(
                    name.start,
                    format!("the attribute {} stands twice in a tag", quote(local)),
                );
            }
        }
        if let Some(at) = direction
            && frame.version != Version::V11
        {
            frame.direction = match self.value(at) {
                b"ltr" => flags::LTR,
                b"rtl" => flags::RTL,
                other => {
                    return malformed(
                        attributes[at].name.start,
                        format!("its:dir is 'ltr' or 'rtl', not {}", quote(other)),
                    );
                }
            };
        }
        Ok(())
    }

    fn version(&self, at: usize, place: usize) -> Read<Version> {
        match self.value(at) {
            b"1.1" => Ok(Version::V11),
            b"1.2-basic" => Ok(Version::V12Basic),
            b"1.2" => Ok(Version::V12),
            other => fault(
                place,
                ErrorClass::Unsupported,
                format!(
                    "rdf:version is '1.1', '1.2' or '1.2-basic', not {}",
                    quote(other)
                ),
            ),
        }
    }

    /// The number of the language of an `xml:lang`; the empty one ends any.
    fn language(&mut self, at: usize, place: usize) -> Read<u32> {
        let tag = self.value(at);
        if !tag.is_empty() && !chars::is_language_tag(tag) {
            return malformed(place, chars::no_language_tag(tag));
        }
        let tag: Box<[u8]> = tag.into();
        let bytes: usize = self.languages.iter().map(|tag| tag.len()).sum();
        if (bytes + tag.len()) as u64 > self.most() {
            let most = self.most();
            return fault(
                place,
                ErrorClass::Limit,
                format!(
                    "the languages are longer than {most} bytes; raise max_message_bytes (--max-message-bytes) if the source is trusted"
                ),
            );
        }
        self.languages.push(tag);
        Ok(self.languages.len() as u32)
    }

    /// The number of the base of an `xml:base`.
    fn base(&mut self, at: usize, outer: u32, place: usize) -> Read<u32> {
        let text = String::from_utf8_lossy(self.value(at)).into_owned();
        let resolved = match outer
            .checked_sub(1)
            .and_then(|at| self.bases.get(at as usize))
        {
            Some(base) => base.resolve(&text),
            None => Iri::parse(text.clone()),
        };
        match resolved {
            Ok(base) => {
                self.repeat(base.as_str().len(), place)?;
                let bytes: usize = self.bases.iter().map(|base| base.as_str().len()).sum();
                if (bytes + base.as_str().len()) as u64 > self.most() {
                    let most = self.most();
                    return fault(
                        place,
                        ErrorClass::Limit,
                        format!(
                            "the bases are longer than {most} bytes; raise max_message_bytes (--max-message-bytes) if the source is trusted"
                        ),
                    );
                }
                self.bases.push(base);
                Ok(self.bases.len() as u32)
            }
            Err(error) => malformed(
                place,
                format!(
                    "the base {} is not a valid absolute IRI ({error})",
                    quote(text.as_bytes())
                ),
            ),
        }
    }

    // --- nodes and properties ---

    fn node(
        &mut self,
        text: &[u8],
        name: Name,
        namespace: &[u8],
        attributes: &[Attribute],
        said: &Said,
        frame: &mut Frame,
    ) -> Read<()> {
        let local = name.local(text);
        let rdf = rdf_name(namespace, local);
        if matches!(rdf, Some(core) if is_core(core) || core == b"li") {
            return malformed(
                name.start,
                format!("{} is no node of RDF/XML", quote(name.whole(text))),
            );
        }
        let misplaced = [
            said.resource,
            said.datatype,
            said.parse_type,
            said.annotation,
            said.annotation_node_id,
        ];
        if let Some(&at) = misplaced.iter().flatten().next() {
            return malformed(
                attributes[at].name.start,
                format!(
                    "the attribute {} belongs on a property, and {} is a node",
                    quote(attributes[at].name.whole(text)),
                    quote(name.whole(text))
                ),
            );
        }
        let given = [said.about, said.id, said.node_id];
        if given.iter().flatten().count() > 1 {
            return malformed(
                name.start,
                "a node has one of rdf:about, rdf:ID and rdf:nodeID",
            );
        }
        let subject = if let Some(at) = said.about {
            self.reference(at, frame.base, attributes[at].name.start)?
        } else if let Some(at) = said.id {
            self.id(at, frame.base, attributes[at].name.start)?
        } else if let Some(at) = said.node_id {
            self.label(at, attributes[at].name.start)?
        } else {
            self.terms
                .anonymous(&mut self.builder)
                .map_err(|exceeded| limit(name.start, exceeded))?
        };
        frame.state = State::Node;
        frame.ids[SUBJECT] = subject;
        self.belongs(subject, name.start)?;
        if rdf != Some(b"Description") {
            let class = self.name_term(namespace, local, name.start)?;
            let predicate = self.rdf_term(b"type", name.start)?;
            self.emit([subject, predicate, class], name.start)?;
        }
        self.property_attributes(text, attributes, said, subject, frame)
    }

    /// Says what a new node is to the element that it stands in.
    fn belongs(&mut self, node: TermId, at: usize) -> Read<()> {
        let Some(parent) = self.frames.last().copied() else {
            return Ok(());
        };
        match parent.state {
            State::Property => {
                if !self.text.iter().all(|&byte| is(byte, SPACE)) {
                    return malformed(at, "a property holds text or a node, not both");
                }
                self.text.clear();
                if parent.ids[OBJECT] != NONE {
                    return malformed(at, "a property with rdf:datatype holds text, not a node");
                }
                self.top()?.state = State::Full;
                self.state_property(parent, node, at)
            }
            State::Collection => {
                let cell = self
                    .terms
                    .anonymous(&mut self.builder)
                    .map_err(|exceeded| limit(at, exceeded))?;
                if parent.ids[OBJECT] == NONE {
                    self.state_property(parent, cell, at)?;
                } else {
                    let rest = self.rdf_term(b"rest", at)?;
                    self.emit([parent.ids[OBJECT], rest, cell], at)?;
                }
                self.top()?.ids[OBJECT] = cell;
                let first = self.rdf_term(b"first", at)?;
                self.emit([cell, first, node], at)
            }
            _ => Ok(()),
        }
    }

    fn property(
        &mut self,
        text: &[u8],
        name: Name,
        namespace: &[u8],
        attributes: &[Attribute],
        said: &Said,
        frame: &mut Frame,
    ) -> Read<()> {
        let local = name.local(text);
        let rdf = rdf_name(namespace, local);
        if matches!(rdf, Some(core) if is_core(core) || core == b"Description") {
            return malformed(
                name.start,
                format!("{} is no property of RDF/XML", quote(name.whole(text))),
            );
        }
        let subject = self.top()?.ids[SUBJECT];
        frame.ids[SUBJECT] = subject;
        frame.ids[PREDICATE] = if rdf == Some(b"li") {
            let node = self.top()?;
            node.li += 1;
            let number = format!("_{}", node.li);
            self.name_term(namespace, number.as_bytes(), name.start)?
        } else {
            self.name_term(namespace, local, name.start)?
        };
        if let Some(at) = said.about {
            return malformed(
                attributes[at].name.start,
                format!(
                    "rdf:about belongs on a node, and {} is a property",
                    quote(name.whole(text))
                ),
            );
        }
        if let Some(at) = said.id {
            frame.ids[STATEMENT] = self.id(at, frame.base, attributes[at].name.start)?;
        }
        frame.ids[ANNOTATION] = match (said.annotation, said.annotation_node_id) {
            (None, None) => NONE,
            (Some(at), None) => self.reference(at, frame.base, attributes[at].name.start)?,
            (None, Some(at)) => self.label(at, attributes[at].name.start)?,
            (Some(_), Some(at)) => {
                return malformed(
                    attributes[at].name.start,
                    "a property has one of rdf:annotation and rdf:annotationNodeID",
                );
            }
        };
        let object = [said.resource, said.node_id];
        let described = object.iter().flatten().next().is_some() || !said.properties.is_empty();
        if let Some(at) = said.parse_type {
            if described || said.datatype.is_some() {
                return malformed(
                    attributes[at].name.start,
                    "rdf:parseType stands with no attribute that says what the object is",
                );
            }
            return self.parse_type(at, name.start, frame);
        }
        if let Some(at) = said.datatype {
            if described {
                return malformed(
                    attributes[at].name.start,
                    "rdf:datatype stands with no attribute that says what the object is",
                );
            }
            frame.ids[OBJECT] = self.reference(at, frame.base, attributes[at].name.start)?;
        }
        self.text.clear();
        frame.state = State::Property;
        if !described {
            return Ok(());
        }
        let object = match (said.resource, said.node_id) {
            (Some(at), None) => self.reference(at, frame.base, attributes[at].name.start)?,
            (None, Some(at)) => self.label(at, attributes[at].name.start)?,
            (None, None) => self
                .terms
                .anonymous(&mut self.builder)
                .map_err(|exceeded| limit(name.start, exceeded))?,
            (Some(_), Some(at)) => {
                return malformed(
                    attributes[at].name.start,
                    "a property has one of rdf:resource and rdf:nodeID",
                );
            }
        };
        frame.state = State::Full;
        self.state_property(*frame, object, name.start)?;
        self.property_attributes(text, attributes, said, object, frame)
    }

    fn parse_type(&mut self, at: usize, place: usize, frame: &mut Frame) -> Read<()> {
        match self.value(at) {
            b"Resource" => {
                let object = self
                    .terms
                    .anonymous(&mut self.builder)
                    .map_err(|exceeded| limit(place, exceeded))?;
                self.state_property(*frame, object, place)?;
                frame.ids = [NONE; IDS];
                frame.ids[SUBJECT] = object;
                frame.state = State::Node;
            }
            b"Collection" => frame.state = State::Collection,
            b"Triple" => frame.state = State::Triple,
            _ => {
                frame.state = State::Literal;
                self.text.clear();
            }
        }
        Ok(())
    }

    /// The quads of attributes that are properties of a node.
    fn property_attributes(
        &mut self,
        text: &[u8],
        attributes: &[Attribute],
        said: &Said,
        node: TermId,
        frame: &Frame,
    ) -> Read<()> {
        for &at in &said.properties {
            let name = attributes[at].name;
            let (prefix, local) = (name.prefix(text), name.local(text));
            let namespace: Box<[u8]> = if prefix.is_empty() {
                RDF.into()
            } else {
                self.scope.get(prefix).unwrap_or_default().into()
            };
            self.repeat(namespace.len(), name.start)?;
            let predicate = self.name_term(&namespace, local, name.start)?;
            let object = if rdf_name(&namespace, local) == Some(b"type") {
                self.reference(at, frame.base, name.start)?
            } else {
                let value = std::mem::take(&mut self.values);
                let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
                let text = &value[from..self.value_ends[at]];
                let object = self.text_term(text, frame, None, name.start);
                self.values = value;
                object?
            };
            self.emit([node, predicate, object], name.start)?;
        }
        Ok(())
    }

    /// A literal with the language in force, or with a datatype.
    fn text_term(
        &mut self,
        text: &[u8],
        frame: &Frame,
        datatype: Option<TermId>,
        at: usize,
    ) -> Read<TermId> {
        let language = frame
            .language
            .checked_sub(1)
            .and_then(|at| self.languages.get(at as usize))
            .filter(|tag| datatype.is_none() && !tag.is_empty());
        let Some(tag) = language else {
            return Terms::literal(&mut self.builder, text, datatype)
                .map_err(|exceeded| limit(at, exceeded));
        };
        let length = tag.len();
        let literal = self
            .terms
            .tagged(&mut self.builder, text, tag, frame.direction)
            .map_err(|exceeded| limit(at, exceeded))?;
        self.repeat(length, at)?;
        Ok(literal)
    }

    /// The term of an element's or attribute's name.
    fn name_term(&mut self, namespace: &[u8], local: &[u8], at: usize) -> Read<TermId> {
        if !self.lenient && (!has_scheme(namespace) || !chars::is_iri_text(namespace)) {
            return malformed(
                at,
                format!(
                    "the namespace {} is not an absolute IRI; lenient (--lenient) takes it as it is",
                    quote(namespace)
                ),
            );
        }
        self.terms
            .iri(&mut self.builder, namespace, local)
            .map_err(|exceeded| limit(at, exceeded))
    }

    fn rdf_term(&mut self, local: &[u8], at: usize) -> Read<TermId> {
        self.terms
            .iri(&mut self.builder, RDF, local)
            .map_err(|exceeded| limit(at, exceeded))
    }

    /// The IRI that an attribute refers to.
    fn reference(&mut self, at: usize, base: u32, place: usize) -> Read<TermId> {
        let values = std::mem::take(&mut self.values);
        let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
        let result = self.resolve(&values[from..self.value_ends[at]], base, place);
        self.values = values;
        result
    }

    /// The IRI of a reference.
    fn resolve(&mut self, text: &[u8], base: u32, place: usize) -> Read<TermId> {
        let whole = |machine: &mut Self| {
            machine
                .terms
                .iri(&mut machine.builder, b"", text)
                .map_err(|exceeded| limit(place, exceeded))
        };
        if !chars::is_iri_text(text) {
            if self.lenient {
                return whole(self);
            }
            return malformed(
                place,
                format!(
                    "{} has characters that an IRI cannot have; lenient (--lenient) takes it as it is",
                    quote(text)
                ),
            );
        }
        if has_scheme(text) {
            return whole(self);
        }
        let Some(base) = base
            .checked_sub(1)
            .and_then(|at| self.bases.get(at as usize))
        else {
            if self.lenient {
                return whole(self);
            }
            return malformed(
                place,
                format!(
                    "the relative IRI {} needs a base; give base (--base IRI), or pass lenient=True (--lenient) \
                     to keep it as it is",
                    quote(text)
                ),
            );
        };
        // The text is valid UTF-8, so this cannot fail.
        let relative = std::str::from_utf8(text).unwrap_or_default();
        self.resolved.clear();
        if let Err(error) = base.resolve_into(relative, &mut self.resolved) {
            if self.lenient {
                return whole(self);
            }
            return malformed(
                place,
                format!("{} is not a valid relative IRI ({error})", quote(text)),
            );
        }
        self.repeat(self.resolved.len(), place)?;
        self.terms
            .iri(&mut self.builder, b"", self.resolved.as_bytes())
            .map_err(|exceeded| limit(place, exceeded))
    }

    /// The IRI that an `rdf:ID` names, which no other of the document may name.
    fn id(&mut self, at: usize, base: u32, place: usize) -> Read<TermId> {
        let value = self.value(at);
        if !is_nc_name(value) {
            return malformed(place, format!("rdf:ID is a name, not {}", quote(value)));
        }
        let reference = [b"#", value].concat();
        let id = self.resolve(&reference, base, place)?;
        if self.lenient {
            return Ok(id);
        }
        let iri = self.builder.table().text(id);
        self.ids_bytes += (iri.len() + 64) as u64;
        if self.ids_bytes > self.most() {
            let most = self.most();
            return fault(
                place,
                ErrorClass::Limit,
                format!(
                    "the rdf:IDs of the document take more than {most} bytes; raise max_message_bytes \
                     (--max-message-bytes), or pass lenient=True (--lenient) to take repeated ones"
                ),
            );
        }
        if !self.ids.insert(iri.into()) {
            return malformed(
                place,
                format!(
                    "the rdf:ID {} stands twice in the document; lenient (--lenient) takes it",
                    quote(&reference[1..])
                ),
            );
        }
        Ok(id)
    }

    /// The blank node of an `rdf:nodeID`.
    fn label(&mut self, at: usize, place: usize) -> Read<TermId> {
        let values = std::mem::take(&mut self.values);
        let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
        let label = &values[from..self.value_ends[at]];
        let result = if is_nc_name(label) {
            self.terms
                .bnode(&mut self.builder, label)
                .map_err(|exceeded| limit(place, exceeded))
        } else {
            malformed(place, format!("rdf:nodeID is a name, not {}", quote(label)))
        };
        self.values = values;
        result
    }

    /// The quads of a property, now that its object is known.
    fn state_property(&mut self, property: Frame, object: TermId, at: usize) -> Read<()> {
        let [subject, predicate] = [property.ids[SUBJECT], property.ids[PREDICATE]];
        self.emit([subject, predicate, object], at)?;
        let statement = property.ids[STATEMENT];
        if statement != NONE {
            let class = self.rdf_term(b"Statement", at)?;
            for (name, value) in [
                (&b"type"[..], class),
                (b"subject", subject),
                (b"predicate", predicate),
                (b"object", object),
            ] {
                let name = self.rdf_term(name, at)?;
                self.emit([statement, name, value], at)?;
            }
        }
        if property.ids[ANNOTATION] != NONE {
            let reifies = self.rdf_term(b"reifies", at)?;
            let triple = self.triple_term([subject, predicate, object], at)?;
            self.emit([property.ids[ANNOTATION], reifies, triple], at)?;
        }
        Ok(())
    }

    fn triple_term(&mut self, triple: [TermId; 3], at: usize) -> Read<TermId> {
        self.builder
            .charge(12 + QUAD)
            .map_err(|exceeded| limit(at, exceeded))?;
        Ok(self.builder.push_triple_term(triple))
    }

    /// Says a triple; within `parseType="Triple"`, that is what it holds.
    fn emit(&mut self, [subject, predicate, object]: [TermId; 3], at: usize) -> Read<()> {
        let around = self
            .frames
            .iter_mut()
            .rev()
            .find(|frame| frame.state == State::Triple);
        if let Some(around) = around {
            if around.version != Version::V12 {
                return Ok(()); // such a property says nothing before RDF 1.2
            }
            if around.ids[INNER] != NONE {
                return malformed(
                    at,
                    "rdf:parseType=\"Triple\" holds one triple, found another",
                );
            }
            around.ids[INNER..].copy_from_slice(&[subject, predicate, object]);
            return Ok(());
        }
        self.builder
            .charge(QUAD)
            .map_err(|exceeded| limit(at, exceeded))?;
        self.builder.push_quad(Quad {
            subject,
            predicate,
            object,
            graph: NONE,
        });
        Ok(())
    }

    // --- the end of elements ---

    fn end_tag(&mut self, text: &[u8], end: usize) -> Read<()> {
        let start = self.pos;
        let mut found = &text[start + 2..end - 1];
        while let [rest @ .., last] = found
            && is(*last, SPACE)
        {
            found = rest;
        }
        let name = self.top()?.name as usize;
        let open = &self.open_names[name..];
        if found != open {
            return malformed(
                start,
                format!(
                    "expected the end tag of {}, found the one of {}",
                    quote(open),
                    quote(found)
                ),
            );
        }
        self.close()
    }

    /// Closes the innermost element.
    fn close(&mut self) -> Read<()> {
        let at = self.pos;
        let Some(frame) = self.frames.pop() else {
            return malformed(at, "no element is open");
        };
        match frame.state {
            State::Rdf | State::Node | State::Full => {}
            State::Property => {
                let text = std::mem::take(&mut self.text);
                let datatype = Some(frame.ids[OBJECT]).filter(|&id| id != NONE);
                let object = self.text_term(&text, &frame, datatype, at);
                self.text = text;
                self.text.clear();
                self.state_property(frame, object?, at)?;
            }
            State::Collection => {
                let nil = self.rdf_term(b"nil", at)?;
                if frame.ids[OBJECT] == NONE {
                    self.state_property(frame, nil, at)?;
                } else {
                    let rest = self.rdf_term(b"rest", at)?;
                    self.emit([frame.ids[OBJECT], rest, nil], at)?;
                }
            }
            State::Triple => {
                if frame.version == Version::V12 {
                    let [.., subject, predicate, object] = frame.ids;
                    if subject == NONE {
                        return malformed(at, "rdf:parseType=\"Triple\" holds no triple");
                    }
                    let object = self.triple_term([subject, predicate, object], at)?;
                    self.state_property(frame, object, at)?;
                }
            }
            State::Literal => {
                let datatype = self.rdf_term(b"XMLLiteral", at)?;
                let text = std::mem::take(&mut self.text);
                let object = Terms::literal(&mut self.builder, &text, Some(datatype));
                self.text = text;
                self.text.clear();
                let object = object.map_err(|exceeded| limit(at, exceeded))?;
                self.state_property(frame, object, at)?;
            }
            State::Markup => {
                let most = self.most();
                let name = &self.open_names[frame.name as usize..];
                self.canonical
                    .end(name, frame.rendered, most, &mut self.text)
                    .map_err(|exceeded| limit(at, exceeded))?;
            }
        }
        self.open_names.truncate(frame.name as usize);
        self.scope.back(frame.scope);
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
                after: true,
                ..Prolog::default()
            };
        }
        Ok(())
    }

    /// Opens an element of an XML literal.
    fn open_markup(
        &mut self,
        text: &[u8],
        name: Name,
        attributes: &[Attribute],
        mut frame: Frame,
    ) -> Read<()> {
        frame.state = State::Markup;
        for attribute in attributes {
            // Namespaces are compared to put attributes in order.
            let namespace = self.scope.get(attribute.name.prefix(text));
            let length = namespace.map_or(0, <[u8]>::len);
            self.repeat(length, attribute.name.start)?;
        }
        let values: Vec<&[u8]> = (0..attributes.len())
            .map(|at| {
                let from = if at == 0 { 0 } else { self.value_ends[at - 1] };
                &self.values[from..self.value_ends[at]]
            })
            .collect();
        let most = self.builder.limits().max_message_bytes;
        self.canonical.start(
            text,
            name,
            attributes,
            &values,
            &self.scope,
            most,
            &mut self.text,
        )?;
        self.open_names.extend_from_slice(name.whole(text));
        self.frames.push(frame);
        Ok(())
    }
}

/// Refuses characters that XML cannot hold.
fn characters(text: &[u8], start: usize, end: usize) -> Read<()> {
    match not_xml(&text[start..end]) {
        None => Ok(()),
        Some(at) => malformed(
            start + at,
            format!(
                "XML holds no character {}",
                xml::code_point(&text[start + at..end])
            ),
        ),
    }
}

/// What an element of a state may hold.
fn expected(state: State) -> &'static str {
    match state {
        State::Rdf | State::Collection | State::Triple => "a node is",
        State::Node => "a property is",
        State::Full => "nothing more is",
        State::Property | State::Literal | State::Markup => "anything is",
    }
}

/// Whether a name of RDF's namespace is part of the syntax, and no node or property.
fn is_core(local: &[u8]) -> bool {
    matches!(
        local,
        b"RDF"
            | b"ID"
            | b"about"
            | b"parseType"
            | b"resource"
            | b"nodeID"
            | b"datatype"
            | b"aboutEach"
            | b"aboutEachPrefix"
            | b"bagID"
    )
}

/// Whether an instruction is an XML declaration.
fn is_declaration(token: &[u8]) -> bool {
    token.starts_with(b"<?xml") && token.get(5).is_some_and(|&byte| is(byte, SPACE))
}

/// Checks an XML declaration: the encoding has to be UTF-8.
fn declaration(text: &[u8], start: usize, end: usize) -> Read<()> {
    let mut attributes = Vec::new();
    xml::attributes(text, start + 5, end - 2, &mut attributes)?;
    for attribute in &attributes {
        let value = &text[attribute.value.0..attribute.value.1];
        let known = ["utf-8", "utf8", "us-ascii", "ascii"];
        if attribute.name.whole(text) == b"encoding"
            && !known
                .iter()
                .any(|name| value.eq_ignore_ascii_case(name.as_bytes()))
        {
            let shown = quote(value);
            return fault(
                attribute.name.start,
                ErrorClass::Unsupported,
                format!(
                    "the document is in the encoding {shown}; convert it to UTF-8 first (iconv -f {} -t UTF-8) \
                     and leave the encoding out",
                    shown.trim_matches('\'')
                ),
            );
        }
    }
    Ok(())
}
