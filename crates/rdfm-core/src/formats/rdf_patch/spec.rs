//! The formats RDF Patch and RDF Patch Thrift.

use super::decode::PatchReader;
use super::encode;
use super::options::{HEADERS_FIRST, PatchReading};
use super::thrift;
use super::thrift::decode::ThriftPatchReader;
use crate::codec::carries::Capabilities;
use crate::codec::input;
use crate::codec::options::{BOUNDS, LENIENT};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

const CARRIES: Capabilities = Capabilities {
    namespaces: false,
    metadata: false,
    any_iri: false,
    any_language: false,
    ..Capabilities::ALL
};

/// RDF Patch.
pub static TEXT: FormatSpec = FormatSpec {
    name: "rdf-patch",
    title: "RDF Patch",
    kinds: &[Kind::Patches],
    suffixes: &[".rdfp", ".rdp"],
    media_types: &["application/rdf-patch"],
    aliases: &["rdfpatch", "rdfp"],
    carries: CARRIES,
    binary: false,
    sniff: None,
    resumable: true,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS, &[LENIENT]],
    writes: &[&[LENIENT, HEADERS_FIRST]],
    decoder: |values, opening| {
        let options = PatchReading::from_values(values, opening);
        Ok(input::decoder(TEXT.name, PatchReader::new(options)))
    },
    encoder: |values, _| Ok(encode::encoder(values)),
    splitter: None,
    append: Append::Decode,
};

/// RDF Patch in Thrift.
pub static THRIFT: FormatSpec = FormatSpec {
    name: "rdf-patch-thrift",
    title: "RDF Patch Thrift",
    kinds: &[Kind::Patches],
    suffixes: &[".trp"],
    media_types: &["application/rdf-patch+thrift"],
    aliases: &["trp"],
    carries: Capabilities {
        any_iri: true,
        any_language: true,
        ..CARRIES
    },
    binary: true,
    sniff: None,
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[],
    reads: &[BOUNDS],
    writes: &[&[HEADERS_FIRST]],
    decoder: |values, opening| {
        let options = PatchReading::from_values(values, opening);
        Ok(input::decoder(
            THRIFT.name,
            ThriftPatchReader::new(&options),
        ))
    },
    encoder: |values, _| Ok(thrift::encode::encoder(values)),
    splitter: None,
    append: Append::Never("rows have no lengths, so a truncated log cannot be detected"),
};
