//! The laws every codec keeps, as functions that panic where one is broken.
//!
//! - In: a format, options, and any bytes.
//! - Out: nothing; a broken law panics and says which, and where.
//! - Used by: the tests of this crate over `spec-fixtures` and their mutations, and `fuzz/`.
//! - Cost: [`any_bytes`] applies all laws, some 100 decodings; [`quick`] applies two of them, four decodings.

pub mod archive;
pub mod decode;
pub mod encode;
pub mod jsonld;
pub mod message;
pub mod mutate;
pub mod regroup;
pub mod sniff;
pub mod split;
pub mod structure;

use rdfm_core::codec::format::Format;
use rdfm_core::codec::{DecodeOptions, Dialect, EncodeOptions, Frames, Framing};

use crate::mutate::Random;

/// Options worth trying on any input of a format.
pub fn variants(format: Format) -> Vec<DecodeOptions> {
    let default = DecodeOptions {
        base: Some("http://example.org/base/".to_owned()),
        ..DecodeOptions::default()
    };
    match format {
        Format::Jelly => vec![
            default.clone(),
            DecodeOptions {
                frames: Some(Frames::Message),
                ..default.clone()
            },
            DecodeOptions {
                frames: Some(Frames::Flat),
                ..default
            },
        ],
        Format::RdfProtobuf => vec![
            default.clone(),
            DecodeOptions {
                framing: Some(Framing::Messages),
                ..default.clone()
            },
            DecodeOptions {
                framing: Some(Framing::Rows),
                ..default
            },
        ],
        Format::RdfThrift => vec![default],
        _ => vec![
            default.clone(),
            DecodeOptions {
                lenient: true,
                generalized: true,
                ..default.clone()
            },
            DecodeOptions {
                dialect: Some(Dialect::Plain),
                ..default
            },
        ],
    }
}

/// Whole against pieces, then written and read back: the two laws that find most, at a cost that lets a fuzz
/// target try many inputs. The bytes themselves choose options, the size of the pieces, and in which format
/// to write: half of the time their own.
pub fn quick(format: Format, data: &[u8]) {
    let mut random = Random::of(data);
    let mut variants = variants(format);
    let mut options = variants.swap_remove(random.below(variants.len()));
    if random.below(4) == 0 {
        // What a message takes is less where it shares terms with others of its batch.
        options.limits.batch_messages = 1;
        options.limits.max_message_bytes = 64 << random.below(5);
        options.max_frame_bytes = 32 << random.below(5);
    }
    let size = decode::PIECES[random.below(decode::PIECES.len())];
    let target = match random.below(2) {
        0 => format,
        _ => Format::ALL[random.below(Format::ALL.len())],
    };
    let mut batches = Vec::new();
    let error = decode::drive(format, &options, data, data.len(), |batch| {
        batches.push(batch);
    });
    let whole = decode::outcome_in(&batches, error);
    decode::in_pieces(format, &options, data, size, &whole);
    let writing = EncodeOptions::default();
    encode::there_and_back(target, &writing, format, &batches, &whole.messages);
}

/// Every law that holds for any bytes whatever.
pub fn any_bytes(format: Format, data: &[u8]) {
    for options in variants(format) {
        let whole = decode::pieces(format, &options, data);
        decode::reset(format, &options, data, &whole);
        decode::batch_sizes(format, &options, data, &whole);
        decode::parts(format, &options, data, &whole);
        decode::skipping(format, &options, data);
        regroup::every_way(format, &options, data);
        if format.splittable() {
            split::every_cut(format, &options, data);
        }
        for target in Format::ALL {
            encode::round_trip(target, &EncodeOptions::default(), format, &options, data);
        }
    }
}
