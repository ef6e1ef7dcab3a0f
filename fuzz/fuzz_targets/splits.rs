//! Cuts any bytes as N-Quads into splits, which together contain the same messages as the log.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::split;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("nq")) {
        split::some_cuts(&reading, data);
    }
});
