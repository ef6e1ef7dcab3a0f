//! Statements and terms of N-Triples and N-Quads: text to term ids of a batch.
//!
//! - In: text that is valid UTF-8, and the position of a statement's first byte.
//! - Out: a quad; its terms stand in the batch, those that recur mostly once.
//! - Cost: linear in the text; what recurs costs a comparison. No recursion.
//! - Law: `text` alone decides what is accepted, never the caches.

use crate::batch::BatchBuilder;
use crate::error::ErrorClass;
use crate::term::{NO_SPLIT, Quad, Term, TermId, TermKind, XSD_STRING, flags};

use super::cache::{Cache, Follower, Known};
use super::lex::{self, Fault, Lexed, Quoted, byte, expected, fault, skip_space};

const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Literals up to this length are looked up; longer ones seldom recur.
const SHARED_LITERAL: usize = 32;

/// What the grammar allows.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    /// Graph names (N-Quads).
    pub graphs: bool,
    /// Any term in any position, and `<< s p o >>`.
    pub generalized: bool,
    /// The deviations that the module lists.
    pub lenient: bool,
    /// Deepest nesting of triple terms.
    pub max_depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Subject,
    Predicate,
    Object,
    Graph,
}

impl Position {
    const fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Predicate => "predicate",
            Self::Object => "object",
            Self::Graph => "graph name",
        }
    }
}

/// Reads statements into a batch.
pub(super) struct Statements {
    grammar: Grammar,
    cache: Cache,
    subject: Known,
    predicate: TermId,
    graph: Known,
    language: Known,
    /// Unescaped text.
    scratch: Vec<u8>,
    /// Bytes to charge beside the line and its quad.
    extra: usize,
}

impl Statements {
    pub fn new(grammar: Grammar) -> Self {
        Self {
            cache: Cache::new(),
            ..Self::uncached(grammar)
        }
    }

    /// Without caches, for terms that stand alone.
    fn uncached(grammar: Grammar) -> Self {
        Self {
            grammar,
            cache: Cache::default(),
            subject: Known::NONE,
            predicate: TermId::DEFAULT_GRAPH,
            graph: Known::NONE,
            language: Known::NONE,
            scratch: Vec::new(),
            extra: 0,
        }
    }

    /// Bytes of the last statement that its line's length does not cover. An upper bound that does
    /// not depend on what was shared.
    #[inline]
    pub fn take_extra(&mut self) -> usize {
        std::mem::take(&mut self.extra)
    }

