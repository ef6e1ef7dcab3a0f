//! The laws for the small logs in `spec-fixtures`, in each of their formats.

use rdfm_core::codec::sniff::{HEAD_BYTES, Sniff};
use rdfm_core::codec::spec::{FormatSpec, Kind};
use rdfm_core::registry::FORMATS;
use rdfm_laws::options::{Reading, Writing, format};
use rdfm_laws::{any_bytes, decode, encode, sniff, targets};

use crate::corpus::fixtures;

#[test]
fn every_fixture_is_found() {
    for format in FORMATS.map(|format| format.name) {
        let count = fixtures().iter().filter(|file| file.0 == format).count();
        assert!(count >= 13, "{count} fixtures in {format}");
    }
}

#[test]
fn codecs_obey_the_laws() {
    for (name, path, data) in fixtures() {
        println!("{}", path.display());
        any_bytes(format(name), &data);
    }
}

#[test]
fn reading_resumes_after_an_invalid_message() {
    let mut resumable = 0;
    for (name, path, data) in fixtures() {
        println!("{}", path.display());
        resumable += usize::from(format(name).resumable);
        decode::each_invalid(&Reading::for_format(name), &data);
    }
    assert!(resumable > 6 * 13, "{resumable}");
}

#[test]
fn a_truncated_log_contains_a_prefix_of_the_messages() {
    for (name, path, data) in fixtures() {
        println!("{}", path.display());
        for reading in Reading::ways(format(name)) {
            decode::truncations(&reading, &data);
        }
    }
}

#[test]
fn at_most_one_format_is_detected() {
    let (mut detected, mut logs) = (0, 0);
    for (name, path, data) in fixtures() {
        sniff::answer_is_stable(&data);
        // Patches and most results are never detected, because some of their rows are also valid
        // data.
        if format(name).kinds != [Kind::Messages] {
            continue;
        }
        logs += 1;
        let head = &data[..data.len().min(HEAD_BYTES)];
        let is_detected = |spec: &&FormatSpec| {
            let sniff = spec.sniff;
            sniff.is_some_and(|sniff| sniff(head, true) == Sniff::Yes)
        };
        let actual: Vec<&str> = FORMATS
            .into_iter()
            .filter(is_detected)
            .map(|spec| spec.name)
            .collect();
        // N-Quads is detected for N-Triples, and TriG for Turtle. Triples may be detected as any of
        // them.
        let can_contain_triples = |name: &str| matches!(name, "nt" | "nq" | "ttl" | "trig");
        let fits = actual.iter().all(|&detected_name| {
            detected_name == name || can_contain_triples(detected_name) && can_contain_triples(name)
        });
        assert!(fits && actual.len() <= 1, "{}: {actual:?}", path.display());
        detected += actual.len();
    }
    // Some logs contain only empty messages, which do not indicate a format.
    assert!(detected * 10 > logs * 8, "{detected} of {logs}");
}

/// Returns ways to write a format: with single options, and with some combinations.
fn writings(target: &'static FormatSpec) -> Vec<Writing> {
    let pair = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    // The column layout requires a name table of 128 entries.
    let names = if target.name == "results-jelly" {
        128
    } else {
        8
    };
    let small_tables = Writing::new(target)
        .with_if_supported("name_table", names)
        .with_if_supported("prefix_table", 1)
        .with_if_supported("datatype_table", 1)
        .with_if_supported("generalized", true)
        .with_if_supported("rdf_star", true);
    let mut writings = Writing::ways(target);
    writings.push(small_tables.clone().with_if_supported(
        "prefixes",
        vec![
            pair("", "http://example.org/"),
            pair("a.b", "http://example.org/s"),
        ],
    ));
    writings.push(
        small_tables
            .with_if_supported("namespaces", true)
            .with_if_supported("physical_type", "graphs")
            .with_if_supported("prefix_table", 0),
    );
    writings
}

#[test]
fn logs_round_trip_with_other_options() {
    for (name, path, data) in fixtures() {
        println!("{}", path.display());
        for target in targets(format(name)) {
            for writing in writings(target) {
                for reading in Reading::ways(format(name)) {
                    encode::round_trip(&writing, &reading, &data);
                }
            }
        }
    }
}
