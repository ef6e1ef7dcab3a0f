//! The laws over the small logs of `spec-fixtures`, in every format they are in.

mod corpus;

use rdfm_core::codec::format::Format;
use rdfm_core::codec::{Dialect, EncodeOptions, Frames};
use rdfm_core::formats::jelly::options::{JellyOptions, PhysicalType};
use rdfm_laws::{any_bytes, decode, encode, variants};

use corpus::fixtures;

#[test]
fn no_fixture_is_lost() {
    for format in Format::ALL {
        let count = fixtures().iter().filter(|file| file.0 == format).count();
        assert!(count >= 13, "{count} fixtures in {}", format.name());
    }
}

#[test]
fn laws_of_decoders() {
    for (format, path, data) in fixtures() {
        println!("{}", path.display());
        any_bytes(format, &data);
    }
}

#[test]
fn truncation_at_every_byte() {
    for (format, path, data) in fixtures() {
        println!("{}", path.display());
        for options in variants(format) {
            decode::truncations(format, &options, &data);
        }
    }
}

/// Options that change how every format is written.
fn writings() -> Vec<EncodeOptions> {
    let default = EncodeOptions::default();
    let tiny = JellyOptions {
        name_table: 8,
        prefix_table: 1,
        datatype_table: 1,
        generalized: true,
        rdf_star: true,
        ..JellyOptions::default()
    };
    vec![
        EncodeOptions {
            dialect: Dialect::Directive,
            ..default.clone()
        },
        EncodeOptions {
            rdf_star_syntax: true,
            prefixed_names: Some(true),
            values: true,
            prefixes: vec![
                (String::new(), "http://example.org/".to_owned()),
                ("a.b".to_owned(), "http://example.org/s".to_owned()),
            ],
            jelly: tiny.clone(),
            ..default.clone()
        },
        EncodeOptions {
            namespaces: true,
            jelly: JellyOptions {
                physical_type: PhysicalType::Graphs,
                prefix_table: 0,
                version: 2,
                ..tiny
            },
            ..default.clone()
        },
        EncodeOptions {
            frames: Frames::Message,
            prefixed_names: Some(false),
            lenient: true,
            ..default
        },
    ]
}

#[test]
fn round_trips_with_other_options() {
    for (format, path, data) in fixtures() {
        println!("{}", path.display());
        for options in writings() {
            for target in Format::ALL {
                for decoding in variants(format) {
                    encode::round_trip(target, &options, format, &decoding, &data);
                }
            }
        }
    }
}
