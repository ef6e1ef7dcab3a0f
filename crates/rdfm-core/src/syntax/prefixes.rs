//! Prefixes for writing: declares prefixes and abbreviates IRIs with them.
//!
//! - In: declarations in log order, with later ones overriding earlier ones; IRIs to abbreviate.
//! - Out: the name and the local part, for the longest namespace that leaves a local part without
//!   escapes.
//! - Cost: a lookup per IRI, and at most [`MAX_STEPS`] searches in a sorted map.
//! - Law: for every reader, the namespace followed by the local part is byte for byte the IRI.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use rustc_hash::FxHashMap;

use crate::model::chars::{self, NAME};
use crate::model::fast_path::FastPath;

/// Maximum number of searches per IRI. More would be needed only with thousands of namespaces that
/// share long beginnings with the IRI. Such an IRI is written in full.
const MAX_STEPS: usize = 16;

/// Result of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclareResult {
    /// The prefix cannot be written: the name is not a `PN_PREFIX`, or the IRI is not an absolute
    /// IRI that every reader leaves unchanged.
    Refused,
    /// The prefix is already in force.
    Known,
    /// The prefix is new and must be written.
    New,
}

/// The prefixes in force.
#[derive(Clone, Default)]
pub struct Prefixes {
    by_name: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Keyed by the IRI up to its last `/` or `#`, then by the rest.
    by_iri: FxHashMap<Box<[u8]>, Tails>,
}

/// Names of the namespaces that share the part up to the last `/` or `#`, by the rest of their
/// IRIs.
type Tails = BTreeMap<Box<[u8]>, BTreeSet<Box<[u8]>>>;

impl Prefixes {
    /// Declares a prefix.
    pub fn declare(&mut self, name: &[u8], iri: &[u8]) -> DeclareResult {
        let mut reused = None;
        if let Some(known) = self.by_name.get_mut(name) {
            if **known == *iri {
                return DeclareResult::Known;
            }
            if !is_left_unchanged(iri) {
                return DeclareResult::Refused;
            }
            let old = std::mem::replace(known, iri.into());
            reused = self.remove(name, &old);
        } else {
            if !is_prefix_name(name) || !is_left_unchanged(iri) {
                return DeclareResult::Refused;
            }
            self.by_name.insert(name.into(), iri.into());
        }
        let (head, tail) = iri.split_at(head_of(iri).len());
        self.by_iri
            .entry(head.into())
            .or_default()
            .entry(tail.into())
            .or_default()
            .insert(reused.unwrap_or_else(|| name.into()));
        DeclareResult::New
    }

    /// Returns the IRI of a name.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.by_name.get(name).map(|iri| &**iri)
    }

    /// Removes a name whose new IRI cannot be written.
    pub fn forget(&mut self, name: &[u8]) {
        if let Some(iri) = self.by_name.remove(name) {
            self.remove(name, &iri);
        }
    }

    /// Removes a name of an IRI, and returns the stored name.
    fn remove(&mut self, name: &[u8], iri: &[u8]) -> Option<Box<[u8]>> {
        let (head, tail) = iri.split_at(head_of(iri).len());
        let tails = self.by_iri.get_mut(head)?;
        let names = tails.get_mut(tail)?;
        let removed = names.take(name);
        if names.is_empty() {
            tails.remove(tail);
        }
        if tails.is_empty() {
            self.by_iri.remove(head);
        }
        removed
    }

    /// Returns the name and the local part of an abbreviated IRI.
    pub fn split<'a>(&self, iri: &'a [u8]) -> Option<(&[u8], &'a [u8])> {
        self.split_after(head_of(iri), iri)
    }

    /// Like [`split`](Self::split), but the caller passes the [head](head_of) of the IRI.
    pub fn split_after<'a>(&self, head: &[u8], iri: &'a [u8]) -> Option<(&[u8], &'a [u8])> {
        // A local part contains neither `/` nor `#`, so the namespace has the same head as the IRI.
        let rest = iri.get(head.len()..)?;
        let tails = self.by_iri.get(head)?;
        if tails.len() == 1 && FastPath::OneNamespace.is_on() {
            // Common case: one namespace, which usually ends with the head.
            // Gain: 1.06 times (`make bench-gains PATHS=one-namespace`).
            let (tail, names) = tails.first_key_value()?;
            // Avoids comparing empty boxes: their dangling pointers make memcmp slow.
            let local = if tail.is_empty() {
                rest
            } else {
                rest.strip_prefix(&**tail)?
            };
            return names
                .first()
                .filter(|_| is_plain_local(local))
                .map(|name| (&**name, local));
        }
        let mut bound = rest;
        for _ in 0..MAX_STEPS {
            let below = (Bound::Unbounded, Bound::Included(bound));
            let (tail, names) = tails.range::<[u8], _>(below).next_back()?;
            let common = common_prefix(tail, rest);
            let mut next = common;
            if common == tail.len() {
                let local = &rest[common..];
                if is_plain_local(local) {
                    return names.first().map(|name| (&**name, local));
                }
                next = common.checked_sub(1)?;
            }
            bound = &rest[..next];
        }
        None
    }
}

