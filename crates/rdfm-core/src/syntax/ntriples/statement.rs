//! Statements and terms of N-Triples and N-Quads: text to term ids of a batch.
//!
//! - In: text that is valid UTF-8, and the position of a statement's first byte.
//! - Out: a quad; its terms stand in the batch, those that recur mostly once.
//! - Cost: linear in the text; what recurs costs a comparison. No recursion.
//! - Law: `text` alone decides what is accepted, never the caches.

use rustc_hash::FxHashMap;

use crate::model::builder::{BatchBuilder, LogBuilder};
use crate::model::error::ErrorClass;
use crate::model::record::Record;
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::term::{NO_SPLIT, Quad, Term, TermId, TermKind, XSD_STRING, flags};
use crate::model::write;

use super::lex::{self, LexError, Lexed, Quoted, byte, expected, fail, skip_space};
use super::short;
use crate::syntax::cache::{Cache, Known, begins};

const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Literals up to this length are looked up; longer ones seldom recur.
const SHARED_LITERAL: usize = 16;

/// What the grammar allows.
#[derive(Clone, Debug)]
pub(crate) struct Grammar {
    /// Graph names (N-Quads).
    pub graphs: bool,
    /// Any term in any position, and `<< s p o >>`.
    pub generalized: bool,
    /// The deviations that the module lists.
    pub lenient: bool,
    /// Deepest nesting of triple terms.
    pub max_depth: u32,
    /// Reads terms that stand alone, not in a log: language tags may be escaped there.
    pub alone: bool,
    /// The short forms of RDF Patch; white space of any kind and comments between terms.
    pub short: bool,
}

