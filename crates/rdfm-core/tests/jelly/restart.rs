//! Restart frames, their marks, and joined logs.

use rdfm_core::formats::jelly::restart::{KEY, MAGIC, MarkFinder, MarkSearch, is_marked};

use crate::jelly::decode::{decode_with, end, stream_of_names};
use crate::jelly::encode::{cut, options, random, write};
use crate::jelly::model::{BatchMaker, Message, Statement, batch};
use crate::jelly::wire::{
    blank_nodes, bytes, frame, iri, name, options as options_row, prefix, row, varint,
};
use crate::support::{Options, decoder, encoder};

/// Options for every physical type, with tables of several sizes.
fn combinations() -> Vec<Options> {
    let mut combinations = Vec::new();
    for physical_type in ["triples", "quads", "graphs"] {
        for (names, prefixes) in [(8, 150), (40, 4), (4000, 150), (40, 0)] {
            for namespaces in [false, true] {
                combinations.push(
                    options()
                        .and("physical_type", physical_type)
                        .and("logical_type", "unspecified")
                        .and("merge_graphs", physical_type == "triples")
                        .and("name_table", names)
                        .and("prefix_table", prefixes)
                        .and("namespaces", namespaces),
                );
            }
        }
    }
    combinations
}

/// Logs whose statements need at most 8 names. The first message of the first log is empty.
fn logs() -> [Vec<Message>; 2] {
    let mut logs = [7, 23].map(|seed| random(seed, 12, false));
    logs[0][0] = Message::default();
    logs
}

fn decoded(log: &[u8]) -> Vec<Message> {
    let (messages, error) = decode_with(&Options::default(), log);
    assert_eq!(error, None);
    messages
}

fn written(options: &Options, log: &[Message]) -> Vec<u8> {
    let (bytes, _, error) = write(options, &[batch(log)]);
    assert_eq!(error, None);
    bytes
}

/// Statements and metadata of a message.
type Content<'a> = (&'a [Statement], &'a [(String, Vec<u8>)]);

fn content(messages: &[Message]) -> Vec<Content<'_>> {
    let parts = messages
        .iter()
        .map(|message| (&message.statements[..], &message.metadata[..]));
    parts.collect()
}

/// Offsets of the marked frames.
fn marks(log: &[u8]) -> Vec<usize> {
    let finder = MarkFinder::default();
    let (mut actual, mut from) = (Vec::new(), 0);
    while let MarkSearch::Found(start) = finder.find(log, from) {
        actual.push(start);
        from = start + 1;
    }
    actual
}

#[test]
fn joined_logs_are_read_one_after_the_other() {
    for options in combinations() {
        let [first, second] = logs().map(|log| written(&options, &log));
        let joined = [first.as_slice(), &second, &first].concat();
        let expected = [decoded(&first), decoded(&second), decoded(&first)].concat();
        assert_eq!(
            content(&decoded(&joined)),
            content(&expected),
            "{options:?}"
        );
        let (_, observations) = end(&Options::default(), &joined);
        assert_eq!(observations.notes, []);
    }
}

#[test]
fn a_log_can_be_read_from_every_mark() {
    for options in combinations() {
        let [log, _] = logs();
        let single = written(&options, &log);
        for restart_bytes in [1, 200, 4 << 20] {
            let bytes = written(&options.clone().and("restart_bytes", restart_bytes), &log);
            let whole = decoded(&bytes);
            assert_eq!(content(&whole), content(&decoded(&single)));
            let starts = marks(&bytes);
            match restart_bytes {
                1 => assert_eq!(starts.len(), log.len()),
                200 => assert!((3..log.len()).contains(&starts.len()), "{starts:?}"),
                _ => assert_eq!(starts, [0]),
            }
            for start in starts {
                let index = whole
                    .iter()
                    .position(|message| message.position == start as u64)
                    .expect("a message begins at the mark");
                let suffix = decoded(&bytes[start..]);
                assert_eq!(content(&suffix), content(&whole[index..]), "{options:?}");
                for (actual, expected) in suffix.iter().zip(&whole[index..]) {
                    assert_eq!(actual.namespaces, expected.namespaces);
                }
            }
        }
    }
}

