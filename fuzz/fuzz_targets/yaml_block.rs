//! Compares the two YAML readers on arbitrary bytes, read as a YAML-LD log.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::yaml::block_reader_equals_event_parser(data);
});
