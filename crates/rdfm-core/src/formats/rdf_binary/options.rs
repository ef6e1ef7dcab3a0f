//! The options that only RDF Protobuf and RDF Thrift have, and their values for the codecs.

use crate::codec::options::{FLAT, RDF_BINARY, VALUES, limits};
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

/// The possible framings of RDF Protobuf.
pub const FRAMINGS: &[&str] = &["messages", "rows"];

/// The framing of the input.
pub const READ_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(FRAMINGS),
    "RDF Protobuf: whether each message of the input follows its length, or all rows form one message, as in Jena.",
)
.default(Default::Detected)
.group(RDF_BINARY);

/// The framing of the output.
pub const WRITE_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(FRAMINGS),
    "RDF Protobuf: write each message after its length (messages; default unless flat), or rows that form one message, \
     as in Jena.",
)
.group(RDF_BINARY);

/// Whether IRIs are abbreviated with the namespaces.
pub const PREFIXED_NAMES: OptionSpec = OptionSpec::new(
    "prefixed_names",
    ValueKind::Switch,
    "Abbreviate IRIs with the namespaces (default for RDF Thrift), or write them in full (default for RDF Protobuf).",
)
.off("full-iris")
.group(RDF_BINARY);

/// The framing of rows in an RDF Protobuf log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each message is a length followed by an `RDF_Stream`.
    Messages,
    /// Each row follows its length, as in Jena. The entire log is one message.
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

/// The options of a decoder.
pub(super) struct BinaryReadOptions {
    pub limits: Limits,
    pub parts: bool,
    /// `None` means detection.
    pub framing: Option<Framing>,
}

impl BinaryReadOptions {
    pub fn of(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            framing: Framing::of(values, &READ_FRAMING),
        }
    }
}

/// The options of an encoder.
pub(super) struct BinaryWriteOptions {
    /// By default, messages unless `flat`.
    pub framing: Option<Framing>,
    /// Whether to write all messages as one, with separate blank nodes.
    pub flat: bool,
    /// Whether to abbreviate IRIs with the namespaces. The default is that of Jena: only in RDF Thrift.
    pub prefixed_names: Option<bool>,
    /// Whether to write numbers as native values if readers restore their lexical forms.
    pub values: bool,
}

impl BinaryWriteOptions {
    pub fn of(values: &Values) -> Self {
        Self {
            framing: Framing::of(values, &WRITE_FRAMING),
            flat: values.switch(&FLAT),
            prefixed_names: values.try_switch(&PREFIXED_NAMES),
            values: values.switch(&VALUES),
        }
    }
}