impl Grammar {
    /// Of terms that stand alone: any.
    const fn of_terms(max_depth: u32) -> Self {
        Self {
            graphs: true,
            generalized: true,
            lenient: true,
            max_depth,
            alone: true,
            short: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Subject,
    Predicate,
    Object,
    Graph,
    /// No statement's: the term stands alone.
    Alone,
}

impl Position {
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
pub(crate) struct Statements {
    pub(super) grammar: Grammar,
    pub(super) cache: Cache,
    subject: Known,
    predicate: TermId,
    next_predicate: Known,
    datatype: Known,
    graph: Known,
    language: Known,
    /// What an IRI with escapes says, or a prefixed name.
    pub(super) iri: Vec<u8>,
    /// What a string with escapes says.
    pub(super) string: Vec<u8>,
    /// Bytes to charge beside the line and its quad.
    pub(super) extra: usize,
    /// What prefixed names stand for.
    pub(super) prefixes: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// The message in which declarations may have been skipped: the last with an error of its own.
    pub(super) skipped: Option<u64>,
    /// Bytes of them.
    pub(super) prefix_bytes: u64,
    /// Why the last term was none.
    error: Option<Box<LexError>>,
}

impl Statements {
    pub fn new(grammar: Grammar) -> Self {
        Self {
            cache: Cache::new(),
            ..Self::uncached(grammar)
        }
    }

    /// Without caches, for terms that stand alone.
    pub fn uncached(grammar: Grammar) -> Self {
        Self {
            grammar,
            cache: Cache::default(),
            subject: Known::NONE,
            predicate: TermId::DEFAULT_GRAPH,
            next_predicate: Known::NONE,
            datatype: Known::NONE,
            graph: Known::NONE,
            language: Known::NONE,
            iri: Vec::new(),
            string: Vec::new(),
            extra: 0,
            prefixes: FxHashMap::default(),
            skipped: None,
            prefix_bytes: 0,
            error: None,
        }
    }

    /// A statement up to and with its dot, from `start`: adds its quad to the open message and gives the
    /// position behind it. `counted` says whether it counts towards the message's bytes.
    #[inline]
    pub fn statement(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        start: usize,
        counted: bool,
    ) -> Lexed<usize> {
        let (at, quad) = self.quad(builder, text, start)?;
        if counted {
            self.charge(builder, start, at)?;
        }
        builder.push_quad(quad);
        Ok(at)
    }

    /// Counts the quad and four terms at most, and text no longer than the line: an upper bound that does
    /// not depend on what was shared.
    #[inline]
    pub fn charge<R: Record>(
        &self,
        builder: &mut LogBuilder<R>,
        start: usize,
        end: usize,
    ) -> Lexed<()> {
        match builder.charge(end - start + R::BYTES + 64 + self.extra) {
            Ok(()) => Ok(()),
            Err(limit) => limited(start, limit.0),
        }
    }

    /// The quad of a statement up to and with its dot, from `start`, and the position behind it. Nothing is
    /// counted yet.
    #[inline]
    pub fn quad<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
    ) -> Lexed<(usize, Quad)> {
        let mut at = start;
        self.extra = 0;
        let subject = self.place(builder, text, &mut at, Position::Subject, self.subject)?;
        self.subject = Known::new(builder, subject);
        at = skip_space(text, at);
        let guess = self.next_predicate;
        let predicate = self.place(builder, text, &mut at, Position::Predicate, guess)?;
        let guess = self.follow_predicate(builder, predicate);
        at = skip_space(text, at);
        let object = self.place(builder, text, &mut at, Position::Object, guess)?;
        self.follow_object(builder, object, guess);
        at = skip_space(text, at);
        let mut graph = TermId::DEFAULT_GRAPH;
        if byte(text, at) != b'.' && self.grammar.graphs {
            at = self.space(text, at);
            if byte(text, at) != b'.' {
                graph = self.place(builder, text, &mut at, Position::Graph, self.graph)?;
                self.graph = Known::new(builder, graph);
                at = self.space(text, at);
            }
        }
        if byte(text, at) != b'.' {
            return self.no_dot(text, at, graph != TermId::DEFAULT_GRAPH);
        }
        let quad = Quad {
            subject,
            predicate,
            object,
            graph,
        };
        Ok((at + 1, quad))
    }

    /// A row begins that is no statement: counts nothing of it yet.
    pub fn begin_row(&mut self) {
        self.extra = 0;
    }

    /// A term that stands in no statement, behind white space; gives the position behind it too. Nothing is
    /// counted yet.
    pub fn lone_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
    ) -> Lexed<(usize, TermId)> {
        let mut at = self.space(text, start);
        let id = self.term(builder, text, &mut at, Position::Alone, Known::NONE)?;
        Ok((at, id))
    }

    /// The position behind white space.
    #[inline]
    pub fn space(&self, text: &[u8], at: usize) -> usize {
        if self.grammar.short {
            short::space(text, at)
        } else {
            skip_space(text, at)
        }
    }

    /// Notes the predicate of a statement; gives the guess of its object.
    #[inline]
    fn follow_predicate<R: Record>(&mut self, builder: &LogBuilder<R>, predicate: TermId) -> Known {
        let known = Known::new(builder, predicate);
        if known != self.next_predicate {
            self.cache
                .set_habit(self.predicate, |habit| habit.next = known);
        }
        let habit = self.cache.habit(predicate);
        self.predicate = predicate;
        self.next_predicate = habit.next;
        self.datatype = habit.datatype;
        habit.object
    }

    /// Notes the object that goes with the predicate.
    #[inline]
    fn follow_object<R: Record>(&mut self, builder: &LogBuilder<R>, object: TermId, guess: Known) {
        let known = Known::new(builder, object);
        if known != guess {
            self.cache
                .set_habit(self.predicate, |habit| habit.object = known);
        }
    }

    /// The term that a text is as a whole: the one guessed, mostly.
    #[inline]
    fn cell<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        guess: Known,
    ) -> Lexed<TermId> {
        if guessed(builder, text, 0, guess) == Some(text.len()) {
            return Ok(guess.id);
        }
        if simdutf8::basic::from_utf8(text).is_err() {
            let shown = crate::model::error::quote(text);
            return fail(0, format!("invalid UTF-8 in the term {shown}"));
        }
        let (end, id) = self.unguessed(builder, text, 0, Position::Alone, guess);
        if id == TermId::DEFAULT_GRAPH {
            return self.take_error(end);
        }
        if end != text.len() {
            let found = lex::found(text, end);
            return fail(end, format!("expected one term, found {found} after it"));
        }
        Ok(id)
    }

