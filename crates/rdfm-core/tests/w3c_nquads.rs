//! The W3C suites of N-Triples and N-Quads, RDF 1.1 and 1.2, and the official message cases.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use crate::support::{Options, archive, decode_every_way, shared};

const SUITE: &str = "conformance/w3c/w3c-rdf-tests.tar.gz";
const MESSAGES: &str = "conformance/messages";

/// A test of a manifest: its kind, the input, and the result if there is one.
struct Case {
    kind: String,
    action: String,
    result: Option<String>,
}

/// Finds the tests of a manifest by keywords: a type, followed by an action and a result.
fn cases(manifest: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let text = manifest
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = text.flat_map(str::split_whitespace).collect();
    let file = |word: &str| {
        word.trim_start_matches('<')
            .trim_end_matches([';', '.'])
            .trim_end_matches('>')
            .to_owned()
    };
    for pair in words.windows(2) {
        if let Some(kind) = pair[1].strip_prefix("rdft:Test") {
            cases.push(Case {
                kind: kind.to_owned(),
                action: String::new(),
                result: None,
            });
        }
        match (pair[0], cases.last_mut()) {
            ("mf:action", Some(case)) => case.action = file(pair[1]),
            ("mf:result", Some(case)) => case.result = Some(file(pair[1])),
            _ => {}
        }
    }
    cases
}

#[test]
#[ignore = "reads suites"]
fn w3c_suites_pass() {
    let Some(suite) = shared(SUITE) else {
        return;
    };
    let files = archive(&suite);
    let mut counts = [0; 3];
    for (path, content) in &files {
        let format = match () {
            () if path.contains("/rdf-n-triples/") => "nt",
            () if path.contains("/rdf-n-quads/") => "nq",
            () => continue,
        };
        let Some(folder) = path.strip_suffix("manifest.ttl") else {
            continue;
        };
        for case in cases(std::str::from_utf8(content).unwrap()) {
            let name = format!("{folder}{}", case.action);
            let log = files
                .get(&name)
                .unwrap_or_else(|| panic!("{name} is missing"));
            let outcome = decode_every_way(format, &Options::default(), log);
            if case.kind.ends_with("NegativeSyntax") {
                assert!(outcome.error.is_some(), "{name} is accepted");
                counts[1] += 1;
                continue;
            }
            assert_eq!(outcome.error, None, "{name}");
            if case.kind.ends_with("PositiveC14N") {
                let expected = &files[&format!("{folder}{}", case.result.unwrap())];
                let mut written = outcome.messages.concat().join("\n");
                if !written.is_empty() {
                    written.push('\n');
                }
                if name.contains("langtagged_string.") {
                    // Language tags keep their case intentionally.
                    written = written.replace("@EN", "@en").replace("-GB", "-gb");
                }
                assert_eq!(written, String::from_utf8_lossy(expected), "{name}");
                counts[2] += 1;
            } else {
                assert!(case.kind.ends_with("PositiveSyntax"), "{}", case.kind);
                counts[0] += 1;
            }
        }
    }
    assert_eq!(
        counts,
        [108, 105, 82],
        "positive, negative and canonical cases"
    );
}

/// Gives all blank nodes of a line the same label. No case has two blank nodes in a message.
fn one_label(line: &str) -> String {
    let words = line.split(' ');
    let relabelled = words.map(|word| if word.starts_with("_:") { "_:b" } else { word });
    relabelled.collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "reads suites"]
fn message_cases_pass() {
    let Some(manifest) = shared(&format!("{MESSAGES}/manifest.json")) else {
        return;
    };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut count = 0;
    for case in manifest["cases"].as_array().unwrap() {
        let Some(format @ ("nt" | "nq")) = case["format"].as_str() else {
            continue;
        };
        let inputs: Vec<&str> = match case["input"].as_str() {
            Some(input) => vec![input],
            None => case["inputs"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|v| v.as_str())
                .collect(),
        };
        let (mut messages, mut failed) = (Vec::new(), false);
        for input in inputs {
            let log = shared(&format!("{MESSAGES}/{input}")).unwrap();
            let outcome = decode_every_way(format, &Options::default(), &log);
            messages.extend(outcome.messages);
            failed |= outcome.error.is_some();
        }
        let expected = &case["expected"];
        let listed = expected
            .get("messages")
            .or(expected.get("delivered_messages"))
            .unwrap();
        let expected_messages: Vec<Vec<String>> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message.as_str().unwrap().lines().map(one_label).collect())
            .collect();
        for line in messages.iter_mut().flatten() {
            *line = one_label(line);
        }
        let id = &case["id"];
        assert_eq!(messages, expected_messages, "{id}");
        assert_eq!(failed, expected["error"] == true, "{id}");
        count += 1;
    }
    assert_eq!(count, 30, "cases");
}
