//! Checks in one pass whether a string is UTF-8 and whether text grammars allow it unescaped.
//!
//! - In: the bytes of a string.
//! - Out: [`flags::PLAIN`] or 0; `None` if the bytes are not UTF-8.
//! - Cost: eight bytes per step for lexical forms, and sixteen for IRIs. Short strings and labels
//!   need one table lookup per byte. UTF-8 is checked only if a byte is beyond ASCII.

use crate::model::chars::{CLASS, ESCAPE, IRI, NAME, has_scheme, is_language_tag};
use crate::model::term::flags;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A string inside a longer byte slice. A short string is read with the bytes after it, in one step
/// of fixed size.
#[derive(Clone, Copy)]
pub(crate) struct Excerpt<'a> {
    source: &'a [u8],
    start: usize,
    length: usize,
}

/// Number of bytes that are read for a short string.
const SHORT: usize = 32;

/// [`SHORT`] bytes of 0xFF followed by as many zero bytes. Masks for shorter lengths are slices
/// of this array.
const MASKS: [u8; 2 * SHORT] = {
    let mut masks = [0; 2 * SHORT];
    let mut at = 0;
    while at < SHORT {
        masks[at] = u8::MAX;
        at += 1;
    }
    masks
};

impl<'a> Excerpt<'a> {
    /// Creates an excerpt of `length` bytes from `start`, or returns `None` if the source is too
    /// short.
    #[inline]
    pub fn new(source: &'a [u8], start: usize, length: usize) -> Option<Self> {
        let available = source.get(start..)?.len();
        (length <= available).then_some(Self {
            source,
            start,
            length,
        })
    }

    /// Creates an excerpt of the complete text.
    #[inline]
    pub fn from_text(text: &'a [u8]) -> Self {
        Self {
            source: text,
            start: 0,
            length: text.len(),
        }
    }

    /// Length in bytes.
    #[inline]
    pub fn length(self) -> usize {
        self.length
    }

    /// The text.
    #[inline]
    pub fn text(self) -> &'a [u8] {
        &self.source[self.start..self.start + self.length]
    }

    /// Returns `SHORT` bytes from the start of the text, or `None` if the text is longer or the
    /// source ends earlier.
    #[inline]
    pub fn short(self) -> Option<&'a [u8; SHORT]> {
        if self.length > SHORT {
            return None;
        }
        self.source.get(self.start..)?.first_chunk()
    }

    /// Like [`short`](Self::short), with a mask of the bytes that belong to the text.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the caller compares vectors
    fn chunk_and_mask(self) -> Option<(&'a [u8; SHORT], &'static [u8; SHORT])> {
        let mask = MASKS.get(SHORT.wrapping_sub(self.length)..)?;
        Some((
            self.source.get(self.start..)?.first_chunk()?,
            mask.first_chunk()?,
        ))
    }
}

