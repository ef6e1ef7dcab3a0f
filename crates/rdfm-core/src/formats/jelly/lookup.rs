//! Lookup tables of a decoder: prefixes, names, datatypes.
//!
//! - In: entries as the log sets them, with ids from 1 (0: previous + 1).
//! - Out: entries by id, each with a memo of the term created from it in the current batch.
//! - Cost: memory grows with the entries received, not with the declared size. The total size of
//!   all tables is limited.
//! - Law: an entry that was never set is never returned.

use super::options::JoinMode;
use crate::model::builder::LogBuilder;
use crate::model::error::ErrorClass;
use crate::model::record::Record;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::TermId;
use crate::syntax::text::scan::Excerpt;
use crate::syntax::wire::{Checked, WireError, limit, malformed_error};

/// Memory in bytes allocated for the entries and strings of all tables.
pub(super) struct LookupBudget {
    held: u64,
    max: u64,
}

impl LookupBudget {
    pub fn new(max: u64) -> Self {
        Self { held: 0, max }
    }

    /// Resets the count to 0.
    pub fn reset(&mut self) {
        self.held = 0;
    }

    fn charge(&mut self, bytes: usize) -> Checked<()> {
        self.held += bytes as u64;
        if self.held <= self.max {
            return Ok(());
        }
        Err(limit(Reason::limit(
            format!("the lookup tables take more than {} bytes", self.max),
            "max_message_bytes",
        )))
    }
}

/// The last term created from an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct Memo {
    /// Key under which the term is valid, see [`memo_key`]; 0 for never.
    pub key: u64,
    pub term: TermId,
    /// Unique for each assignment to an entry of the table; 0 means "not set".
    pub serial: u32,
}

/// Key of a memo: the serial number of the batch that contains the term, and that of the prefix
/// entry that was combined with a name (0 for a datatype).
#[inline]
pub(super) fn memo_key(batch: u32, prefix: u32) -> u64 {
    u64::from(batch) << 32 | u64::from(prefix)
}

/// Maximum length in bytes of a string that is stored in the entry itself.
const SHORT: usize = 64;
/// Value of [`LookupEntry::short_length`] for a longer string.
const LONG: u8 = u8::MAX;

/// A lookup entry.
pub(super) struct LookupEntry {
    short: [u8; SHORT],
    short_length: u8,
    /// [`crate::model::term::flags::PLAIN`] or 0. A prefix or a datatype is plain only if it begins
    /// with a scheme.
    pub flags: u8,
    /// Bytes charged to the budget for `long`.
    held: u32,
    long: Vec<u8>,
}

impl Default for LookupEntry {
    fn default() -> Self {
        Self {
            short: [0; SHORT],
            short_length: 0,
            flags: 0,
            held: 0,
            long: Vec::new(),
        }
    }
}

impl LookupEntry {
    /// The string.
    #[inline]
    pub fn text(&self) -> &[u8] {
        let short = self.short.get(..usize::from(self.short_length));
        short.unwrap_or(&self.long)
    }

    /// Appends the string to the batch without charging for it. Returns its offset and length.
    #[inline]
    pub fn append_to<R: Record>(&self, builder: &mut LogBuilder<R>) -> (u32, usize) {
        let length = usize::from(self.short_length);
        if length <= SHORT {
            (builder.append_short(&self.short, length), length)
        } else {
            (builder.append_text(&self.long), self.long.len())
        }
    }

    #[inline]
    fn set_text(&mut self, text: Excerpt<'_>, budget: &mut LookupBudget) -> Checked<()> {
        if self.held == 0
            && let Some(bytes) = text.short()
        {
            self.short[..bytes.len()].copy_from_slice(bytes);
            self.short_length = text.length() as u8;
            return Ok(());
        }
        self.set_any_text(text.text(), budget)
    }

    #[inline(never)]
    fn set_any_text(&mut self, text: &[u8], budget: &mut LookupBudget) -> Checked<()> {
        if self.held as usize / 4 > text.len() + 64 {
            self.drop_long(budget);
        }
        if let Some(short) = self.short.get_mut(..text.len()) {
            short.copy_from_slice(text);
            self.short_length = text.len() as u8;
            return Ok(());
        }
        if (self.held as usize) < text.len() {
            self.drop_long(budget);
            budget.charge(text.len())?;
            self.held = text.len() as u32;
            self.long.reserve_exact(text.len());
        }
        self.long.clear();
        self.long.extend_from_slice(text);
        self.short_length = LONG;
        Ok(())
    }

    fn drop_long(&mut self, budget: &mut LookupBudget) {
        budget.held -= u64::from(self.held);
        self.held = 0;
        self.long = Vec::new();
    }
}

/// Bytes charged for an entry.
const ENTRY_BYTES: usize = size_of::<LookupEntry>() + size_of::<Memo>() + size_of::<u32>();

