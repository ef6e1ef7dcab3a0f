//! Builds the columns and the lookup entries of a frame.
//!
//! - In: the cells of a column, as ids and text; lookup entries.
//! - Out: the fields of a column ([`ColumnWriter`]), and packed lookup entries ([`PackedEntries`]).
//! - Cost: appending. A language tag is hashed.
//! - Law: adjacent equal values are stored once, if the caller adds them as such. A column can be
//!   cut back to an earlier length ([`ColumnWriter::mark`]).

use rustc_hash::FxHashMap;

use super::column::{
    BNODE, BNODES, DIRECTIONS, IRI, LEXICAL, LITERAL, LITERALS, NAMES, PREFIXES, TAGS, TRIPLE,
    TRIPLES,
};
use super::layout::LAYOUTS;
use super::triples::IriState;
use crate::formats::jelly::restart::MARK_START;
use crate::syntax::wire::{LENGTH, put_bytes, put_varint};

/// Returns the tag of a string, a message, or packed numbers.
const fn tag(field: u32) -> u8 {
    (field as u8) << 3 | LENGTH
}

/// Numbers of a list that may be empty, one number for all values, or one for each.
#[derive(Clone, Debug, Default)]
struct EachNumber {
    bytes: Vec<u8>,
    count: usize,
    first: u32,
    /// Number of values at the start of the list that equal the first one.
    equal: usize,
}

impl EachNumber {
    /// Adds a number, which may be written differently than its value.
    #[inline]
    fn add(&mut self, value: u32, written: u32) {
        if self.count == 0 {
            self.first = value;
        }
        if self.equal == self.count && value == self.first {
            self.equal += 1;
        }
        self.count += 1;
        put_varint(&mut self.bytes, u64::from(written));
    }

    fn put(&self, field: u32, out: &mut Vec<u8>) {
        if self.equal < self.count {
            put_bytes(out, tag(field), &self.bytes);
        } else if self.count > 0 && self.first != 0 {
            let mut one = Vec::new();
            put_varint(&mut one, u64::from(self.first));
            put_bytes(out, tag(field), &one);
        }
    }

    fn truncate(&mut self, mark: &EachMark) {
        self.bytes.truncate(mark.bytes);
        self.count = mark.count;
        self.equal = mark.equal;
    }

    fn mark(&self) -> EachMark {
        EachMark {
            bytes: self.bytes.len(),
            count: self.count,
            equal: self.equal,
        }
    }

    fn clear(&mut self) {
        self.truncate(&EachMark::default());
    }
}

/// A length of an [`EachNumber`].
#[derive(Clone, Copy, Debug, Default)]
struct EachMark {
    bytes: usize,
    count: usize,
    equal: usize,
}

/// The runs of a column.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    /// Number of values that occur once since the last token.
    skip: u32,
    /// Number of cells of the last value; 0 if its run has been written.
    run: u32,
    /// Number of unbound cells after it.
    unbound: u32,
}

/// The number of values of a column, and their kinds.
#[derive(Clone, Copy, Debug, Default)]
struct LastKinds {
    values: usize,
    /// The kinds of the last values, whose number is less than four.
    byte: u8,
    /// The set of all kinds.
    set: u8,
}

/// Builds a column.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::jelly) struct ColumnWriter {
    /// The kinds of the values, four in a byte, without the last byte if it is incomplete.
    kinds: Vec<u8>,
    last_kinds: LastKinds,
    layouts: Vec<u8>,
    runs: Runs,
    iris: IriState,
    names: Vec<u8>,
    prefixes: EachNumber,
    lexical: Vec<u8>,
    literals: EachNumber,
    tags: Vec<u8>,
    /// Indices of the language tags, by direction and text.
    tag_indices: FxHashMap<Vec<u8>, u32>,
    directions: Vec<u8>,
    bnodes: Vec<u8>,
    triples: Vec<u8>,
    /// State of the IRIs in triple terms.
    pub nested: IriState,
    /// Whether the kinds end with the first bytes of a restart mark.
    pub resembles_mark: bool,
}

