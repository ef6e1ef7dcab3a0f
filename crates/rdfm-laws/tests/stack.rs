//! A thread with 128 KiB of stack, the default on musl, can process the deepest input that limits
//! allow.
//!
//! A stack overflow aborts the process, so that all tests in this file fail.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;

use rdfm_core::codec::Parts;
use rdfm_core::codec::batch::{BatchRef, NextBatchOf as _};
use rdfm_core::codec::options::MAX_DEPTH;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::Quad;
use rdfm_laws::options::{Reading, Writing};

const STACK: usize = 128 << 10;
const DEPTH: usize = 100;

/// Runs `work` on a thread with a small stack.
fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        builder.spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

fn nested(open: &str, inner: &str, close: &str, times: usize) -> String {
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

/// Reads a valid log.
fn read(format: &str, log: &[u8]) -> Vec<MessageBatch> {
    let reading = Reading::for_format(format).with_if_supported("max_depth", DEPTH as u64);
    let mut decoder = reading.decoder();
    decoder.feed(log);
    decoder.finish();
    let batches: Vec<_> = std::iter::from_fn(|| decoder.next_batch_of::<Quad>().unwrap()).collect();
    assert!(batches.iter().any(|batch| !batch.records().is_empty()));
    batches
}

fn triple_terms() -> Vec<MessageBatch> {
    let object = nested("<<( <a:> <b:> ", "<c:>", " )>>", DEPTH);
    read("nq", format!("<a:> <b:> {object} .\n").as_bytes())
}

#[test]
fn the_tested_depth_is_the_largest_allowed_max_depth() {
    assert_eq!(u64::try_from(DEPTH), Ok(MAX_DEPTH));
}

/// Tests depths just below and above the thresholds for using a separate stack.
#[test]
fn json_ld_and_yaml_ld_fit_in_a_small_stack() {
    for depth in [8, 9, 16, 17, DEPTH] {
        json_ld_and_yaml_ld_of_depth(depth);
    }
}

fn json_ld_and_yaml_ld_of_depth(depth: usize) {
    let chain: Vec<String> = (1..depth)
        .map(|index| format!("\"t{index}\":\"t{}:x\"", index - 1))
        .collect();
    let scoped = nested(
        "{\"t\":{\"@id\":\"a:t\",\"@context\":",
        "{}",
        "}}",
        depth / 2 - 1,
    );
    for document in [
        nested("{\"a:p\":", "1", "}", depth),
        format!("{{\"a:p\":{}}}", nested("[", "1", "]", depth - 1)),
        nested("{\"a:p\":[", "1", "]}", depth / 2),
        format!(
            "{{\"a:p\":{}}}",
            nested("{\"@list\":[", "1", "]}", depth / 2 - 1)
        ),
        nested("{\"@graph\":", "{\"a:p\":1}", "}", depth - 1),
        nested(
            "{\"@id\":\"a:s\",\"@graph\":",
            "{\"a:p\":1}",
            "}",
            depth - 1,
        ),
        nested("{\"@nest\":", "{\"a:p\":1}", "}", depth - 1),
        nested(
            "{\"@id\":\"a:s\",\"@included\":",
            "{\"a:p\":1}",
            "}",
            depth - 1,
        ),
        nested(
            "{\"@reverse\":{\"a:p\":",
            "{\"a:p\":1}",
            "}}",
            depth / 2 - 1,
        ),
        format!(
            "{{\"a:p\":{{\"@type\":\"@json\",\"@value\":{}}}}}",
            nested("[", "1", "]", depth - 2)
        ),
        format!(
            "{{\"@context\":{{\"t0\":\"a:t\",{}}},\"a:p\":1}}",
            chain.join(",")
        ),
        format!("{{\"@context\":{scoped},\"a:p\":1}}"),
    ] {
        for format in ["jsonld", "ndjsonld", "yamlld"] {
            on_a_small_stack(|| drop(read(format, document.as_bytes())));
        }
    }
    let blocks: Vec<String> = (0..depth)
        .map(|index| format!("\n{}a:p:", " ".repeat(index)))
        .collect();
    let blocks = format!("{} 1\n", blocks.concat());
    on_a_small_stack(|| drop(read("yamlld", blocks.as_bytes())));
}

#[test]
fn turtle_and_rdf_xml_fit_in_a_small_stack() {
    for object in [
        nested("[ <a:p> ", "1", " ]", DEPTH),
        nested("( ", "1", " )", DEPTH),
        nested("<< <a:> <b:> ", "1", " >>", DEPTH),
    ] {
        let log = format!("<a:> <b:> {object} .");
        on_a_small_stack(|| drop(read("trig", log.as_bytes())));
    }
    let elements = nested(
        "<r:Description><e:p>",
        "1",
        "</e:p></r:Description>",
        DEPTH / 2 - 1,
    );
    let document = format!(
        "<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"a:\">{elements}</r:RDF>"
    );
    on_a_small_stack(|| drop(read("rdfxml", document.as_bytes())));
}

#[test]
fn pretty_text_fits_in_a_small_stack() {
    let triple = nested("<<( <a:> <b:> ", "_:x", " )>>", DEPTH);
    for object in [
        nested("[ <a:p> ", "1", " ], [ <a:p> _:x ]", DEPTH),
        nested("( ", "1 [ ]", " )", DEPTH - 1),
        format!("{triple}, _:x"),
    ] {
        let log = format!("<a:> <b:> {object} .");
        let batches = read("trig", log.as_bytes());
        let text = on_a_small_stack(|| {
            let writing = Writing::for_format("trig")
                .with("pretty", true)
                .with("max_depth", DEPTH as u64);
            let mut encoder = writing.encoder();
            let mut text = Vec::new();
            for batch in &batches {
                encoder
                    .encode(BatchRef::Messages(batch), &mut text)
                    .unwrap();
            }
            encoder.finish(&mut text).unwrap();
            text
        });
        read("trig", &text);
    }
}

#[test]
fn triple_terms_fit_in_a_small_stack_in_every_format() {
    let batches = on_a_small_stack(triple_terms);
    for format in ["nq", "trig", "jelly", "rdf-protobuf", "rdf-thrift"] {
        for flat in [false, true] {
            let writing = Writing::for_format(format)
                .with("flat", flat)
                .with_if_supported("rdf_star", true);
            let log = on_a_small_stack(|| {
                let mut encoder = writing.encoder();
                let mut log = Vec::new();
                for batch in batches.iter().chain(&batches) {
                    encoder.encode(BatchRef::Messages(batch), &mut log).unwrap();
                    if !flat {
                        break;
                    }
                }
                encoder.finish(&mut log).unwrap();
                log
            });
            let actual = on_a_small_stack(|| read(format, &log));
            let triples = |batches: &[MessageBatch]| -> usize {
                batches
                    .iter()
                    .map(|batch| batch.table().terms().len())
                    .sum()
            };
            assert!(triples(&actual) >= DEPTH, "{format}");
        }
    }
}

#[test]
fn repeated_terms_fit_in_a_small_stack() {
    let batches = triple_terms();
    let log = on_a_small_stack(|| {
        let mut encoder = Writing::for_format("jelly")
            .with("rdf_star", true)
            .encoder();
        let mut log = Vec::new();
        for batch in batches.iter().chain(&batches) {
            encoder.encode(BatchRef::Messages(batch), &mut log).unwrap();
        }
        encoder.finish(&mut log).unwrap();
        log
    });
    on_a_small_stack(|| {
        let mut reading = Reading::for_format("jelly")
            .with("max_depth", DEPTH as u64)
            .with("batch_messages", 1);
        reading.opening.parts = Parts::Always;
        let mut decoder = reading.decoder();
        decoder.feed(&log);
        decoder.finish();
        let read: Vec<_> =
            std::iter::from_fn(|| decoder.next_batch_of::<Quad>().unwrap()).collect();
        assert_eq!(read.len(), 2);
    });
}
