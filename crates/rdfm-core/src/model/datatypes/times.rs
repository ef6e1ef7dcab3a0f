//! Lexical forms of dates, times and durations.

/// The components of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTimeShape(u8);

const YEAR: u8 = 1;
const MONTH: u8 = 2;
const DAY: u8 = 4;
const TIME: u8 = 8;
const ZONE: u8 = 16;

impl DateTimeShape {
    /// Parses a string with a letter for each component: `Y`, `M`, `D`, `T` (time), or another
    /// letter for a required time zone.
    pub const fn new(parts: &str) -> Self {
        let parts = parts.as_bytes();
        let (mut bits, mut index) = (0, 0);
        while index < parts.len() {
            bits |= match parts[index] {
                b'Y' => YEAR,
                b'M' => MONTH,
                b'D' => DAY,
                b'T' => TIME,
                _ => ZONE,
            };
            index += 1;
        }
        Self(bits)
    }

    const fn has(self, part: u8) -> bool {
        self.0 & part != 0
    }
}

/// The components that a duration may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DurationParts {
    All,
    YearsAndMonths,
    DaysAndTimes,
}

/// Consumes bytes from the beginning of a string.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    fn take_byte(&mut self, expected: u8) -> bool {
        let [first, rest @ ..] = self.0 else {
            return false;
        };
        let is_expected = *first == expected;
        if is_expected {
            self.0 = rest;
        }
        is_expected
    }

    /// Reads two digits.
    #[inline]
    fn take_two_digits(&mut self) -> Option<u32> {
        let [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] = self.0 else {
            return None;
        };
        self.0 = rest;
        Some(u32::from(a - b'0') * 10 + u32::from(b - b'0'))
    }

    /// Reads digits, possibly none.
    #[inline]
    fn take_digits(&mut self) -> &'a [u8] {
        let end = self
            .0
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }
}

/// Whether a string is a date or time with these components.
#[inline]
pub fn is_moment(text: &[u8], shape: DateTimeShape) -> bool {
    parse_moment(text, shape).is_some()
}

#[inline]
fn parse_moment(text: &[u8], shape: DateTimeShape) -> Option<()> {
    let mut index = Cursor(text);
    // A day without a month may be up to 31, and February without a year may have 29 days.
    let (mut leap, mut month) = (true, 1);
    if shape.has(YEAR) {
        index.take_byte(b'-');
        let digits = index.take_digits();
        if digits.len() < 4 || (digits.len() > 4 && digits[0] == b'0') {
            return None;
        }
        // Leap years repeat every 400 years, and 400 divides 10,000, so the last four digits are
        // sufficient. The same applies before the year 0.
        let last = &digits[digits.len() - 4..];
        let year = last
            .iter()
            .fold(0, |year, digit| year * 10 + u32::from(digit - b'0'));
        leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    } else if shape.has(MONTH | DAY) {
        (index.take_byte(b'-') && index.take_byte(b'-')).then_some(())?;
    }
    if shape.has(MONTH) {
        if shape.has(YEAR) {
            index.take_byte(b'-').then_some(())?;
        }
        month = index
            .take_two_digits()
            .filter(|month| (1..=12).contains(month))?;
    }
    if shape.has(DAY) {
        index.take_byte(b'-').then_some(())?;
        let last = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        index
            .take_two_digits()
            .filter(|day| (1..=last).contains(day))?;
    }
    if shape.has(TIME) {
        if shape.has(YEAR) {
            index.take_byte(b'T').then_some(())?;
        }
        take_time(&mut index)?;
    }
    if index.0.is_empty() {
        return (!shape.has(ZONE)).then_some(());
    }
    take_zone(index)
}

#[inline]
fn take_time(index: &mut Cursor) -> Option<()> {
    let hour = index.take_two_digits().filter(|hour| *hour <= 24)?;
    index.take_byte(b':').then_some(())?;
    let minute = index.take_two_digits().filter(|minute| *minute < 60)?;
    index.take_byte(b':').then_some(())?;
    let second = index.take_two_digits().filter(|second| *second < 60)?;
    let mut fraction: &[u8] = b"";
    if index.take_byte(b'.') {
        fraction = index.take_digits();
        (!fraction.is_empty()).then_some(())?;
    }
    let is_midnight = minute == 0 && second == 0 && fraction.iter().all(|&digit| digit == b'0');
    (hour < 24 || is_midnight).then_some(())
}

#[inline]
fn take_zone(mut index: Cursor) -> Option<()> {
    if index.take_byte(b'Z') {
        return index.0.is_empty().then_some(());
    }
    (index.take_byte(b'+') || index.take_byte(b'-')).then_some(())?;
    let hour = index.take_two_digits()?;
    index.take_byte(b':').then_some(())?;
    let minute = index.take_two_digits().filter(|minute| *minute < 60)?;
    (index.0.is_empty() && (hour < 14 || (hour == 14 && minute == 0))).then_some(())
}

pub fn is_duration(text: &[u8], parts: DurationParts) -> bool {
    duration(text, parts).is_some()
}

fn duration(text: &[u8], parts: DurationParts) -> Option<()> {
    let mut index = Cursor(text);
    index.take_byte(b'-');
    index.take_byte(b'P').then_some(())?;
    let date: &[u8] = match parts {
        DurationParts::All => b"YMD",
        DurationParts::YearsAndMonths => b"YM",
        DurationParts::DaysAndTimes => b"D",
    };
    let has_date = take_fields(&mut index, date, false)?;
    if index.0.is_empty() {
        return has_date.then_some(());
    }
    if parts == DurationParts::YearsAndMonths {
        return None;
    }
    index.take_byte(b'T').then_some(())?;
    let has_time = take_fields(&mut index, b"HMS", true)?;
    (has_time && index.0.is_empty()).then_some(())
}

/// Reads numbers, each followed by one of the letters in order. Returns whether there are any.
fn take_fields(index: &mut Cursor, letters: &[u8], fraction: bool) -> Option<bool> {
    let mut letters = letters.iter();
    let mut found_any = false;
    while index.0.first().is_some_and(u8::is_ascii_digit) {
        index.take_digits();
        let has_fraction = fraction && index.take_byte(b'.');
        if has_fraction && index.take_digits().is_empty() {
            return None;
        }
        let (&byte, rest) = index.0.split_first()?;
        letters.find(|&&letter| letter == byte)?;
        if has_fraction && byte != b'S' {
            return None;
        }
        index.0 = rest;
        found_any = true;
    }
    Some(found_any)
}