/// A length of a column, to which it can be cut back.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::formats::jelly) struct ColumnMark {
    last_kinds: LastKinds,
    layouts: usize,
    runs: Runs,
    iris: IriState,
    names: usize,
    prefixes: EachMark,
    lexical: usize,
    literals: EachMark,
    tags: usize,
    directions: usize,
    bnodes: usize,
    triples: usize,
    nested: IriState,
}

impl ColumnWriter {
    /// Removes all cells.
    pub fn clear(&mut self) {
        self.cut(&ColumnMark::default());
        self.tag_indices.clear();
        self.prefixes.clear();
        self.literals.clear();
    }

    /// Number of bytes, without numbers for all values.
    pub fn size(&self) -> usize {
        self.layouts.len()
            + self.names.len()
            + self.prefixes.bytes.len()
            + self.lexical.len()
            + self.literals.bytes.len()
            + self.tags.len()
            + self.bnodes.len()
            + self.triples.len()
    }

    /// Adds a cell with the value of the previous cell.
    #[inline]
    pub fn repeat(&mut self) {
        self.runs.run += 1;
    }

    /// Whether the previous cell has a value, so that it can be repeated.
    #[inline]
    pub fn can_repeat(&self) -> bool {
        self.runs.run > 0 && self.runs.unbound == 0
    }

    /// Adds an unbound cell.
    #[inline]
    pub fn unbound(&mut self) {
        self.runs.unbound += 1;
    }

    /// Adds an IRI.
    #[inline]
    pub fn iri(&mut self, prefix: u32, name: u32) {
        self.value(IRI);
        let (same, next) = (self.iris.prefix, self.iris.name.saturating_add(1));
        put_varint(
            &mut self.names,
            u64::from(if name == next { 0 } else { name }),
        );
        self.prefixes
            .add(prefix, if prefix == same { 0 } else { prefix });
        self.iris = IriState { prefix, name };
    }

    /// Adds a blank node, whose label has two parts.
    pub fn bnode(&mut self, head: &[u8], rest: &[u8]) {
        self.value(BNODE);
        put_two(&mut self.bnodes, tag(BNODES), head, rest);
    }

    /// Adds a literal without a language tag. Datatype 0 stands for a simple literal.
    pub fn literal(&mut self, lexical: &[u8], datatype: u32) {
        let kind = if datatype == 0 { 0 } else { 2 * datatype - 1 };
        self.any_literal(lexical, kind);
    }

    /// Adds a literal with a language tag and a direction, as a number of the log.
    pub fn tagged(&mut self, lexical: &[u8], language: &[u8], direction: u8) {
        let key = [&[direction], language].concat();
        let next = self.directions.len() as u32;
        let index = *self.tag_indices.entry(key).or_insert(next);
        if index == next {
            put_bytes(&mut self.tags, tag(TAGS), language);
            self.directions.push(direction);
        }
        self.any_literal(lexical, 2 * index + 2);
    }

    fn any_literal(&mut self, lexical: &[u8], kind: u32) {
        self.value(LITERAL);
        put_bytes(&mut self.lexical, tag(LEXICAL), lexical);
        self.literals.add(kind, kind);
    }

    /// Adds a triple term, encoded after `nested`, which becomes the state after it.
    pub fn triple(&mut self, triple: &[u8], nested: IriState) {
        self.value(TRIPLE);
        put_bytes(&mut self.triples, tag(TRIPLES), triple);
        self.nested = nested;
    }

    /// Begins a value.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each value
    fn value(&mut self, kind: u8) {
        self.end_run();
        self.runs.run = 1;
        let last = &mut self.last_kinds;
        let shift = 2 * (last.values % 4);
        last.byte |= kind << shift;
        last.set |= 1 << kind;
        last.values += 1;
        if shift == 6 {
            let byte = std::mem::take(&mut last.byte);
            self.kinds.push(byte);
            if Some(&byte) == MARK_START.last() {
                self.resembles_mark = self.kinds.ends_with(MARK_START);
            }
        }
    }

