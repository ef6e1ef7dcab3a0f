//! Options of RDF Protobuf and RDF Thrift, and the settings of their codecs.

use crate::codec::options::{FLAT, RDF_BINARY, VALUES, limits};
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Values;
use crate::codec::{Opening, Parts};
use crate::model::limits::Limits;

/// The framing of the input.
pub const READ_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(&["messages", "rows", "stream", "graph"]),
    "RDF Protobuf: read length-prefixed messages, or length-prefixed rows that form one message, \
     as Jena writes them; or a single RDF_Stream or RDF_Graph without a length prefix.",
)
.default(Default::Detected)
.group(RDF_BINARY);

/// The framing of the output.
pub const WRITE_FRAMING: OptionSpec = OptionSpec::new(
    "framing",
    ValueKind::Choice(&["messages", "rows"]),
    "RDF Protobuf: write length-prefixed messages (the default without flat), or length-prefixed \
     rows that form one message, as Jena does.",
)
.group(RDF_BINARY);

/// Framing of the rows in an RDF Protobuf log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each message is a length and an `RDF_Stream`.
    Messages,
    /// Each row follows its length, as in Jena. The entire log is one message.
    Rows,
    /// The entire log is one `RDF_Stream`.
    Stream,
    /// The entire log is one `RDF_Graph`.
    Graph,
}

impl Framing {
    fn from_values(values: &Values, option: &OptionSpec) -> Option<Self> {
        values.text(option).map(|word| match word {
            "rows" => Self::Rows,
            "stream" => Self::Stream,
            "graph" => Self::Graph,
            _ => Self::Messages,
        })
    }
}

/// Settings of a decoder, from its options and from the way in which the log was opened.
pub(super) struct BinaryReading {
    pub limits: Limits,
    pub parts: bool,
    /// The framing, or `None` if it is to be detected.
    pub framing: Option<Framing>,
}

impl BinaryReading {
    pub fn from_values(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts == Parts::Always,
            framing: Framing::from_values(values, &READ_FRAMING),
        }
    }
}

/// Settings of an encoder.
pub(super) struct BinaryWriting {
    /// `Messages` by default, unless `flat`.
    pub framing: Option<Framing>,
    /// Whether to write all messages as one, with distinct blank nodes.
    pub flat: bool,
    /// Whether to write numbers as native values if these preserve their lexical forms.
    pub values: bool,
}

impl BinaryWriting {
    pub fn from_values(values: &Values) -> Self {
        Self {
            framing: Framing::from_values(values, &WRITE_FRAMING),
            flat: values.is_on(&FLAT),
            values: values.is_on(&VALUES),
        }
    }
}
