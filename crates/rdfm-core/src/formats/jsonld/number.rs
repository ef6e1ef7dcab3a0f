//! JSON numbers as literals (JSON-LD 1.1 API, 8.2 and 8.6), and in the form of RFC 8785.
//!
//! - In: a number as it appears in the source.
//! - Out: its canonical lexical form, and whether it is an integer or a double.
//! - Law: a number below 10^21 that is written without a fraction or an exponent is an integer that
//!   keeps all digits. The type of any other number depends on its value as a double: an integer
//!   below 10^21 is an integer. Other numbers are doubles in canonical form, rounded as specified ([`DoubleDigits`]).

use crate::syntax::double::shortest;

/// Datatype of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    /// xsd:integer.
    Integer,
    /// xsd:double.
    Double,
}

/// Number of digits that are written for a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DoubleDigits {
    /// At most 16: 15 after the decimal point, like `printf("%1.15E")` (8.6).
    Sixteen,
    /// As many as are needed to restore the same double.
    All,
}

/// Maximum number of digits of an integer. Larger numbers are doubles.
const MAX_DIGITS: usize = 21;
/// The smallest number that has more digits.
const TOO_LARGE: f64 = 1e21;

/// Appends the canonical form of a number. If `double` is true, integers are also written as
/// doubles.
pub(super) fn write_canonical(
    token: &[u8],
    double: bool,
    precision: DoubleDigits,
    out: &mut Vec<u8>,
) -> NumberType {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    // An integer without a fraction and an exponent keeps all digits.
    if !double && digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit) {
        out.extend((negative && digits != b"0").then_some(b'-'));
        out.extend_from_slice(digits);
        return NumberType::Integer;
    }
    // Zero has no sign (8.6).
    let number = value(token) + 0.0;
    if !double && number.fract() == 0.0 && number.abs() < TOO_LARGE {
        out.extend_from_slice(format!("{number:.0}").as_bytes());
        return NumberType::Integer;
    }
    if number.is_infinite() {
        out.extend_from_slice(if negative { b"-INF" } else { b"INF" });
        return NumberType::Double;
    }
    let text = match precision {
        DoubleDigits::Sixteen => format!("{number:.15e}"),
        DoubleDigits::All => shortest(number),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    out.extend_from_slice(whole.as_bytes());
    out.push(b'.');
    // XSD requires a digit after the decimal point.
    out.extend_from_slice(if fraction.is_empty() { "0" } else { fraction }.as_bytes());
    out.push(b'E');
    out.extend_from_slice(exponent.as_bytes());
    NumberType::Double
}