#[test]
fn batches_do_not_change_the_restarts() {
    let log = random(3, 40, true);
    for restart_bytes in [1, 300] {
        let options = options()
            .and("restart_bytes", restart_bytes)
            .and("namespaces", true);
        let whole = written(&options, &log);
        for size in [1, 2, 7, 0] {
            let (bytes, _, error) = write(&options, &cut(&log, size));
            assert_eq!(error, None);
            assert!(bytes == whole, "in batches of {size}");
        }
    }
}

#[test]
fn only_delimited_logs_with_one_message_per_frame_have_marks() {
    let log = [Message::default()];
    assert_eq!(marks(&written(&options(), &log)), [0]);
    for unmarked in [
        options().and("restart_bytes", 0),
        options().and("delimited", false),
        options().and("frames", "flat"),
        options().and("logical_type", "flat_quads"),
    ] {
        let bytes = written(&unmarked, &log);
        assert!(!bytes.windows(MAGIC.len()).any(|window| window == MAGIC));
        assert_eq!(decoded(&bytes).len(), 1);
    }
}

#[test]
fn restarts_repeat_namespaces_but_readers_deliver_them_once() {
    let declared = |name: &str| (name.to_owned(), "http://ns/".to_owned());
    let log: Vec<Message> = [Some("a"), None, Some("b"), None]
        .map(|name| Message {
            namespaces: name.into_iter().map(declared).collect(),
            ..Message::default()
        })
        .into();
    let with_restarts = options().and("namespaces", true).and("restart_bytes", 1);
    let bytes = written(&with_restarts, &log);
    assert_eq!(marks(&bytes).len(), 4);
    let changes = |log: &[u8]| {
        let mut decoder = crate::support::decoder("jelly", &Options::default()).unwrap();
        decoder.feed(log);
        decoder.finish();
        let batch = rdfm_core::codec::batch::NextBatchOf::next_batch_of::<
            rdfm_core::model::term::Quad,
        >(&mut *decoder);
        let batch = batch.unwrap().unwrap();
        let messages = batch.namespace_changes().iter();
        messages.map(|change| change.message).collect::<Vec<_>>()
    };
    assert_eq!(changes(&bytes), [0, 2]);
    let last = *marks(&bytes).last().unwrap();
    assert_eq!(changes(&bytes[last..]), [0, 0]);
}

#[test]
fn marks_are_not_metadata_and_their_key_is_reserved() {
    let bytes = written(&options(), &[Message::default()]);
    assert_eq!(decoded(&bytes)[0].metadata, []);
    // This also applies to frames that are not restart frames, and to logs that are one message.
    let mark = bytes[1..][..42].to_vec();
    let others = [
        frame(&[
            mark.clone(),
            options_row(1, &[]),
            blank_nodes("s", "p", "o"),
        ]),
        frame(&[mark, blank_nodes("s", "p", "o")]),
    ]
    .concat();
    assert!(
        decoded(&others)
            .iter()
            .all(|message| message.metadata.is_empty())
    );
    let flat = Options::with("frames", "flat");
    let (_, observations) = end(&flat, &others);
    assert_eq!(observations.dropped_metadata, 0);

    let with_magic = [b"x".as_slice(), &MAGIC, b"x"].concat();
    for (key, value) in [(KEY, b"x".to_vec()), ("key", with_magic)] {
        let mut maker = BatchMaker::new();
        maker.builder.begin_message(0);
        maker.builder.add_metadata(key, &value).unwrap();
        maker.builder.end_message();
        let (out, _, error) = write(&options(), &[maker.take()]);
        assert_eq!(out, b"");
        let error = error.unwrap().to_string();
        assert!(error.contains("reserved for restart marks"), "{error}");
    }
}

#[test]
fn a_mark_is_valid_only_for_a_frame_of_its_length() {
    let bytes = written(&options(), &[Message::default()]);
    let content = &bytes[1..];
    assert!(is_marked(content));
    assert!(!is_marked(&content[..content.len() - 1]));
    assert!(!is_marked(&[content, b"\n\0"].concat()));
}

