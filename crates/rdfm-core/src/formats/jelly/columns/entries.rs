//! Reads the lookup entries of a batch.
//!
//! - In: the ranges of the entries of each table.
//! - Out: entries in the lookup tables.
//! - Cost: one pass over the text.

use std::ops::Range;

use super::fields::{Fields, List, Locate as _, Located, Strings};
use crate::formats::jelly::lookup::{LookupBudget, LookupTable};
use crate::formats::jelly::term_reader::TermReader;
use crate::model::record::Record;
use crate::syntax::text::scan::{self, Excerpt};
use crate::syntax::wire::invalid_utf8_error;

/// The ranges of packed entries for names, prefixes and datatypes.
pub(in crate::formats::jelly) type Tables = [Vec<Range<usize>>; 3];

/// Sets the entries of all tables.
pub(in crate::formats::jelly) fn set_entries<R: Record>(
    bytes: &[u8],
    tables: &Tables,
    terms: &mut TermReader<R>,
) -> Located<()> {
    let TermReader {
        names,
        prefixes,
        datatypes,
        budget,
        ..
    } = terms;
    for (entries, table, what, scan) in [
        (&tables[0], names, "a name", scan::iri_part_excerpt as Scan),
        (&tables[1], prefixes, "a prefix", |text| {
            scan::iri(text.text())
        }),
        (&tables[2], datatypes, "a datatype", |text| {
            scan::iri(text.text())
        }),
    ] {
        for entry in entries {
            set_entry(bytes, entry, table, budget, (what, scan))?;
        }
    }
    Ok(())
}

/// Checks a string, and returns its flags.
type Scan = fn(Excerpt<'_>) -> Option<u8>;

/// Sets consecutive entries of a table.
fn set_entry(
    bytes: &[u8],
    range: &Range<usize>,
    table: &mut LookupTable,
    budget: &mut LookupBudget,
    (what, scan): (&'static str, Scan),
) -> Located<()> {
    let (mut id, mut values) = (0, List::default());
    let mut fields = Fields::new(bytes, range, "the lookup entry");
    while let Some(field) = fields.next()? {
        match field.number {
            1 => id = fields.number(&field)?,
            2 => {
                fields.bytes(&field)?;
                values.add(field.start, fields.end_of_field());
                fields.add_short_strings(field.number, &mut values);
            }
            other => return Err(fields.unknown(field.start, other)),
        }
    }
    let mut values = Strings::new(2, &values);
    while let Some(value) = values.next(bytes).locate(range.start)? {
        let text = &bytes[value.clone()];
        let excerpt = Excerpt::new(bytes, value.start, value.len());
        let excerpt = excerpt.unwrap_or(Excerpt::from_text(text));
        let checked = scan(excerpt).ok_or_else(|| invalid_utf8_error(text, what));
        let set =
            checked.and_then(|flags| table.set(std::mem::take(&mut id), excerpt, flags, budget));
        set.locate(value.start)?;
    }
    Ok(())
}
