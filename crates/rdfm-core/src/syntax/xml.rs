//! XML tokens.
//!
//! - In: valid UTF-8 text, the start of a token, and the position up to which it has been scanned.
//! - Out: the end of the token and its kind; the attributes of a tag.
//! - Cost: one pass over a token, even if it arrives in pieces.
//! - Law: the tokens do not depend on how the input is cut.

pub(crate) mod entities;
pub(crate) mod scope;
pub(crate) mod utf16;

use memchr::{memchr, memchr2, memchr3, memmem};

use crate::model::chars::{LETTER, NAME, SPACE, is, is_letter, is_name};
use crate::model::error::{ErrorClass, quote};
pub(crate) use crate::syntax::text::grammar::{Read, fail, fail_malformed};

/// The namespace of the prefix `xml`, and of no other prefix.
pub(crate) const XML: &[u8] = b"http://www.w3.org/XML/1998/namespace";
/// The namespace that no prefix may be bound to.
pub(crate) const XMLNS: &[u8] = b"http://www.w3.org/2000/xmlns/";

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XmlToken {
    /// Characters up to the next `<`.
    Text,
    /// `<name …>`
    Start,
    /// `<name …/>`
    Empty,
    /// `</name>`
    End,
    /// `<![CDATA[…]]>`
    CData,
    /// `<!--…-->`
    Comment,
    /// `<?target …?>`
    Instruction,
    /// `<!DOCTYPE …>`
    Doctype,
}

/// Number of bytes of an incomplete token that have been scanned, and the context at that position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokenScan {
    index: usize,
    /// Within quotes, the quote. In a DOCTYPE, also `-` within a comment and `?` within an
    /// instruction.
    within: u8,
    /// Whether the position is within the square brackets of a DOCTYPE.
    bracket: bool,
}

/// Returns the kind and the end of the token at `start`, or `None` if the token is incomplete.
pub(crate) fn next(
    text: &[u8],
    start: usize,
    scan: &mut TokenScan,
) -> Read<Option<(XmlToken, usize)>> {
    let token = &text[start..];
    let token_end = match token {
        [b'<', b'!', ..] => find_declaration_end(token, start, scan)?,
        [b'<', b'?', ..] => find_end(token, b"?>", 2, XmlToken::Instruction, scan),
        [b'<', b'/', ..] => {
            let from = scan.index.max(2);
            match memchr2(b'>', b'<', &token[from..]) {
                Some(index) if token[from + index] == b'<' => {
                    return fail_malformed(
                        start + from + index,
                        "expected '>' before '<' in an end tag",
                    );
                }
                Some(index) => Some((XmlToken::End, from + index + 1)),
                None => {
                    scan.index = token.len();
                    None
                }
            }
        }
        [b'<', _, ..] => find_tag_end(token, start, scan)?,
        [b'<'] => None,
        _ => {
            let token_end = memchr(b'<', &token[scan.index..])
                .map(|index| (XmlToken::Text, scan.index + index));
            scan.index = token.len();
            token_end
        }
    };
    Ok(token_end.map(|(kind, length)| {
        *scan = TokenScan::default();
        (kind, start + length)
    }))
}

/// Finds the end of a start tag: the first `>` outside quotes.
fn find_tag_end(
    token: &[u8],
    start: usize,
    scan: &mut TokenScan,
) -> Read<Option<(XmlToken, usize)>> {
    let mut index = scan.index.max(1);
    while index < token.len() {
        if scan.within != 0 {
            let Some(special) = memchr2(scan.within, b'<', &token[index..]) else {
                break;
            };
            index += special;
            if token[index] == b'<' {
                return fail_malformed(
                    start + index,
                    "'<' is not allowed in an attribute value; write it as &lt;, or add the missing closing quote",
                );
            }
            scan.within = 0;
            index += 1;
        } else {
            let rest = &token[index..];
            let special = memchr3(b'>', b'"', b'\'', rest);
            let end = special.unwrap_or(rest.len());
            if let Some(open) = memchr(b'<', &rest[..end]) {
                return fail_malformed(start + index + open, "expected '>' before '<' in a tag");
            }
            let Some(special) = special else { break };
            index += special + 1;
            match token[index - 1] {
                b'>' if token[index - 2] == b'/' => return Ok(Some((XmlToken::Empty, index))),
                b'>' => return Ok(Some((XmlToken::Start, index))),
                quote => scan.within = quote,
            }
        }
    }
    scan.index = token.len();
    Ok(None)
}

