//! The stream options of Jelly-SPARQL.
//!
//! - In: the bytes of the options, or the options of the writer.
//! - Out: an [`OptionsRow`], in which `physical_type` is the stream type, and `stream_type` is the
//!   version of RDF, because these fields have the same numbers.

use super::super::columns::Fields;
use super::super::options::{MIN_COLUMN_NAMES, OptionsRow, STREAM_NAME};
use crate::codec::spec::OptionSpec;
use crate::codec::values::Values;
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::wire::{Checked, malformed_error};

/// Numeric fields of the options, as a bit set: stream type, version of RDF, sizes of the tables,
/// version of the format.
pub(super) const NUMBERS: u32 = 1 << 2 | 1 << 5 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 15;
/// Field of the stream name.
const NAME: u32 = 1;
/// The only version.
const VERSION: u32 = 1;
/// Values of the stream type: one result set, or a sequence of them.
pub(super) const FLAT_TYPE: u32 = 0;
pub(super) const PUNCTUATED_TYPE: u32 = 1;

/// Whether the stream type is PUNCTUATED.
pub const PUNCTUATED: OptionSpec = OptionSpec::switch(
    "punctuated",
    "Write Jelly-SPARQL with the stream type PUNCTUATED, so that further result sets may follow. By default, the \
     stream is one result set (FLAT).",
)
.group("Jelly-SPARQL");

/// Reads and checks the options.
pub(super) fn read_options(bytes: &[u8]) -> Checked<OptionsRow> {
    let mut fields = Fields::new(bytes, &(0..bytes.len()), "the stream options");
    while let Some(field) = fields.next().map_err(|fault| fault.error)? {
        if field.number > 31 || (NUMBERS | 1 << NAME) >> field.number & 1 == 0 {
            return Err(fields.unknown(field.start, field.number).error);
        }
    }
    let options = OptionsRow::read(bytes, NUMBERS, "the stream options")?;
    if options.version != VERSION {
        return Err(malformed_error(format!(
            "the stream options have version {}, expected {VERSION}",
            options.version
        )));
    }
    for (name, value, max) in [
        ("stream_type", options.physical_type, PUNCTUATED_TYPE),
        ("rdf_version", options.stream_type, 3),
    ] {
        if value > max {
            return Err(malformed_error(format!("{name} {value} does not exist")));
        }
    }
    check_names(&options).map_err(malformed_error)?;
    Ok(options)
}

fn check_names(options: &OptionsRow) -> Result<(), String> {
    let names = options.tables.name;
    if names >= MIN_COLUMN_NAMES {
        return Ok(());
    }
    Err(format!(
        "the name table size is {names}, expected {MIN_COLUMN_NAMES} or more"
    ))
}

/// Returns the options of a new log.
pub(super) fn options_of(values: &Values) -> Result<OptionsRow, Reason> {
    let mut options = OptionsRow::preset();
    options.apply(values);
    options.version = VERSION;
    options.physical_type = if values.is_on(&PUNCTUATED) {
        PUNCTUATED_TYPE
    } else {
        FLAT_TYPE
    };
    if let Some(name) = values.text(&STREAM_NAME) {
        name.clone_into(&mut options.stream_name);
    }
    check_names(&options).map_err(|text| Reason::from(text).with(Remedy::larger("name_table")))?;
    Ok(options)
}
