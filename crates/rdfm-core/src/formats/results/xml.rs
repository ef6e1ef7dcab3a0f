//! Decoder for result sets in XML (SPARQL 1.1 and 1.2 Query Results XML Format).
//!
//! - In: validated text, which arrives in pieces and is read token by token.
//! - Out: one message per `result` element; for ASK, the answer in the head.
//! - Cost: linear; memory is bounded by one row and the names of the open elements.
//! - Law: elements of other namespaces are skipped with their content; a DOCTYPE is rejected.

use super::json::find_literal_kind;
use super::rows::{ResultLiteralKind, RowBuilder};
use crate::codec::Decoder;
use crate::codec::options::limits;
use crate::codec::values::Values;
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::chars::{BOM, SPACE, is};
use crate::model::error::{ErrorClass, format_count, quote};
use crate::model::fast_path::FastPath;
use crate::model::limits::Limits;
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::syntax::text::grammar::{self, Grammar, GrammarError, Pause, Reach, limit};
use crate::syntax::xml::scope::NamespaceScope;
use crate::syntax::xml::utf16;
use crate::syntax::xml::{
    self, Attribute, Read, TokenScan, XML, XmlName, XmlToken, append_lines, check_characters,
    entities, fail, fail_malformed,
};

/// The namespace of the format.
pub(super) const RESULTS: &[u8] = b"http://www.w3.org/2005/sparql-results#";
/// The namespace of base directions.
pub(super) const ITS: &[u8] = b"http://www.w3.org/2005/11/its";
/// Number of elements around a term.
const ENCLOSING_LEVELS: usize = 8;

/// Creates a decoder.
pub(super) fn decoder(name: &'static str, values: &Values) -> Box<dyn Decoder> {
    let machine = XmlResultMachine::new(limits(values));
    utf16::accepting(grammar::decoder(name, machine, false))
}

/// An element of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultElement {
    Sparql,
    Head,
    Variable,
    Link,
    Boolean,
    Results,
    Result,
    Binding,
    Uri,
    BlankNode,
    Literal,
    Triple,
    /// Subject, predicate or object.
    Part(usize),
    /// An element of another namespace, or any element inside one.
    Foreign,
}

impl ResultElement {
    const fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"sparql" => Self::Sparql,
            b"head" => Self::Head,
            b"variable" => Self::Variable,
            b"link" => Self::Link,
            b"boolean" => Self::Boolean,
            b"results" => Self::Results,
            b"result" => Self::Result,
            b"binding" => Self::Binding,
            b"uri" => Self::Uri,
            b"bnode" => Self::BlankNode,
            b"literal" => Self::Literal,
            b"triple" => Self::Triple,
            b"subject" => Self::Part(0),
            b"predicate" => Self::Part(1),
            b"object" => Self::Part(2),
            _ => return None,
        })
    }

    /// Whether the element may occur in the given parent.
    const fn may_be_child_of(self, parent: Option<Self>) -> bool {
        match self {
            Self::Sparql => parent.is_none(),
            Self::Head | Self::Boolean | Self::Results => matches!(parent, Some(Self::Sparql)),
            Self::Variable | Self::Link => matches!(parent, Some(Self::Head)),
            Self::Result => matches!(parent, Some(Self::Results)),
            Self::Binding => matches!(parent, Some(Self::Result)),
            Self::Uri | Self::BlankNode | Self::Literal | Self::Triple => {
                matches!(parent, Some(Self::Binding | Self::Part(_)))
            }
            Self::Part(_) => matches!(parent, Some(Self::Triple)),
            Self::Foreign => parent.is_some(),
        }
    }

    /// Whether the element may contain characters other than white space.
    const fn has_text(self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Uri | Self::BlankNode | Self::Literal | Self::Foreign
        )
    }
}