/// Finds a token that ends with the first `end` at or after `from`.
fn find_end(
    token: &[u8],
    end: &[u8],
    from: usize,
    kind: XmlToken,
    scan: &mut TokenScan,
) -> Option<(XmlToken, usize)> {
    let from = scan.index.max(from);
    if let Some(index) = token.get(from..).and_then(|rest| memmem::find(rest, end)) {
        return Some((kind, from + index + end.len()));
    }
    // The last bytes may be the beginning of `end`.
    scan.index = token.len().saturating_sub(end.len() - 1).max(from);
    None
}

/// Finds a token that begins with `<!`.
fn find_declaration_end(
    token: &[u8],
    start: usize,
    scan: &mut TokenScan,
) -> Read<Option<(XmlToken, usize)>> {
    if token.starts_with(b"<!--") {
        return Ok(find_end(token, b"-->", 4, XmlToken::Comment, scan));
    }
    if token.starts_with(b"<![CDATA[") {
        return Ok(find_end(token, b"]]>", 9, XmlToken::CData, scan));
    }
    if token.starts_with(b"<!DOCTYPE") {
        return Ok(find_doctype_end(token, scan));
    }
    if [&b"<!--"[..], b"<![CDATA[", b"<!DOCTYPE"]
        .iter()
        .any(|whole| whole.starts_with(token))
    {
        return Ok(None);
    }
    fail_malformed(start, "expected a comment, CDATA or DOCTYPE after '<!'")
}

/// Finds the end of a DOCTYPE: the first `>` outside quotes, comments, instructions and square
/// brackets.
fn find_doctype_end(token: &[u8], scan: &mut TokenScan) -> Option<(XmlToken, usize)> {
    let mut index = scan.index.max(9);
    while let Some(&byte) = token.get(index) {
        match (scan.within, byte) {
            (b'-', b'>') if token[..index].ends_with(b"--") => scan.within = 0,
            (b'?', b'>') if token[..index].ends_with(b"?") => scan.within = 0,
            (b'"' | b'\'', _) if byte == scan.within => scan.within = 0,
            (0, b'"' | b'\'') => scan.within = byte,
            // `<!-->` is not a complete comment.
            (0, b'-') if token[..=index].ends_with(b"<!--") => {
                scan.within = b'-';
                if token.len() < index + 3 {
                    scan.index = index;
                    scan.within = 0;
                    return None;
                }
                index += 2;
            }
            (0, b'?') if token[..index].ends_with(b"<") => scan.within = b'?',
            (0, b'[') => scan.bracket = true,
            (0, b']') => scan.bracket = false,
            (0, b'>') if !scan.bracket => return Some((XmlToken::Doctype, index + 1)),
            _ => {}
        }
        index += 1;
    }
    scan.index = index;
    None
}

/// Positions of an attribute in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    pub name: XmlName,
    /// The value without its quotes.
    pub value: (usize, usize),
}

/// Positions of a name, with or without a prefix, in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XmlName {
    pub start: usize,
    /// Position of the colon, or `start` if there is none.
    pub colon: usize,
    pub end: usize,
}

impl XmlName {
    /// The prefix, empty if there is none.
    pub fn prefix<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.colon]
    }

    /// The part after the prefix.
    pub fn local<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let from = if self.colon > self.start {
            self.colon + 1
        } else {
            self.start
        };
        &text[from..self.end]
    }

    /// The complete name.
    pub fn whole<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }
}

/// Reads the name at `start`.
pub(crate) fn name(text: &[u8], start: usize, end: usize) -> Read<XmlName> {
    let length = text[start..end]
        .iter()
        .position(|&byte| {
            is(byte, SPACE) || matches!(byte, b'=' | b'/' | b'>' | b'"' | b'\'' | b'<')
        })
        .unwrap_or(end - start);
    let whole = &text[start..start + length];
    let colon = memchr(b':', whole);
    let fits = match colon {
        None => is_nc_name(whole),
        Some(index) => is_nc_name(&whole[..index]) && is_nc_name(&whole[index + 1..]),
    };
    if !fits {
        return fail_malformed(
            start,
            format!(
                "expected an XML name, found {}",
                quote(&text[start..(start + length).max(start + 1).min(text.len())])
            ),
        );
    }
    Ok(XmlName {
        start,
        colon: start + colon.unwrap_or(0),
        end: start + length,
    })
}

