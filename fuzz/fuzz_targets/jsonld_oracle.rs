//! Any bytes as ndjsonld: read as an independent reader has it.
#![no_main]

use rdfm_laws::mutate::Random;
use rdfm_laws::options::Reading;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut random = Random::of(data);
    let mut reading = Reading::of("ndjsonld").with("lenient", random.below(2) == 0);
    if random.below(2) == 0 {
        reading = reading.with("base", "http://example.org/base/");
    }
    let directions = ["literal", "i18n-datatype", "compound-literal"];
    let reading = reading.with("rdf_direction", directions[random.below(directions.len())]);
    rdfm_laws::jsonld::compare(&reading, data);
});
