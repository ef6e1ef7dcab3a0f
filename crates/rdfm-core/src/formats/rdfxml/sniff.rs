//! Detects RDF/XML from the first bytes of a log.

use memchr::memmem;

use super::vocabulary::{RDF, TRIX};
use crate::codec::sniff::{self, Sniff};
use crate::syntax::text::sniff::{is_xml, without_mark};
use crate::syntax::xml::utf16::head_in_utf8;

/// Whether the bytes begin an XML document that has an `rdf:RDF` element or mentions the RDF
/// namespace. `TriX` is detected too, so that the decoder can report that it is not supported.
pub fn sniff(bytes: &[u8], complete: bool) -> Sniff {
    let head = sniff::head(bytes);
    let converted = head_in_utf8(head);
    let head = converted.as_deref().unwrap_or(head);
    let contains = |text: &[u8]| memmem::find(head, text).is_some();
    let detected =
        is_xml(without_mark(head)) && (contains(b"<rdf:RDF") || contains(RDF) || contains(TRIX));
    Sniff::from_match(detected, complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMESPACE: &str = "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'";

    #[test]
    fn an_rdf_element_is_detected_whatever_follows() {
        for head in [
            "<?xml version='1.0'?>\n<rdf:RDF",
            "\u{feff} <rdf:RDF>",
            "<!DOCTYPE x>\n<!-- c -->\n<rdf:RDF x='y'",
            &format!("<a:B xmlns:a='x' {NAMESPACE}/>"),
            &format!("<!-- c --><a:B\n{NAMESPACE}/>"),
            "<TriX xmlns='http://www.w3.org/2004/03/trix/trix-1/'>",
        ] {
            assert_eq!(sniff(head.as_bytes(), false), Sniff::Yes, "{head}");
            assert_eq!(sniff(format!("{head}\0").as_bytes(), true), Sniff::Yes);
        }
    }

    #[test]
    fn other_documents_are_not_detected() {
        for head in [
            "",
            "<?xml version='1.0'?>\n<html>",
            "<a:B xmlns:a='x'/>",
            "<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:b> .\n",
            "<a> <b> '''<rdf:RDF>''' .\n",
            "# <rdf:RDF>\n",
        ] {
            assert_eq!(sniff(head.as_bytes(), false), Sniff::More, "{head}");
            assert_eq!(sniff(head.as_bytes(), true), Sniff::No, "{head}");
        }
    }
}
