//! Declarations of formats and options. Each one is described in one place only.
//!
//! Each family exports a [`FormatSpec`] per format. Names, keywords, command line options,
//! rejections, detection, tables in the docs and tests are derived from these declarations.

use super::carries::Capabilities;
use super::sniff::Sniff;
use super::values::Values;
use super::{Decoder, DelimiterCounter, Encoder, Opening, Source};
use crate::model::error::quote;
use crate::model::remedy::Reason;

/// A codec created from options, or the reason why the options are rejected.
pub type CodecResult<T> = Result<Box<T>, Reason>;
/// Creates a counter of the delimiters of a split.
pub type NewDelimiterCounter = fn(&Values, &Opening) -> Box<dyn DelimiterCounter>;

/// Declaration of a format.
#[derive(Debug)]
pub struct FormatSpec {
    /// The name used everywhere, such as `nq`.
    pub name: &'static str,
    /// The display name, such as `N-Quads`.
    pub title: &'static str,
    /// Kinds of logs that the format supports.
    pub kinds: &'static [Kind],
    /// File name suffixes, the preferred one first.
    pub suffixes: &'static [&'static str],
    /// Media types, the registered one first.
    pub media_types: &'static [&'static str],
    /// Other names in use.
    pub aliases: &'static [&'static str],
    /// Capabilities.
    pub carries: Capabilities,
    /// Whether logs are binary, and so unsuitable for a terminal.
    pub binary: bool,
    /// Detects from the head of a log whether it is in the format, given whether the head is
    /// complete. N-Quads detects N-Triples too and TriG detects Turtle, because they are supersets.
    pub sniff: Option<fn(&[u8], bool) -> Sniff>,
    /// Whether a decoder can continue after an error ([`super::Decoder::skip_message`]).
    pub resumable: bool,
    /// Whether a decoder can skip lines and keep the rest of their message
    /// ([`super::Opening::skip_lines`]).
    pub skips_lines: bool,
    /// Whether an encoder accepts a message in parts.
    pub continuable: Continuable,
    /// Names and values of encoder options for logs of one message that are stored as values, not
    /// as files.
    pub value_options: &'static [(&'static str, &'static str)],
    /// The options of the decoder.
    pub reads: &'static [&'static [OptionSpec]],
    /// The options of the encoder.
    pub writes: &'static [&'static [OptionSpec]],
    /// Creates a decoder at the start of a log.
    pub decoder: fn(&Values, &Opening) -> CodecResult<dyn Decoder>,
    /// Creates an encoder at the start of a log, given the origin of the messages if known.
    pub encoder: fn(&Values, Option<&Source>) -> CodecResult<dyn Encoder>,
    /// Creates counters if logs can be read from any byte offset, starting at the next message
    /// boundary.
    pub splitter: Option<NewDelimiterCounter>,
    /// Whether messages can be appended to a log.
    pub append: Append,
}

impl FormatSpec {
    /// The options of the decoder, in the order of declaration.
    pub fn reads(&self) -> impl Iterator<Item = &'static OptionSpec> + Clone {
        self.reads.iter().copied().flatten()
    }

    /// The options of the encoder.
    pub fn writes(&self) -> impl Iterator<Item = &'static OptionSpec> + Clone {
        self.writes.iter().copied().flatten()
    }

    /// Whether a log can be read from the middle.
    #[must_use]
    pub const fn is_splittable(&self) -> bool {
        self.splitter.is_some()
    }
}

/// Whether messages can be appended to a log, and how to find its end.
#[derive(Clone, Copy, Debug)]
pub enum Append {
    /// No, for this reason.
    Never(&'static str),
    /// The last lines show how the log ends.
    LastLine,
    /// The log is a chain of messages with length prefixes.
    Lengths,
    /// The log must be decoded.
    Decode,
}

/// The kind of a log, by the content of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Datasets.
    Messages,
    /// Ordered operations on a dataset.
    Patches,
    /// SPARQL result rows.
    Results,
}

impl Kind {
    /// Name in Python.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Patches => "patches",
            Self::Results => "results",
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "messages" => Ok(Self::Messages),
            "patches" => Ok(Self::Patches),
            "results" => Ok(Self::Results),
            other => Err(format!(
                "kind must be 'messages', 'patches' or 'results', not {}",
                quote(other.as_bytes())
            )),
        }
    }
}

/// Whether an encoder accepts a message in parts (batches that continue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuable {
    /// Never: each message must be complete.
    Never,
    /// Always.
    Always,
    /// With one of these options, given as name and value.
    With(&'static [(&'static str, &'static str)]),
}