    /// Writes the tokens of the last value, and of the unbound cells after it.
    #[inline]
    fn end_run(&mut self) {
        match self.runs.run {
            0 => {}
            1 => self.runs.skip += 1,
            cells => self.token(0, cells - 2),
        }
        self.runs.run = 0;
        if self.runs.unbound > 0 {
            self.token(1, self.runs.unbound - 1);
            self.runs.unbound = 0;
        }
    }

    fn token(&mut self, kind: u32, length: u32) {
        let token = self.runs.skip << 5 | kind << 4 | length.min(15);
        put_varint(&mut self.layouts, u64::from(token));
        if length >= 15 {
            put_varint(&mut self.layouts, u64::from(length - 15));
        }
        self.runs.skip = 0;
    }

    /// Returns the current length.
    pub fn mark(&self) -> ColumnMark {
        ColumnMark {
            last_kinds: self.last_kinds,
            layouts: self.layouts.len(),
            runs: self.runs,
            iris: self.iris,
            names: self.names.len(),
            prefixes: self.prefixes.mark(),
            lexical: self.lexical.len(),
            literals: self.literals.mark(),
            tags: self.tags.len(),
            directions: self.directions.len(),
            bnodes: self.bnodes.len(),
            triples: self.triples.len(),
            nested: self.nested,
        }
    }

    /// Removes the cells after a mark. Nothing can be added afterwards, except after
    /// [`clear`](Self::clear).
    pub fn cut(&mut self, mark: &ColumnMark) {
        self.last_kinds = mark.last_kinds;
        self.kinds.truncate(mark.last_kinds.values / 4);
        self.layouts.truncate(mark.layouts);
        self.runs = mark.runs;
        self.iris = mark.iris;
        self.names.truncate(mark.names);
        self.prefixes.truncate(&mark.prefixes);
        self.lexical.truncate(mark.lexical);
        self.literals.truncate(&mark.literals);
        self.tags.truncate(mark.tags);
        self.directions.truncate(mark.directions);
        self.bnodes.truncate(mark.bnodes);
        self.triples.truncate(mark.triples);
        self.nested = mark.nested;
        self.resembles_mark = false;
    }

    /// Appends the column as a field of the batch, unless it has no values.
    pub fn put(&mut self, field: u32, out: &mut Vec<u8>) {
        let kinds = self.last_kinds;
        if kinds.values == 0 {
            return;
        }
        // Unbound cells at the end, and values that occur once, have no tokens.
        self.runs.unbound = 0;
        self.end_run();
        let mut column = Vec::with_capacity(self.size() + self.kinds.len() + 32);
        if kinds.set.count_ones() > 1 {
            if !kinds.values.is_multiple_of(4) {
                self.kinds.push(kinds.byte);
            }
            put_bytes(&mut column, tag(1), &self.kinds);
        }
        for (number, list) in [(LAYOUTS, &self.layouts), (NAMES, &self.names)] {
            if !list.is_empty() {
                put_bytes(&mut column, tag(number), list);
            }
        }
        self.prefixes.put(PREFIXES, &mut column);
        column.extend_from_slice(&self.lexical);
        self.literals.put(LITERALS, &mut column);
        column.extend_from_slice(&self.tags);
        if self.directions.iter().any(|direction| *direction != 0) {
            put_bytes(&mut column, tag(DIRECTIONS), &self.directions);
        }
        column.extend_from_slice(&self.bnodes);
        column.extend_from_slice(&self.triples);
        put_bytes(out, tag(field), &column);
    }
}

/// Appends a string that has two parts.
pub(super) fn put_two(out: &mut Vec<u8>, tag: u8, head: &[u8], rest: &[u8]) {
    out.push(tag);
    put_varint(out, (head.len() + rest.len()) as u64);
    out.extend_from_slice(head);
    out.extend_from_slice(rest);
}

