//! The law of the two readers of YAML documents, for the fixtures, for documents as other programs
//! write them, and for random changes of both.
//!
//! `RDFM_FUZZ_SECONDS` (2 by default) determines how many changes are tried.

mod corpus;

use std::time::{Duration, Instant};

use rdfm_laws::mutate::Random;
use rdfm_laws::yaml::{block_reader_equals_event_parser, mutate};

/// The same message as written by `PyYAML`, ruamel.yaml, js-yaml, and the package yaml of npm.
const OTHERS: [&str; 4] = [
    "'@context':\n  ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n- '@id': ex:b\n  ex:q: [1]\n- '1.5'\n- \"tab\\t\\\n  \\ \\xE9\"\nex:t: it's\n---\n'@id': ex:c\nex:l:\n- - a\n  - b\n- {}\n",
    "'@context':\n    ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n  - '@id': ex:b\n    ex:q:\n      - 1\n  - '1.5'\n  - \"tab\\t \u{e9}\"\nex:t: it's\n...\n",
    "'@context':\n  ex: http://example.org/\n'@id': ex:a\nex:n: 12\nex:p:\n  - '@id': ex:b\n    ex:q:\n      - 1\n  - '1.5'\n  - \"tab\\t \u{e9}\"\n  - >-\n    folded text\n    goes on\nex:t: it's\n",
    "\"@context\":\n  ex: http://example.org/\n\"@id\": ex:a\nex:n: 12\nex:p:\n  - \"@id\": ex:b\n    ex:q:\n      - 1\n  - \"1.5\"\n  - \"tab\\t \u{e9}\"\nex:e: null\nex:t: it's\n",
];

#[test]
fn the_block_reader_produces_the_same_tape_as_the_event_parser() {
    let fixtures = corpus::fixtures().into_iter();
    let mut inputs: Vec<Vec<u8>> = fixtures
        .filter(|(format, _, _)| *format == "yamlld")
        .map(|(_, _, data)| data)
        .collect();
    inputs.extend(OTHERS.map(|text| text.as_bytes().to_vec()));
    let (mut in_blocks, mut others) = (0, 0);
    for input in &inputs {
        let found = block_reader_equals_event_parser(input);
        in_blocks += found.0;
        others += found.1;
    }
    assert!(in_blocks > others, "{in_blocks} {others}");
    let seconds = std::env::var("RDFM_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut seed, mut changed) = (0, 0);
    while Instant::now() < end {
        seed += 1;
        let mut random = Random::new(seed);
        let index = random.below(inputs.len());
        changed += block_reader_equals_event_parser(&mutate(&mut random, &inputs[index])).0;
    }
    assert!(changed > 100, "{changed} of {seed}");
    println!("{seed} inputs, {changed} documents in blocks");
}
