//! Decoder for result sets in JSON (SPARQL 1.1 and 1.2 Query Results JSON Format).
//!
//! - In: validated text, which arrives in pieces and is read token by token.
//! - Out: one message per object in `bindings`; for ASK, the answer in the head.
//! - Cost: linear. Memory is bounded by one row. Rows before the head are kept as text, up to
//!   `max_message_bytes`, and decoded after the head.
//! - Law: keys may be in any order. Keys that the format does not define are skipped.

use super::json_binding::JsonBinding;
use super::rows::{ResultLiteralKind, RowBuilder};
use crate::codec::Decoder;
use crate::codec::options::limits;
use crate::codec::values::Values;
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::chars::BOM;
use crate::model::error::{ErrorClass, format_count, quote};
use crate::model::fast_path::FastPath;
use crate::model::limits::Limits;
use crate::model::remedy::Reason;
use crate::model::term::{TermId, flags, is_language_type};
use crate::syntax::json::stream::{JsonTokenizer, QuotedRange, Token};
use crate::syntax::text::grammar::{
    self, Grammar, GrammarError, Pause, Reach, Read, fail, fail_malformed, limit,
};

/// Number of objects and arrays around a term.
const ENCLOSING_LEVELS: usize = 5;

/// Creates a decoder.
pub(super) fn decoder(name: &'static str, values: &Values) -> Box<dyn Decoder> {
    grammar::decoder(name, JsonResultMachine::new(limits(values)), false)
}

/// Position of the machine in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonState {
    /// Before the document.
    Start,
    /// In the root object.
    Root,
    /// Before the value of `head`.
    ToHead,
    /// In the value of `head`. The following states are named in the same way.
    Head,
    ToVariables,
    Variables,
    ToLinks,
    Links,
    ToBoolean,
    ToResults,
    Results,
    ToBindings,
    Bindings,
    Row,
    /// Before the term for a column.
    ToCell(usize),
    /// In the innermost open term.
    Term,
    /// Before the value of a key in the innermost open term.
    ToValue,
    ToText(TermPart),
    /// In the object that contains the parts of a triple term.
    Parts,
    ToPart(usize),
    /// In a skipped value, which ends at this depth.
    Skip(usize, AfterSkip),
    End,
}

/// The state after a skipped value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterSkip {
    Root,
    Head,
    Results,
    Term,
}

impl AfterSkip {
    const fn state(self) -> JsonState {
        match self {
            Self::Root => JsonState::Root,
            Self::Head => JsonState::Head,
            Self::Results => JsonState::Results,
            Self::Term => JsonState::Term,
        }
    }
}

/// A string in the object of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermPart {
    Type,
    Value,
    Language,
    Direction,
    Datatype,
}

const PART_NAMES: [&str; 5] = ["type", "value", "xml:lang", "its:dir", "datatype"];

/// A term being read.
#[derive(Clone, Copy)]
struct TermFrame {
    /// Ranges of its strings in the machine's buffer, by [`TermPart`].
    texts: [Option<(usize, usize)>; 5],
    /// Subject, predicate and object.
    triple: Option<[TermId; 3]>,
    /// The position of this term in the enclosing triple term.
    position: usize,
}

impl TermFrame {
    const fn new(position: usize) -> Self {
        Self {
            texts: [None; 5],
            triple: None,
            position,
        }
    }
}

/// Rows before the head.
struct BufferedRows {
    /// Index after the opening bracket of `bindings`, and the tokenizer state there.
    from: usize,
    tokens: JsonTokenizer,
}

/// Decodes a result set.
struct JsonResultMachine {
    rows: RowBuilder,
    tokens: JsonTokenizer,
    state: JsonState,
    /// Index of the first unread byte of the text, and byte offset of the text in the log.
    index: usize,
    offset: u64,
    links: Vec<Box<str>>,
    has_head: bool,
    has_results: bool,
    boolean: Option<bool>,
    buffered: Option<BufferedRows>,
    /// Whether the head will be read a second time, after the buffered rows.
    rereads_head: bool,
    /// Column of the open cell, the open terms, and their strings.
    column: usize,
    frames: Vec<TermFrame>,
    texts: Vec<u8>,
    unescaped: Vec<u8>,
    max_depth: usize,
}

