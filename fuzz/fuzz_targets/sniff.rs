//! Checks format detection on arbitrary bytes as the head of a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::sniff::answer_is_stable(data));