/// An open element.
struct OpenElement {
    element: ResultElement,
    /// Start of its name in [`XmlResultMachine::names`].
    name: usize,
    /// Mark of the namespaces in scope outside the element.
    scope: u32,
}

/// Decodes a result set.
struct XmlResultMachine {
    rows: RowBuilder,
    scan: TokenScan,
    /// Index of the first unread byte of the text, and byte offset of the text in the log.
    index: usize,
    offset: u64,
    open: Vec<OpenElement>,
    /// Names of the open elements.
    names: Vec<u8>,
    scope: NamespaceScope,
    /// Whether names without a prefix are names of the format.
    plain: bool,
    attributes: Vec<Attribute>,
    /// Whether any part of the document was read.
    begun: bool,
    done: bool,
    links: Vec<Box<str>>,
    has_head: bool,
    has_results: bool,
    boolean: Option<bool>,
    column: usize,
    /// The last term read, for the enclosing element.
    term: Option<TermId>,
    /// The parts of the open triple terms.
    triples: Vec<[Option<TermId>; 3]>,
    /// Text of the open element, and its length without trailing white space.
    text: Vec<u8>,
    kept: usize,
    language: Option<Vec<u8>>,
    direction: Option<Vec<u8>>,
    datatype: Option<Vec<u8>>,
    max_depth: usize,
}

impl XmlResultMachine {
    fn new(limits: Limits) -> Self {
        let max_depth = limits.max_depth as usize;
        Self {
            rows: RowBuilder::new(limits),
            scan: TokenScan::default(),
            index: 0,
            offset: 0,
            open: Vec::new(),
            names: Vec::new(),
            scope: NamespaceScope::default(),
            plain: false,
            attributes: Vec::new(),
            begun: false,
            done: false,
            links: Vec::new(),
            has_head: false,
            has_results: false,
            boolean: None,
            column: 0,
            term: None,
            triples: Vec::new(),
            text: Vec::new(),
            kept: 0,
            language: None,
            direction: None,
            datatype: None,
            max_depth,
        }
    }

    /// Processes tokens until the caller must act.
    fn read(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        loop {
            let start = self.index;
            if self.plain
                && FastPath::XmlBindings.is_on()
                && self.innermost() == Some(ResultElement::Result)
                && self.read_quick_binding(text)?
            {
                self.scan = TokenScan::default();
                continue;
            }
            let next = xml::next(text, start, &mut self.scan);
            let length = match &next {
                Ok(Some((_, end))) => end - start,
                Ok(None) => text.len() - start,
                // Count only the bytes that would have been examined if the input had arrived in
                // pieces.
                Err(error) => error.index.saturating_sub(start),
            };
            if length as u64 > self.rows.max() {
                return Err(self.too_large(start));
            }
            let Some((token, end)) = next? else {
                return self.wait(text, ended);
            };
            self.process_token(text, token, end)?;
            self.index = end;
            if !self.rows.builder.is_open() && self.rows.builder.is_full() {
                return Ok(Pause::Full);
            }
        }
    }

    /// Handles the end of the buffered text.
    fn wait(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        if !ended {
            return Ok(Pause::Need);
        }
        if self.open.is_empty() && text.get(self.index) != Some(&b'<') {
            self.check_space(text, self.index, text.len())?;
            if self.done {
                self.index = text.len();
                return Ok(Pause::Done);
            }
        }
        let reason = match self.open.last() {
            Some(open) => format!(
                "the log ends before the end tag of {}",
                quote(&self.names[open.name..])
            ),
            None if self.done => "the log ends inside a tag or comment".to_owned(),
            None => "the log ends before the 'sparql' element".to_owned(),
        };
        fail(text.len(), ErrorClass::Truncated, reason)
    }