/// Returns the error for a token where another kind of value is expected.
#[cold]
fn unexpected_kind_error<T>(index: usize, subject: &str, expected: &str, found: Token) -> Read<T> {
    let found = match found {
        Token::ObjectStart => "an object",
        Token::ArrayStart => "an array",
        Token::String(_) => "a string",
        Token::Number => "a number",
        Token::True | Token::False => "a boolean",
        Token::Null => "null",
        Token::Key(_) | Token::ObjectEnd | Token::ArrayEnd => "something else",
    };
    fail_malformed(index, format!("{subject} must be {expected}, not {found}"))
}

impl JsonResultMachine {
    fn new(limits: Limits) -> Self {
        let max_depth = limits.max_depth as usize;
        Self {
            rows: RowBuilder::new(limits),
            tokens: JsonTokenizer::new(ENCLOSING_LEVELS + 2 * max_depth),
            state: JsonState::Start,
            index: 0,
            offset: 0,
            links: Vec::new(),
            has_head: false,
            has_results: false,
            boolean: None,
            buffered: None,
            rereads_head: false,
            column: 0,
            frames: Vec::new(),
            texts: Vec::new(),
            unescaped: Vec::new(),
            max_depth,
        }
    }

    /// Returns the value of a string token as an owned string.
    fn decode_string(&mut self, text: &[u8], quoted: QuotedRange) -> Read<Box<str>> {
        let decoded = quoted.text(text, &mut self.unescaped)?;
        Ok(String::from_utf8_lossy(decoded).into())
    }

    /// Processes tokens until the caller must act.
    fn read(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        loop {
            if self.state == JsonState::Row
                && FastPath::JsonBindings.is_on()
                && self.read_quick_binding(text)?
            {
                continue;
            }
            let from = self.index;
            let next = self.tokens.next(text, &mut self.index, ended);
            if self.state == JsonState::End && next.is_ok() {
                return Ok(if ended { Pause::Done } else { Pause::Need });
            }
            let next = match next {
                // Count only the bytes that would have been examined if the input had arrived in
                // pieces.
                Err(error) => {
                    let seen =
                        (error.index - self.index).max(self.tokens.inspected_end(text, self.index));
                    let large = seen as u64 > self.rows.max();
                    return Err(if large {
                        self.too_large(self.index, "a string")
                    } else {
                        error
                    });
                }
                Ok(next) => next,
            };
            let Some((token, start)) = next else {
                return self.wait(text, ended);
            };
            if (self.index - start) as u64 > self.rows.max() {
                return Err(self.too_large(start, "a string"));
            }
            debug_assert!(from <= start);
            self.process_token(text, token, start)?;
            if self.buffered.is_some() {
                self.check_buffered(self.index)?;
            }
            if self.state == JsonState::Bindings && self.rows.builder.is_full() {
                return Ok(Pause::Full);
            }
        }
    }

    /// Reads a simple binding that is completely buffered, as most are. Returns false for any other
    /// binding, which is then read token by token.
    ///
    /// Gain: 2.5 times (`make bench-gains PATHS=json-bindings`).
    #[inline]
    fn read_quick_binding(&mut self, text: &[u8]) -> Read<bool> {
        let Some(is_first) = self.tokens.begins_member() else {
            return Ok(false);
        };
        let Some(binding) = JsonBinding::find(text, self.index, is_first) else {
            return Ok(false);
        };
        let end = binding.end;
        let column = self.rows.variables.column(binding.name, self.rows.next);
        let fits = (end - self.index) as u64 <= self.rows.max();
        let Some(column) = column.filter(|_| fits) else {
            return Ok(false);
        };
        let term = match binding.kind {
            b"uri" => self.rows.add_iri(binding.value),
            b"bnode" => self.rows.add_blank_node(binding.value),
            b"literal" | b"typed-literal" => {
                match find_literal_kind(binding.language, None, binding.datatype) {
                    Ok(kind) => self.rows.add_literal(binding.value, kind),
                    Err(_) => return Ok(false),
                }
            }
            _ => return Ok(false),
        };
        let id = term.map_err(|error| limit(end, error))?;
        self.fill_cell(column, id, end)?;
        self.tokens.skip_member();
        self.index = end + 1;
        Ok(true)
    }

    /// Fills a cell with a term that ends at `end`.
    #[inline]
    fn fill_cell(&mut self, column: usize, id: TermId, end: usize) -> Read<()> {
        if self.rows.set(column, id) {
            return Ok(());
        }
        let name = quote(self.rows.variables.name(column).as_bytes());
        fail_malformed(end, format!("a row has two terms for {name}"))
    }

