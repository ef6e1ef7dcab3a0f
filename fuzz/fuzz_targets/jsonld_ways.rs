//! Any bytes as ndjsonld: the quick way and the complete way give the same messages.
#![no_main]

use rdfm_core::codec::DecodeOptions;
use rdfm_core::formats::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for lenient in [false, true] {
        let options = DecodeOptions {
            lenient,
            ..DecodeOptions::default()
        };
        rdfm_laws::jsonld::ways(Format::Ndjsonld, &options, data);
    }
});
