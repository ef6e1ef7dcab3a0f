//! Speed of the patch formats on one core: operations read and written per second.
//!
//! `cargo bench -p rdfm-core --bench patches`. Data: transactions of an IoT-like log, each of which
//! adds six quads and deletes the previous ones, and the same quads as N-Quads for comparison.
//! Reports the best of 20 short runs.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::{Batch, BatchRef};
use rdfm_core::codec::values::Values;
use rdfm_core::registry;

const RUNS: usize = 20;
const PIECE: usize = 64 << 10;
const TRANSACTIONS: usize = 20_000;
const EX: &str = "http://example.org/iot/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// The quads of an observation.
fn observation(n: usize) -> [String; 6] {
    let s = format!("<{EX}observation/{n}>");
    let sosa = "http://www.w3.org/ns/sosa/";
    [
        format!("{s} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{sosa}Observation>"),
        format!("{s} <{sosa}madeBySensor> <{EX}sensor/{}>", n % 50),
        format!("{s} <{sosa}observedProperty> <{EX}temperature>"),
        format!(
            "{s} <{sosa}resultTime> \"2026-01-01T{:02}:{:02}:00Z\"^^<{XSD}dateTime>",
            n % 24,
            n % 60
        ),
        format!(
            "{s} <{sosa}hasSimpleResult> \"{}.{}\"^^<{XSD}double>",
            n % 40,
            n % 10
        ),
        format!("{s} <http://www.w3.org/2000/01/rdf-schema#label> \"observation number {n}\"@en"),
    ]
}

/// A log of patches, and an N-Quads log with the same quads.
fn logs() -> (String, String) {
    let (mut patches, mut quads) = (String::new(), String::new());
    for n in 0..TRANSACTIONS {
        writeln!(patches, "H id <uuid:{n}> .\nTX .").unwrap();
        for (code, index) in [("D", n.saturating_sub(1)), ("A", n)] {
            for quad in observation(index) {
                writeln!(patches, "{code} {quad} <{EX}g> .").unwrap();
                writeln!(quads, "{quad} <{EX}g> .").unwrap();
            }
        }
        patches.push_str("TC .\n");
    }
    (patches, quads)
}

fn read(format: &str, log: &[u8]) -> Vec<Batch> {
    let spec = registry::find(format).unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    let mut batches = Vec::new();
    for piece in log.chunks(PIECE) {
        decoder.feed(piece);
        while let Some(batch) = decoder.next_batch().unwrap() {
            batches.push(batch);
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch().unwrap() {
        batches.push(batch);
    }
    batches
}

/// Like [`read`], but drops the batches.
fn decode(format: &str, log: &[u8]) {
    let spec = registry::find(format).unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    for piece in log.chunks(PIECE) {
        decoder.feed(piece);
        while let Some(batch) = decoder.next_batch().unwrap() {
            black_box(&batch);
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch().unwrap() {
        black_box(&batch);
    }
}

fn write(format: &str, batches: &[Batch], out: &mut Vec<u8>) {
    let spec = registry::find(format).unwrap();
    let mut encoder = registry::new_encoder(spec, &Values::default(), None).unwrap();
    for batch in batches {
        encoder.encode(BatchRef::from(batch), out).unwrap();
    }
    encoder.finish(out).unwrap();
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

fn measure(format: &str, log: &[u8], quads: usize) {
    let reading = best(|| decode(format, black_box(log)));
    let batches = read(format, log);
    let mut out = Vec::new();
    let writing = best(|| {
        out.clear();
        write(format, black_box(&batches), &mut out);
    });
    println!(
        "{format:18} read {:6.2} M quads/s {:6.0} MB/s   write {:6.2} M quads/s {:6.0} MB/s",
        quads as f64 / reading / 1e6,
        log.len() as f64 / reading / 1e6,
        quads as f64 / writing / 1e6,
        out.len() as f64 / writing / 1e6,
    );
}

fn main() {
    let (patches, lines) = logs();
    let quads = 12 * TRANSACTIONS;
    if let Some(path) = std::env::var_os("RDFM_BENCH_QUADS") {
        std::fs::write(path, &lines).unwrap();
    }
    measure("nq", lines.as_bytes(), quads);
    measure("rdf-patch", patches.as_bytes(), quads);
    let batches = read("rdf-patch", patches.as_bytes());
    for format in ["rdf-patch-thrift", "jelly-patch"] {
        let mut log = Vec::new();
        write(format, &batches, &mut log);
        measure(format, &log, quads);
    }
}