    #[cold]
    #[allow(
        clippy::unnecessary_box_returns,
        reason = "most results are good, and errors are large"
    )]
    fn too_large(&self, index: usize) -> Box<GrammarError> {
        let text = format!(
            "a tag, a text node or a comment is longer than {} bytes",
            self.rows.max()
        );
        Box::new(GrammarError {
            index,
            class: ErrorClass::Limit,
            reason: Reason::limit(text, "max_message_bytes"),
        })
    }

    fn innermost(&self) -> Option<ResultElement> {
        self.open.last().map(|open| open.element)
    }

    #[inline]
    fn process_token(&mut self, text: &[u8], token: XmlToken, end: usize) -> Read<()> {
        let start = self.index;
        match token {
            XmlToken::Start => self.start(text, end, end - 1),
            XmlToken::Empty => {
                self.start(text, end, end - 2)?;
                self.end_element(start)
            }
            XmlToken::End => self.end(text, end),
            XmlToken::Text => match self.innermost() {
                Some(ResultElement::Foreign) => check_characters(text, start, end),
                Some(element) if element.has_text() => self.process_characters(text, start, end),
                _ => self.check_space(text, start, end),
            },
            XmlToken::CData => match self.innermost() {
                Some(ResultElement::Foreign) => check_characters(text, start, end),
                Some(element) if element.has_text() => {
                    let (from, to) = (start + 9, end - 3);
                    check_characters(text, from, to)?;
                    self.push(text, from, to, true)
                }
                _ => fail_malformed(start, "CDATA is not allowed here"),
            },
            XmlToken::Doctype => fail_malformed(start, "a DOCTYPE is not supported in result sets"),
            XmlToken::Comment => {
                self.begun = true;
                check_characters(text, start, end)
            }
            XmlToken::Instruction => {
                let declaration = xml::is_declaration(&text[start..end]);
                if declaration && self.begun {
                    return fail_malformed(
                        start,
                        "an XML declaration is allowed only at the start",
                    );
                }
                self.begun = true;
                if declaration {
                    return xml::check_declaration(text, start, end, &mut self.attributes);
                }
                check_characters(text, start, end)
            }
        }
    }

    /// Checks white space between elements.
    fn check_space(&mut self, text: &[u8], start: usize, end: usize) -> Read<()> {
        let mut from = start;
        if self.offset + start as u64 == 0 && text.starts_with(BOM) {
            from = 3.min(end);
        }
        let text_start = text[from..end].iter().position(|&byte| !is(byte, SPACE));
        let Some(text_start) = text_start else {
            return Ok(());
        };
        let index = from + text_start;
        // Shows only one character, because later ones may not be buffered yet.
        let length = (1..4)
            .find(|&length| {
                text.get(index + length)
                    .is_none_or(|byte| byte & 0xc0 != 0x80)
            })
            .unwrap_or(4);
        let shown = quote(&text[index..(index + length).min(end)]);
        fail_malformed(index, format!("expected a tag, found {shown}"))
    }

    /// Processes the characters of an element with text, including references.
    fn process_characters(&mut self, text: &[u8], start: usize, end: usize) -> Read<()> {
        check_characters(text, start, end)?;
        let mut index = start;
        while let Some(run) = memchr::memchr(b'&', &text[index..end]) {
            self.push(text, index, index + run, false)?;
            index += run;
            let c = read_reference(text, &mut index, end)?;
            let mut bytes = [0; 4];
            self.text
                .extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
            self.kept = self.text.len();
        }
        self.push(text, index, end, false)
    }

    /// Appends text; CRLF and CR become LF. White space around IRIs and labels is skipped, except
    /// in CDATA.
    fn push(&mut self, text: &[u8], start: usize, end: usize, cdata: bool) -> Read<()> {
        if (self.text.len() + end - start) as u64 > self.rows.max() {
            return Err(self.too_large(start));
        }
        let mut from = start;
        let trims = !cdata && self.innermost() != Some(ResultElement::Literal);
        if trims && self.text.is_empty() {
            while from < end && is(text[from], SPACE) {
                from += 1;
            }
        }
        append_lines(&text[from..end], &mut self.text);
        if trims {
            let raw = end - from;
            let space = text[from..end]
                .iter()
                .rev()
                .take_while(|&&byte| is(byte, SPACE))
                .count();
            if space < raw {
                let tail = self.text.iter().rev();
                let tail = tail.take_while(|&&byte| is(byte, SPACE)).count();
                self.kept = self.text.len() - tail;
            }
        } else {
            self.kept = self.text.len();
        }
        Ok(())
    }

    /// Returns the namespace of a name; attributes without a prefix have none.
    fn namespace(&self, text: &[u8], name: &XmlName, is_attribute: bool) -> Read<&[u8]> {
        let prefix = name.prefix(text);
        if prefix.is_empty() && is_attribute {
            return Ok(b"");
        }
        match self.scope.get(prefix) {
            Some(namespace) => Ok(namespace),
            None if prefix.is_empty() => Ok(b""),
            None => fail_malformed(
                name.start,
                format!("the prefix {} is not declared", quote(prefix)),
            ),
        }
    }

    fn update_plain(&mut self) {
        self.plain = self.scope.get(b"") == Some(RESULTS);
    }

    /// Reads a binding that is completely buffered and simple, as most are: an IRI, a label, or a
    /// literal whose text needs no decoding. Returns false for any other binding, which is then
    /// read token by token.
    ///
    /// Gain: 3.4 times (`make bench-gains PATHS=xml-bindings`).
    #[inline]
    fn read_quick_binding(&mut self, text: &[u8]) -> Read<bool> {
        let start = self.index;
        let Some(binding) = SimpleBinding::find(&text[start..]) else {
            return Ok(false);
        };
        let column = self.rows.variables.column(binding.name, self.rows.next);
        let Some(column) = column.filter(|_| binding.length as u64 <= self.rows.max()) else {
            return Ok(false);
        };
        let term = match binding.element {
            ResultElement::Uri => self.rows.add_iri(binding.text),
            ResultElement::BlankNode => self.rows.add_blank_node(binding.text),
            _ => self.rows.add_literal(binding.text, binding.kind),
        };
        let id = term.map_err(|error| limit(start + binding.end_tag, error))?;
        if !self.rows.set(column, id) {
            let name = quote(self.rows.variables.name(column).as_bytes());
            let end = start + binding.length - b"</binding>".len();
            return fail_malformed(end, format!("a row has two terms for {name}"));
        }
        self.index = start + binding.length;
        Ok(true)
    }

    /// Processes a start tag, whose `>` or `/>` begins at `stop`.
    fn start(&mut self, text: &[u8], end: usize, stop: usize) -> Read<()> {
        let start = self.index;
        self.begun = true;
        if self.done {
            return fail_malformed(start, "a second element after the 'sparql' element");
        }
        check_characters(text, start, end)?;
        let name = xml::name(text, start + 1, stop)?;
        let mut attributes = std::mem::take(&mut self.attributes);
        xml::read_attributes(text, name.end, stop, &mut attributes)?;
        let result = self.open_element(text, &name, &attributes);
        self.attributes = attributes;
        result
    }

    fn open_element(&mut self, text: &[u8], name: &XmlName, attributes: &[Attribute]) -> Read<()> {
        let start = self.index;
        let scope = self.scope.mark();
        for (index, attribute) in attributes.iter().enumerate() {
            let whole = attribute.name.whole(text);
            let is_equal = |other: &Attribute| other.name.whole(text) == whole;
            if attributes.len() <= 32 && attributes[..index].iter().any(is_equal) {
                let shown = quote(whole);
                return fail_malformed(
                    attribute.name.start,
                    format!("the attribute {shown} occurs twice"),
                );
            }
            let is_default = whole == b"xmlns";
            if is_default || attribute.name.prefix(text) == b"xmlns" {
                let value = attribute_value(text, attribute)?;
                let prefix = if is_default {
                    &[][..]
                } else {
                    attribute.name.local(text)
                };
                if self.scope.bytes() + NamespaceScope::size(prefix, &value) > self.rows.max() {
                    return Err(self.too_large(attribute.name.start));
                }
                self.scope.bind(prefix, &value);
            }
        }
        if self.scope.mark() > scope {
            self.update_plain();
        }
        let parent = self.innermost();
        let mut element = ResultElement::Foreign;
        if parent != Some(ResultElement::Foreign) && self.namespace(text, name, false)? == RESULTS {
            let local = name.local(text);
            let opened =
                ResultElement::from_name(local).filter(|element| element.may_be_child_of(parent));
            let Some(opened) = opened else {
                let shown = quote(local);
                return fail_malformed(
                    start,
                    match self.open.last() {
                        None => format!("expected a 'sparql' element, found {shown}"),
                        Some(open) => format!(
                            "the element {shown} does not belong in {}",
                            quote(&self.names[open.name..])
                        ),
                    },
                );
            };
            element = opened;
        }
        if !element.may_be_child_of(parent) {
            let shown = quote(name.whole(text));
            let namespace = quote(RESULTS);
            return fail_malformed(
                start,
                format!("expected a 'sparql' element of the namespace {namespace}, found {shown}"),
            );
        }
        if self.open.len() >= ENCLOSING_LEVELS + 2 * self.max_depth {
            let max = ENCLOSING_LEVELS + 2 * self.max_depth;
            let reason = format!(
                "elements are nested deeper than {}",
                format_count(max, "level")
            );
            return fail(start, ErrorClass::Limit, Reason::limit(reason, "max_depth"));
        }
        self.begin(text, element, attributes)?;
        self.open.push(OpenElement {
            element,
            name: self.names.len(),
            scope,
        });
        self.names.extend_from_slice(name.whole(text));
        Ok(())
    }

    /// Returns the value of a required attribute without a prefix.
    fn required_attribute(
        &mut self,
        text: &[u8],
        attributes: &[Attribute],
        name: &str,
    ) -> Read<Box<str>> {
        let matching = attributes
            .iter()
            .find(|attribute| attribute.name.whole(text) == name.as_bytes());
        let Some(attribute) = matching else {
            return fail_malformed(self.index, format!("the element has no '{name}' attribute"));
        };
        let value = attribute_value(text, attribute)?;
        let value: Box<str> = String::from_utf8_lossy(&value).into();
        Ok(value)
    }

    /// Begins an element.
    fn begin(&mut self, text: &[u8], element: ResultElement, attributes: &[Attribute]) -> Read<()> {
        let start = self.index;
        match element {
            ResultElement::Sparql | ResultElement::Foreign => {}
            ResultElement::Head => {
                if self.has_head {
                    return fail_malformed(start, "the result set has two heads");
                }
                self.has_head = true;
            }
            ResultElement::Variable => {
                let name = self.required_attribute(text, attributes, "name")?;
                if !self.rows.charge_head(&name) {
                    return Err(self.too_large(start));
                }
                if let Err(reason) = self.rows.variables.add(&name) {
                    return fail_malformed(start, reason);
                }
            }
            ResultElement::Link => {
                let link = self.required_attribute(text, attributes, "href")?;
                if !self.rows.charge_head(&link) {
                    return Err(self.too_large(start));
                }
                self.links.push(link);
            }
            ResultElement::Boolean | ResultElement::Results => {
                if !self.has_head {
                    return fail_malformed(start, "expected a 'head' element first");
                }
                if self.has_results || self.boolean.is_some() {
                    return fail_malformed(
                        start,
                        "the result set already has results or a boolean; it can have only one \
                         of them",
                    );
                }
                if element == ResultElement::Results {
                    self.has_results = true;
                    let links = std::mem::take(&mut self.links);
                    self.rows.set_head(None, links);
                }
            }
            ResultElement::Result => self.rows.begin(self.offset + start as u64),
            ResultElement::Binding => {
                let name = attributes
                    .iter()
                    .find(|attribute| attribute.name.whole(text) == b"name");
                let Some(attribute) = name else {
                    return fail_malformed(start, "a binding has no 'name' attribute");
                };
                let raw = &text[attribute.value.0..attribute.value.1];
                let mut column = self.rows.variables.column(raw, self.rows.next);
                if column.is_none() {
                    let name = attribute_value(text, attribute)?;
                    column = self.rows.variables.column(&name, 0);
                }
                let Some(column) = column else {
                    let shown = quote(raw);
                    return fail_malformed(
                        start,
                        format!("the variable {shown} is not in the head"),
                    );
                };
                self.column = column;
                self.term = None;
            }
            ResultElement::Uri
            | ResultElement::BlankNode
            | ResultElement::Literal
            | ResultElement::Triple => {
                if self.term.is_some() {
                    return fail_malformed(start, "found a second term, expected only one");
                }
                if element == ResultElement::Triple {
                    self.begin_triple(start)?;
                }
                if element == ResultElement::Literal {
                    self.read_literal_attributes(text, attributes)?;
                }
            }
            ResultElement::Part(part) => {
                let is_duplicate = self
                    .triples
                    .last()
                    .is_some_and(|parts| parts[part].is_some());
                if is_duplicate {
                    return fail_malformed(start, "a part of a triple term occurs twice");
                }
                self.term = None;
            }
        }
        if element.has_text() {
            self.text.clear();
            self.kept = 0;
        }
        Ok(())
    }

    /// Begins a triple term.
    fn begin_triple(&mut self, start: usize) -> Read<()> {
        if self.triples.len() >= self.max_depth {
            let max = self.max_depth;
            let reason = format!(
                "triple terms are nested deeper than {}",
                format_count(max, "level")
            );
            return fail(start, ErrorClass::Limit, Reason::limit(reason, "max_depth"));
        }
        self.triples.push([None; 3]);
        Ok(())
    }

    fn read_literal_attributes(&mut self, text: &[u8], attributes: &[Attribute]) -> Read<()> {
        self.language = None;
        self.direction = None;
        self.datatype = None;
        for attribute in attributes {
            let local = attribute.name.local(text);
            if !matches!(local, b"lang" | b"dir" | b"datatype") {
                continue;
            }
            let namespace = self.namespace(text, &attribute.name, true)?;
            let slot = match (namespace, local) {
                (XML, b"lang") => &mut self.language,
                (ITS, b"dir") => &mut self.direction,
                (b"", b"datatype") => &mut self.datatype,
                _ => continue,
            };
            *slot = Some(attribute_value(text, attribute)?);
        }
        Ok(())
    }

    /// Processes an end tag.
    fn end(&mut self, text: &[u8], end: usize) -> Read<()> {
        let start = self.index;
        let name = text[start + 2..end - 1].trim_ascii_end();
        match self.open.last() {
            Some(open) if self.names[open.name..] == *name => self.end_element(start),
            Some(open) => fail_malformed(
                start,
                format!(
                    "expected the end tag of {}, found the end tag of {}",
                    quote(&self.names[open.name..]),
                    quote(name)
                ),
            ),
            None => fail_malformed(
                start,
                format!("found the end tag of {}, which is not open", quote(name)),
            ),
        }
    }

    /// Ends the innermost element.
    fn end_element(&mut self, start: usize) -> Read<()> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        self.names.truncate(open.name);
        if self.scope.mark() > open.scope {
            self.scope.undo_to(open.scope);
            self.update_plain();
        }
        match open.element {
            ResultElement::Head
            | ResultElement::Variable
            | ResultElement::Link
            | ResultElement::Results
            | ResultElement::Foreign => {}
            ResultElement::Sparql => {
                if self.boolean.is_none() && !self.has_results {
                    return fail_malformed(
                        start,
                        "the result set has neither results nor a boolean",
                    );
                }
                self.done = true;
            }
            ResultElement::Boolean => {
                let content = self.text[..self.kept].to_vec();
                self.boolean = Some(match &*content {
                    b"true" | b"1" => true,
                    b"false" | b"0" => false,
                    other => {
                        let shown = quote(other);
                        return fail_malformed(
                            start,
                            format!("the boolean must be true or false, not {shown}"),
                        );
                    }
                });
                self.rows.variables.clear();
                let links = std::mem::take(&mut self.links);
                self.rows.set_head(self.boolean, links);
            }
            ResultElement::Result => self.rows.end().map_err(|error| limit(start, error))?,
            ResultElement::Binding => {
                let Some(term) = self.term.take() else {
                    return fail_malformed(start, "a binding has no term");
                };
                if !self.rows.set(self.column, term) {
                    let name = quote(self.rows.variables.name(self.column).as_bytes());
                    return fail_malformed(start, format!("a row has two terms for {name}"));
                }
            }
            ResultElement::Part(part) => {
                let term = self.term.take();
                if term.is_none() {
                    return fail_malformed(
                        start,
                        "the subject, predicate or object of a triple term is empty",
                    );
                }
                if let Some(parts) = self.triples.last_mut() {
                    parts[part] = term;
                }
            }
            element => {
                let term = self.make_term(element, start)?;
                self.term = Some(term);
            }
        }
        Ok(())
    }

    fn make_term(&mut self, element: ResultElement, start: usize) -> Read<TermId> {
        let text = &self.text[..self.kept];
        let term = match element {
            ResultElement::Uri => self.rows.add_iri(text),
            ResultElement::BlankNode => self.rows.add_blank_node(text),
            ResultElement::Triple => {
                let Some([Some(s), Some(p), Some(o)]) = self.triples.pop() else {
                    return fail_malformed(
                        start,
                        "a triple term must have a subject, a predicate and an object",
                    );
                };
                self.rows.triple([s, p, o])
            }
            _ => {
                let kind = find_literal_kind(
                    self.language.as_deref(),
                    self.direction.as_deref(),
                    self.datatype.as_deref(),
                );
                match kind {
                    Ok(kind) => self.rows.add_literal(&self.text, kind),
                    Err(reason) => return fail_malformed(start, reason),
                }
            }
        };
        term.map_err(|error| limit(start, error))
    }
}

