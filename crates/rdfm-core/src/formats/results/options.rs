//! Options specific to the result set formats.

use crate::codec::spec::OptionSpec;

const GROUP: &str = "SPARQL results";

/// Whether writing CSV, which loses information, is allowed.
pub const LOSSY: OptionSpec = OptionSpec::switch(
    "lossy",
    "Write CSV of results although it does not say what a term is: IRIs, blank nodes and literals become their texts.",
)
.group(GROUP);