/// An option of a decoder or an encoder.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name in Python: lower case, words joined by `_`.
    pub name: &'static str,
    /// Type of the value.
    pub value: ValueKind<'static>,
    /// Behaviour if the option is not given.
    pub default: Default,
    /// Default on the command line if the output is standard output. If unset, same as `default`.
    pub printed: Default,
    /// Whether a conversion passes the option to both formats if both accept it.
    pub shared: bool,
    /// Whether a conversion ignores the option if the input format lacks it. Such an option only
    /// affects how logs of some formats are read.
    pub hint: bool,
    /// Placeholder for the value in help. If empty, it is derived from the type.
    pub metavar: &'static str,
    /// Heading in help and docs.
    pub group: &'static str,
    /// Help text, one or two sentences.
    pub help: &'static str,
    /// Name on the command line, if different.
    pub flag: &'static str,
    /// Name on the command line that switches the option off. If empty, the option can only be
    /// switched on.
    pub off: &'static str,
    /// Intended users.
    pub audience: Audience,
}

/// Type of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind<'a> {
    /// True or false.
    Switch,
    /// A number between these bounds, inclusive.
    Count(u64, u64),
    /// A number of bytes between these bounds, inclusive.
    Bytes(u64, u64),
    /// One of several words.
    Choice(&'a [&'a str]),
    /// One of several words, or its number.
    ChoiceOrNumber(&'a [(&'a str, u64)]),
    /// A string.
    Text,
    /// An IRI.
    Iri,
    /// Names and IRIs of namespaces.
    Namespaces,
    /// URLs and the files with their content.
    Files,
    /// Name of a file or folder.
    File,
    /// A JSON-LD context: a file name or the context itself.
    Context,
    /// A log of the format, from which stream options are taken.
    Log,
}

impl ValueKind<'_> {
    /// Name in Python.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Count(..) => "count",
            Self::Bytes(..) => "bytes",
            Self::Choice(_) => "choice",
            Self::ChoiceOrNumber(_) => "choice or number",
            Self::Text => "text",
            Self::Iri => "iri",
            Self::Namespaces => "namespaces",
            Self::Files => "files",
            Self::File => "file",
            Self::Context => "context",
            Self::Log => "log",
        }
    }
}

/// Behaviour if an option is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Nothing.
    Unset,
    /// This value.
    Switch(bool),
    /// This value.
    Number(u64),
    /// This value.
    Text(&'static str),
    /// Detected from the input.
    Detected,
    /// The value in the source log, if it states one.
    Source,
}

/// Intended users of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone.
    Everyone,
    /// Only Python programs.
    Python,
    /// Only rdfm itself. Interfaces and docs omit the option.
    Internal,
}

impl OptionSpec {
    /// Creates an option with this type of value. The other methods set the rest.
    #[must_use]
    pub const fn new(name: &'static str, value: ValueKind<'static>, help: &'static str) -> Self {
        Self {
            name,
            value,
            default: Default::Unset,
            printed: Default::Unset,
            shared: false,
            hint: false,
            metavar: "",
            group: "",
            help,
            flag: "",
            off: "",
            audience: Audience::Everyone,
        }
    }

    /// Creates a switch that is off by default.
    #[must_use]
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self::new(name, ValueKind::Switch, help).default(Default::Switch(false))
    }

    /// Sets the default.
    #[must_use]
    pub const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    /// Sets another default for standard output of the command line.
    #[must_use]
    pub const fn with_printed_default(mut self, printed: Default) -> Self {
        self.printed = printed;
        self
    }

    /// Sets the heading.
    #[must_use]
    pub const fn group(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }

    /// Sets the placeholder for the value.
    #[must_use]
    pub const fn metavar(mut self, metavar: &'static str) -> Self {
        self.metavar = metavar;
        self
    }

    /// Sets another name for the command line.
    #[must_use]
    pub const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = flag;
        self
    }

    /// Sets a name for the command line that switches the option off.
    #[must_use]
    pub const fn off(mut self, off: &'static str) -> Self {
        self.off = off;
        self
    }

    /// Makes a conversion pass the option to both formats.
    #[must_use]
    pub const fn with_shared_value(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Makes a conversion ignore the option for formats that lack it.
    #[must_use]
    pub const fn as_hint(mut self) -> Self {
        self.hint = true;
        self
    }

    /// Sets the intended users.
    #[must_use]
    pub const fn audience(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }
}
