//! Any bytes in the format that `RDFM_FUZZ_FORMAT` names: every law of `rdfm_laws::any_bytes`.
#![no_main]

use std::sync::LazyLock;

use rdfm_core::codec::spec::FormatSpec;
use rdfm_core::registry;

static FORMAT: LazyLock<&FormatSpec> = LazyLock::new(|| {
    let name = std::env::var("RDFM_FUZZ_FORMAT").unwrap_or_default();
    registry::find(&name.replace('_', "-")).expect("RDFM_FUZZ_FORMAT names a format, such as nq")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| rdfm_laws::any_bytes(*FORMAT, data));