/// Reads the attributes of the tag whose name ends at `index` and whose `>` or `/>` begins at
/// `end`.
pub(crate) fn read_attributes(
    text: &[u8],
    mut index: usize,
    end: usize,
    into: &mut Vec<Attribute>,
) -> Read<()> {
    into.clear();
    let skip = |mut index: usize| {
        while index < end && is(text[index], SPACE) {
            index += 1;
        }
        index
    };
    loop {
        let next = skip(index);
        if next == end {
            return Ok(());
        }
        if next == index {
            return fail_malformed(
                index,
                format!(
                    "expected a space or '>', found {}",
                    quote(&text[index..end])
                ),
            );
        }
        let name = name(text, next, end)?;
        index = skip(name.end);
        if index == end || text[index] != b'=' {
            return fail_malformed(
                index,
                format!("the attribute {} has no value", quote(name.whole(text))),
            );
        }
        index = skip(index + 1);
        let delimiter = match text.get(index) {
            Some(&byte @ (b'"' | b'\'')) if index < end => byte,
            _ => {
                return fail_malformed(
                    index,
                    format!(
                        "the value of the attribute {} is not in quotes",
                        quote(name.whole(text))
                    ),
                );
            }
        };
        let from = index + 1;
        let Some(length) = memchr(delimiter, &text[from..end]) else {
            return fail_malformed(index, "an attribute's value has no closing quote");
        };
        into.push(Attribute {
            name,
            value: (from, from + length),
        });
        index = from + length + 1;
    }
}

/// Whether an instruction is an XML declaration.
pub(crate) fn is_declaration(token: &[u8]) -> bool {
    token.starts_with(b"<?xml") && token.get(5).is_some_and(|&byte| is(byte, SPACE))
}

/// Rejects an XML declaration with an encoding other than UTF-8, UTF-16 or ASCII.
pub(crate) fn check_declaration(
    text: &[u8],
    start: usize,
    end: usize,
    attributes: &mut Vec<Attribute>,
) -> Read<()> {
    self::read_attributes(text, start + 5, end - 2, attributes)?;
    for attribute in attributes {
        let value = &text[attribute.value.0..attribute.value.1];
        // The bytes show whether a log is in UTF-16, whatever the declaration says.
        let known = [
            "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be",
        ];
        if attribute.name.whole(text) == b"encoding"
            && !known
                .iter()
                .any(|name| value.eq_ignore_ascii_case(name.as_bytes()))
        {
            let shown = quote(value);
            return fail(
                attribute.name.start,
                ErrorClass::Unsupported,
                format!(
                    "the document is in the encoding {shown}; convert it to UTF-8 first (iconv -f {} -t UTF-8) \
                     and remove the encoding from the declaration",
                    shown.trim_matches('\'')
                ),
            );
        }
    }
    Ok(())
}

/// Appends text; CRLF and CR become LF.
pub(crate) fn append_lines(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(run) = memchr(b'\r', text) {
        out.extend_from_slice(&text[..run]);
        out.push(b'\n');
        text = &text[run + 1..];
        text = text.strip_prefix(b"\n").unwrap_or(text);
    }
    out.extend_from_slice(text);
}

