//! The laws of the codecs, as functions that panic if a law is broken.
//!
//! - In: a format, its options, and arbitrary bytes.
//! - Out: nothing. If a law is broken, the panic message contains the law and the position.
//! - Used by: `fuzz/`, and the tests of this crate, with `spec-fixtures` and mutations of them.
//! - Cost: [`any_bytes`] applies all laws, with about 100 decodings; [`check_quickly`] applies two of them,
//!   with four decodings.

pub mod analysis;
pub mod archive;
pub mod decode;
pub mod encode;
pub mod message;
pub mod mutate;
pub mod options;
pub mod query;
pub mod regroup;
pub mod restart;
pub mod sniff;
pub mod split;
pub mod strict;
pub mod structure;
pub mod yaml;

use rdfm_core::codec::batch::Batch;
use rdfm_core::codec::spec::{FormatSpec, Kind};
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::registry::FORMATS;

use crate::message::ToValues;
use crate::mutate::Random;
use crate::options::{Reading, Writing};

/// Decodes in one piece and in several, then checks a round trip. These two laws find most errors,
/// and they are fast enough for a fuzz target to try many inputs. The bytes themselves determine
/// the options, the size of the pieces and the output format, which is the input format half of the
/// time.
pub fn check_quickly(format: &'static FormatSpec, data: &[u8]) {
    match format.kinds[0] {
        Kind::Messages => check_batches_quickly::<Quad>(format, data),
        Kind::Patches => check_batches_quickly::<Operation>(format, data),
        Kind::Results => check_batches_quickly::<TermId>(format, data),
    }
}

fn check_batches_quickly<R: ToValues>(format: &'static FormatSpec, data: &[u8]) {
    let mut random = Random::from_data(data);
    let mut ways = Reading::ways(format);
    let mut reading = ways.swap_remove(random.next_below(ways.len()));
    if random.next_below(4) == 0 {
        // A message needs less memory if it shares terms with others in its batch.
        reading = reading
            .with("batch_messages", 1)
            .with("max_message_bytes", 64u64 << random.next_below(5));
    }
    let size = decode::PIECES[random.next_below(decode::PIECES.len())];
    let targets: Vec<_> = targets(format).collect();
    let target = if random.next_below(2) == 0 {
        format
    } else {
        targets[random.next_below(targets.len())]
    };
    let (batches, error) = decode::batches::<R>(&reading, data);
    let batches_of_any_kind: Vec<Batch> = batches.iter().cloned().map(R::any).collect();
    let whole = decode::outcome_in(&batches_of_any_kind, error);
    decode::decode_in_pieces(&reading, data, size, &whole);
    encode::check_round_trip(&Writing::new(target), format, &batches, &whole.messages);
}

/// The formats to which a log of the given format can be converted.
pub fn targets(format: &'static FormatSpec) -> impl Iterator<Item = &'static FormatSpec> {
    FORMATS
        .iter()
        .copied()
        .filter(|target| target.kinds == format.kinds)
}

/// Checks every law that applies to arbitrary bytes.
pub fn any_bytes(format: &'static FormatSpec, data: &[u8]) {
    for reading in Reading::ways(format) {
        let whole = decode::pieces(&reading, data);
        decode::reset(&reading, data, &whole);
        decode::batch_sizes(&reading, data, &whole);
        decode::fast_paths(&reading, data, &whole);
        decode::parts(&reading, data, &whole);
        decode::skipping(&reading, data);
        decode::skipped_lines(&reading, data);
        if format.kinds == [Kind::Messages] {
            regroup::every_way(&reading, data);
        }
        if format.is_splittable() {
            split::every_cut(&reading, data);
        }
        restart::every_law(&reading, data);
        for target in targets(format) {
            encode::round_trip(&Writing::new(target), &reading, data);
        }
    }
}
