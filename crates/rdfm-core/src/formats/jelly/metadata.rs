//! Metadata of the open frame.
//!
//! - In: the metadata entries of a frame.
//! - Out: the metadata of the open message, with the last entry for each key, without restart
//!   marks.

use std::collections::HashMap;

use super::restart::is_mark;
use crate::model::builder::LogBuilder;
use crate::model::record::Record;
use crate::syntax::wire::{Checked, Wire, check_utf8};

/// Metadata of the open frame.
#[derive(Default)]
pub(super) struct FrameMetadata {
    entries: Vec<(Box<str>, Box<[u8]>)>,
    keys: HashMap<Box<str>, usize>,
}

impl FrameMetadata {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
    }

    /// Stores an entry, replacing an earlier one with the same key. Returns false for a restart
    /// mark, which is not stored.
    pub fn store<R: Record>(&mut self, bytes: &[u8], builder: &mut LogBuilder<R>) -> Checked<bool> {
        let (key, value) = key_and_value(bytes)?;
        if is_mark(key, value) {
            return Ok(false);
        }
        builder.charge(key.len() + value.len() + 128)?;
        if let Some(&at) = self.keys.get(key) {
            self.entries[at].1 = value.into();
        } else {
            self.keys.insert(key.into(), self.entries.len());
            self.entries.push((key.into(), value.into()));
        }
        Ok(true)
    }

    /// Checks an entry without storing it. Returns false for a restart mark.
    pub fn check(bytes: &[u8]) -> Checked<bool> {
        key_and_value(bytes).map(|(key, value)| !is_mark(key, value))
    }

    /// Adds the entries to the open message.
    pub fn add_to<R: Record>(&mut self, builder: &mut LogBuilder<R>) -> Checked<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.keys.clear();
        for (key, value) in std::mem::take(&mut self.entries) {
            builder.add_metadata(&key, &value)?;
        }
        Ok(())
    }
}

/// Returns the key and value of a metadata entry.
pub(super) fn key_and_value(bytes: &[u8]) -> Checked<(&str, &[u8])> {
    let (mut key, mut value) = (&[][..], &[][..]);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_field(0b110, "the metadata")? {
            (1, payload) => key = payload,
            (2, payload) => value = payload,
            _ => {}
        }
    }
    Ok((check_utf8(key, "a metadata key")?, value))
}
