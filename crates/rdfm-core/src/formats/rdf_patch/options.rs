//! The options that the formats of patches have of their own, and what a decoder was asked for.

use crate::codec::options::{LENIENT, limits};
use crate::codec::spec::OptionSpec;
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

const GROUP: &str = "RDF Patch";

/// Headers that stand elsewhere than at the front.
pub const HEADERS_FIRST: OptionSpec = OptionSpec::switch(
    "headers_first",
    "RDF Patch: write headers that stand behind other operations of their patch at its front.",
)
.group(GROUP);

/// The options of a decoder, and how it was opened.
pub(super) struct Reading {
    pub limits: Limits,
    pub parts: bool,
    pub lenient: bool,
}

impl Reading {
    pub fn of(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            lenient: values.switch(&LENIENT),
        }
    }
}
