//! Parses dates and times in their usual forms.
//!
//! - In: the lexical form of an xsd:dateTime or an xsd:date. Out: numbers relative to 1970 in UTC.
//! - Cost: one pass.
//! - Law: less common forms result in `None`, and the caller handles them.

/// Microseconds in a day.
pub const DAY_MICROS: i64 = 86_400_000_000;

/// Returns the microseconds since 1970 of a date and time such as `2026-06-01T13:00:00.5+02:00`.
/// A time without a time zone is in UTC.
///
/// Returns `None` for invalid and less common forms: a year that does not have exactly four digits,
/// hour 24, more than six fractional digits, or surrounding space.
pub fn micros(text: &[u8]) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.split_at_checked(9)?;
    let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2] = time else {
        return None;
    };
    let hours = pair(h1, h2, 23)?;
    let minutes = pair(m1, m2, 59)?;
    let seconds = pair(s1, s2, 59)?;
    let (fraction, zone) = fraction(rest)?;
    let seconds = (hours * 60 + minutes) * 60 + seconds - offset(zone)? * 60;
    Some(days(date)? * DAY_MICROS + seconds * 1_000_000 + fraction)
}

/// Returns the days since 1970 of a date such as `2026-06-01`, without a time zone.
///
/// Returns `None` for invalid and less common forms.
pub fn days(text: &[u8]) -> Option<i64> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return None;
    };
    let year = pair(y1, y2, 99)? * 100 + pair(y3, y4, 99)?;
    let (month, day) = (pair(m1, m2, 12)?, pair(d1, d2, 31)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (year > 0 && month > 0 && (1..=last).contains(&day)).then(|| day_of(year, month, day))
}

/// Days since 1970 of a date in the proleptic Gregorian calendar, with years as in XSD 1.1.
pub const fn day_of(year: i64, month: i64, day: i64) -> i64 {
    // Years are shifted to begin in March, so that the leap day is at their end.
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Parses a number of two digits, up to `max`.
const fn pair(tens: u8, ones: u8, max: i64) -> Option<i64> {
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    let number = (tens - b'0') as i64 * 10 + (ones - b'0') as i64;
    if number > max { None } else { Some(number) }
}

/// Parses fractional seconds. Returns microseconds and the remaining text.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Some((0, text));
    };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=6).contains(&length) {
        return None;
    }
    let (digits, zone) = rest.split_at(length);
    let add = |number, digit: &u8| number * 10 + i64::from(digit - b'0');
    let number = digits.iter().fold(0, add);
    Some((number * 10_i64.pow(6 - length as u32), zone))
}

/// Offset of a time zone from UTC in minutes.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"" | b"Z" => Some(0),
        &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let minutes = pair(h1, h2, 14)? * 60 + pair(m1, m2, 59)?;
            let signed = if sign == b'-' { -minutes } else { minutes };
            (minutes <= 14 * 60).then_some(signed)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_date_time_forms_are_parsed() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00", 0),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("1970-01-01T02:30:00+02:30", 0),
            ("1969-12-31T10:00:00-14:00", 0),
            ("2000-02-29T12:34:56.5Z", 951_827_696_500_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
        ] {
            assert_eq!(micros(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_forms_are_not_parsed() {
        for text in [
            "",
            "2026-06-01",
            "2026-06-01T24:00:00Z",
            "2026-06-01T10:60:00Z",
            "2026-06-01T10:00:60Z",
            "2026-06-01T10:00:00.Z",
            "2026-06-01T10:00:00.1234567Z",
            "2026-06-01T10:00:00+14:01",
            "2026-06-01T10:00:00z",
            "2026-06-01T10:00:00Z ",
            "2026-02-29T10:00:00Z",
            "1900-02-29T10:00:00Z",
            "2026-04-31T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-00-01T10:00:00Z",
            "2026-01-00T10:00:00Z",
            "0000-01-01T10:00:00Z",
            "-001-01-01T10:00:00Z",
            "2026-06-01 10:00:00Z",
            "２026-6-1T10:00:00Z",
        ] {
            assert_eq!(micros(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn consecutive_dates_have_consecutive_numbers() {
        assert_eq!(day_of(1970, 1, 1), 0);
        let after = |text: &[u8], more| days(text).map(|day| day + more);
        assert_eq!(after(b"2000-02-28", 2), days(b"2000-03-01"));
        assert_eq!(after(b"1900-02-28", 1), days(b"1900-03-01"));
        assert_eq!(day_of(0, 12, 31) + 1, day_of(1, 1, 1));
        assert_eq!(day_of(-4, 2, 29) + 1, day_of(-4, 3, 1));
        assert_eq!(days(b"2026-06-01Z"), None);
    }
}
