//! Arbitrary bytes as N-Quads: the splits together equal the complete log.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::split;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("nq")) {
        split::some_cuts(&reading, data);
    }
});
