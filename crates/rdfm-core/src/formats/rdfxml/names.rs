//! Conversion of an IRI to an XML name: a namespace and a local part.
//!
//! - In: the IRI of a predicate.
//! - Out: the start of its local part, if it has one.
//! - Law: the concatenation of namespace and local part is the IRI, byte for byte. The name has no
//!   other meaning in RDF/XML.

use super::fourth_edition;
use super::vocabulary::{RDF, is_syntax};
use crate::model::chars::{self, NAME, is};
use crate::syntax::xml::{XML, XMLNS, is_nc_name};

/// Edition of XML 1.0 that defines names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edition {
    Fourth,
    Fifth,
}

/// Returns the start of an IRI's local part: its longest suffix that is a name in the fourth
/// edition of XML 1.0 or, if there is none, in the fifth edition. Returns `None` if there is no
/// such name either, or if RDF/XML gives the name another meaning.
pub(super) fn split(iri: &[u8]) -> Option<(usize, Edition)> {
    if let Some(index) = split_if(iri, fourth_edition::is_letter, fourth_edition::is_name) {
        return Some((index, Edition::Fourth));
    }
    let index = split_if(iri, chars::is_letter, chars::is_name)?;
    Some((index, Edition::Fifth))
}

/// Returns the start of the longest name at the end of an IRI, given the characters beyond ASCII
/// that names contain.
fn split_if(
    iri: &[u8],
    is_letter: impl Fn(char) -> bool,
    is_name: impl Fn(char) -> bool,
) -> Option<usize> {
    let begins = iri
        .iter()
        .rposition(|&byte| !is(byte, NAME) && byte != b'.' && byte < 0x80)
        .map_or(0, |index| index + 1);
    let text = std::str::from_utf8(&iri[begins..]).ok()?;
    // The first character that can begin a name, after the last one that is not allowed in names.
    let mut start = None;
    for (index, c) in text.char_indices() {
        let (letter, name) = if c.is_ascii() {
            (chars::is_letter(c), chars::is_name(c) || c == '.')
        } else {
            (is_letter(c), is_name(c))
        };
        if !name {
            start = None;
        } else if start.is_none() && (letter || c == '_') {
            start = Some(index);
        }
    }
    let index = begins + start?;
    let namespace = &iri[..index];
    let is_rejected = namespace.is_empty()
        || namespace == XML
        || namespace == XMLNS
        || (iri.starts_with(RDF) && is_syntax(&iri[RDF.len()..]));
    (!is_rejected).then_some(index)
}

/// Whether a namespace declaration can be written unchanged and means the same to every reader.
pub(super) fn is_declarable(name: &[u8], iri: &[u8]) -> bool {
    (name.is_empty() || is_nc_name(name))
        && !name
            .get(..3)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"xml"))
        && (name != b"rdf" || iri == RDF)
        && !iri.is_empty()
        && iri != XML
        && iri != XMLNS
        && chars::is_iri_text(iri)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IRIs with a name only in the fifth edition.
    const RECENT: [&str; 1] = ["http://ex/a\u{1f600}"];

    #[test]
    fn the_local_part_is_the_longest_name_at_the_end_of_the_iri() {
        for (iri, local) in [
            ("http://ex/a", Some("a")),
            ("http://ex#a-1.b", Some("a-1.b")),
            ("http://ex/GO_1", Some("GO_1")),
            ("http://ex/1a", Some("a")),
            ("http://ex/a%20b", Some("b")),
            ("http://ex/a%2", None),
            ("http://ex/", None),
            ("http://ex/123", None),
            ("http://ex/é", Some("é")),
            ("http://ex/\u{1f600}a", Some("a")),
            ("http://ex/a\u{1f600}b", Some("b")),
            ("http://ex/a\u{1f600}", Some("a\u{1f600}")),
            ("http://ex/\u{0939}\u{093f}", Some("\u{0939}\u{093f}")),
            ("http://ex/×é", Some("é")),
            ("http://ex/a×1", None),
            ("urn:a:b", Some("b")),
            ("a", None),
            ("", None),
            (
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
                Some("type"),
            ),
            ("http://www.w3.org/1999/02/22-rdf-syntax-ns#li", None),
            (
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#Description",
                None,
            ),
            ("http://www.w3.org/1999/02/22-rdf-syntax-ns#_1", Some("_1")),
            ("http://www.w3.org/2000/xmlns/a", None),
        ] {
            let actual = split(iri.as_bytes());
            assert_eq!(actual.map(|(index, _)| &iri[index..]), local, "{iri}");
            let is_recent = actual.is_some_and(|(_, edition)| edition == Edition::Fifth);
            assert_eq!(is_recent, RECENT.contains(&iri), "{iri}");
        }
    }

    #[test]
    fn reserved_prefixes_are_not_declared() {
        assert!(is_declarable(b"", b"http://ex/") && is_declarable(b"a.b", b"http://ex/"));
        for (name, iri) in [
            (&b"xml"[..], XML),
            (b"XmLx", b"http://ex/"),
            (b"1", b"http://ex/"),
            (b"a", b""),
            (b"a", XMLNS),
            (b"a", b"http://ex/ x"),
            (b"rdf", b"http://ex/"),
        ] {
            assert!(!is_declarable(name, iri), "{name:?}");
        }
    }
}