    /// A statement up to and with its dot. Moves `at` behind it.
    #[inline]
    pub fn statement(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<Quad> {
        self.extra = 0;
        let guess = self.subject;
        let subject = self.term(builder, text, at, Position::Subject, guess)?;
        self.subject = subject;
        *at = skip_space(text, *at);
        let guess = self.cache.follower(self.predicate, Follower::Predicate);
        let predicate = self.term(builder, text, at, Position::Predicate, guess)?;
        if !predicate.same(guess) {
            self.cache
                .set_follower(self.predicate, Follower::Predicate, predicate);
        }
        self.predicate = predicate.id;
        *at = skip_space(text, *at);
        let guess = self.cache.follower(predicate.id, Follower::Object);
        let object = self.term(builder, text, at, Position::Object, guess)?;
        if !object.same(guess) {
            self.cache
                .set_follower(predicate.id, Follower::Object, object);
        }
        *at = skip_space(text, *at);
        let mut graph = TermId::DEFAULT_GRAPH;
        if byte(text, *at) != b'.' && self.grammar.graphs {
            let guess = self.graph;
            let known = self.term(builder, text, at, Position::Graph, guess)?;
            self.graph = known;
            graph = known.id;
            *at = skip_space(text, *at);
        }
        if byte(text, *at) != b'.' {
            return self.no_dot(text, *at, graph != TermId::DEFAULT_GRAPH);
        }
        *at += 1;
        Ok(Quad {
            subject: subject.id,
            predicate: predicate.id,
            object: object.id,
            graph,
        })
    }

    #[cold]
    fn no_dot<T>(&self, text: &[u8], at: usize, graph: bool) -> Lexed<T> {
        let after = if graph { "graph name" } else { "object" };
        let found = lex::found(text, at);
        let way_out = if !self.grammar.graphs && matches!(byte(text, at), b'<' | b'_') {
            "; N-Triples has no graph names, read it as nq"
        } else {
            ""
        };
        fault(
            at,
            format!("expected '.' after the {after}, found {found}{way_out}"),
        )
    }

    /// A term in a position, often the one guessed.
    #[inline]
    fn term(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
        position: Position,
        guess: Known,
    ) -> Lexed<Known> {
        if byte(text, *at) == b'<' {
            if guess.kind == TermKind::Iri
                && let Some(known) = guess.text(builder)
            {
                let end = *at + 1 + known.len();
                if text.get(*at + 1..end) == Some(known) && byte(text, end) == b'>' {
                    *at = end + 1;
                    return Ok(guess);
                }
            }
            if byte(text, *at + 1) != b'<' {
                return self.iri(builder, text, at);
            }
        }
        self.other_term(builder, text, at, position, guess)
    }

    fn other_term(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
        position: Position,
        guess: Known,
    ) -> Lexed<Known> {
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
                let id = self.triple_term(builder, text, at)?;
                Ok(Known::unshared(id))
            }
            b'<' => self.iri(builder, text, at),
            b'"' => ungeneralized(*at, "a literal", position),
            b'_' if byte(text, *at + 1) == b':' => ungeneralized(*at, "a blank node", position),
            _ => {
                let what = match position {
                    Position::Subject => "an IRI or a blank node as subject",
                    Position::Predicate => "an IRI as predicate",
                    Position::Object => {
                        "an IRI, a blank node, a literal or a triple term as object"
                    }
                    Position::Graph => "'.' after the object, or a graph name",
                };
                expected(text, *at, what)
            }
        }
    }

    /// An IRI that was not guessed.
    fn iri(&mut self, builder: &mut BatchBuilder, text: &[u8], at: &mut usize) -> Lexed<Known> {
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
            return Ok(known);
        }
        if !lex::is_absolute(raw) && !self.grammar.lenient {
            return relative(raw, start);
        }
        let id = push(builder, TermKind::Iri, raw, 0, flags::PLAIN);
        let known = Known::new(builder, id);
        self.cache.set(slot, known);
        Ok(known)
    }

    /// An IRI with escapes: never shared, since its text is not its token.
    fn escaped_iri(
        &mut self,
        builder: &mut BatchBuilder,
        raw: &[u8],
        start: usize,
    ) -> Lexed<Known> {
        self.extra += raw.len();
        self.scratch.clear();
        lex::unescape(raw, &mut self.scratch, false)?;
        let plain = crate::text::chars::is_iri_text(&self.scratch);
        if !self.grammar.lenient {
            if !plain {
                let shown = crate::error::quote(raw);
                return fault(
                    start,
                    format!(
                        "expected escapes of characters that an IRI can hold, found {shown}; \
                         lenient=True (--lenient) accepts it"
                    ),
                );
            }
            if !lex::is_absolute(&self.scratch) {
                return relative(raw, start);
            }
        }
        let flags = if plain { flags::PLAIN } else { 0 };
        let id = push(builder, TermKind::Iri, &self.scratch, 0, flags);
        Ok(Known::unshared(id))
    }

    fn bnode(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
        guess: Known,
    ) -> Lexed<Known> {
        if byte(text, *at + 1) != b':' {
            return expected(text, *at, "a blank node label that begins with '_:'");
        }
        let start = *at + 2;
        let end = lex::label(text, start)?;
        *at = end;
        let label = text.get(start..end).unwrap_or_default();
        if guess.is(builder, TermKind::Bnode, label) {
            return Ok(guess);
        }
        let slot = Cache::slot(TermKind::Bnode, label);
        let known = self.cache.get(slot);
        if known.is(builder, TermKind::Bnode, label) {
            return Ok(known);
        }
        let id = push(builder, TermKind::Bnode, label, 0, flags::PLAIN);
        let known = Known::new(builder, id);
        self.cache.set(slot, known);
        Ok(known)
    }

    fn literal(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
        guess: Known,
    ) -> Lexed<Known> {
        let start = *at + 1;
        let token = lex::string(text, start)?;
        let mut next = token.end + 1;
        let mut record = Record {
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
                if byte(text, next) != b'<' || byte(text, next + 1) == b'<' {
                    return expected(text, next, "an IRI as datatype");
                }
                record = self.datatype(builder, text, &mut next, record)?;
            }
            b'@' => {
                let tag = lex::tag(text, suffix + 1, self.grammar.lenient)?;
                let raw = text.get(suffix + 1..tag.end).unwrap_or_default();
                record.kind = TermKind::LangLiteral;
                record.aux = self.language(builder, raw).0;
                record.flags |= tag.direction;
                next = tag.next;
            }
            _ => {}
        }
        *at = next;
        let raw = text.get(start..token.end).unwrap_or_default();
        self.share_literal(builder, raw, token, record, guess)
    }

    /// A typed literal's datatype; xsd:string makes a plain literal.
    fn datatype(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
        record: Record,
    ) -> Lexed<Record> {
        let start = *at;
        let guess = self.cache.follower(self.predicate, Follower::Datatype);
        let datatype = self.term(builder, text, at, Position::Predicate, guess)?;
        if !datatype.same(guess) {
            self.cache
                .set_follower(self.predicate, Follower::Datatype, datatype);
        }
        let iri = builder.table().text(datatype.id);
        if iri == XSD_STRING {
            return Ok(record);
        }
        if let Some(b"langString" | b"dirLangString") = iri.strip_prefix(RDF)
            && !self.grammar.lenient
        {
            return expected(text, start, "a language tag instead of this datatype");
        }
        Ok(Record {
            kind: TermKind::TypedLiteral,
            aux: datatype.id.0,
            ..record
        })
    }

    fn language(&mut self, builder: &mut BatchBuilder, tag: &[u8]) -> TermId {
        if self.language.is(builder, TermKind::Language, tag) {
            return self.language.id;
        }
        let slot = Cache::slot(TermKind::Language, tag);
        let mut known = self.cache.get(slot);
        if !known.is(builder, TermKind::Language, tag) {
            let plain = crate::text::chars::is_language_tag(tag);
            let flags = if plain { flags::PLAIN } else { 0 };
            let id = push(builder, TermKind::Language, tag, 0, flags);
            known = Known::new(builder, id);
            self.cache.set(slot, known);
        }
        self.language = known;
        known.id
    }

    #[inline]
    fn share_literal(
        &mut self,
        builder: &mut BatchBuilder,
        raw: &[u8],
        token: Quoted,
        record: Record,
        guess: Known,
    ) -> Lexed<Known> {
        if token.escaped {
            self.extra += raw.len();
            self.scratch.clear();
            lex::unescape(raw, &mut self.scratch, true)?;
            let id = push(
                builder,
                record.kind,
                &self.scratch,
                record.aux,
                record.flags,
            );
            return Ok(Known::unshared(id));
        }
        let same = |known: Known, builder: &BatchBuilder| {
            known.is(builder, record.kind, raw) && {
                let term = builder.table().term(known.id);
                term.aux == record.aux && term.flags == record.flags
            }
        };
        if same(guess, builder) {
            return Ok(guess);
        }
        if raw.len() > SHARED_LITERAL {
            let id = push(builder, record.kind, raw, record.aux, record.flags);
            return Ok(Known::new(builder, id));
        }
        let slot = Cache::slot(record.kind, raw);
        let known = self.cache.get(slot);
        if same(known, builder) {
            return Ok(known);
        }
        let id = push(builder, record.kind, raw, record.aux, record.flags);
        let known = Known::new(builder, id);
        self.cache.set(slot, known);
        Ok(known)
    }

    /// A triple term that begins at `<<`; those inside are kept on a stack.
    fn triple_term(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<TermId> {
        let mut stack = vec![Open::new(text, at)];
        loop {
            let Some(open) = stack.last_mut() else {
                return fault(*at, "expected a triple term");
            };
            *at = skip_space(text, *at);
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
                let known = self.term(builder, text, at, position, Known::NONE)?;
                open.add(known.id);
            }
        }
    }
}