/// Whether a string is an `NCName`: a name without a colon.
pub(crate) fn is_nc_name(text: &[u8]) -> bool {
    let Some(&first) = text.first() else {
        return false;
    };
    if (is(first, LETTER) || first == b'_')
        && text.iter().all(|&byte| is(byte, NAME) || byte == b'.')
    {
        return true;
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    text.chars()
        .enumerate()
        .all(|(index, c)| is_letter(c) || c == '_' || (index > 0 && (is_name(c) || c == '.')))
}

/// Returns the index of the first character that XML does not allow.
pub(crate) fn not_xml(text: &[u8]) -> Option<usize> {
    let mut index = 0;
    // Chunks of 16 bytes, for which the compiler emits one vector comparison per condition.
    for chunk in text.chunks_exact(16) {
        let suspicious_bits = chunk.iter().fold(0, |suspicious_bits, &byte| {
            suspicious_bits | u8::from(byte < 0x20) | u8::from(byte == 0xEF)
        });
        if suspicious_bits != 0 {
            break;
        }
        index += 16;
    }
    loop {
        let found_text = text[index..]
            .iter()
            .position(|&byte| (byte < 0x20 && !is(byte, SPACE)) || byte == 0xEF)?;
        index += found_text;
        if text[index] != 0xEF
            || matches!(text.get(index + 1..index + 3), Some([0xBF, 0xBE | 0xBF]))
        {
            return Some(index);
        }
        index += 1;
    }
}

/// Formats the first character as a code point for an error text.
pub(crate) fn code_point(text: &[u8]) -> String {
    let c = std::str::from_utf8(&text[..text.len().min(4)])
        .or_else(|error| std::str::from_utf8(&text[..error.valid_up_to()]))
        .ok()
        .and_then(|text| text.chars().next())
        .unwrap_or_default();
    format!("U+{:04X}", c as u32)
}

/// Rejects characters that XML does not allow.
pub(crate) fn check_characters(text: &[u8], start: usize, end: usize) -> Read<()> {
    match not_xml(&text[start..end]) {
        None => Ok(()),
        Some(index) => fail_malformed(
            start + index,
            format!(
                "XML cannot represent the character {}",
                code_point(&text[start + index..end])
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    fn tokens(text: &str, piece: usize) -> Vec<(XmlToken, String)> {
        let text = text.as_bytes();
        let (mut start, mut have, mut scan) = (0, 0, TokenScan::default());
        let mut actual = Vec::new();
        while have < text.len() {
            have = (have + piece).min(text.len());
            while start < have {
                let Some((token, end)) = next(&text[..have], start, &mut scan).unwrap() else {
                    break;
                };
                actual.push((token, String::from_utf8(text[start..end].to_vec()).unwrap()));
                start = end;
            }
        }
        assert_eq!(start, text.len());
        actual
    }

    #[test]
    fn pieces_do_not_change_the_tokens() {
        use XmlToken::{CData, Comment, Doctype, Empty, End, Instruction, Start, Text};
        let parts = [
            (Instruction, "<?xml version='1.0'?>"),
            (Comment, "<!-- <a> -- > -->"),
            (
                Doctype,
                "<!DOCTYPE a [<!ENTITY b \"]>\"> <!-- ]>' --> <?pi ]> ?> <!ENTITY c ']>'>]>",
            ),
            (Start, "<a b='>' c=\"'/>\" >"),
            (Text, "x > y ]]"),
            (CData, "<![CDATA[ <b> ]] > ]]>"),
            (Empty, "<c d='/'/>"),
            (End, "</a >"),
        ];
        let whole: String = parts.iter().map(|(_, text)| *text).collect();
        let expected: Vec<_> = parts
            .iter()
            .map(|(token, text)| (*token, (*text).to_owned()))
            .collect();
        for piece in [1, 2, 3, 5, 8, whole.len()] {
            assert_eq!(tokens(&whole, piece), expected, "{piece}");
        }
    }

    #[test]
    fn only_xml_names_and_characters_are_accepted() {
        for good in ["a", "_", "é", "a-b.c", "a\u{b7}", "a1"] {
            assert!(is_nc_name(good.as_bytes()), "{good}");
        }
        for bad in ["", "1", "-a", ".a", "a:b", "a b", "\u{b7}", "a×"] {
            assert!(!is_nc_name(bad.as_bytes()), "{bad}");
        }
        let long = format!("{}\u{ffff}", "\u{fffd}é\t".repeat(20));
        assert_eq!(not_xml(long.as_bytes()), Some(long.len() - 3));
        assert_eq!(not_xml("a\u{7f}\n\r\u{feff}".as_bytes()), None);
        assert_eq!(not_xml(b"a\x0bb"), Some(1));
        assert_eq!(code_point("\u{ffff}x".as_bytes()), "U+FFFF");
        assert_eq!(code_point(b"\x01\x02"), "U+0001");
    }
}
