//! The laws every codec keeps, as functions that panic where one is broken.
//!
//! - In: a format, options, and any bytes.
//! - Out: nothing; a broken law panics and says which, and where.
//! - Used by: the tests of this crate over `spec-fixtures` and their mutations, and `fuzz/`.

pub mod decode;
pub mod encode;
pub mod jsonld;
pub mod message;
pub mod mutate;
pub mod split;

use rdfm_core::codec::{DecodeOptions, Dialect, EncodeOptions, Frames, Framing};
use rdfm_core::formats::Format;

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
                frames: Frames::Flat,
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

/// Every law that holds for any bytes whatever. What fuzz targets call.
pub fn any_bytes(format: Format, data: &[u8]) {
    for options in variants(format) {
        let whole = decode::pieces(format, &options, data);
        decode::reset(format, &options, data, &whole);
        decode::batch_sizes(format, &options, data, &whole);
        decode::parts(format, &options, data, &whole);
        decode::skipping(format, &options, data);
        if format.splittable() {
            split::every_cut(format, &options, data);
        }
        for target in Format::ALL {
            encode::round_trip(target, &EncodeOptions::default(), format, &options, data);
        }
    }
}
