//! Directives: prefixes, the base, the version label, and `MESSAGE`, each as a keyword or behind `@`.
//!
//! - In: the tokens of a directive, from its first word on.
//! - Out: namespaces in the builder, the base and the version label in force, the message that a delimiter
//!   ended.
//! - Law: `@message` takes effect with its dot, every other directive with its word, IRI or label; none
//!   stands inside a graph block.

use super::{Machine, State, starts_word};
use crate::formats::turtle::lexer::{self, Lexed, Stop, Word};
use crate::model::error::quote;
use crate::syntax::text::dialect::Delimiter;

impl Machine {
    pub(super) fn keyword(&mut self, text: &[u8], end: usize) -> Lexed<()> {
        let word = &text[self.pos..end];
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if self.in_graph {
            return self.bad_word(text, self.pos, end, "a statement or '}'");
        }
        self.dotted = false;
        if is("MESSAGE") {
            self.delimit(Delimiter::Directive)?;
        } else if is("PREFIX") {
            self.top.state = State::PrefixName;
        } else if is("BASE") {
            self.top.state = State::BaseIri;
        } else if is("VERSION") {
            self.top.state = State::VersionLabel;
        } else if is("GRAPH") {
            if !self.quads_format {
                return self.no_graphs();
            }
            self.open();
            self.top.state = State::GraphName;
        } else {
            return self.bad_word(text, self.pos, end, "a statement");
        }
        self.pos = end;
        Ok(())
    }

    pub(super) fn at_directive(&mut self, text: &[u8]) -> Lexed<()> {
        let start = self.pos;
        let from = self.resume(start).0;
        let end = lexer::at_word_end(text, start, from, self.eof())?;
        self.check_length(start, end)?;
        let word = &text[start..end];
        let state = match word {
            b"@prefix" => State::PrefixName,
            b"@base" => State::BaseIri,
            b"@version" => State::VersionLabel,
            b"@message" => State::DelimiterEnd,
            _ => {
                return Err(Stop::malformed(
                    start,
                    format!(
                        "expected @prefix, @base, @version or @message, found {}",
                        quote(word)
                    ),
                ));
            }
        };
        if self.in_graph {
            return Err(Stop::malformed(
                start,
                format!(
                    "{} inside a graph block; end the block with '}}' before it",
                    String::from_utf8_lossy(word)
                ),
            ));
        }
        if state == State::DelimiterEnd {
            let met = self
                .dialects
                .delimiter(Delimiter::Directive, self.builder.is_open())
                .map_err(|reason| Stop::malformed(start, reason))?;
            self.delimiter = (met, self.offset + start as u64);
        }
        self.dotted = true;
        self.top.state = state;
        self.pos = end;
        Ok(())
    }

    pub(super) fn directive(&mut self, text: &[u8], byte: u8) -> Lexed<()> {
        let start = self.pos;
        match self.top.state {
            State::PrefixName => {
                if !starts_word(byte) {
                    return self.unexpected(text, "a prefix with its colon");
                }
                let from = self.resume(start).0;
                match lexer::word(text, start, from, self.eof())? {
                    Word::Name(name) if name.end == name.colon + 1 => {
                        self.check_length(start, name.end)?;
                        self.prefix.clear();
                        self.prefix.extend_from_slice(&text[start..name.colon]);
                        self.pos = name.end;
                        self.top.state = State::PrefixIri;
                        Ok(())
                    }
                    _ => self.unexpected(text, "a prefix that ends with its colon"),
                }
            }
            State::PrefixIri | State::BaseIri => {
                let what = "an IRI in angle brackets";
                match text.get(start + 1) {
                    _ if byte != b'<' => return self.unexpected(text, what),
                    Some(b'<') => return self.unexpected(text, what),
                    Some(_) => {}
                    None => return Err(Stop::need(start)),
                }
                let end = lexer::iri_end(text, start, self.resume(start).0)?;
                self.check_length(start, end)?;
                if self.top.state == State::BaseIri {
                    self.terms.set_base(text, start, end)?;
                } else {
                    self.terms
                        .declare(&mut self.builder, &self.prefix, text, start, end)?;
                }
                self.pos = end;
                self.end_directive();
                Ok(())
            }
            State::VersionLabel => {
                let what = "a version label in single quotation marks, as in \"1.2\"";
                if !matches!(byte, b'"' | b'\'') {
                    return self.unexpected(text, what);
                }
                let from = self.resume(start).0;
                let string = lexer::string(text, start, from, self.eof())?;
                self.check_length(start, string.end)?;
                if string.long {
                    return self.unexpected(text, what);
                }
                self.unescaped.clear();
                lexer::unescape_string(
                    &text[string.start..string.stop],
                    string.start,
                    &mut self.unescaped,
                )?;
                self.dialects
                    .version(&String::from_utf8_lossy(&self.unescaped));
                self.pos = string.end;
                self.end_directive();
                Ok(())
            }
            _ => {
                if byte != b'.' {
                    return self.unexpected(text, "'.' at the end of the directive");
                }
                self.pos += 1;
                if self.top.state == State::DelimiterEnd {
                    let (met, position) = self.delimiter;
                    self.apply(met, position);
                }
                self.top.state = State::Statement;
                Ok(())
            }
        }
    }

    fn end_directive(&mut self) {
        self.top.state = if self.dotted {
            State::DirectiveEnd
        } else {
            State::Statement
        };
    }
}
