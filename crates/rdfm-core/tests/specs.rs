//! Properties of all declared formats and options.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use std::collections::HashSet;

use rdfm_core::codec::Opening;
use rdfm_core::codec::spec::{Continuable, Default, FormatSpec, OptionSpec, ValueKind};
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::registry::{self, FORMATS, find};

/// Returns the options for reading and those for writing a format.
fn sides(format: &FormatSpec) -> [(&'static str, Vec<&'static OptionSpec>); 2] {
    [
        ("reads", format.reads().collect()),
        ("writes", format.writes().collect()),
    ]
}

/// The default value of an option as text.
fn default_text(option: &OptionSpec) -> Option<String> {
    match option.default {
        Default::Switch(on) => Some(on.to_string()),
        Default::Number(number) => Some(number.to_string()),
        Default::Text(text) => Some(text.to_owned()),
        Default::Unset | Default::Detected | Default::Source => None,
    }
}

fn is_name(name: &str) -> bool {
    name.split('_').all(|word| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    })
}

#[test]
fn option_names_are_unique_words_and_not_reserved() {
    for format in FORMATS {
        for (side, options) in sides(format) {
            let mut seen = HashSet::new();
            for option in options {
                let name = option.name;
                let place = format!("{} {side} {name}", format.name);
                assert!(is_name(name), "{place}");
                assert!(seen.insert(name), "{place} is declared twice");
                let reserved = ["format", "from", "to"].contains(&name)
                    || name.starts_with("from_")
                    || name.starts_with("to_");
                assert!(!reserved, "{place} is reserved");
                assert!(!option.help.is_empty(), "{place} has no help");
                assert!(!option.group.is_empty(), "{place} has no group");
            }
        }
    }
}

#[test]
fn each_default_is_a_valid_value_of_its_option() {
    for format in FORMATS {
        for (side, options) in sides(format) {
            for option in options {
                let place = format!("{} {side} {}", format.name, option.name);
                match (option.value, option.default) {
                    (_, Default::Unset | Default::Detected | Default::Source)
                    | (ValueKind::Switch, Default::Switch(_))
                    | (ValueKind::Text, Default::Text(_)) => {}
                    (
                        ValueKind::Count(min, max) | ValueKind::Bytes(min, max),
                        Default::Number(number),
                    ) => assert!((min..=max).contains(&number), "{place}: {number}"),
                    (ValueKind::Choice(words), Default::Text(word)) => {
                        assert!(words.contains(&word), "{place}: {word}");
                    }
                    (kind, default) => panic!("{place}: {default:?} is not a {}", kind.name()),
                }
            }
        }
    }
}

#[test]
fn codecs_need_no_options_and_accept_each_default_as_text() {
    let opening = Opening::default();
    for format in FORMATS {
        registry::new_decoder(format, &Values::default(), &opening).unwrap();
        registry::new_encoder(format, &Values::default(), None).unwrap();
        let has_counter = registry::new_counter(format, &Values::default(), &opening).is_ok();
        assert_eq!(has_counter, format.is_splittable(), "{}", format.name);
        for option in format.reads() {
            let Some(text) = default_text(option) else {
                continue;
            };
            let values = Values::read(format.reads(), [(option.name, text.as_str().into())]);
            registry::new_decoder(format, &values.unwrap(), &opening).unwrap();
        }
        for option in format.writes() {
            let Some(text) = default_text(option) else {
                continue;
            };
            let values = Values::read(format.writes(), [(option.name, text.as_str().into())]);
            registry::new_encoder(format, &values.unwrap(), None).unwrap();
        }
    }
}

#[test]
fn names_are_unique_and_values_in_specs_are_accepted() {
    let mut seen = HashSet::new();
    for format in FORMATS {
        let names = [format.name]
            .into_iter()
            .chain(format.aliases.iter().copied());
        for name in names {
            assert!(seen.insert(name), "{name} is declared twice");
        }
        assert_eq!(find(format.name).unwrap().name, format.name);
        let options: &[(&str, &str)] = match format.continuable {
            Continuable::With(options) => options,
            Continuable::Never | Continuable::Always | Continuable::Without(_) => &[],
        };
        for (name, value) in options.iter().chain(format.value_options) {
            let value: GivenValue = (*value).into();
            let values = Values::read(format.writes(), [(*name, value)]);
            registry::new_encoder(format, &values.unwrap(), None).unwrap();
        }
    }
}
