//! Speed of the Jelly codec on one core: triples per second, and bytes per triple.
//!
//! `cargo bench -p rdfm-core --bench jelly [-- DATA [MESSAGES [VERSION]]]`. Data: `iot` (200,000
//! messages of six triples) and `osm` (10,000 messages of thirty triples, with many different names).
//! Versions: 1.1, and 1.2, a draft. Reports the best of ten runs, in processor time if the system provides it, so that other work on the
//! machine has little effect.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::formats::jelly::spec::JELLY;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{Quad, TermId, TermKind};
use rdfm_core::registry;

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const SOSA: &str = "http://www.w3.org/ns/sosa/";
const OM: &str = "http://www.ontology-of-units-of-measure.org/resource/om-2/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const OSM: &str = "https://www.openstreetmap.org/";

/// A pseudorandom number computed from a counter.
fn mix(number: u32, salt: u32) -> u32 {
    let x = number
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(salt.wrapping_mul(0x85EB_CA6B));
    let x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// A function that adds one message.
type AddMessage = fn(&mut BatchMaker, u32);

/// Builds batches of generated messages.
struct BatchMaker {
    builder: BatchBuilder,
    batches: Vec<MessageBatch>,
}

impl BatchMaker {
    fn iri(&mut self, text: &str) -> TermId {
        self.builder
            .add_simple(TermKind::Iri, text.as_bytes(), 0)
            .unwrap()
    }

    fn literal(&mut self, text: &str, datatype: Option<TermId>) -> TermId {
        let (kind, aux) = match datatype {
            Some(id) => (TermKind::TypedLiteral, id.0),
            None => (TermKind::Literal, 0),
        };
        self.builder
            .add_with_aux(kind, text.as_bytes(), aux, 0)
            .unwrap()
    }

    fn add(&mut self, subject: TermId, predicate: TermId, object: TermId) {
        self.builder
            .add_quad(Quad {
                subject,
                predicate,
                object,
                graph: TermId::DEFAULT_GRAPH,
            })
            .unwrap();
    }

    fn end_message(&mut self) {
        self.builder.end_message();
        if self.builder.is_full() {
            self.batches.extend(self.builder.take());
        }
    }
}

fn timestamp(seconds: u32) -> String {
    let (day, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "2026-06-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        day % 30 + 1
    )
}

/// Observations of 500 sensors, each with its result in a blank node.
fn iot(maker: &mut BatchMaker, i: u32) {
    let sensor = mix(i, 1) % 500;
    let observation = maker.iri(&format!("https://iot.example/observation/{i}"));
    let kind = maker.iri(TYPE);
    let object = maker.iri(&format!("{SOSA}Observation"));
    maker.add(observation, kind, object);
    let predicate = maker.iri(&format!("{SOSA}madeBySensor"));
    let object = maker.iri(&format!("https://iot.example/sensor/{sensor}"));
    maker.add(observation, predicate, object);
    let predicate = maker.iri(&format!("{SOSA}resultTime"));
    let datatype = maker.iri(&format!("{XSD}dateTime"));
    let object = maker.literal(&timestamp(i * 3), Some(datatype));
    maker.add(observation, predicate, object);
    let predicate = maker.iri(&format!("{SOSA}hasResult"));
    let result = maker
        .builder
        .add_simple(TermKind::BlankNode, b"r", 0)
        .unwrap();
    maker.add(observation, predicate, result);
    let predicate = maker.iri(&format!("{OM}hasNumericalValue"));
    let datatype = maker.iri(&format!("{XSD}double"));
    let value = f64::from(mix(i, 2) % 4000) / 100.0;
    let object = maker.literal(&value.to_string(), Some(datatype));
    maker.add(result, predicate, object);
    let predicate = maker.iri(&format!("{OM}hasUnit"));
    let units = ["degreeCelsius", "percent", "pascal", "lux"];
    let object = maker.iri(&format!("{OM}{}", units[sensor as usize % 4]));
    maker.add(result, predicate, object);
}

/// Map nodes, each with literals and ten areas. Twenty consecutive nodes share their areas.
fn osm(maker: &mut BatchMaker, i: u32) {
    let node = maker.iri(&format!("{OSM}node/{}", 340_000_000 + i * 7));
    let datatype = maker.iri("http://www.opengis.net/ont/geosparql#wktLiteral");
    for n in 0..6 {
        let predicate = maker.iri(&format!("https://osm2rdf.example/geom#shape{n}"));
        let index = format!("{}.{:06} 54.{:06}", n, mix(i, 1) % 1_000_000, mix(i, 2));
        let object = maker.literal(&format!("POINT({index})"), Some(datatype));
        maker.add(node, predicate, object);
    }
    for n in 0..14 {
        let predicate = maker.iri(&format!("{OSM}wiki/Key:key{n}"));
        let object = maker.literal(&format!("value {}", mix(i, n) % 50), None);
        maker.add(node, predicate, object);
    }
    for n in 0..10 {
        let predicate = maker.iri("http://www.opengis.net/rdf#sfIntersects");
        let area = 500_000_000 + mix(i / 20, 30 + n) % 90_000;
        let object = maker.iri(&format!("{OSM}way/{area}"));
        maker.add(node, predicate, object);
    }
}

fn batches(messages: u32, add_message: AddMessage) -> Vec<MessageBatch> {
    let mut maker = BatchMaker {
        builder: BatchBuilder::new(Limits::default()),
        batches: Vec::new(),
    };
    for i in 0..messages {
        maker.builder.begin_message(0);
        add_message(&mut maker, i);
        maker.end_message();
    }
    maker.batches.extend(maker.builder.take());
    maker.batches
}

fn decode(log: &[u8]) -> Vec<MessageBatch> {
    let (values, opening) = (Values::default(), Opening::default());
    let mut decoder = registry::new_decoder(&JELLY, &values, &opening).unwrap();
    let mut actual = Vec::new();
    for piece in log.chunks(256 << 10) {
        decoder.feed(piece);
        while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
            actual.push(batch);
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
        actual.push(batch);
    }
    actual
}

/// Decodes and drops each batch, as a converter does.
#[inline(never)] // for callgrind
fn read(log: &[u8]) -> usize {
    let (values, opening) = (Values::default(), Opening::default());
    let mut decoder = registry::new_decoder(&JELLY, &values, &opening).unwrap();
    let mut quads = 0;
    for piece in log.chunks(256 << 10) {
        decoder.feed(piece);
        while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
            quads += black_box(&batch).quads().len();
        }
    }
    decoder.finish();
    while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
        quads += black_box(&batch).quads().len();
    }
    quads
}

