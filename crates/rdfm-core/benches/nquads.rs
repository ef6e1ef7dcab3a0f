//! Speed of the N-Quads reader on one core, with strict checks: quads per second into batches.
//!
//! `cargo bench -p rdfm-core --bench nquads [-- DATA]`. Data: an IoT-like log (6 quads per message,
//! about 120 bytes per line, with and without graph names), a nanopublication-like log (four named
//! graphs and new IRIs in every message), and literals with escapes. Reports the best of many short
//! runs. `copy` is the speed of copying the input once.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::formats::nquads::spec::NQUADS;
use rdfm_core::model::term::Quad;
use rdfm_core::registry;

const MESSAGES: usize = 2_000;
const RUNS: usize = 300;
/// Bytes per piece.
const PIECE: usize = 1 << 20;

const EX: &str = "http://example.org/iot/";
const SOSA: &str = "http://www.w3.org/ns/sosa/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

fn iot(graphs: bool) -> String {
    let mut out = String::new();
    for n in 0..MESSAGES {
        let subject = format!("<{EX}observation/{n}>");
        let graph = if graphs {
            format!("<{EX}graph/{}> ", n % 100)
        } else {
            String::new()
        };
        let sensor = n * 7919 % 1000;
        let (day, hour, minute, second) = (n / 86_400 % 28 + 1, n / 3600 % 24, n / 60 % 60, n % 60);
        let value = (n * 31 % 4000) as f64 / 100.0;
        for rest in [
            format!("<{RDF_TYPE}> <{SOSA}Observation>"),
            format!("<{SOSA}madeBySensor> <{EX}sensor/{sensor}>"),
            format!("<{SOSA}observedProperty> <{EX}property/temperature>"),
            format!("<{SOSA}hasSimpleResult> \"{value}\"^^<{XSD}double>"),
            format!(
                "<{SOSA}resultTime> \"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z\"^^<{XSD}dateTime>"
            ),
            format!("<{SOSA}hasFeatureOfInterest> <{EX}room/{}>", sensor % 40),
        ] {
            writeln!(out, "{subject} {rest} {graph}.").unwrap();
        }
        out.push_str("# @message\n");
    }
    out
}

fn nanopublications() -> String {
    let mut out = String::new();
    let np = "http://purl.org/nanopub/temp/RA";
    let prov = "http://www.w3.org/ns/prov#";
    for n in 0..MESSAGES / 4 {
        let hash = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let nanopub = format!("{np}{hash:016x}{:016x}", hash.rotate_left(17));
        for (graph, s, p, o) in [
            (
                "Head",
                "",
                RDF_TYPE.to_owned(),
                "<http://www.nanopub.org/nschema#Nanopublication>".to_owned(),
            ),
            (
                "Head",
                "",
                "http://www.nanopub.org/nschema#hasAssertion".to_owned(),
                format!("<{nanopub}#assertion>"),
            ),
            (
                "Head",
                "",
                "http://www.nanopub.org/nschema#hasProvenance".to_owned(),
                format!("<{nanopub}#provenance>"),
            ),
            (
                "assertion",
                "#x",
                "http://www.w3.org/2000/01/rdf-schema#label".to_owned(),
                format!("\"a statement number {n} about something\"@en"),
            ),
            (
                "assertion",
                "#x",
                "http://purl.org/dc/terms/subject".to_owned(),
                format!("<http://www.wikidata.org/entity/Q{}>", hash % 100_000_000),
            ),
            (
                "provenance",
                "#assertion",
                format!("{prov}wasDerivedFrom"),
                format!("<https://doi.org/10.1000/{}>", hash % 1_000_000),
            ),
            (
                "pubinfo",
                "",
                format!("{prov}generatedAtTime"),
                format!("\"2026-01-01T00:00:00Z\"^^<{XSD}dateTime>"),
            ),
            (
                "pubinfo",
                "",
                "http://purl.org/dc/terms/creator".to_owned(),
                format!("<https://orcid.org/0000-0001-{:04}-0000>", hash % 300),
            ),
        ] {
            writeln!(out, "<{nanopub}{s}> <{p}> {o} <{nanopub}#{graph}> .").unwrap();
        }
        out.push_str("# @message\n");
    }
    out
}

fn escapes() -> String {
    let mut out = String::new();
    for n in 0..MESSAGES {
        writeln!(
            out,
            "_:b{n} <{EX}text> \"Zeile {n}\\nmit \\\"Zitat\\\" und Umlaut \u{fc} \\u00FC in einem l\u{e4}ngeren Text\"@de ."
        )
        .unwrap();
        if n % 4 == 3 {
            out.push_str("# @message\n");
        }
    }
    out
}

/// Number of quads, and of bytes in the batches.
fn read(log: &[u8]) -> (usize, usize) {
    let (values, opening) = (Values::default(), Opening::default());
    let mut decoder = registry::new_decoder(&NQUADS, &values, &opening).unwrap();
    let (mut quads, mut bytes) = (0, 0);
    let mut pieces = log.chunks(PIECE);
    loop {
        while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
            quads += batch.quads().len();
            bytes += batch.memory_bytes();
            black_box(&batch);
        }
        match pieces.next() {
            Some(piece) => decoder.feed(piece),
            None => break,
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
        quads += batch.quads().len();
        bytes += batch.memory_bytes();
    }
    (quads, bytes)
}

/// Time in seconds of the fastest run.
fn best(mut run: impl FnMut()) -> f64 {
    let seconds = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn main() {
    let selected: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    for (name, log) in [
        ("iot", iot(false)),
        ("iot-graphs", iot(true)),
        ("nanopubs", nanopublications()),
        ("escapes", escapes()),
    ] {
        if !selected.is_empty() && !selected.iter().any(|each| each == name) {
            continue;
        }
        let log = log.as_bytes();
        let (quads, bytes) = read(log);
        let seconds = best(|| {
            black_box(read(black_box(log)));
        });
        let mut copy = Vec::with_capacity(log.len());
        let copied = best(|| {
            copy.clear();
            copy.extend_from_slice(black_box(log));
            black_box(&copy);
        });
        println!(
            "{name:12} {:6.2} M quads/s  {:6.0} MB/s  {:5.1} ns/quad  {:4} bytes/line  {:4} bytes/quad in memory  copy {:6.0} MB/s",
            quads as f64 / seconds / 1e6,
            log.len() as f64 / seconds / 1e6,
            seconds * 1e9 / quads as f64,
            log.len() / quads,
            bytes / quads,
            log.len() as f64 / copied / 1e6,
        );
    }
}
