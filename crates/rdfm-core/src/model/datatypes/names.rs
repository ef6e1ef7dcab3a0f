//! Lexical forms of tokens and names.

/// Whether a string contains no tabs or line breaks, and no spaces except single ones between
/// words.
pub fn is_token(text: &[u8]) -> bool {
    let mut space = true;
    for &byte in text {
        match byte {
            b'\t' | b'\n' | b'\r' => return false,
            b' ' if space => return false,
            _ => space = byte == b' ',
        }
    }
    text.is_empty() || !space
}

/// Whether a string consists of one or more name characters.
pub fn is_nmtoken(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    !text.is_empty() && text.chars().all(is_name_char)
}

/// Whether a string is a name in XML 1.0, fifth edition. `colons` is true if it may contain colons.
pub fn is_name(text: &[u8], colons: bool) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.starts_with(is_name_start)
        && text
            .chars()
            .all(|c| is_name_char(c) && (colons || c != ':'))
        && (colons || !text.starts_with(':'))
}

const fn is_name_start(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

const fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}
