//! The options that Jelly-Patch has of its own, and what a log says about itself (specification, section "Patch
//! stream options").

use super::super::options::OptionsRow;
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Value;

const GROUP: &str = "Jelly-Patch";
/// Most bytes at which a frame may be told to end.
const MOST_FRAME_BYTES: u64 = 1 << 30;

/// What delimits patches.
pub const STREAM_TYPE: OptionSpec = OptionSpec::new(
    "stream_type",
    ValueKind::Choice(&["frame", "flat", "punctuated"]),
    "A patch is a frame, or the log is one patch, or a mark ends each patch; frame where a Jelly-Patch log is read that \
     says so, else punctuated.",
)
.default(Default::Source)
.group(GROUP);

/// What statements are.
pub const STATEMENT_TYPE: OptionSpec = OptionSpec::new(
    "statement_type",
    ValueKind::Choice(&["triples", "quads"]),
    "Statements have no graph, or may have one; as a Jelly-Patch log that is read, else quads where its format has \
     graph names.",
)
.default(Default::Source)
.group(GROUP);

/// Bytes of a frame.
pub const FRAME_BYTES: OptionSpec = OptionSpec::new(
    "frame_bytes",
    ValueKind::Bytes(1, MOST_FRAME_BYTES),
    "Where a patch is written over many frames, one ends behind the row that takes it to this many bytes.",
)
.default(Default::Number(512 << 10))
.group(GROUP);

/// Newest protocol version read and written.
pub const MAX_VERSION: u32 = 1;

/// What delimits patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StreamType {
    /// A frame is a patch.
    Frame = 1,
    /// The log is one patch.
    Flat = 2,
    /// A mark ends a patch.
    Punctuated = 3,
}

/// Whether statements have a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StatementType {
    /// They have none.
    Triples = 1,
    /// They have one.
    Quads = 2,
}

impl StreamType {
    /// The type of a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Frame),
            2 => Some(Self::Flat),
            3 => Some(Self::Punctuated),
            _ => None,
        }
    }

    /// The type of a word of its option.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Frame, Self::Flat, Self::Punctuated]
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(word))
    }

    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "FRAME",
            Self::Flat => "FLAT",
            Self::Punctuated => "PUNCTUATED",
        }
    }
}

impl StatementType {
    /// The type of a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Triples),
            2 => Some(Self::Quads),
            _ => None,
        }
    }

    /// The type of a word of its option.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Triples, Self::Quads]
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(word))
    }

    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triples => "TRIPLES",
            Self::Quads => "QUADS",
        }
    }
}

/// The options of an encoder that write an options row.
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
