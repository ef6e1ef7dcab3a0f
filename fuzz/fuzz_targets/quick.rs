//! Checks the laws of `rdfm_laws::check_quickly` on arbitrary bytes as a log in the format named by
//! `RDFM_FUZZ_FORMAT`.
#![no_main]

use std::sync::LazyLock;

use rdfm_core::codec::spec::FormatSpec;

static FORMAT: LazyLock<&FormatSpec> = LazyLock::new(rdfm_laws::options::format_from_environment);

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::check_quickly(*FORMAT, data));
