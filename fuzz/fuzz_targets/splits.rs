//! Any bytes as nq, cut into splits: they hold what the whole log holds.
#![no_main]

use rdfm_core::codec::format::Format;
use rdfm_laws::{split, variants};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for options in variants(Format::Nq) {
        split::some_cuts(Format::Nq, &options, data);
    }
});
