//! Arbitrary bytes as TriG and as RDF Patch: statistics, comparison and changes of the messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::analysis::any_bytes(data);
});
