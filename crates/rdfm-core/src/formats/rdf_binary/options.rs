//! The options that RDF Protobuf and RDF Thrift have of their own, and what the codecs were asked for.

use crate::codec::options::{FLAT, RDF_BINARY, VALUES, limits};
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

/// How the rows of RDF Protobuf are held together.
pub const FRAMINGS: &[&str] = &["messages", "rows"];

/// The framing of what is read.
pub const READ_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(FRAMINGS),
    "RDF Protobuf: each message of the input is behind its length, or rows are one message, as Jena writes them.",
)
.default(Default::Detected)
.group(RDF_BINARY);

/// The framing of what is written.
pub const WRITE_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(FRAMINGS),
    "RDF Protobuf: write each message behind its length (messages, unless flat), or rows that are one message, as \
     Jena writes them.",
)
.group(RDF_BINARY);

/// IRIs abbreviated with the namespaces.
pub const PREFIXED_NAMES: OptionSpec = OptionSpec::new(
    "prefixed_names",
    ValueKind::Switch,
    "Abbreviate IRIs with the namespaces (as RDF Thrift does unless told otherwise), or write them in full (as RDF \
     Protobuf does).",
)
.off("full-iris")
.group(RDF_BINARY);

/// How the rows of an RDF Protobuf log are held together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each message is a length and an `RDF_Stream`.
    Messages,
    /// Each row is behind its length, as Jena has it: the whole log is one message.
    Rows,
}

impl Framing {
    fn of(values: &Values, option: &OptionSpec) -> Option<Self> {
        values.text(option).map(|word| match word {
            "rows" => Self::Rows,
            _ => Self::Messages,
        })
    }
}

/// The options of a decoder, and how it was opened.
pub(super) struct Reading {
    pub limits: Limits,
    pub parts: bool,
    /// Or it is found out.
    pub framing: Option<Framing>,
}

impl Reading {
    pub fn of(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            framing: Framing::of(values, &READ_FRAMING),
        }
    }
}

/// The options of an encoder.
pub(super) struct Writing {
    /// Messages unless given or `flat`.
    pub framing: Option<Framing>,
    /// Write all messages as one, their blank nodes kept apart.
    pub flat: bool,
    /// Abbreviate IRIs with the namespaces; RDF Thrift unless given, as Jena does.
    pub prefixed_names: Option<bool>,
    /// Write numbers as values where their lexical forms are read back.
    pub values: bool,
}

impl Writing {
    pub fn of(values: &Values) -> Self {
        Self {
            framing: Framing::of(values, &WRITE_FRAMING),
            flat: values.switch(&FLAT),
            prefixed_names: values.try_switch(&PREFIXED_NAMES),
            values: values.switch(&VALUES),
        }
    }
}
