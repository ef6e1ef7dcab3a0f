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

use crate::codec::{Dialect, LogEnd, LogPlace};
use crate::model::error::quote;
use crate::syntax::text::dialect::{MESSAGE_LABELS, announces_messages};

/// Writes the announcement and delimiters.
#[derive(Clone, Debug)]
pub struct Delimiters {
    dialect: Dialect,
    label: String,
    announced: bool,
    place: DelimiterPlace,
}

/// The position of [`Delimiters`] in the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelimiterPlace {
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
            place: DelimiterPlace::default(),
        })
    }

    /// Creates delimiters for formats whose messages need none: nothing is written.
    pub fn none() -> Self {
        Self {
            dialect: Dialect::Plain,
            label: String::new(),
            announced: false,
            place: DelimiterPlace::default(),
        }
    }

    /// Resets the state for the start of another log.
    pub fn reset(&mut self) {
        self.announced = false;
        self.place = DelimiterPlace::default();
    }

    /// Continues an existing log with the given end.
    pub fn continue_log(&mut self, end: LogEnd) {
        self.announced = true;
        self.place = DelimiterPlace {
            messages: u64::from(end != LogEnd::Start),
            empty: false,
            delimited: end == LogEnd::Delimiter,
        };
    }

    /// Moves to a place between two batches of the log.
    pub fn go_to(&mut self, place: LogPlace) {
        self.announced = true;
        self.place = DelimiterPlace {
            messages: place.messages,
            empty: place.empty,
            delimited: false,
        };
    }

    /// Whether the last message is empty.
    pub fn is_empty(&self) -> bool {
        self.place.empty
    }

    /// Completes the log after a message and returns its new end.
    pub fn pause(&mut self, out: &mut Vec<u8>) -> LogEnd {
        if self.place.empty {
            self.write(out);
            self.place.empty = false;
            self.place.delimited = true;
        }
        match self.place {
            DelimiterPlace { messages: 0, .. } => LogEnd::Start,
            DelimiterPlace {
                delimited: true, ..
            } => LogEnd::Delimiter,
            _ => LogEnd::Content,
        }
    }

    /// Number of the open message in this log, from 0.
    pub fn number(&self) -> u64 {
        self.place.messages.saturating_sub(1)
    }

    /// The current place, for [`back_to`](Self::back_to).
    pub fn place(&self) -> DelimiterPlace {
        self.place
    }

    /// Discards the messages since a place.
    pub fn back_to(&mut self, place: DelimiterPlace) {
        self.place = place;
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
        if self.place.messages > 0 && !self.place.delimited {
            self.write(out);
        }
        self.place.delimited = false;
        self.place.messages += 1;
        self.place.empty = true;
    }

    /// Marks that the open message contains a quad.
    #[inline]
    pub fn mark_not_empty(&mut self) {
        self.place.empty = false;
    }

    /// Ends the open message.
    #[inline]
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.place.empty && self.place.messages == 1 && self.dialect == Dialect::Comment {
            self.write(out);
        }
    }

    /// Ends the log.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if self.place.empty {
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
