//! Detects Jelly-SPARQL from the first bytes of a log.

use super::super::options::MIN_COLUMN_NAMES;
use super::stream::NUMBERS;
use crate::codec::sniff::Sniff;
use crate::syntax::wire::{LENGTH, VARINT, Wire, length_at};

/// Tag of the options in a frame.
const OPTIONS: u8 = 0x0a;

/// Whether the first frame begins with complete stream options.
pub(super) fn sniff(head: &[u8], complete: bool) -> Sniff {
    Sniff::from_match(begins_with_options(head).unwrap_or_default(), complete)
}

fn begins_with_options(head: &[u8]) -> Option<bool> {
    let (length, frame) = length_at(head, 0)?;
    if *head.get(frame)? != OPTIONS {
        return Some(false);
    }
    let (size, at) = length_at(head, frame + 1)?;
    let fits = at + size <= frame + length;
    Some(fits && are_options(head.get(at..at + size)?))
}

/// Whether a message has the fields of stream options, with the two that are required.
fn are_options(bytes: &[u8]) -> bool {
    let (mut names, mut version) = (0, 0);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_tag() {
            Ok((1, LENGTH)) => {
                if wire.read_bytes().is_err() {
                    return false;
                }
            }
            Ok((field @ 2..=15, VARINT)) if NUMBERS >> field & 1 == 1 => {
                let Ok(number) = wire.read_varint() else {
                    return false;
                };
                match field {
                    9 => names = number,
                    15 => version = number,
                    _ => {}
                }
            }
            _ => return false,
        }
    }
    names >= u64::from(MIN_COLUMN_NAMES) && version > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] = &[
        0x0a, 0x0a, 0x05, 0x48, 0x80, 0x01, 0x78, 0x01, 0x12, 0x01, b'x',
    ];
    const NAMED: &[u8] = &[
        0x0c, 0x0a, 0x0a, 0x0a, 0x01, b'n', 0x10, 0x01, 0x48, 0x80, 0x01, 0x78, 0x01,
    ];

    #[test]
    fn options_identify_the_format() {
        for log in [LOG, NAMED] {
            let end = if log == LOG { 8 } else { log.len() };
            for size in 0..=log.len() {
                let expected = if size >= end { Sniff::Yes } else { Sniff::More };
                assert_eq!(sniff(&log[..size], false), expected, "{size}");
            }
        }
    }

    #[test]
    fn other_bytes_are_not_jelly_sparql() {
        for head in [
            &b""[..],
            b"\x05\x0a\x03\x0a\x01x",
            &[
                0x09, 0x0a, 0x07, 0x0a, 0x05, 0x10, 0x01, 0x48, 0x08, 0x78, 0x01,
            ], // Jelly
            &[0x07, 0x0a, 0x05, 0x48, 0x7f, 0x78, 0x01, 0x12, 0x00], // few names
            &[0x06, 0x0a, 0x04, 0x48, 0x80, 0x01, 0x12, 0x00],       // no version
        ] {
            assert_eq!(sniff(head, true), Sniff::No, "{head:x?}");
        }
    }
}
