//! Writes message delimiters, for all text formats.
//!
//! - In: the start and end of each message, and whether it contains quads.
//! - Out: the announcement, and the delimiters between messages.
//! - Law: in both dialects, readers get the same messages, including empty ones.
//!
//! Delimiters separate messages. Readers of the comment dialect ignore a delimiter at the start, so
//! a log whose first message is empty begins with an extra one. In both dialects, the end of the
//! log does not end an empty message, so a log whose last message is empty ends with an extra
//! delimiter.

use crate::codec::{Dialect, LogEnd, LogPosition};
use crate::model::error::quote;
use crate::syntax::text::dialect::{MESSAGE_LABELS, announces_messages};

/// Writes the announcement and delimiters.
#[derive(Clone, Debug)]
pub struct Delimiters {
    dialect: Dialect,
    label: String,
    announced: bool,
    position: DelimiterPosition,
}

/// The position of [`Delimiters`] in the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelimiterPosition {
    /// Number of messages begun.
    messages: u64,
    /// Whether the last message is empty.
    empty: bool,
    /// Whether the delimiter before the next message has been written.
    delimited: bool,
}

impl Delimiters {
    /// Starts at the beginning of a log.
    ///
    /// # Errors
    /// If the version label does not announce messages.
    pub fn new(dialect: Dialect, label: &str) -> Result<Self, String> {
        if dialect == Dialect::Directive && !announces_messages(label) {
            return Err(format!(
                "the version label {} does not announce messages; use one of {}",
                quote(label.as_bytes()),
                MESSAGE_LABELS.join(", ")
            ));
        }
        Ok(Self {
            dialect,
            label: label.to_owned(),
            announced: false,
            position: DelimiterPosition::default(),
        })
    }

    /// Creates delimiters for formats whose messages need none: nothing is written.
    pub fn without_delimiters() -> Self {
        Self {
            dialect: Dialect::Plain,
            label: String::new(),
            announced: false,
            position: DelimiterPosition::default(),
        }
    }

    /// Resets the state for the start of another log.
    pub fn reset(&mut self) {
        self.announced = false;
        self.position = DelimiterPosition::default();
    }

    /// Continues an existing log with the given end.
    pub fn continue_log(&mut self, end: LogEnd) {
        self.announced = true;
        self.position = DelimiterPosition {
            messages: u64::from(end != LogEnd::Start),
            empty: false,
            delimited: end == LogEnd::Delimiter,
        };
    }

    /// Moves to a position between two batches of the log.
    pub fn go_to(&mut self, position: LogPosition) {
        self.announced = true;
        self.position = DelimiterPosition {
            messages: position.messages,
            empty: position.empty,
            delimited: false,
        };
    }

    /// Whether the last message is empty.
    pub fn is_empty(&self) -> bool {
        self.position.empty
    }

    /// Completes the log after a message and returns its new end.
    pub fn pause(&mut self, out: &mut Vec<u8>) -> LogEnd {
        if self.position.empty {
            self.write(out);
            self.position.empty = false;
            self.position.delimited = true;
        }
        match self.position {
            DelimiterPosition { messages: 0, .. } => LogEnd::Start,
            DelimiterPosition {
                delimited: true, ..
            } => LogEnd::Delimiter,
            _ => LogEnd::Content,
        }
    }

    /// Number of the open message in this log, from 0.
    pub fn number(&self) -> u64 {
        self.position.messages.saturating_sub(1)
    }

    /// The current position, for [`go_back_to`](Self::go_back_to).
    pub fn position(&self) -> DelimiterPosition {
        self.position
    }

    /// Discards the messages since a position.
    pub fn go_back_to(&mut self, position: DelimiterPosition) {
        self.position = position;
    }

    /// Writes the announcement at the start of the log. Later calls do nothing.
    pub fn announce(&mut self, out: &mut Vec<u8>) {
        if self.dialect == Dialect::Directive && !self.announced {
            out.extend_from_slice(b"VERSION \"");
            out.extend_from_slice(self.label.as_bytes());
            out.extend_from_slice(b"\"\n");
        }
        self.announced = true;
    }

    /// Opens a message.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.position.messages > 0 && !self.position.delimited {
            self.write(out);
        }
        self.position.delimited = false;
        self.position.messages += 1;
        self.position.empty = true;
    }

    /// Marks that the open message contains a quad.
    #[inline]
    pub fn mark_not_empty(&mut self) {
        self.position.empty = false;
    }

    /// Ends the open message.
    #[inline]
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.position.empty && self.position.messages == 1 && self.dialect == Dialect::Comment {
            self.write(out);
        }
    }

    /// Ends the log.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if self.position.empty {
            self.write(out);
        }
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        match self.dialect {
            Dialect::Comment => out.extend_from_slice(b"# @message\n"),
            Dialect::Directive => out.extend_from_slice(b"MESSAGE\n"),
            Dialect::Plain => {}
        }
    }
}
