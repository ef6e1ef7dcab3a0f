//! Speed of the Turtle and TriG reader and of oxttl on one core: quads per second from text in
//! pieces of 64 KiB.
//!
//! `cargo bench -p rdfm-core --bench turtle [-- DATA]`. Data: an IoT-like Turtle log (6 triples per
//! message, prefixes declared once), a nanopublication-like TriG log (four named graphs per
//! message; each message declares its prefixes again), and Turtle with full IRIs. Reports the best
//! of 60 short runs, so that other work on the machine has little effect. oxttl reads the same
//! bytes, with delimiters as comments.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::term::Quad;
use rdfm_core::registry;

const PIECE: usize = 64 << 10;
const MESSAGES: usize = 2_000;
const RUNS: usize = 60;

fn iot() -> String {
    let mut log = String::from(
        "PREFIX ex: <http://example.org/iot/>\nPREFIX sosa: <http://www.w3.org/ns/sosa/>\n\
         PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n",
    );
    for n in 0..MESSAGES {
        let (sensor, property, minute) = (n % 50, n % 5, n % 60);
        write!(
            log,
            "# @message\nex:observation-{n} a sosa:Observation ;\n  sosa:madeBySensor ex:sensor-{sensor} ;\n  \
             sosa:observedProperty ex:property-{property} ;\n  sosa:hasSimpleResult \"{}.5\"^^xsd:double ;\n  \
             sosa:resultTime \"2026-01-01T00:{minute:02}:00Z\"^^xsd:dateTime .\nex:sensor-{sensor} a sosa:Sensor .\n",
            n % 97
        )
        .unwrap();
    }
    log
}

fn nanopubs() -> String {
    let mut log = String::new();
    for n in 0..MESSAGES / 4 {
        write!(
            log,
            "# @message\n@prefix this: <http://purl.org/np/RA{n:040x}> .\n\
             @prefix sub: <http://purl.org/np/RA{n:040x}#> .\n\
             @prefix np: <http://www.nanopub.org/nschema#> .\n@prefix dct: <http://purl.org/dc/terms/> .\n\
             @prefix prov: <http://www.w3.org/ns/prov#> .\n@prefix npx: <http://purl.org/nanopub/x/> .\n\
             @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n@prefix orcid: <https://orcid.org/> .\n\
             @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\n\
             sub:Head {{\n  this: np:hasAssertion sub:assertion ;\n    np:hasProvenance sub:provenance ;\n    \
             np:hasPublicationInfo sub:pubinfo ;\n    a np:Nanopublication .\n}}\n\n\
             sub:assertion {{\n  <http://example.org/paper/{n}> a <http://purl.org/spar/fabio/ScholarlyWork> ;\n    \
             rdfs:label \"A paper about things, number {n}\"@en ;\n    \
             dct:references <http://example.org/paper/{}>, <http://example.org/paper/{}> .\n}}\n\n\
             sub:provenance {{\n  sub:assertion prov:wasAttributedTo orcid:0000-0002-1267-0234 ;\n    \
             prov:wasDerivedFrom <http://example.org/source/{}> .\n}}\n\n\
             sub:pubinfo {{\n  this: dct:created \"2024-09-18T11:19:{:02}.183Z\"^^xsd:dateTime ;\n    \
             dct:creator orcid:0000-0002-1267-0234 ;\n    \
             dct:license <https://creativecommons.org/licenses/by/4.0/> ;\n    \
             npx:wasCreatedAt <https://nanodash.knowledgepixels.com/> .\n  \
             sub:sig npx:hasAlgorithm \"RSA\" ;\n    npx:hasSignatureTarget this: .\n}}\n",
            n / 2,
            n / 3,
            n % 10,
            n % 60
        )
        .unwrap();
    }
    log
}

fn iris() -> String {
    let mut log = String::new();
    for n in 0..MESSAGES * 5 {
        writeln!(
            log,
            "<http://example.org/resource/{}> <http://example.org/vocabulary#property{}> <http://example.org/resource/{n}> .",
            n / 5,
            n % 5
        )
        .unwrap();
    }
    log
}

fn read_with_rdfm(format: &str, log: &[u8]) -> usize {
    let spec = registry::find(format).unwrap();
    let (values, opening) = (Values::default(), Opening::default());
    let mut decoder = registry::new_decoder(spec, &values, &opening).unwrap();
    let mut quads = 0;
    let mut pieces = log.chunks(PIECE);
    let mut finished = false;
    loop {
        while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
            quads += batch.quads().len();
            black_box(&batch);
        }
        match pieces.next() {
            Some(piece) => decoder.feed(piece),
            None if finished => return quads,
            None => {
                decoder.finish();
                finished = true;
            }
        }
    }
}

fn read_with_oxttl(format: &str, log: &[u8]) -> usize {
    let mut quads = 0;
    if format == "trig" {
        for quad in oxttl::TriGParser::new().for_slice(log) {
            black_box(quad.unwrap());
            quads += 1;
        }
    } else {
        for triple in oxttl::TurtleParser::new().for_slice(log) {
            black_box(triple.unwrap());
            quads += 1;
        }
    }
    quads
}

fn best(runs: usize, read: impl Fn() -> usize) -> (usize, f64) {
    let (mut quads, mut best) = (0, f64::INFINITY);
    for _ in 0..runs {
        let start = Instant::now();
        quads = read();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (quads, best)
}

fn main() {
    let selected: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, format, log) in [
        ("iot", "ttl", iot()),
        ("nanopubs", "trig", nanopubs()),
        ("iris", "ttl", iris()),
    ] {
        if !selected.is_empty() && !selected.iter().any(|argument| argument == name) {
            continue;
        }
        let log = log.as_bytes();
        let (quads, seconds) = best(RUNS, || read_with_rdfm(format, log));
        let (oxttl_quads, oxttl_seconds) = best(RUNS / 3, || read_with_oxttl(format, log));
        assert_eq!(quads, oxttl_quads);
        println!(
            "{name:9} {quads:7} quads, {:5.1} MB: {:5.2} M quads/s, {:4.0} MB/s; oxttl {:5.2} M quads/s; {:.1} times",
            log.len() as f64 / 1e6,
            quads as f64 / seconds / 1e6,
            log.len() as f64 / seconds / 1e6,
            quads as f64 / oxttl_seconds / 1e6,
            oxttl_seconds / seconds
        );
    }
}
