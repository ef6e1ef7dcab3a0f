//! Reads arbitrary bytes as TriG and as RDF Patch, counts and compares the messages, and applies
//! them as changes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::analysis::any_bytes(data);
});
