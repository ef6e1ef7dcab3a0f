//! The grammar of Turtle and TriG as a push-down automaton. Parsing can pause at every token.
//!
//! - In: valid UTF-8 text, which arrives in pieces ([`TurtleMachine::run`]).
//! - Out: quads, namespaces and message ends in the [`BatchBuilder`].
//! - Cost: linear in the text. Memory is bounded by a small frame per open bracket.
//! - Law: no backtracking and no recursion. If the text ends inside a token, scanning later
//!   continues where it stopped.
//!
//! A bracket that represents a node (`[…]`, `(…)`) passes its node to the frame below as soon as
//! the bracket is known not to be empty. Quads are therefore emitted in reading order.
//!
//! This file contains the states, the effect of each token, and terms of a single token. The space
//! between tokens is in `space`, directives in `directives`, strings and numbers in `literals`,
//! errors in `errors`, and recovery in `skip`.

mod directives;
mod errors;
mod literals;
mod skip;
mod space;

use literals::Pending;

use rustc_hash::FxHashMap;

use super::lexer::{self, Lexed, TokenError, Word};
use super::terms::{KnownIri, LogTerms, limit};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::{BOM, SPACE, is};
use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;
use crate::model::term::{Quad, TermId};
use crate::syntax::text::dialect::{DelimiterEffect, Dialects};
use crate::syntax::text::grammar::{GrammarError, Pause, Reach};

/// The token that a frame expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserState {
    /// A statement, a directive, a delimiter, or the end (of the log or the graph block).
    Statement,
    PrefixName,
    PrefixIri,
    BaseIri,
    VersionLabel,
    DirectiveEnd,
    DelimiterEnd,
    GraphName,
    GraphBrace,
    /// A verb, or the `{` of a graph block named by the subject.
    VerbOrGraph,
    Verb,
    /// A verb, or the end if the subject may be a statement on its own.
    VerbOrNone,
    /// A verb, or the end after a `;`.
    VerbOrEnd,
    Object,
    AfterObject,
    /// The optional name of a reifier after `~`.
    Reifier,
    /// The first token after `[`.
    Anonymous,
    /// The first token after `(`.
    Collection,
    Item,
    ReifiedSubject,
    ReifiedVerb,
    ReifiedObject,
    ReifiedAfter,
    ReifiedReifier,
    ReifiedEnd,
    TermSubject,
    TermVerb,
    TermObject,
    TermEnd,
    /// The optional language or datatype of a string.
    LiteralTail,
    Datatype,
}

/// The end of a list of predicates and objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListEnd {
    Dot,
    Bracket,
    Annotation,
}

/// An open bracket or statement. Ids that are not yet set are 0.
#[derive(Clone, Copy, Debug)]
struct BracketFrame {
    state: ParserState,
    end: ListEnd,
    subject: TermId,
    predicate: TermId,
    object: TermId,
    reifier: TermId,
}

const NONE: TermId = TermId::DEFAULT_GRAPH;

impl BracketFrame {
    const fn new(state: ParserState) -> Self {
        Self {
            state,
            end: ListEnd::Dot,
            subject: NONE,
            predicate: NONE,
            object: NONE,
            reifier: NONE,
        }
    }

    const fn list(state: ParserState, end: ListEnd, subject: TermId) -> Self {
        Self {
            end,
            subject,
            ..Self::new(state)
        }
    }
}

/// The syntax of a node. It determines the tokens that may follow the node as a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeSyntax {
    Term,
    Collection,
    PropertyList,
    Reified,
}

// Node kinds that a position may allow.
const IRIS: u8 = 1;
const LITERALS: u8 = 2;
const COLLECTIONS: u8 = 4;
const PROPERTY_LISTS: u8 = 8;
const TRIPLE_TERMS: u8 = 16;
const REIFIED: u8 = 32;
const BNODES: u8 = 64;
const SUBJECT: u8 = IRIS | BNODES | COLLECTIONS | PROPERTY_LISTS | REIFIED;
const OBJECT: u8 = SUBJECT | LITERALS | TRIPLE_TERMS;

