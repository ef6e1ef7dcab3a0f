//! Converts numbers between native values and lexical forms.
//!
//! - In: a [`NativeValue`], or a lexical form and its datatype.
//! - Out: the lexical form and datatype of a value; or the value of a lexical form, if the form can
//!   be restored exactly. Lexical forms of integers and doubles are canonical; a decimal keeps its
//!   scale.
//! - Law: [`NativeValue::write_lexical`] and Jena restore the same lexical form from a value of
//!   [`from_literal`].

use std::io::Write as _;

use super::model::NativeValue;
use crate::syntax::double::shortest;

pub(crate) const INTEGER: &[u8] = b"http://www.w3.org/2001/XMLSchema#integer";
pub(crate) const DOUBLE: &[u8] = b"http://www.w3.org/2001/XMLSchema#double";
pub(crate) const DECIMAL: &[u8] = b"http://www.w3.org/2001/XMLSchema#decimal";

/// Doubles represent all integers below this number exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl NativeValue {
    /// The IRI of the datatype.
    pub fn datatype(self) -> &'static [u8] {
        match self {
            Self::Integer(_) => INTEGER,
            Self::Double(_) => DOUBLE,
            Self::Decimal(..) => DECIMAL,
        }
    }

    /// Upper bound on the length of the lexical form in bytes.
    pub fn length(self) -> usize {
        match self {
            Self::Decimal(0, ..=0) => 1,
            Self::Decimal(_, scale) => 24 + scale.unsigned_abs() as usize,
            _ => 32,
        }
    }

    /// Appends the lexical form.
    pub fn write_lexical(self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => drop(write!(out, "{number}")),
            Self::Double(number) => write_double(number, out),
            Self::Decimal(number, scale) => write_decimal(number, scale, out),
        }
    }
}

fn write_double(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if number.is_infinite() {
        return out.extend_from_slice(if number > 0.0 { b"INF" } else { b"-INF" });
    }
    let text = shortest(number);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    out.extend_from_slice(mantissa.as_bytes());
    if !mantissa.contains('.') {
        out.extend_from_slice(b".0");
    }
    out.push(b'E');
    out.extend_from_slice(exponent.as_bytes());
}

fn write_decimal(number: i64, scale: i32, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let digits = number.unsigned_abs().to_string();
    let zeros = |count: usize| std::iter::repeat_n(b'0', count);
    let shift = scale.unsigned_abs() as usize;
    if scale <= 0 {
        out.extend_from_slice(digits.as_bytes());
        if number != 0 {
            out.extend(zeros(shift));
        }
    } else if let Some(point) = digits.len().checked_sub(shift).filter(|&point| point > 0) {
        out.extend_from_slice(&digits.as_bytes()[..point]);
        out.push(b'.');
        out.extend_from_slice(&digits.as_bytes()[point..]);
    } else {
        out.extend_from_slice(b"0.");
        out.extend(zeros(shift - digits.len()));
        out.extend_from_slice(digits.as_bytes());
    }
}

/// Returns the value of a literal, if both rdfm and Jena restore the lexical form from it.
pub(crate) fn from_literal(lexical: &[u8], datatype: &[u8]) -> Option<NativeValue> {
    let text = std::str::from_utf8(lexical).ok()?;
    let value = match datatype {
        INTEGER => NativeValue::Integer(text.parse().ok()?),
        DOUBLE => NativeValue::Double(match text {
            "INF" => f64::INFINITY,
            "-INF" => f64::NEG_INFINITY,
            _ => text.parse().ok()?,
        }),
        DECIMAL => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let number = [whole, fraction].concat().parse().ok()?;
            NativeValue::Decimal(number, i32::try_from(fraction.len()).ok()?)
        }
        _ => return None,
    };
    let mut restored = Vec::with_capacity(lexical.len());
    value.write_lexical(&mut restored);
    (restored == lexical && is_same_in_java(value)).then_some(value)
}

