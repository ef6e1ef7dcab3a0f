//! Any bytes as jsonld: the laws of `rdfm_laws::quick`.
#![no_main]

use rdfm_laws::options::format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::quick(format("jsonld"), data));
