//! Any bytes as TriG and as RDF Patch, whose messages are counted, compared, and applied as changes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::analysis::any_bytes(data);
});
