//! Statements and terms of N-Triples and N-Quads: from text to term ids of a batch.
//!
//! - In: valid UTF-8 text, and the position of a statement's first byte.
//! - Out: a quad. Its terms are in the batch, and recurring terms are mostly stored once.
//! - Cost: linear in the text; a recurring term costs one comparison. No recursion.
//! - Law: only the text determines what is accepted, not the caches.

use rustc_hash::FxHashMap;

use crate::model::builder::{BatchBuilder, LogBuilder};
use crate::model::chars::has_scheme;
use crate::model::error::ErrorClass;
use crate::model::fast_path::FastPath;
use crate::model::record::Record;
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::term::{
    NO_SPLIT, Quad, Term, TermId, TermKind, XSD_STRING, flags, is_language_type,
};
use crate::model::write;
use crate::syntax::iri::missing_tag_error;

use super::lex::{self, LexError, Lexed, QuotedToken, byte_at, fail, fail_expected, skip_space};
use super::short;
use crate::syntax::cache::{Cache, RecentTerm, starts_with};

/// Maximum length in bytes of the literals that are looked up; longer ones rarely recur.
const MAX_SHARED_LITERAL: usize = 16;

/// The accepted grammar.
#[derive(Clone, Debug)]
pub(crate) struct StatementGrammar {
    /// Whether to accept graph names (N-Quads).
    pub graphs: bool,
    /// Whether to accept any term in any position, and `<< s p o >>`.
    pub generalized: bool,
    /// Whether to accept the deviations that [`lex`] supports in lenient mode.
    pub lenient: bool,
    /// Maximum nesting of triple terms.
    pub max_depth: u32,
    /// Whether to read single terms outside a log. Their language tags may be escaped, and
    /// `<_:label>` is an IRI.
    pub single_terms: bool,
    /// Whether to accept the abbreviations of RDF Patch, and any white space and comments between
    /// terms.
    pub abbreviations: bool,
}

impl StatementGrammar {
    /// The grammar for single terms, which accepts any term.
    const fn of_terms(max_depth: u32) -> Self {
        Self {
            graphs: true,
            generalized: true,
            lenient: true,
            max_depth,
            single_terms: true,
            abbreviations: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TermPosition {
    Subject,
    Predicate,
    Object,
    Graph,
    /// A single term outside a statement.
    Alone,
}

impl TermPosition {
    const fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Predicate => "predicate",
            Self::Object => "object",
            Self::Graph => "graph name",
            Self::Alone => "term",
        }
    }
}

/// Reads statements into a batch.
pub(crate) struct StatementReader {
    pub(super) grammar: StatementGrammar,
    pub(super) cache: Cache,
    subject: RecentTerm,
    predicate: TermId,
    next_predicate: RecentTerm,
    datatype: RecentTerm,
    graph: RecentTerm,
    language: RecentTerm,
    /// Buffer for an IRI with decoded escapes or an expanded prefixed name.
    pub(super) iri: Vec<u8>,
    /// Buffer for a decoded string.
    pub(super) string: Vec<u8>,
    /// Bytes to charge in addition to the line and its quad.
    pub(super) extra: usize,
    /// IRIs of the prefixes.
    pub(super) prefixes: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// The last message with an error, in which declarations may have been skipped.
    pub(super) skipped: Option<u64>,
    /// Bytes of the prefixes.
    pub(super) prefix_bytes: u64,
    /// The error of the last term, if it was invalid.
    error: Option<Box<LexError>>,
}

impl StatementReader {
    pub fn new(grammar: StatementGrammar) -> Self {
        Self {
            cache: Cache::new(),
            ..Self::without_cache(grammar)
        }
    }

    /// Creates a reader without caches, for single terms.
    pub fn without_cache(grammar: StatementGrammar) -> Self {
        Self {
            grammar,
            cache: Cache::default(),
            subject: RecentTerm::NONE,
            predicate: TermId::DEFAULT_GRAPH,
            next_predicate: RecentTerm::NONE,
            datatype: RecentTerm::NONE,
            graph: RecentTerm::NONE,
            language: RecentTerm::NONE,
            iri: Vec::new(),
            string: Vec::new(),
            extra: 0,
            prefixes: FxHashMap::default(),
            skipped: None,
            prefix_bytes: 0,
            error: None,
        }
    }

