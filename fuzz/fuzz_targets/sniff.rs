//! Arbitrary bytes as the head of a log: detection of each format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::sniff::stays(data));
