//! Reads arbitrary bytes as N-Quads in splits. The splits together must contain the same messages
//! as the log. Then checks the same for these messages written as Jelly, with correct and with
//! wrong restart marks, and for the arbitrary bytes read as Jelly.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::{restart, split};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("nq")) {
        split::some_cuts(&reading, data);
    }
    restart::every_law(&Reading::for_format("nq"), data);
    split::some_cuts(&Reading::for_format("jelly"), data);
});
