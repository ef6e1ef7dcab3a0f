//! Composes a JSON tape from a YAML document.
//!
//! - In: the text of one document.
//! - Out: a tape whose strings refer to the document if possible, and whether there was a document.
//! - Cost: linear in the document and in the content that aliases repeat, which the tape's limits
//!   restrict.
//! - Law: keys are unique strings. An alias repeats a complete value, so a cycle is an error.
//!
//! Documents in plain block style need no parser ([`block`](super::block)). All others are parsed
//! by `granit-parser`, which is maintained, has no unsafe code, does not panic, limits nesting, and
//! passes the YAML test suite. This module interprets the events of the parser.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};
use rustc_hash::FxHashMap;

use super::block::BlockComposer;
use super::layout::{self, LayoutError, column};
use super::schema::{ScalarValue, resolve};
use crate::model::error::{ErrorClass, quote};
use crate::model::fast_path::FastPath;
use crate::model::remedy::Reason;
use crate::syntax::json::{Bounds, JsonKind, ParseError, Tape};

/// Composes one document at a time.
#[derive(Default)]
pub struct Composer {
    block: BlockComposer,
    open: Vec<OpenCollection>,
    /// For each open collection, the number of spaces that the lines of a quoted scalar need, and
    /// whether the collection is in flow style.
    indentations: Vec<(usize, bool)>,
    /// Tape nodes of values by anchor; `None` until the value is complete.
    anchors: FxHashMap<usize, Option<u32>>,
}

/// An open mapping or sequence.
struct OpenCollection {
    mapping: bool,
    /// Whether a key comes next.
    key: bool,
    anchor: usize,
    node: u32,
}

impl Composer {
    /// Composes the document in `text`. Returns false if the text contains no document.
    ///
    /// # Errors
    /// If the text is not valid YAML, or contains values that JSON cannot represent.
    pub fn compose(
        &mut self,
        text: &str,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Result<bool, ParseError> {
        if FastPath::BlockYaml.is_on() && self.block.compose(text, tape, bounds).is_some() {
            return Ok(true);
        }
        self.compose_events(text, tape, bounds)
    }

    /// Like [`compose`](Self::compose), with the event parser for every document.
    ///
    /// # Errors
    /// As for [`compose`](Self::compose).
    pub fn compose_events(
        &mut self,
        text: &str,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Result<bool, ParseError> {
        tape.clear();
        self.open.clear();
        self.indentations.clear();
        self.anchors.clear();
        let mut options = Options::default();
        // One more than the limit of the tape, so that the tape reports the error and names the
        // option.
        options.flow_nesting_limit = bounds.max_depth as usize + 1;
        options.block_nesting_limit = bounds.max_depth as usize + 1;
        let mut has_document = false;
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| scan_error(&error, text, bounds))?;
            let index = span.start.byte_offset().unwrap_or_default();
            match event {
                Event::DocumentStart(..) => {
                    if has_document {
                        return Err(malformed_error(
                            index,
                            "expected '---' on a separate line before the second document",
                        ));
                    }
                    has_document = true;
                }
                Event::MappingStart(_, anchor, tag) => {
                    check_tag(tag.as_deref(), "map", index)?;
                    self.check_collection(text, index, true)?;
                    self.start(true, anchor, index, tape, bounds)?;
                }
                Event::SequenceStart(_, anchor, tag) => {
                    check_tag(tag.as_deref(), "seq", index)?;
                    self.check_collection(text, index, false)?;
                    self.start(false, anchor, index, tape, bounds)?;
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    tape.end(0, text.as_bytes(), bounds)?;
                    self.indentations.pop();
                    if let Some(open) = self.open.pop() {
                        self.complete(open.anchor, open.node);
                    }
                    self.end_value();
                }
                Event::Scalar(value, style, anchor, tag) => {
                    let node = tape.nodes().len() as u32;
                    self.check_scalar(text, style, &span)?;
                    self.push_scalar(text, &value, style, tag.as_deref(), &span, tape, bounds)?;
                    self.complete(anchor, node);
                }
                Event::Alias(anchor) => {
                    self.push_alias(text.as_bytes(), anchor, index, tape, bounds)?;
                }
                _ => {}
            }
        }
        Ok(has_document)
    }

