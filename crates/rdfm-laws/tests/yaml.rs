//! Checks that the two YAML readers agree on the fixtures, on documents written by other programs,
//! and on random changes to both.
//!
//! `RDFM_FUZZ_SECONDS` (2 by default) determines how many changes are tried.

use std::time::{Duration, Instant};

use rdfm_laws::mutate::Random;
use rdfm_laws::yaml::{block_reader_equals_event_parser, mutate};

/// Similar messages, written by `PyYAML`, ruamel.yaml, js-yaml, and the npm package yaml.
const LIBRARY_OUTPUT: [&str; 4] = [
    "'@context':\n  ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n- '@id': ex:b\n  ex:q: [1]\n- '1.5'\n- \"tab\\t\\\n  \\ \\xE9\"\nex:t: it's\n---\n'@id': ex:c\nex:l:\n- - a\n  - b\n- {}\n",
    "'@context':\n    ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n  - '@id': ex:b\n    ex:q:\n      - 1\n  - '1.5'\n  - \"tab\\t \u{e9}\"\nex:t: it's\n...\n",
    "'@context':\n  ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n  - '@id': ex:b\n    ex:q:\n      - 1\n  - '1.5'\n  - \"tab\\t \u{e9}\"\n  - >-\n    folded text\n    goes on\nex:t: it's\n",
    "\"@context\":\n  ex: http://example.org/\n\"@id\": ex:a\nex:n: 12\nex:p:\n  - \"@id\": ex:b\n    ex:q:\n      - 1\n  - \"1.5\"\n  - \"tab\\t \u{e9}\"\nex:e: null\nex:t: it's\n",
];

#[test]
fn the_block_reader_produces_the_same_tape_as_the_event_parser() {
    let fixtures = crate::corpus::fixtures().into_iter();
    let mut inputs: Vec<Vec<u8>> = fixtures
        .filter(|(format, _, _)| *format == "yamlld")
        .map(|(_, _, data)| data)
        .collect();
    inputs.extend(LIBRARY_OUTPUT.map(|text| text.as_bytes().to_vec()));
    let (mut block_documents, mut other_documents) = (0, 0);
    for input in &inputs {
        let actual = block_reader_equals_event_parser(input);
        block_documents += actual.0;
        other_documents += actual.1;
    }
    assert!(
        block_documents > other_documents,
        "{block_documents} {other_documents}"
    );
    let seconds = std::env::var("RDFM_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut seed, mut mutated) = (0, 0);
    while Instant::now() < end {
        seed += 1;
        let mut random = Random::new(seed);
        let index = random.next_below(inputs.len());
        mutated += block_reader_equals_event_parser(&mutate(&mut random, &inputs[index])).0;
    }
    assert!(mutated > 100, "{mutated} of {seed}");
    println!("{seed} inputs, {mutated} documents in block style");
}
