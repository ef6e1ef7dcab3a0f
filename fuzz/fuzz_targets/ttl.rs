//! Any bytes as ttl: the laws of `rdfm_laws::quick`.
#![no_main]

use rdfm_core::codec::format::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::quick(Format::Ttl, data));
