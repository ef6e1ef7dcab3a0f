//! Namespaces and RDF names that are part of the syntax of RDF/XML.
//!
//! - In: a namespace and a local part.
//! - Out: whether they are part of the syntax.

/// The RDF namespace.
pub(super) const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The namespace of base directions (`its:dir`).
pub(super) const ITS: &[u8] = b"http://www.w3.org/2005/11/its";

/// The start of the namespaces of `TriX`, another XML format for RDF.
pub(super) const TRIX: &[u8] = b"http://www.w3.org/2004/03/trix/";

/// Returns the local part if the namespace is the RDF namespace.
pub(super) fn rdf_name<'a>(namespace: &[u8], local: &'a [u8]) -> Option<&'a [u8]> {
    (namespace == RDF).then_some(local)
}

/// Whether a name in the RDF namespace is part of the syntax and cannot be a node or a property.
pub(super) fn is_core(local: &[u8]) -> bool {
    matches!(
        local,
        b"RDF"
            | b"ID"
            | b"about"
            | b"parseType"
            | b"resource"
            | b"nodeID"
            | b"datatype"
            | b"aboutEach"
            | b"aboutEachPrefix"
            | b"bagID"
    )
}

/// Whether a name in the RDF namespace has a special meaning as an element name and therefore
/// cannot be written as a predicate.
pub(super) fn is_syntax(local: &[u8]) -> bool {
    is_core(local) || matches!(local, b"Description" | b"li")
}
