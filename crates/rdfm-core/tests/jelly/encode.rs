//! Output, errors and guarantees of the Jelly encoder.

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::EncodeError;
use rdfm_core::model::term::Quad;

use crate::jelly::model::{BatchMaker, Message, Statement, Term, batch, outcome};
use crate::support::{Options, decoder, encoder};

/// Options that allow all kinds of statements. The logical type declares that each frame is a
/// message, even if the data does not fit that type.
pub fn options() -> Options {
    Options::with("rdf_star", true)
        .and("generalized", true)
        .and("logical_type", "datasets")
}

/// Encodes the batches. Returns the log, the counts of dropped content, and the error.
pub fn write(
    options: &Options,
    batches: &[MessageBatch],
) -> (Vec<u8>, Vec<(&'static str, u64)>, Option<EncodeError>) {
    let mut encoder = encoder("jelly", options).unwrap();
    let mut out = Vec::new();
    for batch in batches {
        if let Err(error) = encoder.encode(batch.into(), &mut out) {
            let length = out.len();
            assert_eq!(encoder.encode(batch.into(), &mut out), Err(error.clone()));
            assert_eq!(encoder.finish(&mut out), Err(error.clone()));
            assert_eq!(out.len(), length, "nothing is written after an error");
            return (out, encoder.dropped_counts(), Some(error));
        }
    }
    let error = encoder.finish(&mut out).err();
    (out, encoder.dropped_counts(), error)
}

fn read(log: &[u8]) -> Vec<Message> {
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    let (messages, error) = outcome(&mut *decoder, log, log.len());
    assert_eq!(error, None);
    messages
}

/// Returns only the statements of the messages.
fn statements(messages: &[Message]) -> Vec<&[Statement]> {
    messages.iter().map(|m| m.statements.as_slice()).collect()
}

/// Returns the statements of all messages as one message, with distinct blank node labels.
fn joined(log: &[Message]) -> Vec<Statement> {
    fn relabel(message: usize, term: &Term) -> Term {
        match term {
            Term::BlankNode(label) if message > 0 || label.starts_with("_gm") => {
                Term::BlankNode(format!("_gm{message}_{label}"))
            }
            Term::Triple(parts) => Term::Triple(Box::new(
                [0, 1, 2].map(|position| relabel(message, &parts[position])),
            )),
            term => term.clone(),
        }
    }
    let statements = |(index, message): (usize, &Message)| -> Vec<Statement> {
        let relabel = |statement: &Statement| {
            [0, 1, 2, 3].map(|position| relabel(index, &statement[position]))
        };
        message.statements.iter().map(relabel).collect()
    };
    log.iter().enumerate().flat_map(statements).collect()
}

fn iri(text: &str) -> Term {
    Term::Iri(text.to_owned())
}

fn typed(text: &str, datatype: &str) -> Term {
    Term::Literal(text.to_owned(), None, Some(datatype.to_owned()))
}

/// A small random log: IRIs with few prefixes and names, all kinds of terms, repetitions.
pub fn random(seed: u32, messages: usize, features: bool) -> Vec<Message> {
    let mut state = seed;
    let mut next = move |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % bound
    };
    let mut log = Vec::new();
    for index in 0..messages {
        let mut message = Message::default();
        for _ in 0..next(12) {
            let random_term = |depth: u32, position: usize, next: &mut dyn FnMut(u32) -> u32| {
                term(position, depth, features, next)
            };
            let statement = [0, 1, 2, 3].map(|position| random_term(0, position, &mut next));
            message.statements.push(statement);
            if next(3) == 0 {
                let last = message.statements.len() - 1;
                message.statements.push(message.statements[last].clone());
            }
        }
        if next(4) == 0 {
            let value = vec![index as u8, 0xff];
            message.metadata.push((format!("k{}", next(2)), value));
        }
        if next(3) == 0 {
            let iri = format!("http://ns/{}/", next(3));
            message.namespaces.push((format!("n{}", next(3)), iri));
        }
        log.push(message);
    }
    log
}