    /// Reads a statement including its dot, adds its quad to the open message, and returns the
    /// position after it. `counted` is true if the statement is charged to the message.
    #[inline]
    pub fn parse_statement(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        start: usize,
        counted: bool,
    ) -> Lexed<usize> {
        let (index, quad) = self.parse_quad(builder, text, start)?;
        if counted {
            self.charge(builder, start, index)?;
        }
        builder.push_quad(quad);
        Ok(index)
    }

    /// Charges a quad, four terms, and the text of the line. This upper bound does not depend on
    /// which terms are shared.
    #[inline]
    pub fn charge<R: Record>(
        &self,
        builder: &mut LogBuilder<R>,
        start: usize,
        end: usize,
    ) -> Lexed<()> {
        match builder.charge(end - start + R::BYTES + 64 + self.extra) {
            Ok(()) => Ok(()),
            Err(limit) => limit_error(start, limit.0),
        }
    }

    /// Reads the quad of a statement including its dot. Returns the position after it and the quad,
    /// which is not yet charged.
    #[inline]
    pub fn parse_quad<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
    ) -> Lexed<(usize, Quad)> {
        let mut index = start;
        self.extra = 0;
        let subject = self.parse_term_or_guess(
            builder,
            text,
            &mut index,
            TermPosition::Subject,
            self.subject,
        )?;
        self.subject = RecentTerm::new(builder, subject);
        index = skip_space(text, index);
        let guess = self.next_predicate;
        let predicate =
            self.parse_term_or_guess(builder, text, &mut index, TermPosition::Predicate, guess)?;
        let guess = self.follow_predicate(builder, predicate);
        index = skip_space(text, index);
        let object =
            self.parse_term_or_guess(builder, text, &mut index, TermPosition::Object, guess)?;
        self.follow_object(builder, object, guess);
        index = skip_space(text, index);
        let mut graph = TermId::DEFAULT_GRAPH;
        if byte_at(text, index) != b'.' && self.grammar.graphs {
            index = self.space(text, index);
            if byte_at(text, index) != b'.' {
                graph = self.parse_term_or_guess(
                    builder,
                    text,
                    &mut index,
                    TermPosition::Graph,
                    self.graph,
                )?;
                self.graph = RecentTerm::new(builder, graph);
                index = self.space(text, index);
            }
        }
        if byte_at(text, index) != b'.' {
            return self.missing_dot_error(text, index, graph != TermId::DEFAULT_GRAPH);
        }
        let quad = Quad {
            subject,
            predicate,
            object,
            graph,
        };
        Ok((index + 1, quad))
    }

    /// Begins a row that is not a statement, and resets the additional bytes to charge.
    pub fn begin_row(&mut self) {
        self.extra = 0;
    }

