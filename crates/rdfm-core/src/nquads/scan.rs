//! Finds where the long runs of a line end, 16 bytes a step.
//!
//! - In: text and a position.
//! - Out: the position of the first byte that the run cannot hold, or the text's length.
//! - Cost: a step is some compares without a branch, which compilers turn into vector instructions.

/// The first byte at or after `from` that may not stand raw in an `IRIREF` (a closing `>` is one).
#[inline]
pub(super) fn iri_end(text: &[u8], from: usize) -> usize {
    run(text, from, |byte| {
        // Pairs that differ in bit 1 alone: `<` `>`, `\` `^`, and `"` with the space.
        let pair = byte | 2;
        (pair == b'>')
            || (pair == b'^')
            || (pair == b'"')
            || (byte == b'`')
            || (byte <= 0x20) | (byte.wrapping_sub(b'{') <= 2)
    })
}

/// The first byte at or after `from` that a lexical form has to look at: `"`, `\`, a control, DEL, and
/// 0xEF, which begins the non-characters U+FFFE and U+FFFF.
#[inline]
pub(super) fn string_stop(text: &[u8], from: usize) -> usize {
    run(text, from, |byte| {
        (byte < 0x20) || (byte == b'"') || (byte == b'\\') || (byte == 0x7f) || (byte == 0xef)
    })
}

#[inline]
fn run(text: &[u8], mut from: usize, stops: impl Fn(u8) -> bool) -> usize {
    while let Some(chunk) = text.get(from..).and_then(<[u8]>::first_chunk::<16>) {
        let mut hits = [0; 16];
        for (hit, &byte) in hits.iter_mut().zip(chunk) {
            *hit = u8::from(stops(byte));
        }
        let all = u128::from_le_bytes(hits);
        let (low, high) = (all as u64, (all >> 64) as u64);
        if low != 0 {
            return from + low.trailing_zeros() as usize / 8;
        }
        if high != 0 {
            return from + 8 + high.trailing_zeros() as usize / 8;
        }
        from += 16;
    }
    let rest = text.get(from..).unwrap_or_default();
    from + rest
        .iter()
        .position(|&byte| stops(byte))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::chars::{self, IRI};

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
