//! The Jelly format.

use super::count::FrameCounter;
use super::decode::FrameReader;
use super::encode::encoder;
use super::options::{
    DATATYPE_TABLE, FRAME_ROWS, GENERALIZED, JELLY_VERSION, JOINS, LOGICAL_TYPE, NAME_TABLE,
    NAMESPACES, OPTIONS_FROM, PHYSICAL_TYPE, PREFIX_TABLE, RDF_STAR, RDF_VERSION, READ_DELIMITED,
    READ_FRAMES, READ_MARKS, RESTART_BYTES, ReadSettings, STREAM_NAME, WRITE_DELIMITED,
    WRITE_FRAMES,
};
use super::rows::QuadRows;
use super::sniff::sniff;
use crate::codec::carries::Capabilities;
use crate::codec::input;
use crate::codec::options::{BOUNDS, FLAT, MERGE_GRAPHS, PREFIXES};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

/// Jelly.
pub static JELLY: FormatSpec = FormatSpec {
    name: "jelly",
    title: "Jelly",
    kinds: &[Kind::Messages],
    suffixes: &[".jelly"],
    media_types: &["application/x-jelly-rdf"],
    aliases: &["jelly-rdf"],
    carries: Capabilities::ALL,
    binary: true,
    sniff: Some(sniff),
    resumable: false,
    skips_lines: false,
    continuable: Continuable::With(&[("frames", "flat"), ("flat", "true")]),
    value_options: &[("delimited", "false")],
    reads: &[BOUNDS, &[READ_FRAMES, READ_DELIMITED, JOINS, READ_MARKS]],
    writes: &[&[
        MERGE_GRAPHS,
        FLAT,
        PREFIXES,
        OPTIONS_FROM,
        NAMESPACES,
        WRITE_FRAMES,
        FRAME_ROWS,
        WRITE_DELIMITED,
        RESTART_BYTES,
        STREAM_NAME,
        PHYSICAL_TYPE,
        LOGICAL_TYPE,
        GENERALIZED,
        RDF_STAR,
        NAME_TABLE,
        PREFIX_TABLE,
        DATATYPE_TABLE,
        JELLY_VERSION,
        RDF_VERSION,
    ]],
    decoder: |values, opening| {
        let options = ReadSettings::of(values, opening);
        let reader = FrameReader::<QuadRows>::new(options);
        Ok(input::decoder(JELLY.name, reader))
    },
    encoder,
    splitter: Some(|values, opening| {
        Box::new(FrameCounter::new(&ReadSettings::of(values, opening)))
    }),
    append: Append::Lengths,
};
