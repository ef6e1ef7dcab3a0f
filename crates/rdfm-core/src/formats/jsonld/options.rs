//! Options of JSON-LD and YAML-LD, and the settings of their codecs.

use std::sync::Arc;

use crate::codec::Opening;
use crate::codec::contexts::ContextLoader;
use crate::codec::options::{BASE, FLAT, LENIENT, limits};
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::Values;
use crate::model::limits::Limits;

const GROUP: &str = "JSON-LD";

/// The representation of base directions.
pub const RDF_DIRECTION: OptionSpec = OptionSpec::new(
    "rdf_direction",
    ValueKind::Choice(&["literal", "none", "i18n-datatype", "compound-literal"]),
    "How base directions are represented: as RDF 1.2 literals (literal), not at all (none), or in \
     one of the forms that JSON-LD 1.1 defines.",
)
.default(Default::Text("literal"))
.group(GROUP);

/// A context that applies before any other.
pub const EXPAND_CONTEXT: OptionSpec = OptionSpec::new(
    "expand_context",
    ValueKind::Context,
    "JSON-LD context that applies before all others.",
)
.group(GROUP);

/// Whether doubles keep all their digits.
pub const EXACT_DOUBLES: OptionSpec = OptionSpec::switch(
    "exact_doubles",
    "Keep all digits of numbers read as xsd:double, instead of the 16 that JSON-LD specifies.",
)
.group(GROUP);

/// Options for the sources of remote contexts. These options configure the context loader.
pub const CONTEXTS: &[OptionSpec] = &[
    OptionSpec::new(
        "context",
        ValueKind::Files,
        "Local file to use for a remote context; may be repeated.",
    )
    .group(GROUP),
    OptionSpec::new(
        "contexts",
        ValueKind::File,
        "Folder with copies of remote contexts, listed in its index.json or stored as host/path.",
    )
    .metavar("DIR")
    .group(GROUP),
    OptionSpec::new(
        "context_cache",
        ValueKind::File,
        "Folder for caching fetched contexts. Defaults to the user's cache folder.",
    )
    .metavar("DIR")
    .group(GROUP),
    OptionSpec::switch(
        "allow_network",
        "Fetch remote contexts that are not available locally.",
    )
    .group(GROUP),
];

/// The messages in which namespaces are written.
pub const CONTEXT_LINES: OptionSpec = OptionSpec::new(
    "context_lines",
    ValueKind::Choice(&["first", "every", "none"]),
    "Where namespaces are written: before the messages that need them (first), in every message \
     (every, for jq and grep), or nowhere (none, in expanded form).",
)
.default(Default::Text("first"))
.group(GROUP);

/// Like [`CONTEXT_LINES`], with a different default for standard output, which line-based programs
/// may read.
pub const NDJSON_CONTEXT_LINES: OptionSpec =
    CONTEXT_LINES.with_printed_default(Default::Text("every"));

/// A context for compaction.
pub const COMPACT_WITH: OptionSpec = OptionSpec::new(
    "compact_with",
    ValueKind::Context,
    "Write with this JSON-LD context instead of one generated from the namespaces.",
)
.group(GROUP);

/// The representation of base directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RdfDirection {
    /// Literals of RDF 1.2 with a language and a direction.
    #[default]
    Literal,
    /// Dropped.
    None,
    /// Literals with datatypes that contain language and direction.
    I18n,
    /// Blank nodes with value, language and direction.
    Compound,
}

impl RdfDirection {
    /// Returns the value of the `rdf_direction` option.
    #[must_use]
    pub fn from_values(values: &Values) -> Self {
        match values.text(&RDF_DIRECTION) {
            Some("none") => Self::None,
            Some("i18n-datatype") => Self::I18n,
            Some("compound-literal") => Self::Compound,
            _ => Self::Literal,
        }
    }
}

/// Settings of a decoder: its options, and the settings with which the log was opened.
pub(super) struct DocumentReading {
    pub limits: Limits,
    pub lenient: bool,
    /// The base IRI at the start.
    pub base: Option<String>,
    pub direction: RdfDirection,
    pub exact_doubles: bool,
    /// JSON text of a context that applies before any other, or of a document that contains it.
    pub expand_context: Option<String>,
    /// Loads remote contexts. `None`: remote contexts are not available.
    pub contexts: Option<Arc<dyn ContextLoader>>,
}

impl DocumentReading {
    pub fn from_values(values: &Values, opening: &Opening) -> Self {
        let text = |option| values.text(option).map(str::to_owned);
        Self {
            limits: limits(values),
            lenient: values.is_on(&LENIENT),
            base: text(&BASE),
            direction: RdfDirection::from_values(values),
            exact_doubles: values.is_on(&EXACT_DOUBLES),
            expand_context: text(&EXPAND_CONTEXT),
            contexts: opening.contexts.clone(),
        }
    }
}

/// The documents of a log that contain the context with the log's namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ContextLines {
    /// A context message before the first message, and another when the context changes.
    #[default]
    First,
    /// Every document.
    Every,
    /// No document: the expanded form is written.
    None,
}

/// Settings of an encoder.
pub(super) struct DocumentWriting {
    pub lenient: bool,
    /// Whether to write all messages as one, with distinct blank nodes.
    pub flat: bool,
    pub context_lines: ContextLines,
    /// JSON text of a context for compaction, instead of one generated from the namespaces.
    pub compact_with: Option<String>,
}

impl DocumentWriting {
    pub fn from_values(values: &Values) -> Self {
        Self {
            lenient: values.is_on(&LENIENT),
            flat: values.is_on(&FLAT),
            context_lines: match values.text(&CONTEXT_LINES) {
                Some("every") => ContextLines::Every,
                Some("none") => ContextLines::None,
                _ => ContextLines::First,
            },
            compact_with: values.text(&COMPACT_WITH).map(str::to_owned),
        }
    }
}
