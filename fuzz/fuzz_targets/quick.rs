//! Arbitrary bytes in the format given by `RDFM_FUZZ_FORMAT`: the laws of `rdfm_laws::quick`.
#![no_main]

use std::sync::LazyLock;

use rdfm_core::codec::spec::FormatSpec;

static FORMAT: LazyLock<&FormatSpec> = LazyLock::new(rdfm_laws::options::asked);

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::quick(*FORMAT, data));