/// A binding without white space, references or other special cases.
struct SimpleBinding<'a> {
    name: &'a [u8],
    element: ResultElement,
    kind: ResultLiteralKind<'a>,
    text: &'a [u8],
    /// Start of the term's end tag, and length of the entire binding.
    end_tag: usize,
    length: usize,
}

impl<'a> SimpleBinding<'a> {
    /// Returns the binding at the start of `text`.
    #[inline]
    fn find(text: &'a [u8]) -> Option<Self> {
        let (name, rest) = split_quoted(text.strip_prefix(b"<binding name=")?)?;
        let rest = rest.strip_prefix(b">")?;
        let mut kind = ResultLiteralKind::Plain;
        let (element, rest, end): (_, _, &[u8]) = if let Some(rest) = rest.strip_prefix(b"<uri>") {
            (ResultElement::Uri, rest, b"</uri></binding>")
        } else if let Some(rest) = rest.strip_prefix(b"<bnode>") {
            (ResultElement::BlankNode, rest, b"</bnode></binding>")
        } else {
            let mut rest = rest.strip_prefix(b"<literal")?;
            if let Some(value) = rest.strip_prefix(b" datatype=") {
                let (datatype, remaining) = split_quoted(value)?;
                (kind, rest) = (ResultLiteralKind::Datatype(datatype), remaining);
            } else if let Some(value) = rest.strip_prefix(b" xml:lang=") {
                let (tag, remaining) = split_quoted(value)?;
                kind = find_literal_kind(Some(tag), None, None).ok()?;
                rest = remaining;
            }
            (
                ResultElement::Literal,
                rest.strip_prefix(b">")?,
                b"</literal></binding>",
            )
        };
        let (content, rest) = rest.split_at(memchr::memchr(b'<', rest)?);
        let trimmed = element != ResultElement::Literal
            && matches!(
                (content.first(), content.last()),
                (Some(b' '), _) | (_, Some(b' '))
            );
        let remaining = rest.strip_prefix(end)?;
        if trimmed || !is_simple(content) {
            return None;
        }
        Some(Self {
            name,
            element,
            kind,
            text: content,
            end_tag: text.len() - rest.len(),
            length: text.len() - remaining.len(),
        })
    }
}

