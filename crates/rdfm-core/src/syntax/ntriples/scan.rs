//! Finds the ends of long runs of ordinary characters in a line, 16 bytes at a time.
//!
//! - In: text and a position.
//! - Out: position of the first byte that does not belong to the run, or the text's length.
//! - Cost: each step is branch-free arithmetic, which compilers turn into vector instructions.
//!   Comparisons would become branches, at five times the cost.

use crate::syntax::text::scan::iri_allows;

/// Position of the first byte at or after `from` that is not allowed unescaped in an `IRIREF`, such
/// as the closing `>`.
#[inline]
pub(crate) fn iri_end(text: &[u8], from: usize) -> usize {
    run(text, from, iri_allows)
}

/// Position of the first byte at or after `from` that needs a check in a lexical form: `"`, `\`, a
/// control character, DEL, and 0xEF, which begins the non-characters U+FFFE and U+FFFF.
#[inline]
pub(crate) fn string_stop(text: &[u8], from: usize) -> usize {
    run(text, from, |byte| {
        (byte ^ b'"')
            .min(byte ^ b'\\')
            .min(byte ^ 0x7f)
            .min(byte ^ 0xef)
            .min(byte.saturating_sub(0x1f))
    })
}

/// Position of the first byte for which `allows` returns 0.
#[inline]
fn run(text: &[u8], mut from: usize, allows: impl Fn(u8) -> u8) -> usize {
    while let Some(chunk) = text.get(from..).and_then(<[u8]>::first_chunk::<16>) {
        let mut results = [0; 16];
        for (result, &byte) in results.iter_mut().zip(chunk) {
            *result = allows(byte);
        }
        let packed = u128::from_le_bytes(results);
        if let Some(index) = first_zero(packed as u64) {
            return from + index;
        }
        if let Some(index) = first_zero((packed >> 64) as u64) {
            return from + 8 + index;
        }
        from += 16;
    }
    let rest = text.get(from..).unwrap_or_default();
    let stop = rest.iter().position(|&byte| allows(byte) == 0);
    from + stop.unwrap_or(rest.len())
}

/// Index of the first zero among eight bytes.
#[inline]
fn first_zero(bytes: u64) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeros = bytes.wrapping_sub(ONES) & !bytes & (ONES << 7);
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::chars::{self, IRI};

    #[test]
    fn every_byte_is_recognized_at_every_position_of_a_step() {
        for byte in 0..=255u8 {
            for index in 0..40 {
                let mut text = [b'a'; 40];
                text[index] = byte;
                let iri = if chars::is(byte, IRI) { 40 } else { index };
                assert_eq!(iri_end(&text, 0), iri, "{byte} at {index}");
                assert_eq!(iri_end(&text, index), iri, "{byte} from {index}");
                let stops = byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f | 0xef);
                let string = if stops { index } else { 40 };
                assert_eq!(string_stop(&text, 0), string, "{byte} at {index}");
            }
        }
        assert_eq!(iri_end(b"ab", 2), 2);
        assert_eq!(string_stop(b"", 0), 0);
    }
}