/// Returns the double that is nearest to a JSON number.
fn value(token: &[u8]) -> f64 {
    let text = std::str::from_utf8(token).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// Appends a number in the form of RFC 8785, which is also used by ECMAScript. Returns false if the
/// number is outside the range of doubles.
pub(super) fn write_ecmascript(token: &[u8], out: &mut Vec<u8>) -> bool {
    let number = value(token);
    if number.is_infinite() {
        return false;
    }
    if number == 0.0 {
        out.push(b'0');
        return true;
    }
    let text = shortest(number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The value is 0.DIGITS times ten to this power.
    let power = exponent.parse::<i32>().unwrap_or_default() + 1;
    out.extend((number < 0.0).then_some(b'-'));
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let result = if count <= power && power <= 21 {
        format!("{digits}{}", zeros(power - count))
    } else if 0 < power && power <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(power).unwrap_or_default());
        format!("{whole}.{rest}")
    } else if -6 < power && power <= 0 {
        format!("0.{}{digits}", zeros(-power))
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if power > 0 { "+" } else { "-" };
        format!("{first}{point}{rest}e{sign}{}", (power - 1).abs())
    };
    out.extend_from_slice(result.as_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_canonical_forms() {
        use NumberType::{Double, Integer};
        for (token, double, text, form) in [
            ("0", false, "0", Integer),
            ("-0", false, "0", Integer),
            ("12", false, "12", Integer),
            ("-12", false, "-12", Integer),
            ("1.0", false, "1", Integer),
            ("1E0", false, "1", Integer),
            ("-0.0", false, "0", Integer),
            ("1e2", false, "100", Integer),
            ("0.01E2", false, "1", Integer),
            ("1e19", false, "10000000000000000000", Integer),
            ("1e20", false, "100000000000000000000", Integer),
            (
                "-123456789012345678901",
                false,
                "-123456789012345678901",
                Integer,
            ),
            (
                "999999999999999999999",
                false,
                "999999999999999999999",
                Integer,
            ),
            ("1000000000000000000000", false, "1.0E21", Double),
            ("1e21", false, "1.0E21", Double),
            ("5.3", false, "5.3E0", Double),
            ("-0.05", false, "-5.0E-2", Double),
            ("12.3456e3", false, "1.23456E4", Double),
            ("1", true, "1.0E0", Double),
            ("-12", true, "-1.2E1", Double),
            ("0", true, "0.0E0", Double),
            ("-0", true, "0.0E0", Double),
            (
                "0.1234567890123456789",
                false,
                "1.234567890123457E-1",
                Double,
            ),
            ("1.0E400", false, "INF", Double),
            ("-1e99999999999999999999", false, "-INF", Double),
            ("1e-400", false, "0", Integer),
            ("1e-400", true, "0.0E0", Double),
            // The value is rounded to a double first.
            ("2.0000000000000001", false, "2", Integer),
            ("-2.0000000000000001", false, "-2", Integer),
            ("1.9999999999999999", false, "2", Integer),
            ("2.000000000000001", false, "2.000000000000001E0", Double),
            ("9007199254740993", false, "9007199254740993", Integer),
            ("9007199254740993.0", false, "9007199254740992", Integer),
            (
                "1.2345678901234567e20",
                false,
                "123456789012345667584",
                Integer,
            ),
            ("0e99999999999999999999", false, "0", Integer),
            ("0.30000000000000004", false, "3.0E-1", Double),
            ("0.07", false, "7.000000000000001E-2", Double),
            ("5e-324", false, "4.940656458412465E-324", Double),
            ("9.9999999999999999", true, "1.0E1", Double),
            // Ties are rounded to the even digit.
            ("1000000000000000.5", false, "1.0E15", Double),
            ("1000000000000001.5", false, "1.000000000000002E15", Double),
        ] {
            let mut out = Vec::new();
            assert_eq!(
                write_canonical(token.as_bytes(), double, DoubleDigits::Sixteen, &mut out),
                form,
                "{token}"
            );
            assert_eq!(String::from_utf8_lossy(&out), text, "{token}");
        }
    }

    #[test]
    fn all_digits_of_doubles_are_kept_on_request() {
        for (token, text) in [
            ("0.30000000000000004", "3.0000000000000004E-1"),
            ("0.07", "7.0E-2"),
            ("5e-324", "5.0E-324"),
            ("1000000000000000.5", "1.0000000000000005E15"),
            ("12345678901234567890", "1.2345678901234567E19"),
        ] {
            let mut out = Vec::new();
            write_canonical(token.as_bytes(), true, DoubleDigits::All, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text, "{token}");
        }
    }

    /// Examples from RFC 8785, appendix B.
    #[test]
    fn numbers_are_written_as_in_ecmascript() {
        for (token, text) in [
            ("-0", "0"),
            ("333333333.33333329", "333333333.3333333"),
            ("1E30", "1e+30"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("0.000000000000000000000000001", "1e-27"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1e21", "1e+21"),
            ("999999999999999900000", "999999999999999900000"),
            ("-1.5e-9", "-1.5e-9"),
            ("5e-324", "5e-324"),
            ("123.456", "123.456"),
        ] {
            let mut out = Vec::new();
            assert!(write_ecmascript(token.as_bytes(), &mut out));
            assert_eq!(String::from_utf8_lossy(&out), text, "{token}");
        }
        assert!(!write_ecmascript(b"1e400", &mut Vec::new()));
    }
}