    /// A term in a position: the one guessed, mostly.
    #[allow(
        clippy::inline_always,
        reason = "most of a line is this comparison, four times; a call would cost as much"
    )]
    #[inline(always)]
    fn place<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        position: Position,
        guess: Known,
    ) -> Lexed<TermId> {
        if let Some(end) = guessed(builder, text, *at, guess) {
            *at = end;
            return Ok(guess.id);
        }
        let (end, id) = self.unguessed(builder, text, *at, position, guess);
        *at = end;
        if id == TermId::DEFAULT_GRAPH {
            return self.take_error(end);
        }
        Ok(id)
    }

    /// The position after a term, and the term: the default graph, which no term is, says that the
    /// error was put aside. This way the result is in registers.
    #[inline(never)]
    fn unguessed<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        mut at: usize,
        position: Position,
        guess: Known,
    ) -> (usize, TermId) {
        match self.term(builder, text, &mut at, position, guess) {
            Ok(id) => (at, id),
            Err(error) => {
                self.error = Some(error);
                (at, TermId::DEFAULT_GRAPH)
            }
        }
    }

    #[cold]
    fn take_error<T>(&mut self, at: usize) -> Lexed<T> {
        match self.error.take() {
            Some(error) => Err(error),
            None => fail(at, "expected a term"),
        }
    }

    #[cold]
    fn no_dot<T>(&self, text: &[u8], at: usize, graph: bool) -> Lexed<T> {
        let after = if graph { "graph name" } else { "object" };
        let found = lex::found(text, at);
        let reason = Reason::from(format!("expected '.' after the {after}, found {found}"));
        let reason = if !self.grammar.graphs && matches!(byte(text, at), b'<' | b'_') {
            reason
                .reworded(|text| format!("{text}; N-Triples has no graph names"))
                .lacking(Feature::Graphs)
        } else if self.grammar.alone || self.grammar.short {
            reason
        } else {
            lex::turtle(text, at, self.grammar.graphs, reason)
        };
        fail(at, reason)
    }

    /// A term in a position, not the one guessed, unless that is a blank node or a literal.
    fn term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        position: Position,
        guess: Known,
    ) -> Lexed<TermId> {
        let anything = self.grammar.generalized;
        match byte(text, *at) {
            b'"' if position == Position::Object || anything => {
                self.literal(builder, text, at, guess)
            }
            b'_' if position != Position::Predicate || anything => {
                self.bnode(builder, text, at, guess)
            }
            b'<' if byte(text, *at + 1) == b'<' => {
                check_triple_term(text, *at, position, &self.grammar)?;
                self.triple_term(builder, text, at)
            }
            b'<' if self.grammar.short && text[*at..].starts_with(b"<_:") => {
                self.quoted_label(builder, text, at, guess)
            }
            b'<' => self.iri(builder, text, at),
            b'"' => ungeneralized(*at, "a literal", position),
            b'_' if byte(text, *at + 1) == b':' => ungeneralized(*at, "a blank node", position),
            b'\n' | b'\r' | b'#' if self.grammar.short => {
                *at = short::space(text, *at);
                self.term(builder, text, at, position, guess)
            }
            b'\'' if self.grammar.short => self.literal(builder, text, at, guess),
            _ if self.grammar.short && short::begins_term(text, *at) => {
                self.short_term(builder, text, at)
            }
            _ => {
                let what = match position {
                    Position::Subject => "an IRI or a blank node as subject",
                    Position::Predicate => "an IRI as predicate",
                    Position::Object => {
                        "an IRI, a blank node, a literal or a triple term as object"
                    }
                    Position::Graph => "'.' after the object, or a graph name",
                    Position::Alone => "an IRI, a blank node, a literal or a triple term",
                };
                self.no_term(text, *at, what)
            }
        }
    }

    #[cold]
    fn no_term<T>(&self, text: &[u8], at: usize, what: &str) -> Lexed<T> {
        let found = lex::found(text, at);
        let reason = Reason::from(format!("expected {what}, found {found}"));
        let reason = if self.grammar.alone || self.grammar.short {
            reason
        } else {
            lex::turtle(text, at, self.grammar.graphs, reason)
        };
        fail(at, reason)
    }

    /// Refuses characters that no IRI has in what a string at `start` says, unless that is lenient. A namespace need
    /// not be absolute where no name has it: files of others have some that are not.
    pub fn check_iri(&self, iri: &[u8], start: usize) -> Lexed<()> {
        if self.grammar.lenient {
            return Ok(());
        }
        if !crate::model::chars::is_iri_text(iri) {
            let shown = crate::model::error::quote(iri);
            return fail(
                start,
                Reason::from(format!(
                    "expected characters that an IRI can hold, found {shown}"
                ))
                .with(Remedy::lenient("accepts it")),
            );
        }
        Ok(())
    }

    /// An IRI that was not guessed.
    fn iri<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<TermId> {
        let start = *at + 1;
        let token = lex::iri(text, start)?;
        *at = token.end + 1;
        let raw = text.get(start..token.end).unwrap_or_default();
        if token.escaped {
            return self.escaped_iri(builder, raw, start);
        }
        let slot = Cache::slot(TermKind::Iri, raw);
        let known = self.cache.get(slot);
        if known.is(builder, TermKind::Iri, raw) {
            return Ok(known.id);
        }
        if !lex::is_absolute(raw) && !self.grammar.lenient {
            return relative(raw, start);
        }
        let id = push(builder, TermKind::Iri, raw, 0, flags::PLAIN);
        self.cache.set(slot, Known::new(builder, id));
        Ok(id)
    }

    /// An IRI with escapes: never shared, since its text is not its token.
    fn escaped_iri<R: Record>(
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
                        "expected escapes of characters that an IRI can hold, found {shown}"
                    ))
                    .with(Remedy::lenient("accepts it")),
                );
            }
            if !lex::is_absolute(&self.iri) {
                return relative(raw, start);
            }
        }
        let flags = if plain { flags::PLAIN } else { 0 };
        Ok(push(builder, TermKind::Iri, &self.iri, 0, flags))
    }

    fn bnode<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        guess: Known,
    ) -> Lexed<TermId> {
        if byte(text, *at + 1) != b':' {
            return expected(text, *at, "a blank node label that begins with '_:'");
        }
        let start = *at + 2;
        let end = lex::label(text, start)?;
        *at = end;
        let label = text.get(start..end).unwrap_or_default();
        // Before any look at other terms, since an escape may stand for what looks like one.
        if byte(label, 0) == b'_'
            && let Some(said) = write::read_label(label)
        {
            return Ok(push(builder, TermKind::Bnode, &said, 0, 0));
        }
        if guess.is(builder, TermKind::Bnode, label) {
            return Ok(guess.id);
        }
        let slot = Cache::slot(TermKind::Bnode, label);
        let known = self.cache.get(slot);
        if known.is(builder, TermKind::Bnode, label) {
            return Ok(known.id);
        }
        let id = push(builder, TermKind::Bnode, label, 0, flags::PLAIN);
        self.cache.set(slot, Known::new(builder, id));
        Ok(id)
    }

    fn literal<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        guess: Known,
    ) -> Lexed<TermId> {
        let start = *at + 1;
        let token = if self.grammar.short && short::is_other_string(text, *at) {
            short::string(text, *at, &mut self.string)?
        } else {
            lex::string(text, start, &mut self.string)?
        };
        let mut next = token.end + 1;
        let mut record = Form {
            kind: TermKind::Literal,
            aux: 0,
            flags: if token.plain { flags::PLAIN } else { 0 },
        };
        // The tag or the datatype is a token of its own: space may stand before it.
        let suffix = skip_space(text, next);
        match byte(text, suffix) {
            b'^' => {
                if byte(text, suffix + 1) != b'^' {
                    return expected(text, suffix, "'^^' and a datatype");
                }
                next = skip_space(text, suffix + 2);
                let iri = byte(text, next) == b'<' && byte(text, next + 1) != b'<';
                if !(iri || self.grammar.short && short::begins_name(text, next)) {
                    return self.no_term(text, next, "an IRI as datatype");
                }
                record = self.datatype(builder, text, &mut next, record)?;
            }
            b'@' => {
                let tag = lex::tag(text, suffix + 1, self.grammar.lenient)?;
                let raw = text.get(suffix + 1..tag.end).unwrap_or_default();
                record.kind = TermKind::LangLiteral;
                let said = if self.grammar.alone {
                    write::read_language(raw)
                } else {
                    None
                };
                record.aux = self.language(builder, said.as_deref().unwrap_or(raw)).0;
                record.flags |= tag.direction;
                next = tag.next;
            }
            _ => {}
        }
        *at = next;
        let raw = text.get(start..token.end).unwrap_or_default();
        Ok(self.share_literal(builder, raw, token, record, guess))
    }

    /// A typed literal's datatype; xsd:string makes a plain literal.
    fn datatype<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        record: Form,
    ) -> Lexed<Form> {
        let start = *at;
        let guess = self.datatype;
        let datatype = match guessed(builder, text, start, guess) {
            Some(end) => {
                *at = end;
                guess.id
            }
            None if byte(text, start) == b'<' => self.iri(builder, text, at)?,
            None => self.name(builder, text, at)?,
        };
        let known = Known::new(builder, datatype);
        if known != guess {
            self.cache
                .set_habit(self.predicate, |habit| habit.datatype = known);
        }
        let iri = builder.table().text(datatype);
        if iri == XSD_STRING {
            return Ok(record);
        }
        if let Some(b"langString" | b"dirLangString") = iri.strip_prefix(RDF)
            && !self.grammar.lenient
        {
            return expected(text, start, "a language tag instead of this datatype");
        }
        Ok(Form {
            kind: TermKind::TypedLiteral,
            aux: datatype.0,
            ..record
        })
    }

    fn language<R: Record>(&mut self, builder: &mut LogBuilder<R>, tag: &[u8]) -> TermId {
        if self.language.is(builder, TermKind::Language, tag) {
            return self.language.id;
        }
        let slot = Cache::slot(TermKind::Language, tag);
        let mut known = self.cache.get(slot);
        if !known.is(builder, TermKind::Language, tag) {
            let plain = crate::model::chars::is_language_tag(tag);
            let flags = if plain { flags::PLAIN } else { 0 };
            let id = push(builder, TermKind::Language, tag, 0, flags);
            known = Known::new(builder, id);
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
        token: Quoted,
        record: Form,
        guess: Known,
    ) -> TermId {
        if token.escaped {
            self.extra += raw.len();
            let (kind, text) = (record.kind, &self.string);
            return push(builder, kind, text, record.aux, record.flags);
        }
        let same = |known: Known, builder: &LogBuilder<R>| {
            known.get(builder, record.kind).is_some_and(|(term, text)| {
                term.aux == record.aux
                    && term.flags == record.flags
                    && text.len() == raw.len()
                    && begins(raw, text)
            })
        };
        if same(guess, builder) {
            return guess.id;
        }
        if raw.len() > SHARED_LITERAL {
            return push(builder, record.kind, raw, record.aux, record.flags);
        }
        let slot = Cache::slot(record.kind, raw);
        let known = self.cache.get(slot);
        if same(known, builder) {
            return known.id;
        }
        let id = push(builder, record.kind, raw, record.aux, record.flags);
        self.cache.set(slot, Known::new(builder, id));
        id
    }

    /// A triple term that begins at `<<`; those inside are kept on a stack.
    fn triple_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<TermId> {
        let mut stack = vec![Open::new(text, at)];
        loop {
            let Some(open) = stack.last_mut() else {
                return fail(*at, "expected a triple term");
            };
            *at = if self.grammar.short {
                short::space(text, *at)
            } else {
                skip_space(text, *at)
            };
            let Some(position) = open.position() else {
                let closing: &[u8] = if open.star { b">>" } else { b")>>" };
                if !text
                    .get(*at..)
                    .is_some_and(|rest| rest.starts_with(closing))
                {
                    let what = if open.star { "'>>'" } else { "')>>'" };
                    return expected(text, *at, &format!("{what} after the triple term's object"));
                }
                *at += closing.len();
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
            if byte(text, *at) == b'<' && byte(text, *at + 1) == b'<' {
                check_triple_term(text, *at, position, &self.grammar)?;
                if stack.len() as u64 >= u64::from(self.grammar.max_depth) {
                    return too_deep(*at, self.grammar.max_depth);
                }
                stack.push(Open::new(text, at));
            } else {
                let id = self.term(builder, text, at, position, Known::NONE)?;
                open.add(id);
            }
        }
    }
}

/// The position after the guessed IRI, if it stands here.
#[allow(clippy::inline_always, reason = "see `Statements::place`")]
#[inline(always)]
fn guessed<R: Record>(
    builder: &LogBuilder<R>,
    text: &[u8],
    at: usize,
    guess: Known,
) -> Option<usize> {
    let (term, known) = guess.get(builder, TermKind::Iri)?;
    let rest = text.get(at..)?.strip_prefix(b"<")?;
    // Without escapes the token and the text are the same.
    let same = byte(rest, known.len()) == b'>' && begins(rest, known);
    (same && term.flags & flags::PLAIN != 0).then(|| at + known.len() + 2)
}

/// What a literal's record holds beside its text.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub kind: TermKind,
    pub aux: u32,
    pub flags: u8,
}