fn term(position: usize, depth: u32, features: bool, next: &mut dyn FnMut(u32) -> u32) -> Term {
    let random_iri = |next: &mut dyn FnMut(u32) -> u32| {
        let prefix = ["http://a/", "http://b#", "urn:x:", "http://c/d/"][next(4) as usize];
        iri(&format!("{prefix}{}", next(9)))
    };
    match (position, next(10)) {
        (0 | 3, 0) => Term::BlankNode(format!("b{}", next(3))),
        (3, 1..=4) => Term::Default,
        (2, 0..=1) => Term::Literal(format!("l{}", next(4)), None, None),
        (2, 2) => Term::Literal("x".to_owned(), Some(format!("en-x{}", next(3))), None),
        (2, 3) => Term::Literal("x".to_owned(), Some("ar--rtl".to_owned()), None),
        (2, 4..=6) => typed(&next(3).to_string(), &format!("http://d/{}", next(5))),
        (0..=2, 7) if features && depth < 2 => {
            let parts = [0, 1, 2].map(|part| term(part, depth + 1, features, next));
            Term::Triple(Box::new(parts))
        }
        (_, 8) if features => Term::Literal(format!("g{}", next(3)), None, None),
        (1, 9) if features => Term::BlankNode("p".to_owned()),
        _ => random_iri(next),
    }
}

/// Returns the messages in batches of `size` messages, or in parts of two quads if `size` is 0.
pub fn cut(log: &[Message], size: usize) -> Vec<MessageBatch> {
    if size > 0 {
        let mut maker = BatchMaker::new();
        return log
            .chunks(size)
            .map(|messages| {
                for message in messages {
                    maker.message(message);
                }
                maker.take()
            })
            .collect();
    }
    let mut maker = BatchMaker::new();
    let mut batches = Vec::new();
    for message in log {
        maker.builder.begin_message(0);
        for (name, iri) in &message.namespaces {
            maker
                .builder
                .add_namespace(name.as_bytes(), iri.as_bytes())
                .unwrap();
        }
        for (key, value) in &message.metadata {
            maker.builder.add_metadata(key, value).unwrap();
        }
        for (index, statement) in message.statements.iter().enumerate() {
            maker.statement(statement);
            if index % 2 == 1 {
                batches.push(maker.take_part());
            }
        }
        maker.builder.end_message();
        batches.push(maker.take());
    }
    batches
}

#[test]
fn logs_round_trip_with_small_tables_or_are_rejected() {
    let log = random(7, 60, true);
    for (name_table, prefix_table, datatype_table) in
        [(4000, 150, 32), (8, 0, 1), (9, 4, 1), (12, 6, 3)]
    {
        for physical_type in ["quads", "graphs"] {
            for frames in ["message", "flat"] {
                let options = options()
                    .and("name_table", name_table)
                    .and("prefix_table", prefix_table)
                    .and("datatype_table", datatype_table)
                    .and("physical_type", physical_type)
                    .and("namespaces", true)
                    .and("frames", frames)
                    .and("frame_rows", 9);
                let (bytes, _, error) = write(&options, &[batch(&log)]);
                if let Some(error) = error {
                    // A statement may need more entries than a table has. It must then be rejected.
                    assert!(error.reason.text().ends_with("at once"), "{error}");
                    assert!(name_table < 4000);
                    let whole = error.message_index as usize;
                    if frames == "message" {
                        assert_eq!(statements(&read(&bytes)), statements(&log[..whole]));
                    }
                    continue;
                }
                let reread = read(&bytes);
                if frames == "message" {
                    assert_eq!(statements(&reread), statements(&log));
                    for (a, b) in reread.iter().zip(&log) {
                        assert_eq!(a.metadata, b.metadata);
                    }
                } else {
                    let all: Vec<Statement> =
                        reread.iter().flat_map(|m| m.statements.clone()).collect();
                    assert_eq!(all, joined(&log));
                    assert!(reread.len() > 1);
                }
            }
        }
    }
}

#[test]
fn logs_round_trip_with_the_smallest_sufficient_tables() {
    for seed in 0..20 {
        let log = random(seed, 30, false);
        let options = options()
            .and("name_table", 8)
            .and("prefix_table", 4)
            .and("datatype_table", 1);
        let (bytes, _, error) = write(&options, &[batch(&log)]);
        assert_eq!(error, None);
        assert_eq!(statements(&read(&bytes)), statements(&log));
    }
}

