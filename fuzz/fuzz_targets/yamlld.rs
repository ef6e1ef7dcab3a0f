//! Any bytes as yamlld: every law of `rdfm_laws::any_bytes`.
#![no_main]

use rdfm_core::formats::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::any_bytes(Format::Yamlld, data));
