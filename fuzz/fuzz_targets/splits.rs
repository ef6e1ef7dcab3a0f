//! Reads arbitrary bytes as N-Quads in splits, which together must contain the same messages as the
//! log. Does the same with these messages as Jelly with correct and wrong restart marks, and with
//! arbitrary bytes as Jelly.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::{restart, split};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("nq")) {
        split::some_cuts(&reading, data);
    }
    restart::every_law(&Reading::of("nq"), data);
    split::some_cuts(&Reading::of("jelly"), data);
});
