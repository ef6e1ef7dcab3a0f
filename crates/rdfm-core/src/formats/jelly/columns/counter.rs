//! Counts the messages of a log without reading its columns.
//!
//! - In: the frames of a stream of messages, in order.
//! - Out: the number of messages that a decoder returns.
//! - Cost: one pass over the fields of a batch, and over its message lengths.
//! - Law: an invalid frame ends the count, as an error ends the messages of a decoder.

use super::batch::{LENGTHS, ROW_COUNT};
use super::fields::{Fields, List, Locate as _, Located, Numbers};
use super::stream::FrameParts;

/// Counts messages.
#[derive(Debug, Default)]
pub(in crate::formats::jelly) struct MessageCounter {
    complete: u64,
    /// Whether a message has rows, and has not ended yet.
    is_open: bool,
}

impl MessageCounter {
    /// Number of messages, including one that ends with the log.
    pub fn messages(&self) -> u64 {
        self.complete + u64::from(self.is_open)
    }

    /// Counts the messages of a frame.
    pub fn count(&mut self, frame: &[u8]) {
        // A decoder reports the error.
        let _ = self.try_count(frame);
    }

    fn try_count(&mut self, frame: &[u8]) -> Located<()> {
        let parts = FrameParts::read(frame, &(0..frame.len()))?;
        if parts.has_options() && self.is_open {
            self.complete += 1;
            self.is_open = false;
        }
        let (mut rows, mut ends, mut ended_rows) = (0, 0, 0);
        for columns in &parts.columns {
            let mut lengths = List::default();
            let mut fields = Fields::new(frame, columns, "the columns");
            while let Some(field) = fields.next()? {
                match field.number {
                    ROW_COUNT => rows = u64::from(fields.number(&field)?),
                    LENGTHS => {
                        let end = fields.end_of_field();
                        lengths.add_numbers(frame, &field, end)?;
                    }
                    _ => {}
                }
            }
            ends += lengths.count as u64;
            let mut numbers = Numbers::new(LENGTHS, &lengths);
            while let Some(length) = numbers.next(frame).locate(columns.start)? {
                ended_rows += u64::from(length);
            }
        }
        self.complete += ends;
        self.is_open = ended_rows < rows || self.is_open && ends == 0;
        Ok(())
    }
}
