//! Reads and checks a column without expanding its cells.
//!
//! - In: the range of a column in its frame, the lookup tables after all entries of the batch, and
//!   what its position allows ([`ColumnRules`]).
//! - Out: the lists of the column ([`Column`]).
//! - Cost: one pass over the values. Memory is constant, apart from the language tags.
//! - Law: after [`Column::open`], every id, length, kind, string and run of the column is valid.

use std::ops::Range;

use super::fields::{Fault, Fields, List, Locate as _, Located, Numbers, Strings, fault};
use super::layout;
use super::triples::{self, IriState, O_BNODE, O_LITERAL, O_TRIPLE, S_BNODE, start_of};
use crate::formats::jelly::term_reader::TermReader;
use crate::model::error::{format_count, quote};
use crate::model::record::Record;
use crate::model::remedy::Reason;
use crate::model::term::{TermId, flags, is_language_type};
use crate::syntax::wire::{Checked, WireError, check_utf8, limit, malformed_error};

/// Field numbers of the lists in a column.
pub(super) const NAMES: u32 = 3;
pub(super) const PREFIXES: u32 = 4;
pub(super) const LEXICAL: u32 = 5;
pub(super) const LITERALS: u32 = 6;
pub(super) const TAGS: u32 = 7;
pub(super) const DIRECTIONS: u32 = 8;
pub(super) const BNODES: u32 = 9;
pub(super) const TRIPLES: u32 = 10;

/// Bytes charged for a language tag.
const TAG_BYTES: usize = size_of::<LanguageTag>();

/// Kinds of values, as in the log.
pub(super) const IRI: u8 = 0;
pub(super) const LITERAL: u8 = 1;
pub(super) const BNODE: u8 = 2;
pub(super) const TRIPLE: u8 = 3;

/// The version of RDF that a stream announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::formats::jelly) struct Version(pub u32);

impl Version {
    /// Whether literals may have a direction.
    pub fn has_directions(self) -> bool {
        self.0 != 1
    }

    /// Whether triple terms may occur.
    pub fn has_triple_terms(self) -> bool {
        matches!(self.0, 0 | 3)
    }

    /// The version as in options and errors.
    pub fn name(self) -> &'static str {
        match self.0 {
            1 => "RDF 1.1",
            2 => "RDF 1.2 Basic",
            _ => "RDF 1.2",
        }
    }
}

/// A position of statements, and what its column may contain.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats::jelly) struct ColumnRules<'a> {
    /// Name of the column in errors.
    pub name: &'a str,
    /// The allowed kinds, as a bit set.
    pub kinds: u8,
    /// Whether every cell must have a value.
    pub bound: bool,
}

pub(super) const SUBJECTS: ColumnRules = ColumnRules {
    name: "subjects",
    kinds: 1 << IRI | 1 << BNODE,
    bound: true,
};
pub(super) const PREDICATES: ColumnRules = ColumnRules {
    name: "predicates",
    kinds: 1 << IRI,
    bound: true,
};
pub(super) const OBJECTS: ColumnRules = ColumnRules {
    name: "objects",
    kinds: 0b1111,
    bound: true,
};
pub(super) const GRAPHS: ColumnRules = ColumnRules {
    name: "graphs",
    kinds: 1 << IRI | 1 << BNODE,
    bound: false,
};

/// A language tag of a column, and the term created from it.
#[derive(Clone, Debug)]
pub(in crate::formats::jelly) struct LanguageTag {
    pub text: Range<usize>,
    /// Direction as a number of the log.
    direction: u32,
    /// The batch of the term; 0 for none.
    pub batch: u32,
    pub term: TermId,
}

impl LanguageTag {
    /// The flag of the direction.
    pub fn direction(&self) -> u8 {
        direction_flag(self.direction)
    }
}

/// Returns the flag of a direction that has been checked.
pub(super) fn direction_flag(direction: u32) -> u8 {
    match direction {
        1 => flags::LTR,
        2 => flags::RTL,
        _ => 0,
    }
}

