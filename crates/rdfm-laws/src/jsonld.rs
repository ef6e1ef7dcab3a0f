//! The two ways of JSON-LD give the same messages.
//!
//! - In: a log of a format made of JSON-LD.
//! - Law: read with the quick way where it fits, and without it, the outcome is the same: messages as
//!   datasets, blank nodes by what is said of them, and the fault.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use rdfm_core::codec::DecodeOptions;
use rdfm_core::formats::Format;

use crate::decode::outcome;
use crate::message::{Message, Term};

/// Rounds of refinement: how far apart nodes may be and still tell each other apart.
const ROUNDS: usize = 8;

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

/// The quads as a set, each blank node named by what is said of it.
pub fn dataset(message: &Message) -> BTreeSet<String> {
    let mut colours: HashMap<&str, u64> = HashMap::new();
    for _ in 0..ROUNDS {
        let mut next: HashMap<&str, Vec<u64>> = HashMap::new();
        for quad in &message.quads {
            for (at, term) in quad.iter().enumerate() {
                if let Term::Bnode(label) = term {
                    let mut hasher = DefaultHasher::new();
                    (at, shown(quad, &colours)).hash(&mut hasher);
                    next.entry(label).or_default().push(hasher.finish());
                }
            }
        }
        colours = next
            .into_iter()
            .map(|(label, mut all)| {
                all.sort_unstable();
                all.dedup();
                let mut hasher = DefaultHasher::new();
                all.hash(&mut hasher);
                (label, hasher.finish())
            })
            .collect();
    }
    message
        .quads
        .iter()
        .map(|quad| shown(quad, &colours))
        .collect()
}

fn shown(quad: &[Term; 4], colours: &HashMap<&str, u64>) -> String {
    let parts = quad.each_ref().map(|term| match term {
        Term::Bnode(label) => format!("_:{}", colours.get(label.as_str()).copied().unwrap_or(0)),
        term => format!("{term:?}"),
    });
    parts.join(" ")
}
