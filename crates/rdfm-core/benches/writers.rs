//! Speed of the text writers on one core: quads per second from a batch, with a reused output
//! buffer.
//!
//! `cargo bench -p rdfm-core --bench writers [-- DATA] [FORMAT]`. Data: an IoT-like log (6 triples
//! per message with one unique literal each; other terms are shared, as in decoded batches) and a
//! nanopublication-like log (four named graphs per message). Reports the best of 40 short runs, so
//! that other work on the machine has little effect. `copy` is the speed of copying the output
//! once.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a benchmark may fail during setup

use std::hint::black_box;
use std::time::Instant;

use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{Quad, TermId, TermKind, flags::PLAIN};
use rdfm_core::registry;

const EX: &str = "http://example.org/iot/";

fn iri(builder: &mut BatchBuilder, text: &str) -> TermId {
    builder
        .add_simple(TermKind::Iri, text.as_bytes(), PLAIN)
        .unwrap()
}

fn add(
    builder: &mut BatchBuilder,
    subject: TermId,
    predicate: TermId,
    object: TermId,
    graph: TermId,
) {
    builder
        .add_quad(Quad {
            subject,
            predicate,
            object,
            graph,
        })
        .unwrap();
}

/// Observations with shared predicates, and a unique subject in each message.
fn iot(messages: usize, graphs: bool) -> Vec<MessageBatch> {
    let mut builder = BatchBuilder::new(Limits::default());
    let mut batches = Vec::new();
    let mut shared: Option<Vec<TermId>> = None;
    builder.add_namespace(b"ex", EX.as_bytes()).unwrap();
    builder
        .add_namespace(b"sosa", b"http://www.w3.org/ns/sosa/")
        .unwrap();
    for n in 0..messages {
        let terms = shared.get_or_insert_with(|| {
            [
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
                "http://www.w3.org/ns/sosa/Observation",
                "http://www.w3.org/ns/sosa/madeBySensor",
                "http://www.w3.org/ns/sosa/observedProperty",
                "http://www.w3.org/ns/sosa/hasSimpleResult",
                "http://www.w3.org/ns/sosa/resultTime",
                "http://www.w3.org/ns/sosa/hasFeatureOfInterest",
                "http://www.w3.org/2001/XMLSchema#double",
                "http://www.w3.org/2001/XMLSchema#dateTime",
                "http://example.org/iot/property/temperature",
                "http://example.org/iot/room/12",
                "http://example.org/iot/graph/1",
            ]
            .into_iter()
            .map(|text| iri(&mut builder, text))
            .collect()
        });
        let t = terms.clone();
        let graph = if graphs { t[11] } else { TermId::DEFAULT_GRAPH };
        builder.begin_message(n as u64);
        let subject = iri(&mut builder, &format!("{EX}observation/{n}"));
        let sensor = iri(&mut builder, &format!("{EX}sensor/{}", n % 50));
        let value = builder
            .add_with_aux(
                TermKind::TypedLiteral,
                format!("{}.{}E0", n % 40, n % 10).as_bytes(),
                t[7].0,
                PLAIN,
            )
            .unwrap();
        let time = builder
            .add_with_aux(
                TermKind::TypedLiteral,
                format!("2026-11-21T02:{:02}:{:02}Z", n / 60 % 60, n % 60).as_bytes(),
                t[8].0,
                PLAIN,
            )
            .unwrap();
        for (predicate, object) in [
            (t[0], t[1]),
            (t[2], sensor),
            (t[3], t[9]),
            (t[4], value),
            (t[5], time),
            (t[6], t[10]),
        ] {
            add(&mut builder, subject, predicate, object, graph);
        }
        builder.end_message();
        if builder.is_full() {
            batches.extend(builder.take());
            shared = None;
        }
    }
    batches.extend(builder.take());
    batches
}

/// Nanopublications with four graphs each. Every message declares its prefixes.
fn nanopubs(messages: usize) -> Vec<MessageBatch> {
    let mut builder = BatchBuilder::new(Limits::default());
    let mut batches = Vec::new();
    for n in 0..messages {
        let np = format!("http://purl.org/np/RA{n:040x}");
        builder.begin_message(n as u64);
        for (name, text) in [
            ("this", np.clone()),
            ("sub", format!("{np}#")),
            ("np", "http://www.nanopub.org/nschema#".to_owned()),
            ("dct", "http://purl.org/dc/terms/".to_owned()),
            ("prov", "http://www.w3.org/ns/prov#".to_owned()),
        ] {
            builder
                .add_namespace(name.as_bytes(), text.as_bytes())
                .unwrap();
        }
        let nanopub = iri(&mut builder, &np);
        for part in ["Head", "assertion", "provenance", "pubinfo"] {
            let graph = iri(&mut builder, &format!("{np}#{part}"));
            for k in 0..8 {
                let predicate = iri(&mut builder, &format!("http://purl.org/dc/terms/p{k}"));
                let object = if k % 2 == 0 {
                    iri(
                        &mut builder,
                        &format!("http://www.w3.org/ns/prov#{part}{k}"),
                    )
                } else {
                    builder
                        .add_simple(
                            TermKind::Literal,
                            b"some words that say what is meant",
                            PLAIN,
                        )
                        .unwrap()
                };
                add(&mut builder, nanopub, predicate, object, graph);
            }
        }
        builder.end_message();
        if builder.is_full() {
            batches.extend(builder.take());
        }
    }
    batches.extend(builder.take());
    batches
}

fn measure(name: &str, format: &str, batches: &[MessageBatch]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_selected =
        |argument: &String| argument.starts_with('-') || argument == name || argument == format;
    if !arguments.iter().all(is_selected) {
        return;
    }
    let spec = registry::find(format).unwrap();
    let Ok(mut encoder) = registry::new_encoder(spec, &Values::default(), None) else {
        return;
    };
    let quads: usize = batches.iter().map(|batch| batch.quads().len()).sum();
    let mut out = Vec::new();
    let mut seconds = Vec::new();
    let mut bytes = 0;
    for _ in 0..40 {
        bytes = 0;
        let start = Instant::now();
        for batch in batches {
            out.clear();
            encoder.encode(black_box(batch).into(), &mut out).unwrap();
            bytes += black_box(&out).len();
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let best = seconds[0];
    println!(
        "{name:10} {:5} {:7.1} M quads/s {:8.0} MB/s {:6.1} bytes/quad",
        format,
        quads as f64 / best / 1e6,
        bytes as f64 / best / 1e6,
        bytes as f64 / quads as f64
    );
}

fn main() {
    let triples = iot(50_000, false);
    let quads = iot(50_000, true);
    let nanopubs = nanopubs(5000);
    measure("iot", "nt", &triples);
    measure("iot", "ttl", &triples);
    measure("iot", "nq", &quads);
    measure("iot", "trig", &quads);
    measure("nanopubs", "nq", &nanopubs);
    measure("nanopubs", "trig", &nanopubs);
}