/// Whether Java, and therefore Jena, produces the same lexical form. For doubles, Java writes `1.5`
/// and `Infinity`, and uses an exponent only below 0.001 and from ten million on. Before Java 19,
/// some digits differ. Integers have the same digits in all versions.
fn is_same_in_java(value: NativeValue) -> bool {
    match value {
        NativeValue::Integer(_) | NativeValue::Decimal(..) => true,
        NativeValue::Double(number) => {
            number.is_nan() || (number.fract() == 0.0 && (1e7..MAX_EXACT).contains(&number.abs()))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    fn render(value: NativeValue) -> String {
        let mut out = Vec::new();
        value.write_lexical(&mut out);
        assert!(out.len() <= value.length(), "{value:?}");
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_have_the_lexical_forms_of_their_datatypes() {
        for (value, text) in [
            (NativeValue::Integer(0), "0"),
            (NativeValue::Integer(i64::MIN), "-9223372036854775808"),
            (NativeValue::Double(0.0), "0.0E0"),
            (NativeValue::Double(-0.0), "-0.0E0"),
            (NativeValue::Double(1e7), "1.0E7"),
            (NativeValue::Double(-12.5), "-1.25E1"),
            (NativeValue::Double(9e-4), "9.0E-4"),
            (
                NativeValue::Double(f64::MIN_POSITIVE),
                "2.2250738585072014E-308",
            ),
            (NativeValue::Double(f64::INFINITY), "INF"),
            (NativeValue::Double(f64::NEG_INFINITY), "-INF"),
            (NativeValue::Double(f64::NAN), "NaN"),
            (NativeValue::Decimal(15, 1), "1.5"),
            (NativeValue::Decimal(150, 2), "1.50"),
            (NativeValue::Decimal(-15, 2), "-0.15"),
            (NativeValue::Decimal(5, 3), "0.005"),
            (NativeValue::Decimal(0, 1), "0.0"),
            (NativeValue::Decimal(5, 0), "5"),
            (NativeValue::Decimal(-5, -2), "-500"),
            (NativeValue::Decimal(0, -2), "0"),
            (NativeValue::Decimal(i64::MIN, 18), "-9.223372036854775808"),
        ] {
            assert_eq!(render(value), text);
        }
    }

    #[test]
    fn only_literals_that_can_be_restored_have_a_native_value() {
        let cases: [(&[u8], &[&str], &[&str]); 3] = [
            (
                INTEGER,
                &["0", "-1", "9223372036854775807"],
                &["+1", "007", "-0", "9223372036854775808", "1.0", "", " 1"],
            ),
            (
                DECIMAL,
                &["1.5", "1.50", "0.005", "-0.15", "5", "1000", "0.0"],
                &["1.", ".5", "+1.5", "01.5", "-0.0", "x", "1.2.3", "1.-5"],
            ),
            (
                DOUBLE,
                &[
                    "1.0E7",
                    "-1.0E7",
                    "1.2345678E7",
                    "9.007199254740991E15",
                    "NaN",
                ],
                &[
                    "1e7",
                    "1.0",
                    "inf",
                    "+INF",
                    "1.0E07",
                    "nan",
                    "",
                    "INF",
                    "-INF",
                    "0.0E0",
                    "-0.0E0",
                    "-1.5E0",
                    "9.999999E6",
                    "1.23456785E7",
                    "9.0E-4",
                    "2.0E23",
                ],
            ),
        ];
        for (datatype, values, others) in cases {
            for text in values {
                let value = from_literal(text.as_bytes(), datatype).unwrap();
                assert_eq!(
                    (render(value).as_str(), value.datatype()),
                    (*text, datatype)
                );
            }
            for text in others {
                assert_eq!(from_literal(text.as_bytes(), datatype), None, "{text}");
            }
        }
        assert_eq!(
            from_literal(b"1", b"http://www.w3.org/2001/XMLSchema#byte"),
            None
        );
    }
}