/// What a literal's record holds beside its text.
#[derive(Clone, Copy)]
struct Record {
    kind: TermKind,
    aux: u32,
    flags: u8,
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
            "'<< s p o >>' is RDF-star; RDF 1.2 has '<<( s p o )>>', generalized=True (--generalized) reads both",
        );
    }
    Ok(())
}

#[cold]
fn ungeneralized<T>(at: usize, what: &str, position: Position) -> Lexed<T> {
    let position = position.name();
    unsupported(
        at,
        format!(
            "{what} stands as {position}; generalized=True (--generalized) accepts any term anywhere"
        ),
    )
}

#[cold]
fn unsupported<T>(at: usize, reason: impl Into<String>) -> Lexed<T> {
    Err(Box::new(Fault {
        at,
        class: ErrorClass::Unsupported,
        reason: reason.into(),
    }))
}

#[cold]
fn too_deep<T>(at: usize, max_depth: u32) -> Lexed<T> {
    Err(Box::new(Fault {
        at,
        class: ErrorClass::Limit,
        reason: format!(
            "triple terms nest deeper than {max_depth}; raise max_depth if the source is trusted"
        ),
    }))
}

#[cold]
fn relative<T>(raw: &[u8], at: usize) -> Lexed<T> {
    let shown = crate::error::quote(raw);
    fault(
        at,
        format!(
            "expected an absolute IRI, found {shown}; lenient=True (--lenient) accepts relative ones"
        ),
    )
}

/// Adds a term with its text, uncounted.
#[inline]
fn push(builder: &mut BatchBuilder, kind: TermKind, text: &[u8], aux: u32, flags: u8) -> TermId {
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
pub fn parse_term(
    builder: &mut BatchBuilder,
    text: &[u8],
    max_depth: u32,
) -> Result<TermId, String> {
    // The record, a datatype's record, and what they say.
    if let Err(limit) = builder.charge(text.len() + 32) {
        return Err(limit.0);
    }
    if simdutf8::basic::from_utf8(text).is_err() {
        return Err(format!(
            "invalid UTF-8 in the term {}",
            crate::error::quote(text)
        ));
    }
    if let [b'<', iri @ .., b'>'] = text
        && super::scan::iri_end(iri, 0) == iri.len()
    {
        return Ok(push(builder, TermKind::Iri, iri, 0, flags::PLAIN));
    }
    let mut reader = Statements::uncached(Grammar {
        graphs: true,
        generalized: true,
        lenient: true,
        max_depth,
    });
    let mut at = 0;
    let known = reader
        .term(builder, text, &mut at, Position::Object, Known::NONE)
        .map_err(|fault| fault.reason)?;
    if at != text.len() {
        let found = lex::found(text, at);
        return Err(format!("expected one term, found {found} after it"));
    }
    match builder.charge(reader.take_extra()) {
        Ok(()) => Ok(known.id),
        Err(limit) => Err(limit.0),
    }
}