/// Sets the high bit of the lowest zero byte. Higher bits may also be set.
#[inline]
const fn zero_byte(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Nonzero if an ASCII byte of the word needs an escape (see [`ESCAPE`]).
#[inline]
const fn escapes(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    control
        | zero_byte(word ^ (ONES * b'"' as u64))
        | zero_byte(word ^ (ONES * b'\\' as u64))
        | zero_byte(word ^ (ONES * 0x7f))
}

/// Checks a lexical form.
#[inline]
pub(crate) fn lexical(text: &[u8]) -> Option<u8> {
    let (mut high, mut escape) = (0u64, 0u64);
    if let Some(last) = text.last_chunk::<8>() {
        let (words, _) = text.as_chunks::<8>();
        for word in words.iter().chain([last]) {
            let word = u64::from_le_bytes(*word);
            high |= word & HIGHS;
            escape |= escapes(word);
        }
    } else {
        for &byte in text {
            high |= u64::from(byte & 0x80);
            escape |= u64::from(CLASS[byte as usize] & ESCAPE);
        }
    }
    if high != 0 {
        if simdutf8::basic::from_utf8(text).is_err() {
            return None;
        }
        escape |= u64::from(memchr::memchr(0xEF, text).is_some());
    }
    Some(if escape == 0 { flags::PLAIN } else { 0 })
}

/// Returns 0 for an ASCII byte that needs an escape (see [`ESCAPE`]). Branch-free, for
/// vectorization.
#[inline]
fn lexical_allows(byte: u8) -> u8 {
    (byte ^ b'"')
        .min(byte ^ b'\\')
        .min(byte ^ 0x7f)
        .min(byte.saturating_sub(0x1f))
}

/// Like [`lexical`], but faster for a short string.
#[inline]
pub(crate) fn lexical_excerpt(text: Excerpt<'_>) -> Option<u8> {
    if let Some((bytes, mask)) = text.chunk_and_mask() {
        let (mut high, mut escape) = (0u8, 0u8);
        for (&byte, &mask) in bytes.iter().zip(mask) {
            high |= byte & mask;
            escape |= if lexical_allows(byte) == 0 { mask } else { 0 };
        }
        if high < 0x80 {
            return Some(if escape == 0 { flags::PLAIN } else { 0 });
        }
    }
    lexical(text.text())
}

/// Returns 0 for a byte that is not allowed unescaped in an `IRIREF`. Branch-free, for
/// vectorization.
#[inline]
pub(crate) fn iri_allows(byte: u8) -> u8 {
    // Pairs that differ only in bit 1: `<` `>`, `\` `^`, and `"` with the space.
    let pair = byte | 2;
    (pair ^ b'>')
        .min(pair ^ b'^')
        .min(pair ^ b'"')
        .min(byte ^ b'`')
        .min(byte.saturating_sub(0x20))
        .min(byte.wrapping_sub(b'{').saturating_sub(2))
}

/// Checks an IRI.
#[inline]
pub(crate) fn iri(text: &[u8]) -> Option<u8> {
    let flags = iri_part(text)?;
    Some(if has_scheme(text) { flags } else { 0 })
}

/// Checks the characters of a part of an IRI.
#[inline]
pub(crate) fn iri_part(text: &[u8]) -> Option<u8> {
    let Some(last) = text.last_chunk::<16>() else {
        return short_iri(text);
    };
    let (mut high, mut allowed) = ([0u8; 16], [u8::MAX; 16]);
    let (chunks, _) = text.as_chunks::<16>();
    for chunk in chunks.iter().chain([last]) {
        for ((high, allowed), &byte) in high.iter_mut().zip(&mut allowed).zip(chunk) {
            *high |= byte;
            *allowed = (*allowed).min(iri_allows(byte));
        }
    }
    let beyond_ascii = high.iter().any(|&byte| byte >= 0x80);
    if beyond_ascii && simdutf8::basic::from_utf8(text).is_err() {
        return None;
    }
    let plain = allowed.iter().all(|&byte| byte != 0);
    Some(if plain { flags::PLAIN } else { 0 })
}

/// Like [`iri_part`], but faster for a short string.
#[inline]
pub(crate) fn iri_part_excerpt(text: Excerpt<'_>) -> Option<u8> {
    if let Some((bytes, mask)) = text.chunk_and_mask() {
        let (mut high, mut forbidden) = (0u8, 0u8);
        for (&byte, &mask) in bytes.iter().zip(mask) {
            high |= byte & mask;
            forbidden |= if iri_allows(byte) == 0 { mask } else { 0 };
        }
        if high < 0x80 {
            return Some(if forbidden == 0 { flags::PLAIN } else { 0 });
        }
    }
    iri_part(text.text())
}

/// Checks an IRI of fewer than 16 bytes.
#[inline]
fn short_iri(text: &[u8]) -> Option<u8> {
    let (mut all, mut high) = (IRI, 0u8);
    for &byte in text {
        all &= CLASS[byte as usize];
        high |= byte;
    }
    if high >= 0x80 && simdutf8::basic::from_utf8(text).is_err() {
        return None;
    }
    Some(if all & IRI == 0 { 0 } else { flags::PLAIN })
}

/// Checks a blank node label. A label is plain only if no writer changes it. Labels that begin with
/// `_g` are not plain, because writers may escape them.
#[inline]
pub(crate) fn label(text: &[u8]) -> Option<u8> {
    let (mut all, mut high) = (NAME, 0u8);
    for &byte in text {
        all &= CLASS[byte as usize];
        high |= byte;
    }
    if high >= 0x80 && simdutf8::basic::from_utf8(text).is_err() {
        return None;
    }
    let plain = all & NAME != 0 && !matches!(text, [] | [b'-', ..] | [b'_', b'g', ..]);
    Some(if plain { flags::PLAIN } else { 0 })
}

/// Checks a language tag without direction.
pub(crate) fn language(text: &[u8]) -> Option<u8> {
    if is_language_tag(text) {
        return Some(flags::PLAIN);
    }
    simdutf8::basic::from_utf8(text).is_ok().then_some(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::model::chars::{is, is_iri_text};

    #[test]
    fn lexical_forms_agree_with_the_table_at_every_length_and_position() {
        for length in 0..36 {
            for index in 0..length {
                for byte in 0..=0x7f {
                    let mut text = vec![b'a'; length];
                    text[index] = byte;
                    let plain = !is(byte, ESCAPE);
                    assert_eq!(
                        lexical(&text),
                        Some(u8::from(plain)),
                        "{byte} at {index} of {length}"
                    );
                    assert_eq!(iri_part(&text), Some(u8::from(is_iri_text(&text))));
                }
            }
        }
    }

    #[test]
    fn bytes_around_an_excerpt_do_not_affect_its_check() {
        // Around each string are bytes that would change the result.
        for outside in [b'a', b'"', b' ', 0xff] {
            for length in 0..40 {
                for tail in [0, 1, 40] {
                    for inside in [b'a', b'"', b' ', 0x7f, b'<', 0xff] {
                        let mut source = vec![outside; 3 + length + tail];
                        source[3..3 + length].fill(b'x');
                        if length > 0 {
                            source[3 + length / 2] = inside;
                        }
                        let excerpt = Excerpt::new(&source, 3, length).unwrap();
                        let text = &source[3..3 + length];
                        assert_eq!(excerpt.text(), text);
                        assert_eq!(lexical_excerpt(excerpt), lexical(text), "{source:?}");
                        assert_eq!(iri_part_excerpt(excerpt), iri_part(text), "{source:?}");
                    }
                }
            }
        }
        assert!(Excerpt::new(b"abc", 2, 2).is_none());
        assert!(Excerpt::new(b"abc", 4, 0).is_none());
    }

    #[test]
    fn non_ascii_text_is_checked_and_may_be_plain() {
        assert_eq!(lexical("żółć żółć".as_bytes()), Some(flags::PLAIN));
        assert_eq!(lexical("żółć\nżółć".as_bytes()), Some(0));
        assert_eq!(lexical(b"abcdefghijk\xff"), None);
        assert_eq!(lexical(b"\xff"), None);
        assert_eq!(lexical("\u{ffff}".as_bytes()), Some(0));
        assert_eq!(lexical("abcdefghijkl\u{fffe}".as_bytes()), Some(0));
        assert_eq!(iri("http://ex/ż".as_bytes()), Some(flags::PLAIN));
        assert_eq!(iri("http://example.org/ż/a".as_bytes()), Some(flags::PLAIN));
        assert_eq!(iri("http://example.org/ż a".as_bytes()), Some(0));
        assert_eq!(iri(b"http://example.org/\xc3/a"), None);
        assert_eq!(iri(b"a\xc3"), None);
        assert_eq!(iri(b"relative"), Some(0));
        assert_eq!(iri_part(b"relative"), Some(flags::PLAIN));
        assert_eq!(label(b"\xc3"), None);
        assert_eq!(label(b"_gx61"), Some(0));
        assert_eq!(label(b"b0"), Some(flags::PLAIN));
        assert_eq!(language(b"en-GB"), Some(flags::PLAIN));
        assert_eq!(language(b"en\xff"), None);
    }
}
