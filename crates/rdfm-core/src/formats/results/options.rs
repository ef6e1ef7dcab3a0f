//! The options that the formats of results have of their own.

use crate::codec::spec::OptionSpec;

const GROUP: &str = "SPARQL results";

/// CSV on purpose.
pub const LOSSY: OptionSpec = OptionSpec::switch(
    "lossy",
    "Write CSV of results although it does not say what a term is: IRIs, blank nodes and literals become their texts.",
)
.group(GROUP);