/// Lookup entries of one table, in runs of consecutive ids.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::jelly) struct PackedEntries {
    /// The complete runs.
    runs: Vec<u8>,
    id: u32,
    /// The values of the last run.
    values: Vec<u8>,
}

impl PackedEntries {
    /// Adds an entry; id 0 continues after the previous one.
    pub fn add(&mut self, field: u32, id: u32, text: &[u8]) {
        if id != 0 {
            self.end_run(field);
            self.id = id;
        }
        put_bytes(&mut self.values, tag(2), text);
    }

    fn end_run(&mut self, field: u32) {
        if self.values.is_empty() {
            return;
        }
        let mut entry = Vec::with_capacity(self.values.len() + 6);
        if self.id != 0 {
            entry.push(1 << 3);
            put_varint(&mut entry, u64::from(self.id));
        }
        entry.append(&mut self.values);
        put_bytes(&mut self.runs, tag(field), &entry);
        self.id = 0;
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.runs.len() + self.values.len()
    }

    /// Appends the entries as fields of the batch, and removes them.
    pub fn put(&mut self, field: u32, out: &mut Vec<u8>) {
        self.end_run(field);
        out.append(&mut self.runs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_tokens() {
        let mut column = ColumnWriter::default();
        // g _ _ g g h _, and then nothing.
        column.iri(0, 1);
        column.unbound();
        column.unbound();
        assert!(!column.can_repeat());
        column.iri(0, 1);
        assert!(column.can_repeat());
        column.repeat();
        column.iri(0, 2);
        column.unbound();
        let mut out = Vec::new();
        column.put(9, &mut out);
        let layouts = [0x12, 2, 1 << 5 | 0x11, 0];
        let names = [0x1a, 3, 0, 1, 0];
        let expected = [&[0x4a, 9][..], &layouts, &names].concat();
        assert_eq!(out, expected);
    }

    #[test]
    fn a_column_is_cut_back_to_a_mark() {
        let fill = |column: &mut ColumnWriter| {
            column.iri(1, 5);
            column.repeat();
            column.bnode(b"b", b"0");
            column.tagged(b"x", b"en", 0);
        };
        let mut expected = Vec::new();
        let mut column = ColumnWriter::default();
        fill(&mut column);
        column.put(8, &mut expected);
        let mut column = ColumnWriter::default();
        fill(&mut column);
        let mark = column.mark();
        column.repeat();
        column.tagged(b"y", b"ar", 2);
        column.iri(2, 9);
        column.literal(b"z", 3);
        column.triple(b"", IriState { prefix: 1, name: 1 });
        column.cut(&mark);
        let mut out = Vec::new();
        column.put(8, &mut out);
        assert_eq!(out, expected);
        column.clear();
        fill(&mut column);
        out.clear();
        column.put(8, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn one_number_stands_for_all_values() {
        let mut column = ColumnWriter::default();
        column.iri(3, 1);
        column.iri(3, 2);
        let mut out = Vec::new();
        column.put(6, &mut out);
        assert_eq!(out, [0x32, 7, 0x1a, 2, 0, 0, 0x22, 1, 3]);
        column.clear();
        column.literal(b"", 0);
        column.literal(b"", 0);
        out.clear();
        column.put(8, &mut out);
        assert_eq!(out, [0x42, 4, 0x2a, 0, 0x2a, 0]);
    }

    #[test]
    fn consecutive_entries_are_packed() {
        let mut entries = PackedEntries::default();
        entries.add(2, 5, b"a");
        entries.add(2, 0, b"b");
        entries.add(2, 2, b"c");
        let mut out = Vec::new();
        entries.put(2, &mut out);
        let first = [0x12, 8, 8, 5, 0x12, 1, b'a', 0x12, 1, b'b'];
        assert_eq!(out, [&first[..], &[0x12, 5, 8, 2, 0x12, 1, b'c']].concat());
        out.clear();
        entries.add(2, 0, b"d");
        entries.put(2, &mut out);
        assert_eq!(out, [0x12, 3, 0x12, 1, b'd']);
    }
}
