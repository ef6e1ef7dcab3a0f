//! Character classes and tokens of the text grammars (N-Triples, N-Quads, Turtle, TriG; RDF 1.1 and
//! 1.2).
//!
//! ASCII bytes are looked up in one table. Other characters are decoded and looked up in ranges.

use crate::model::error::quote;

/// `PN_CHARS_BASE` (letters).
pub const LETTER: u8 = 1;
/// ASCII digit.
pub const DIGIT: u8 = 2;
/// Hexadecimal digit.
pub const HEX: u8 = 4;
/// Allowed unescaped in an `IRIREF`.
pub const IRI: u8 = 8;
/// Allowed in a name after the first character: `PN_CHARS` (letters, digits, `_`, `-`).
pub const NAME: u8 = 16;
/// Space, tab, LF, CR.
pub const SPACE: u8 = 32;
/// May need an escape in a canonical lexical form: `"`, `\`, C0 controls, DEL, and 0xEF, which
/// begins U+FFFE and U+FFFF.
pub const ESCAPE: u8 = 64;

/// A byte order mark in UTF-8. Text formats skip it at the start of a log, and only there.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Classes of bytes. Bytes from 0x80 on have only the classes [`IRI`] and [`ESCAPE`]. Their other
/// classes depend on the decoded character.
pub const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let c = byte as u8;
        let mut class = 0;
        if c.is_ascii_alphabetic() {
            class |= LETTER | NAME;
        }
        if c.is_ascii_digit() {
            class |= DIGIT | NAME;
        }
        if c.is_ascii_hexdigit() {
            class |= HEX;
        }
        if c == b'_' || c == b'-' {
            class |= NAME;
        }
        if matches!(c, b' ' | b'\t' | b'\n' | b'\r') {
            class |= SPACE;
        }
        if c > 0x20
            && !matches!(
                c,
                b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\'
            )
        {
            class |= IRI;
        }
        if c < 0x20 || matches!(c, b'"' | b'\\' | 0x7f | 0xef) {
            class |= ESCAPE;
        }
        table[byte] = class;
        byte += 1;
    }
    table
}

/// Whether a byte has a class.
#[inline]
pub const fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// `PN_CHARS_BASE` beyond ASCII.
pub const fn is_letter_beyond_ascii(c: char) -> bool {
    matches!(c,
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}'
        | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// `PN_CHARS_BASE`.
pub const fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || is_letter_beyond_ascii(c)
}

/// `PN_CHARS`.
pub const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
        || is_letter_beyond_ascii(c)
}

/// Whether a string is the label part of a `BLANK_NODE_LABEL` (without `_:`).
pub fn is_label(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    (is_letter(first) || first == '_' || first.is_ascii_digit())
        && chars.all(|c| is_name(c) || c == '.')
        && !text.ends_with('.')
}

/// Whether all bytes of a string are allowed unescaped in an `IRIREF`.
#[inline]
pub fn is_iri_text(text: &[u8]) -> bool {
    text.iter().all(|&byte| is(byte, IRI))
}

/// Index of the colon after the scheme of an IRI reference, or `None` if the reference is relative.
#[inline]
pub fn scheme_end(reference: &[u8]) -> Option<usize> {
    if reference.starts_with(b"http:") {
        return Some(4);
    }
    let end = reference
        .iter()
        .position(|&byte| !is(byte, LETTER | DIGIT) && !matches!(byte, b'+' | b'-' | b'.'))?;
    (reference[end] == b':' && is(reference[0], LETTER)).then_some(end)
}

/// Whether an IRI reference begins with a scheme. If not, it is relative, and text formats with a
/// base would resolve it.
#[inline]
pub fn has_scheme(reference: &[u8]) -> bool {
    scheme_end(reference).is_some()
}

/// Whether all strict readers of text formats read this IRI unchanged.
#[inline]
pub fn is_absolute_iri(text: &[u8]) -> bool {
    has_scheme(text) && is_iri_text(text)
}

/// Whether a string is a language tag of `LANG_DIR`, without `@` and direction. Its subtags have 1
/// to 8 characters as in BCP 47, which the W3C tests require.
pub fn is_language_tag(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'-')
        .enumerate()
        .all(|(index, part)| {
            matches!(part.len(), 1..=8)
                && part
                    .iter()
                    .all(|&byte| is(byte, LETTER) || (index > 0 && is(byte, DIGIT)))
        })
}

/// Returns the error for an invalid language tag, with a suggestion if hyphens instead of
/// underscores would make it valid.
#[cold]
pub(crate) fn describe_invalid_language_tag(text: &[u8]) -> String {
    let shown = quote(text);
    let hyphens: Vec<u8> = text
        .iter()
        .map(|&byte| if byte == b'_' { b'-' } else { byte })
        .collect();
    if hyphens != text && is_language_tag(&hyphens) {
        let suggestion = String::from_utf8_lossy(&hyphens).into_owned();
        return format!("{shown} is not a valid language tag; did you mean {suggestion}?");
    }
    format!("{shown} is not a valid language tag")
}
