//! Checks the laws of `rdfm_laws::archive` on arbitrary bytes as a tar archive.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::archive::any_bytes(data));
