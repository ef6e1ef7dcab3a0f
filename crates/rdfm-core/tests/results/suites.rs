//! Reads and converts every result file of the W3C SPARQL suites, and Jena's result files.

use std::collections::BTreeMap;

use super::{LOSSLESS_FORMATS, Read, batches, convert, read};
use crate::support::{archive, shared};

fn format_of(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("srj") => "results-json",
        Some("srx") => "results-xml",
        Some("tsv") => "results-tsv",
        _ => "results-csv",
    }
}

#[test]
#[ignore = "reads suites"]
fn w3c_files_round_trip() {
    let Some(suite) = shared("conformance/w3c/w3c-sparql-results.tar.gz") else {
        return;
    };
    let mut counts = BTreeMap::new();
    let mut answers = 0;
    for (path, log) in archive(&suite) {
        let is_result = [".srj", ".srx", ".tsv", ".csv"]
            .iter()
            .any(|suffix| path.ends_with(suffix));
        if !is_result {
            continue;
        }
        let format = format_of(&path);
        let actual = read(format, &log);
        assert_eq!(actual.error, None, "{path}");
        *counts.entry(format).or_insert(0) += 1;
        if format == "results-csv" {
            continue;
        }
        let targets = if actual.boolean().is_some() {
            answers += 1;
            &["results-json", "results-xml", "results-jelly"][..]
        } else {
            &LOSSLESS_FORMATS[..]
        };
        for target in targets {
            let written = convert(format, &log, target);
            let reread = read(target, &written);
            let shown = String::from_utf8_lossy(&written);
            assert_eq!(reread.error, None, "{path} in {target}: {shown}");
            assert_eq!(
                without_links(reread),
                without_links(actual.clone()),
                "{path} in {target}: {shown}"
            );
        }
    }
    let counts: Vec<_> = counts.into_iter().collect();
    let expected = [
        ("results-csv", 3),
        ("results-json", 53),
        ("results-tsv", 3),
        ("results-xml", 449),
    ];
    assert_eq!((counts.as_slice(), answers), (&expected[..], 30));
}

/// Removes the links, which only JSON and XML can represent.
fn without_links(mut read: Read) -> Read {
    if let Some(head) = &mut read.head {
        head.links.clear();
    }
    read
}

#[test]
#[ignore = "reads suites"]
fn jena_files_equal_their_json_and_round_trip() {
    let mut files = 0;
    for name in [
        "basic",
        "values-values",
        "no-rows",
        "no-variables",
        "bnodes-terms",
    ] {
        let path = format!("conformance/jena/results-{name}");
        let Some(json) = shared(&format!("{path}.srj")) else {
            return;
        };
        let expected = read("results-json", json).without_error();
        for (format, suffix) in [("results-thrift", "srt"), ("results-protobuf", "srp")] {
            let log = shared(&format!("{path}.{suffix}")).expect("a file next to its JSON");
            let actual = read(format, &log).without_error();
            assert_eq!(actual.head, expected.head, "{name}");
            if name == "values-values" {
                // Java writes different lexical forms of doubles.
                assert_eq!(actual.rows.len(), expected.rows.len());
                let differing = actual
                    .rows
                    .iter()
                    .zip(&expected.rows)
                    .filter(|(a, b)| a != b);
                for (actual, expected) in differing {
                    assert!(actual[1].ends_with("#double>"), "{actual:?} {expected:?}");
                }
            } else {
                // The JSON file has different blank node labels.
                let relabelled = |label: &str| {
                    label
                        .replace("_:7f3d2c1e", "_:?")
                        .replace("_:b0", "_:b1")
                        .replace("_:?", "_:b0")
                };
                let rows = actual
                    .rows
                    .iter()
                    .map(|row| row.iter().map(|cell| relabelled(cell)).collect());
                assert_eq!(rows.collect::<Vec<Vec<String>>>(), expected.rows, "{name}");
                assert_eq!(convert(format, &log, format), log, "{name}");
            }
            assert!(!batches(format, &log).is_empty());
            files += 1;
        }
    }
    assert_eq!(files, 10);
}