    /// Checks the indentation of a collection.
    fn check_collection(
        &mut self,
        text: &str,
        index: usize,
        mapping: bool,
    ) -> Result<(), ParseError> {
        let (outer, inside_flow) = self.indentations.last().copied().unwrap_or_default();
        let is_flow = inside_flow || matches!(text.as_bytes().get(index), Some(b'[' | b'{'));
        if !is_flow {
            layout::check_indentation(text, index).map_err(layout_error)?;
        }
        let own = match (is_flow, mapping) {
            (true, _) => outer, // none in flow style at the root
            (false, true) => column(text, index) + 1,
            (false, false) => outer.max(1),
        };
        self.indentations.push((own, is_flow));
        Ok(())
    }

    /// Checks the indentation of a scalar.
    fn check_scalar(&self, text: &str, style: ScalarStyle, span: &Span) -> Result<(), ParseError> {
        let start = span.start.byte_offset().unwrap_or_default();
        let end = span.end.byte_offset().unwrap_or_default();
        let Some(&(required, is_flow)) = self.indentations.last() else {
            return Ok(());
        };
        if !is_flow && self.expects_key() {
            layout::check_indentation(text, start).map_err(layout_error)?;
        }
        match style {
            ScalarStyle::Plain => layout::check_plain(text, start, end),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                layout::check_quoted(text, start, end, required)
            }
            _ => Ok(()),
        }
        .map_err(layout_error)
    }

    /// Whether a key comes next, not a value.
    fn expects_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.mapping && open.key)
    }

    /// Marks a value as complete. In a mapping, a key comes next.
    fn end_value(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.key = open.mapping;
        }
    }

    fn complete(&mut self, anchor: usize, node: u32) {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(node));
        }
    }

    fn start(
        &mut self,
        mapping: bool,
        anchor: usize,
        index: usize,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if self.expects_key() {
            return Err(malformed_error(
                index,
                "expected a string as the key, found a mapping or a sequence",
            ));
        }
        let node = tape.nodes().len() as u32;
        let kind = if mapping {
            JsonKind::Object
        } else {
            JsonKind::Array
        };
        tape.start(kind, index, bounds)?;
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(OpenCollection {
            mapping,
            key: mapping,
            anchor,
            node,
        });
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one event")]
    fn push_scalar(
        &mut self,
        source: &str,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let index = span.start.byte_offset().unwrap_or_default();
        let value = resolve_scalar(text, style, tag, index)?;
        if self.expects_key() {
            if value != ScalarValue::String {
                return Err(malformed_error(
                    index,
                    &format!(
                        "expected a string as the key, found {}; put it in quotes",
                        quote(text.as_bytes())
                    ),
                ));
            }
            if let Some(open) = self.open.last_mut() {
                open.key = false;
            }
            return push_string(JsonKind::Key, source, text, style, span, tape, bounds);
        }
        match value {
            ScalarValue::Null => tape.push_scalar(JsonKind::Null, index, bounds)?,
            ScalarValue::Boolean(true) => tape.push_scalar(JsonKind::True, index, bounds)?,
            ScalarValue::Boolean(false) => tape.push_scalar(JsonKind::False, index, bounds)?,
            ScalarValue::Number(number) => {
                tape.push_owned(JsonKind::Number, index, number.as_bytes(), bounds)?;
            }
            ScalarValue::String => {
                push_string(JsonKind::String, source, text, style, span, tape, bounds)?;
            }
            ScalarValue::Unrepresentable => {
                return Err(malformed_error(
                    index,
                    &format!(
                        "JSON cannot represent the number {}; put it in quotes, or give it a \
                         datatype with @type",
                        quote(text.as_bytes())
                    ),
                ));
            }
        }
        self.end_value();
        Ok(())
    }

    fn push_alias(
        &mut self,
        source: &[u8],
        anchor: usize,
        index: usize,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let Some(Some(node)) = self.anchors.get(&anchor).copied() else {
            return Err(malformed_error(
                index,
                "an alias inside its own value; JSON does not allow cycles",
            ));
        };
        if !self.expects_key() {
            tape.repeat(node, false, index, source, bounds)?;
            self.end_value();
            return Ok(());
        }
        let string = tape
            .nodes()
            .get(node as usize)
            .is_some_and(|node| matches!(node.kind, JsonKind::String | JsonKind::Key));
        if !string {
            return Err(malformed_error(
                index,
                "expected a string as the key, found an alias of a value that is not a string",
            ));
        }
        tape.repeat(node, true, index, source, bounds)?;
        if let Some(open) = self.open.last_mut() {
            open.key = false;
        }
        Ok(())
    }
}

fn layout_error((index, text): LayoutError) -> ParseError {
    malformed_error(index, text)
}

