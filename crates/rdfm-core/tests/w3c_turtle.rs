//! The W3C suites for Turtle and TriG in RDF 1.1 and 1.2, and the official message cases.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use std::collections::BTreeMap;

use crate::support::{Options, archive, decode_every_way, shared, skipping_every_way};
use oxrdf::{Term, Triple};

const MANIFESTS: [&str; 6] = [
    "rdf/rdf11/rdf-turtle/manifest.ttl",
    "rdf/rdf11/rdf-trig/manifest.ttl",
    "rdf/rdf12/rdf-turtle/syntax/manifest.ttl",
    "rdf/rdf12/rdf-turtle/eval/manifest.ttl",
    "rdf/rdf12/rdf-trig/syntax/manifest.ttl",
    "rdf/rdf12/rdf-trig/eval/manifest.ttl",
];

struct Case {
    kind: String,
    action: String,
    result: Option<String>,
    base: String,
}

/// Reads the cases of a manifest with oxttl.
fn cases(files: &BTreeMap<String, Vec<u8>>, manifest: &str) -> Vec<Case> {
    const TESTS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
    const KINDS: &str = "http://www.w3.org/ns/rdftest#Test";
    const ROOT: &str = "http://suite/";
    let triples: Vec<Triple> = oxttl::TurtleParser::new()
        .with_base_iri(format!("{ROOT}{manifest}"))
        .unwrap()
        .for_slice(&files[manifest])
        .map(Result::unwrap)
        .collect();
    let iri = |term: &Term| term.to_string().trim_matches(['<', '>']).to_owned();
    let values = |name: &str| {
        let predicate = format!("{TESTS}{name}");
        triples
            .iter()
            .filter(move |triple| triple.predicate.as_str() == predicate)
    };
    let file = |name: &str, triple: &Triple| {
        let actual = values(name).find(|value| value.subject == triple.subject)?;
        Some(iri(&actual.object).strip_prefix(ROOT)?.to_owned())
    };
    let assumed = iri(&values("assumedTestBase").next().unwrap().object);
    let folder = manifest.trim_end_matches("manifest.ttl");
    triples
        .iter()
        .filter(|triple| triple.predicate == oxrdf::vocab::rdf::TYPE)
        .filter_map(|triple| {
            let action = file("action", triple)?;
            Some(Case {
                kind: iri(&triple.object).strip_prefix(KINDS)?.to_owned(),
                base: format!("{assumed}{}", action.strip_prefix(folder).unwrap()),
                result: file("result", triple),
                action,
            })
        })
        .collect()
}

fn check(files: &BTreeMap<String, Vec<u8>>, case: &Case) -> Result<(), String> {
    let format = if case.kind.contains("Trig") {
        "trig"
    } else {
        "ttl"
    };
    let options = Options::with("base", case.base.as_str());
    let read = decode_every_way(format, &options, &files[&case.action]);
    match (read.error, case.kind.contains("Negative")) {
        (Some(_), true) => return check_recovery(format, &options, &files[&case.action]),
        (None, true) => return Err("accepted".to_owned()),
        (Some(error), false) => return Err(error.to_string()),
        (None, false) => {}
    }
    if let Some(result) = &case.result {
        let expected = crate::oracle::nquads(&files[result]);
        let found = read.messages.concat();
        if !crate::oracle::isomorphic(&found, &expected) {
            return Err(format!("found {found:#?}, expected {expected:#?}"));
        }
    }
    Ok(())
}

/// Checks that the message after a negative case is read, however the log is cut into pieces.
fn check_recovery(format: &str, options: &Options, invalid: &[u8]) -> Result<(), String> {
    let quad = "<http://e/s> <http://e/p> <http://e/o> .";
    let marked = format!("\n# @message\n{quad}\n");
    let log = [
        quad.as_bytes(),
        b"\n# @message\n",
        invalid,
        marked.as_bytes(),
    ]
    .concat();
    let seen = skipping_every_way(format, options, &log);
    let read = |index: u64| seen.contains(&(index, quad.to_owned()));
    if read(0) && read(2) && seen.len() == 3 {
        return Ok(());
    }
    Err(format!("reading did not resume after the case: {seen:?}"))
}

#[test]
#[ignore = "reads suites"]
fn w3c_suites_pass() {
    let Some(suite) = shared("conformance/w3c/w3c-rdf-tests.tar.gz") else {
        return;
    };
    let files = archive(&suite);
    let (mut count, mut failures) = (0, Vec::new());
    for manifest in MANIFESTS {
        for case in cases(&files, manifest) {
            count += 1;
            if let Err(reason) = check(&files, &case) {
                failures.push(format!("{} {}: {reason}", case.kind, case.action));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(count, 832);
}

#[test]
#[ignore = "reads suites"]
fn message_cases_pass() {
    let Some(manifest) = shared("conformance/messages/manifest.json") else {
        return;
    };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut count = 0;
    for case in manifest["cases"].as_array().unwrap() {
        let format = match case["format"].as_str() {
            Some("ttl") => "ttl",
            Some("trig") => "trig",
            _ => continue,
        };
        if case["disputed"] == true || !matches!(case["kind"].as_str(), Some("parse" | "error")) {
            continue;
        }
        count += 1;
        let id = case["id"].as_str().unwrap();
        let path = format!("conformance/messages/{}", case["input"].as_str().unwrap());
        let mut options = Options::default();
        if case["dialect"] != "comment" {
            options = options.and("dialect", "directive");
        }
        if let Some(label) = case["announce"].as_str() {
            options = options.and("announced", label);
        }
        let read = decode_every_way(format, &options, &shared(&path).unwrap());
        let expected = &case["expected"];
        assert_eq!(
            read.error.is_some(),
            expected["error"] == true,
            "{id}: {:?}",
            read.error
        );
        let messages = match &expected["messages"] {
            serde_json::Value::Array(messages) => messages,
            _ => expected["delivered_messages"].as_array().unwrap(),
        };
        assert_eq!(read.messages.len(), messages.len(), "{id}");
        for (found, message) in read.messages.iter().zip(messages) {
            let message = crate::oracle::nquads(message.as_str().unwrap().as_bytes());
            assert!(
                crate::oracle::isomorphic(found, &message),
                "{id}: {found:#?}"
            );
        }
    }
    assert_eq!(count, 34);
}
