//! The laws of analysis over the fixtures and random changes of them: the fuzz target's short form on stable Rust.

mod corpus;

use rdfm_laws::analysis::any_bytes;
use rdfm_laws::mutate::{Random, mutate};

/// Logs with blank nodes that look alike, transactions and changes; whatever the fixtures lack.
const LOGS: [&str; 6] = [
    "_:a <a:p> _:b . _:b <a:p> _:c . _:c <a:p> _:a .\n# @message\n_:a <a:p> _:b , _:c . _:b <a:p> _:a .",
    "_:a <a:p> _:b . _:b <a:p> _:a . _:c <a:p> _:d . _:d <a:p> _:c .\n# @message\n\
     _:a <a:p> _:b . _:b <a:p> _:c . _:c <a:p> _:d . _:d <a:p> _:a .",
    "_:g { _:g <a:p> <<( _:a <a:p> _:a )>> } <a:s> <a:p> <<( _:a <a:p> _:b )>> .\n# @message\n\
     _:h { _:h <a:p> <<( _:a <a:p> _:b )>> } <a:s> <a:p> <<( _:a <a:p> _:a )>> .",
    "H id <urn:1> .\nTX .\nPA \"a\" <a:> .\nA _:x <a:p> \"1\" .\nTC .\nTX .\nD _:x <a:p> \"1\" .\nPD \"a\" .\nTA .\n",
    "A <a:s> <a:p> 1 .\nTX .\nD <a:s> <a:p> 1 .\nA <a:s> <a:p> 1 .\nA <a:s> <a:p> 2 .\nTA .\nD <a:s> <a:p> 2 .\n",
    "TX .\nA <a:s> <a:p> <a:o> .\nTC .\nH id <urn:2> .\nH prev <urn:1> .\nTX .\nD <a:s> <a:p> <a:o> .\nTC .\nTC .\n",
];

fn logs() -> Vec<Vec<u8>> {
    let fixtures = corpus::fixtures().into_iter();
    let read = fixtures.filter(|file| matches!(file.0, "trig" | "nq" | "rdf-patch"));
    let own = LOGS.iter().map(|log| log.as_bytes().to_vec());
    own.chain(read.map(|file| file.2)).collect()
}

#[test]
fn the_logs_that_are_changed_keep_the_laws() {
    for log in logs() {
        any_bytes(&log);
    }
}

#[test]
fn random_changes_break_no_law() {
    let logs = logs();
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let chosen = random.below(logs.len());
        let input = mutate(&mut random, &logs[chosen]);
        let caught = std::panic::catch_unwind(|| any_bytes(&input));
        assert!(
            caught.is_ok(),
            "seed {seed}: a law is broken by b\"{}\"",
            input.escape_ascii()
        );
    }
}