/// A lookup table. Entry 0 is the empty string; as a prefix it means "none yet".
pub(super) struct LookupTable {
    what: &'static str,
    size: u32,
    entries: Vec<LookupEntry>,
    /// The memos of the entries, stored separately so that those in use fit in the CPU cache.
    memos: Vec<Memo>,
    /// The ids of the entries that were set.
    set_ids: Vec<u32>,
    last: u32,
    serial: u32,
    /// Offset of the frame that repeated the stream options at its start. Cleared by an entry with
    /// an explicit id. Until then an entry with id 0 would continue the table from before that
    /// frame.
    repeated: Option<u64>,
    /// Whether such an entry with id 0 continues the table instead of causing an error.
    continues: bool,
    /// Offset of the restart mark at which reading began. Earlier frames were not read, so the
    /// table may lack entries.
    mark: Option<u64>,
    /// Offset of the first frame that repeated the stream options and after which an entry
    /// continued the table.
    pub continued: Option<u64>,
}

/// Value for an unknown previous id, after which no id is valid.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl LookupTable {
    pub fn new(what: &'static str, size: u32, joins: JoinMode) -> Self {
        Self {
            what,
            size,
            entries: vec![LookupEntry::default()],
            memos: vec![Memo {
                serial: u32::MAX,
                ..Memo::default()
            }],
            set_ids: Vec::new(),
            last: 0,
            serial: 0,
            repeated: None,
            continues: joins == JoinMode::Warn,
            mark: None,
            continued: None,
        }
    }

    /// Removes all entries and sets the size of the table. The cost is proportional to the number of
    /// entries that were set, since a small frame may reset the table and set its last entry.
    pub fn reset(&mut self, size: u32, budget: &mut LookupBudget) {
        let length = self.entries.len();
        if length > size as usize + 1 || self.set_ids.len() >= length / 4 {
            self.entries.truncate(1);
            self.memos.truncate(1);
        } else {
            for id in &self.set_ids {
                self.entries[*id as usize] = LookupEntry::default();
                self.memos[*id as usize] = Memo::default();
            }
            budget.held += ((length - 1) * ENTRY_BYTES) as u64;
        }
        self.set_ids.clear();
        self.size = size;
        self.last = 0;
        self.serial = 0;
        self.repeated = None;
        self.mark = None;
    }

    /// Like [`reset`](Self::reset), for a log that is read from the restart mark at an offset.
    /// Entries before it are unknown, so the first entry and the first reference must have an
    /// explicit id.
    pub fn reset_after_mark(&mut self, size: u32, mark: u64, budget: &mut LookupBudget) {
        self.reset(size, budget);
        self.last = UNKNOWN;
        self.mark = Some(mark);
    }

    /// Records that a frame repeats the stream options at its start.
    pub fn repeat_options(&mut self, at: u64) {
        if !self.set_ids.is_empty() {
            self.repeated = Some(at);
        }
    }

    /// Sets an entry and clears its memo.
    #[inline]
    pub fn set(
        &mut self,
        id: u32,
        text: Excerpt<'_>,
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
            if id == 0
                && let Some(mark) = self.mark
            {
                return Err(self.zero_id_error(mark, "entry"));
            }
            return Err(self.size_exceeded_error(id, "entry"));
        }
        self.last = id;
        let at = id as usize;
        if at >= self.entries.len() {
            self.grow(at + 1, budget)?;
        }
        self.serial = self.serial % (u32::MAX - 1) + 1;
        let entry = &mut self.entries[at];
        entry.set_text(text, budget)?;
        entry.flags = flags;
        let memo = &mut self.memos[at];
        if memo.serial == 0 {
            self.set_ids.push(id);
        }
        *memo = Memo {
            serial: self.serial,
            ..Memo::default()
        };
        Ok(())
    }

    #[inline(never)]
    fn grow(&mut self, length: usize, budget: &mut LookupBudget) -> Checked<()> {
        let added = length - self.entries.len();
        budget.charge(added * ENTRY_BYTES)?;
        self.entries.resize_with(length, LookupEntry::default);
        self.memos.resize(length, Memo::default());
        Ok(())
    }

    /// Returns the memo of an entry, whether or not the entry was set.
    #[inline]
    pub fn peek(&self, id: u32) -> Option<&Memo> {
        self.memos.get(id as usize)
    }

    /// Number of entries, if all ids up to the largest were set; otherwise 0.
    pub fn count_without_gaps(&self) -> u32 {
        let count = self.set_ids.len();
        if count + 1 == self.entries.len() {
            count as u32
        } else {
            0
        }
    }

    /// Returns an entry that was set, and its memo (for id 0 see [`LookupTable`]).
    #[inline]
    pub fn get(&self, id: u32) -> Checked<(&LookupEntry, &Memo)> {
        match (self.entries.get(id as usize), self.memos.get(id as usize)) {
            (Some(entry), Some(memo)) if memo.serial != 0 => Ok((entry, memo)),
            _ => Err(self.undefined_error(id)),
        }
    }

    /// Like [`get`](Self::get), but with mutable access to the memo, to store the term.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Checked<(&LookupEntry, &mut Memo)> {
        if self.peek(id).is_none_or(|memo| memo.serial == 0) {
            return Err(self.undefined_error(id));
        }
        Ok((&self.entries[id as usize], &mut self.memos[id as usize]))
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
    fn undefined_error(&self, id: u32) -> WireError {
        if id == UNKNOWN
            && let Some(mark) = self.mark
        {
            return self.zero_id_error(mark, "reference");
        }
        if id > self.size {
            return self.size_exceeded_error(id, "reference");
        }
        let reason = format!("{} {id} is used, but no entry has defined it", self.what);
        match self.mark {
            Some(mark) => wrong_mark(mark, &format!("{reason} since")),
            None => malformed_error(reason),
        }
    }

    #[cold]
    fn zero_id_error(&self, mark: u64, usage: &str) -> WireError {
        wrong_mark(mark, &format!("the first {} {usage} has id 0", self.what))
    }

    #[cold]
    fn size_exceeded_error(&self, id: u32, usage: &str) -> WireError {
        malformed_error(format!(
            "{} {usage} {id} exceeds the declared table size {}",
            self.what, self.size
        ))
    }
}