/// A triple term that is not closed yet.
struct Open {
    terms: [TermId; 3],
    filled: usize,
    /// `<< >>` of RDF-star.
    star: bool,
}

impl Open {
    fn new(text: &[u8], at: &mut usize) -> Self {
        let star = byte(text, *at + 2) != b'(';
        *at += if star { 2 } else { 3 };
        Self {
            terms: [TermId::DEFAULT_GRAPH; 3],
            filled: 0,
            star,
        }
    }

    fn position(&self) -> Option<Position> {
        match self.filled {
            0 => Some(Position::Subject),
            1 => Some(Position::Predicate),
            2 => Some(Position::Object),
            _ => None,
        }
    }

    fn add(&mut self, id: TermId) {
        if let Some(place) = self.terms.get_mut(self.filled) {
            *place = id;
        }
        self.filled += 1;
    }
}

/// Whether a triple term may begin at `<<` in a position.
fn check_triple_term(text: &[u8], at: usize, position: Position, grammar: &Grammar) -> Lexed<()> {
    if grammar.max_depth == 0 {
        return too_deep(at, 0);
    }
    if grammar.generalized {
        return Ok(());
    }
    if position != Position::Object {
        return ungeneralized(at, "a triple term", position);
    }
    if byte(text, at + 2) != b'(' {
        return unsupported(
            at,
            Reason::new("'<< s p o >>' is RDF-star; RDF 1.2 has '<<( s p o )>>'")
                .with(Remedy::read("generalized", "true", "reads both")),
        );
    }
    Ok(())
}