/// Returns the kinds of nodes allowed in a position, and a description of the position.
const fn position(state: ParserState) -> (u8, &'static str) {
    match state {
        ParserState::Statement => (SUBJECT, "a statement"),
        ParserState::Item => (OBJECT, "an item or ')'"),
        ParserState::ReifiedSubject => (IRIS | BNODES | REIFIED, "a subject after '<<'"),
        ParserState::ReifiedObject => (
            IRIS | BNODES | LITERALS | TRIPLE_TERMS | REIFIED,
            "an object (not a list) in '<< >>'",
        ),
        ParserState::TermSubject => (IRIS | BNODES, "an IRI or blank node after '<<('"),
        ParserState::TermObject => (
            IRIS | BNODES | LITERALS | TRIPLE_TERMS,
            "an object (not a list) in '<<( )>>'",
        ),
        ParserState::GraphName => (IRIS | BNODES, "a graph name after GRAPH"),
        ParserState::Reifier | ParserState::ReifiedReifier => (IRIS | BNODES, "a reifier"),
        _ => (OBJECT, "an object"),
    }
}

/// State of a log between two tokens.
pub(super) struct TurtleMachine {
    /// Index of the next token in the text.
    pub pos: usize,
    /// Offset of the text in the log.
    pub offset: u64,
    /// Whether the first line of the text is preceded only by white space.
    pub blank: bool,
    /// Offset after the last delimiter.
    pub after_delimiter: u64,
    pub builder: BatchBuilder,
    pub dialects: Dialects,
    terms: LogTerms,
    top: BracketFrame,
    below: Vec<BracketFrame>,
    depth: u32,
    graph: TermId,
    in_graph: bool,
    quads_format: bool,
    parts: bool,
    full: bool,
    reach: Reach,
    in_comment: bool,
    /// Number of comments so far that are not delimiters.
    pub comments: u64,
    /// Number of scanned bytes of the incomplete token, and its phase.
    scanned: (usize, u8),
    pending: Pending,
    prefix: Vec<u8>,
    /// Whether the directive begins with `@` and therefore ends with a dot.
    dotted: bool,
    /// Effect and start of an `@message` whose dot is expected.
    delimiter: (DelimiterEffect, u64),
    unescaped: Vec<u8>,
    /// The search for the next delimiter after an error.
    search: Option<Box<skip::DelimiterSearch>>,
}

impl TurtleMachine {
    pub fn new(
        builder: BatchBuilder,
        dialects: Dialects,
        terms: LogTerms,
        quads_format: bool,
        parts: bool,
    ) -> Self {
        Self {
            pos: 0,
            offset: 0,
            blank: true,
            after_delimiter: 0,
            builder,
            dialects,
            terms,
            top: BracketFrame::new(ParserState::Statement),
            below: Vec::new(),
            depth: 0,
            graph: NONE,
            in_graph: false,
            quads_format,
            parts,
            full: false,
            reach: Reach::Open,
            in_comment: false,
            comments: 0,
            scanned: (0, 0),
            pending: Pending::EMPTY,
            prefix: Vec::new(),
            dotted: false,
            delimiter: (DelimiterEffect::Nothing, 0),
            unescaped: Vec::new(),
            search: None,
        }
    }

    /// Prepares for the next log. The builder has already been reset.
    pub fn reset(&mut self, dialects: Dialects) {
        self.pos = 0;
        self.offset = 0;
        self.blank = true;
        self.after_delimiter = 0;
        self.dialects = dialects;
        self.terms.reset();
        self.top = BracketFrame::new(ParserState::Statement);
        self.below.clear();
        self.depth = 0;
        self.graph = NONE;
        self.in_graph = false;
        self.full = false;
        self.reach = Reach::Open;
        self.in_comment = false;
        self.comments = 0;
        self.scanned = (0, 0);
        self.prefix.clear();
        self.dotted = false;
        self.delimiter = (DelimiterEffect::Nothing, 0);
        self.unescaped.clear();
        self.search = None;
    }