#[test]
fn the_tables_of_a_new_stream_are_empty() {
    let first = stream_of_names(&["a", "p", "o"]);
    let second = stream_of_names(&["b", "q", "x"]);
    let joined = [first.clone(), second.clone()].concat();
    let new = Options::with("joins", "new");
    let (messages, error) = decode_with(&new, &joined);
    assert_eq!(error, None);
    let expected = [decoded(&first), decoded(&second)].concat();
    assert_eq!(content(&messages), content(&expected));
    let observations = end(&new, &joined).1;
    assert_eq!((observations.notes, observations.joined), (vec![], None));
    // Entries and terms of the first stream are not available.
    let reference = row(
        2,
        [
            bytes(1, iri(1, 1)),
            bytes(5, iri(0, 2)),
            bytes(9, iri(0, 3)),
        ]
        .concat(),
    );
    let dependent = [first.clone(), frame(&[options_row(1, &[]), reference])].concat();
    let error = decode_with(&new, &dependent).1.unwrap();
    assert!(
        error.contains("prefix 1 is used, but no entry has defined it"),
        "{error}"
    );
    let repeats = row(2, bytes(2, "s"));
    let dependent = [first, frame(&[options_row(1, &[]), repeats])].concat();
    let error = decode_with(&new, &dependent).1.unwrap();
    assert!(error.contains("omits its predicate"), "{error}");
}

#[test]
fn joined_flat_logs_are_one_message_with_a_note_or_separate_messages() {
    let flat = |label: &str| {
        let logical = [vec![14 << 3], varint(1)].concat();
        let rows = [options_row(1, &[logical]), blank_nodes(label, "p", "o")];
        [frame(&rows), frame(&[blank_nodes(label, "p", "x")])].concat()
    };
    let joined = [flat("a"), flat("a")].concat();
    let offset = flat("a").len();
    let (messages, error) = decode_with(&Options::default(), &joined);
    assert_eq!((messages.len(), error), (1, None));
    let (_, observations) = end(&Options::default(), &joined);
    assert_eq!(
        observations.joined.unwrap().text(),
        format!(
            "a frame repeats the stream options at byte {offset}; if Jelly files were joined there, they became one \
             message, in which equal blank node labels denote the same node"
        )
    );
    for batch_quads in [1, 1000] {
        let new = Options::with("joins", "new").and("batch_quads", batch_quads);
        for new in [new.clone(), new.parts(true)] {
            let (messages, error) = decode_with(&new, &joined);
            assert_eq!(error, None);
            let sizes: Vec<usize> = messages
                .iter()
                .map(|message| message.statements.len())
                .collect();
            assert_eq!(sizes, [2, 2]);
            let starts: Vec<u64> = messages.iter().map(|message| message.position).collect();
            assert_eq!(starts, [0, offset as u64]);
        }
    }
}

#[test]
fn joined_bare_logs_are_one_message_with_a_note_or_separate_messages() {
    let bare = |names: &[&str]| stream_of_names(names)[1..].to_vec();
    let joined = [bare(&["a", "p", "o"]), bare(&["b", "q", "x"])].concat();
    let (messages, error) = decode_with(&Options::default(), &joined);
    assert_eq!((messages.len(), error), (1, None));
    let note = end(&Options::default(), &joined).1.joined.unwrap();
    assert!(
        note.text()
            .contains("without length prefixes were joined, they became one message"),
        "{note}"
    );
    let new = Options::with("joins", "new");
    let (messages, error) = decode_with(&new, &joined);
    assert_eq!(error, None);
    let expected = [
        decoded(&bare(&["a", "p", "o"])),
        decoded(&bare(&["b", "q", "x"])),
    ]
    .concat();
    assert_eq!(content(&messages), content(&expected));
    let observations = end(&new, &joined).1;
    assert_eq!((observations.notes, observations.joined), (vec![], None));
}

/// A stream with one quad or triple, whose terms all have the name `term_name`. Its name table has
/// `size` entries.
fn stream(physical: u64, size: u64, more: &[u8], term_name: &str) -> Vec<u8> {
    let sizes = [vec![9 << 3], varint(size)].concat();
    let mut terms = [
        bytes(1, iri(1, 1)),
        bytes(5, iri(0, 1)),
        bytes(9, iri(0, 1)),
    ]
    .concat();
    if physical == 2 {
        terms.extend(bytes(13, iri(0, 1)));
    }
    frame(&[
        options_row(physical, &[sizes, more.to_vec()]),
        prefix(1, "http://e/"),
        name(1, term_name),
        row(if physical == 2 { 3 } else { 2 }, terms),
    ])
}

