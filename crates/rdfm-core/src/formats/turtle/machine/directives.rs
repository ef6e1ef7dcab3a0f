//! Directives: prefixes, the base, the version label, and `MESSAGE`, each as a keyword or with `@`.
//!
//! - In: the tokens of a directive, from its first word on.
//! - Out: namespaces in the builder, the base and version label in force, and messages ended by
//!   delimiters.
//! - Law: `@message` takes effect at its dot, other directives at their word, IRI or label.
//!   Directives are not allowed inside a graph block.

use super::{ParserState, TurtleMachine, starts_word};
use crate::formats::turtle::lexer::{self, Lexed, TokenError, Word};
use crate::model::error::quote;
use crate::syntax::text::dialect::Delimiter;

impl TurtleMachine {
    pub(super) fn parse_keyword(&mut self, text: &[u8], end: usize) -> Lexed<()> {
        let word = &text[self.pos..end];
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if self.in_graph {
            return self.bad_word(text, self.pos, end, "a statement or '}'");
        }
        self.dotted = false;
        if is("MESSAGE") {
            self.delimit(Delimiter::Directive, end)?;
        } else if is("PREFIX") {
            self.top.state = ParserState::PrefixName;
        } else if is("BASE") {
            self.top.state = ParserState::BaseIri;
        } else if is("VERSION") {
            self.top.state = ParserState::VersionLabel;
        } else if is("GRAPH") {
            if !self.quads_format {
                return self.graph_block_error();
            }
            self.open();
            self.top.state = ParserState::GraphName;
        } else {
            return self.bad_word(text, self.pos, end, "a statement");
        }
        self.pos = end;
        Ok(())
    }

    pub(super) fn parse_at_directive(&mut self, text: &[u8]) -> Lexed<()> {
        let start = self.pos;
        let from = self.resume(start).0;
        let end = lexer::at_word_end(text, start, from, self.is_at_end())?;
        self.check_length(start, end)?;
        let word = &text[start..end];
        let state = match word {
            b"@prefix" => ParserState::PrefixName,
            b"@base" => ParserState::BaseIri,
            b"@version" => ParserState::VersionLabel,
            b"@message" => ParserState::DelimiterEnd,
            _ => {
                return Err(TokenError::malformed_error(
                    start,
                    format!(
                        "expected @prefix, @base, @version or @message, found {}",
                        quote(word)
                    ),
                ));
            }
        };
        if self.in_graph {
            return Err(TokenError::malformed_error(
                start,
                format!(
                    "{} inside a graph block; end the block with '}}' before it",
                    String::from_utf8_lossy(word)
                ),
            ));
        }
        if state == ParserState::DelimiterEnd {
            let effect = self
                .dialects
                .handle_delimiter(Delimiter::Directive, self.builder.is_open())
                .map_err(|reason| TokenError::malformed_error(start, reason))?;
            self.delimiter = (effect, self.offset + start as u64);
        }
        self.dotted = true;
        self.top.state = state;
        self.pos = end;
        Ok(())
    }

    pub(super) fn parse_directive(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let start = self.pos;
        match self.top.state {
            ParserState::PrefixName => {
                if !starts_word(byte) {
                    return self.unexpected_error(text, "a prefix and a colon");
                }
                match self.read_word(text, start)? {
                    Word::Name(name) if name.end == name.colon + 1 => {
                        self.prefix.clear();
                        self.prefix.extend_from_slice(&text[start..name.colon]);
                        self.pos = name.end;
                        self.top.state = ParserState::PrefixIri;
                        Ok(())
                    }
                    _ => self.unexpected_error(text, "a prefix that ends with a colon"),
                }
            }
            ParserState::PrefixIri | ParserState::BaseIri => {
                let expected = "an IRI in angle brackets";
                match text.get(start + 1) {
                    _ if byte != b'<' => return self.unexpected_error(text, expected),
                    Some(b'<') => return self.unexpected_error(text, expected),
                    Some(_) => {}
                    None => return Err(TokenError::need_more(start)),
                }
                let end = lexer::iri_end(text, start, self.resume(start).0)?;
                self.check_length(start, end)?;
                if self.top.state == ParserState::BaseIri {
                    self.terms.set_base(text, start, end)?;
                } else {
                    self.terms
                        .declare(&mut self.builder, &self.prefix, text, start, end)?;
                }
                self.pos = end;
                self.end_directive();
                Ok(())
            }
            ParserState::VersionLabel => {
                let expected = "a version label in single or double quotation marks, as in \"1.2\"";
                if !matches!(byte, b'"' | b'\'') {
                    return self.unexpected_error(text, expected);
                }
                let from = self.resume(start).0;
                let string = lexer::string(text, start, from, self.is_at_end())?;
                self.check_length(start, string.end)?;
                if string.long {
                    return self.unexpected_error(text, expected);
                }
                self.unescaped.clear();
                lexer::unescape_string(
                    &text[string.start..string.stop],
                    string.start,
                    &mut self.unescaped,
                )?;
                self.dialects
                    .handle_version(&String::from_utf8_lossy(&self.unescaped));
                self.pos = string.end;
                self.end_directive();
                Ok(())
            }
            _ => {
                if byte != b'.' {
                    return self.unexpected_error(text, "'.' at the end of the directive");
                }
                self.pos += 1;
                if self.top.state == ParserState::DelimiterEnd {
                    let (effect, position) = self.delimiter;
                    self.apply(effect, position, start + 1);
                }
                self.top.state = ParserState::Statement;
                Ok(())
            }
        }
    }

    fn end_directive(&mut self) {
        self.top.state = if self.dotted {
            ParserState::DirectiveEnd
        } else {
            ParserState::Statement
        };
    }
}