/// Whether a string contains no character that XML treats specially or does not allow.
#[inline]
fn is_simple(text: &[u8]) -> bool {
    let is_special = |byte: u8| byte < 0x20 || byte == b'&' || byte == b'<' || byte == 0xEF;
    !text
        .iter()
        .fold(false, |has_special, &byte| has_special | is_special(byte))
}

/// Returns the quoted value at the start of `text`, and the rest.
#[inline]
fn split_quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&quote, rest) = text.split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let (value, rest) = rest.split_at(memchr::memchr(quote, rest)?);
    is_simple(value).then(|| (value, &rest[1..]))
}

/// Returns the value of an attribute, with references resolved and white space replaced by spaces.
fn attribute_value(text: &[u8], attribute: &Attribute) -> Read<Vec<u8>> {
    let (mut index, end) = attribute.value;
    let mut out = Vec::with_capacity(end - index);
    while index < end {
        match text[index] {
            b'&' => {
                let c = read_reference(text, &mut index, end)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            b'\r' if text.get(index + 1) == Some(&b'\n') && index + 1 < end => {}
            byte if is(byte, SPACE) => out.push(b' '),
            byte => out.push(byte),
        }
        index += 1;
    }
    Ok(out)
}

/// Returns the character of the reference whose `&` is at `index`, and moves `index` past the
/// reference.
fn read_reference(text: &[u8], index: &mut usize, end: usize) -> Read<char> {
    let start = *index;
    let Some(length) = memchr::memchr(b';', &text[start..end.min(start + 64)]) else {
        return fail_malformed(
            start,
            "'&' begins a reference, which must end with ';'; write a literal '&' as &amp;",
        );
    };
    let name = &text[start + 1..start + length];
    *index = start + length + 1;
    match entities::reference(name) {
        Some(c) => Ok(c),
        None => fail_malformed(
            start,
            format!(
                "the reference {} does not name a character; without a DOCTYPE, only &lt; &gt; \
                 &amp; &quot; &apos; and character numbers are allowed",
                quote(&text[start..*index])
            ),
        ),
    }
}

impl Grammar for XmlResultMachine {
    type Record = TermId;

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        self.read(text, reach == Reach::End)
    }

    fn consumed(&self) -> usize {
        self.index
    }

    fn forget(&mut self, consumed: &[u8], offset: u64) {
        self.index -= consumed.len();
        self.offset = offset;
    }

    fn builder(&mut self) -> &mut ResultBuilder {
        &mut self.rows.builder
    }

    fn take(&mut self) -> Option<ResultBatch> {
        self.rows.take(self.done)
    }

    fn take_part(&mut self) -> ResultBatch {
        self.rows.builder.take_part()
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.scan = TokenScan::default();
        self.index = 0;
        self.offset = 0;
        self.open.clear();
        self.names.clear();
        self.scope.clear();
        self.plain = false;
        self.begun = false;
        self.done = false;
        self.links.clear();
        self.has_head = false;
        self.has_results = false;
        self.boolean = None;
        self.term = None;
        self.triples.clear();
    }
}
