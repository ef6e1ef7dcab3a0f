//! Detects Jelly from the first bytes of a log.

use super::restart::begins_log;
use crate::codec::sniff::{HEAD_BYTES, Sniff};
use crate::syntax::wire::{LENGTH, VARINT, Wire, length_at};

/// Tag of three fields: the rows in a frame, the options in a row, and the name in the options.
const FIRST: u8 = 0x0a;
/// Tag of the columns in a frame.
const COLUMNS: u8 = 0x12;

/// Whether the first frame has a restart mark, or begins with a row of stream options or with
/// columns. In the last two cases, the frame may lack a length prefix.
pub fn sniff(head: &[u8], complete: bool) -> Sniff {
    let begins = |frame: &[u8], length| {
        has_options(frame, length)
            || head.len() == HEAD_BYTES && has_long_columns(frame, length) == Some(true)
    };
    let delimited = || {
        let (length, at) = length_at(head, 0)?;
        head.get(at..).map(|frame| begins(frame, length))
    };
    Sniff::from_match(
        begins_log(head) == Some(true) || begins(head, usize::MAX) || delimited() == Some(true),
        complete,
    )
}

/// Whether a frame of `length` bytes begins with columns that end after the head. All their fields
/// in the head must be fields of columns, beginning with the number of rows.
fn has_long_columns(frame: &[u8], length: usize) -> Option<bool> {
    let (size, at) = match frame.first()? {
        &COLUMNS => length_at(frame, 1)?,
        _ => return Some(false),
    };
    let mut wire = Wire::new(frame.get(at..)?);
    if at + size <= frame.len() || at + size >= length || wire.read_tag().ok()? != (1, VARINT) {
        return Some(false);
    }
    wire.read_varint().ok()?;
    let mut fields = 0;
    while let Ok(tag) = wire.read_tag() {
        if !matches!(tag, (2..=9 | 15, LENGTH)) {
            return Some(false);
        }
        fields += 1;
        if wire.read_bytes().is_err() {
            break; // the field ends after the head
        }
    }
    Some(fields > 0)
}

/// Whether a frame of `length` bytes begins with a row that contains only the options, or with
/// columns and such a row.
fn has_options(frame: &[u8], length: usize) -> bool {
    number_in_options(frame, length).is_some_and(|(tag, value)| match tag {
        // Small numbers: types, switches, table sizes, the version.
        0x10 | 0x18 | 0x20 => true,
        // These tags are also letters, and result sets in RDF Protobuf begin in the same way with
        // variable names.
        0x28 | 0x30 | 0x48 | 0x50 | 0x58 | 0x70 | 0x78 => !(0x20..0x80).contains(&value),
        _ => false,
    })
}

/// Returns the tag of the first field, other than the name, in the options of a frame's first row,
/// and the first byte of its value.
fn number_in_options(frame: &[u8], length: usize) -> Option<(u8, u8)> {
    let field = |at: usize| match frame.get(at) {
        Some(&FIRST) => length_at(frame, at + 1),
        _ => None,
    };
    let start = match frame.first()? {
        &COLUMNS => length_at(frame, 1).map(|(columns, at)| at + columns)?,
        _ => 0,
    };
    let (row, row_at) = field(start)?;
    let (options, options_at) = field(row_at)?;
    if row_at + row > length || options_at + options != row_at + row {
        return None;
    }
    let number_at = match frame.get(options_at)? {
        &FIRST => field(options_at).map(|(name, at)| at + name)?,
        _ => options_at,
    };
    let has_both = number_at + 1 < options_at + options;
    let (tag, value) = (*frame.get(number_at)?, *frame.get(number_at + 1)?);
    has_both.then_some((tag, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &[u8] = &[0x0a, 0x06, 0x0a, 0x04, 0x10, 0x01, 0x78, 0x01];
    const NAMED: &[u8] = &[0x0a, 0x07, 0x0a, 0x05, 0x0a, 0x01, b'n', 0x78, 0x01];

    #[test]
    fn options_identify_jelly() {
        for frame in [BARE, NAMED] {
            let delimited = [&[frame.len() as u8], frame].concat();
            for head in [frame, &delimited] {
                assert_eq!(sniff(head, false), Sniff::Yes);
                assert_eq!(sniff(&[head, b"\xff"].concat(), true), Sniff::Yes);
                assert_eq!(sniff(&head[..4], false), Sniff::More);
                assert_eq!(sniff(&head[..4], true), Sniff::No);
            }
        }
    }

    #[test]
    fn columns_may_precede_the_options() {
        let frame = [&[0x12, 0x02, 0x08, 0x01], BARE].concat();
        let delimited = [&[frame.len() as u8], frame.as_slice()].concat();
        for head in [frame, delimited] {
            assert_eq!(sniff(&head, false), Sniff::Yes);
            assert_eq!(sniff(&head[..8], false), Sniff::More);
        }
        assert_eq!(
            sniff(&[0x12, 0x02, 0x08, 0x01, 0x12, 0x00], true),
            Sniff::No
        );
    }

    #[test]
    fn long_columns_identify_jelly() {
        let columns = [
            &[0x08, 0x05, 0x12, 0x03, 0x12, 0x01, b'n', 0x32, 0xa0, 0x27][..],
            &[0; 5024],
        ]
        .concat();
        let frame = [&[0x12, 0xaa, 0x27][..], &columns, BARE].concat();
        let delimited = [&[0xb5, 0x27][..], &frame].concat();
        for log in [frame, delimited] {
            let head = &log[..HEAD_BYTES];
            assert_eq!(sniff(head, true), Sniff::Yes);
            assert_eq!(sniff(&head[..100], false), Sniff::More);
            let frame_at = if head[0] == COLUMNS { 0 } else { 2 };
            for at in [3, 5, 10] {
                let mut other = head.to_vec();
                other[frame_at + at] = 0x0b;
                assert_eq!(sniff(&other, true), Sniff::No, "{at}");
            }
        }
        assert_eq!(sniff(&[0x12; HEAD_BYTES], true), Sniff::No);
    }

    #[test]
    fn other_bytes_are_not_jelly() {
        for head in [
            &b""[..],
            b"\n\n\n\n",
            &[0x0a, 0x07, 0x0a, 0x04, 0x10, 0x01, 0x78, 0x01], // the row has more fields
            &[0x0a, 0x06, 0x0a, 0x04, 0x12, 0x01, 0x78, 0x01], // not a numeric options field
            &[0x07, 0x0a, 0x06, 0x0a, 0x04, 0x10, 0x01, 0x78, 0x01], // the frame is too short
            b"\x05\x0a\x03\x0a\x01x",                          // a result set with one variable
            b"\x0a\x0a\x03\x0a\x01x\x0a\x03\x0a\x01y",         // two variables
            b"\x06\x0a\x04\x0a\x02x1",
            b"\x07\x0a\x05\x0a\x03pre",
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x0a],
        ] {
            assert_eq!(sniff(head, false), Sniff::More, "{head:x?}");
            assert_eq!(sniff(head, true), Sniff::No, "{head:x?}");
        }
    }
}
