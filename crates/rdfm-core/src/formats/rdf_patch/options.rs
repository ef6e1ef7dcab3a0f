//! The options that only the formats of patches have, and their values for a decoder.

use crate::codec::options::{LENIENT, limits};
use crate::codec::spec::OptionSpec;
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

const GROUP: &str = "RDF Patch";

/// Headers that are not at the front.
pub const HEADERS_FIRST: OptionSpec = OptionSpec::switch(
    "headers_first",
    "RDF Patch: move headers that follow other operations of their patch to its front.",
)
.group(GROUP);

/// The options of a decoder.
pub(super) struct PatchReadOptions {
    pub limits: Limits,
    pub parts: bool,
    pub lenient: bool,
}

impl PatchReadOptions {
    pub fn of(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            lenient: values.switch(&LENIENT),
        }
    }
}
