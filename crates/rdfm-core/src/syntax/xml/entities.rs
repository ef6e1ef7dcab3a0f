//! Entities: the replacement of `&name;` and `&#1;`, and the declarations in a DOCTYPE.
//!
//! - In: a DOCTYPE; text and attribute values as written.
//! - Out: the same text with references replaced and line breaks converted to LF.
//! - Cost: linear in the output, whose size is checked before it is produced.
//! - Law: an entity is expanded when it is declared, using only earlier declarations, so there are
//!   no cycles and no recursion. External entities are never loaded.

use memchr::{memchr, memchr2, memmem};
use rustc_hash::FxHashMap;

use crate::model::chars::{SPACE, is};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::syntax::xml::{Read, check_characters, fail, fail_malformed, is_nc_name};

/// The entities of a document.
#[derive(Default)]
pub(crate) struct Entities {
    /// Replacement text by name; `None` for an external entity.
    texts: FxHashMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: u64,
}

/// The context of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextContext {
    Content,
    /// An attribute value, in which white space becomes spaces.
    Attribute,
    /// A replacement text. It is parsed again at the reference, so `&` and `<` written as numeric
    /// references become markup.
    Entity,
}

impl Entities {
    /// Removes all entities, for the next document.
    pub fn clear(&mut self) {
        if !self.texts.is_empty() {
            self.texts.clear();
            self.bytes = 0;
        }
    }

