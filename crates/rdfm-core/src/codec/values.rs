//! Option values: checked once, then typed.
//!
//! - In: values from users, of any type, often strings. Out: values that fit their [`OptionSpec`]s.
//! - Law: the error for an invalid value says which values are valid.

use std::fmt;

use super::spec::{Audience, Default, OptionSpec, ValueKind};

/// A value from a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenValue {
    /// True or false.
    Switch(bool),
    /// A number, possibly negative or too large.
    Number(i128),
    /// A string.
    Text(String),
    /// Names and values.
    Pairs(Vec<(String, String)>),
    /// Any other value, as displayed.
    Other(String),
}

/// A value that fits its option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// True or false.
    Switch(bool),
    /// A number.
    Number(u64),
    /// A string. For a choice, one of its words.
    Text(String),
    /// Names and values.
    Pairs(Vec<(String, String)>),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(out, "{on}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => out.write_str(text),
            Self::Pairs(pairs) => write!(out, "{pairs:?}"),
        }
    }
}

impl From<bool> for GivenValue {
    fn from(given: bool) -> Self {
        Self::Switch(given)
    }
}

impl From<u64> for GivenValue {
    fn from(given: u64) -> Self {
        Self::Number(given.into())
    }
}

impl From<&str> for GivenValue {
    fn from(given: &str) -> Self {
        Self::Text(given.to_owned())
    }
}

impl From<Value> for GivenValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Switch(on) => Self::Switch(on),
            Value::Number(number) => Self::Number(number.into()),
            Value::Text(text) => Self::Text(text),
            Value::Pairs(pairs) => Self::Pairs(pairs),
        }
    }
}

impl From<Vec<(String, String)>> for GivenValue {
    fn from(given: Vec<(String, String)>) -> Self {
        Self::Pairs(given)
    }
}

impl ValueKind<'_> {
    /// Checks and converts a value. All values except pairs may be given as strings.
    ///
    /// # Errors
    /// If the value does not fit; the error says which values are valid.
    pub fn read(&self, name: &str, given: GivenValue) -> Result<Value, String> {
        let invalid = |expected: &str, given: &GivenValue| {
            Err(format!(
                "{name} must be {expected}, not {}",
                render_value(given)
            ))
        };
        match self {
            Self::Switch => match &given {
                GivenValue::Switch(on) => Ok(Value::Switch(*on)),
                GivenValue::Text(text) if text.trim().eq_ignore_ascii_case("true") => {
                    Ok(Value::Switch(true))
                }
                GivenValue::Text(text) if text.trim().eq_ignore_ascii_case("false") => {
                    Ok(Value::Switch(false))
                }
                _ => invalid("true or false", &given),
            },
            Self::Count(min, max) | Self::Bytes(min, max) => {
                let number = match &given {
                    GivenValue::Number(number) => u64::try_from(*number).ok(),
                    GivenValue::Text(text) => size(text),
                    _ => None,
                };
                let example = if matches!(self, Self::Bytes(..)) {
                    ", such as 1000, 64K or 64M (powers of 1024)"
                } else {
                    ""
                };
                match number.filter(|number| (min..=max).contains(&number)) {
                    Some(number) => Ok(Value::Number(number)),
                    None if *max >= i64::MAX as u64 => {
                        invalid(&format!("a number >= {min}{example}"), &given)
                    }
                    None => invalid(&format!("a number from {min} to {max}{example}"), &given),
                }
            }
            Self::Choice(words) => {
                let value = match &given {
                    GivenValue::Text(text) => words.iter().find(|word| is_same_word(word, text)),
                    _ => None,
                };
                match value {
                    Some(word) => Ok(Value::Text((*word).to_owned())),
                    None => invalid(&one_of(words.iter().copied()), &given),
                }
            }
            Self::ChoiceOrNumber(words) => {
                let value = match &given {
                    GivenValue::Text(text) => words.iter().find(|(word, number)| {
                        is_same_word(word, text) || number.to_string() == *text
                    }),
                    GivenValue::Number(given) => words
                        .iter()
                        .find(|(_, number)| i128::from(*number) == *given),
                    _ => None,
                };
                match value {
                    Some((word, _)) => Ok(Value::Text((*word).to_owned())),
                    None => invalid(
                        &format!(
                            "{}, or its number",
                            one_of(words.iter().map(|(word, _)| *word))
                        ),
                        &given,
                    ),
                }
            }
            Self::Text | Self::Iri | Self::File | Self::Context | Self::Log => match given {
                GivenValue::Text(text) => Ok(Value::Text(text)),
                _ => invalid("a string without lone surrogates", &given),
            },
            Self::Namespaces | Self::Files => match given {
                GivenValue::Pairs(pairs) => Ok(Value::Pairs(pairs)),
                _ if matches!(self, Self::Files) => invalid("a dict mapping URLs to files", &given),
                _ => invalid("a dict mapping names (without the colon) to IRIs", &given),
            },
        }
    }
}

