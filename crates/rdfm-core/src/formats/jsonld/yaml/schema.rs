//! The core schema of YAML 1.2: types of plain scalars.
//!
//! - In: the text of an unquoted scalar.
//! - Out: null, a boolean, a number in JSON form, or a string.
//! - Law: `no`, `on`, `1_000`, `12:30` and dates are strings; `012` is 12.

use std::borrow::Cow;

/// Value of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScalarValue<'a> {
    /// Null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number, in JSON form.
    Number(Cow<'a, str>),
    /// `.inf`, `.nan`, or an octal or hexadecimal integer of more than 128 bits. JSON cannot
    /// represent them.
    Unrepresentable,
    /// A string, which is the text of the scalar.
    String,
}

/// Returns the value of a plain scalar.
pub fn resolve(text: &str) -> ScalarValue<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarValue::Null,
        "true" | "True" | "TRUE" => return ScalarValue::Boolean(true),
        "false" | "False" | "FALSE" => return ScalarValue::Boolean(false),
        ".nan" | ".NaN" | ".NAN" => return ScalarValue::Unrepresentable,
        _ => {}
    }
    match text.as_bytes() {
        [b'0', b'o', digits @ ..] => parse_with_base(digits, 8),
        [b'0', b'x', digits @ ..] => parse_with_base(digits, 16),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => decimal(text),
        _ => ScalarValue::String,
    }
}

fn parse_with_base(digits: &[u8], base: u32) -> ScalarValue<'static> {
    let valid = |byte: &u8| char::from(*byte).is_digit(base);
    if digits.is_empty() || !digits.iter().all(valid) {
        return ScalarValue::String;
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match u128::from_str_radix(text, base) {
        Ok(number) => ScalarValue::Number(number.to_string().into()),
        Err(_) => ScalarValue::Unrepresentable,
    }
}

/// Splits a text after its leading digits.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

fn decimal(text: &str) -> ScalarValue<'_> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return ScalarValue::Unrepresentable;
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
        return ScalarValue::String;
    }
    let exponent = match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let (number, end) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            if number.is_empty() || !end.is_empty() {
                return ScalarValue::String;
            }
            rest
        }
        None if rest.is_empty() => "",
        None => return ScalarValue::String,
    };
    let significant = whole.trim_start_matches('0');
    let leading = whole.len() > 1 && whole.starts_with('0');
    let json =
        !text.starts_with('+') && !whole.is_empty() && !leading && (!point || !fraction.is_empty());
    if json {
        return ScalarValue::Number(text.into());
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
    ScalarValue::Number(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_the_values_of_the_core_schema() {
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
            assert_eq!(resolve(text), ScalarValue::Number(number.into()), "{text}");
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
            assert_eq!(resolve(text), ScalarValue::String, "{text}");
        }
        for text in [
            ".inf",
            "-.INF",
            "+.Inf",
            ".nan",
            ".NaN",
            "0xffffffffffffffffffffffffffffffffff",
        ] {
            assert_eq!(resolve(text), ScalarValue::Unrepresentable, "{text}");
        }
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), ScalarValue::Null, "{text}");
        }
        assert_eq!(resolve("True"), ScalarValue::Boolean(true));
        assert_eq!(resolve("FALSE"), ScalarValue::Boolean(false));
    }
}
