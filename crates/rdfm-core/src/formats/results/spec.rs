//! The result set formats.

use super::binary::ResultBinaryReader;
use super::options::LOSSY;
use super::table_encode::{CsvFormat, TsvFormat};
use super::{binary_encode, csv, json, json_encode, text_encode, tsv, xml, xml_encode};
use crate::codec::carries::Capabilities;
use crate::codec::input;
use crate::codec::options::{BOUNDS, VALUES, limits};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

const CARRIES: Capabilities = Capabilities {
    namespaces: false,
    metadata: false,
    ..Capabilities::ALL
};

/// Result sets in RDF Thrift.
pub static THRIFT: FormatSpec = FormatSpec {
    name: "results-thrift",
    title: "SPARQL results in RDF Thrift",
    kinds: &[Kind::Results],
    suffixes: &[".srt"],
    media_types: &["application/sparql-results+thrift"],
    aliases: &["srt"],
    carries: CARRIES,
    binary: true,
    sniff: None,
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS],
    writes: &[&[VALUES]],
    decoder: |values, _| {
        let reader = ResultBinaryReader::new(true, &limits(values));
        Ok(input::decoder(THRIFT.name, reader))
    },
    encoder: |values, _| Ok(binary_encode::thrift(values)),
    splitter: None,
    append: Append::Never("a log is a single result set"),
};

/// Result sets in RDF Protobuf.
pub static PROTOBUF: FormatSpec = FormatSpec {
    name: "results-protobuf",
    title: "SPARQL results in RDF Protobuf",
    suffixes: &[".srp"],
    media_types: &["application/sparql-results+protobuf"],
    aliases: &["srp"],
    decoder: |values, _| {
        let reader = ResultBinaryReader::new(false, &limits(values));
        Ok(input::decoder(PROTOBUF.name, reader))
    },
    encoder: |values, _| Ok(binary_encode::protobuf(values)),
    ..THRIFT
};

/// Result sets in JSON.
pub static JSON: FormatSpec = FormatSpec {
    name: "results-json",
    title: "SPARQL results in JSON",
    suffixes: &[".srj"],
    media_types: &["application/sparql-results+json"],
    aliases: &["srj"],
    binary: false,
    writes: &[],
    decoder: |values, _| Ok(json::decoder(JSON.name, values)),
    encoder: |values, _| {
        let text_format = json_encode::JsonFormat::default();
        Ok(text_encode::encoder(&JSON, values, text_format))
    },
    ..THRIFT
};

/// Result sets in XML.
pub static XML: FormatSpec = FormatSpec {
    name: "results-xml",
    title: "SPARQL results in XML",
    suffixes: &[".srx"],
    media_types: &["application/sparql-results+xml"],
    aliases: &["srx"],
    carries: Capabilities {
        any_text: false,
        ..CARRIES
    },
    binary: false,
    writes: &[],
    decoder: |values, _| Ok(xml::decoder(XML.name, values)),
    encoder: |values, _| {
        let text_format = xml_encode::XmlFormat::default();
        Ok(text_encode::encoder(&XML, values, text_format))
    },
    ..THRIFT
};

/// Result sets in TSV.
pub static TSV: FormatSpec = FormatSpec {
    name: "results-tsv",
    title: "SPARQL results in TSV",
    suffixes: &[".tsv"],
    media_types: &["text/tab-separated-values"],
    aliases: &["tsv"],
    binary: false,
    writes: &[],
    decoder: |values, _| Ok(tsv::decoder(TSV.name, values)),
    encoder: |values, _| Ok(text_encode::encoder(&TSV, values, TsvFormat)),
    ..THRIFT
};

/// Result sets in CSV.
pub static CSV: FormatSpec = FormatSpec {
    name: "results-csv",
    title: "SPARQL results in CSV",
    suffixes: &[".csv"],
    media_types: &["text/csv"],
    aliases: &["csv"],
    // CSV contains only the text of terms, not their kind.
    carries: Capabilities {
        directions: false,
        any_text: false,
        any_iri: false,
        any_language: false,
        ..CARRIES
    },
    binary: false,
    writes: &[&[LOSSY]],
    decoder: |values, _| Ok(csv::decoder(CSV.name, values)),
    encoder: |values, _| {
        let text_format = CsvFormat {
            lossy: values.is_on(&LOSSY),
        };
        Ok(text_encode::encoder(&CSV, values, text_format))
    },
    ..THRIFT
};