/// The lists of a column.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::jelly) struct Column {
    pub kinds: Range<usize>,
    pub layouts: List,
    pub names: List,
    pub prefixes: List,
    pub lexical: List,
    pub literals: List,
    pub bnodes: List,
    pub triples: List,
    pub tags: Vec<LanguageTag>,
    tag_list: List,
    directions: List,
    /// Index of its first byte.
    start: usize,
}

impl Column {
    /// Reads the fields of a column.
    fn read(bytes: &[u8], range: &Range<usize>) -> Located<Self> {
        let mut column = Self {
            start: range.start,
            ..Self::default()
        };
        let mut fields = Fields::new(bytes, range, "the column");
        while let Some(field) = fields.next()? {
            let end = fields.end_of_field();
            let (list, is_text) = match field.number {
                1 => {
                    column.kinds = fields.bytes(&field)?;
                    continue;
                }
                layout::LAYOUTS => (&mut column.layouts, false),
                NAMES => (&mut column.names, false),
                PREFIXES => (&mut column.prefixes, false),
                LEXICAL => (&mut column.lexical, true),
                LITERALS => (&mut column.literals, false),
                TAGS => (&mut column.tag_list, true),
                DIRECTIONS => (&mut column.directions, false),
                BNODES => (&mut column.bnodes, true),
                TRIPLES => (&mut column.triples, true),
                other => return Err(fields.unknown(field.start, other)),
            };
            if is_text {
                fields.bytes(&field)?;
                list.add(field.start, end);
                fields.add_short_strings(field.number, list);
            } else {
                list.add_numbers(bytes, &field, end)?;
            }
        }
        Ok(column)
    }

    /// Reads and checks a column with this number of rows, in a stream that announces a version.
    pub fn open<R: Record>(
        bytes: &[u8],
        range: &Range<usize>,
        rules: ColumnRules<'_>,
        (rows, version): (u32, Version),
        terms: &mut TermReader<R>,
    ) -> Located<Self> {
        let opened = Self::read(bytes, range).and_then(|mut column| {
            column.check(bytes, rules, rows, version, terms)?;
            Ok(column)
        });
        opened.map_err(|fault| in_column(rules.name, fault))
    }

    /// Number of values.
    pub fn values(&self) -> usize {
        self.counts().iter().sum()
    }

    /// Number of values of each kind.
    fn counts(&self) -> [usize; 4] {
        [&self.names, &self.lexical, &self.bnodes, &self.triples].map(|list| list.count)
    }

    /// Checks a column with this number of rows.
    fn check<R: Record>(
        &mut self,
        bytes: &[u8],
        rules: ColumnRules<'_>,
        rows: u32,
        version: Version,
        terms: &mut TermReader<R>,
    ) -> Located<()> {
        self.check_kinds(bytes, rules)?;
        layout::check(bytes, &self.layouts, self.values(), rows, rules.bound)
            .map_err(|fault| self.or_start(fault))?;
        self.check_iris(bytes, terms)?;
        self.check_strings(bytes, &self.bnodes, (BNODES, BNODE), "a blank node label")?;
        self.check_strings(bytes, &self.lexical, (LEXICAL, LITERAL), "a lexical form")?;
        self.read_tags(bytes, terms)?;
        self.check_literals(bytes, version, terms)?;
        self.check_triples(bytes, version, terms)
    }

    /// Replaces the position of an error in a list that is missing.
    fn or_start(&self, mut fault: Fault) -> Fault {
        fault.start = fault.start.max(self.start);
        fault
    }

