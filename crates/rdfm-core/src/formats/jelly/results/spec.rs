//! The Jelly-SPARQL format.

use super::super::options::{
    DATATYPE_TABLE, FRAME_ROWS, NAME_TABLE, PREFIX_TABLE, ReadSettings, STREAM_NAME,
};
use super::decode::ResultSetReader;
use super::encode::encoder;
use super::sniff::sniff;
use super::stream::PUNCTUATED;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::input;
use crate::codec::options::BOUNDS;
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

/// Result sets in Jelly-SPARQL.
pub static RESULTS_JELLY: FormatSpec = FormatSpec {
    name: "results-jelly",
    title: "Jelly-SPARQL (draft)",
    kinds: &[Kind::Results],
    suffixes: &[".jellys"],
    media_types: &["application/x-jelly-sparql"],
    aliases: &["jellys"],
    carries: Capabilities {
        generalized: false,
        triple_terms: TripleTerms::Object,
        namespaces: false,
        metadata: false,
        ..Capabilities::ALL
    },
    binary: true,
    sniff: Some(sniff),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Never,
    value_options: &[],
    reads: &[BOUNDS],
    writes: &[&[
        STREAM_NAME,
        PUNCTUATED,
        FRAME_ROWS,
        NAME_TABLE,
        PREFIX_TABLE,
        DATATYPE_TABLE,
    ]],
    decoder: |values, opening| {
        let reader = ResultSetReader::new(ReadSettings::of(values, opening));
        Ok(input::decoder(RESULTS_JELLY.name, reader))
    },
    encoder: |values, _| encoder(values),
    splitter: None,
    append: Append::Never("a log is a single result set"),
};