    /// Reads a term outside of a statement, after white space. Returns the position after it and
    /// the term, which is not yet charged.
    pub fn parse_lone_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
    ) -> Lexed<(usize, TermId)> {
        let mut index = self.space(text, start);
        let id = self.parse_term_at(
            builder,
            text,
            &mut index,
            TermPosition::Alone,
            RecentTerm::NONE,
        )?;
        Ok((index, id))
    }

    /// Position after white space.
    #[inline]
    pub fn space(&self, text: &[u8], index: usize) -> usize {
        if self.grammar.abbreviations {
            short::space(text, index)
        } else {
            skip_space(text, index)
        }
    }

    /// Records the predicate of a statement. Returns the guess for its object.
    #[inline]
    fn follow_predicate<R: Record>(
        &mut self,
        builder: &LogBuilder<R>,
        predicate: TermId,
    ) -> RecentTerm {
        let known = RecentTerm::new(builder, predicate);
        if known != self.next_predicate {
            self.cache
                .set_last_terms(self.predicate, |last_terms| last_terms.next = known);
        }
        let last_terms = self.cache.last_terms(predicate);
        self.predicate = predicate;
        self.next_predicate = last_terms.next;
        self.datatype = last_terms.datatype;
        last_terms.object
    }

    /// Begins a cell of a table, whose column takes the place of a predicate. Returns the guess for
    /// its term.
    #[inline]
    pub(super) fn begin_column(&mut self, column: usize) -> RecentTerm {
        self.predicate = TermId(column as u32);
        let last_terms = self.cache.last_terms(self.predicate);
        self.datatype = last_terms.datatype;
        last_terms.object
    }

    /// Finds the IRI that fills a cell among the recent terms.
    #[inline]
    pub(super) fn find_cell<R: Record>(
        &self,
        builder: &LogBuilder<R>,
        cell: &[u8],
        guess: RecentTerm,
    ) -> Option<TermId> {
        if match_guess(builder, cell, 0, guess) == Some(cell.len()) {
            return Some(guess.id);
        }
        let iri = cell.strip_prefix(b"<")?.strip_suffix(b">")?;
        let known = self.cache.get(Cache::slot(TermKind::Iri, iri));
        (match_guess(builder, cell, 0, known) == Some(cell.len())).then_some(known.id)
    }

    /// Records the object used with the predicate.
    #[inline]
    pub(super) fn follow_object<R: Record>(
        &mut self,
        builder: &LogBuilder<R>,
        object: TermId,
        guess: RecentTerm,
    ) {
        let known = RecentTerm::new(builder, object);
        if known != guess {
            self.cache
                .set_last_terms(self.predicate, |last_terms| last_terms.object = known);
        }
    }

    /// Reads a string that is a single term, most often the guessed one.
    #[inline]
    fn parse_cell<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        if match_guess(builder, text, 0, guess) == Some(text.len()) {
            return Ok(guess.id);
        }
        if simdutf8::basic::from_utf8(text).is_err() {
            let shown = crate::model::error::quote(text);
            return fail(0, format!("invalid UTF-8 in the term {shown}"));
        }
        let (end, id) = self.parse_unguessed(builder, text, 0, TermPosition::Alone, guess);
        if id == TermId::DEFAULT_GRAPH {
            return self.take_error(end);
        }
        if end != text.len() {
            let found_text = lex::describe_found(text, end);
            return fail(
                end,
                format!("expected one term, found {found_text} after it"),
            );
        }
        Ok(id)
    }

    /// Reads a term in a position, most often the guessed one.
    #[allow(
        clippy::inline_always,
        reason = "most of a line is this comparison, four times; a call would cost as much"
    )]
    #[inline(always)]
    fn parse_term_or_guess<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        position: TermPosition,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        if let Some(end) = match_guess(builder, text, *index, guess) {
            *index = end;
            return Ok(guess.id);
        }
        let (end, id) = self.parse_unguessed(builder, text, *index, position, guess);
        *index = end;
        if id == TermId::DEFAULT_GRAPH {
            return self.take_error(end);
        }
        Ok(id)
    }

    /// Returns the position after a term, and the term. On error the term is the default graph, and
    /// the error is stored in `self.error`. This keeps the result in registers.
    #[inline(never)]
    fn parse_unguessed<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        mut index: usize,
        position: TermPosition,
        guess: RecentTerm,
    ) -> (usize, TermId) {
        match self.parse_term_at(builder, text, &mut index, position, guess) {
            Ok(id) => (index, id),
            Err(error) => {
                self.error = Some(error);
                (index, TermId::DEFAULT_GRAPH)
            }
        }
    }

    #[cold]
    fn take_error<T>(&mut self, index: usize) -> Lexed<T> {
        match self.error.take() {
            Some(error) => Err(error),
            None => fail(index, "expected a term"),
        }
    }

    #[cold]
    fn missing_dot_error<T>(&self, text: &[u8], index: usize, graph: bool) -> Lexed<T> {
        let after = if graph { "graph name" } else { "object" };
        let found_text = lex::describe_found(text, index);
        let reason = Reason::from(format!(
            "expected '.' after the {after}, found {found_text}"
        ));
        let reason = if !self.grammar.graphs && matches!(byte_at(text, index), b'<' | b'_') {
            reason
                .with_rewording(|text| format!("{text}; N-Triples has no graph names"))
                .lacking(Feature::Graphs)
        } else if self.grammar.single_terms || self.grammar.abbreviations {
            reason
        } else {
            lex::explain_turtle_syntax(text, index, self.grammar.graphs, reason)
        };
        fail(index, reason)
    }

    /// Reads a term in a position. The guess is used only for blank nodes and literals.
    pub(super) fn parse_term_at<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        position: TermPosition,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        let generalized = self.grammar.generalized;
        match byte_at(text, *index) {
            b'"' if position == TermPosition::Object || generalized => {
                self.parse_literal(builder, text, index, guess)
            }
            b'_' if position != TermPosition::Predicate || generalized => {
                self.parse_blank_node(builder, text, index, guess)
            }
            b'<' if byte_at(text, *index + 1) == b'<' => {
                check_triple_term(text, *index, position, &self.grammar)?;
                self.parse_triple_term(builder, text, index)
            }
            b'<' if self.grammar.abbreviations
                && !self.grammar.single_terms
                && text[*index..].starts_with(b"<_:") =>
            {
                self.parse_quoted_label(builder, text, index, guess)
            }
            b'<' => self.parse_iri(builder, text, index),
            b'"' => fail_ungeneralized(*index, "a literal", position),
            b'_' if byte_at(text, *index + 1) == b':' => {
                fail_ungeneralized(*index, "a blank node", position)
            }
            b'\n' | b'\r' | b'#' if self.grammar.abbreviations => {
                *index = short::space(text, *index);
                self.parse_term_at(builder, text, index, position, guess)
            }
            b'\'' if self.grammar.abbreviations => self.parse_literal(builder, text, index, guess),
            _ if self.grammar.abbreviations && short::starts_term(text, *index) => {
                self.parse_short_term(builder, text, index)
            }
            _ => {
                let expected = match position {
                    TermPosition::Subject => "an IRI or a blank node as the subject",
                    TermPosition::Predicate => "an IRI as the predicate",
                    TermPosition::Object => {
                        "an IRI, a blank node, a literal or a triple term as the object"
                    }
                    TermPosition::Graph => "'.' after the object, or a graph name",
                    TermPosition::Alone => "an IRI, a blank node, a literal or a triple term",
                };
                self.term_error(text, *index, expected)
            }
        }
    }

    #[cold]
    fn term_error<T>(&self, text: &[u8], index: usize, expected: &str) -> Lexed<T> {
        let found_text = lex::describe_found(text, index);
        let reason = Reason::from(format!("expected {expected}, found {found_text}"));
        let reason = if self.grammar.single_terms || self.grammar.abbreviations {
            reason
        } else {
            lex::explain_turtle_syntax(text, index, self.grammar.graphs, reason)
        };
        fail(index, reason)
    }

    /// Rejects characters that are not allowed in an IRI, unless `lenient`. `iri` is the decoded
    /// text of a string at `start`. It may be relative, because other tools write such namespaces.
    /// Only IRIs that use the namespace must be absolute.
    pub fn check_iri(&self, iri: &[u8], start: usize) -> Lexed<()> {
        if self.grammar.lenient {
            return Ok(());
        }
        if !crate::model::chars::is_iri_text(iri) {
            let shown = crate::model::error::quote(iri);
            return fail(
                start,
                Reason::from(format!(
                    "expected only characters that are allowed in an IRI, found {shown}"
                ))
                .with(Remedy::lenient("accepts it")),
            );
        }
        Ok(())
    }

    /// Reads an IRI that was not guessed.
    fn parse_iri<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
    ) -> Lexed<TermId> {
        let start = *index + 1;
        let token = lex::lex_iri(text, start)?;
        *index = token.end + 1;
        let raw = text.get(start..token.end).unwrap_or_default();
        if token.escaped {
            return self.parse_escaped_iri(builder, raw, start);
        }
        let slot = Cache::slot(TermKind::Iri, raw);
        let known = self.cache.get(slot);
        if known.is(builder, TermKind::Iri, raw) {
            return Ok(known.id);
        }
        let absolute = has_scheme(raw);
        if !absolute && !self.grammar.lenient {
            return relative_iri_error(raw, start);
        }
        let flags = if absolute { flags::PLAIN } else { 0 };
        let id = push(builder, TermKind::Iri, raw, 0, flags);
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(id)
    }

    /// Reads an IRI with escapes. It is never shared, because its text differs from its token.
    fn parse_escaped_iri<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        raw: &[u8],
        start: usize,
    ) -> Lexed<TermId> {
        self.extra += raw.len();
        self.iri.clear();
        lex::unescape_iri(raw, &mut self.iri)?;
        let plain = crate::model::chars::is_iri_text(&self.iri);
        if !self.grammar.lenient {
            if !plain {
                let shown = crate::model::error::quote(raw);
                return fail(
                    start,
                    Reason::from(format!(
                        "expected escapes of characters that are allowed in an IRI, found {shown}"
                    ))
                    .with(Remedy::lenient("accepts it")),
                );
            }
            if !has_scheme(&self.iri) {
                return relative_iri_error(raw, start);
            }
        }
        let flags = if plain && has_scheme(&self.iri) {
            flags::PLAIN
        } else {
            0
        };
        Ok(push(builder, TermKind::Iri, &self.iri, 0, flags))
    }

    fn parse_blank_node<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        if byte_at(text, *index + 1) != b':' {
            return fail_expected(text, *index, "a blank node label that begins with '_:'");
        }
        let start = *index + 2;
        let end = lex::lex_label(text, start)?;
        *index = end;
        let label = text.get(start..end).unwrap_or_default();
        // Decoded before sharing, because the decoded text of another label may equal this label.
        if byte_at(label, 0) == b'_'
            && let Some(decoded) = write::read_label(label)
        {
            return Ok(push(builder, TermKind::BlankNode, &decoded, 0, 0));
        }
        if guess.is(builder, TermKind::BlankNode, label) {
            return Ok(guess.id);
        }
        let slot = Cache::slot(TermKind::BlankNode, label);
        let known = self.cache.get(slot);
        if known.is(builder, TermKind::BlankNode, label) {
            return Ok(known.id);
        }
        let id = push(builder, TermKind::BlankNode, label, 0, flags::PLAIN);
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(id)
    }

    fn parse_literal<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        let start = *index + 1;
        let token = if self.grammar.abbreviations && short::is_other_string(text, *index) {
            short::lex_string(text, *index, &mut self.string)?
        } else {
            lex::lex_string(text, start, &mut self.string)?
        };
        let mut next = token.end + 1;
        let mut record = LiteralRecord {
            kind: TermKind::Literal,
            aux: 0,
            flags: if token.plain { flags::PLAIN } else { 0 },
        };
        // The tag or the datatype is a separate token. White space may precede it.
        let suffix = skip_space(text, next);
        match byte_at(text, suffix) {
            b'^' => {
                if byte_at(text, suffix + 1) != b'^' {
                    return fail_expected(text, suffix, "'^^' and a datatype");
                }
                next = skip_space(text, suffix + 2);
                let iri = byte_at(text, next) == b'<' && byte_at(text, next + 1) != b'<';
                if !(iri || self.grammar.abbreviations && short::starts_name(text, next)) {
                    return self.term_error(text, next, "an IRI as the datatype");
                }
                record = self.parse_datatype(builder, text, &mut next, record)?;
            }
            b'@' => {
                let tag = lex::lex_tag(text, suffix + 1, self.grammar.lenient)?;
                let raw = text.get(suffix + 1..tag.end).unwrap_or_default();
                record.kind = TermKind::LangLiteral;
                let decoded = if self.grammar.single_terms {
                    write::read_language(raw)
                } else {
                    None
                };
                record.aux = self
                    .add_language(builder, decoded.as_deref().unwrap_or(raw))
                    .0;
                record.flags |= tag.direction;
                next = tag.next;
            }
            _ => {}
        }
        *index = next;
        let raw = text.get(start..token.end).unwrap_or_default();
        Ok(self.share_literal(builder, raw, token, record, guess))
    }

    /// Reads the datatype of a typed literal. A literal with xsd:string becomes a plain literal.
    fn parse_datatype<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        record: LiteralRecord,
    ) -> Lexed<LiteralRecord> {
        let start = *index;
        let guess = self.datatype;
        let datatype = match match_guess(builder, text, start, guess) {
            Some(end) => {
                *index = end;
                guess.id
            }
            None if byte_at(text, start) == b'<' => self.parse_iri(builder, text, index)?,
            None => self.name(builder, text, index)?,
        };
        let known = RecentTerm::new(builder, datatype);
        if known != guess {
            self.cache
                .set_last_terms(self.predicate, |last_terms| last_terms.datatype = known);
        }
        let iri = builder.table().text(datatype);
        if iri == XSD_STRING {
            return Ok(record);
        }
        if is_language_type(iri) && !self.grammar.lenient {
            return fail(start, missing_tag_error(iri));
        }
        Ok(LiteralRecord {
            kind: TermKind::TypedLiteral,
            aux: datatype.0,
            ..record
        })
    }

    fn add_language<R: Record>(&mut self, builder: &mut LogBuilder<R>, tag: &[u8]) -> TermId {
        if self.language.is(builder, TermKind::Language, tag) {
            return self.language.id;
        }
        let slot = Cache::slot(TermKind::Language, tag);
        let mut known = self.cache.get(slot);
        if !known.is(builder, TermKind::Language, tag) {
            let plain = crate::model::chars::is_language_tag(tag);
            let flags = if plain { flags::PLAIN } else { 0 };
            let id = push(builder, TermKind::Language, tag, 0, flags);
            known = RecentTerm::new(builder, id);
            self.cache.set(slot, known);
        }
        self.language = known;
        known.id
    }

    #[inline]
    fn share_literal<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        raw: &[u8],
        token: QuotedToken,
        record: LiteralRecord,
        guess: RecentTerm,
    ) -> TermId {
        if token.escaped {
            self.extra += raw.len();
            let (kind, text) = (record.kind, &self.string);
            return push(builder, kind, text, record.aux, record.flags);
        }
        let same = |known: RecentTerm, builder: &LogBuilder<R>| {
            known.get(builder, record.kind).is_some_and(|(term, text)| {
                term.aux == record.aux
                    && term.flags == record.flags
                    && text.len() == raw.len()
                    && starts_with(raw, text)
            })
        };
        if same(guess, builder) {
            return guess.id;
        }
        if raw.len() > MAX_SHARED_LITERAL {
            return push(builder, record.kind, raw, record.aux, record.flags);
        }
        let slot = Cache::slot(record.kind, raw);
        let known = self.cache.get(slot);
        if same(known, builder) {
            return known.id;
        }
        let id = push(builder, record.kind, raw, record.aux, record.flags);
        self.cache.set(slot, RecentTerm::new(builder, id));
        id
    }

    /// Reads a triple term that begins at `<<`. Nested ones are kept on a stack.
    fn parse_triple_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
    ) -> Lexed<TermId> {
        let mut stack = vec![OpenTripleTerm::new(text, index)];
        loop {
            let Some(open) = stack.last_mut() else {
                return fail(*index, "expected a triple term");
            };
            *index = if self.grammar.abbreviations {
                short::space(text, *index)
            } else {
                skip_space(text, *index)
            };
            let Some(position) = open.position() else {
                let closing: &[u8] = if open.star { b">>" } else { b")>>" };
                if !text
                    .get(*index..)
                    .is_some_and(|rest| rest.starts_with(closing))
                {
                    let expected = if open.star { "'>>'" } else { "')>>'" };
                    return fail_expected(
                        text,
                        *index,
                        &format!("{expected} after the triple term's object"),
                    );
                }
                *index += closing.len();
                // Its record, its triple and three terms.
                self.extra += 16 + 12 + 48;
                let id = builder.push_triple_term(open.terms);
                stack.pop();
                match stack.last_mut() {
                    Some(outer) => outer.add(id),
                    None => return Ok(id),
                }
                continue;
            };
            if byte_at(text, *index) == b'<' && byte_at(text, *index + 1) == b'<' {
                check_triple_term(text, *index, position, &self.grammar)?;
                if stack.len() as u64 >= u64::from(self.grammar.max_depth) {
                    return too_deep(*index, self.grammar.max_depth);
                }
                stack.push(OpenTripleTerm::new(text, index));
            } else {
                let id = self.parse_term_at(builder, text, index, position, RecentTerm::NONE)?;
                open.add(id);
            }
        }
    }
}

