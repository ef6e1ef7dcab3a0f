//! Any bytes as trig, whose messages are grouped in every way.
#![no_main]

use rdfm_core::codec::format::Format;
use rdfm_laws::{regroup, variants};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for options in variants(Format::Trig) {
        regroup::every_way(Format::Trig, &options, data);
    }
});
