//! JSON numbers as literals, as the JSON-LD specification has them.
//!
//! - In: a number as it is written.
//! - Out: its canonical lexical form, and whether it is an integer or a double.
//! - Law: without a fraction and below 10^21 it is an integer, all digits kept; else a double in the
//!   form `1.5E0` of at most 16 digits.

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// xsd:integer.
    Integer,
    /// xsd:double.
    Double,
    /// `oxjsonld` is to decide: what it says of some numbers differs from what the law says.
    Doubtful,
}

/// Digits of a double that are never rounded.
const SURE_DIGITS: usize = 15;

#[allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lengths of a token, and a power between 0 and 20"
)]
/// Appends the canonical form of a number.
pub(super) fn canonical(token: &[u8], double: bool, out: &mut Vec<u8>) -> Form {
    let (negative, rest) = match token {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    // The usual integers.
    if !double && rest.len() <= 18 && rest.iter().all(u8::is_ascii_digit) {
        if negative && rest != b"0" {
            out.push(b'-');
        }
        out.extend_from_slice(rest);
        return Form::Integer;
    }
    let exponent_at = rest
        .iter()
        .position(|byte| matches!(byte, b'e' | b'E'))
        .unwrap_or(rest.len());
    let (mantissa, exponent) = rest.split_at(exponent_at);
    let exponent = match exponent.get(1..) {
        None => 0,
        Some(text) => match std::str::from_utf8(text).map(str::parse::<i64>) {
            Ok(Ok(number)) if number.abs() < 1 << 40 => number,
            _ => return Form::Doubtful,
        },
    };
    let dot = mantissa.iter().position(|&byte| byte == b'.');
    let whole = dot.unwrap_or(mantissa.len()).cast_signed() as i64;
    let digits = mantissa.iter().filter(|&&byte| byte != b'.').copied();
    let zeros = digits.clone().take_while(|&digit| digit == b'0').count();
    let mut digits: Vec<u8> = digits.skip(zeros).collect();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    // The value is 0.DIGITS times ten to the power of this.
    let mut power = whole - zeros.cast_signed() as i64 + exponent;
    if digits.is_empty() {
        digits.push(b'0');
        power = 1;
    } else if negative {
        out.push(b'-');
    }
    let count = digits.len().cast_signed() as i64;
    if !double && power >= count && power <= 20 {
        out.extend_from_slice(&digits);
        out.extend(std::iter::repeat_n(
            b'0',
            (power - count).unsigned_abs() as usize,
        ));
        return Form::Integer;
    }
    if digits.len() > SURE_DIGITS || (!double && power == 21 && count <= 21) {
        return Form::Doubtful;
    }
    out.push(digits[0]);
    out.push(b'.');
    match digits.get(1..) {
        Some(rest) if !rest.is_empty() => out.extend_from_slice(rest),
        _ => out.push(b'0'),
    }
    out.extend_from_slice(format!("E{}", power - 1).as_bytes());
    Form::Double
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_canonical_forms() {
        for (token, double, text, form) in [
            ("0", false, "0", Form::Integer),
            ("-0", false, "0", Form::Integer),
            ("12", false, "12", Form::Integer),
            ("-12", false, "-12", Form::Integer),
            ("1.0", false, "1", Form::Integer),
            ("1E0", false, "1", Form::Integer),
            ("-0.0", false, "0", Form::Integer),
            ("1e2", false, "100", Form::Integer),
            ("0.01E2", false, "1", Form::Integer),
            (
                "12345678901234567890",
                false,
                "12345678901234567890",
                Form::Integer,
            ),
            ("1e19", false, "10000000000000000000", Form::Integer),
            ("1e21", false, "1.0E21", Form::Double),
            ("5.3", false, "5.3E0", Form::Double),
            ("-0.05", false, "-5.0E-2", Form::Double),
            ("12.3456e3", false, "1.23456E4", Form::Double),
            ("1", true, "1.0E0", Form::Double),
            ("-12", true, "-1.2E1", Form::Double),
            ("0", true, "0.0E0", Form::Double),
            ("0.1234567890123456789", false, "", Form::Doubtful),
            ("1e99999999999999999999", false, "", Form::Doubtful),
        ] {
            let mut out = Vec::new();
            assert_eq!(
                canonical(token.as_bytes(), double, &mut out),
                form,
                "{token}"
            );
            if form != Form::Doubtful {
                assert_eq!(String::from_utf8_lossy(&out), text, "{token}");
            }
        }
    }
}
