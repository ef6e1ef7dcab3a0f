//! Lookup tables of a decoder: prefixes, names, datatypes.
//!
//! - In: entries as the log sets them, with ids from 1 (0: previous + 1).
//! - Out: entries by id, each with a memo of the term that it became in the current batch.
//! - Cost: memory grows with the entries received, not with the declared size. The total size of
//!   all tables is limited.
//! - Law: an entry that was never set is never returned.

use super::options::JoinMode;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::TermId;
use crate::syntax::wire::{Checked, WireError, limit, malformed};

/// Memory in bytes allocated for the entries and texts of all tables.
pub(super) struct LookupBudget {
    held: u64,
    most: u64,
}

impl LookupBudget {
    pub fn new(most: u64) -> Self {
        Self { held: 0, most }
    }

    /// Resets the count to 0.
    pub fn reset(&mut self) {
        self.held = 0;
    }

    fn hold(&mut self, bytes: usize) -> Checked<()> {
        self.held += bytes as u64;
        if self.held <= self.most {
            return Ok(());
        }
        Err(limit(Reason::limit(
            format!("the lookup tables take more than {} bytes", self.most),
            "max_message_bytes",
        )))
    }
}

/// An entry, and a memo of the last term made from it.
#[derive(Default)]
pub(super) struct LookupEntry {
    pub text: Vec<u8>,
    /// Bytes counted for the text.
    held: usize,
    /// Unique for each setting of an entry in the table; 0 means "not set".
    pub serial: u32,
    /// Serial of the batch that contains `term`; 0 for none.
    pub batch: u32,
    /// Serial of the prefix entry that was combined with this name to make `term`.
    pub prefix: u32,
    pub term: TermId,
    /// [`crate::model::term::flags::PLAIN`] or 0.
    pub flags: u8,
}

/// A lookup table. Entry 0 is the empty text; as a prefix it means "none yet".
pub(super) struct LookupTable {
    what: &'static str,
    size: u32,
    entries: Vec<LookupEntry>,
    last: u32,
    serial: u32,
    /// Offset of the frame that repeated the stream options at its start. Cleared by an entry with an
    /// explicit id. Until then an entry of id 0 would continue the table from before that frame.
    repeated: Option<u64>,
    /// Whether an entry of id 0 then continues the table instead of causing an error.
    continues: bool,
    /// Whether earlier frames were not read, so that the table may lack entries.
    after_mark: bool,
    /// Offset of the first such frame after which an entry continued the table.
    pub continued: Option<u64>,
    /// Text buffers reused from earlier logs. They are small and few, so they are not counted.
    spare: Vec<Vec<u8>>,
}

/// The previous id if it is unknown. No id follows it.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// Maximum capacity and number of the text buffers kept for the next log.
const SPARE_BYTES: usize = 256;
const SPARE_TEXTS: usize = 1024;

impl LookupTable {
    pub fn new(what: &'static str, size: u32, joins: JoinMode) -> Self {
        let none = LookupEntry {
            serial: u32::MAX,
            flags: crate::model::term::flags::PLAIN,
            ..LookupEntry::default()
        };
        Self {
            what,
            size,
            entries: vec![none],
            last: 0,
            serial: 0,
            repeated: None,
            continues: joins == JoinMode::Warn,
            after_mark: false,
            continued: None,
            spare: Vec::new(),
        }
    }

    /// Removes all entries and sets the size of the table.
    pub fn reset(&mut self, size: u32) {
        for mut entry in self.entries.drain(1..) {
            let capacity = entry.text.capacity();
            if (1..=SPARE_BYTES).contains(&capacity) && self.spare.len() < SPARE_TEXTS {
                entry.text.clear();
                self.spare.push(entry.text);
            }
        }
        self.size = size;
        self.last = 0;
        self.serial = 0;
        self.repeated = None;
        self.after_mark = false;
    }

    /// Like [`reset`](Self::reset), for a log that is read from a restart frame. Entries before that
    /// frame are unknown, so the first entry and the first reference must have an explicit id.
    pub fn reset_after_mark(&mut self, size: u32) {
        self.reset(size);
        self.last = UNKNOWN;
        self.after_mark = true;
    }

    /// Records that a frame repeats the stream options at its start.
    pub fn repeat_options(&mut self, at: u64) {
        if self.entries.len() > 1 {
            self.repeated = Some(at);
        }
    }

    /// Sets an entry and clears its memo.
    pub fn set(
        &mut self,
        id: u32,
        text: &[u8],
        flags: u8,
        budget: &mut LookupBudget,
    ) -> Checked<()> {
        let id = if id == 0 {
            if let Some(at) = self.repeated {
                self.continue_after(at)?;
            }
            self.last.wrapping_add(1)
        } else {
            self.repeated = None;
            id
        };
        if id > self.size || id == 0 {
            if id == 0 && self.after_mark {
                return Err(self.without_id("entry"));
            }
            return Err(self.over(id, "entry"));
        }
        self.last = id;
        let at = id as usize;
        if at >= self.entries.len() {
            budget.hold((at + 1 - self.entries.len()) * size_of::<LookupEntry>())?;
            self.entries.resize_with(at + 1, LookupEntry::default);
        }
        self.serial = self.serial % (u32::MAX - 1) + 1;
        let entry = &mut self.entries[at];
        if entry.held < text.len() || entry.held / 4 > text.len() + 64 {
            budget.held -= entry.held as u64;
            entry.held = 0;
            entry.text = Vec::new();
            budget.hold(text.len())?;
            entry.held = text.len();
            // The counted size does not depend on which buffer is reused.
            entry.text = self.spare.pop().unwrap_or_default();
            entry.text.reserve_exact(text.len());
        }
        entry.text.clear();
        entry.text.extend_from_slice(text);
        entry.serial = self.serial;
        entry.batch = 0;
        entry.flags = flags;
        Ok(())
    }

