//! Literals: strings with their language or datatype, and numbers.
//!
//! - In: the token of a string or number, and the tokens after a string.
//! - Out: a literal for the frame that waits for one.
//! - Cost: one copy of the lexical form. The tail of a string is usually buffered and read with it.
//! - Law: the text of a literal is in the arena before its tail is known ([`Pending`]). Limits are
//!   exceeded at the same byte whether or not the tail is buffered.

use super::{BracketFrame, ParserState, TurtleMachine, starts_word};
use crate::formats::turtle::lexer::{self, Lexed, NumberKind, StringToken};
use crate::formats::turtle::terms::{KnownIri, limit};
use crate::model::chars::{SPACE, is};
use crate::model::table::Span;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, flags};

/// A string that may be followed by a language or datatype.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub text: Span,
    flags: u8,
}

impl Pending {
    pub const EMPTY: Self = Self {
        text: Span {
            offset: 0,
            length: 0,
        },
        flags: 0,
    };
}

impl TurtleMachine {
    /// Adds a string, with its tail (its language or datatype) if that is buffered.
    #[inline]
    pub(super) fn parse_literal(&mut self, text: &[u8], string: StringToken) -> Lexed<()> {
        let start = self.pos;
        let raw = &text[string.start..string.stop];
        let lexical = if string.escaped {
            self.unescaped.clear();
            lexer::unescape_string(raw, string.start, &mut self.unescaped)?;
            &self.unescaped
        } else {
            raw
        };
        // Charged after every other check, since the token may be parsed again after an error.
        let lexical = self
            .builder
            .charge(16)
            .and_then(|()| self.builder.add_text(lexical))
            .map_err(|exceeded| limit(start, exceeded))?;
        self.pending = Pending {
            text: lexical,
            flags: if string.plain { flags::PLAIN } else { 0 },
        };
        if let Some((literal, end)) = self.parse_buffered_tail(text, string.end)? {
            return self.pass_node(literal, end);
        }
        self.pos = string.end;
        self.push(BracketFrame::new(ParserState::LiteralTail));
        Ok(())
    }

    /// Returns the literal whose string ends at `index`, and the end of the literal. Returns `None`
    /// if the tail is not buffered or is invalid. The tail is then read as separate tokens.
    #[inline]
    fn parse_buffered_tail(&mut self, text: &[u8], index: usize) -> Lexed<Option<(TermId, usize)>> {
        let mut next = index;
        while let Some(&byte) = text.get(next)
            && is(byte, SPACE)
        {
            next += 1;
        }
        match text.get(next) {
            Some(b'^') if next == index && text.get(index + 1) == Some(&b'^') => {
                if let Some(&byte) = text.get(index + 2)
                    && (byte == b'<' || starts_word(byte))
                    && let Ok((datatype, end)) = self.parse_iri(text, index + 2, byte, "")
                {
                    return Ok(Some((self.add_typed(datatype, index + 2)?, end)));
                }
                Ok(None)
            }
            None | Some(b'^' | b'@' | b'#') => Ok(None),
            Some(_) => Ok(Some((self.add_literal(TermKind::Literal, 0, 0), next))),
        }
    }

    pub(super) fn parse_literal_tail(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let start = self.pos;
        let (literal, end) = match byte {
            b'@' => {
                let from = self.resume(start).0;
                let token = lexer::language(text, start, from, self.is_at_end())?;
                self.check_length(start, token.end)?;
                let language = self
                    .terms
                    .add_language(&mut self.builder, &text[start + 1..token.tag_end])
                    .map_err(|exceeded| limit(start, exceeded))?;
                let literal = self.add_literal(TermKind::LangLiteral, language.0, token.direction);
                (literal, token.end)
            }
            b'^' => {
                self.expect(text, b"^^", "'^^'")?;
                self.top.state = ParserState::Datatype;
                return Ok(());
            }
            _ => (self.add_literal(TermKind::Literal, 0, 0), start),
        };
        self.pop();
        self.pass_node(literal, end)
    }

    /// Adds a literal whose datatype is at `start`.
    #[inline]
    pub(super) fn add_typed(&mut self, datatype: TermId, start: usize) -> Lexed<TermId> {
        let kind = self.terms.find_typed_kind(&self.builder, datatype, start)?;
        let aux = if kind == TermKind::Literal {
            0
        } else {
            datatype.0
        };
        Ok(self.add_literal(kind, aux, 0))
    }

    #[inline]
    fn add_literal(&mut self, kind: TermKind, aux: u32, direction: u8) -> TermId {
        // Already charged with its text, so that the position of a limit error does not depend on
        // buffering.
        self.builder.push_term(Term {
            offset: self.pending.text.offset,
            length: self.pending.text.length,
            aux,
            split: NO_SPLIT,
            kind,
            flags: self.pending.flags | direction,
        })
    }

    pub(super) fn parse_number(&mut self, text: &[u8]) -> Lexed<()> {
        let start = self.pos;
        let (from, phase) = self.resume(start);
        let (kind, end) = lexer::number(text, start, from, phase, self.is_at_end())?;
        self.check_length(start, end)?;
        let datatype = match kind {
            NumberKind::Integer => KnownIri::Integer,
            NumberKind::Decimal => KnownIri::Decimal,
            NumberKind::Double => KnownIri::Double,
        };
        let id = self
            .terms
            .add_bare_literal(&mut self.builder, &text[start..end], datatype)
            .map_err(|exceeded| limit(start, exceeded))?;
        self.pass_node(id, end)
    }
}