#[inline(never)] // for callgrind
fn encode(batches: &[MessageBatch], version: &str, out: &mut Vec<u8>) {
    let given = [("jelly_version", version.into())];
    let values = Values::read(JELLY.writes(), given).unwrap();
    let mut encoder = registry::new_encoder(&JELLY, &values, None).unwrap();
    for batch in batches {
        encoder.encode(batch.into(), out).unwrap();
    }
    encoder.finish(out).unwrap();
}

/// Processor time of this thread in seconds, or elapsed time if the system does not provide it.
fn seconds(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

fn best(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..10)
        .map(|_| {
            let before = seconds(start);
            run();
            seconds(start) - before
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let selected = std::env::args().nth(1).filter(|arg| !arg.starts_with("--"));
    let data: [(&str, u32, AddMessage); 2] = [("iot", 200_000, iot), ("osm", 10_000, osm)];
    for (name, messages, message) in data {
        if selected.as_ref().is_some_and(|selected| selected != name) {
            continue;
        }
        let messages = std::env::args()
            .nth(2)
            .and_then(|count| count.parse().ok())
            .unwrap_or(messages);
        let version = std::env::args().nth(3);
        for version in version
            .as_deref()
            .map_or(vec!["1.1", "1.2"], |version| vec![version])
        {
            measure(name, version, &batches(messages, message));
        }
    }
}

/// Measures reading and writing, and prints a line.
fn measure(name: &str, version: &str, batches: &[MessageBatch]) {
    let mut log = Vec::new();
    encode(batches, version, &mut log);
    let decoded = decode(&log);
    let quads: usize = decoded.iter().map(|batch| batch.quads().len()).sum();
    let reading = best(|| {
        black_box(read(&log));
    });
    let mut out = Vec::with_capacity(log.len());
    let writing = best(|| {
        out.clear();
        encode(black_box(&decoded), version, &mut out);
    });
    assert_eq!(out, log);
    let millions = quads as f64 / 1e6;
    println!(
        "{name} {version}: {quads} triples, {:.1} bytes each; read {:.1} M/s, write {:.1} M/s",
        log.len() as f64 / quads as f64,
        millions / reading,
        millions / writing
    );
}