/// Position after the guessed IRI, if the text at `index` is this IRI.
///
/// Gain: 1.1 to 1.5 times (`make bench-gains PATHS=next-term`).
#[allow(
    clippy::inline_always,
    reason = "see `StatementReader::parse_term_or_guess`"
)]
#[inline(always)]
fn match_guess<R: Record>(
    builder: &LogBuilder<R>,
    text: &[u8],
    index: usize,
    guess: RecentTerm,
) -> Option<usize> {
    if !FastPath::NextTerm.is_on() {
        return None;
    }
    let (term, known) = guess.get(builder, TermKind::Iri)?;
    let rest = text.get(index..)?.strip_prefix(b"<")?;
    // Without escapes, the token and the text are identical.
    let same = byte_at(rest, known.len()) == b'>' && starts_with(rest, known);
    (same && term.flags & flags::PLAIN != 0).then(|| index + known.len() + 2)
}

/// Fields of a literal's record in addition to its text.
#[derive(Clone, Copy)]
pub(super) struct LiteralRecord {
    pub kind: TermKind,
    pub aux: u32,
    pub flags: u8,
}

/// A triple term that is not yet closed.
struct OpenTripleTerm {
    terms: [TermId; 3],
    filled: usize,
    /// Whether the term has the RDF-star form `<< >>`.
    star: bool,
}

