//! Declarations of N-Triples and N-Quads.

use super::LineReader;
use super::count::LineDelimiterCounter;
use super::encode::new_encoder;
use super::options::{GENERALIZED, LineReading, RDF_STAR_SYNTAX};
use super::sniff::sniff;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::input;
use crate::codec::options::{
    ANNOUNCED, BOUNDS, FLAT, LENIENT, MERGE_GRAPHS, READ_DIALECT, VERSION_LABEL, WRITE_DIALECT,
};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind, OptionSpec};
use crate::codec::values::Values;
use crate::codec::{self, Opening};

const READS: &[OptionSpec] = &[LENIENT, READ_DIALECT, ANNOUNCED, GENERALIZED];
const WRITES: &[OptionSpec] = &[WRITE_DIALECT, FLAT, VERSION_LABEL, LENIENT, RDF_STAR_SYNTAX];

const CARRIES: Capabilities = Capabilities {
    graphs: true,
    generalized: true,
    triple_terms: TripleTerms::Anywhere,
    directions: true,
    boundaries: true,
    order: true,
    namespaces: false,
    metadata: false,
    any_text: true,
    invalid_iri: true,
    any_iri: false,
    any_language: false,
};

/// N-Triples.
pub static NTRIPLES: FormatSpec = FormatSpec {
    name: "nt",
    title: "N-Triples",
    kinds: &[Kind::Messages],
    suffixes: &[".nt", ".ntriples"],
    media_types: &["application/n-triples"],
    aliases: &["n-triples", "ntriples", "nt11", "nt12"],
    carries: Capabilities {
        graphs: false,
        ..CARRIES
    },
    binary: false,
    sniff: None,
    resumable: true,
    skips_lines: true,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS, READS],
    writes: &[WRITES, &[MERGE_GRAPHS]],
    decoder: |values, opening| {
        let options = LineReading::from_values(values, opening);
        Ok(input::decoder(
            NTRIPLES.name,
            LineReader::new(false, options),
        ))
    },
    encoder: |values, source| new_encoder(&NTRIPLES, values, source),
    splitter: Some(counter),
    append: Append::LastLine,
};

/// N-Quads.
pub static NQUADS: FormatSpec = FormatSpec {
    name: "nq",
    title: "N-Quads",
    kinds: &[Kind::Messages],
    suffixes: &[".nq", ".nquads"],
    media_types: &["application/n-quads"],
    aliases: &["n-quads", "nquads", "nq11", "nq12"],
    carries: CARRIES,
    binary: false,
    sniff: Some(sniff),
    resumable: true,
    skips_lines: true,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS, READS],
    writes: &[WRITES],
    decoder: |values, opening| {
        let options = LineReading::from_values(values, opening);
        Ok(input::decoder(NQUADS.name, LineReader::new(true, options)))
    },
    encoder: |values, source| new_encoder(&NQUADS, values, source),
    splitter: Some(counter),
    append: Append::LastLine,
};

fn counter(values: &Values, opening: &Opening) -> Box<dyn codec::DelimiterCounter> {
    let options = LineReading::from_values(values, opening);
    Box::new(LineDelimiterCounter::new(&options))
}
