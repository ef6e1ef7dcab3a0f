//! Speed of the SPARQL result formats on one core: rows read and written per second.
//!
//! `cargo bench -p rdfm-core --bench results [-- FORMAT]`. Data: rows with a unique IRI, a shared
//! IRI, a name with a language tag, a number and a cell that is sometimes unbound. Reports the best
//! of several runs, so that other work on the machine has little effect.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::batch::Batch;
use rdfm_core::codec::spec::{FormatSpec, Kind};
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::codec::{Decoder, Encoder, Opening};
use rdfm_core::registry;

const ROWS: usize = 100_000;
const PIECE: usize = 1 << 18;
const RUNS: usize = 10;

fn tsv() -> String {
    let mut log = "?item\t?type\t?name\t?value\t?note\n".to_owned();
    for row in 0..ROWS {
        let _ = write!(
            log,
            "<http://example.org/item/{row}>\t<http://example.org/type/{}>\t\"the item number {row}\"@en\t\
             \"{}.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>\t",
            row % 7,
            row % 1000
        );
        log.push_str(if row % 3 == 0 { "\n" } else { "\"a note\"\n" });
    }
    log
}

fn decoder(format: &FormatSpec) -> Box<dyn Decoder> {
    let values = Values::read(format.reads(), Vec::<(&str, GivenValue)>::new()).unwrap();
    registry::new_decoder(format, &values, &Opening::default()).unwrap()
}

fn encoder(format: &FormatSpec) -> Box<dyn Encoder> {
    let lossy = format.writes().any(|option| option.name == "lossy");
    let options = lossy.then(|| ("lossy", GivenValue::from(true)));
    let values = Values::read(format.writes(), options.into_iter().collect::<Vec<_>>()).unwrap();
    registry::new_encoder(format, &values, None).unwrap()
}

fn read(format: &FormatSpec, log: &[u8], mut on_batch: impl FnMut(Batch)) {
    let mut decoder = decoder(format);
    for piece in log.chunks(PIECE) {
        decoder.feed(piece);
        while let Some(batch) = decoder.next_batch().unwrap() {
            on_batch(batch);
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch().unwrap() {
        on_batch(batch);
    }
}

fn write(format: &FormatSpec, batches: &[Batch], out: &mut Vec<u8>) {
    let mut encoder = encoder(format);
    for batch in batches {
        encoder.encode(batch.into(), out).unwrap();
    }
    encoder.finish(out).unwrap();
}

/// Time in seconds of the fastest run.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| time(&mut run)).fold(f64::MAX, f64::min)
}

fn main() {
    let selected = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    let source = registry::find("results-tsv").unwrap();
    let mut batches = Vec::new();
    read(source, tsv().as_bytes(), |batch| batches.push(batch));
    for format in registry::FORMATS {
        let skipped = selected.as_ref().is_some_and(|name| name != format.name);
        if format.kinds != [Kind::Results] || skipped {
            continue;
        }
        let mut log = Vec::new();
        write(format, &batches, &mut log);
        if let Some(folder) = std::env::var_os("RDFM_BENCH_KEEP") {
            let path = std::path::Path::new(&folder).join(format!("bench{}", format.suffixes[0]));
            std::fs::write(path, &log).unwrap();
        }
        let reading = best(|| read(format, &log, |batch| drop(black_box(batch))));
        let mut out = Vec::with_capacity(log.len());
        let writing = best(|| {
            out.clear();
            write(format, &batches, black_box(&mut out));
        });
        let rows = |seconds: f64| ROWS as f64 / seconds / 1e6;
        let bytes = |seconds: f64| log.len() as f64 / seconds / 1e6;
        println!(
            "{:17} {:4.1} MB  read {:5.2} M rows/s {:5.0} MB/s  write {:5.2} M rows/s {:5.0} MB/s",
            format.name,
            log.len() as f64 / 1e6,
            rows(reading),
            bytes(reading),
            rows(writing),
            bytes(writing)
        );
    }
}