#[test]
fn a_statement_with_more_prefixes_than_the_table_is_rejected() {
    let message = |s: &str, p: &str| Message {
        statements: vec![[iri(s), iri(p), iri("http://a/y"), Term::Default]],
        ..Message::default()
    };
    let options = options().and("prefix_table", 1);
    let good = message("http://a/x", "http://a/p");
    let (bytes, _, error) = write(
        &options,
        &[batch(&[good.clone(), message("http://b/x", "http://c/p")])],
    );
    let error = error.unwrap();
    assert_eq!(
        error.to_string(),
        "jelly: one statement needs more than 1 lookup entries at once (message 1)"
    );
    assert_eq!(statements(&read(&bytes)), statements(&[good]));
}

#[test]
fn output_does_not_depend_on_batches() {
    for physical_type in ["quads", "graphs"] {
        for frames in ["message", "flat"] {
            let log = random(3, 40, true);
            let options = options()
                .and("physical_type", physical_type)
                .and("name_table", 40)
                .and("frames", frames)
                .and("namespaces", true)
                .and("frame_rows", 20);
            let (whole, dropped, error) = write(&options, &[batch(&log)]);
            assert_eq!(error, None);
            for size in [1, 2, 7, 0] {
                let (bytes, dropped_again, error) = write(&options, &cut(&log, size));
                assert_eq!(error, None);
                assert_eq!(dropped_again, dropped);
                assert!(
                    bytes == whole,
                    "in batches of {size}, {physical_type}, {frames}"
                );
            }
            let sliced: Vec<MessageBatch> = {
                let batch = batch(&log);
                (0..log.len())
                    .map(|index| batch.slice(index..index + 1))
                    .collect()
            };
            assert!(write(&options, &sliced).0 == whole, "in slices");
        }
    }
}

#[test]
fn converting_jelly_to_jelly_preserves_the_bytes() {
    let log = random(11, 50, true);
    let options = options().and("namespaces", true).and("jelly_version", 2);
    let (bytes, _, _) = write(&options, &[batch(&log)]);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    decoder.feed(&bytes);
    decoder.finish();
    let reread = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    assert!(write(&options, &[reread]).0 == bytes);
}

#[test]
fn data_that_the_options_forbid_is_rejected() {
    let triple = Term::Triple(Box::new([
        iri("http://a/s"),
        iri("http://a/p"),
        iri("http://a/o"),
    ]));
    let [s, p, o, g] = ["http://a/s", "http://a/p", "http://a/o", "http://a/g"].map(iri);
    let literal = typed("1", "http://d/1");
    let plain = options().and("rdf_star", false).and("generalized", false);
    let triples = options()
        .and("physical_type", "triples")
        .and("logical_type", "graphs");
    let no_datatypes = options().and("datatype_table", 0);
    let cases = [
        (
            &plain,
            [triple.clone(), p.clone(), o.clone(), Term::Default],
            "rdf_star",
        ),
        (
            &plain,
            [literal.clone(), p.clone(), o.clone(), Term::Default],
            "generalized",
        ),
        (
            &plain,
            [
                s.clone(),
                Term::BlankNode("b".to_owned()),
                o.clone(),
                Term::Default,
            ],
            "generalized",
        ),
        (
            &plain,
            [s.clone(), p.clone(), o.clone(), literal.clone()],
            "generalized",
        ),
        (
            &options().and("generalized", false),
            [s.clone(), triple.clone(), o.clone(), Term::Default],
            "generalized",
        ),
        (
            &options(),
            [s.clone(), p.clone(), o.clone(), triple.clone()],
            "a triple term as the graph name",
        ),
        (
            &triples,
            [s.clone(), p.clone(), o.clone(), g.clone()],
            "merge_graphs",
        ),
        (
            &no_datatypes,
            [s.clone(), p.clone(), literal.clone(), Term::Default],
            "datatype_table",
        ),
    ];
    let good = Message {
        statements: vec![[s.clone(), p.clone(), o.clone(), Term::Default]],
        ..Message::default()
    };
    for (options, statement, expected) in cases {
        let bad = Message {
            statements: vec![good.statements[0].clone(), statement],
            ..Message::default()
        };
        let (bytes, _, error) = write(options, &[batch(&[good.clone(), bad])]);
        let error = error.unwrap();
        let remedies = error.reason.remedies();
        let actual = error.reason.text().contains(expected)
            || remedies.iter().any(|remedy| remedy.option == expected);
        assert!(actual, "{error}");
        assert_eq!(error.message_index, 1);
        assert_eq!(
            statements(&read(&bytes)),
            statements(std::slice::from_ref(&good))
        );
    }
    let merged = triples.and("merge_graphs", true);
    let named = Message {
        statements: vec![[s, p, o, g]],
        ..Message::default()
    };
    let (bytes, dropped, error) = write(&merged, &[batch(&[named])]);
    assert_eq!((error, dropped), (None, vec![("graph names", 1)]));
    assert_eq!(statements(&read(&bytes)), statements(&[good]));
}

