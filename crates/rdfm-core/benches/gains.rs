//! Gain of each fast path: instructions without it, divided by instructions with it.
//!
//! `make bench-gains`, or `make bench-gains PATHS='jelly-rows xml-binding'`. Needs valgrind, which
//! counts the same instructions on a busy machine. Setup is not counted: each figure is the
//! difference between two runs and one run of the same work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_precision_loss)] // a benchmark may fail

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::{Batch, BatchRef};
use rdfm_core::codec::spec::{FormatSpec, Kind};
use rdfm_core::codec::values::Values;
use rdfm_core::model::fast_path::FastPath;
use rdfm_core::registry;

const MESSAGES: usize = 1_000;

/// The work that each path makes faster: reading or writing logs of some formats.
const WORK: [(FastPath, &str, &[&str]); 16] = [
    (FastPath::JellyRows, "read", &["jelly", "jelly-patch"]),
    (FastPath::NextTerm, "read", &["nq", "rdf-patch"]),
    (FastPath::ProtobufTerms, "read", &["rdf-protobuf"]),
    (FastPath::ThriftTerms, "read", &["rdf-patch-thrift"]),
    (FastPath::XmlBindings, "read", &["results-xml"]),
    (FastPath::JsonBindings, "read", &["results-json"]),
    (FastPath::Forms, "read", &["ndjsonld"]),
    (FastPath::Plans, "read", &["ndjsonld"]),
    (FastPath::NamesWithColon, "read", &["ndjsonld", "yamlld"]),
    (FastPath::SmallObjects, "read", &["ndjsonld", "yamlld"]),
    (FastPath::RedefinedContexts, "read", &["ndjsonld", "yamlld"]),
    (FastPath::SimpleIris, "read", &["ndjsonld", "yamlld"]),
    (FastPath::SureIris, "read", &["ndjsonld", "yamlld"]),
    (FastPath::UsualIris, "write", &["ndjsonld"]),
    (FastPath::BlockYaml, "read", &["yamlld"]),
    (FastPath::OneNamespace, "write", &["trig", "ndjsonld"]),
];

