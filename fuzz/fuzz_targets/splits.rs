//! Any bytes as nq, cut into splits: they hold what the whole log holds.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::split;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("nq")) {
        split::some_cuts(&reading, data);
    }
});
