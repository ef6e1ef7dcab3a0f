//! Error messages of the parser: unexpected tokens, tokens that are too long, and the end of the
//! log inside a construct.
//!
//! - In: the state of the machine, and the current token.
//! - Out: an error with its position, or [`TokenError::Need`] if the message needs more of the
//!   token.
//! - Law: neither the position nor the message depends on how the text is cut.

use super::{ListEnd, ParserState, TurtleMachine};
use crate::formats::turtle::lexer::{self, Lexed, TokenError};
use crate::model::chars::{BOM, SPACE, is};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Feature, Reason};
use crate::syntax::text::grammar::{GrammarError, Pause, Reach};

/// Maximum number of bytes of a token that an error shows.
const MAX_SHOWN: usize = 164;

impl TurtleMachine {
    #[cold]
    pub(super) fn token_too_long_error(&self) -> GrammarError {
        GrammarError {
            index: self.pos,
            class: ErrorClass::Limit,
            reason: Reason::limit(
                format!("a token is longer than {} bytes", self.max_token()),
                "max_message_bytes",
            ),
        }
    }

    /// Returns the error to report. If the token is too long, and the part up to the limit contains
    /// no other error, the length is reported. The error therefore does not depend on how much of
    /// the token was read.
    #[cold]
    pub(super) fn choose_error(
        &mut self,
        text: &[u8],
        error: Box<GrammarError>,
    ) -> Result<Pause, Box<GrammarError>> {
        let max = usize::try_from(self.max_token()).unwrap_or(usize::MAX);
        let mut end = self.pos.saturating_add(max).saturating_add(1);
        while text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end += 1;
        }
        let rereads = error.class != ErrorClass::Limit
            && (end < text.len() || (end == text.len() && self.reach == Reach::End));
        if !rereads {
            return Err(error);
        }
        let start = self.pos;
        self.scanned = (0, 0);
        // Calls `run`, not `step`: with a single caller, `step` is inlined there, which is 10%
        // faster.
        match self.run(&text[..end], Reach::Open) {
            Err(other) if self.pos == start && other.class == ErrorClass::Limit => Err(other),
            _ => Err(error),
        }
    }

    #[cold]
    pub(super) fn check_end_of_log(&mut self, text: &[u8]) -> Result<Pause, Box<GrammarError>> {
        let rest = &text[self.pos..];
        if rest.is_empty() && self.top.state == ParserState::Statement && !self.in_graph {
            self.dialects.end(self.builder.is_open());
            if self.builder.is_open() {
                self.end_message();
            }
            return Ok(Pause::Done);
        }
        let long = |mark: &[u8; 3]| rest.starts_with(mark);
        let inside = match rest.first() {
            Some(b'<') if rest.len() > 1 && rest[1] != b'<' => {
                if let TokenError::Error(error) = lexer::iri_error(text, self.pos, text.len())
                    && error.index < text.len()
                {
                    return Err(error);
                }
                "an IRI; expected '>'"
            }
            Some(b'"') if long(b"\"\"\"") => "a string; expected '\"\"\"'",
            Some(b'\'') if long(b"'''") => "a string; expected \"'''\"",
            Some(b'"') => "a string; expected '\"'",
            Some(b'\'') => "a string; expected \"'\"",
            _ if self.in_graph && self.top.state == ParserState::Statement => {
                "a graph block; expected '}'"
            }
            _ => match self.top.state {
                ParserState::PrefixName
                | ParserState::PrefixIri
                | ParserState::BaseIri
                | ParserState::VersionLabel
                | ParserState::DirectiveEnd
                | ParserState::DelimiterEnd => "a directive",
                ParserState::GraphName | ParserState::GraphBrace => "the name of a graph block",
                _ => match self.top.end {
                    _ if matches!(self.top.state, ParserState::Item | ParserState::Collection) => {
                        "a collection; expected ')'"
                    }
                    ListEnd::Bracket => "a blank node property list; expected ']'",
                    ListEnd::Annotation => "an annotation; expected '|}'",
                    ListEnd::Dot => "a statement; expected '.' at its end",
                },
            },
        };
        Err(Box::new(GrammarError {
            index: text.len(),
            class: ErrorClass::Truncated,
            reason: format!("the log ends inside {inside}").into(),
        }))
    }

    /// Returns the error for an unexpected token. Waits until the part of the token that the error
    /// shows is available.
    #[cold]
    pub(super) fn unexpected_error<T>(&self, text: &[u8], expected: &str) -> Lexed<T> {
        let shown = self.quote_token(text)?;
        Err(TokenError::malformed_error(
            self.pos,
            format!("expected {expected}, found {shown}"),
        ))
    }

    /// The current token up to white space, quoted.
    #[cold]
    fn quote_token(&self, text: &[u8]) -> Lexed<String> {
        let max = usize::try_from(self.max_token()).map_or(MAX_SHOWN, |max| max.min(MAX_SHOWN));
        let rest = &text[self.pos..];
        let window = &rest[..rest.len().min(max)];
        match window.iter().position(|&byte| is(byte, SPACE)) {
            Some(length) => Ok(quote(&window[..length])),
            None if window.len() == max || self.reach != Reach::Open => Ok(quote(window)),
            None => Err(TokenError::need_more(self.pos)),
        }
    }

    /// Returns the error for a word that is neither a name nor an allowed keyword.
    #[cold]
    pub(super) fn bad_word<T>(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        expected: &str,
    ) -> Lexed<T> {
        if start == end {
            return self.unexpected_error(text, expected);
        }
        let word = &text[start..end];
        if word.starts_with(BOM) {
            return Err(TokenError::malformed_error(
                start,
                format!("expected {expected}, found a byte order mark; remove its three bytes"),
            ));
        }
        let context = if self.in_graph && self.top.state == ParserState::Statement {
            "a graph block; end the block with '}' before it"
        } else {
            "a statement; end the statement with '.' before it"
        };
        for keyword in ["MESSAGE", "PREFIX", "BASE", "VERSION"] {
            if word.eq_ignore_ascii_case(keyword.as_bytes()) {
                return Err(TokenError::malformed_error(
                    start,
                    format!("{keyword} inside {context}"),
                ));
            }
        }
        Err(TokenError::malformed_error(
            start,
            format!(
                "expected {expected}, found {}; prefixed names contain a colon, and IRIs are in \
                 angle brackets",
                quote(word)
            ),
        ))
    }

    #[cold]
    pub(super) fn graph_block_error<T>(&self) -> Lexed<T> {
        Err(TokenError::error(
            self.pos,
            ErrorClass::Malformed,
            Reason::new("a graph block, which Turtle does not support").lacking(Feature::Graphs),
        ))
    }
}
