//! The Jelly-Patch format.

use super::super::decode::FrameReader;
use super::super::options::{
    DATATYPE_TABLE, FRAME_ROWS, GENERALIZED, JOINS, NAME_TABLE, OPTIONS_FROM, PREFIX_TABLE,
    RDF_STAR, READ_DELIMITED, READ_FRAMES, ReadSettings, WRITE_DELIMITED,
};
use super::encode::encoder;
use super::options::{STATEMENT_TYPE, STREAM_TYPE};
use super::rows::PatchRows;
use crate::codec::carries::Capabilities;
use crate::codec::input;
use crate::codec::options::{BOUNDS, FLAT, LENIENT, MERGE_GRAPHS};
use crate::codec::spec::{Append, Continuable, FormatSpec, Kind};

/// Jelly-Patch.
pub static JELLY_PATCH: FormatSpec = FormatSpec {
    name: "jelly-patch",
    title: "Jelly-Patch",
    kinds: &[Kind::Patches],
    suffixes: &[".jellyp"],
    media_types: &["application/x-jelly-rdf-patch"],
    aliases: &["jellyp"],
    // Namespaces are written as operations. Frames have no metadata.
    carries: Capabilities {
        metadata: false,
        ..Capabilities::ALL
    },
    binary: true,
    sniff: None,
    resumable: false,
    skips_lines: false,
    continuable: Continuable::Always,
    value_options: &[("delimited", "false")],
    reads: &[BOUNDS, &[LENIENT, READ_FRAMES, READ_DELIMITED, JOINS]],
    writes: &[&[
        MERGE_GRAPHS,
        FLAT,
        OPTIONS_FROM,
        STREAM_TYPE,
        STATEMENT_TYPE,
        FRAME_ROWS,
        WRITE_DELIMITED,
        GENERALIZED,
        RDF_STAR,
        NAME_TABLE,
        PREFIX_TABLE,
        DATATYPE_TABLE,
    ]],
    decoder: |values, opening| {
        let options = ReadSettings::of(values, opening);
        let reader = FrameReader::<PatchRows>::new(options);
        Ok(input::decoder(JELLY_PATCH.name, reader))
    },
    encoder,
    splitter: None,
    append: Append::Decode,
};
