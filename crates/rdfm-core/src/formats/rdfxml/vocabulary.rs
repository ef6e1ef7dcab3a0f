//! The namespaces, and the names of RDF's, to which RDF/XML itself gives a meaning.
//!
//! - In: a namespace and a local part.
//! - Out: whether they are part of the syntax.

/// The namespace of RDF.
pub(super) const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The namespace of base directions (`its:dir`).
pub(super) const ITS: &[u8] = b"http://www.w3.org/2005/11/its";

/// The name in RDF's namespace that a namespace and a local part make together.
pub(super) fn rdf_name<'a>(namespace: &[u8], local: &'a [u8]) -> Option<&'a [u8]> {
    (namespace == RDF).then_some(local)
}

/// Whether a name of RDF's namespace is part of the syntax, and no node or property.
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

/// Whether a name of RDF's namespace is syntax, so that no element of that name is a property.
pub(super) fn is_syntax(local: &[u8]) -> bool {
    is_core(local) || matches!(local, b"Description" | b"li")
}
