//! Any bytes as nq, cut into splits: they contain what the complete log contains. The same messages as Jelly with restart
//! marks, right and wrong ones, and any bytes as Jelly.
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
