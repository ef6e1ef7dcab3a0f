//! Any bytes as ndjsonld: read as an independent reader has it.
#![no_main]

use rdfm_core::codec::{DecodeOptions, RdfDirection};
use rdfm_laws::mutate::Random;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut random = Random::of(data);
    let directions = [RdfDirection::Literal, RdfDirection::I18n, RdfDirection::Compound];
    let options = DecodeOptions {
        lenient: random.below(2) == 0,
        base: (random.below(2) == 0).then(|| "http://example.org/base/".to_owned()),
        rdf_direction: directions[random.below(directions.len())],
        ..DecodeOptions::default()
    };
    rdfm_laws::jsonld::compare(&options, data);
});
