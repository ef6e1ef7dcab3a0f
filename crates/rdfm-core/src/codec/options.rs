//! The options that several formats share, each declared once.

use super::spec::{Default, OptionSpec, ValueKind};
use super::values::Values;
use crate::model::limits::Limits;

/// Headings of help and docs.
pub const FORMATS: &str = "Formats";
/// Of N-Triples, N-Quads, Turtle and TriG, and of what most formats share.
pub const TEXT: &str = "Text formats";
/// Of RDF Protobuf and RDF Thrift.
pub const RDF_BINARY: &str = "RDF Protobuf and RDF Thrift";
/// Bounds.
pub const LIMITS: &str = "Limits that protect memory";

/// Largest message: with the largest batch it stays below the 4 GiB that offsets of 32 bits can say.
pub const MAX_MESSAGE_BYTES: u64 = 3 << 30;
const MAX_BATCH_BYTES: u64 = 512 << 20;
/// Most of what is counted: quads or messages of a batch, rows of a frame.
pub const MAX_COUNT: u64 = 1 << 28;
/// Deepest nesting: a thread with a stack of 128 KiB has room for triple terms of this depth. What nests in other
/// ways either uses no stack or gets its own.
pub const MAX_DEPTH: u64 = 100;

/// The dialects of a text log, by their names.
pub const DIALECTS: &[&str] = &["comment", "directive", "plain"];

/// What every decoder takes.
pub const BOUNDS: &[OptionSpec] = &[
    LARGEST_MESSAGE,
    DEPTH,
    BATCH_QUADS,
    BATCH_BYTES,
    BATCH_MESSAGES,
];

/// The bounds of a decoder.
#[must_use]
pub fn limits(values: &Values) -> Limits {
    Limits {
        max_message_bytes: values.number(&LARGEST_MESSAGE),
        max_depth: values.number(&DEPTH) as u32,
        batch_quads: values.number(&BATCH_QUADS) as usize,
        batch_bytes: values.number(&BATCH_BYTES) as usize,
        batch_messages: values.number(&BATCH_MESSAGES) as usize,
    }
}

/// The namespaces to declare at the start.
#[must_use]
pub fn prefixes(values: &Values) -> Vec<(String, String)> {
    values.pairs(&PREFIXES).to_vec()
}

/// Largest message.
pub const LARGEST_MESSAGE: OptionSpec = OptionSpec::new(
    "max_message_bytes",
    ValueKind::Bytes(1, MAX_MESSAGE_BYTES),
    "Largest message, in decoded bytes; on writing of what flat makes one.",
)
.default(Default::Number(64 << 20))
.shared()
.group(LIMITS);

/// Deepest nesting.
pub const DEPTH: OptionSpec = OptionSpec::new(
    "max_depth",
    ValueKind::Count(1, MAX_DEPTH),
    "Deepest nesting of triple terms and brackets.",
)
.default(Default::Number(64))
.shared()
.group(LIMITS);

/// Quads of a batch.
pub const BATCH_QUADS: OptionSpec = OptionSpec::new(
    "batch_quads",
    ValueKind::Count(1, MAX_COUNT),
    "A batch ends at the first message end at or after this many quads.",
)
.default(Default::Number(8192))
.group(LIMITS)
.python();

/// Bytes of a batch.
pub const BATCH_BYTES: OptionSpec = OptionSpec::new(
    "batch_bytes",
    ValueKind::Bytes(1, MAX_BATCH_BYTES),
    "A batch ends at the first message end at or after this many decoded bytes.",
)
.default(Default::Number(4 << 20))
.group(LIMITS)
.python();

/// Messages of a batch.
pub const BATCH_MESSAGES: OptionSpec = OptionSpec::new(
    "batch_messages",
    ValueKind::Count(1, MAX_COUNT),
    "A batch ends after this many messages.",
)
.default(Default::Number(8192))
.group(LIMITS)
.python();

/// Deviations that a format's page lists.
pub const LENIENT: OptionSpec = OptionSpec::switch(
    "lenient",
    "Accept, and escape on writing, the deviations that the formats' pages list.",
)
.shared()
.group(TEXT);

/// How messages are delimited in what is read.
pub const READ_DIALECT: OptionSpec = OptionSpec::new(
    "dialect",
    ValueKind::Choice(DIALECTS),
    "How messages are delimited in the input: # @message comments, MESSAGE directives, or not at all.",
)
.default(Default::Detected)
.hint()
.group(TEXT);

/// How messages are delimited in what is written.
pub const WRITE_DIALECT: OptionSpec = OptionSpec::new(
    "dialect",
    ValueKind::Choice(DIALECTS),
    "How messages are delimited in the output: # @message comments, MESSAGE directives, or not at all; as in a text \
     log that is read, else comment.",
)
.default(Default::Source)
.group(TEXT);

/// A label that the log itself lacks.
pub const ANNOUNCED: OptionSpec = OptionSpec::new(
    "announced",
    ValueKind::Text,
    "A version label announced outside the log, such as 1.2-messages.",
)
.metavar("LABEL")
.group(TEXT);

/// The label of a directive log.
pub const VERSION_LABEL: OptionSpec = OptionSpec::new(
    "version_label",
    ValueKind::Text,
    "The version label to write in the directive dialect.",
)
.default(Default::Text("1.2-messages"))
.metavar("LABEL")
.group(TEXT);

/// All messages as one.
pub const FLAT: OptionSpec = OptionSpec::switch(
    "flat",
    "Write nothing between messages: all become one, their blank nodes kept apart.",
)
.group(TEXT);

/// The base IRI at the start.
pub const BASE: OptionSpec = OptionSpec::new(
    "base",
    ValueKind::Iri,
    "Base of relative IRIs; else the file's URL.",
)
.group(TEXT);

/// Namespaces to declare.
pub const PREFIXES: OptionSpec = OptionSpec::new(
    "prefixes",
    ValueKind::Namespaces,
    "A namespace to declare at the start; may be repeated.",
)
.flag("prefix")
.group(TEXT);

/// Graph names where there is no room for them.
pub const MERGE_GRAPHS: OptionSpec = OptionSpec::switch(
    "merge_graphs",
    "Drop graph names on purpose where the output has none.",
)
.group(TEXT);

/// Numbers as values.
pub const VALUES: OptionSpec = OptionSpec::switch(
    "values",
    "Write numbers as values where they say the lexical form.",
)
.group(RDF_BINARY);
