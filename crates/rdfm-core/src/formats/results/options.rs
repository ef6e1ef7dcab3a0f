//! Options specific to the result set formats.

use crate::codec::spec::OptionSpec;

const GROUP: &str = "SPARQL results";

/// Whether writing CSV, which loses information, is allowed.
pub const LOSSY: OptionSpec = OptionSpec::switch(
    "lossy",
    "Write SPARQL results as CSV, which loses the term kinds: IRIs, blank nodes and literals become plain text.",
)
.group(GROUP);