    fn check_kinds(&self, bytes: &[u8], rules: ColumnRules<'_>) -> Located<()> {
        const KINDS: [&str; 4] = ["IRI", "literal", "blank node", "triple term"];
        let counts = self.counts();
        let start = self.kinds.start.max(self.start);
        for (kind, name) in KINDS.into_iter().enumerate() {
            if counts[kind] > 0 && rules.kinds >> kind & 1 == 0 {
                let reason = format!("a {name} is not allowed");
                return Err(fault(start, reason));
            }
        }
        let (kinds, values) = (&bytes[self.kinds.clone()], self.values());
        if kinds.is_empty() {
            if counts.iter().filter(|count| **count > 0).count() > 1 {
                let reason = "the column has values of several kinds, but no kinds";
                return Err(fault(start, reason));
            }
            return Ok(());
        }
        let expected = values.div_ceil(4);
        if kinds.len() != expected {
            let reason = format!(
                "the kinds of {values} values take {} bytes, expected {expected}",
                kinds.len()
            );
            return Err(fault(start, reason));
        }
        let unused = kinds[expected - 1].checked_shr(2 * (values as u32 % 4));
        if !values.is_multiple_of(4) && unused != Some(0) {
            return Err(fault(start, "the unused bits of the kinds are not 0"));
        }
        let mut kind_counts = [0; 4];
        for byte in kinds {
            let (low, high) = (byte & 0x55, byte >> 1 & 0x55);
            kind_counts[1] += (low & !high).count_ones() as usize;
            kind_counts[2] += (high & !low).count_ones() as usize;
            kind_counts[3] += (low & high).count_ones() as usize;
        }
        kind_counts[0] = values - kind_counts[1] - kind_counts[2] - kind_counts[3];
        for (kind, name) in KINDS.into_iter().enumerate() {
            if kind_counts[kind] != counts[kind] {
                let reason = format!(
                    "the kinds have {}, but the list has {}",
                    format_count(kind_counts[kind], name),
                    counts[kind]
                );
                return Err(fault(start, reason));
            }
        }
        Ok(())
    }

    /// Adds the row of a value to an error. `nth` counts the values of its kind.
    #[cold]
    fn in_row(&self, bytes: &[u8], kind: u8, nth: usize, mut fault: Fault) -> Fault {
        let kinds = &bytes[self.kinds.clone()];
        let value = if kinds.is_empty() {
            nth
        } else {
            let is_kind = |value: &usize| kinds[value / 4] >> (2 * (value % 4)) & 3 == kind;
            let mut values = (0..self.values()).filter(is_kind);
            values.nth(nth).unwrap_or_default()
        };
        fault.row = layout::row_of(bytes, &self.layouts, self.values(), value);
        fault
    }

    fn check_iris<R: Record>(&self, bytes: &[u8], terms: &TermReader<R>) -> Located<()> {
        let count = self.names.count;
        if ![0, 1, count].contains(&self.prefixes.count) {
            let reason = format!(
                "the column has {} for {}, expected none, one or one each",
                format_count(self.prefixes.count, "prefix id"),
                format_count(count, "name id")
            );
            return Err(fault(self.prefixes.range.start, reason));
        }
        if self.are_iris_set(bytes, terms) {
            return Ok(());
        }
        let mut state = IriState::default();
        let mut names = Numbers::new(NAMES, &self.names);
        for nth in 0..count {
            let start = names.position();
            let checked = names.next(bytes).and_then(|name| {
                state.next_name(name.unwrap_or_default());
                terms.names.get(state.name).map(|_| ())
            });
            if let Err(error) = checked.locate(start) {
                return Err(self.in_row(bytes, IRI, nth, error));
            }
        }
        let mut prefixes = Numbers::new(PREFIXES, &self.prefixes);
        for nth in 0..self.prefixes.count {
            let start = prefixes.position();
            let checked = prefixes
                .next(bytes)
                .and_then(|prefix| terms.prefixes.get(prefix.unwrap_or_default()).map(|_| ()));
            if let Err(error) = checked.locate(start) {
                return Err(self.in_row(bytes, IRI, nth, error));
            }
        }
        Ok(())
    }

