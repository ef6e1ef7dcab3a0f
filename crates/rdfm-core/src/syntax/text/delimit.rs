//! The writer's side of the message dialects, for all text formats.
//!
//! - In: where messages begin and end, and whether they hold quads.
//! - Out: the announcement and the delimiters between them.
//! - Law: the same messages are read again, empty ones included, in both dialects.
//!
//! Delimiters stand between messages. A reader of the comment dialect takes nothing from a delimiter
//! in the first place, so a log whose first message is empty begins with one more; a reader of either
//! takes nothing from the end, so a log whose last message is empty ends with one more.

use crate::codec::Dialect;
use crate::model::error::quote;
use crate::syntax::text::dialect::{MESSAGE_LABELS, announces_messages};

/// Writes announcement and delimiters.
#[derive(Clone, Debug)]
pub struct Delimiters {
    dialect: Dialect,
    label: String,
    announced: bool,
    place: Place,
}

/// Where in the log a [`Delimiters`] is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    messages: u64,
    empty: bool,
}

impl Delimiters {
    /// At the start of a log.
    ///
    /// # Errors
    /// The version label announces no messages.
    pub fn new(dialect: Dialect, label: &str) -> Result<Self, String> {
        if dialect == Dialect::Directive && !announces_messages(label) {
            return Err(format!(
                "the version label {} announces no messages; use one of {}",
                quote(label.as_bytes()),
                MESSAGE_LABELS.join(", ")
            ));
        }
        Ok(Self {
            dialect,
            label: label.to_owned(),
            announced: false,
            place: Place::default(),
        })
    }

    /// For formats whose messages need none.
    pub fn none() -> Self {
        Self {
            dialect: Dialect::Plain,
            label: String::new(),
            announced: false,
            place: Place::default(),
        }
    }

    /// Goes to the start of another log.
    pub fn reset(&mut self) {
        self.announced = false;
        self.place = Place::default();
    }

    /// Number of the open message in this log, from 0.
    pub fn number(&self) -> u64 {
        self.place.messages.saturating_sub(1)
    }

    /// The place, to come back to with [`back_to`](Self::back_to).
    pub fn place(&self) -> Place {
        self.place
    }

    /// Forgets the messages since a place.
    pub fn back_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Before anything else in the log; again it does nothing.
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
        if self.place.messages > 0 {
            self.write(out);
        }
        self.place.messages += 1;
        self.place.empty = true;
    }

    /// Says that the open message holds a quad.
    #[inline]
    pub fn not_empty(&mut self) {
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
