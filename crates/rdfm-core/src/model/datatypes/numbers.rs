//! Lexical forms of numbers.

/// A bound for integers: its sign, and its digits without leading zeros (empty for 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    negative: bool,
    digits: &'static [u8],
}

impl Bound {
    /// Parses a number such as `-128`; `None` for an empty string.
    pub const fn new(text: &'static str) -> Option<Self> {
        match text.as_bytes() {
            [] => None,
            [b'-', digits @ ..] => Some(Self {
                negative: true,
                digits,
            }),
            [b'0'] => Some(Self {
                negative: false,
                digits: b"",
            }),
            digits => Some(Self {
                negative: false,
                digits,
            }),
        }
    }
}

/// Splits off the sign.
#[inline]
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

#[inline]
fn digits(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len())
}

/// Whether a string is an integer between two optional bounds.
#[inline]
pub fn is_integer(text: &[u8], min: Option<Bound>, max: Option<Bound>) -> bool {
    let (negative, number) = split_sign(text);
    if number.is_empty() || digits(number) < number.len() {
        return false;
    }
    if min.is_none() && max.is_none() {
        return true;
    }
    let zeros = number.iter().position(|&byte| byte != b'0');
    let number = &number[zeros.unwrap_or(number.len())..];
    let negative = negative && !number.is_empty();
    min.is_none_or(|min| !is_less((negative, number), (min.negative, min.digits)))
        && max.is_none_or(|max| !is_less((max.negative, max.digits), (negative, number)))
}

/// Compares two numbers, each given as sign and digits without leading zeros.
fn is_less(a: (bool, &[u8]), b: (bool, &[u8])) -> bool {
    let smaller = |x: &[u8], y: &[u8]| (x.len(), x) < (y.len(), y);
    match (a.0, b.0) {
        (true, false) => true,
        (false, true) => false,
        (false, false) => smaller(a.1, b.1),
        (true, true) => smaller(b.1, a.1),
    }
}

/// Skips digits with an optional decimal point before, between or after them. Returns the rest.
#[inline]
fn after_decimal(text: &[u8]) -> Option<&[u8]> {
    let integer = digits(text);
    let rest = &text[integer..];
    let [b'.', rest @ ..] = rest else {
        return (integer > 0).then_some(rest);
    };
    let fraction = digits(rest);
    (integer + fraction > 0).then_some(&rest[fraction..])
}

/// Whether a string is a decimal number without an exponent.
#[inline]
pub fn is_decimal(text: &[u8]) -> bool {
    after_decimal(split_sign(text).1).is_some_and(<[u8]>::is_empty)
}

/// Whether a string is a number with an optional exponent, or a special value of doubles.
#[inline]
pub fn is_float(text: &[u8]) -> bool {
    match after_decimal(split_sign(text).1) {
        Some([]) => true,
        Some([b'e' | b'E', exponent @ ..]) => {
            let exponent = split_sign(exponent).1;
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        Some(_) => false,
        None => matches!(text, b"INF" | b"+INF" | b"-INF" | b"NaN"),
    }
}
