//! Declarations of NDJSON-LD, JSON-LD and YAML-LD.

use super::document::DocumentReader;
use super::encode::new_encoder;
use super::lines::NdjsonReader;
use super::options::{
    COMPACT_WITH, CONTEXT_LINES, CONTEXTS, DocumentReading, EXACT_DOUBLES, EXPAND_CONTEXT,
    NDJSON_CONTEXT_LINES, RDF_DIRECTION,
};
use super::sink::JsonSink;
use super::sniff;
use super::yaml::decode::YamlReader;
use super::yaml::write::YamlSink;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::input;
use crate::codec::options::{BASE, BOUNDS, FLAT, LARGEST_MESSAGE, LENIENT, PREFIXES};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind, OptionSpec};

const READS: &[OptionSpec] = &[LENIENT, BASE, RDF_DIRECTION, EXACT_DOUBLES, EXPAND_CONTEXT];
const WRITES: &[OptionSpec] = &[LENIENT, FLAT, PREFIXES, CONTEXT_LINES, COMPACT_WITH];
const WRITES_LINES: &[OptionSpec] = &[LENIENT, FLAT, PREFIXES, NDJSON_CONTEXT_LINES, COMPACT_WITH];

const CARRIES: Capabilities = Capabilities {
    graphs: true,
    generalized: false,
    triple_terms: TripleTerms::No,
    directions: true,
    boundaries: true,
    order: false,
    namespaces: true,
    metadata: false,
    any_text: true,
    invalid_iri: false,
    any_iri: false,
    any_language: false,
};

/// NDJSON-LD.
pub static NDJSONLD: FormatSpec = FormatSpec {
    name: "ndjsonld",
    title: "NDJSON-LD",
    kinds: &[Kind::Messages],
    suffixes: &[".ndjsonld"],
    media_types: &["application/x-ld+ndjson"],
    aliases: &["ndjson-ld", "ndjson", "jsonl"],
    carries: CARRIES,
    binary: false,
    sniff: Some(sniff::lines),
    resumable: true,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS, READS, CONTEXTS],
    writes: &[WRITES_LINES, &[LARGEST_MESSAGE]],
    decoder: |values, opening| {
        let options = DocumentReading::from_values(values, opening);
        Ok(input::decoder(NDJSONLD.name, NdjsonReader::new(&options)?))
    },
    encoder: |values, _| new_encoder(&NDJSONLD, values, JsonSink::LINE),
    splitter: None,
    append: Append::LastLine,
};

/// JSON-LD, one document.
pub static JSONLD: FormatSpec = FormatSpec {
    name: "jsonld",
    title: "JSON-LD",
    kinds: &[Kind::Messages],
    suffixes: &[".jsonld"],
    media_types: &["application/ld+json"],
    aliases: &["json-ld"],
    carries: Capabilities {
        boundaries: false,
        ..CARRIES
    },
    binary: false,
    sniff: Some(sniff::sniff_document),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS, READS, CONTEXTS],
    writes: &[WRITES],
    decoder: |values, opening| {
        let options = DocumentReading::from_values(values, opening);
        Ok(input::decoder(JSONLD.name, DocumentReader::new(&options)?))
    },
    encoder: |values, _| new_encoder(&JSONLD, values, JsonSink::INDENTED),
    splitter: None,
    append: Append::Never("a document is one message"),
};

/// YAML-LD.
pub static YAMLLD: FormatSpec = FormatSpec {
    name: "yamlld",
    title: "YAML-LD",
    kinds: &[Kind::Messages],
    suffixes: &[".yamlld"],
    media_types: &["application/rdfm+yaml", "application/ld+yaml"],
    aliases: &["yaml-ld", "yaml", "yml"],
    carries: CARRIES,
    binary: false,
    sniff: Some(sniff::yaml),
    resumable: true,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS, READS, CONTEXTS],
    writes: &[WRITES, &[LARGEST_MESSAGE]],
    decoder: |values, opening| {
        let options = DocumentReading::from_values(values, opening);
        Ok(input::decoder(YAMLLD.name, YamlReader::new(&options)?))
    },
    encoder: |values, _| new_encoder(&YAMLLD, values, YamlSink::default()),
    splitter: None,
    append: Append::Decode,
};