/// Returns the value of a scalar according to its style and tag.
fn resolve_scalar<'a>(
    text: &'a str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    index: usize,
) -> Result<ScalarValue<'a>, ParseError> {
    let Some(tag) = tag else {
        return Ok(match style {
            ScalarStyle::Plain => resolve(text),
            _ => ScalarValue::String,
        });
    };
    let core = tag.core_suffix();
    let resolved = resolve(text);
    let fits = match core {
        Some("str") => return Ok(ScalarValue::String),
        Some("null") => resolved == ScalarValue::Null,
        Some("bool") => matches!(resolved, ScalarValue::Boolean(_)),
        Some("int") => {
            matches!(&resolved, ScalarValue::Number(number) if !number.contains(['.', 'e', 'E']))
        }
        Some("float") => matches!(
            resolved,
            ScalarValue::Number(_) | ScalarValue::Unrepresentable
        ),
        // A lone `!` makes any scalar a string.
        _ if tag.original() == "!" => return Ok(ScalarValue::String),
        _ => return Err(unknown_tag_error(tag, index)),
    };
    if fits {
        return Ok(resolved);
    }
    Err(malformed_error(
        index,
        &format!(
            "{} does not match its tag {}",
            quote(text.as_bytes()),
            quote(tag.original().as_bytes())
        ),
    ))
}

fn check_tag(tag: Option<&Tag>, expected: &str, index: usize) -> Result<(), ParseError> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(expected) && tag.original() != "!" => {
            Err(unknown_tag_error(tag, index))
        }
        _ => Ok(()),
    }
}

fn unknown_tag_error(tag: &Tag, index: usize) -> ParseError {
    malformed_error(
        index,
        &format!(
            "the tag {} is not supported; the core schema has !!str, !!int, !!float, !!bool, \
             !!null, !!map and !!seq, and JSON-LD has @type for datatypes",
            quote(tag.original().as_bytes())
        ),
    )
}

/// Adds a string. If the source contains the string literally, no copy is made.
fn push_string(
    kind: JsonKind,
    source: &str,
    text: &str,
    style: ScalarStyle,
    span: &Span,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<(), ParseError> {
    let range = span.byte_range().unwrap_or_default();
    let quotes = usize::from(!matches!(style, ScalarStyle::Plain));
    let inner = range.start + quotes..range.end.saturating_sub(quotes).max(range.start + quotes);
    // Text borrowed from the source must be valid in JSON without escapes.
    let plain = |byte: u8| byte >= 0x20 && !matches!(byte, b'"' | b'\\' | 0x7F);
    if source.get(inner.clone()) == Some(text) && text.bytes().all(plain) {
        return match kind {
            JsonKind::Key => tape.push_borrowed_key(range.start, inner, source.as_bytes(), bounds),
            _ => tape.push_borrowed(kind, range.start, inner, bounds),
        };
    }
    tape.push_owned(kind, range.start, text.as_bytes(), bounds)
}

fn malformed_error(index: usize, reason: &str) -> ParseError {
    ParseError {
        position: index,
        class: ErrorClass::Malformed,
        reason: reason.into(),
    }
}

/// Position of the first tab that indents a line after `from`. The parser reports only the start of
/// the scalar before the tab.
fn tab(text: &str, from: usize) -> Option<usize> {
    let mut index = from;
    for line in text.get(from..)?.split_inclusive('\n').skip(1) {
        index += text.get(index..)?.find('\n')? + 1;
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if line.get(spaces..)?.starts_with('\t') {
            return Some(index + spaces);
        }
    }
    None
}

/// Converts a parser error. Its class is `Truncated` if more text could have completed the
/// document.
fn scan_error(error: &ScanError, text: &str, bounds: &Bounds) -> ParseError {
    let mut index = error.marker().byte_offset().unwrap_or_default();
    if error.info().contains("found a tab") {
        index = tab(text, index).unwrap_or(index);
    }
    let class = match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEofBlockMapping
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnclosedQuotedScalar => ErrorClass::Truncated,
        ErrorKind::RecursionLimitExceeded => ErrorClass::Limit,
        _ if index >= text.trim_end().len() => ErrorClass::Truncated,
        _ => ErrorClass::Malformed,
    };
    ParseError {
        position: index,
        class,
        reason: match class {
            ErrorClass::Limit => Reason::limit(
                format!(
                    "mappings and sequences are nested deeper than {}",
                    bounds.max_depth
                ),
                "max_depth",
            ),
            _ if text.as_bytes().get(index) == Some(&b'@') => {
                "invalid YAML: a plain key or value must not begin with @; use quotes, as in \
                 \"@context\""
                    .into()
            }
            _ => format!("invalid YAML: {}", error.info()).into(),
        },
    }
}
