//! The format specifications of RDF Protobuf and RDF Thrift.

use super::decode::RdfBinaryReader;
use super::encode::{new_protobuf_encoder, new_thrift_encoder};
use super::options::{BinaryReading, READ_FRAMING, WRITE_FRAMING};
use super::sniff;
use crate::codec::carries::Capabilities;
use crate::codec::input;
use crate::codec::options::{BOUNDS, FLAT, PREFIXES, VALUES};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

const CARRIES: Capabilities = Capabilities {
    metadata: false,
    ..Capabilities::ALL
};

/// RDF Protobuf.
pub static PROTOBUF: FormatSpec = FormatSpec {
    name: "rdf-protobuf",
    title: "RDF Protobuf",
    kinds: &[Kind::Messages],
    suffixes: &[".rpb", ".pbrdf"],
    media_types: &["application/rdf+protobuf"],
    aliases: &["protobuf", "rdf-proto"],
    carries: CARRIES,
    binary: true,
    sniff: Some(sniff::protobuf),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::With(&[("framing", "rows"), ("flat", "true")]),
    value_options: &[],
    reads: &[BOUNDS, &[READ_FRAMING]],
    writes: &[&[WRITE_FRAMING, FLAT, PREFIXES, VALUES]],
    decoder: |values, opening| {
        let options = BinaryReading::from_values(values, opening);
        let reader = RdfBinaryReader::new(PROTOBUF.title, false, &options);
        Ok(input::decoder(PROTOBUF.name, reader))
    },
    encoder: |values, _| new_protobuf_encoder(values),
    splitter: None,
    append: Append::Lengths,
};

/// RDF Thrift.
pub static THRIFT: FormatSpec = FormatSpec {
    name: "rdf-thrift",
    title: "RDF Thrift",
    kinds: &[Kind::Messages],
    suffixes: &[".rt", ".trdf"],
    media_types: &["application/rdf+thrift"],
    aliases: &["thrift"],
    carries: Capabilities {
        boundaries: false,
        ..CARRIES
    },
    binary: true,
    sniff: Some(sniff::thrift),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS],
    writes: &[&[FLAT, PREFIXES, VALUES]],
    decoder: |values, opening| {
        let options = BinaryReading::from_values(values, opening);
        let reader = RdfBinaryReader::new(THRIFT.title, true, &options);
        Ok(input::decoder(THRIFT.name, reader))
    },
    encoder: |values, _| Ok(new_thrift_encoder(values)),
    splitter: None,
    append: Append::Never("a log is one message"),
};