impl OpenTripleTerm {
    fn new(text: &[u8], index: &mut usize) -> Self {
        let star = byte_at(text, *index + 2) != b'(';
        *index += if star { 2 } else { 3 };
        Self {
            terms: [TermId::DEFAULT_GRAPH; 3],
            filled: 0,
            star,
        }
    }

    fn position(&self) -> Option<TermPosition> {
        match self.filled {
            0 => Some(TermPosition::Subject),
            1 => Some(TermPosition::Predicate),
            2 => Some(TermPosition::Object),
            _ => None,
        }
    }

    fn add(&mut self, id: TermId) {
        if let Some(slot) = self.terms.get_mut(self.filled) {
            *slot = id;
        }
        self.filled += 1;
    }
}

/// Checks that a triple term may begin at `<<` in a position.
fn check_triple_term(
    text: &[u8],
    index: usize,
    position: TermPosition,
    grammar: &StatementGrammar,
) -> Lexed<()> {
    if grammar.max_depth == 0 {
        return too_deep(index, 0);
    }
    if grammar.generalized {
        return Ok(());
    }
    if position != TermPosition::Object {
        return fail_ungeneralized(index, "a triple term", position);
    }
    if byte_at(text, index + 2) != b'(' {
        return fail_unsupported(
            index,
            Reason::new("'<< s p o >>' is RDF-star; RDF 1.2 uses '<<( s p o )>>'")
                .with(Remedy::read("generalized", "true", "reads both")),
        );
    }
    Ok(())
}