/// The beginning of an IRI up to and including its last `/` or `#`. Only the namespaces with the
/// same beginning may abbreviate the IRI.
pub fn head_of(iri: &[u8]) -> &[u8] {
    &iri[..memchr::memrchr2(b'/', b'#', iri).map_or(0, |index| index + 1)]
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// Whether a name is valid before the colon: empty, or a `PN_PREFIX`.
fn is_prefix_name(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else {
        return false;
    };
    let Some(first) = name.chars().next() else {
        return true;
    };
    chars::is_letter(first)
        && !name.ends_with('.')
        && name.chars().all(|c| chars::is_name(c) || c == '.')
}

/// Whether readers that resolve IRIs leave this one unchanged: it must be absolute and valid, and
/// have no dot segments.
fn is_left_unchanged(iri: &[u8]) -> bool {
    if is_simple_http(iri) {
        return true;
    }
    std::str::from_utf8(iri).is_ok_and(|text| {
        chars::is_iri_text(iri)
            && oxiri::Iri::parse(text).is_ok()
            && !text
                .split(['/', '?', '#'])
                .any(|segment| segment == "." || segment == "..")
    })
}

/// Whether an IRI begins with `http://` or `https://` and the rest has only unreserved characters,
/// slashes and a fragment, without segments that begin with a dot. Such IRIs are valid.
fn is_simple_http(iri: &[u8]) -> bool {
    let https = || iri.strip_prefix(b"https://");
    let Some(rest) = iri.strip_prefix(b"http://").or_else(https) else {
        return false;
    };
    let simple = |&byte: &u8| chars::is(byte, NAME) || matches!(byte, b'.' | b'/' | b'#' | b'~');
    let begins_segment = |index: usize| index == 0 || matches!(rest[index - 1], b'/' | b'#');
    rest.first().is_some_and(u8::is_ascii_alphanumeric)
        && rest.iter().all(simple)
        && !memchr::memchr_iter(b'.', rest).any(begins_segment)
        && memchr::memchr_iter(b'#', rest).nth(1).is_none()
}

/// Whether a string is a `PN_LOCAL` without backslashes, or empty.
fn is_plain_local(text: &[u8]) -> bool {
    let (Some(&first), Some(&last)) = (text.first(), text.last()) else {
        return true;
    };
    if first == b'-' || first == b'.' || last == b'.' {
        return false;
    }
    let simple = |byte: u8| chars::is(byte, NAME) || byte == b'.' || byte == b':';
    if text.iter().all(|&byte| simple(byte)) {
        return true;
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let mut rest = text.chars();
    let mut begun = false;
    while let Some(c) = rest.next() {
        let allowed = match c {
            '%' => (0..2).all(|_| rest.next().is_some_and(|c| c.is_ascii_hexdigit())),
            _ if c.is_ascii() => simple(c as u8),
            _ if begun => chars::is_name(c),
            _ => chars::is_letter(c),
        };
        if !allowed {
            return false;
        }
        begun = true;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(prefixes: &Prefixes, iri: &str) -> String {
        match prefixes.split(iri.as_bytes()) {
            Some((name, local)) => format!(
                "{}:{}",
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(local)
            ),
            None => format!("<{iri}>"),
        }
    }

    fn declared(list: &[(&str, &str)]) -> Prefixes {
        let mut prefixes = Prefixes::default();
        for (name, iri) in list {
            assert_eq!(
                prefixes.declare(name.as_bytes(), iri.as_bytes()),
                DeclareResult::New,
                "{name}"
            );
        }
        prefixes
    }

    #[test]
    fn the_longest_namespace_that_fits_wins() {
        let prefixes = declared(&[
            ("ex", "http://ex/"),
            ("bar", "http://ex/bar/"),
            ("b", "http://ex/b"),
            ("go", "http://ex/GO_"),
            ("hash", "http://ex/x#"),
            ("", "urn:"),
        ]);
        for (iri, expected) in [
            ("http://ex/foo", "ex:foo"),
            ("http://ex/bar/1", "bar:1"),
            ("http://ex/bar", "b:ar"),
            ("http://ex/bar/", "bar:"),
            ("http://ex/bar/a/b", "<http://ex/bar/a/b>"),
            ("http://ex/GO_0001", "go:0001"),
            ("http://ex/GO_-1", "ex:GO_-1"),
            ("http://ex/GO_.", "<http://ex/GO_.>"),
            ("http://ex/x#y", "hash:y"),
            ("http://ex/x", "ex:x"),
            ("http://ex/a.b", "ex:a.b"),
            ("http://ex/a.", "<http://ex/a.>"),
            ("http://ex/.a", "<http://ex/.a>"),
            ("http://ex/-a", "<http://ex/-a>"),
            ("http://ex/a%4b%C3", "ex:a%4b%C3"),
            ("http://ex/%4b", "ex:%4b"),
            ("http://ex/a%4", "<http://ex/a%4>"),
            ("http://ex/a%4g", "<http://ex/a%4g>"),
            ("http://ex/a%", "<http://ex/a%>"),
            ("http://ex/%é4", "<http://ex/%é4>"),
            ("http://ex/a,b", "<http://ex/a,b>"),
            ("http://ex/é", "ex:é"),
            ("http://ex/\u{b7}", "<http://ex/\u{b7}>"),
            ("http://ex/a\u{b7}", "ex:a\u{b7}"),
            ("http://ex/a×", "<http://ex/a×>"),
            ("http://e", "<http://e>"),
            ("urn:a:b", ":a:b"),
            ("zzz", "<zzz>"),
            ("", "<>"),
        ] {
            assert_eq!(render(&prefixes, iri), expected);
        }
    }

    #[test]
    fn a_redeclared_name_no_longer_means_the_old_iri() {
        let mut prefixes = declared(&[("a", "http://a/"), ("b", "http://a/")]);
        assert_eq!(render(&prefixes, "http://a/x"), "a:x");
        assert_eq!(prefixes.declare(b"a", b"http://b/"), DeclareResult::New);
        assert_eq!(prefixes.declare(b"a", b"http://b/"), DeclareResult::Known);
        assert_eq!(render(&prefixes, "http://a/x"), "b:x");
        assert_eq!(prefixes.declare(b"b", b"http://b/"), DeclareResult::New);
        assert_eq!(render(&prefixes, "http://a/x"), "<http://a/x>");
    }

    #[test]
    fn iris_that_readers_might_change_are_rejected() {
        let mut prefixes = Prefixes::default();
        for (name, iri) in [
            ("a b", "http://ex/"),
            ("a.", "http://ex/"),
            ("1", "http://ex/"),
            ("_", "http://ex/"),
            ("a", "relative/"),
            ("a", ""),
            ("a", "http://ex/> <x"),
            ("a", "http://ex/a/../"),
            ("a", "http://ex/."),
            ("a", "http://ex/%zz"),
        ] {
            assert_eq!(
                prefixes.declare(name.as_bytes(), iri.as_bytes()),
                DeclareResult::Refused,
                "{name} {iri}"
            );
        }
    }

    #[test]
    fn simple_iris_are_left_unchanged() {
        let mut simple = 0;
        for number in 0..7_usize.pow(6) {
            let mut iri = b"http://".to_vec();
            let mut digits = number;
            while digits > 0 {
                iri.push(b"a1./#~-"[digits % 7]);
                digits /= 7;
            }
            if is_simple_http(&iri) {
                simple += 1;
                let text = std::str::from_utf8(&iri).unwrap_or_default();
                assert!(oxiri::Iri::parse(text).is_ok(), "{text}");
                let mut segments = text.split(['/', '#']);
                assert!(!segments.any(|part| part == "." || part == ".."), "{text}");
            }
        }
        assert!(simple > 10_000, "{simple}");
    }
}
