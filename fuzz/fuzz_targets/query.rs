//! Arbitrary text as a query on a few messages: it ends, and the rows are the same natively and
//! with the evaluator.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    rdfm_laws::query::both_ways_agree(data);
});