    /// Whether all ids of names and prefixes belong to entries that were set, if the tables have no
    /// gaps. If false, each id must be checked.
    fn are_iris_set<R: Record>(&self, bytes: &[u8], terms: &TermReader<R>) -> bool {
        let (mut name, mut max_name) = (0u32, 0);
        let mut names = Numbers::new(NAMES, &self.names);
        let valid = names.for_each(bytes, |number| {
            name = if number == 0 {
                name.saturating_add(1)
            } else {
                number
            };
            max_name = max_name.max(name);
        });
        let mut max_prefix = 0;
        let mut prefixes = Numbers::new(PREFIXES, &self.prefixes);
        let valid = valid && prefixes.for_each(bytes, |number| max_prefix = max_prefix.max(number));
        valid
            && max_name <= terms.names.count_without_gaps()
            && max_prefix <= terms.prefixes.count_without_gaps()
    }

    fn check_strings(
        &self,
        bytes: &[u8],
        list: &List,
        (field, kind): (u32, u8),
        what: &'static str,
    ) -> Located<()> {
        if bytes[list.range.clone()].is_ascii() {
            return Ok(());
        }
        let mut strings = Strings::new(field, list);
        let mut nth = 0;
        while let Some(text) = strings.next(bytes).locate(self.start)? {
            let start = text.start;
            let text = &bytes[text];
            if !text.is_ascii()
                && let Err(error) = check_utf8(text, what).locate(start)
            {
                return Err(self.in_row(bytes, kind, nth, error));
            }
            nth += 1;
        }
        Ok(())
    }

    fn read_tags<R: Record>(&mut self, bytes: &[u8], terms: &mut TermReader<R>) -> Located<()> {
        let (tags, count) = (&self.tag_list, self.directions.count);
        if count != 0 && count != tags.count {
            let reason = format!(
                "the column has {} for {}, expected none or one each",
                format_count(count, "direction"),
                format_count(tags.count, "language tag")
            );
            return Err(fault(self.directions.range.start, reason));
        }
        let mut strings = Strings::new(TAGS, tags);
        let mut directions = Numbers::new(DIRECTIONS, &self.directions);
        while let Some(text) = strings.next(bytes).locate(self.start)? {
            let charged = terms.builder.charge(TAG_BYTES).map_err(Into::into);
            charged.locate(text.start)?;
            check_utf8(&bytes[text.clone()], "a language tag").locate(text.start)?;
            self.tags.push(LanguageTag {
                text,
                direction: directions
                    .next(bytes)
                    .locate(self.start)?
                    .unwrap_or_default(),
                batch: 0,
                term: TermId::DEFAULT_GRAPH,
            });
        }
        Ok(())
    }

    fn check_literals<R: Record>(
        &self,
        bytes: &[u8],
        version: Version,
        terms: &TermReader<R>,
    ) -> Located<()> {
        let (kinds, count) = (&self.literals, self.lexical.count);
        if ![0, 1, count].contains(&kinds.count) {
            let reason = format!(
                "the column has {} for {}, expected none, one or one each",
                format_count(kinds.count, "literal kind"),
                format_count(count, "lexical form")
            );
            return Err(fault(kinds.range.start, reason));
        }
        let mut numbers = Numbers::new(LITERALS, kinds);
        let mut checked_kinds = 1u64; // a bit set of small kinds
        for nth in 0..kinds.count.min(count) {
            let start = numbers.position();
            let checked = numbers.next(bytes).and_then(|kind| {
                let kind = kind.unwrap_or_default();
                if kind < u64::BITS {
                    if checked_kinds >> kind & 1 == 1 {
                        return Ok(());
                    }
                    checked_kinds |= 1 << kind;
                }
                if kind % 2 == 1 {
                    return check_datatype(kind / 2 + 1, terms);
                }
                let index = kind as usize / 2 - 1;
                let Some(tag) = self.tags.get(index) else {
                    return Err(malformed_error(format!(
                        "literal kind {kind} refers to language tag {index}, but the column has {}",
                        format_count(self.tags.len(), "tag")
                    )));
                };
                check_direction(tag.direction, version)
            });
            if let Err(error) = checked.locate(start) {
                return Err(self.in_row(bytes, LITERAL, nth, error));
            }
        }
        Ok(())
    }

