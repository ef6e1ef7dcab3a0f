//! Writes all messages of a log as one, for encoders that need complete messages.
//!
//! - In: batches. Out: at the end, the bytes of a log with one message.
//! - Cost: the entire message is in memory, limited by `max_message_bytes`.
//! - Law: blank nodes stay distinct, because each label includes the number of its message if
//!   necessary.

use super::{GroupBy, RegroupOptions, Regrouper};
use crate::codec::Encoder;
use crate::codec::batch::BatchRef;
use crate::model::error::EncodeError;
use crate::model::limits::Limits;
use crate::model::remedy::Reason;

/// An encoder that writes all messages as one.
pub struct FlatEncoder {
    inner: Box<dyn Encoder>,
    regrouper: Regrouper,
    max_message_bytes: u64,
    format: &'static str,
}

impl FlatEncoder {
    /// Wraps an encoder at the start of a log.
    ///
    /// # Errors
    /// Never: the options are fixed.
    pub fn new(
        inner: Box<dyn Encoder>,
        format: &'static str,
        max_message_bytes: u64,
    ) -> Result<Self, Reason> {
        Ok(Self {
            inner,
            regrouper: new_regrouper(max_message_bytes)?,
            max_message_bytes,
            format,
        })
    }

    fn drain(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let format = self.format;
        let named = |error| EncodeError { format, ..error };
        while let Some(batch) = self.regrouper.next_batch().map_err(named)? {
            self.inner.encode((&batch).into(), out)?;
        }
        Ok(())
    }
}

fn new_regrouper(max_message_bytes: u64) -> Result<Regrouper, Reason> {
    Regrouper::new(RegroupOptions {
        by: GroupBy::All,
        skolemize: None,
        parts: false,
        limits: Limits {
            max_message_bytes,
            ..Limits::default()
        },
    })
}

impl Encoder for FlatEncoder {
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let BatchRef::Messages(batch) = batch else {
            return self.inner.encode(batch, out); // returns the error
        };
        self.regrouper.feed(batch.clone());
        self.drain(out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.regrouper.finish();
        self.drain(out)?;
        self.inner.finish(out)
    }

    fn reset(&mut self) {
        self.inner.reset();
        if let Ok(regrouper) = new_regrouper(self.max_message_bytes) {
            self.regrouper = regrouper;
        }
    }

    fn dropped_counts(&self) -> Vec<(&'static str, u64)> {
        let mut dropped = self.inner.dropped_counts();
        dropped.extend(self.regrouper.dropped_counts());
        dropped
    }

    fn notes(&self) -> Vec<Reason> {
        self.inner.notes()
    }
}
