//! Checks the laws on random changes to the fixtures. This is a short version of the fuzz targets
//! for stable Rust.
//!
//! A seed gives the same inputs on every machine. `RDFM_FUZZ_SECONDS` (6 by default) determines
//! how many inputs are tried. The test runs in a separate process with limited memory.

mod corpus;

use std::process::Command;
use std::time::{Duration, Instant};

use rdfm_core::registry::FORMATS;
use rdfm_laws::mutate::{Random, mutate};
use rdfm_laws::{any_bytes, sniff};

const CHILD: &str = "RDFM_LAWS_CHILD";
/// Limit of the child's virtual memory: enough for code and thread stacks, but far less than an
/// unbounded decoder needs.
const MEMORY_KIB: u32 = 512 * 1024;

fn try_mutations() {
    let seconds = std::env::var("RDFM_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(6);
    let fixtures = corpus::fixtures();
    let corpora = FORMATS.map(|format| {
        let of_format = fixtures.iter().filter(|file| file.0 == format.name);
        let data: Vec<&[u8]> = of_format.map(|file| file.2.as_slice()).collect();
        (format, data)
    });
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed = 0;
    while Instant::now() < end {
        seed += 1;
        for (format, corpus) in &corpora {
            let mut random = Random::new(seed);
            let index = random.next_below(corpus.len());
            let input = mutate(&mut random, corpus[index]);
            let result = std::panic::catch_unwind(|| {
                sniff::answer_is_stable(&input);
                any_bytes(format, &input);
            });
            assert!(
                result.is_ok(),
                "{}, seed {seed}: a law is broken by b\"{}\"",
                format.name,
                input.escape_ascii()
            );
        }
    }
    println!("{seed} inputs per format");
}

#[test]
fn random_changes_do_not_break_any_law() {
    if std::env::var_os(CHILD).is_some() || !cfg!(unix) {
        return try_mutations();
    }
    let program = std::env::current_exe().expect("a test has a path");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\""))
        .arg(program)
        .args([
            "--exact",
            "random_changes_do_not_break_any_law",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("a shell");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    println!("{stdout}");
}
