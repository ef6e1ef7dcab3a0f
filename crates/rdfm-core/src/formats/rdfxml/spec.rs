//! The RDF/XML format.

use super::decode::new_decoder;
use super::encode::encoder;
use super::sniff::sniff;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::options::{BASE, BOUNDS, FLAT, LARGEST_MESSAGE, LENIENT, MERGE_GRAPHS, PREFIXES};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

/// RDF/XML.
pub static RDFXML: FormatSpec = FormatSpec {
    name: "rdfxml",
    title: "RDF/XML",
    kinds: &[Kind::Messages],
    suffixes: &[".rdf", ".rdfxml", ".owl"],
    media_types: &["application/rdf+xml", "application/rdfm+xml"],
    aliases: &["rdf/xml", "rdf-xml", "xml"],
    carries: Capabilities {
        graphs: false,
        generalized: false,
        triple_terms: TripleTerms::Object,
        directions: true,
        boundaries: true,
        order: false,
        namespaces: true,
        metadata: false,
        any_text: false,
        invalid_iri: true,
        any_iri: false,
        any_language: false,
    },
    binary: false,
    sniff: Some(sniff),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS, &[LENIENT, BASE]],
    writes: &[&[LENIENT, FLAT, PREFIXES, MERGE_GRAPHS, LARGEST_MESSAGE]],
    decoder: new_decoder,
    encoder: |values, _| Ok(encoder(values)),
    splitter: None,
    append: Append::LastLine,
};