    /// Handles the end of the buffered text.
    fn wait(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        if (text.len() - self.index) as u64 > self.rows.max() {
            return Err(self.too_large(self.index, "a string"));
        }
        if ended {
            let reason = if self.state == JsonState::Start {
                "the log ends before its JSON object"
            } else {
                "the log ends inside its JSON object"
            };
            return fail(text.len(), ErrorClass::Truncated, reason);
        }
        Ok(Pause::Need)
    }

    #[cold]
    #[allow(
        clippy::unnecessary_box_returns,
        reason = "most results are good, and errors are large"
    )]
    fn too_large(&self, index: usize, unit: &str) -> Box<GrammarError> {
        let text = format!("{unit} is longer than {} bytes", self.rows.max());
        Box::new(GrammarError {
            index,
            class: ErrorClass::Limit,
            reason: Reason::limit(text, "max_message_bytes"),
        })
    }

    /// Checks the limit of the text kept before the head.
    fn check_buffered(&self, index: usize) -> Read<()> {
        let from = self
            .buffered
            .as_ref()
            .map_or(index, |buffered| buffered.from);
        if (index - from) as u64 <= self.rows.max() {
            return Ok(());
        }
        let text = format!(
            "the rows before the head, which are buffered until the head is read, take more than \
             {} bytes",
            self.rows.max()
        );
        fail(
            from,
            ErrorClass::Limit,
            Reason::limit(text, "max_message_bytes"),
        )
    }

    #[inline]
    fn process_token(&mut self, text: &[u8], token: Token, start: usize) -> Read<()> {
        match (self.state, token) {
            (JsonState::Term, Token::Key(key)) => return self.process_term_key(text, key),
            (JsonState::ToText(part), Token::String(quoted)) => {
                return self.process_term_text(text, part, quoted, start);
            }
            (JsonState::ToValue, Token::String(quoted)) => {
                return self.process_term_text(text, TermPart::Value, quoted, start);
            }
            (JsonState::Term, _) => return self.end_term(start),
            (JsonState::Row, Token::Key(key)) => return self.process_row_key(text, key, start),
            (JsonState::ToCell(column), Token::ObjectStart) => {
                self.column = column;
                self.texts.clear();
                self.frames.push(TermFrame::new(0));
                self.state = JsonState::Term;
            }
            (JsonState::Row, _) => {
                self.rows.end().map_err(|error| limit(start, error))?;
                self.state = JsonState::Bindings;
            }
            (JsonState::Bindings, Token::ObjectStart) => {
                self.rows.begin(self.offset + start as u64);
                self.state = JsonState::Row;
            }
            (JsonState::Bindings, Token::ArrayEnd) => self.state = JsonState::Results,
            (JsonState::Skip(depth, after), _) => {
                if self.tokens.depth() == depth && !matches!(token, Token::Key(_)) {
                    self.state = after.state();
                }
            }
            (JsonState::ToValue, Token::ObjectStart) => {
                if let Some(frame) = self.frames.last_mut() {
                    if frame.triple.is_some() || frame.texts[TermPart::Value as usize].is_some() {
                        return fail_malformed(start, "'value' occurs twice in a term");
                    }
                    frame.triple = Some([TermId::DEFAULT_GRAPH; 3]);
                }
                self.state = JsonState::Parts;
            }
            (JsonState::Parts, Token::Key(key)) => {
                let decoded = key.text(text, &mut self.unescaped)?;
                let names: [&[u8]; 3] = [b"subject", b"predicate", b"object"];
                let Some(part) = names.iter().position(|name| *name == decoded) else {
                    let found_text = quote(decoded);
                    return fail_malformed(
                        start,
                        format!(
                            "a triple term must have subject, predicate and object, not {found_text}"
                        ),
                    );
                };
                self.state = JsonState::ToPart(part);
            }
            (JsonState::ToPart(part), Token::ObjectStart) => {
                if self.frames.len() > self.max_depth {
                    let max = self.max_depth;
                    let text = format!(
                        "triple terms are nested deeper than {}",
                        format_count(max, "level")
                    );
                    return fail(start, ErrorClass::Limit, Reason::limit(text, "max_depth"));
                }
                self.frames.push(TermFrame::new(part));
                self.state = JsonState::Term;
            }
            (JsonState::Parts, _) => self.state = JsonState::Term,
            _ => return self.process_outer_token(text, token, start),
        }
        Ok(())
    }

    /// Processes a token outside rows.
    fn process_outer_token(&mut self, text: &[u8], token: Token, start: usize) -> Read<()> {
        match (self.state, token) {
            (JsonState::Start, Token::ObjectStart) | (JsonState::Results, Token::ObjectEnd) => {
                self.state = JsonState::Root;
            }
            (JsonState::Root, Token::Key(key)) => return self.process_root_key(text, key, start),
            (JsonState::Root, _) => return self.end(start),
            (JsonState::ToHead, Token::ObjectStart)
            | (JsonState::Variables | JsonState::Links, Token::ArrayEnd) => {
                self.state = JsonState::Head;
            }
            (JsonState::Head, Token::Key(key)) => {
                let depth = self.tokens.depth();
                self.state = match key.text(text, &mut self.unescaped)? {
                    b"vars" if self.rows.variables.len() > 0 => {
                        return fail_malformed(start, "'vars' occurs twice in the head");
                    }
                    b"vars" => JsonState::ToVariables,
                    b"link" => JsonState::ToLinks,
                    _ => JsonState::Skip(depth, AfterSkip::Head),
                };
            }
            (JsonState::Head, _) => {
                self.has_head = true;
                self.state = JsonState::Root;
                if let Some(buffered) = self.buffered.take() {
                    self.rereads_head = true;
                    self.index = buffered.from;
                    self.tokens = buffered.tokens;
                    self.begin_rows();
                }
            }
            (JsonState::ToVariables, Token::ArrayStart) => self.state = JsonState::Variables,
            (JsonState::Variables, Token::String(quoted)) => {
                let name = self.decode_string(text, quoted)?;
                if !self.rows.charge_head(&name) {
                    return Err(self.too_large(start, "the head"));
                }
                if let Err(reason) = self.rows.variables.add(&name) {
                    return fail_malformed(start, reason);
                }
            }
            (JsonState::ToLinks, Token::ArrayStart) => self.state = JsonState::Links,
            (JsonState::Links, Token::String(quoted)) => {
                let link = self.decode_string(text, quoted)?;
                if !self.rows.charge_head(&link) {
                    return Err(self.too_large(start, "the head"));
                }
                self.links.push(link);
            }
            (JsonState::ToBoolean, Token::True | Token::False) => {
                self.boolean = Some(token == Token::True);
                self.state = JsonState::Root;
            }
            (JsonState::ToResults, Token::ObjectStart) => self.state = JsonState::Results,
            (JsonState::Results, Token::Key(key)) => {
                let depth = self.tokens.depth();
                self.state = match key.text(text, &mut self.unescaped)? {
                    b"bindings" if self.has_results => {
                        return fail_malformed(start, "'bindings' occurs twice in the results");
                    }
                    b"bindings" => JsonState::ToBindings,
                    _ => JsonState::Skip(depth, AfterSkip::Results),
                };
            }
            (JsonState::ToBindings, Token::ArrayStart) => {
                if self.boolean.is_some() {
                    return fail_malformed(start, BOOLEAN_AND_RESULTS);
                }
                self.has_results = true;
                if self.has_head {
                    self.begin_rows();
                } else {
                    self.buffered = Some(BufferedRows {
                        from: self.index,
                        tokens: self.tokens.clone(),
                    });
                    self.state = JsonState::Skip(self.tokens.depth() - 1, AfterSkip::Results);
                }
            }
            _ => return self.reject_misplaced(token, start),
        }
        Ok(())
    }

    fn begin_rows(&mut self) {
        let links = std::mem::take(&mut self.links);
        self.rows.set_head(None, links);
        self.state = JsonState::Bindings;
    }

    #[cold]
    fn reject_misplaced(&self, token: Token, start: usize) -> Read<()> {
        let (subject, expected) = match self.state {
            JsonState::Start => ("a result set", "an object"),
            JsonState::ToHead => ("head", "an object"),
            JsonState::ToVariables => ("vars", "an array"),
            JsonState::Variables => ("a variable", "a string"),
            JsonState::ToLinks => ("link", "an array"),
            JsonState::Links => ("a link", "a string"),
            JsonState::ToBoolean => ("boolean", "true or false"),
            JsonState::ToResults => ("results", "an object"),
            JsonState::ToBindings => ("bindings", "an array"),
            JsonState::Bindings => ("a row", "an object"),
            JsonState::ToText(_) => ("a member of a term", "a string"),
            JsonState::ToValue => (
                "the value of a term",
                "a string, or an object for a triple term",
            ),
            _ => ("a term", "an object"),
        };
        unexpected_kind_error(start, subject, expected, token)
    }

    fn process_root_key(&mut self, text: &[u8], key: QuotedRange, start: usize) -> Read<()> {
        let depth = self.tokens.depth();
        self.state = match key.text(text, &mut self.unescaped)? {
            b"head" if std::mem::take(&mut self.rereads_head) => {
                JsonState::Skip(depth, AfterSkip::Root)
            }
            b"head" if self.has_head => {
                return fail_malformed(start, "the result set has two heads");
            }
            b"head" => JsonState::ToHead,
            b"results" if self.has_results => {
                return fail_malformed(start, "'results' occurs twice in the result set");
            }
            b"results" if self.boolean.is_some() => {
                return fail_malformed(start, BOOLEAN_AND_RESULTS);
            }
            b"results" => JsonState::ToResults,
            b"boolean" if self.boolean.is_some() => {
                return fail_malformed(start, "'boolean' occurs twice in the result set");
            }
            b"boolean" if self.has_results => return fail_malformed(start, BOOLEAN_AND_RESULTS),
            b"boolean" => JsonState::ToBoolean,
            _ => JsonState::Skip(depth, AfterSkip::Root),
        };
        Ok(())
    }

    /// Ends the document.
    fn end(&mut self, start: usize) -> Read<()> {
        match self.boolean {
            Some(_) => {
                self.rows.variables.clear();
                let links = std::mem::take(&mut self.links);
                self.rows.set_head(self.boolean, links);
            }
            None if !self.has_results => {
                return fail_malformed(
                    start,
                    "the result set has neither results with bindings nor a boolean",
                );
            }
            None if !self.has_head => {
                return fail_malformed(
                    start,
                    "the result set has no head, so its variables are unknown",
                );
            }
            None => {}
        }
        self.state = JsonState::End;
        Ok(())
    }

    #[inline]
    fn process_row_key(&mut self, text: &[u8], key: QuotedRange, start: usize) -> Read<()> {
        let name = key.text(text, &mut self.unescaped)?;
        let Some(column) = self.rows.variables.column(name, self.rows.next) else {
            let found_text = quote(name);
            return fail_malformed(
                start,
                format!("the variable {found_text} is not in the head"),
            );
        };
        self.state = JsonState::ToCell(column);
        Ok(())
    }

    #[inline]
    fn process_term_key(&mut self, text: &[u8], key: QuotedRange) -> Read<()> {
        self.state = match key.text(text, &mut self.unescaped)? {
            b"type" => JsonState::ToText(TermPart::Type),
            b"value" => JsonState::ToValue,
            b"datatype" => JsonState::ToText(TermPart::Datatype),
            b"xml:lang" => JsonState::ToText(TermPart::Language),
            b"its:dir" => JsonState::ToText(TermPart::Direction),
            _ => JsonState::Skip(self.tokens.depth(), AfterSkip::Term),
        };
        Ok(())
    }

    #[inline]
    fn process_term_text(
        &mut self,
        text: &[u8],
        part: TermPart,
        quoted: QuotedRange,
        start: usize,
    ) -> Read<()> {
        let decoded = quoted.text(text, &mut self.unescaped)?;
        let from = self.texts.len();
        self.texts.extend_from_slice(decoded);
        let to = self.texts.len();
        if let Some(frame) = self.frames.last_mut() {
            let slot = &mut frame.texts[part as usize];
            if slot.is_some() || (part == TermPart::Value && frame.triple.is_some()) {
                let name = PART_NAMES[part as usize];
                return fail_malformed(start, format!("'{name}' occurs twice in a term"));
            }
            *slot = Some((from, to));
        }
        self.state = JsonState::Term;
        Ok(())
    }

    /// Ends the innermost term.
    #[inline]
    fn end_term(&mut self, start: usize) -> Read<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let id = self.finish_term(&frame, start)?;
        if let Some(parent) = self.frames.last_mut() {
            let part = parent
                .triple
                .as_mut()
                .map(|parts| &mut parts[frame.position]);
            match part {
                Some(part) if *part == TermId::DEFAULT_GRAPH => *part = id,
                _ => return fail_malformed(start, "a part of a triple term occurs twice"),
            }
            self.state = JsonState::Parts;
            return Ok(());
        }
        self.fill_cell(self.column, id, start)?;
        self.state = JsonState::Row;
        Ok(())
    }

    #[inline]
    fn finish_term(&mut self, frame: &TermFrame, start: usize) -> Read<TermId> {
        let texts = std::mem::take(&mut self.texts);
        let result = self.make_term(frame, &texts, start);
        self.texts = texts;
        result
    }

    #[inline]
    fn make_term(&mut self, frame: &TermFrame, texts: &[u8], start: usize) -> Read<TermId> {
        let get = |part: TermPart| frame.texts[part as usize].map(|(from, to)| &texts[from..to]);
        let Some(kind) = get(TermPart::Type) else {
            return fail_malformed(start, "a term has no type");
        };
        if kind == b"triple" {
            let parts = match frame.triple {
                Some(parts) if !parts.contains(&TermId::DEFAULT_GRAPH) => parts,
                _ => {
                    return fail_malformed(
                        start,
                        "the value of a triple term must have a subject, a predicate and an object",
                    );
                }
            };
            return self.rows.triple(parts).map_err(|error| limit(start, error));
        }
        let Some(value) = get(TermPart::Value) else {
            return fail_malformed(start, "the value of a term must be a string");
        };
        let literal = matches!(kind, b"literal" | b"typed-literal");
        let term = match kind {
            b"uri" => self.rows.add_iri(value),
            b"bnode" => self.rows.add_blank_node(value),
            _ if literal => {
                let kind = find_literal_kind(
                    get(TermPart::Language),
                    get(TermPart::Direction),
                    get(TermPart::Datatype),
                );
                match kind {
                    Ok(kind) => self.rows.add_literal(value, kind),
                    Err(reason) => return fail_malformed(start, reason),
                }
            }
            other => {
                let found_text = quote(other);
                return fail_malformed(
                    start,
                    format!(
                        "the type of a term must be uri, literal, bnode or triple, not {found_text}"
                    ),
                );
            }
        };
        term.map_err(|error| limit(start, error))
    }
}

