//! Declarations of Turtle and TriG.

use super::decode::new_decoder;
use super::encode::new_encoder;
use super::sniff::sniff;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::options::{
    ANNOUNCED, BASE, BOUNDS, FLAT, LENIENT, MERGE_GRAPHS, PREFIXES, READ_DIALECT, VERSION_LABEL,
    WRITE_DIALECT,
};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind, OptionSpec};

const READS: &[OptionSpec] = &[LENIENT, READ_DIALECT, ANNOUNCED, BASE];
const WRITES: &[OptionSpec] = &[WRITE_DIALECT, FLAT, VERSION_LABEL, LENIENT, PREFIXES];

const CARRIES: Capabilities = Capabilities {
    graphs: true,
    generalized: false,
    triple_terms: TripleTerms::Object,
    directions: true,
    boundaries: true,
    order: true,
    namespaces: true,
    metadata: false,
    any_text: true,
    invalid_iri: true,
    any_iri: false,
    any_language: false,
};

/// Turtle.
pub static TURTLE: FormatSpec = FormatSpec {
    name: "ttl",
    title: "Turtle",
    kinds: &[Kind::Messages],
    suffixes: &[".ttl", ".turtle"],
    media_types: &["text/turtle", "application/x-turtle"],
    aliases: &["turtle", "ttl12", "longturtle"],
    carries: Capabilities {
        graphs: false,
        ..CARRIES
    },
    binary: false,
    sniff: None,
    resumable: true,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS, READS],
    writes: &[WRITES, &[MERGE_GRAPHS]],
    decoder: |values, opening| new_decoder(&TURTLE, values, opening),
    encoder: |values, source| new_encoder(&TURTLE, values, source),
    splitter: None,
    append: Append::Decode,
};

/// TriG.
pub static TRIG: FormatSpec = FormatSpec {
    name: "trig",
    title: "TriG",
    kinds: &[Kind::Messages],
    suffixes: &[".trig"],
    media_types: &["application/trig", "application/x-trig"],
    aliases: &["trig12"],
    carries: CARRIES,
    binary: false,
    sniff: Some(sniff),
    resumable: true,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS, READS],
    writes: &[WRITES],
    decoder: |values, opening| new_decoder(&TRIG, values, opening),
    encoder: |values, source| new_encoder(&TRIG, values, source),
    splitter: None,
    append: Append::Decode,
};
