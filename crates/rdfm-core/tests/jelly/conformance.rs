//! The conformance suite of Jelly-RDF and the files of Jelly-JVM.

use std::fs;

use rdfm_core::codec::carries::Capabilities;
use rdfm_core::codec::values::Value;
use rdfm_core::codec::{Decoder, Source};

use crate::jelly::json::Json;
use crate::jelly::model::{Message, batch, decode_every_way, outcome, parse_nquads, same};
use crate::support::{self, Options, encoder, shared_path};

/// Creates a decoder that reads each frame as a message, whatever the logical type. The suites
/// compare frame by frame.
fn decoder() -> Box<dyn Decoder> {
    let options = Options::with("frames", "message");
    support::decoder("jelly", &options).unwrap()
}

fn decode(data: &[u8]) -> (Vec<Message>, Option<String>) {
    decode_every_way(&decoder, data)
}

#[test]
#[ignore = "reads suites"]
fn cases_are_read_as_expected() {
    let Some(folder) = shared_path("conformance/jelly") else {
        return;
    };
    let manifest = Json::parse(&fs::read_to_string(folder.join("manifest.json")).unwrap());
    let mut count = 0;
    let mut failures = Vec::new();
    for case in manifest.get("cases").list() {
        if case.get("direction").text() != "from_jelly" {
            continue;
        }
        count += 1;
        let id = case.get("id").text();
        let data = fs::read(folder.join(case.get("inputs").list()[0].text())).unwrap();
        let (messages, error) = decode(&data);
        if case.get("expected").text() == "negative" {
            match error {
                None => failures.push(format!("{id}: accepted")),
                Some(error) => println!("{id}: {error}"),
            }
            continue;
        }
        if let Some(error) = error {
            failures.push(format!("{id}: {error}"));
            continue;
        }
        let outputs = case.get("outputs").list();
        if outputs.len() != messages.len() {
            failures.push(format!(
                "{id}: {} messages, expected {}",
                messages.len(),
                outputs.len()
            ));
            continue;
        }
        for (index, (output, message)) in outputs.iter().zip(&messages).enumerate() {
            let expected = parse_nquads(&fs::read_to_string(folder.join(output.text())).unwrap());
            if !same(&message.statements, &expected) {
                failures.push(format!("{id}: message {index} differs"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(count, 48);
}

/// The stream options in the header of a log.
fn header(data: &[u8]) -> Vec<(&'static str, Value)> {
    let mut decoder = decoder();
    outcome(&mut *decoder, data, data.len());
    decoder.header().options.clone()
}

/// Returns encoder options that request the stream options of a log.
fn options_of(header: Vec<(&'static str, Value)>) -> Options {
    let options = header.into_iter();
    let mut writing = Options::default();
    writing.source = Some(Source {
        carries: Capabilities::ALL,
        dialect: None,
        options: options
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect(),
        requested: true,
        namespaces: false,
        flat: false,
        continued: false,
    });
    writing
}

#[test]
#[ignore = "reads suites"]
fn cases_are_written_as_expected() {
    let Some(folder) = shared_path("conformance/jelly") else {
        return;
    };
    let manifest = Json::parse(&fs::read_to_string(folder.join("manifest.json")).unwrap());
    let mut count = 0;
    let mut failures = Vec::new();
    let (mut ours, mut theirs) = (0, 0);
    for case in manifest.get("cases").list() {
        if case.get("direction").text() != "to_jelly" {
            continue;
        }
        count += 1;
        let id = case.get("id").text();
        let options = fs::read(folder.join(case.get("options").text())).unwrap();
        let is_positive = case.get("expected").text() == "positive";
        let options = header(&options);
        if options.is_empty() {
            if is_positive {
                failures.push(format!("{id}: the options are rejected"));
            }
            continue;
        }
        let messages: Vec<Message> = case
            .get("inputs")
            .list()
            .iter()
            .map(|input| Message {
                statements: parse_nquads(&fs::read_to_string(folder.join(input.text())).unwrap()),
                ..Message::default()
            })
            .collect();
        let encoder_options = options_of(options.clone());
        let mut out = Vec::new();
        let result = encoder("jelly", &encoder_options).and_then(|mut encoder| {
            encoder
                .encode((&batch(&messages)).into(), &mut out)
                .and_then(|()| encoder.finish(&mut out))
                .map_err(|error| error.reason)
        });
        match (is_positive, result) {
            (false, Err(error)) => println!("{id}: {error}"),
            (false, Ok(())) => failures.push(format!("{id}: written, expected an error")),
            (true, Err(error)) => failures.push(format!("{id}: {error}")),
            (true, Ok(())) => {
                if header(&out) != options {
                    failures.push(format!("{id}: the options differ"));
                }
                let (reread, error) = decode(&out);
                if error.is_some() || reread.len() != messages.len() {
                    failures.push(format!("{id}: {} messages, {error:?}", reread.len()));
                }
                for (index, (a, b)) in reread.iter().zip(&messages).enumerate() {
                    if !same(&a.statements, &b.statements) {
                        failures.push(format!("{id}: message {index} differs"));
                    }
                }
                ours += out.len();
                theirs += fs::metadata(folder.join(case.get("reference").text()))
                    .unwrap()
                    .len() as usize;
            }
        }
    }
    println!("{ours} bytes; the references have {theirs}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        ours * 100 <= theirs * 101,
        "{ours} bytes; the references have {theirs}"
    );
    assert_eq!(count, 39);
}

/// Encodes the messages with the options of their log and checks the round trip.
fn reencoded(data: &[u8], messages: &[Message]) -> Vec<u8> {
    // One file has generalized statements without declaring them.
    let options = options_of(header(data)).and("generalized", true);
    let mut encoder = encoder("jelly", &options).unwrap();
    let mut out = Vec::new();
    encoder.encode((&batch(messages)).into(), &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    let (reread, error) = decode(&out);
    assert_eq!(error, None);
    assert_eq!(reread.len(), messages.len());
    for (a, b) in reread.iter().zip(messages) {
        assert_eq!(a.statements, b.statements);
        assert_eq!(a.metadata, b.metadata);
    }
    out
}

#[test]
#[ignore = "reads suites"]
fn jelly_jvm_files_are_read() {
    let Some(folder) = shared_path("conformance/jena") else {
        return;
    };
    let manifest = Json::parse(&fs::read_to_string(folder.join("manifest.json")).unwrap());
    let mut count = 0;
    let mut failures = Vec::new();
    let (mut ours, mut theirs) = (0, 0);
    for case in manifest.get("files").list() {
        if case.get("format").text() != "jelly" {
            continue;
        }
        count += 1;
        let file = case.get("file").text();
        let data = fs::read(folder.join(file)).unwrap();
        let (messages, error) = decode(&data);
        let is_rejected = *case.get("error") != Json::Null;
        if is_rejected != error.is_some() {
            failures.push(format!("{file}: {error:?}"));
        }
        if let Some(error) = error {
            println!("{file}: {error}");
        }
        let frames: Vec<usize> = case.get("frames").list().iter().map(Json::number).collect();
        let actual: Vec<usize> = messages.iter().map(|m| m.statements.len()).collect();
        if frames != actual {
            failures.push(format!(
                "{file}: messages with {actual:?} quads, expected {frames:?}"
            ));
        }
        for (message, metadata) in messages.iter().zip(case.get("frame_metadata_hex").list()) {
            let Json::Map(expected) = metadata else {
                panic!("{metadata:?}")
            };
            let actual = message.metadata.iter().map(|(key, value)| {
                let hex: Vec<String> = value.iter().map(|byte| format!("{byte:02x}")).collect();
                (key.clone(), Json::Text(hex.concat()))
            });
            assert_eq!(
                actual.collect::<std::collections::BTreeMap<_, _>>(),
                *expected
            );
        }
        let Json::Text(expected) = case.get("expected") else {
            continue;
        };
        let expected = parse_nquads(&fs::read_to_string(folder.join(expected)).unwrap());
        if !is_rejected {
            theirs += data.len();
            ours += reencoded(&data, &messages).len();
        }
        let all: Vec<_> = messages.into_iter().flat_map(|m| m.statements).collect();
        if !same(&all, &expected) {
            for (index, (a, b)) in all.iter().zip(&expected).enumerate() {
                if a != b {
                    println!("{file} {index}: {a:?}\n  {b:?}");
                }
            }
            failures.push(format!("{file}: the statements differ"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(count, 21);
    assert!(
        ours * 100 <= theirs * 101,
        "{ours} bytes; the files of Jelly-JVM have {theirs}"
    );
}