    /// Returns an entry, whether or not it was set.
    #[inline]
    pub fn peek(&self, id: u32) -> Option<&LookupEntry> {
        self.entries.get(id as usize)
    }

    /// Returns an entry that was set (for id 0 see [`LookupTable`]).
    #[inline]
    pub fn get(&self, id: u32) -> Checked<&LookupEntry> {
        match self.entries.get(id as usize) {
            Some(entry) if entry.serial != 0 => Ok(entry),
            _ => Err(self.undefined(id)),
        }
    }

    /// Like [`get`](Self::get), but mutable, to store the term.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Checked<&mut LookupEntry> {
        let defined = self
            .entries
            .get(id as usize)
            .is_some_and(|entry| entry.serial != 0);
        if !defined {
            return Err(self.undefined(id));
        }
        Ok(&mut self.entries[id as usize])
    }

    /// Continues a table from before a frame that repeats the stream options, or returns an error.
    /// If a new stream begins at that frame, id 0 means entry 1.
    #[cold]
    fn continue_after(&mut self, at: u64) -> Checked<()> {
        if !self.continues {
            let reason = Reason::from(format!(
                "a {what} entry without an id would continue the {what} table from before the frame at byte {at}, \
                 which repeats the stream options; were two Jelly files joined there?",
                what = self.what,
            ));
            let reason = reason.with(NEW_TABLES).with(CONTINUE_TABLES);
            return Err(WireError::new(ErrorClass::Malformed, reason));
        }
        self.repeated = None;
        self.continued.get_or_insert(at);
        Ok(())
    }

    #[cold]
    fn undefined(&self, id: u32) -> WireError {
        if id == UNKNOWN && self.after_mark {
            return self.without_id("reference");
        }
        if id > self.size {
            return self.over(id, "reference");
        }
        let reason = format!("{} {id} is used, but no entry has defined it", self.what);
        if self.after_mark {
            return not_a_restart(&reason);
        }
        malformed(reason)
    }

    #[cold]
    fn without_id(&self, use_: &str) -> WireError {
        not_a_restart(&format!("the first {} {use_} has id 0", self.what))
    }

    #[cold]
    fn over(&self, id: u32, use_: &str) -> WireError {
        malformed(format!(
            "{} {use_} {id} exceeds the declared table size {}",
            self.what, self.size
        ))
    }
}

/// The error for data after a restart mark that depends on frames before it. The log may be valid.
#[cold]
pub(super) fn not_a_restart(reason: &str) -> WireError {
    WireError::new(
        ErrorClass::Unsupported,
        format!(
            "{reason} after a restart mark, so the mark is wrong and the log cannot be read in splits; read it in \
             one piece"
        ),
    )
}

/// The option for joined logs.
pub(super) const NEW_TABLES: Remedy =
    Remedy::read("joins", "new", "reads each of the joined files separately");
/// The option for a single stream whose writer repeats the stream options.
const CONTINUE_TABLES: Remedy = Remedy::read(
    "joins",
    "warn",
    "continues the tables, which is right only if one writer wrote all frames as one stream",
);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing test may panic
    use super::*;

    #[test]
    fn zero_is_the_next_entry_and_the_size_is_kept() {
        let mut budget = LookupBudget::new(10_000);
        let mut table = LookupTable::new("name", 3, JoinMode::Error);
        assert!(table.get(1).is_err());
        table.set(0, b"a", 0, &mut budget).unwrap();
        table.set(3, b"c", 0, &mut budget).unwrap();
        assert_eq!(table.get(1).unwrap().text, b"a");
        assert!(table.get(2).is_err());
        assert_eq!(table.get(3).unwrap().text, b"c");
        let error = table.set(0, b"d", 0, &mut budget).unwrap_err();
        assert_eq!(
            error.into_parts().1.text(),
            "name entry 4 exceeds the declared table size 3"
        );
    }

    #[test]
    fn the_memory_in_use_is_bounded() {
        let mut budget = LookupBudget::new(10_000);
        let mut table = LookupTable::new("name", 100, JoinMode::Error);
        for _ in 0..1000 {
            table.set(1, &[b'a'; 9000], 0, &mut budget).unwrap();
            table.set(1, b"b", 0, &mut budget).unwrap();
        }
        table.set(1, &[b'a'; 6000], 0, &mut budget).unwrap();
        assert!(table.set(2, &[b'a'; 6000], 0, &mut budget).is_err());
    }
}
