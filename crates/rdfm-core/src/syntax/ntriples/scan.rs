//! Finds where the long runs of a line end, 16 bytes a step.
//!
//! - In: text and a position.
//! - Out: the position of the first byte that the run cannot hold, or the text's length.
//! - Cost: a step is some arithmetic without a branch, which compilers turn into vector instructions
//!   (comparisons instead come out as branches, at five times the cost).

use crate::syntax::text::scan::iri_allows;

/// The first byte at or after `from` that may not stand raw in an `IRIREF` (a closing `>` is one).
#[inline]
pub(crate) fn iri_end(text: &[u8], from: usize) -> usize {
    run(text, from, iri_allows)
}

/// The first byte at or after `from` that a lexical form has to look at: `"`, `\`, a control, DEL, and
/// 0xEF, which begins the non-characters U+FFFE and U+FFFF.
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

/// The first byte for which `left` is 0.
#[inline]
fn run(text: &[u8], mut from: usize, left: impl Fn(u8) -> u8) -> usize {
    while let Some(chunk) = text.get(from..).and_then(<[u8]>::first_chunk::<16>) {
        let mut each = [0; 16];
        for (result, &byte) in each.iter_mut().zip(chunk) {
            *result = left(byte);
        }
        let all = u128::from_le_bytes(each);
        if let Some(at) = first_zero(all as u64) {
            return from + at;
        }
        if let Some(at) = first_zero((all >> 64) as u64) {
            return from + 8 + at;
        }
        from += 16;
    }
    let rest = text.get(from..).unwrap_or_default();
    let stop = rest.iter().position(|&byte| left(byte) == 0);
    from + stop.unwrap_or(rest.len())
}

/// Which of eight bytes is the first that is 0.
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
    fn every_byte_at_every_place_of_a_step() {
        for byte in 0..=255u8 {
            for at in 0..40 {
                let mut text = [b'a'; 40];
                text[at] = byte;
                let iri = if chars::is(byte, IRI) { 40 } else { at };
                assert_eq!(iri_end(&text, 0), iri, "{byte} at {at}");
                assert_eq!(iri_end(&text, at), iri, "{byte} from {at}");
                let stops = byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f | 0xef);
                let string = if stops { at } else { 40 };
                assert_eq!(string_stop(&text, 0), string, "{byte} at {at}");
            }
        }
        assert_eq!(iri_end(b"ab", 2), 2);
        assert_eq!(string_stop(b"", 0), 0);
    }
}