const BOOLEAN_AND_RESULTS: &str =
    "the result set has both a boolean (of ASK) and results (of SELECT)";

/// Returns the kind of a literal from its attributes. An empty `xml:lang` means no language, as in
/// XML.
pub(super) fn find_literal_kind<'a>(
    language: Option<&'a [u8]>,
    direction: Option<&[u8]>,
    datatype: Option<&'a [u8]>,
) -> Result<ResultLiteralKind<'a>, Reason> {
    let language = language.filter(|language| !language.is_empty());
    let direction = match direction {
        None => 0,
        Some(_) if language.is_none() => {
            return Err("a base direction without a language".into());
        }
        Some(b"ltr") => flags::LTR,
        Some(b"rtl") => flags::RTL,
        Some(other) => {
            let found_text = quote(other);
            return Err(format!("the base direction {found_text} is neither ltr nor rtl").into());
        }
    };
    match (language, datatype) {
        (None, None) => Ok(ResultLiteralKind::Plain),
        (None, Some(datatype)) => Ok(ResultLiteralKind::Datatype(datatype)),
        (Some(language), datatype) => match datatype {
            Some(datatype) if !is_language_type(datatype) => {
                Err("a literal has a language and a datatype".into())
            }
            _ => Ok(ResultLiteralKind::Language(language, direction)),
        },
    }
}

