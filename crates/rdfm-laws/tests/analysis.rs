//! Checks the laws of analysis on the fixtures and on random changes to them. This is a short
//! version of the fuzz target, for stable Rust.

use rdfm_laws::analysis::{Coverage, any_bytes};
use rdfm_laws::mutate::{Random, mutate};

/// Logs with similar blank nodes, transactions and changes, which the fixtures lack.
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

/// Rows and statements for random logs.
const ROWS: [&str; 14] = [
    "TX .",
    "TX .",
    "TC .",
    "TC .",
    "TA .",
    "H id <urn:1> .",
    "PA \"a\" <a:> .",
    "PD \"a\" .",
    "A <a:s> <a:p> 1 .",
    "D <a:s> <a:p> 1 .",
    "A _:b <a:p> \"x\"@en <a:g> .",
    "D _:b <a:p> \"x\"@en <a:g> .",
    "A <a:s> <a:p> <<( _:b <a:p> 1 )>> .",
    "D <a:s> <a:p> <<( _:b <a:p> 1 )>> .",
];
const STATEMENTS: [&str; 10] = [
    "# @message",
    "# @message",
    "_:a <a:p> _:b .",
    "_:b <a:p> _:a .",
    "_:b <a:p> _:c .",
    "_:c <a:p> _:a .",
    "_:a <a:p> _:a .",
    "_:g { _:a <a:p> _:g } ",
    "<a:s> <a:p> <<( _:a <a:p> _:c )>> .",
    "<a:s> <a:p> 1 .",
];

/// Returns a log of random lines.
fn lines_of(random: &mut Random, lines: &[&str]) -> Vec<u8> {
    let mut log = String::new();
    for _ in 0..random.next_below(20) {
        log += lines[random.next_below(lines.len())];
        log.push('\n');
    }
    log.into_bytes()
}

fn logs() -> Vec<Vec<u8>> {
    let fixtures = crate::corpus::fixtures().into_iter();
    let read = fixtures.filter(|file| matches!(file.0, "trig" | "nq" | "rdf-patch"));
    let own = LOGS.iter().map(|log| log.as_bytes().to_vec());
    own.chain(read.map(|file| file.2)).collect()
}

#[test]
fn the_unchanged_logs_obey_the_laws() {
    for log in logs() {
        any_bytes(&log);
    }
}

#[test]
fn random_changes_do_not_break_any_law() {
    let logs = logs();
    let mut total = Coverage::default();
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let input = match random.next_below(3) {
            0 => lines_of(&mut random, &ROWS),
            1 => lines_of(&mut random, &STATEMENTS),
            _ => {
                let index = random.next_below(logs.len());
                mutate(&mut random, &logs[index])
            }
        };
        let result = std::panic::catch_unwind(|| any_bytes(&input));
        let Ok(coverage) = result else {
            panic!(
                "seed {seed}: a law is broken by b\"{}\"",
                input.escape_ascii()
            );
        };
        total.same += coverage.same;
        total.different += coverage.different;
        total.operations += coverage.operations;
        total.rejected += coverage.rejected;
    }
    let scaled_counts = [
        total.same / 100,
        total.different / 1000,
        total.operations / 1000,
        total.rejected / 100,
    ];
    assert!(scaled_counts.iter().all(|count| *count > 0), "{total:?}");
}
