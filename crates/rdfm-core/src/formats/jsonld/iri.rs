//! Checks IRIs and resolves relative references.
//!
//! - In: a string. Out: whether it is an IRI, with the same result as the `oxiri` crate, usually
//!   without calling it.
//! - Gain: 1.1 times (`make bench-gains PATHS=simple-iris`).
//! - Cost: one check per byte. `oxiri` is called for `%`, brackets, non-ASCII characters, and
//!   authorities that are not plain hosts.
//! - [`BaseIri::resolve`] follows RFC 3986, 5.2, exactly, as JSON-LD requires: dot segments of the
//!   base are removed too, which `oxiri` does not do.

use crate::model::chars::{has_scheme, scheme_end};
use crate::model::fast_path::FastPath;

/// Bytes that are allowed anywhere after a scheme and a plain authority.
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

/// Whether a string is an absolute IRI.
pub(super) fn is_iri(text: &[u8]) -> bool {
    FastPath::SimpleIris.is_on() && is_simple_iri(text)
        || std::str::from_utf8(text).is_ok_and(|text| oxiri::Iri::parse(text).is_ok())
}

/// Whether a string has the form of an IRI: a scheme and a colon, and no spaces.
pub(super) fn has_iri_form(text: &[u8]) -> bool {
    has_scheme(text) && !text.iter().any(|&byte| byte <= b' ')
}

/// Whether a string contains a scheme followed by `//`, so that no term of a context can change its
/// meaning.
pub(super) fn has_scheme_and_slashes(text: &[u8]) -> bool {
    let colon = memchr::memchr(b':', text).filter(|&colon| colon > 0);
    colon.is_some_and(|colon| text[colon + 1..].starts_with(b"//"))
}

/// A base IRI.
#[derive(Clone, Debug)]
pub(super) struct BaseIri {
    text: Box<[u8]>,
    /// Start of the path.
    path: usize,
    /// Start of the query or the fragment.
    query: usize,
    /// Start of the fragment.
    fragment: usize,
    has_authority: bool,
}

impl BaseIri {
    /// Creates a base from an absolute IRI.
    pub fn new(text: &[u8]) -> Option<Self> {
        Self::of_form(text).filter(|_| is_iri(text))
    }

    /// Creates a base from a string with the form of an IRI. Resolved references may be invalid.
    pub fn of_form(text: &[u8]) -> Option<Self> {
        let scheme = scheme_end(text)?;
        let parts = IriParts::split(text, scheme + 1);
        Some(Self {
            text: text.into(),
            path: parts.path,
            query: parts.query,
            fragment: parts.fragment,
            has_authority: parts.has_authority,
        })
    }

    /// The text of the base IRI.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Appends the resolved form of a relative reference (RFC 3986, 5.2.2).
    pub fn resolve(&self, reference: &[u8], out: &mut Vec<u8>) {
        let base = &*self.text;
        let parts = IriParts::split(reference, 0);
        let path = &reference[parts.path..parts.query];
        if parts.has_authority {
            let scheme = scheme_end(base).map_or(0, |end| end + 1);
            out.extend_from_slice(&base[..scheme]);
            out.extend_from_slice(&reference[..parts.path]);
            remove_dot_segments(path, out);
        } else if path.is_empty() {
            let end = if parts.query < parts.fragment {
                self.query
            } else {
                self.fragment
            };
            out.extend_from_slice(&base[..end]);
        } else {
            out.extend_from_slice(&base[..self.path]);
            if path.first() == Some(&b'/') {
                remove_dot_segments(path, out);
            } else {
                let own = &base[self.path..self.query];
                let before = match memchr::memrchr(b'/', own) {
                    Some(slash) => &own[..=slash],
                    None if self.has_authority => b"/",
                    None => b"",
                };
                remove_dot_segments(&[before, path].concat(), out);
            }
        }
        out.extend_from_slice(&reference[parts.query..]);
    }
}

/// The starts of the parts of a reference.
struct IriParts {
    path: usize,
    query: usize,
    fragment: usize,
    has_authority: bool,
}

impl IriParts {
    /// Finds the parts of a string whose scheme ends before `start`.
    fn split(text: &[u8], start: usize) -> Self {
        let find = |from: usize, ends: &[u8]| {
            let rest = &text[from..];
            let index = rest.iter().position(|byte| ends.contains(byte));
            index.map_or(text.len(), |index| from + index)
        };
        let has_authority = text[start..].starts_with(b"//");
        let path = if has_authority {
            find(start + 2, b"/?#")
        } else {
            start
        };
        let query = find(path, b"?#");
        Self {
            path,
            query,
            fragment: find(query, b"#"),
            has_authority,
        }
    }
}