#[cold]
fn fail_ungeneralized<T>(index: usize, kind: &str, position: TermPosition) -> Lexed<T> {
    let position = position.name();
    fail_unsupported(
        index,
        Reason::from(format!("{kind} is used as the {position}")).with(Remedy::read(
            "generalized",
            "true",
            "accepts any term anywhere",
        )),
    )
}

#[cold]
fn fail_unsupported<T>(index: usize, reason: impl Into<Reason>) -> Lexed<T> {
    Err(Box::new(LexError {
        index,
        class: ErrorClass::Unsupported,
        reason: reason.into(),
    }))
}

#[cold]
fn too_deep<T>(index: usize, max_depth: u32) -> Lexed<T> {
    limit_error(
        index,
        Reason::limit(
            format!(
                "triple terms are nested deeper than {}",
                crate::model::error::format_count(max_depth as usize, "level")
            ),
            "max_depth",
        ),
    )
}

#[cold]
pub(super) fn limit_error<T>(index: usize, reason: impl Into<Reason>) -> Lexed<T> {
    Err(Box::new(LexError {
        index,
        class: ErrorClass::Limit,
        reason: reason.into(),
    }))
}

#[cold]
pub(super) fn relative_iri_error<T>(raw: &[u8], index: usize) -> Lexed<T> {
    let shown = crate::model::error::quote(raw);
    fail(
        index,
        Reason::from(format!("expected an absolute IRI, found {shown}"))
            .with(Remedy::lenient("accepts relative ones")),
    )
}

