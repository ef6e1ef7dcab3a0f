//! Runs any text as a query over a few messages, and checks that it terminates and that both
//! evaluation methods return the same rows.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::query::both_ways_agree(data);
});
