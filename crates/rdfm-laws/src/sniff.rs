//! The laws of detecting a format from the head of a log.

use rdfm_core::codec::sniff::{HEAD_BYTES, Sniff};
use rdfm_core::registry::FORMATS;

use crate::mutate::Random;

/// A complete head gives a definite answer. An answer for the beginning of a head does not change
/// with more data.
pub fn answer_is_stable(data: &[u8]) {
    let head = &data[..data.len().min(HEAD_BYTES)];
    let mut random = Random::from_data(data);
    let mut cuts = [0; 4].map(|_| random.next_below(head.len() + 1));
    cuts.sort_unstable();
    for format in FORMATS {
        let Some(sniff) = format.sniff else {
            continue;
        };
        let mut earlier = None;
        for length in cuts.into_iter().chain([head.len()]) {
            let part = &head[..length];
            let complete = sniff(part, true);
            let answer = (sniff(part, false), complete);
            assert!(
                complete != Sniff::More && answer != (Sniff::No, Sniff::Yes),
                "{}: {answer:?} of b\"{}\"",
                format.name,
                part.escape_ascii()
            );
            match earlier {
                None | Some((_, Sniff::More)) => {}
                Some((before, first)) => assert_eq!(
                    answer,
                    (first, first),
                    "{}: {first:?} of the first {before} bytes of b\"{}\"",
                    format.name,
                    part.escape_ascii()
                ),
            }
            earlier = Some((length, answer.0));
        }
    }
}
