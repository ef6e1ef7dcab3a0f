//! Arbitrary bytes in the format given by `RDFM_FUZZ_FORMAT`: every law of `rdfm_laws::any_bytes`.
#![no_main]

use std::sync::LazyLock;

use rdfm_core::codec::spec::FormatSpec;

static FORMAT: LazyLock<&FormatSpec> = LazyLock::new(rdfm_laws::options::asked);

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::any_bytes(*FORMAT, data));
