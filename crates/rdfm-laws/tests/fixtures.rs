//! The laws over the small logs of `spec-fixtures`, in every format they are in.

mod corpus;

use rdfm_core::codec::format::Format;
use rdfm_core::codec::sniff::{HEAD_BYTES, Sniff};
use rdfm_core::codec::{Dialect, EncodeOptions, Frames};
use rdfm_core::formats::jelly::options::{JellyOptions, PhysicalType};
use rdfm_laws::{any_bytes, decode, encode, sniff, variants};

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

#[test]
fn one_format_shows_in_a_head() {
    let mut count = 0;
    for (format, path, data) in fixtures() {
        sniff::stays(&data);
        let head = &data[..data.len().min(HEAD_BYTES)];
        let shows = |format: &Format| {
            let sniff = format.sniff();
            sniff.is_some_and(|sniff| sniff(head, true) == Sniff::Yes)
        };
        let found: Vec<Format> = Format::ALL.into_iter().filter(shows).collect();
        // N-Quads stands for N-Triples and TriG for Turtle; of a log of triples any of them may show.
        let has_lines =
            |format: Format| matches!(format, Format::Nt | Format::Nq | Format::Ttl | Format::Trig);
        let fits = found
            .iter()
            .all(|&found| found == format || has_lines(found) && has_lines(format));
        assert!(fits && found.len() <= 1, "{}: {found:?}", path.display());
        count += found.len();
    }
    // Some logs hold nothing but empty messages.
    assert!(count * 10 > fixtures().len() * 8, "{count}");
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
