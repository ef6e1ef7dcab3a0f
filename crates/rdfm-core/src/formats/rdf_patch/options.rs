//! Options of the patch formats, and the settings of a decoder.

use crate::codec::options::{LENIENT, limits};
use crate::codec::spec::OptionSpec;
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

const GROUP: &str = "RDF Patch";

/// Whether headers after other operations are moved to the front.
pub const HEADERS_FIRST: OptionSpec = OptionSpec::switch(
    "headers_first",
    "RDF Patch: move headers that follow other operations to the start of their patch.",
)
.group(GROUP);

/// Settings of a decoder: its options, and how the log was opened.
pub(super) struct PatchReading {
    pub limits: Limits,
    pub parts: bool,
    pub lenient: bool,
}

impl PatchReading {
    pub fn from_values(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            lenient: values.is_on(&LENIENT),
        }
    }
}
