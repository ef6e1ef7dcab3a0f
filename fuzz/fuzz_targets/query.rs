//! Runs arbitrary text as a query over a few messages. The query must end, and both
//! evaluation methods must return the same rows.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::query::check_both_ways(data);
});
