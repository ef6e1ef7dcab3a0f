//! Reads any bytes as TriG and as RDF Patch, computes statistics of the messages, compares them,
//! and applies them as changes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::analysis::any_bytes(data);
});
