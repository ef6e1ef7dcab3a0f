//! Literals that JSON numbers and booleans represent without loss.
//!
//! - In: a lexical form and its datatype.
//! - Out: the token, if all JSON-LD readers restore exactly this form, even those that parse
//!   numbers as doubles.
//! - Cost: linear, for forms of at most 24 bytes.

use crate::formats::jsonld::number::{self, DoubleDigits};

const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";

/// Number of digits that every double preserves.
const MAX_DIGITS: usize = 15;

/// Datatypes with native representations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeDatatype {
    /// Any other datatype.
    None,
    Boolean,
    Integer,
    Double,
}

impl NativeDatatype {
    /// Returns the native type of a datatype IRI.
    pub fn from_iri(datatype: &[u8]) -> Self {
        match datatype.strip_prefix(XSD) {
            Some(b"boolean") => Self::Boolean,
            Some(b"integer") => Self::Integer,
            Some(b"double") => Self::Double,
            _ => Self::None,
        }
    }

    /// Appends the token. Returns false if there is no lossless one.
    pub fn write(self, text: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            Self::None => false,
            Self::Boolean => {
                let canonical = text == b"true" || text == b"false";
                if canonical {
                    out.extend_from_slice(text);
                }
                canonical
            }
            Self::Integer => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                let canonical = digits.len() <= MAX_DIGITS
                    && digits.iter().all(u8::is_ascii_digit)
                    && match digits {
                        [] => false,
                        [b'0'] => text.len() == 1,
                        [first, ..] => *first != b'0',
                    };
                if canonical {
                    out.extend_from_slice(text);
                }
                canonical
            }
            Self::Double => {
                let start = out.len();
                let read_back =
                    write_double(text, out).is_some() && is_read_as(&out[start..], text);
                if !read_back {
                    out.truncate(start);
                }
                read_back
            }
        }
    }
}

/// Whether reading a number restores this lexical form. In a form with few digits, only rounding
/// can prevent this: 0.07 becomes 7.000000000000001E-2.
fn is_read_as(token: &[u8], text: &[u8]) -> bool {
    let mut read = Vec::with_capacity(24);
    number::write_canonical(token, true, DoubleDigits::Sixteen, &mut read);
    read == text
}

/// Writes a canonical double (`d.dddEn`) with a fraction as digits without an exponent. A number
/// without a fraction would be read as an integer.
fn write_double(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (sign, rest) = match text.strip_prefix(b"-") {
        Some(rest) => (&b"-"[..], rest),
        None => (&b""[..], text),
    };
    let index = rest.iter().position(|&byte| byte == b'E')?;
    let (mantissa, exponent) = (&rest[..index], &rest[index + 1..]);
    let [first @ b'1'..=b'9', b'.', fraction @ ..] = mantissa else {
        return None;
    };
    if fraction.is_empty()
        || fraction.len() >= MAX_DIGITS
        || !fraction.iter().all(u8::is_ascii_digit)
        || (fraction.len() > 1 && fraction.ends_with(b"0"))
    {
        return None;
    }
    // `1.0E0` has one digit and no fraction.
    let fraction = if fraction == b"0" { b"" } else { fraction };
    let (negative, digits) = match exponent.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, exponent),
    };
    let &[digit @ b'0'..=b'9'] = digits else {
        return None;
    };
    let shift = usize::from(digit - b'0');
    if negative {
        // Only down to 1E-6, because other software may write smaller numbers with exponents.
        if !(1..=6).contains(&shift) {
            return None;
        }
        out.extend_from_slice(sign);
        out.extend_from_slice(b"0.");
        out.resize(out.len() + shift - 1, b'0');
        out.push(*first);
        out.extend_from_slice(fraction);
    } else {
        if fraction.len() <= shift {
            return None;
        }
        out.extend_from_slice(sign);
        out.push(*first);
        out.extend_from_slice(&fraction[..shift]);
        out.push(b'.');
        out.extend_from_slice(&fraction[shift..]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(native: NativeDatatype, text: &str) -> Option<String> {
        let mut out = Vec::new();
        native
            .write(text.as_bytes(), &mut out)
            .then(|| String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn canonical_doubles_with_a_fraction_are_numbers() {
        for (text, number) in [
            ("1.5E0", "1.5"),
            ("-1.25E1", "-12.5"),
            ("2.5E-1", "0.25"),
            ("1.0E-1", "0.1"),
            ("1.0E-6", "0.000001"),
            ("1.23456789012345E9", "1234567890.12345"),
        ] {
            assert_eq!(
                written(NativeDatatype::Double, text).as_deref(),
                Some(number)
            );
        }
        for text in [
            "1.0E0",
            "1.5E1",
            "1.50E0",
            "1.5",
            "15E0",
            "1.5E00",
            "1.5E+0",
            "1.5e0",
            "INF",
            "NaN",
            "",
            "0.0E0",
            "1.E0",
            "1.5E-0",
            "1.0E-7",
            "1.5E10",
            "1.234567890123456E2",
            "7.0E-2",
            "6.4E-4",
            "-",
            "E",
            "1.5E",
        ] {
            assert_eq!(written(NativeDatatype::Double, text), None, "{text}");
        }
    }

    #[test]
    fn canonical_integers_and_booleans_are_native() {
        for text in ["0", "1", "-1", "999999999999999", "-10"] {
            assert_eq!(
                written(NativeDatatype::Integer, text).as_deref(),
                Some(text)
            );
        }
        for text in [
            "-0",
            "01",
            "+1",
            "",
            "-",
            "1.0",
            "1000000000000000",
            " 1",
            "x",
        ] {
            assert_eq!(written(NativeDatatype::Integer, text), None, "{text}");
        }
        assert_eq!(
            written(NativeDatatype::Boolean, "true").as_deref(),
            Some("true")
        );
        assert_eq!(written(NativeDatatype::Boolean, "1"), None);
        assert_eq!(
            NativeDatatype::from_iri(b"http://www.w3.org/2001/XMLSchema#long"),
            NativeDatatype::None
        );
    }
}
