//! Reads arbitrary bytes as TriG and regroups the messages in every way.
#![no_main]

use rdfm_laws::options::{Reading, format};
use rdfm_laws::regroup;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for reading in Reading::ways(format("trig")) {
        regroup::every_way(&reading, data);
    }
});