/// Adds a term with its text without charging for it.
#[inline]
pub(super) fn push<R: Record>(
    builder: &mut LogBuilder<R>,
    kind: TermKind,
    text: &[u8],
    aux: u32,
    flags: u8,
) -> TermId {
    let offset = builder.append_text(text);
    builder.push_term(Term {
        offset,
        length: text.len() as u32,
        aux,
        split: NO_SPLIT,
        kind,
        flags,
    })
}

/// Parses one term of any kind in N-Triples form. Triple terms may have either syntax, and IRIs
/// may contain escapes of any character. The text must not contain anything else.
///
/// # Errors
/// If the text is not a term, or the message becomes too large.
pub fn parse_term<R: Record>(
    builder: &mut LogBuilder<R>,
    text: &[u8],
    max_depth: u32,
) -> Result<TermId, Reason> {
    // Charges the term record, a datatype record, and their strings.
    if let Err(limit) = builder.charge(text.len() + 32) {
        return Err(limit.0);
    }
    if let [b'<', iri @ .., b'>'] = text
        && super::scan::iri_end(iri, 0) == iri.len()
        && simdutf8::basic::from_utf8(iri).is_ok()
    {
        let flags = if has_scheme(iri) { flags::PLAIN } else { 0 };
        return Ok(push(builder, TermKind::Iri, iri, 0, flags));
    }
    let mut reader = StatementReader::without_cache(StatementGrammar::of_terms(max_depth));
    let id = reader
        .parse_cell(builder, text, RecentTerm::NONE)
        .map_err(|error| error.reason)?;
    match builder.charge(reader.extra) {
        Ok(()) => Ok(id),
        Err(limit) => Err(limit.0),
    }
}

