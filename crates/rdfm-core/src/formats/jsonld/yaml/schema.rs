//! The core schema of YAML 1.2: types of plain scalars.
//!
//! - In: the text of a scalar without quotes.
//! - Out: null, a boolean, a number in JSON's format, or a string.
//! - Law: `no`, `on`, `1_000`, `12:30` and dates are strings; `012` is 12.

use std::borrow::Cow;

/// The type of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number in JSON's format.
    Number(Cow<'a, str>),
    /// `.inf`, `.nan`, or an octal or hexadecimal integer that is too large. JSON cannot represent these numbers.
    OutOfRange,
    /// A string: the text of the scalar.
    String,
}

/// Determines the type of a plain scalar.
pub fn resolve(text: &str) -> Value<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Boolean(true),
        "false" | "False" | "FALSE" => return Value::Boolean(false),
        ".nan" | ".NaN" | ".NAN" => return Value::OutOfRange,
        _ => {}
    }
    match text.as_bytes() {
        [b'0', b'o', digits @ ..] => based(digits, 8),
        [b'0', b'x', digits @ ..] => based(digits, 16),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => decimal(text),
        _ => Value::String,
    }
}

fn based(digits: &[u8], base: u32) -> Value<'static> {
    let valid = |byte: &u8| char::from(*byte).is_digit(base);
    if digits.is_empty() || !digits.iter().all(valid) {
        return Value::String;
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match u128::from_str_radix(text, base) {
        Ok(number) => Value::Number(number.to_string().into()),
        Err(_) => Value::OutOfRange,
    }
}

/// Leading digits, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

fn decimal(text: &str) -> Value<'_> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Value::OutOfRange;
    }
    let (whole, rest) = digits(unsigned);
    let (point, fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (fraction, rest) = digits(rest);
            (true, fraction, rest)
        }
        None => (false, "", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Value::String;
    }
    let exponent = match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let (number, end) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            if number.is_empty() || !end.is_empty() {
                return Value::String;
            }
            rest
        }
        None if rest.is_empty() => "",
        None => return Value::String,
    };
    let significant = whole.trim_start_matches('0');
    let leading = whole.len() > 1 && whole.starts_with('0');
    let json =
        !text.starts_with('+') && !whole.is_empty() && !leading && (!point || !fraction.is_empty());
    if json {
        return Value::Number(text.into());
    }
    let mut number = String::with_capacity(text.len() + 2);
    if text.starts_with('-') {
        number.push('-');
    }
    number.push_str(if significant.is_empty() {
        "0"
    } else {
        significant
    });
    if point {
        number.push('.');
        number.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    number.push_str(exponent);
    Value::Number(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        for (text, number) in [
            ("0", "0"),
            ("12", "12"),
            ("012", "12"),
            ("-012", "-12"),
            ("+1", "1"),
            ("-0", "-0"),
            ("00", "0"),
            ("0o14", "12"),
            ("0xC", "12"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1.", "1.0"),
            ("1e3", "1e3"),
            ("+1.e-3", "1.0e-3"),
            ("01.5E+3", "1.5E+3"),
        ] {
            assert_eq!(resolve(text), Value::Number(number.into()), "{text}");
        }
        for text in [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "N",
            "1_000",
            "12:30",
            "2022-08-08",
            "0b1",
            "0o8",
            "0x",
            "0xg",
            "1e",
            "e3",
            ".",
            "-",
            "+",
            "+.",
            "1.5.2",
            "--1",
            "tRUE",
            "nULL",
            "<<",
            "=",
            "1 2",
            "-0x1",
            ".e3",
            "٣",
        ] {
            assert_eq!(resolve(text), Value::String, "{text}");
        }
        for text in [
            ".inf",
            "-.INF",
            "+.Inf",
            ".nan",
            ".NaN",
            "0xffffffffffffffffffffffffffffffffff",
        ] {
            assert_eq!(resolve(text), Value::OutOfRange, "{text}");
        }
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), Value::Null, "{text}");
        }
        assert_eq!(resolve("True"), Value::Boolean(true));
        assert_eq!(resolve("FALSE"), Value::Boolean(false));
    }
}
