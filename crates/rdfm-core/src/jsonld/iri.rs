//! Whether a text is an IRI that every part of JSON-LD takes as it is.
//!
//! - In: a text. Out: yes or no, as the `oxiri` crate says, mostly without asking it.
//! - Cost: one look a byte; `oxiri` where there is `%`, a bracket, a character beyond ASCII, or an
//!   authority that is no plain host.

/// Bytes that stand anywhere behind a scheme and a plain authority.
const PLAIN: [bool; 256] = plain();

const fn plain() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric()
            || matches!(
                c,
                b'-' | b'.'
                    | b'_'
                    | b'~'
                    | b'!'
                    | b'$'
                    | b'&'
                    | b'\''
                    | b'('
                    | b')'
                    | b'*'
                    | b'+'
                    | b','
                    | b';'
                    | b'='
                    | b':'
                    | b'@'
                    | b'/'
                    | b'?'
            );
        byte += 1;
    }
    table
}

/// Whether a text is an absolute IRI.
pub(super) fn is_iri(text: &[u8]) -> bool {
    simple(text) || std::str::from_utf8(text).is_ok_and(|text| oxiri::Iri::parse(text).is_ok())
}

/// Surely an IRI: `scheme:` and plain bytes, or `scheme://host/` and plain bytes, a fragment perhaps.
fn simple(text: &[u8]) -> bool {
    let Some(colon) = text.iter().position(|&byte| byte == b':') else {
        return false;
    };
    let (scheme, rest) = text.split_at(colon);
    if !scheme.first().is_some_and(u8::is_ascii_alphabetic)
        || !scheme.iter().all(u8::is_ascii_alphanumeric)
    {
        return false;
    }
    let mut rest = rest.get(1..).unwrap_or_default();
    if let Some(behind) = rest.strip_prefix(b"//") {
        let host = behind
            .iter()
            .position(|&byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.'))
            .unwrap_or(behind.len());
        rest = behind.get(host..).unwrap_or_default();
        if !matches!(rest.first(), None | Some(b'/' | b'?' | b'#')) {
            return false;
        }
    }
    let end = rest
        .iter()
        .position(|&byte| !PLAIN[usize::from(byte)])
        .unwrap_or(rest.len());
    match rest.get(end..) {
        Some([b'#', fragment @ ..]) => fragment.iter().all(|&byte| PLAIN[usize::from(byte)]),
        Some([]) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surely_an_iri_is_one() {
        for text in [
            "http://a",
            "http://a/",
            "http://a/b?c#d",
            "urn:x",
            "a:",
            "a:b:c",
            "mailto:x@y",
            "http://a:80/",
            "a b",
            "http://",
            "http:///x",
            "http://a/b c",
            "http://a#b#c",
            "http://a/%41",
            "http://a/%4",
            "1a:b",
            "x",
            "",
            ":",
            "http://[::1]/",
            "http://é/",
            "http://a/é",
            "http://u@h/",
            "a//b:c",
            "a:/b",
            "a:?#",
        ] {
            assert_eq!(
                is_iri(text.as_bytes()),
                oxiri::Iri::parse(text).is_ok(),
                "{text}"
            );
        }
    }
}
