//! Options of N-Triples and N-Quads, and the settings of a decoder.

use crate::codec::options::{LENIENT, TEXT, limits};
use crate::codec::spec::OptionSpec;
use crate::codec::values::Values;
use crate::codec::{Opening, Parts, Split};
use crate::model::limits::Limits;
use crate::syntax::text::dialect::DialectOptions;

/// Generalized quads and RDF-star.
pub const GENERALIZED: OptionSpec = OptionSpec::switch(
    "generalized",
    "Accept generalized quads and RDF-star when reading N-Triples and N-Quads, and declare them \
     when writing Jelly.",
)
.with_shared_value()
.group(TEXT);

/// Whether triple terms are written in RDF-star syntax.
pub const RDF_STAR_SYNTAX: OptionSpec = OptionSpec::switch(
    "rdf_star_syntax",
    "Write triple terms as << s p o >> in N-Triples and N-Quads.",
)
.group(TEXT);

/// Settings of a decoder: its options, and the settings with which the log was opened.
pub(super) struct LineReading {
    pub limits: Limits,
    pub parts: bool,
    pub lenient: bool,
    pub generalized: bool,
    /// Options for the dialect.
    pub dialect_options: DialectOptions,
    /// Whether a line that is not a statement is skipped, and the rest of its message kept.
    pub skip_lines: bool,
    pub split: Option<Split>,
    pub first_message_index: Option<u64>,
}

impl LineReading {
    pub fn from_values(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            lenient: values.is_on(&LENIENT),
            generalized: values.is_on(&GENERALIZED),
            dialect_options: DialectOptions::from_values(values),
            skip_lines: opening.skip_lines,
            split: opening.split,
            first_message_index: opening.first_message_index,
        }
    }
}