/// A pseudorandom number below `limit`, computed from a counter.
fn below(counter: usize, limit: usize) -> usize {
    (counter.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % limit
}

/// TriG messages of one shape, with the prefixes declared once.
fn iot() -> String {
    let mut log = String::from(
        "PREFIX ex: <http://example.org/iot/>\nPREFIX sosa: <http://www.w3.org/ns/sosa/>\n\
         PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n",
    );
    for n in 0..MESSAGES {
        write!(
            log,
            "# @message\nex:observation-{n} a sosa:Observation ; sosa:madeBySensor ex:sensor-{} ;\n\
             sosa:hasResult [ sosa:value \"{}.5\"^^xsd:double ; sosa:unit ex:lux ] ;\n\
             sosa:comment \"observation number {n}\"@en ;\n\
             sosa:resultTime \"2026-01-01T00:{:02}:00Z\"^^xsd:dateTime .\n",
            below(n, 50),
            below(n, 97),
            n % 60
        )
        .unwrap();
    }
    log
}

/// TriG messages of many shapes, each with its own prefixes and four graphs.
fn nanopubs() -> String {
    let mut log = String::new();
    for n in 0..MESSAGES / 4 {
        write!(
            log,
            "# @message\n@prefix this: <http://purl.org/np/RA{n:040x}> .\n\
             @prefix sub: <http://purl.org/np/RA{n:040x}#> .\n\
             @prefix np: <http://www.nanopub.org/nschema#> .\n@prefix dct: <http://purl.org/dc/terms/> .\n\
             @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n\
             sub:Head {{ this: np:hasAssertion sub:assertion ; np:hasProvenance sub:provenance ;\n\
             np:hasPublicationInfo sub:pubinfo ; a np:Nanopublication . }}\nsub:assertion {{\n"
        )
        .unwrap();
        for k in 0..2 + below(n, 9) {
            let other = below(n * 16 + k, 5000);
            writeln!(
                log,
                "<http://example.org/paper/{}> dct:property{k} <http://example.org/paper/{other}>, \
                 \"Paper number {other}\" .",
                n + k / 3
            )
            .unwrap();
        }
        write!(
            log,
            "}}\nsub:provenance {{ sub:assertion dct:source <http://example.org/source/{}> . }}\n\
             sub:pubinfo {{ this: dct:created \"2024-09-18T11:19:{:02}.183Z\"^^xsd:dateTime ;\n\
             dct:creator <https://orcid.org/0000-0002-1267-{:04}> . }}\n",
            n % 10,
            n % 60,
            below(n, 300)
        )
        .unwrap();
    }
    log
}

/// TriG messages with literals of 100 to 400 bytes.
fn texts() -> String {
    let mut log = String::from("PREFIX ex: <http://example.org/text/>\n");
    for n in 0..MESSAGES / 2 {
        let text = "Some words of a longer text. ".repeat(4 + below(n, 10));
        write!(
            log,
            "# @message\nex:t{n} ex:title \"Text {n}\"@en ; ex:text \"{text}\"@en, \"{text}{n}\" .\n"
        )
        .unwrap();
    }
    log
}

/// Transactions of RDF Patch that delete three quads and add three.
fn patches() -> String {
    let mut log = String::new();
    for n in 0..MESSAGES {
        writeln!(log, "H id <uuid:{n}> .\nTX .").unwrap();
        for (code, n) in [("D", n.saturating_sub(1)), ("A", n)] {
            let subject = format!("<http://example.org/observation/{n}>");
            let graph = "<http://example.org/graph>";
            let sosa = "http://www.w3.org/ns/sosa/";
            write!(
                log,
                "{code} {subject} <{sosa}madeBySensor> <http://example.org/sensor/{}> {graph} .\n\
                 {code} {subject} <{sosa}hasResult> _:b{n} {graph} .\n\
                 {code} _:b{n} <{sosa}value> \"{}.5\"^^<http://www.w3.org/2001/XMLSchema#double> {graph} .\n",
                below(n, 50),
                below(n, 97)
            )
            .unwrap();
        }
        log.push_str("TC .\n");
    }
    log
}

/// Rows of SPARQL results as TSV.
fn rows() -> String {
    let mut log = String::from("?observation\t?sensor\t?value\t?comment\n");
    for n in 0..MESSAGES * 4 {
        writeln!(
            log,
            "<http://example.org/observation/{n}>\t_:b{}\t{}\t\"observation number {n}\"@en",
            below(n, 50),
            below(n, 4000)
        )
        .unwrap();
    }
    log
}

fn read(format: &FormatSpec, log: &[u8]) -> Vec<Batch> {
    let mut decoder =
        registry::new_decoder(format, &Values::default(), &Opening::default()).unwrap();
    decoder.feed(log);
    decoder.finish();
    let mut batches = Vec::new();
    while let Some(batch) = decoder.next_batch().unwrap() {
        batches.push(batch);
    }
    batches
}

fn write_log(format: &FormatSpec, batches: &[Batch]) -> Vec<u8> {
    let mut encoder = registry::new_encoder(format, &Values::default(), None).unwrap();
    let mut out = Vec::new();
    for batch in batches {
        encoder.encode(BatchRef::from(batch), &mut out).unwrap();
    }
    encoder.finish(&mut out).unwrap();
    out
}

/// Logs that a format can contain: name, format and text.
fn logs(format: &FormatSpec) -> Vec<(&'static str, &'static str, String)> {
    match format.kinds[0] {
        Kind::Messages => vec![
            ("iot", "trig", iot()),
            ("nanopubs", "trig", nanopubs()),
            ("texts", "trig", texts()),
        ],
        Kind::Patches => vec![("patches", "rdf-patch", patches())],
        Kind::Results => vec![("rows", "results-tsv", rows())],
    }
}

/// Repeats some work without a fast path, unless `path` is empty.
fn run([path, format, direction, data, runs]: [&str; 5]) {
    let format = registry::find(format).unwrap();
    let (_, source, text) = logs(format).into_iter().find(|log| log.0 == data).unwrap();
    let batches = read(registry::find(source).unwrap(), text.as_bytes());
    let log = write_log(format, &batches);
    let work = || {
        for _ in 0..runs.parse().unwrap() {
            if direction == "read" {
                black_box(read(format, &log));
            } else {
                black_box(write_log(format, &batches));
            }
        }
    };
    match FastPath::ALL.iter().find(|(_, name)| *name == path) {
        Some((path, _)) => path.without(work),
        None => work(),
    }
}

/// Number of instructions of some work.
fn count(path: &str, format: &str, direction: &str, data: &str) -> f64 {
    let counts = ["1", "2"].map(|runs| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .args(["run", path, format, direction, data, runs])
            .output()
            .expect("valgrind is installed");
        let report = String::from_utf8(output.stderr).unwrap();
        let (_, count) = report.rsplit_once("Collected : ").expect(&report);
        count
            .split_whitespace()
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
    });
    counts[1] - counts[0]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["run", path, format, direction, data, runs] = arguments[..] {
        return run([path, format, direction, data, runs]);
    }
    for (path, direction, formats) in WORK {
        let (_, name) = FastPath::ALL.iter().find(|known| known.0 == path).unwrap();
        let is_named = |argument: &&str| !argument.starts_with('-');
        if arguments.iter().any(is_named) && !arguments.contains(name) {
            continue;
        }
        for format in formats {
            for (data, ..) in logs(registry::find(format).unwrap()) {
                let fast = count("", format, direction, data);
                let gain = count(name, format, direction, data) / fast;
                println!("{name:20} {direction:5} {format:12} {data:9} {gain:.2} times");
            }
        }
    }
}
