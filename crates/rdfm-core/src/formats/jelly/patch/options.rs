//! Options specific to Jelly-Patch, and the values of its options row (specification, section
//! "Patch stream options").

use super::super::options::OptionsRow;
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Value;

const GROUP: &str = "Jelly-Patch";
/// If a patch is split into several frames, a frame ends with the row that reaches this many bytes.
pub(super) const FRAME_BYTES: usize = 512 << 10;

/// The stream type, which determines how the log delimits patches.
pub const STREAM_TYPE: OptionSpec = OptionSpec::new(
    "stream_type",
    ValueKind::Choice(&["frame", "flat", "punctuated"]),
    "Write each patch as a frame, all as one patch (flat), or end each patch with a mark (punctuated). Defaults to \
     frame if the Jelly-Patch input has that type, otherwise to punctuated.",
)
.default(Default::Source)
.group(GROUP);

/// The type of statements.
pub const STATEMENT_TYPE: OptionSpec = OptionSpec::new(
    "statement_type",
    ValueKind::Choice(&["triples", "quads"]),
    "Write statements without graph names (triples) or with them (quads). Defaults to the type of a Jelly-Patch \
     input, otherwise to quads if the input format has graph names.",
)
.default(Default::Source)
.group(GROUP);

/// Newest protocol version that is read and written.
pub const MAX_VERSION: u32 = 1;

/// The stream type, which determines how the log delimits patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StreamType {
    /// Each frame is a patch.
    Frame = 1,
    /// The entire log is one patch.
    Flat = 2,
    /// A punctuation row ends a patch.
    Punctuated = 3,
}

/// Whether statements have a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StatementType {
    /// Statements without a graph.
    Triples = 1,
    /// Statements with a graph.
    Quads = 2,
}

impl StreamType {
    /// Returns the type for a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Frame),
            2 => Some(Self::Flat),
            3 => Some(Self::Punctuated),
            _ => None,
        }
    }

    /// Returns the type for an option value.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Frame, Self::Flat, Self::Punctuated]
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(word))
    }

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "FRAME",
            Self::Flat => "FLAT",
            Self::Punctuated => "PUNCTUATED",
        }
    }
}

impl StatementType {
    /// Returns the type for a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Triples),
            2 => Some(Self::Quads),
            _ => None,
        }
    }

    /// Returns the type for an option value.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Triples, Self::Quads]
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(word))
    }

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triples => "TRIPLES",
            Self::Quads => "QUADS",
        }
    }
}

/// Returns the encoder options that reproduce an options row.
pub(super) fn values(options: &OptionsRow) -> Vec<(&'static str, Value)> {
    let word = |name: &str| Value::Text(name.to_ascii_lowercase());
    let stream = StreamType::from_number(options.physical_type);
    let statements = StatementType::from_number(options.statement_type);
    let mut values = Vec::new();
    values.extend(stream.map(|kind| (STREAM_TYPE.name, word(kind.name()))));
    values.extend(statements.map(|kind| (STATEMENT_TYPE.name, word(kind.name()))));
    values.extend(options.shared_values());
    values
}
