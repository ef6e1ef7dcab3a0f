//! The two ways of JSON-LD give the same messages.
//!
//! - In: a log of a format made of JSON-LD.
//! - Law: read with the quick way where it fits, and without it, the outcome is the same: messages as
//!   datasets, blank nodes by what is said of them, and the fault.

use rdfm_core::codec::DecodeOptions;
use rdfm_core::formats::Format;

use crate::decode::outcome;
use crate::structure::dataset;

/// Read either way, the outcome is the same. Gives how many messages the quick way declined.
pub fn ways(format: Format, options: &DecodeOptions, data: &[u8]) -> u64 {
    let quick = outcome(format, options, data, data.len());
    let without = DecodeOptions {
        quick: false,
        ..options.clone()
    };
    let complete = outcome(format, &without, data, data.len());
    assert_eq!(
        quick.error,
        complete.error,
        "{}: the ways give other faults",
        format.name()
    );
    assert_eq!(quick.messages.len(), complete.messages.len());
    for (a, b) in quick.messages.iter().zip(&complete.messages) {
        assert!(
            dataset(a) == dataset(b),
            "{}: the ways give other messages:\n{:#?}\nand\n{:#?}",
            format.name(),
            a.quads,
            b.quads
        );
        assert_eq!(a.namespaces, b.namespaces);
    }
    let mut decoder = format
        .decoder(options)
        .expect("the format takes these options");
    decoder.feed(data);
    decoder.finish();
    while let Ok(Some(_)) = decoder.next_batch() {}
    decoder.header().declined.unwrap_or_default()
}