/// Option values of one decoder or encoder.
#[derive(Clone, Debug, std::default::Default)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// Checks values against the available options.
    ///
    /// # Errors
    /// If there is no such option, or its value does not fit.
    pub fn read<'a>(
        specs: impl Iterator<Item = &'static OptionSpec> + Clone,
        given: impl IntoIterator<Item = (&'a str, GivenValue)>,
    ) -> Result<Self, String> {
        let mut values = Vec::new();
        for (name, given) in given {
            let Some(spec) = specs.clone().find(|spec| spec.name == name) else {
                let public = specs.filter(|spec| spec.audience != Audience::Internal);
                let known: Vec<&str> = public.map(|spec| spec.name).collect();
                let known = if known.is_empty() {
                    "there are no options".to_owned()
                } else {
                    format!("the options are {}", known.join(", "))
                };
                return Err(format!(
                    "there is no option '{}' here; {known}",
                    name.chars().take(40).collect::<String>()
                ));
            };
            values.push((spec.name, spec.value.read(spec.name, given)?));
        }
        Ok(Self(values))
    }

    /// Returns the value given for an option.
    #[must_use]
    pub fn get(&self, option: &OptionSpec) -> Option<&Value> {
        let entry = self.0.iter().rev().find(|(name, _)| *name == option.name);
        entry.map(|(_, value)| value)
    }

    /// Returns a switch or its default; `None` if it has no default.
    #[must_use]
    pub fn try_is_on(&self, option: &OptionSpec) -> Option<bool> {
        match (self.get(option), option.default) {
            (Some(Value::Switch(on)), _) => Some(*on),
            (None, Default::Switch(on)) => Some(on),
            _ => None,
        }
    }

    /// Returns a switch, which is off by default.
    #[must_use]
    pub fn is_on(&self, option: &OptionSpec) -> bool {
        self.try_is_on(option).unwrap_or(false)
    }

    /// Returns a number or its default; 0 if it has no default.
    #[must_use]
    pub fn number(&self, option: &OptionSpec) -> u64 {
        match (self.get(option), option.default) {
            (Some(Value::Number(number)), _) => *number,
            (_, Default::Number(number)) => number,
            _ => 0,
        }
    }

    /// Returns a string or a word of a choice, or its default; `None` if it has no default.
    #[must_use]
    pub fn text(&self, option: &OptionSpec) -> Option<&str> {
        match (self.get(option), option.default) {
            (Some(Value::Text(text)), _) => Some(text),
            (None, Default::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the names and values given for an option, if any.
    #[must_use]
    pub fn pairs(&self, option: &OptionSpec) -> &[(String, String)] {
        match self.get(option) {
            Some(Value::Pairs(pairs)) => pairs,
            _ => &[],
        }
    }
}

/// Parses a size: `1000`, `64K`, `64M`, `2G` (powers of 1024).
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim_start().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let shift = match unit.strip_suffix('i').unwrap_or(unit) {
        "" if unit.is_empty() => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// Whether two words of a choice are equal. Ignores case and treats `-` and `_` as equal.
fn is_same_word(word: &str, text: &str) -> bool {
    let text = text.trim();
    word.len() == text.len()
        && word.bytes().zip(text.bytes()).all(|(a, b)| {
            a.eq_ignore_ascii_case(&b) || (matches!(a, b'-' | b'_') && matches!(b, b'-' | b'_'))
        })
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    format!("one of {}", words.join(", "))
}

/// Formats a value from a user, truncated.
fn render_value(given: &GivenValue) -> String {
    let text = match given {
        GivenValue::Switch(on) => if *on { "True" } else { "False" }.to_owned(),
        GivenValue::Number(number) => number.to_string(),
        GivenValue::Text(text) => format!("'{}'", text.escape_debug()),
        GivenValue::Pairs(_) => "these pairs".to_owned(),
        GivenValue::Other(shown) => shown.clone(),
    };
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    #[test]
    fn size_units_are_powers_of_1024() {
        for (text, number) in [
            ("0", Some(0)),
            ("1000", Some(1000)),
            (" 64K ", Some(64 << 10)),
            ("64 m", Some(64 << 20)),
            ("2GiB", Some(2 << 30)),
            ("2gb", Some(2 << 30)),
            ("5b", Some(5)),
            ("", None),
            ("i", None),
            ("5i", None),
            ("k", None),
            ("-1", None),
            ("1.5M", None),
            ("99999999999999999999", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(size(text), number, "{text}");
        }
    }

    #[test]
    fn values_may_be_strings_and_errors_say_which_are_valid() {
        let read = |kind: ValueKind<'_>, given: GivenValue| kind.read("x", given);
        assert_eq!(
            read(ValueKind::Switch, "TRUE".into()),
            Ok(Value::Switch(true))
        );
        assert_eq!(
            read(ValueKind::Bytes(1, 1 << 30), "64M".into()),
            Ok(Value::Number(64 << 20))
        );
        assert_eq!(
            read(ValueKind::Choice(&["flat_quads"]), "Flat-Quads".into()),
            Ok(Value::Text("flat_quads".to_owned()))
        );
        let numbered = ValueKind::ChoiceOrNumber(&[("graphs", 3)]);
        for given in [GivenValue::from("graphs"), "3".into(), 3u64.into()] {
            assert_eq!(read(numbered, given), Ok(Value::Text("graphs".to_owned())));
        }
        for (kind, given, error) in [
            (
                ValueKind::Count(1, 2),
                GivenValue::Number(-1),
                "x must be a number from 1 to 2, not -1",
            ),
            (
                ValueKind::Switch,
                "yes".into(),
                "x must be true or false, not 'yes'",
            ),
            (
                ValueKind::Choice(&["a", "b"]),
                true.into(),
                "x must be one of 'a', 'b', not True",
            ),
            (
                ValueKind::Namespaces,
                "ex".into(),
                "x must be a dict mapping names (without the colon) to IRIs, not 'ex'",
            ),
        ] {
            assert_eq!(read(kind, given), Err(error.to_owned()));
        }
    }

    #[test]
    fn missing_options_have_defaults_and_unknown_ones_are_rejected() {
        static SPECS: [OptionSpec; 2] = [
            OptionSpec::switch("on", "").default(Default::Switch(true)),
            OptionSpec::new("count", ValueKind::Count(0, 9), "").default(Default::Number(7)),
        ];
        let values = Values::read(SPECS.iter(), [("count", GivenValue::Number(3))]).unwrap();
        assert!(values.is_on(&SPECS[0]));
        assert_eq!(values.number(&SPECS[1]), 3);
        assert_eq!(Values::default().number(&SPECS[1]), 7);
        assert_eq!(
            Values::read(SPECS.iter(), [("off", GivenValue::Switch(true))]).unwrap_err(),
            "there is no option 'off' here; the options are on, count"
        );
    }
}
