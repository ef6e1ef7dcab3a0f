//! The space between tokens: white space, comments, and delimiters in comments.
//!
//! - In: the text after a token.
//! - Out: the first byte of the next token; the message that a delimiter ended.
//! - Cost: one check per byte. At most [`COMMENT_WINDOW`] bytes of a comment are buffered.
//! - Law: the kind of a comment depends only on its first bytes, not on how they were cut. Comments
//!   that are not delimiters do not affect messages.

use super::{ParserState, TurtleMachine};
use crate::codec::Dialect;
use crate::formats::turtle::lexer::{Lexed, TokenError};
use crate::model::chars::{SPACE, is};
use crate::syntax::text::dialect::{Delimiter, DelimiterEffect, is_comment_delimiter};
use crate::syntax::text::grammar::Reach;

/// Maximum number of bytes of a comment that are checked for a delimiter.
pub(super) const COMMENT_WINDOW: usize = 1024;

impl TurtleMachine {
    /// Moves to the next token and returns its first byte.
    #[inline]
    pub(super) fn skip_space(&mut self, text: &[u8]) -> Lexed<u8> {
        if self.in_comment {
            self.skip_rest_of_comment(text)?;
        }
        loop {
            match text.get(self.pos) {
                Some(&byte) if is(byte, SPACE) => self.pos += 1,
                Some(b'#') => {
                    self.skip_comment(text)?;
                    // The batch is taken before the next message begins.
                    if self.full && !self.builder.is_open() {
                        return Err(TokenError::need_more(self.pos));
                    }
                }
                Some(&byte) => return Ok(byte),
                None => return Err(TokenError::need_more(self.pos)),
            }
        }
    }

    /// Skips the rest of a comment whose beginning was processed.
    #[cold]
    fn skip_rest_of_comment(&mut self, text: &[u8]) -> Lexed<()> {
        if let Some(length) = memchr::memchr2(b'\n', b'\r', &text[self.pos..]) {
            self.in_comment = false;
            self.pos += length;
            return Ok(());
        }
        self.pos = text.len();
        Err(TokenError::need_more(self.pos))
    }

    /// Number of bytes of a comment that are checked.
    pub(super) fn comment_window(&self) -> usize {
        usize::try_from(self.max_token()).map_or(COMMENT_WINDOW, |max| max.min(COMMENT_WINDOW))
    }

    fn skip_comment(&mut self, text: &[u8]) -> Lexed<()> {
        let max = self.comment_window();
        let body = &text[self.pos + 1..];
        let end = memchr::memchr2(b'\n', b'\r', body);
        let mut window = end.unwrap_or(body.len());
        if end.is_none() && window < max && self.reach != Reach::End {
            return Err(TokenError::need_more(self.pos));
        }
        if window > max {
            window = max;
            while body[window] & 0xc0 == 0x80 {
                window -= 1;
            }
        }
        let comment = &body[..window];
        let between = self.top.state == ParserState::Statement && !self.in_graph;
        if self.dialects.in_force() == Dialect::Comment && is_comment_delimiter(comment) {
            if !between {
                return Err(TokenError::malformed_error(
                    self.pos,
                    if self.in_graph {
                        "'# @message' inside a graph block; end the block with '}' before it"
                    } else {
                        "'# @message' inside a statement; end the statement with '.' before it"
                    },
                ));
            }
            self.delimit(Delimiter::Comment, self.pos + 1 + end.unwrap_or(body.len()))?;
        } else {
            self.comments += 1;
            if between
                && self.dialects.resembles_delimiter(comment, window < max)
                && self.is_blank(&text[..self.pos])
            {
                let offset = self.offset + self.pos as u64;
                self.dialects.note(comment, offset, None);
            }
        }
        self.in_comment = end.is_none();
        self.pos += 1 + end.unwrap_or(body.len());
        Ok(())
    }

    /// Whether the last line of `before` contains only white space.
    pub fn is_blank(&self, before: &[u8]) -> bool {
        let last = before.iter().rfind(|byte| !matches!(byte, b' ' | b'\t'));
        last.map_or(self.blank, |byte| matches!(byte, b'\n' | b'\r'))
    }

    /// Processes a delimiter that ends at `end`.
    pub(super) fn delimit(&mut self, delimiter: Delimiter, end: usize) -> Lexed<()> {
        let position = self.offset + self.pos as u64;
        let effect = self
            .dialects
            .handle_delimiter(delimiter, self.builder.is_open())
            .map_err(|reason| TokenError::malformed_error(self.pos, reason))?;
        self.apply(effect, position, end);
        Ok(())
    }

    pub(super) fn apply(&mut self, effect: DelimiterEffect, position: u64, end: usize) {
        self.after_delimiter = self.offset + end as u64;
        if effect == DelimiterEffect::Ends {
            if !self.builder.is_open() {
                self.builder.begin_message(position);
            }
            self.end_message();
        }
    }
}