    fn check_triples<R: Record>(
        &self,
        bytes: &[u8],
        version: Version,
        terms: &TermReader<R>,
    ) -> Located<()> {
        if self.triples.count > 0 && !version.has_triple_terms() {
            let reason = format!(
                "a triple term, but the stream options announce {}",
                version.name()
            );
            let error = fault(self.triples.range.start, reason);
            return Err(self.in_row(bytes, TRIPLE, 0, error));
        }
        let mut state = IriState::default();
        let mut triples = Strings::new(TRIPLES, &self.triples);
        let mut nth = 0;
        while let Some(triple) = triples.next(bytes).locate(self.start)? {
            let mut check = TripleCheck {
                bytes,
                version,
                terms,
                state: &mut state,
            };
            if let Err(error) = check.triple(std::slice::from_ref(&triple), 1) {
                return Err(self.in_row(bytes, TRIPLE, nth, error));
            }
            nth += 1;
        }
        Ok(())
    }
}

/// Adds the name of a column to an error.
#[cold]
fn in_column(name: &str, fault: Fault) -> Fault {
    let (class, reason) = fault.error.into_parts();
    let reason = reason.with_rewording(|text| format!("column {name}: {text}"));
    Fault {
        error: WireError::new(class, reason),
        ..fault
    }
}

/// Checks that a datatype exists, and does not need a language tag.
fn check_datatype<R: Record>(id: u32, terms: &TermReader<R>) -> Checked<()> {
    if id == 0 {
        return Err(malformed_error(
            "datatype 0 is not allowed in a literal; ids count from 1",
        ));
    }
    let (entry, _) = terms.datatypes.get(id)?;
    if is_language_type(entry.text()) {
        return Err(malformed_error(format!(
            "a literal has datatype {}, but no language tag",
            quote(entry.text())
        )));
    }
    Ok(())
}

fn check_direction(direction: u32, version: Version) -> Checked<()> {
    if direction == 0 || direction <= 2 && version.has_directions() {
        return Ok(());
    }
    Err(malformed_error(if direction > 2 {
        format!("direction {direction} does not exist")
    } else {
        format!(
            "a literal has a direction, but the stream options announce {}",
            version.name()
        )
    }))
}

/// Checks triple terms.
struct TripleCheck<'a, R: Record> {
    bytes: &'a [u8],
    version: Version,
    terms: &'a TermReader<R>,
    state: &'a mut IriState,
}

impl<R: Record> TripleCheck<'_, R> {
    fn triple(&mut self, pieces: &[Range<usize>], depth: u32) -> Located<()> {
        let max_depth = self.terms.max_depth;
        if depth > max_depth {
            let reason = format!(
                "triple terms are nested deeper than {}",
                format_count(max_depth as usize, "level")
            );
            return Err(limit(Reason::limit(reason, "max_depth"))).locate(start_of(pieces));
        }
        for part in triples::parts(self.bytes, pieces)? {
            let start = start_of(&part.pieces);
            match part.field {
                O_TRIPLE => self.triple(&part.pieces, depth + 1)?,
                S_BNODE | O_BNODE => {
                    let text = part.pieces.last().cloned().unwrap_or_default();
                    check_utf8(&self.bytes[text], "a blank node label").locate(start)?;
                }
                O_LITERAL => self.literal(&part.pieces)?,
                _ => {
                    triples::iri(self.bytes, &part.pieces, self.state)?;
                    self.terms.prefixes.get(self.state.prefix).locate(start)?;
                    self.terms.names.get(self.state.name).locate(start)?;
                }
            }
        }
        Ok(())
    }

    fn literal(&self, pieces: &[Range<usize>]) -> Located<()> {
        let start = start_of(pieces);
        let literal = triples::literal(self.bytes, pieces)?;
        check_utf8(&self.bytes[literal.lexical], "a lexical form").locate(start)?;
        if let Some(tag) = literal.tag {
            check_utf8(&self.bytes[tag], "a language tag").locate(start)?;
        }
        if let Some(datatype) = literal.datatype {
            check_datatype(datatype, self.terms).locate(start)?;
        }
        check_direction(literal.direction, self.version).locate(start)
    }
}