/// Appends a path without its dot segments (RFC 3986, 5.2.4).
fn remove_dot_segments(mut path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let parent = |out: &mut Vec<u8>| {
        let end = memchr::memrchr(b'/', &out[start..]).unwrap_or(0);
        out.truncate(start + end);
    };
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix(b"../") {
            path = rest;
        } else if let Some(rest) = path.strip_prefix(b"./") {
            path = rest;
        } else if path.starts_with(b"/./") {
            path = &path[2..];
        } else if path == b"/." {
            path = b"/";
        } else if path.starts_with(b"/../") {
            path = &path[3..];
            parent(out);
        } else if path == b"/.." {
            path = b"/";
            parent(out);
        } else if matches!(path, b"." | b"..") {
            path = b"";
        } else {
            let first = usize::from(path[0] == b'/');
            let end = memchr::memchr(b'/', &path[first..]).map_or(path.len(), |end| first + end);
            out.extend_from_slice(&path[..end]);
            path = &path[end..];
        }
    }
}

/// Whether a string contains only bytes that are allowed anywhere after an authority.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|&byte| PLAIN[usize::from(byte)])
}

/// Whether a string followed by plain bytes is always an IRI: its authority, if any, must be
/// complete. A compact IRI with such a prefix and a plain suffix needs no check.
///
/// Gain: 1.07 times (`make bench-gains PATHS=sure-iris`).
pub(super) fn accepts_plain(text: &[u8]) -> bool {
    let Some((last, rest)) = text.split_last() else {
        return false;
    };
    let has_ended = match last {
        b'#' | b'?' => true,
        b'/' => memchr::memmem::find(rest, b"://").is_some_and(|index| index + 3 < rest.len()),
        _ => false,
    };
    has_ended && is_iri(text)
}

/// Whether a string is certainly an IRI: `scheme:` or `scheme://host/` followed by plain bytes and
/// an optional fragment.
fn is_simple_iri(text: &[u8]) -> bool {
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
    if let Some(after) = rest.strip_prefix(b"//") {
        let host = after
            .iter()
            .position(|&byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.'))
            .unwrap_or(after.len());
        rest = after.get(host..).unwrap_or_default();
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
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    /// The examples of RFC 3986, 5.4, and bases with dot segments.
    #[test]
    fn references_are_resolved_as_in_rfc_3986() {
        for (base, reference, expected) in [
            ("http://a/b/c/d;p?q", "g:h", "http://a/b/c/g:h"),
            ("http://a/b/c/d;p?q", "g", "http://a/b/c/g"),
            ("http://a/b/c/d;p?q", "./g/", "http://a/b/c/g/"),
            ("http://a/b/c/d;p?q", "/g", "http://a/g"),
            ("http://a/b/c/d;p?q", "//g", "http://g"),
            ("http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"),
            ("http://a/b/c/d;p?q", "g?y#s", "http://a/b/c/g?y#s"),
            ("http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q#s"),
            ("http://a/b/c/d;p?q", ";x", "http://a/b/c/;x"),
            ("http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"),
            ("http://a/b/c/d;p?q", ".", "http://a/b/c/"),
            ("http://a/b/c/d;p?q", "../g", "http://a/b/g"),
            ("http://a/b/c/d;p?q", "../..", "http://a/"),
            ("http://a/b/c/d;p?q", "../../../g", "http://a/g"),
            ("http://a/b/c/d;p?q", "/./g", "http://a/g"),
            ("http://a/b/c/d;p?q", "/../g", "http://a/g"),
            ("http://a/b/c/d;p?q", "g.", "http://a/b/c/g."),
            ("http://a/b/c/d;p?q", "..g", "http://a/b/c/..g"),
            ("http://a/b/c/d;p?q", "g;x=1/../y", "http://a/b/c/y"),
            ("http://a/b/c/d;p?q", "g#s/../x", "http://a/b/c/g#s/../x"),
            ("http://a/bb/ccc/../d;p?q", "g", "http://a/bb/g"),
            (
                "http://a/bb/ccc/../d;p?q",
                "#s",
                "http://a/bb/ccc/../d;p?q#s",
            ),
            ("http://a", "g", "http://a/g"),
            ("urn:x:y", "g", "urn:g"),
            ("file:///a/bb", "../..", "file:///"),
        ] {
            let mut out = Vec::new();
            BaseIri::new(base.as_bytes())
                .unwrap_or_else(|| panic!("{base}"))
                .resolve(reference.as_bytes(), &mut out);
            assert_eq!(
                String::from_utf8_lossy(&out),
                expected,
                "{base} {reference}"
            );
        }
    }

    #[test]
    fn iri_checks_agree_with_oxiri() {
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
            let expected = oxiri::Iri::parse(text).is_ok();
            assert_eq!(is_iri(text.as_bytes()), expected, "{text}");
        }
    }
}