#[test]
fn conflicting_options_are_rejected_immediately() {
    let cases: [(Options, &str); 6] = [
        (
            options().and("jelly_version", 1).and("namespaces", true),
            "Jelly version 1 does not support namespaces",
        ),
        (options().and("name_table", 7), "the name table size is 7"),
        (
            options().and("jelly_version", 4),
            "'1.0', '1.1', '1.2', or its number, not 4",
        ),
        (
            options().and("jelly_version", "1.2"),
            "Jelly 1.2 has no logical type",
        ),
        (
            options().and("physical_type", "triples"),
            "logical type 4 DATASETS",
        ),
        (
            options().and("frame_rows", 0),
            "frame_rows must be a number",
        ),
    ];
    for (options, expected) in cases {
        let error = encoder("jelly", &options).err().unwrap();
        assert!(error.text().contains(expected), "{error}");
    }
}

#[test]
fn a_bare_log_is_one_frame() {
    let log = random(5, 3, true);
    let bare = options().and("delimited", false).and("namespaces", true);
    let (bytes, _, error) = write(&bare, &[batch(&log[..1])]);
    assert_eq!(error, None);
    assert_eq!(statements(&read(&bytes)), statements(&log[..1]));
    let (bytes, _, error) = write(&bare, &cut(&log, 1));
    assert_eq!(error.unwrap().reason.remedies()[0].option, "delimited");
    assert_eq!(statements(&read(&bytes)), statements(&log[..1]));
    let flat = bare.and("frames", "flat").and("frame_rows", 1);
    let (bytes, dropped, error) = write(&flat, &[batch(&log)]);
    assert_eq!((error, dropped), (None, vec![("boundaries", 2)]));
    assert_eq!(read(&bytes).len(), 1);
}

#[test]
fn empty_logs_and_messages_are_written() {
    let options = options();
    assert!(write(&options, &[]).0.is_empty());
    let (bytes, _, _) = write(
        &options,
        &[batch(&[Message::default(), Message::default()])],
    );
    assert_eq!(statements(&read(&bytes)), [&[] as &[Statement], &[]]);
    assert_eq!(bytes.last(), Some(&0), "an empty message is an empty frame");
    let flat = options.and("frames", "flat");
    assert!(write(&flat, &[]).0.is_empty());
    assert_eq!(
        read(&write(&flat, &[batch(&[Message::default()])]).0).len(),
        1
    );
}

#[test]
fn namespaces_are_written_in_version_2_and_otherwise_counted() {
    let ns = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    let log = [
        Message {
            namespaces: vec![ns("a", "http://a/"), ns("", "urn:x")],
            ..Message::default()
        },
        Message {
            namespaces: vec![ns("a", "http://a/"), ns("a", "http://other/")],
            ..Message::default()
        },
    ];
    let version_2 = options()
        .and("namespaces", true)
        .and("prefixes", vec![ns("p", "http://p/")]);
    let (bytes, dropped, _) = write(&version_2, &[batch(&log)]);
    assert_eq!(dropped, []);
    let reread = read(&bytes);
    let first = [ns("p", "http://p/"), ns("a", "http://a/"), ns("", "urn:x")];
    assert_eq!(reread[0].namespaces, first);
    assert_eq!(reread[1].namespaces[1], ns("a", "http://other/"));
    let version_1 = options();
    let (bytes, dropped, _) = write(&version_1, &[batch(&log)]);
    assert_eq!(dropped, [("namespaces", 3)]);
    assert_eq!(read(&bytes)[1].namespaces, []);
}