#[cold]
fn ungeneralized<T>(at: usize, what: &str, position: Position) -> Lexed<T> {
    let position = position.name();
    unsupported(
        at,
        Reason::from(format!("{what} stands as {position}")).with(Remedy::read(
            "generalized",
            "true",
            "accepts any term anywhere",
        )),
    )
}

#[cold]
fn unsupported<T>(at: usize, reason: impl Into<Reason>) -> Lexed<T> {
    Err(Box::new(LexError {
        at,
        class: ErrorClass::Unsupported,
        reason: reason.into(),
    }))
}

#[cold]
fn too_deep<T>(at: usize, max_depth: u32) -> Lexed<T> {
    limited(
        at,
        Reason::limit(
            format!("triple terms nest deeper than {max_depth}"),
            "max_depth",
        ),
    )
}

#[cold]
pub(super) fn limited<T>(at: usize, reason: impl Into<Reason>) -> Lexed<T> {
    Err(Box::new(LexError {
        at,
        class: ErrorClass::Limit,
        reason: reason.into(),
    }))
}

#[cold]
pub(super) fn relative<T>(raw: &[u8], at: usize) -> Lexed<T> {
    let shown = crate::model::error::quote(raw);
    fail(
        at,
        Reason::from(format!("expected an absolute IRI, found {shown}"))
            .with(Remedy::lenient("accepts relative ones")),
    )
}