impl Grammar for JsonResultMachine {
    type Record = TermId;

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        if self.offset == 0 && self.index == 0 && text.starts_with(BOM) {
            self.index = 3;
        }
        self.read(text, reach == Reach::End)
    }

    fn consumed(&self) -> usize {
        self.buffered
            .as_ref()
            .map_or(self.index, |buffered| buffered.from)
    }

    fn forget(&mut self, consumed: &[u8], offset: u64) {
        self.index -= consumed.len();
        if let Some(buffered) = &mut self.buffered {
            buffered.from -= consumed.len();
        }
        self.offset = offset;
    }

    fn builder(&mut self) -> &mut ResultBuilder {
        &mut self.rows.builder
    }

    fn take(&mut self) -> Option<ResultBatch> {
        self.rows.take(self.state == JsonState::End)
    }

    fn take_part(&mut self) -> ResultBatch {
        self.rows.builder.take_part()
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.tokens = JsonTokenizer::new(ENCLOSING_LEVELS + 2 * self.max_depth);
        self.state = JsonState::Start;
        self.index = 0;
        self.offset = 0;
        self.links = Vec::new();
        self.has_head = false;
        self.has_results = false;
        self.boolean = None;
        self.buffered = None;
        self.rereads_head = false;
        self.frames.clear();
        self.texts.clear();
    }
}