/// Reads quads from separate terms in N-Triples form, as accepted by [`parse_term`], such as the
/// cells of a table row. Recurring terms are mostly stored once.
pub struct CellReader {
    statements: StatementReader,
}

/// An error in the terms of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    /// Position of the term: subject, predicate, object, graph.
    pub part: usize,
    /// The error class.
    pub class: ErrorClass,
    /// The reason.
    pub reason: Reason,
}

impl CellReader {
    /// Creates a reader for triple terms no deeper than `max_depth`.
    pub fn new(max_depth: u32) -> Self {
        Self {
            statements: StatementReader::new(StatementGrammar::of_terms(max_depth)),
        }
    }

    /// Reads the terms of a quad. The terms and the quad are charged to the open message.
    ///
    /// # Errors
    /// If a string is not a term, or the message becomes too large. The second error is reported
    /// for the last term.
    #[inline]
    pub fn parse_quad<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        [subject, predicate, object]: [&[u8]; 3],
        graph: Option<&[u8]>,
    ) -> Result<Quad, CellError> {
        let length = subject.len() + predicate.len() + object.len();
        let statements = &mut self.statements;
        statements.extra = 0;
        let guess = statements.subject;
        let subject = with_part(0, statements.parse_cell(builder, subject, guess))?;
        statements.subject = RecentTerm::new(builder, subject);
        let guess = statements.next_predicate;
        let predicate = with_part(1, statements.parse_cell(builder, predicate, guess))?;
        let guess = statements.follow_predicate(builder, predicate);
        let object = with_part(2, statements.parse_cell(builder, object, guess))?;
        statements.follow_object(builder, object, guess);
        let mut named = TermId::DEFAULT_GRAPH;
        if let Some(graph) = graph {
            named = with_part(3, statements.parse_cell(builder, graph, statements.graph))?;
            statements.graph = RecentTerm::new(builder, named);
        }
        // An upper bound that does not depend on sharing, as for a statement.
        let length = length + graph.map_or(0, <[u8]>::len);
        self.charge(builder, 3, R::BYTES + length + 64)?;
        Ok(Quad {
            subject,
            predicate,
            object,
            graph: named,
        })
    }

    /// Reads one term of a record and charges it to the open message.
    ///
    /// # Errors
    /// See [`parse_quad`](Self::parse_quad).
    pub fn parse_part<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        part: usize,
        text: &[u8],
    ) -> Result<TermId, CellError> {
        self.statements.extra = 0;
        let id = with_part(
            part,
            self.statements.parse_cell(builder, text, RecentTerm::NONE),
        )?;
        self.charge(builder, part, text.len() + 16)?;
        Ok(id)
    }

    /// Charges these bytes and the additional bytes of the terms.
    #[inline]
    fn charge<R: Record>(
        &self,
        builder: &mut LogBuilder<R>,
        part: usize,
        bytes: usize,
    ) -> Result<(), CellError> {
        let counted = builder.charge(bytes + self.statements.extra);
        counted.map_err(|limit| CellError {
            part,
            class: ErrorClass::Limit,
            reason: limit.0,
        })
    }
}

#[inline]
fn with_part(part: usize, term: Lexed<TermId>) -> Result<TermId, CellError> {
    term.map_err(|error| CellError {
        part,
        class: error.class,
        reason: error.reason,
    })
}