/// Adds a term with its text, uncounted.
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

/// Reads one term from its N-Triples form: any term, triple terms in either syntax, IRIs with escapes
/// of any character. The whole text must be the term.
///
/// # Errors
/// What is wrong with the text, or the message becomes too large.
pub fn parse_term<R: Record>(
    builder: &mut LogBuilder<R>,
    text: &[u8],
    max_depth: u32,
) -> Result<TermId, Reason> {
    // The record, a datatype's record, and what they say.
    if let Err(limit) = builder.charge(text.len() + 32) {
        return Err(limit.0);
    }
    if let [b'<', iri @ .., b'>'] = text
        && super::scan::iri_end(iri, 0) == iri.len()
        && simdutf8::basic::from_utf8(iri).is_ok()
    {
        return Ok(push(builder, TermKind::Iri, iri, 0, flags::PLAIN));
    }
    let mut reader = Statements::uncached(Grammar::of_terms(max_depth));
    let id = reader
        .cell(builder, text, Known::NONE)
        .map_err(|error| error.reason)?;
    match builder.charge(reader.extra) {
        Ok(()) => Ok(id),
        Err(limit) => Err(limit.0),
    }
}

/// Reads quads whose terms stand apart, each in its N-Triples form as [`parse_term`] takes it: the cells
/// of a table's rows. Terms that recur are mostly stored once.
pub struct CellReader {
    statements: Statements,
}