    /// Number of bytes that the entities of the document occupy in memory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a string with its references replaced. `out` may grow to `max_bytes` bytes. Returns
    /// the number of bytes that came from entities.
    pub fn expand(
        &self,
        text: &[u8],
        range: (usize, usize),
        context: TextContext,
        max_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Read<usize> {
        let (mut index, end) = range;
        check_characters(text, index, end)?;
        let room = |index: usize, out: &[u8], more: usize| {
            if (out.len() + more) as u64 > max_bytes {
                return too_long(index, max_bytes);
            }
            Ok(())
        };
        let mut repeated = 0;
        while index < end {
            let special = text[index..end]
                .iter()
                .position(|&byte| {
                    byte == b'&'
                        || byte == b'\r'
                        || (context == TextContext::Attribute && matches!(byte, b'\n' | b'\t'))
                })
                .unwrap_or(end - index);
            room(index, out, special + 1)?;
            out.extend_from_slice(&text[index..index + special]);
            index += special;
            if index == end {
                break;
            }
            if text[index] != b'&' {
                // CRLF and a lone CR are line breaks, like LF.
                let crlf = text[index] == b'\r' && index + 1 < end && text[index + 1] == b'\n';
                out.push(if context == TextContext::Attribute {
                    b' '
                } else {
                    b'\n'
                });
                index += 1 + usize::from(crlf);
                continue;
            }
            let Some(length) = memchr(b';', &text[index..end]) else {
                return fail_malformed(index, "'&' does not begin an entity; write it as &amp;");
            };
            let mut name = &text[index + 1..index + length];
            let mut next = index + length + 1;
            if context == TextContext::Entity {
                match name.strip_prefix(b"#").and_then(character) {
                    Some('<') => return markup(index),
                    Some('&') => {
                        let Some(length) = memchr(b';', &text[next..end]) else {
                            return fail_malformed(
                                index,
                                "'&' does not begin an entity; write it as &amp;",
                            );
                        };
                        name = &text[next..next + length];
                        next += length + 1;
                    }
                    _ => {}
                }
            }
            if let Some(number) = name.strip_prefix(b"#") {
                let Some(c) = character(number) else {
                    return fail_malformed(
                        index,
                        format!("{} is not an XML character", quote(&text[index..next])),
                    );
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else if let Some(c) = find_predefined(name) {
                out.push(c);
            } else {
                let text = self.text(name, index)?;
                room(index, out, text.len())?;
                let from = out.len();
                out.extend_from_slice(text);
                if context == TextContext::Attribute {
                    for byte in &mut out[from..] {
                        *byte = if is(*byte, SPACE) { b' ' } else { *byte };
                    }
                }
                repeated += text.len();
            }
            index = next;
        }
        Ok(repeated)
    }

    fn text(&self, name: &[u8], index: usize) -> Read<&[u8]> {
        match self.texts.get(name) {
            Some(Some(text)) => Ok(text),
            Some(None) => fail(
                index,
                ErrorClass::Unsupported,
                format!(
                    "the entity {} is external, and external entities are never loaded; write its text into the document",
                    quote(name)
                ),
            ),
            None if is_nc_name(name) => fail_malformed(
                index,
                format!(
                    "the entity {} is not declared; declare it in a DOCTYPE, or write '&' as &amp;",
                    quote(name)
                ),
            ),
            None => fail_malformed(index, "'&' does not begin an entity; write it as &amp;"),
        }
    }

    /// Reads the declarations of the DOCTYPE between `start` and `end`.
    pub fn declare(&mut self, text: &[u8], start: usize, end: usize, max_bytes: u64) -> Read<()> {
        let Some(open) = bracket(&text[start..end]) else {
            return Ok(()); // the DOCTYPE names only an external subset
        };
        let mut index = start + open + 1;
        loop {
            while index < end && is(text[index], SPACE) {
                index += 1;
            }
            let rest = &text[index..end];
            index = if rest.first() == Some(&b']') {
                return Ok(());
            } else if rest.starts_with(b"<!--") {
                index + 4 + find(text, index + 4, end, b"-->")?
            } else if rest.starts_with(b"<?") {
                index + 2 + find(text, index + 2, end, b"?>")?
            } else if rest.starts_with(b"<!ENTITY") {
                self.read_entity(text, index, end, max_bytes)?
            } else if rest.starts_with(b"<!") {
                skip_declaration(text, index, end)?
            } else {
                return fail(
                    index,
                    ErrorClass::Unsupported,
                    format!(
                        "expected a declaration or ']' in the DOCTYPE, found {}; parameter entities are \
                         not supported",
                        quote(rest)
                    ),
                );
            };
        }
    }

    /// Reads `<!ENTITY …>`. The first declaration of a name applies.
    fn read_entity(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        max_bytes: u64,
    ) -> Read<usize> {
        let skip = |mut index: usize| {
            while index < end && is(text[index], SPACE) {
                index += 1;
            }
            index
        };
        let mut index = skip(start + 8);
        if index > start + 8 && text[index] == b'%' {
            return skip_declaration(text, start, end); // parameter entities are not supported
        }
        let from = index;
        while index < end && !is(text[index], SPACE) && !matches!(text[index], b'>' | b'"' | b'\'')
        {
            index += 1;
        }
        let name = &text[from..index];
        if from == start + 8 || !is_nc_name(name) {
            return fail_malformed(
                from,
                format!(
                    "expected an entity's name, found {}",
                    quote(&text[from..end])
                ),
            );
        }
        index = skip(index);
        let delimiter = text[index];
        if !matches!(delimiter, b'"' | b'\'') {
            if !text[index..end].starts_with(b"SYSTEM") && !text[index..end].starts_with(b"PUBLIC")
            {
                return fail_malformed(
                    index,
                    format!("the entity {} has no text in quotes", quote(name)),
                );
            }
            self.texts.entry(name.into()).or_insert(None);
            return skip_declaration(text, start, end);
        }
        let Some(length) = memchr(delimiter, &text[index + 1..end]) else {
            return fail_malformed(index, "an entity's text has no closing quote");
        };
        let range = (index + 1, index + 1 + length);
        if !self.texts.contains_key(name) {
            let mut value = Vec::new();
            let room = max_bytes.saturating_sub(self.bytes);
            self.expand(text, range, TextContext::Entity, room, &mut value)
                .map_err(|mut error| {
                    if error.class == ErrorClass::Limit {
                        error.index = start;
                        let text = format!(
                            "the entity {} expands to more than {max_bytes} bytes, together with those before it",
                            quote(name)
                        );
                        error.reason = Reason::limit(text, "max_message_bytes");
                    }
                    error
                })?;
            if memchr(b'<', &text[range.0..range.1]).is_some() {
                return markup(start);
            }
            self.bytes += (value.len() + name.len() + 64) as u64;
            self.texts.insert(name.into(), Some(value.into()));
        }
        index = skip(range.1 + 1);
        if text[index] != b'>' {
            return fail_malformed(
                index,
                format!("expected '>' after the entity {}", quote(name)),
            );
        }
        Ok(index + 1)
    }
}

#[cold]
fn markup<T>(index: usize) -> Read<T> {
    fail(
        index,
        ErrorClass::Unsupported,
        "an entity contains markup; only text entities are supported",
    )
}

#[cold]
fn too_long<T>(index: usize, max_bytes: u64) -> Read<T> {
    fail(
        index,
        ErrorClass::Limit,
        Reason::limit(
            format!("a string is longer than {max_bytes} bytes after its entities are expanded"),
            "max_message_bytes",
        ),
    )
}

/// Returns the index of the `[` of a DOCTYPE, outside quotes.
fn bracket(token: &[u8]) -> Option<usize> {
    let mut index = 0;
    loop {
        let bracket = token[index..]
            .iter()
            .position(|&byte| matches!(byte, b'[' | b'"' | b'\''))?;
        index += bracket;
        if token[index] == b'[' {
            return Some(index);
        }
        index += 2 + memchr(token[index], &token[index + 1..])?;
    }
}

/// Returns the number of bytes from `index` to the end of the next occurrence of `pattern`.
fn find(text: &[u8], index: usize, end: usize, pattern: &[u8]) -> Read<usize> {
    match text
        .get(index..end)
        .and_then(|rest| memmem::find(rest, pattern))
    {
        Some(position) => Ok(position + pattern.len()),
        None => fail_malformed(index, "the DOCTYPE ends too early"),
    }
}

/// Returns the end of a declaration that does not affect text.
fn skip_declaration(text: &[u8], start: usize, end: usize) -> Read<usize> {
    let mut index = start;
    while let Some(quote) = text[index..end]
        .iter()
        .position(|&byte| matches!(byte, b'>' | b'"' | b'\''))
    {
        index += quote;
        if text[index] == b'>' {
            return Ok(index + 1);
        }
        match memchr2(text[index], text[index], &text[index + 1..end]) {
            Some(length) => index += length + 2,
            None => break,
        }
    }
    fail_malformed(start, "a declaration in the DOCTYPE has no '>'")
}

/// Returns the character of a predefined entity, or `None` for another name.
fn find_predefined(name: &[u8]) -> Option<u8> {
    match name {
        b"amp" => Some(b'&'),
        b"lt" => Some(b'<'),
        b"gt" => Some(b'>'),
        b"quot" => Some(b'"'),
        b"apos" => Some(b'\''),
        _ => None,
    }
}

/// Returns the character for a reference that does not need a DOCTYPE.
pub(crate) fn reference(name: &[u8]) -> Option<char> {
    match name.strip_prefix(b"#") {
        Some(number) => character(number),
        None => find_predefined(name).map(char::from),
    }
}

/// Returns the character of `&#1;` or `&#x1;`, if XML allows it.
fn character(number: &[u8]) -> Option<char> {
    let (digits, radix) = match number.strip_prefix(b"x") {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None; // a sign is not allowed
    }
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    let c = char::from_u32(code)?;
    (matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}')))
        .then_some(c)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;
    use crate::model::remedy::Remedy;

    fn declared(doctype: &str) -> Result<Entities, Reason> {
        let mut entities = Entities::default();
        let text = doctype.as_bytes();
        match entities.declare(text, 0, text.len(), 1000) {
            Ok(()) => Ok(entities),
            Err(error) => Err(error.reason),
        }
    }

    fn expanded(entities: &Entities, text: &str, context: TextContext) -> Result<String, Reason> {
        let mut out = Vec::new();
        entities
            .expand(text.as_bytes(), (0, text.len()), context, 1000, &mut out)
            .map_err(|error| error.reason)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn references_are_replaced_and_line_ends_normalized() {
        let entities =
            declared("<!DOCTYPE a [<!ENTITY x 'X&#38;#38;'>\n<!ENTITY % p \"q\"><!-- ' --><!ENTITY y \"&x;y\">]>")
                .unwrap();
        let text = "a\r\nb\rc\td &amp;&lt;&gt;&quot;&apos;&#65;&#x42;&x;&y;&#10;";
        assert_eq!(
            expanded(&entities, text, TextContext::Content).unwrap(),
            "a\nb\nc\td &<>\"'ABX&X&y\n"
        );
        assert_eq!(
            expanded(&entities, "a\r\nb\tc&#9;", TextContext::Attribute).unwrap(),
            "a b c\t"
        );
        let again = "<!ENTITY b '&#38;amp; &#38;#60;&amp;&lt;&#62;\n&#x9;'><!ENTITY c '&#38;b;'>";
        let entities = declared(&format!("<!DOCTYPE a [{again}]>")).unwrap();
        for (place, text) in [
            (TextContext::Content, "& <&<>\n\t"),
            (TextContext::Attribute, "& <&<>  "),
        ] {
            assert_eq!(expanded(&entities, "&b;", place).unwrap(), text);
            assert_eq!(expanded(&entities, "&c;", place).unwrap(), text);
        }
        for (text, part) in [
            ("a & b", "&amp;"),
            ("&z;", "'z' is not declared"),
            ("&#0;", "is not an XML character"),
            ("&#xFFFF;", "is not an XML character"),
            ("&#+65;", "is not an XML character"),
            ("a\x01", "U+0001"),
        ] {
            let error = expanded(&entities, text, TextContext::Content).unwrap_err();
            assert!(error.text().contains(part), "{error}");
        }
    }

    #[test]
    fn entity_expansion_is_limited_and_external_entities_are_rejected() {
        let level = |level: usize| {
            let ten = format!("&l{};", level - 1).repeat(10);
            format!("<!ENTITY l{level} '{ten}'>")
        };
        let bomb: String = (1..10).map(level).collect();
        let bomb = declared(&format!("<!DOCTYPE a [<!ENTITY l0 'lol'>{bomb}]>"));
        let error = bomb.err().unwrap();
        assert_eq!(error.remedies(), [Remedy::limit("max_message_bytes")]);
        assert!(
            error
                .text()
                .contains("'l3' expands to more than 1000 bytes"),
            "{error}"
        );
        let outside =
            declared("<!DOCTYPE a SYSTEM '[' [<!ENTITY x SYSTEM 'file:///x]'>]>").unwrap();
        let error = expanded(&outside, "&x;", TextContext::Content).unwrap_err();
        assert!(error.text().contains("never loaded"), "{error}");
        for (doctype, part) in [
            ("<!DOCTYPE a [<!ENTITY a '&a;'>]>", "'a' is not declared"),
            ("<!DOCTYPE a [<!ENTITY a '<b/>'>]>", "contains markup"),
            ("<!DOCTYPE a [<!ENTITY a '&#x3C;b/>'>]>", "contains markup"),
            (
                "<!DOCTYPE a [<!ENTITY a 'a&#38;b'>]>",
                "does not begin an entity",
            ),
            ("<!DOCTYPE a [%p;]>", "parameter entities"),
        ] {
            let error = declared(doctype).err().unwrap();
            assert!(error.text().contains(part), "{error}");
        }
    }
}