#[test]
fn different_stream_options_are_an_error_or_begin_a_new_stream() {
    let joined = [stream(1, 8, &[], "a"), stream(1, 4000, &[], "b")].concat();
    for joins in ["error", "warn"] {
        let options = Options::with("joins", joins);
        let error = decode_with(&options, &joined).1.unwrap();
        assert!(
            error.contains(
                "the stream options differ from those at the start of the log: expected name_table=8, found \
                 name_table=4000 (frame 1, row 0"
            ),
            "{error}"
        );
        let mut decoder = decoder("jelly", &options).unwrap();
        decoder.feed(&joined);
        decoder.next_batch().unwrap();
        let remedies = decoder.next_batch().unwrap_err().reason.remedies().to_vec();
        assert_eq!(
            (remedies[0].option, remedies[0].value.as_deref()),
            ("joins", Some("new"))
        );
    }
    let new = Options::with("joins", "new");
    for (first, second) in [
        ((1, 8), (1, 4000)),
        ((1, 8), (2, 8)),
        ((2, 8), (1, 8)),
        ((2, 4000), (2, 8)),
    ] {
        let [first, second] =
            [(first, "a"), (second, "b")].map(|((kind, size), name)| stream(kind, size, &[], name));
        let (messages, error) = decode_with(&new, &[&first[..], &second, &first].concat());
        assert_eq!(error, None);
        let expected = [decoded(&first), decoded(&second), decoded(&first)].concat();
        assert_eq!(content(&messages), content(&expected));
    }
}

#[test]
fn a_new_stream_must_have_a_known_version_and_the_same_message_boundaries() {
    let new = Options::with("joins", "new");
    let first = stream(1, 8, &[], "a");
    for (more, expected) in [
        ([15 << 3, 9], "version 9 is newer than 3".to_owned()),
        (
            [14 << 3, 1],
            format!(
                "the file joined at byte {} delimits its messages differently from the first file; split the log there",
                first.len()
            ),
        ),
    ] {
        let joined = [first.clone(), stream(1, 8, &more, "b")].concat();
        let (messages, error) = decode_with(&new, &joined);
        assert_eq!(content(&messages), content(&decoded(&first)));
        assert!(error.as_ref().unwrap().contains(&expected), "{error:?}");
    }
    // An option makes each frame a message in both streams.
    let joined = [first, stream(1, 8, &[14 << 3, 1], "b")].concat();
    let (messages, error) = decode_with(&new.and("frames", "message"), &joined);
    assert_eq!((messages.len(), error), (2, None));
}

#[test]
fn logs_with_and_without_length_prefixes_cannot_be_joined() {
    let delimited = stream(1, 8, &[], "a");
    let bare = &stream(1, 4000, &[], "b")[1..];
    for joins in ["error", "new"] {
        let options = Options::with("joins", joins);
        let error = decode_with(&options, &[&delimited[..], bare].concat()).1;
        let expected = format!(
            "a file without length prefixes was joined at byte {} to a file with them; split the log there",
            delimited.len()
        );
        assert!(error.as_ref().unwrap().contains(&expected), "{error:?}");
        let error = decode_with(&options, &[bare, &delimited].concat()).1;
        let expected = format!(
            "a file with length prefixes was joined at byte {} to a file without them; split the log there",
            bare.len()
        );
        assert!(error.as_ref().unwrap().contains(&expected), "{error:?}");
    }
}

#[test]
fn requested_restarts_need_a_delimited_log_with_one_message_per_frame() {
    for (options, expected) in [
        (
            options().and("delimited", false),
            "a frame without a length prefix has no restart mark",
        ),
        (
            options().and("frames", "flat"),
            "a log whose frames are one message has no restart marks",
        ),
        (
            options().and("flat", true),
            "a log whose frames are one message has no restart marks",
        ),
        (
            options().and("logical_type", "flat_quads"),
            "a log whose frames are one message has no restart marks",
        ),
    ] {
        let error = encoder("jelly", &options.clone().and("restart_bytes", 1000)).err();
        assert_eq!(error.unwrap().text(), expected);
        assert!(encoder("jelly", &options.and("restart_bytes", 0)).is_ok());
    }
}