#[test]
fn after_an_error_a_flat_log_ends_with_the_last_complete_message() {
    let log = random(9, 8, false);
    let bad = Message {
        statements: (0..30)
            .map(|n| {
                [
                    iri(&format!("http://a/{n}")),
                    iri("http://a/p"),
                    iri("http://a/o"),
                    Term::Default,
                ]
            })
            .chain([[
                iri("http://a/s"),
                iri("http://a/p"),
                iri("http://a/o"),
                Term::Triple(Box::new([iri("a"), iri("b"), iri("c")])),
            ]])
            .collect(),
        ..Message::default()
    };
    let all: Vec<Message> = log.iter().cloned().chain([bad]).collect();
    for frame_rows in [3, 1000] {
        let options = options()
            .and("frames", "flat")
            .and("frame_rows", frame_rows);
        let (bytes, _, error) = write(&options, &[batch(&all)]);
        assert_eq!(error.unwrap().message_index, 8);
        let flat = Options::with("frames", "flat");
        let mut decoder = decoder("jelly", &flat).unwrap();
        let (messages, error) = outcome(&mut *decoder, &bytes, bytes.len());
        assert_eq!(error, None);
        assert_eq!(messages[0].statements, joined(&log));
    }
}

#[test]
fn a_flat_log_has_the_metadata_of_its_first_message() {
    let message = |number: u8| Message {
        statements: vec![
            [
                iri("http://a/s"),
                iri("http://a/p"),
                iri(&format!("http://a/{number}")),
                Term::Default,
            ];
            3
        ],
        metadata: vec![("k".to_owned(), vec![number])],
        ..Message::default()
    };
    let log = [message(1), message(2), message(3)];
    for frame_rows in [2, 5, 1000] {
        let options = options()
            .and("frames", "flat")
            .and("frame_rows", frame_rows)
            .and("logical_type", "flat_quads");
        let (bytes, dropped, error) = write(&options, &[batch(&log)]);
        assert_eq!(error, None);
        assert_eq!(dropped, [("metadata", 2), ("boundaries", 2)]);
        let reread = read(&bytes);
        assert_eq!(reread.len(), 1);
        assert_eq!(reread[0].metadata, log[0].metadata);
        for size in [1, 2, 0] {
            assert!(write(&options, &cut(&log, size)).0 == bytes, "{size}");
        }
        let (bytes, _, _) = write(&options, &[batch(&log[1..])]);
        assert_eq!(read(&bytes)[0].metadata, log[1].metadata);
    }
}

#[test]
fn blank_nodes_stay_distinct_in_a_flat_log() {
    let bnode = |label: &str| Term::BlankNode(label.to_owned());
    let quoted = Term::Triple(Box::new([bnode("b"), iri("http://a/p"), bnode("a b")]));
    let one = Message {
        statements: vec![
            [bnode("b"), iri("http://a/p"), bnode("_gm1_b"), bnode("g")],
            [bnode("b"), iri("http://a/p"), quoted, bnode("g")],
        ],
        ..Message::default()
    };
    let log = [one.clone(), Message::default(), one.clone(), one];
    for physical_type in ["quads", "graphs"] {
        let options = options()
            .and("frames", "flat")
            .and("physical_type", physical_type);
        let (bytes, _, error) = write(&options, &[batch(&log)]);
        assert_eq!(error, None);
        let reread = &read(&bytes)[0].statements;
        assert_eq!(*reread, joined(&log));
        assert_eq!(reread[0][2], bnode("_gm0__gm1_b"));
        assert_eq!(
            [&reread[2][0], &reread[2][3]],
            [&bnode("_gm2_b"), &bnode("_gm2_g")]
        );
        for size in [1, 2, 0] {
            assert!(
                write(&options, &cut(&log, size)).0 == bytes,
                "in batches of {size}"
            );
        }
    }
}

#[test]
fn damaged_logs_never_cause_a_panic() {
    let options = options().and("namespaces", true);
    let log = random(21, 5, true);
    let (bytes, _, _) = write(&options, &[batch(&log)]);
    let try_reading = |bytes: &[u8]| {
        let mut decoder = decoder("jelly", &Options::default()).unwrap();
        outcome(&mut *decoder, bytes, bytes.len())
    };
    for end in 0..bytes.len() {
        let (messages, _) = try_reading(&bytes[..end]);
        assert_eq!(
            statements(&messages),
            statements(&log[..messages.len()]),
            "cut at {end}"
        );
    }
    let mut damaged = bytes.clone();
    for index in 0..bytes.len() {
        for bit in 0..8 {
            damaged[index] ^= 1 << bit;
            try_reading(&damaged);
            damaged[index] ^= 1 << bit;
        }
    }
}
