//! What is declared about a format and about an option: the one place that each is described in.
//!
//! A family of formats exports a [`FormatSpec`] for each of its formats; names, keywords, command line options,
//! refusals, detection, the tables of the docs and the tests derive from them.

use super::carries::Carries;
use super::sniff::Sniff;
use super::values::Values;
use super::{Decoder, DelimiterCounter, Encoder, Opening, Source};
use crate::model::error::quote;
use crate::model::remedy::Reason;

/// What comes of options: a codec, or why they do not fit.
pub type Made<T> = Result<Box<T>, Reason>;
/// Makes a counter of the delimiters of a split.
pub type Splitter = fn(&Values, &Opening) -> Box<dyn DelimiterCounter>;

/// What rdfm knows about a format.
#[derive(Debug)]
pub struct FormatSpec {
    /// The name used everywhere, such as `nq`.
    pub name: &'static str,
    /// The name for people, such as `N-Quads`.
    pub title: &'static str,
    /// What the messages of its logs may be.
    pub kinds: &'static [Kind],
    /// File name endings, the usual one first.
    pub suffixes: &'static [&'static str],
    /// Media types, the registered one first.
    pub media_types: &'static [&'static str],
    /// Other names that people use.
    pub aliases: &'static [&'static str],
    /// What it can hold.
    pub carries: Carries,
    /// Whether a log is no text, and so nothing for a terminal.
    pub binary: bool,
    /// Tells from the head of a log whether it is of the format, given whether the head is complete. N-Quads stands
    /// for N-Triples and TriG for Turtle, since they read all of it.
    pub sniff: Option<fn(&[u8], bool) -> Sniff>,
    /// Whether a decoder can go on after an error ([`super::Decoder::skip_message`]).
    pub resumable: bool,
    /// Whether an encoder takes a message in parts.
    pub continuable: Continuable,
    /// Options of the encoder, name and value, that a value which is a log of one message has, where the defaults
    /// are meant for files.
    pub value_options: &'static [(&'static str, &'static str)],
    /// The options of the decoder.
    pub reads: &'static [&'static [OptionSpec]],
    /// The options of the encoder.
    pub writes: &'static [&'static [OptionSpec]],
    /// Makes a decoder at the start of a log.
    pub decoder: fn(&Values, &Opening) -> Made<dyn Decoder>,
    /// Makes an encoder at the start of a log, which knows where the messages come from if that is known.
    pub encoder: fn(&Values, Option<&Source>) -> Made<dyn Encoder>,
    /// Where logs can be read from the middle, at message boundaries found from a byte offset.
    pub splitter: Option<Splitter>,
}

impl FormatSpec {
    /// The options of the decoder, in the order of the declaration.
    pub fn reads(&self) -> impl Iterator<Item = &'static OptionSpec> + Clone {
        self.reads.iter().copied().flatten()
    }

    /// The options of the encoder.
    pub fn writes(&self) -> impl Iterator<Item = &'static OptionSpec> + Clone {
        self.writes.iter().copied().flatten()
    }

    /// Whether a log can be read from the middle.
    #[must_use]
    pub const fn splittable(&self) -> bool {
        self.splitter.is_some()
    }
}

/// What the messages of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Datasets.
    Messages,
    /// Ordered operations on a dataset.
    Patches,
    /// Rows of SPARQL results.
    Results,
}

impl Kind {
    /// The name for Python.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Patches => "patches",
            Self::Results => "results",
        }
    }

    /// The kind of a name.
    ///
    /// # Errors
    /// The name is another; the text says so.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "messages" => Ok(Self::Messages),
            "patches" => Ok(Self::Patches),
            "results" => Ok(Self::Results),
            other => Err(format!(
                "the kind is 'messages', 'patches' or 'results', not {}",
                quote(other.as_bytes())
            )),
        }
    }
}

/// Whether an encoder takes a message in parts (batches that continue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuable {
    /// Each message whole.
    Never,
    /// Always.
    Always,
    /// With one of these options: name and value.
    With(&'static [(&'static str, &'static str)]),
}

/// An option of a decoder or an encoder.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name in Python: lower case, words joined by `_`.
    pub name: &'static str,
    /// What a value is.
    pub value: ValueKind<'static>,
    /// What is done where it is not given.
    pub default: Default,
    /// What is done on the command line's standard output where it is not given; unset: as elsewhere.
    pub printed: Default,
    /// Whether a conversion gives it to both of its formats, where both take it.
    pub shared: bool,
    /// Whether a conversion that gives it to what is read passes over it where the format there lacks it: it says
    /// how logs of some formats are read, if the input is one.
    pub hint: bool,
    /// What stands for the value in help; empty: as the kind says.
    pub metavar: &'static str,
    /// The heading in help and docs.
    pub group: &'static str,
    /// What it does, in a sentence or two.
    pub help: &'static str,
    /// The name on the command line, if it is another.
    pub flag: &'static str,
    /// The name that switches it off on the command line; empty: it is only switched on.
    pub off: &'static str,
    /// Who it is for.
    pub level: Level,
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind<'a> {
    /// True or false.
    Switch,
    /// A number, with its bounds.
    Count(u64, u64),
    /// A number of bytes, with its bounds.
    Bytes(u64, u64),
    /// One of some words.
    Choice(&'a [&'a str]),
    /// One of some words, or the number that one of them stands for.
    ChoiceOrNumber(&'a [(&'a str, u64)]),
    /// A text.
    Text,
    /// An IRI.
    Iri,
    /// Names and IRIs.
    Namespaces,
    /// URLs and the files that hold them.
    Files,
    /// The name of a file or folder.
    File,
    /// A context of JSON-LD: its file, or what is in it.
    Context,
    /// A log of the format, whose stream options are taken.
    Log,
}

impl ValueKind<'_> {
    /// The name for Python.
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

/// What is done where an option is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Nothing.
    Unset,
    /// As if it were given so.
    Switch(bool),
    /// As if it were given so.
    Number(u64),
    /// As if it were given so.
    Text(&'static str),
    /// It is found out from what is read.
    Detected,
    /// As the log says that the messages come from, if it says so.
    Source,
}

/// Who an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Everyone.
    Everyone,
    /// Programs in Python alone.
    Python,
}

impl OptionSpec {
    /// An option with a kind of value; the other methods change the rest.
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
            level: Level::Everyone,
        }
    }

    /// A switch that is off unless given.
    #[must_use]
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self::new(name, ValueKind::Switch, help).default(Default::Switch(false))
    }

    /// With a default.
    #[must_use]
    pub const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    /// With another default on the command line's standard output.
    #[must_use]
    pub const fn printed(mut self, printed: Default) -> Self {
        self.printed = printed;
        self
    }

    /// Under a heading.
    #[must_use]
    pub const fn group(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }

    /// With a word that stands for the value.
    #[must_use]
    pub const fn metavar(mut self, metavar: &'static str) -> Self {
        self.metavar = metavar;
        self
    }

    /// With another name on the command line.
    #[must_use]
    pub const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = flag;
        self
    }

    /// With a name on the command line that switches it off.
    #[must_use]
    pub const fn off(mut self, off: &'static str) -> Self {
        self.off = off;
        self
    }

    /// For both formats of a conversion.
    #[must_use]
    pub const fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Passed over by other formats.
    #[must_use]
    pub const fn hint(mut self) -> Self {
        self.hint = true;
        self
    }

    /// For programs in Python alone.
    #[must_use]
    pub const fn python(mut self) -> Self {
        self.level = Level::Python;
        self
    }
}