/// Returns the error for data after the restart mark at offset `mark` that depends on earlier
/// frames. The log may still be valid without its marks.
#[cold]
pub(super) fn wrong_mark(mark: u64, reason: &str) -> WireError {
    let text = format!("the restart mark at byte {mark} is wrong: {reason}");
    WireError::new(
        ErrorClass::Unsupported,
        Reason::from(text).with(WITHOUT_MARKS),
    )
}

/// The option for a log with wrong marks.
pub(super) const WITHOUT_MARKS: Remedy =
    Remedy::read("marks", "false", "reads the log from its start");

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
    fn id_zero_means_the_next_entry_and_ids_are_limited_by_the_size() {
        let mut budget = LookupBudget::new(10_000);
        let mut table = LookupTable::new("name", 3, JoinMode::Error);
        let mut set = |table: &mut LookupTable, id, text| {
            table.set(id, Excerpt::from_text(text), 0, &mut budget)
        };
        assert!(table.get(1).is_err());
        set(&mut table, 0, b"a").unwrap();
        set(&mut table, 3, b"c").unwrap();
        assert_eq!(table.get(1).unwrap().0.text(), b"a");
        assert!(table.get(2).is_err());
        assert_eq!(table.get(3).unwrap().0.text(), b"c");
        let error = set(&mut table, 0, b"d").unwrap_err();
        assert_eq!(
            error.into_parts().1.text(),
            "name entry 4 exceeds the declared table size 3"
        );
    }

    #[test]
    fn an_entry_has_the_text_that_was_set_last() {
        let text: Vec<u8> = (0..200).collect();
        let mut budget = LookupBudget::new(10_000);
        let mut table = LookupTable::new("name", 1, JoinMode::Error);
        for length in (0..200).chain((0..200).rev()).chain([100, 3, 150, 40]) {
            for start in [0, 200 - length] {
                let excerpt = Excerpt::new(&text, start, length).unwrap();
                table.set(1, excerpt, 0, &mut budget).unwrap();
                assert_eq!(
                    table.get(1).unwrap().0.text(),
                    &text[start..start + length],
                    "{length} from {start}"
                );
            }
        }
    }

    #[test]
    fn the_memory_in_use_is_bounded() {
        let mut budget = LookupBudget::new(10_000);
        let mut table = LookupTable::new("name", 100, JoinMode::Error);
        let mut set = |id, text: &[u8]| table.set(id, Excerpt::from_text(text), 0, &mut budget);
        for _ in 0..1000 {
            set(1, &[b'a'; 9000]).unwrap();
            set(1, b"b").unwrap();
        }
        set(1, &[b'a'; 6000]).unwrap();
        assert!(set(2, &[b'a'; 6000]).is_err());
    }

    #[test]
    fn a_table_is_reset_at_the_cost_of_its_entries() {
        let mut budget = LookupBudget::new(1 << 24);
        let mut table = LookupTable::new("name", 60_000, JoinMode::Error);
        for _ in 0..2 {
            table
                .set(60_000, Excerpt::from_text(b"a"), 0, &mut budget)
                .unwrap();
            assert_eq!(table.get(60_000).unwrap().0.text(), b"a");
            budget.reset();
            table.reset(60_000, &mut budget);
            assert!(table.get(60_000).is_err());
            // The memory of the entries is kept, and still counts.
            assert_eq!(table.entries.len(), 60_001);
            assert_eq!(budget.held, 60_000 * ENTRY_BYTES as u64);
        }
        budget.reset();
        table.reset(50_000, &mut budget);
        assert_eq!((table.entries.len(), budget.held), (1, 0));
    }

    #[test]
    fn each_entry_counts_towards_the_memory_budget() {
        let mut budget = LookupBudget::new(10 * ENTRY_BYTES as u64);
        let mut table = LookupTable::new("name", 100, JoinMode::Error);
        for _ in 0..10 {
            table
                .set(0, Excerpt::from_text(b"a"), 0, &mut budget)
                .unwrap();
        }
        assert!(
            table
                .set(0, Excerpt::from_text(b"a"), 0, &mut budget)
                .is_err()
        );
    }
}