    /// Parses `text` from [`Self::pos`] on until the caller has to act.
    pub fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        self.reach = reach;
        if self.pos == 0 && self.offset == 0 && text.starts_with(BOM) {
            self.pos = BOM.len();
        }
        loop {
            if self.full {
                return Ok(Pause::Full);
            }
            match self.process_token(text) {
                // The next token must not continue where this one did.
                Ok(()) => debug_assert_eq!(self.scanned, (0, 0), "the state of a token is unused"),
                Err(TokenError::Error(error)) => return self.choose_error(text, error),
                // A comment ended a message and with it the batch.
                Err(TokenError::Need { .. }) if self.full => {
                    return Ok(Pause::Full);
                }
                Err(TokenError::Need { scanned, phase }) => {
                    if (text.len() - self.pos) as u64 > self.max_token() {
                        return Err(Box::new(self.token_too_long_error()));
                    }
                    if reach == Reach::End {
                        return self.check_end_of_log(text);
                    }
                    self.scanned = (scanned.saturating_sub(self.pos), phase);
                    return Ok(Pause::Need);
                }
            }
        }
    }

    /// Takes the current part of the open message. Ids in open frames move to the next batch.
    pub fn take_part(&mut self) -> MessageBatch {
        self.full = false;
        let batch = self.builder.take_part();
        self.move_ids(&batch, &mut FxHashMap::default());
        batch
    }

    /// Returns the completed messages, if any. An open message moves to the next batch.
    pub fn take(&mut self) -> Option<MessageBatch> {
        self.full = false;
        let mut moved = FxHashMap::default();
        let serial = self.builder.serial();
        let batch = self.builder.take_complete(&mut moved)?;
        if self.builder.is_open() {
            self.move_ids(&batch, &mut moved);
            self.terms.move_ids(serial, &self.builder, &moved);
        }
        Some(batch)
    }

    fn move_ids(&mut self, from: &MessageBatch, moved: &mut FxHashMap<TermId, TermId>) {
        if matches!(
            self.top.state,
            ParserState::LiteralTail | ParserState::Datatype
        ) {
            self.pending.text.offset = self
                .builder
                .append_text(from.table().span(self.pending.text));
        }
        let frames = self
            .below
            .iter_mut()
            .chain(std::iter::once(&mut self.top))
            .flat_map(|frame| {
                [
                    &mut frame.subject,
                    &mut frame.predicate,
                    &mut frame.object,
                    &mut frame.reifier,
                ]
            })
            .chain(std::iter::once(&mut self.graph));
        for id in frames {
            *id = self.builder.copy_term(from.table(), *id, moved);
        }
    }

    fn max_token(&self) -> u64 {
        self.builder.limits().max_message_bytes
    }

    // --- messages ---

    fn end_message(&mut self) {
        self.builder.end_message();
        self.terms.end_message();
        self.full = self.builder.is_full();
    }

    /// Begins a message with this statement if none is open.
    #[inline]
    fn open(&mut self) {
        if !self.builder.is_open() {
            self.builder.begin_message(self.offset + self.pos as u64);
        }
    }

    // --- frames ---

    #[inline]
    fn push(&mut self, frame: BracketFrame) {
        self.below.push(std::mem::replace(&mut self.top, frame));
    }

    #[inline]
    fn pop(&mut self) {
        self.top = self
            .below
            .pop()
            .unwrap_or(BracketFrame::new(ParserState::Statement));
    }

    /// Opens a bracket.
    fn open_bracket(&mut self, frame: BracketFrame) -> Lexed<()> {
        let max = self.builder.limits().max_depth;
        if self.depth >= max {
            return Err(TokenError::error(
                self.pos,
                ErrorClass::Limit,
                Reason::limit(
                    format!("brackets are nested deeper than {max}"),
                    "max_depth",
                ),
            ));
        }
        self.depth += 1;
        self.push(frame);
        Ok(())
    }

    /// Closes a bracket.
    #[inline]
    fn close_bracket(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.pop();
    }

    // --- quads ---

    #[inline]
    fn emit(&mut self, subject: TermId, predicate: TermId, object: TermId) -> Lexed<()> {
        let quad = Quad {
            subject,
            predicate,
            object,
            graph: self.graph,
        };
        self.builder
            .add_quad(quad)
            .map_err(|exceeded| limit(self.pos, exceeded))?;
        if self.parts && self.builder.is_part_full() {
            self.full = true;
        }
        Ok(())
    }

    #[inline]
    fn add_known_iri(&mut self, known: KnownIri) -> Lexed<TermId> {
        self.terms
            .add_known_iri(&mut self.builder, known)
            .map_err(|exceeded| limit(self.pos, exceeded))
    }

    fn add_anonymous(&mut self) -> Lexed<TermId> {
        self.terms
            .add_anonymous(&mut self.builder)
            .map_err(|exceeded| limit(self.pos, exceeded))
    }

    fn emit_known(&mut self, subject: TermId, predicate: KnownIri, object: TermId) -> Lexed<()> {
        let predicate = self.add_known_iri(predicate)?;
        self.emit(subject, predicate, object)
    }

    fn triple_term(&mut self, triple: [TermId; 3]) -> Lexed<TermId> {
        self.builder
            .add_triple_term(triple)
            .map_err(|exceeded| limit(self.pos, exceeded))
    }

    /// Adds the triple that states that `reifier` reifies the given triple.
    fn reify(&mut self, reifier: TermId, triple: [TermId; 3]) -> Lexed<()> {
        let term = self.triple_term(triple)?;
        self.emit_known(reifier, KnownIri::Reifies, term)
    }

    /// Passes a node to the top frame, which expects one.
    #[inline]
    fn deliver(&mut self, node: TermId, syntax: NodeSyntax) -> Lexed<()> {
        match self.top.state {
            ParserState::Object => {
                self.top.object = node;
                self.top.reifier = NONE;
                self.top.state = ParserState::AfterObject;
                self.emit(self.top.subject, self.top.predicate, node)?;
            }
            ParserState::Statement => {
                let state = match syntax {
                    NodeSyntax::Term if self.in_graph => ParserState::Verb,
                    NodeSyntax::Term => ParserState::VerbOrGraph,
                    NodeSyntax::Collection => ParserState::Verb,
                    NodeSyntax::PropertyList | NodeSyntax::Reified => ParserState::VerbOrNone,
                };
                self.push(BracketFrame::list(state, ListEnd::Dot, node));
            }
            ParserState::Item => {
                let mut cell = self.top.subject;
                if self.top.object != NONE {
                    let next = self.add_anonymous()?;
                    self.emit_known(cell, KnownIri::Rest, next)?;
                    cell = next;
                }
                self.top.subject = cell;
                self.top.object = node;
                self.emit_known(cell, KnownIri::First, node)?;
            }
            ParserState::GraphName => {
                self.graph = node;
                self.top.state = ParserState::GraphBrace;
            }
            ParserState::Reifier => {
                self.top.reifier = node;
                self.top.state = ParserState::AfterObject;
                let BracketFrame {
                    subject,
                    predicate,
                    object,
                    ..
                } = self.top;
                self.reify(node, [subject, predicate, object])?;
            }
            ParserState::ReifiedSubject => {
                self.top.subject = node;
                self.top.state = ParserState::ReifiedVerb;
            }
            ParserState::ReifiedObject => {
                self.top.object = node;
                self.top.state = ParserState::ReifiedAfter;
            }
            ParserState::ReifiedReifier => {
                self.top.reifier = node;
                self.top.state = ParserState::ReifiedEnd;
            }
            ParserState::TermSubject => {
                self.top.subject = node;
                self.top.state = ParserState::TermVerb;
            }
            ParserState::TermObject => {
                self.top.object = node;
                self.top.state = ParserState::TermEnd;
            }
            // No other state expects a node.
            _ => {}
        }
        Ok(())
    }

    /// Passes on a node whose token ends at `end`.
    #[inline]
    fn pass_node(&mut self, node: TermId, end: usize) -> Lexed<()> {
        if self.top.state == ParserState::Statement {
            self.open();
        }
        self.pos = end;
        self.deliver(node, NodeSyntax::Term)
    }

    // --- tokens ---

    /// Processes one token.
    fn process_token(&mut self, text: &[u8]) -> Lexed<()> {
        let byte = self.skip_space(text)?;
        match self.top.state {
            ParserState::Object
            | ParserState::TermObject
            | ParserState::TermSubject
            | ParserState::ReifiedSubject
            | ParserState::ReifiedObject
            | ParserState::GraphName => self.parse_value(text, byte),
            ParserState::Verb
            | ParserState::VerbOrGraph
            | ParserState::VerbOrNone
            | ParserState::VerbOrEnd => self.parse_verb_or_end(text, byte),
            ParserState::AfterObject => self.parse_after_object(text, byte),
            ParserState::Statement => self.parse_statement(text, byte),
            ParserState::Item => {
                if byte == b')' {
                    self.pos += 1;
                    let cell = self.top.subject;
                    self.close_bracket();
                    let nil = self.add_known_iri(KnownIri::Nil)?;
                    return self.emit_known(cell, KnownIri::Rest, nil);
                }
                self.parse_value(text, byte)
            }
            ParserState::LiteralTail => self.parse_literal_tail(text, byte),
            ParserState::Datatype => {
                let (datatype, end) =
                    self.parse_iri(text, self.pos, byte, "a datatype IRI after '^^'")?;
                let literal = self.add_typed(datatype, self.pos)?;
                self.pop();
                self.pass_node(literal, end)
            }
            ParserState::Anonymous => self.parse_anonymous_or_list(text, byte),
            ParserState::Collection => self.parse_collection(byte),
            ParserState::Reifier => {
                if starts_reifier(text, self.pos, byte, self.reach)? {
                    return self.parse_value(text, byte);
                }
                let reifier = self.add_anonymous()?;
                self.deliver(reifier, NodeSyntax::Term)
            }
            ParserState::ReifiedVerb | ParserState::TermVerb => {
                let (predicate, end) = self.parse_verb(text, byte, "a predicate")?;
                self.pos = end;
                self.top.predicate = predicate;
                self.top.state = if self.top.state == ParserState::ReifiedVerb {
                    ParserState::ReifiedObject
                } else {
                    ParserState::TermObject
                };
                Ok(())
            }
            ParserState::ReifiedAfter if byte == b'~' => {
                self.pos += 1;
                self.top.state = ParserState::ReifiedReifier;
                Ok(())
            }
            ParserState::ReifiedReifier if starts_reifier(text, self.pos, byte, self.reach)? => {
                self.parse_value(text, byte)
            }
            ParserState::ReifiedAfter | ParserState::ReifiedReifier | ParserState::ReifiedEnd => {
                self.end_reified(text)
            }
            ParserState::TermEnd => self.end_triple_term(text),
            ParserState::GraphBrace => {
                if byte != b'{' {
                    return self.unexpected_error(text, "'{' after the graph name");
                }
                self.pos += 1;
                self.top.state = ParserState::Statement;
                self.in_graph = true;
                Ok(())
            }
            ParserState::PrefixName
            | ParserState::PrefixIri
            | ParserState::BaseIri
            | ParserState::VersionLabel
            | ParserState::DirectiveEnd
            | ParserState::DelimiterEnd => self.parse_directive(text, byte),
        }
    }

    /// Processes `>>`: the triple is reified.
    fn end_reified(&mut self, text: &[u8]) -> Lexed<()> {
        self.expect(text, b">>", "'>>'")?;
        let BracketFrame {
            subject,
            predicate,
            object,
            mut reifier,
            ..
        } = self.top;
        if reifier == NONE {
            reifier = self.add_anonymous()?;
        }
        self.reify(reifier, [subject, predicate, object])?;
        self.close_bracket();
        self.deliver(reifier, NodeSyntax::Reified)
    }

    /// Processes `)>>`.
    fn end_triple_term(&mut self, text: &[u8]) -> Lexed<()> {
        self.expect(text, b")>>", "')>>'")?;
        let BracketFrame {
            subject,
            predicate,
            object,
            ..
        } = self.top;
        let term = self.triple_term([subject, predicate, object])?;
        self.close_bracket();
        self.deliver(term, NodeSyntax::Term)
    }

    /// Consumes a fixed token.
    fn expect(&mut self, text: &[u8], token: &[u8], expected: &str) -> Lexed<()> {
        let rest = &text[self.pos..];
        if rest.starts_with(token) {
            self.pos += token.len();
            return Ok(());
        }
        if token.starts_with(rest) && self.reach != Reach::End {
            return Err(TokenError::need_more(self.pos));
        }
        self.unexpected_error(text, expected)
    }

    /// Returns the position and the phase in which to continue the token at `start`.
    #[inline]
    fn resume(&mut self, start: usize) -> (usize, u8) {
        if start != self.pos {
            return (start, 0);
        }
        let (scanned, phase) = std::mem::take(&mut self.scanned);
        (start + scanned, phase)
    }

    #[inline]
    fn is_at_end(&self) -> bool {
        self.reach == Reach::End
    }

    /// Rejects a token that is longer than a message may be.
    #[inline]
    fn check_length(&self, start: usize, end: usize) -> Lexed<()> {
        if (end - start) as u64 > self.max_token() {
            return Err(TokenError::Error(Box::new(self.token_too_long_error())));
        }
        Ok(())
    }

    /// Reads the name or word at `start`. All bytes that had to be read to find its end count
    /// towards its length.
    #[inline]
    fn read_word(&mut self, text: &[u8], start: usize) -> Lexed<Word> {
        let word = lexer::word(text, start, self.resume(start).0, self.is_at_end())?;
        let end = match &word {
            Word::Name(name) => lexer::lookahead_end(text, name.end),
            Word::Bare(end) => lexer::run_end(text, *end),
        };
        self.check_length(start, end)?;
        Ok(word)
    }

    /// Reads an IRI or prefixed name. Returns its term and end.
    #[inline]
    fn parse_iri(
        &mut self,
        text: &[u8],
        start: usize,
        byte: u8,
        expected: &str,
    ) -> Lexed<(TermId, usize)> {
        if byte == b'<' {
            match text.get(start + 1) {
                Some(b'<') => return self.unexpected_error(text, expected),
                Some(_) => {}
                None => return Err(TokenError::need_more(start)),
            }
            let end = lexer::iri_end(text, start, self.resume(start).0)?;
            self.check_length(start, end)?;
            let id = self.terms.add_iri(&mut self.builder, text, start, end)?;
            return Ok((id, end));
        }
        if starts_word(byte) {
            match self.read_word(text, start)? {
                Word::Name(name) => {
                    let id = self.terms.name(&mut self.builder, text, start, name)?;
                    return Ok((id, name.end));
                }
                Word::Bare(end) => return self.bad_word(text, start, end, expected),
            }
        }
        self.unexpected_error(text, expected)
    }

    #[inline]
    fn parse_verb(&mut self, text: &[u8], byte: u8, expected: &str) -> Lexed<(TermId, usize)> {
        if byte == b'a' {
            let start = self.pos;
            if text.get(start + 1).is_some_and(|&next| is(next, SPACE)) {
                self.scanned = (0, 0);
                return Ok((self.add_known_iri(KnownIri::Type)?, start + 1));
            }
            match self.read_word(text, start)? {
                Word::Bare(end) if end == start + 1 => {
                    return Ok((self.add_known_iri(KnownIri::Type)?, end));
                }
                Word::Bare(end) => return self.bad_word(text, start, end, expected),
                Word::Name(name) => {
                    let id = self.terms.name(&mut self.builder, text, start, name)?;
                    return Ok((id, name.end));
                }
            }
        }
        self.parse_iri(text, self.pos, byte, expected)
    }

    /// Reads a node or literal, or its first token. The state of the top frame determines which
    /// kinds are allowed.
    #[inline]
    fn parse_value(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let (allowed, expected) = position(self.top.state);
        let start = self.pos;
        match byte {
            b'<' => match text.get(start + 1) {
                Some(b'<') => self.parse_double_angle(text, allowed, expected),
                Some(_) => {
                    let (id, end) = self.parse_iri(text, start, byte, expected)?;
                    self.pass_node(id, end)
                }
                None => Err(TokenError::need_more(start)),
            },
            b'"' | b'\'' if allowed & LITERALS != 0 => {
                let from = self.resume(start).0;
                let string = lexer::string(text, start, from, self.is_at_end())?;
                self.check_length(start, string.end)?;
                self.parse_literal(text, string)
            }
            b'_' if allowed & BNODES != 0 => {
                let from = self.resume(start).0;
                let end = lexer::label_end(text, start, from, self.is_at_end())?;
                self.check_length(start, lexer::lookahead_end(text, end))?;
                let id = self
                    .terms
                    .add_blank_node(&mut self.builder, &text[start + 2..end])
                    .map_err(|exceeded| limit(start, exceeded))?;
                self.pass_node(id, end)
            }
            b'[' if allowed & BNODES != 0 => {
                if self.top.state == ParserState::Statement {
                    self.open();
                }
                self.open_bracket(BracketFrame::new(ParserState::Anonymous))?;
                self.top.subject = self.add_anonymous()?;
                self.pos += 1;
                Ok(())
            }
            b'(' if allowed & COLLECTIONS != 0 => {
                if self.top.state == ParserState::Statement {
                    self.open();
                }
                self.open_bracket(BracketFrame::new(ParserState::Collection))?;
                self.pos += 1;
                Ok(())
            }
            b'0'..=b'9' | b'+' | b'-' if allowed & LITERALS != 0 => self.parse_number(text),
            b'.' if allowed & LITERALS != 0 => match text.get(start + 1) {
                Some(b'0'..=b'9') => self.parse_number(text),
                None if !self.is_at_end() => Err(TokenError::need_more(start)),
                _ => self.unexpected_error(text, expected),
            },
            _ if starts_word(byte) => match self.read_word(text, start)? {
                Word::Name(name) => {
                    let id = self.terms.name(&mut self.builder, text, start, name)?;
                    self.pass_node(id, name.end)
                }
                Word::Bare(end) => {
                    let word = &text[start..end];
                    if allowed & LITERALS != 0 && (word == b"true" || word == b"false") {
                        let id = self
                            .terms
                            .add_bare_literal(&mut self.builder, word, KnownIri::Boolean)
                            .map_err(|exceeded| limit(start, exceeded))?;
                        return self.pass_node(id, end);
                    }
                    self.bad_word(text, start, end, expected)
                }
            },
            _ => self.unexpected_error(text, expected),
        }
    }

    /// Processes `<<` or `<<(`.
    fn parse_double_angle(&mut self, text: &[u8], allowed: u8, expected: &str) -> Lexed<()> {
        let (state, kind, length) = match text.get(self.pos + 2) {
            None if !self.is_at_end() => return Err(TokenError::need_more(self.pos)),
            Some(b'(') => (ParserState::TermSubject, TRIPLE_TERMS, 3),
            _ => (ParserState::ReifiedSubject, REIFIED, 2),
        };
        if allowed & kind == 0 {
            return self.unexpected_error(text, expected);
        }
        if self.top.state == ParserState::Statement {
            self.open();
        }
        self.open_bracket(BracketFrame::new(state))?;
        self.pos += length;
        Ok(())
    }

    // --- brackets ---

    /// Processes the first token after `[`: `]`, or the predicates of the node.
    fn parse_anonymous_or_list(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let node = self.top.subject;
        if byte == b']' {
            self.pos += 1;
            self.close_bracket();
            return self.deliver(node, NodeSyntax::Term);
        }
        let below = self
            .below
            .last()
            .map_or(ParserState::Statement, |frame| frame.state);
        if position(below).0 & PROPERTY_LISTS == 0 {
            return self.unexpected_error(text, "']', because a property list is not allowed here");
        }
        // The bracket stays open: only the frame changes.
        self.pop();
        self.deliver(node, NodeSyntax::PropertyList)?;
        self.push(BracketFrame::list(
            ParserState::Verb,
            ListEnd::Bracket,
            node,
        ));
        Ok(())
    }

    /// Processes the first token after `(`: `)`, or the first item.
    fn parse_collection(&mut self, byte: u8) -> Lexed<()> {
        if byte == b')' {
            self.pos += 1;
            self.close_bracket();
            let nil = self.add_known_iri(KnownIri::Nil)?;
            return self.deliver(nil, NodeSyntax::Collection);
        }
        let cell = self.add_anonymous()?;
        self.pop();
        self.deliver(cell, NodeSyntax::Collection)?;
        self.push(BracketFrame::list(ParserState::Item, ListEnd::Dot, cell));
        Ok(())
    }

    // --- predicates and objects ---

    #[inline]
    fn parse_verb_or_end(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let state = self.top.state;
        match byte {
            b';' if state == ParserState::VerbOrEnd => {
                self.pos += 1;
                return Ok(());
            }
            b'.' | b']' | b'|' | b'}'
                if matches!(state, ParserState::VerbOrEnd | ParserState::VerbOrNone)
                    && self.end_list(text, byte)? =>
            {
                return Ok(());
            }
            b'{' if state == ParserState::VerbOrGraph => return self.begin_graph_block(),
            _ => {}
        }
        let expected = match state {
            ParserState::VerbOrEnd => match self.top.end {
                ListEnd::Dot => "a predicate or '.' after ';'",
                ListEnd::Bracket => "a predicate or ']' after ';'",
                ListEnd::Annotation => "a predicate or '|}' after ';'",
            },
            ParserState::VerbOrNone => "a predicate or '.'",
            _ => "a predicate after the subject",
        };
        let (predicate, end) = self.parse_verb(text, byte, expected)?;
        self.pos = end;
        self.top.predicate = predicate;
        self.top.state = ParserState::Object;
        Ok(())
    }

    #[inline]
    fn parse_after_object(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        match byte {
            b';' => {
                self.pos += 1;
                self.top.state = ParserState::VerbOrEnd;
                Ok(())
            }
            b',' => {
                self.pos += 1;
                self.top.state = ParserState::Object;
                Ok(())
            }
            b'~' => {
                self.pos += 1;
                self.top.state = ParserState::Reifier;
                Ok(())
            }
            b'{' => {
                self.expect(text, b"{|", "'{|', ';', ',' or the end of the statement")?;
                let BracketFrame {
                    subject,
                    predicate,
                    object,
                    mut reifier,
                    ..
                } = self.top;
                if reifier == NONE {
                    reifier = self.add_anonymous()?;
                    self.reify(reifier, [subject, predicate, object])?;
                }
                self.top.reifier = NONE;
                self.open_bracket(BracketFrame::list(
                    ParserState::Verb,
                    ListEnd::Annotation,
                    reifier,
                ))
            }
            _ => {
                if self.end_list(text, byte)? {
                    return Ok(());
                }
                self.unexpected_error(
                    text,
                    match self.top.end {
                        ListEnd::Dot if self.in_graph => "'.', ';', ',' or '}' after the object",
                        ListEnd::Dot => "'.', ';' or ',' after the object",
                        ListEnd::Bracket => "']', ';' or ',' after the object",
                        ListEnd::Annotation => "'|}', ';' or ',' after the object",
                    },
                )
            }
        }
    }

    /// Ends the list of the top frame if the token ends it. Returns false for other tokens.
    #[inline]
    fn end_list(&mut self, text: &[u8], byte: u8) -> Lexed<bool> {
        match (self.top.end, byte) {
            (ListEnd::Dot, b'.') => {
                self.pos += 1;
                self.pop();
            }
            (ListEnd::Dot, b'}') if self.in_graph => {
                self.pos += 1;
                self.pop();
                self.close_graph();
            }
            (ListEnd::Bracket, b']') => {
                self.pos += 1;
                self.close_bracket();
            }
            (ListEnd::Annotation, b'|') => {
                self.expect(text, b"|}", "'|}'")?;
                self.close_bracket();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn close_graph(&mut self) {
        self.in_graph = false;
        self.graph = NONE;
    }

    /// Processes a `{` after a subject. The subject is therefore a graph name.
    fn begin_graph_block(&mut self) -> Lexed<()> {
        if !self.quads_format {
            return self.graph_block_error();
        }
        self.pos += 1;
        self.graph = self.top.subject;
        self.pop();
        self.in_graph = true;
        Ok(())
    }

    // --- statements ---

    fn parse_statement(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        match byte {
            b'@' => self.parse_at_directive(text),
            b'{' if !self.quads_format => self.graph_block_error(),
            b'{' if !self.in_graph => {
                self.open();
                self.pos += 1;
                self.in_graph = true;
                Ok(())
            }
            b'}' if self.in_graph => {
                self.pos += 1;
                self.close_graph();
                Ok(())
            }
            _ if starts_word(byte) => {
                let start = self.pos;
                match self.read_word(text, start)? {
                    Word::Name(name) => {
                        let id = self.terms.name(&mut self.builder, text, start, name)?;
                        self.pass_node(id, name.end)
                    }
                    Word::Bare(end) => self.parse_keyword(text, end),
                }
            }
            _ => self.parse_value(text, byte),
        }
    }
}

/// Whether a byte may begin a name or keyword.
#[inline]
fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b':' || byte >= 0x80
}

/// Whether a token is the name of a reifier.
fn starts_reifier(text: &[u8], pos: usize, byte: u8, reach: Reach) -> Lexed<bool> {
    match byte {
        b'<' => match text.get(pos + 1) {
            None if reach != Reach::End => Err(TokenError::need_more(pos)),
            next => Ok(next != Some(&b'<')),
        },
        b'_' | b'[' => Ok(true),
        _ => Ok(starts_word(byte)),
    }
}