/// Why the terms of a row are no quad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    /// The term's position: subject, predicate, object, graph.
    pub part: usize,
    /// What a caller can do.
    pub class: ErrorClass,
    /// What is wrong.
    pub reason: Reason,
}

impl CellReader {
    /// A reader of triple terms no deeper than `max_depth`.
    pub fn new(max_depth: u32) -> Self {
        Self {
            statements: Statements::new(Grammar::of_terms(max_depth)),
        }
    }

    /// The terms of a quad. They are counted for the open message, with the record that they become.
    ///
    /// # Errors
    /// A text is no term, or the message becomes too large (then at its last part).
    #[inline]
    pub fn quad<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        [subject, predicate, object]: [&[u8]; 3],
        graph: Option<&[u8]>,
    ) -> Result<Quad, CellError> {
        let length = subject.len() + predicate.len() + object.len();
        let statements = &mut self.statements;
        statements.extra = 0;
        let guess = statements.subject;
        let subject = at_part(0, statements.cell(builder, subject, guess))?;
        statements.subject = Known::new(builder, subject);
        let guess = statements.next_predicate;
        let predicate = at_part(1, statements.cell(builder, predicate, guess))?;
        let guess = statements.follow_predicate(builder, predicate);
        let object = at_part(2, statements.cell(builder, object, guess))?;
        statements.follow_object(builder, object, guess);
        let mut named = TermId::DEFAULT_GRAPH;
        if let Some(graph) = graph {
            named = at_part(3, statements.cell(builder, graph, statements.graph))?;
            statements.graph = Known::new(builder, named);
        }
        // As of a statement: an upper bound that does not depend on what was shared.
        let length = length + graph.map_or(0, <[u8]>::len);
        self.count(builder, 3, R::BYTES + length + 64)?;
        Ok(Quad {
            subject,
            predicate,
            object,
            graph: named,
        })
    }

    /// One term that stands in a part of a record, counted for the open message.
    ///
    /// # Errors
    /// As there.
    pub fn term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        part: usize,
        text: &[u8],
    ) -> Result<TermId, CellError> {
        self.statements.extra = 0;
        let id = at_part(part, self.statements.cell(builder, text, Known::NONE))?;
        self.count(builder, part, text.len() + 16)?;
        Ok(id)
    }

    /// Counts these bytes, and what its terms hold beyond them.
    #[inline]
    fn count<R: Record>(
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
fn at_part(part: usize, term: Lexed<TermId>) -> Result<TermId, CellError> {
    term.map_err(|error| CellError {
        part,
        class: error.class,
        reason: error.reason,
    })
}
