//! Options that several formats share, each declared once.

use super::spec::{Audience, Default, OptionSpec, ValueKind};
use super::values::Values;
use crate::model::limits::{DEFAULT_MAX_MESSAGE_BYTES, Limits};

/// Headings in help and docs.
pub const FORMATS: &str = "Formats";
/// Options of N-Triples, N-Quads, Turtle and TriG, and options that most formats share.
pub const TEXT: &str = "Text formats";
/// Options of RDF Protobuf and RDF Thrift.
pub const RDF_BINARY: &str = "RDF Protobuf and RDF Thrift";
/// Options that limit memory.
pub const LIMITS: &str = "Limits that protect memory";

/// Maximum of `max_message_bytes`. Together with the largest batch it is below 4 GiB, the range of
/// 32-bit offsets.
pub const MAX_MESSAGE_BYTES: u64 = 3 << 30;
const MAX_BATCH_BYTES: u64 = 512 << 20;
/// Maximum of counts: quads or messages of a batch, rows of a frame.
pub const MAX_COUNT: u64 = 1 << 28;
/// Maximum of `max_depth`: triple terms of this depth fit in a thread stack of 128 KiB. Other
/// nested structures use no stack or have their own.
pub const MAX_DEPTH: u64 = 100;

/// Names of the dialects of a text log.
pub const DIALECTS: &[&str] = &["comment", "directive", "plain"];

/// Limits that all decoders accept.
pub const BOUNDS: &[OptionSpec] = &[
    LARGEST_MESSAGE,
    DEPTH,
    BATCH_QUADS,
    BATCH_BYTES,
    BATCH_MESSAGES,
];

/// Returns the limits of a decoder.
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

/// Returns the namespaces to declare at the start.
#[must_use]
pub fn prefixes(values: &Values) -> Vec<(String, String)> {
    values.pairs(&PREFIXES).to_vec()
}

/// Maximum message size.
pub const LARGEST_MESSAGE: OptionSpec = OptionSpec::new(
    "max_message_bytes",
    ValueKind::Bytes(1, MAX_MESSAGE_BYTES),
    "Maximum message size in decoded bytes; when writing, the maximum size of the message that flat creates.",
)
.default(Default::Number(DEFAULT_MAX_MESSAGE_BYTES))
.with_shared_value()
.group(LIMITS);

/// Maximum nesting depth.
pub const DEPTH: OptionSpec = OptionSpec::new(
    "max_depth",
    ValueKind::Count(1, MAX_DEPTH),
    "Maximum nesting depth of triple terms and brackets.",
)
.default(Default::Number(64))
.with_shared_value()
.group(LIMITS);

/// Number of quads at which a batch ends.
pub const BATCH_QUADS: OptionSpec = OptionSpec::new(
    "batch_quads",
    ValueKind::Count(1, MAX_COUNT),
    "A batch ends with the message that reaches this many quads.",
)
.default(Default::Number(8192))
.group(LIMITS)
.audience(Audience::Internal);

/// Number of decoded bytes at which a batch ends.
pub const BATCH_BYTES: OptionSpec = OptionSpec::new(
    "batch_bytes",
    ValueKind::Bytes(1, MAX_BATCH_BYTES),
    "A batch ends with the message that reaches this many decoded bytes.",
)
.default(Default::Number(4 << 20))
.group(LIMITS)
.audience(Audience::Internal);

/// Number of messages at which a batch ends.
pub const BATCH_MESSAGES: OptionSpec = OptionSpec::new(
    "batch_messages",
    ValueKind::Count(1, MAX_COUNT),
    "A batch ends after this many messages.",
)
.default(Default::Number(8192))
.group(LIMITS)
.audience(Audience::Python);

/// Accepts the deviations listed on the format's page.
pub const LENIENT: OptionSpec = OptionSpec::switch(
    "lenient",
    "Accept the deviations listed on the format's page. When writing, write terms that strict readers reject or change.",
)
.with_shared_value()
.group(TEXT);

/// Message delimiters in the input.
pub const READ_DIALECT: OptionSpec = OptionSpec::new(
    "dialect",
    ValueKind::Choice(DIALECTS),
    "How messages are delimited in the input: # @message comments, MESSAGE directives, or not at all.",
)
.default(Default::Detected)
.as_hint()
.group(TEXT);

/// Message delimiters in the output.
pub const WRITE_DIALECT: OptionSpec = OptionSpec::new(
    "dialect",
    ValueKind::Choice(DIALECTS),
        "How messages are delimited in the output: # @message comments, MESSAGE directives, or not at all. Defaults \
         to the dialect of the input if that is a text log, otherwise to comment.",
)
.default(Default::Source)
.group(TEXT);

/// The version label of a log that does not announce it itself.
pub const ANNOUNCED: OptionSpec = OptionSpec::new(
    "announced",
    ValueKind::Text,
    "Version label that is announced outside the log, such as 1.2-messages.",
)
.metavar("LABEL")
.group(TEXT);

/// The version label of a directive log.
pub const VERSION_LABEL: OptionSpec = OptionSpec::new(
    "version_label",
    ValueKind::Text,
    "Version label to write in the directive dialect.",
)
.default(Default::Text("1.2-messages"))
.metavar("LABEL")
.group(TEXT);

/// Writes all messages as one.
pub const FLAT: OptionSpec = OptionSpec::switch(
    "flat",
    "Write all messages as one. Blank nodes of different messages stay distinct.",
)
.group(TEXT);

/// The base IRI at the start of a log.
pub const BASE: OptionSpec = OptionSpec::new(
    "base",
    ValueKind::Iri,
    "Base for relative IRIs. Defaults to the URL of the file.",
)
.group(TEXT);

/// Namespaces to declare.
pub const PREFIXES: OptionSpec = OptionSpec::new(
    "prefixes",
    ValueKind::Namespaces,
    "Namespace prefix to declare at the start; may be repeated.",
)
.flag("prefix")
.group(TEXT);

/// Drops graph names if the format has none.
pub const MERGE_GRAPHS: OptionSpec = OptionSpec::switch(
    "merge_graphs",
    "Drop graph names if the output format has none.",
)
.group(TEXT);

/// Writes numbers as native values.
pub const VALUES: OptionSpec = OptionSpec::switch(
    "values",
    "Write numbers as native values if that preserves the lexical form.",
)
.group(RDF_BINARY);
