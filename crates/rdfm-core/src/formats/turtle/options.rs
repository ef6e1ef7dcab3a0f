//! Options of Turtle and TriG.

use crate::codec::options::TEXT;
use crate::codec::spec::OptionSpec;

/// Text that depends only on the dataset and the prefixes.
pub const PRETTY: OptionSpec = OptionSpec::switch(
    "pretty",
    "Write each message sorted and indented, with nested blank nodes and lists. Equal datasets get equal text.",
)
.group(TEXT);
