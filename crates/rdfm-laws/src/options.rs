//! Options for reading and writing logs: a format, its options by name, and related settings.

use std::fmt;

use rdfm_core::codec::spec::{Default, FormatSpec, OptionSpec, ValueKind};
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::codec::{Decoder, DelimiterCounter, Encoder, Opening, Parts};
use rdfm_core::registry;

type Pairs = Vec<(&'static str, GivenValue)>;

fn set(given: &mut Pairs, name: &'static str, value: GivenValue) {
    given.retain(|(known, _)| *known != name);
    given.push((name, value));
}

/// Returns the format with the given name.
pub fn format(name: &str) -> &'static FormatSpec {
    registry::find(name).expect("a format has this name")
}

/// Returns the format named by the environment variable `RDFM_FUZZ_FORMAT`.
pub fn format_from_environment() -> &'static FormatSpec {
    let name = std::env::var("RDFM_FUZZ_FORMAT").unwrap_or_default();
    registry::find(&name).expect("RDFM_FUZZ_FORMAT names a format, such as nq")
}

/// Options for reading a log.
#[derive(Clone)]
pub struct Reading {
    /// Format of the log.
    pub format: &'static FormatSpec,
    given: Pairs,
    /// Settings besides the options.
    pub opening: Opening,
}

impl Reading {
    /// Creates empty options for reading a format.
    pub fn new(format: &'static FormatSpec) -> Self {
        Self {
            format,
            given: Pairs::new(),
            opening: Opening::default(),
        }
    }

    /// Creates empty options for reading the format with the given name.
    pub fn for_format(name: &str) -> Self {
        Self::new(format(name))
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<GivenValue>) -> Self {
        set(&mut self.given, name, value.into());
        self
    }

    /// Adds an option if the format has it.
    #[must_use]
    pub fn with_if_supported(self, name: &'static str, value: impl Into<GivenValue>) -> Self {
        if self.format.reads().any(|option| option.name == name) {
            self.with(name, value)
        } else {
            self
        }
    }

    /// Reads messages that are larger than a batch in parts.
    #[must_use]
    pub fn in_parts(mut self) -> Self {
        self.opening.parts = Parts::Always;
        self
    }

    /// Returns the validated options.
    pub fn values(&self) -> Values {
        Values::read(self.format.reads(), self.given.clone()).expect("the options are valid")
    }

    /// Creates a decoder.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        registry::new_decoder(self.format, &self.values(), &self.opening)
            .expect("the options are compatible")
    }

    /// Creates a delimiter counter.
    pub fn counter(&self) -> Box<dyn DelimiterCounter> {
        registry::new_counter(self.format, &self.values(), &self.opening)
            .expect("the format can be split")
    }

    /// Returns ways to read any log of a format: with every switch inverted, and with each value of
    /// each choice. All of them set a base for relative IRIs if the format has that option.
    pub fn ways(format: &'static FormatSpec) -> Vec<Self> {
        let plain = Self::new(format).with_if_supported("base", "http://example.org/base/");
        let mut ways = vec![plain.clone()];
        let switches = switch_options(format.reads(), &[]);
        if !switches.is_empty() {
            let mut way = plain.clone();
            for (name, value) in switches {
                way = way.with(name, value);
            }
            ways.push(way);
        }
        let others = others(format.reads(), &[]).into_iter();
        ways.extend(others.map(|(name, value)| plain.clone().with(name, value)));
        ways
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} with {:?}, {:?}",
            self.format.name, self.given, self.opening
        )
    }
}

/// Options for writing a log.
#[derive(Clone)]
pub struct Writing {
    /// Format of the log.
    pub format: &'static FormatSpec,
    given: Pairs,
}

/// Options that change the messages: they merge messages, lose information or sort quads.
const MESSAGE_CHANGING_OPTIONS: [(&str, &str); 8] = [
    ("headers_first", "true"),
    ("flat", "true"),
    ("merge_graphs", "true"),
    ("dialect", "plain"),
    ("frames", "flat"),
    ("framing", "rows"),
    ("lossy", "true"),
    ("pretty", "true"),
];

impl Writing {
    /// Creates empty options for writing a format.
    pub fn new(format: &'static FormatSpec) -> Self {
        Self {
            format,
            given: Pairs::new(),
        }
    }

    /// Creates empty options for writing the format with the given name.
    pub fn for_format(name: &str) -> Self {
        Self::new(format(name))
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<GivenValue>) -> Self {
        set(&mut self.given, name, value.into());
        self
    }

    /// Adds an option if the format has it.
    #[must_use]
    pub fn with_if_supported(self, name: &'static str, value: impl Into<GivenValue>) -> Self {
        if self.format.writes().any(|option| option.name == name) {
            self.with(name, value)
        } else {
            self
        }
    }

    /// Creates an encoder.
    pub fn encoder(&self) -> Box<dyn Encoder> {
        let values = Values::read(self.format.writes(), self.given.clone());
        let values = values.expect("the options are valid");
        registry::new_encoder(self.format, &values, None).expect("the options are compatible")
    }

    /// Returns ways to write the same messages in a format: with every switch inverted, and with
    /// each value of each choice.
    pub fn ways(format: &'static FormatSpec) -> Vec<Self> {
        let mut ways = Vec::new();
        let switches = switch_options(format.writes(), &MESSAGE_CHANGING_OPTIONS);
        if !switches.is_empty() {
            let mut way = Self::new(format);
            for (name, value) in switches {
                way = way.with(name, value);
            }
            ways.push(way);
        }
        let others = others(format.writes(), &MESSAGE_CHANGING_OPTIONS).into_iter();
        ways.extend(others.map(|(name, value)| Self::new(format).with(name, value)));
        if format.writes().any(|option| option.name == "jelly_version") {
            // Not all values of options with numbers can be combined with the defaults.
            let columns = Self::new(format).with("jelly_version", "1.2");
            ways.push(columns.clone().with("frame_rows", 3));
            ways.push(columns);
        }
        ways
    }
}

/// Returns the switches that have a default, with the opposite value.
fn switch_options(
    options: impl Iterator<Item = &'static OptionSpec>,
    except: &[(&str, &str)],
) -> Vec<(&'static str, bool)> {
    let switches = options.filter_map(|option| match option.default {
        Default::Switch(on) => Some((option.name, !on)),
        _ => None,
    });
    switches
        .filter(|(name, on)| !except.contains(&(name, if *on { "true" } else { "false" })))
        .collect()
}

/// Returns each value of the choices except the default, and both values of the switches without a
/// default.
fn others(
    options: impl Iterator<Item = &'static OptionSpec>,
    except: &[(&str, &str)],
) -> Vec<(&'static str, &'static str)> {
    let words = options.flat_map(|option| {
        let words: &[&str] = match (option.value, option.default) {
            (ValueKind::Choice(words), _) => words,
            (ValueKind::Switch, Default::Unset | Default::Detected | Default::Source) => {
                &["true", "false"]
            }
            _ => &[],
        };
        let default = option.default;
        let words = words
            .iter()
            .filter(move |word| default != Default::Text(word));
        words.map(|word| (option.name, *word))
    });
    words.filter(|pair| !except.contains(pair)).collect()
}
