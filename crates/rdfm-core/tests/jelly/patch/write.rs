//! Output, errors and guarantees of the Jelly-Patch encoder.

use rdfm_core::codec::Source;
use rdfm_core::codec::carries::{Capabilities, TripleTerms};
use rdfm_core::codec::values::GivenValue;
use rdfm_core::model::batch::{MessageBatch, PatchBatch};
use rdfm_core::model::builder::PatchBuilder;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::{Operation, OperationCode};
use rdfm_core::model::term::{Quad, TermId, TermKind};

use super::{
    ADD, FRAME, PUNCTUATED, QUADS, TRIPLES, bare, batches, mark, options, quad, read, read_with,
    triple, write,
};
use crate::jelly::wire::{frame, varint};
use crate::support::{Options, encoder};

/// Builds patches term by term.
struct PatchMaker(PatchBuilder);

impl PatchMaker {
    fn new() -> Self {
        Self(PatchBuilder::new(Limits::default()))
    }

    fn term(&mut self, kind: TermKind, text: &str) -> TermId {
        self.0.add_simple(kind, text.as_bytes(), 0).unwrap()
    }

    fn iri(&mut self, text: &str) -> TermId {
        self.term(TermKind::Iri, text)
    }

    fn statement(&mut self, code: OperationCode, terms: [TermId; 4]) {
        let [subject, predicate, object, graph] = terms;
        let quad = Quad {
            subject,
            predicate,
            object,
            graph,
        };
        self.0.add(Operation::new(code, quad)).unwrap();
    }

    /// Adds a patch with one operation per letter.
    fn patch(&mut self, letters: &str) {
        self.0.begin_message(0);
        self.operations(letters);
        self.0.end_message();
    }

    fn operations(&mut self, letters: &str) {
        for letter in letters.chars() {
            let s = self.iri("http://e/s");
            let g = self.iri("http://e/g");
            let default = TermId::DEFAULT_GRAPH;
            let name = self.term(TermKind::Literal, "k");
            let bare = |code| Operation::bare(code);
            let operation = match letter {
                't' => bare(OperationCode::Begin),
                'c' => bare(OperationCode::Commit),
                'x' => bare(OperationCode::Abort),
                'h' => Operation {
                    name,
                    object: s,
                    ..bare(OperationCode::Header)
                },
                'p' | 'P' => Operation {
                    name,
                    object: s,
                    graph: if letter == 'P' { g } else { default },
                    ..bare(OperationCode::AddPrefix)
                },
                'd' => Operation {
                    name,
                    ..bare(OperationCode::DeletePrefix)
                },
                'a' | 'A' => {
                    let graph = if letter == 'A' { g } else { default };
                    self.statement(OperationCode::Add, [s, s, s, graph]);
                    continue;
                }
                'L' => {
                    self.statement(OperationCode::Delete, [name, s, s, default]);
                    continue;
                }
                'S' => {
                    let star = self.0.add_triple_term([s, s, s]).unwrap();
                    self.statement(OperationCode::Add, [s, s, star, default]);
                    continue;
                }
                'T' => Operation {
                    name,
                    object: self.0.add_triple_term([s, s, name]).unwrap(),
                    ..bare(OperationCode::Header)
                },
                other => panic!("no operation has the letter {other}"),
            };
            self.0.add(operation).unwrap();
        }
    }
}

/// A batch with one patch per word.
fn batch_of(words: &str) -> PatchBatch {
    let mut maker = PatchMaker::new();
    for word in words.split(' ') {
        maker.patch(word.trim_matches('_'));
    }
    maker.0.take().unwrap()
}

fn with(pairs: &[(&'static str, &str)]) -> Options {
    let add = |options: Options, &(name, value): &(&'static str, &str)| options.and(name, value);
    pairs.iter().fold(Options::default(), add)
}

/// The statement type and the stream type in the options of a log.
fn types(log: &[u8]) -> (u8, u8) {
    let index = log.iter().position(|byte| *byte == 0x08).unwrap();
    assert_eq!((log[index], log[index + 2]), (0x08, 0x10));
    (log[index + 1], log[index + 3])
}

#[test]
fn small_logs_have_the_expected_bytes() {
    let statements = |stream: u64, more: &[Vec<u8>]| {
        let sizes = [(9, 4000), (10, 150), (11, 32)]
            .map(|(field, size)| crate::jelly::wire::number(field, size));
        let fields = [
            crate::jelly::wire::number(1, TRIPLES),
            crate::jelly::wire::number(2, stream),
            sizes.concat(),
            crate::jelly::wire::number(15, 1),
        ];
        frame(&[crate::jelly::wire::row(1, fields.concat()), more.concat()])
    };
    let log = frame(&[
        options(PUNCTUATED, TRIPLES, &[crate::jelly::wire::number(3, 1)]),
        bare(6),
        triple(ADD, "a", "b", "c"),
        crate::jelly::wire::row(3, ""),
        bare(7),
        mark(),
        mark(),
    ]);
    let patches = batches(&Options::default(), &log);
    let generalized = with(&[
        ("generalized", "true"),
        ("statement_type", "triples"),
        ("stream_type", "frame"),
    ]);
    let (out, ..) = write(&generalized, &patches);
    let rows = [
        bare(6),
        triple(ADD, "a", "b", "c"),
        crate::jelly::wire::row(3, ""),
        bare(7),
    ]
    .concat();
    assert!(out.windows(rows.len()).any(|window| window == rows));
    // The second patch is an empty frame.
    assert_eq!(out.last(), Some(&0));
    // An empty patch alone.
    let (out, ..) = write(&with(&[("statement_type", "triples")]), &[batch_of("_")]);
    assert_eq!(out, statements(PUNCTUATED, &[mark()]));
    let frames = with(&[("statement_type", "triples"), ("stream_type", "frame")]);
    assert_eq!(write(&frames, &[batch_of("_")]).0, statements(FRAME, &[]));
    assert_eq!(write(&frames, &[]).0, b"");
}

#[test]
fn the_default_statement_type_allows_graphs() {
    for words in ["a", "hptadc", "A", "_ a"] {
        let (out, _, error) = write(&Options::default(), &[batch_of(words)]);
        assert_eq!(error, None);
        assert_eq!(types(&out), (QUADS as u8, PUNCTUATED as u8), "{words}");
    }
    let triples = with(&[("statement_type", "triples")]);
    let (out, _, error) = write(&triples, &[batch_of("a a A")]);
    let error = error.unwrap();
    assert_eq!(
        (error.class, error.message_index),
        (ErrorClass::Unsupported, 2)
    );
    assert_eq!(
        error.to_string(),
        "jelly-patch: statement type TRIPLES does not allow graph names (message 2)"
    );
    let remedies: Vec<_> = error
        .reason
        .remedies()
        .iter()
        .map(|each| each.option)
        .collect();
    assert_eq!(remedies, ["statement_type", "merge_graphs"]);
    assert_eq!(read(&out).patches.len(), 2);
    let (out, _, error) = write(&Options::default(), &[batch_of("a a A")]);
    assert_eq!(error, None);
    assert_eq!(
        read(&out).patches[2],
        ["A <http://e/s> <http://e/s> <http://e/s> <http://e/g> ."]
    );
}

#[test]
fn graph_names_are_dropped_on_request() {
    let merged = with(&[("merge_graphs", "true")]);
    let (out, dropped, error) = write(&merged, &[batch_of("APa A")]);
    assert_eq!((error, dropped), (None, vec![("graph names", 3)]));
    assert_eq!(types(&out).0, TRIPLES as u8);
    let add = "A <http://e/s> <http://e/s> <http://e/s> .";
    assert_eq!(
        read(&out).patches,
        [vec![add, "PA \"k\" <http://e/s> .", add], vec![add]]
    );
    let kept = merged.and("statement_type", "quads");
    assert_eq!(types(&write(&kept, &[batch_of("A")]).0).0, QUADS as u8);
}

fn source(carries: Capabilities, options: &[(&str, GivenValue)]) -> Source {
    Source {
        carries,
        dialect: None,
        options: options
            .iter()
            .map(|(name, given)| ((*name).to_owned(), given.clone()))
            .collect(),
        requested: false,
        namespaces: false,
        flat: false,
        continued: false,
    }
}

fn from(source: Source) -> Options {
    let mut options = Options::default();
    options.source = Some(source);
    options
}

#[test]
fn output_options_follow_the_source() {
    let plain = Capabilities {
        graphs: false,
        triple_terms: TripleTerms::No,
        ..Capabilities::ALL
    };
    let words = "_ a";
    assert_eq!(
        types(&write(&from(source(plain, &[])), &[batch_of(words)]).0).0,
        TRIPLES as u8
    );
    assert_eq!(
        types(&write(&from(source(Capabilities::ALL, &[])), &[batch_of(words)]).0).0,
        QUADS as u8
    );
    // Triple terms are declared if the source can contain them.
    let star = batch_of("S");
    assert_eq!(
        write(
            &from(source(Capabilities::ALL, &[])),
            std::slice::from_ref(&star)
        )
        .2,
        None
    );
    assert!(
        write(&from(source(plain, &[])), std::slice::from_ref(&star))
            .2
            .is_some()
    );

    let declared = |stream: &str| {
        source(
            Capabilities::ALL,
            &[
                ("stream_type", stream.into()),
                ("statement_type", "triples".into()),
                ("generalized", true.into()),
                ("name_table", 9u64.into()),
            ],
        )
    };
    let log = write(&from(declared("frame")), &[batch_of("L")]).0;
    assert_eq!(types(&log), (TRIPLES as u8, 1));
    assert!(
        log.windows(2).any(|bytes| bytes == [0x48, 9]),
        "the size of the name table"
    );
    // The stream type "flat" is kept only if the source was read as one patch, or on request.
    assert_eq!(
        types(&write(&from(declared("flat")), &[batch_of("a")]).0).1,
        3
    );
    let flat = Source {
        flat: true,
        ..declared("flat")
    };
    assert_eq!(types(&write(&from(flat), &[batch_of("a")]).0).1, 2);
    let requested = Source {
        requested: true,
        ..declared("flat")
    };
    assert_eq!(types(&write(&from(requested), &[batch_of("a")]).0).1, 2);
    // Given options take precedence.
    let overridden = from(declared("frame"))
        .and("stream_type", "punctuated")
        .and("statement_type", "quads");
    assert_eq!(types(&write(&overridden, &[batch_of("a")]).0), (2, 3));
}

#[test]
fn frames_end_at_a_number_of_rows_or_bytes() {
    let frames = |log: &[u8]| {
        let (mut index, mut sizes) = (0, Vec::new());
        while index < log.len() {
            let (mut length, mut prefix) = (0, 0);
            loop {
                let byte = usize::from(log[index + prefix]);
                length |= (byte & 127) << (7 * prefix);
                prefix += 1;
                if byte < 128 {
                    break;
                }
            }
            sizes.push(length);
            index += prefix + length;
        }
        sizes
    };
    let sizes_of = |words: &str, pairs: &[(&'static str, &str)]| {
        let (out, _, error) = write(&with(pairs), &[batch_of(words)]);
        assert_eq!(error, None);
        assert_eq!(
            read(&out).patches,
            read(&write(&Options::default(), &[batch_of(words)]).0).patches
        );
        frames(&out)
    };
    let words = format!("t{}c tc", "Aa".repeat(50));
    let frame_sizes = |pairs: &[(&'static str, &str)]| sizes_of(&words, pairs);
    // Frames end with patches.
    assert_eq!(frame_sizes(&[]).len(), 2);
    assert_eq!(frame_sizes(&[("stream_type", "frame")]).len(), 2);
    // 102 operations, options, lookup entries, and the punctuation rows.
    assert_eq!(frame_sizes(&[("frame_rows", "10")]).len(), 12);
    let many = format!("t{}c", "Aa".repeat(60_000));
    let sizes = sizes_of(&many, &[("frame_rows", "1000000")]);
    let (last, full) = sizes.split_last().unwrap();
    assert!(*last <= 512 << 10 && !full.is_empty(), "{sizes:?}");
    assert!(
        full.iter()
            .all(|size| ((512 << 10)..(512 << 10) + 70).contains(size)),
        "{sizes:?}"
    );
    assert_eq!(
        frame_sizes(&[("frame_rows", "10"), ("stream_type", "frame")]).len(),
        2
    );
}

#[test]
fn a_bare_log_cannot_have_a_second_frame() {
    let bare = |stream: &str| {
        with(&[
            ("delimited", "false"),
            ("stream_type", stream),
            ("frame_rows", "1"),
        ])
    };
    let (out, _, error) = write(&bare("punctuated"), &[batch_of("a tac a")]);
    assert_eq!(error, None);
    assert_eq!(out[0], 0x0a);
    assert_eq!(read(&out).patches.len(), 3);
    let (out, _, error) = write(&bare("frame"), &[batch_of("a a")]);
    let error = error.unwrap();
    assert_eq!(
        error.to_string(),
        "jelly-patch: a log of more than one frame needs length prefixes (message 1)"
    );
    assert_eq!(read(&out).patches.len(), 1);
    let (out, ..) = write(&bare("flat"), &[batch_of("aaa")]);
    assert_eq!(read(&out).patches[0].len(), 3);
}

#[test]
fn patches_are_merged_on_request() {
    let flat = with(&[("flat", "true"), ("frame_rows", "3")]);
    let (out, dropped, error) = write(&flat, &[batch_of("taac aaa tac")]);
    assert_eq!((error, dropped), (None, vec![("boundaries", 2)]));
    assert_eq!(read(&out).patches[0].len(), 10);
    assert_eq!(types(&out).1, 2);
    let (out, _, error) = write(&with(&[("stream_type", "flat")]), &[batch_of("taac aaa")]);
    let error = error.unwrap();
    assert!(error.to_string().contains("a second message"), "{error}");
    let remedies = error.reason.remedies().iter();
    let options: Vec<_> = remedies.map(|remedy| remedy.option).collect();
    assert_eq!(options, ["stream_type", "flat"]);
    assert_eq!(read(&out).patches, [read(&out).patches.concat()]);
    assert_eq!(read(&out).patches[0].len(), 4);
    for stream in ["frame", "punctuated"] {
        let both = with(&[("flat", "true"), ("stream_type", stream)]);
        let reason = encoder("jelly-patch", &both).err().unwrap();
        assert!(
            reason
                .text()
                .contains("the stream type is for several patches"),
            "{}",
            reason.text()
        );
    }
    assert!(
        encoder(
            "jelly-patch",
            &with(&[("flat", "true"), ("stream_type", "flat")])
        )
        .is_ok()
    );
}

#[test]
fn unmatched_transactions_are_rejected() {
    for (words, error) in [
        (
            "a c",
            "a commit outside a transaction, which Jelly-Patch does not allow",
        ),
        ("a x", "an abort outside a transaction"),
        ("a tt", "a transaction starts inside another transaction"),
        ("a t", "the patch ends inside a transaction"),
        ("a tactxt c", "the patch ends inside a transaction"),
    ] {
        for stream in ["frame", "punctuated"] {
            let options = with(&[("stream_type", stream), ("frame_rows", "1")]);
            let (out, _, actual) = write(&options, &[batch_of(words)]);
            let actual = actual.unwrap();
            assert_eq!(
                (actual.class, actual.message_index),
                (ErrorClass::Unsupported, 1)
            );
            assert!(actual.to_string().contains(error), "{actual}");
            let reread = read(&out);
            assert_eq!(
                (reread.error, reread.patches.len()),
                (None, 1),
                "{words} {stream}"
            );
        }
    }
    // A transaction may span parts.
    let mut maker = PatchMaker::new();
    maker.0.begin_message(0);
    maker.operations("tA");
    let first = maker.0.take_part();
    maker.operations("ac");
    maker.0.end_message();
    let parts = [first, maker.0.take().unwrap()];
    for stream in ["frame", "flat", "punctuated"] {
        let (out, _, error) = write(&with(&[("stream_type", stream)]), &parts);
        assert_eq!(error, None);
        assert_eq!(read(&out).patches[0].len(), 4);
    }
}

#[test]
fn undeclared_features_are_rejected() {
    for (words, option, error) in [
        (
            "a L",
            "generalized",
            "a literal as the subject or predicate, but the header does not declare",
        ),
        (
            "a S",
            "rdf_star",
            "a triple term, but the header does not declare triple terms",
        ),
        (
            "a T",
            "rdf_star",
            "a triple term, but the header does not declare triple terms",
        ),
    ] {
        let (out, _, actual) = write(&Options::default(), &[batch_of(words)]);
        let actual = actual.unwrap();
        assert_eq!(
            (actual.class, actual.message_index),
            (ErrorClass::Unsupported, 1)
        );
        assert!(actual.to_string().contains(error), "{actual}");
        assert_eq!(actual.reason.remedies()[0].option, option);
        assert_eq!(read(&out).patches.len(), 1);
        let (out, _, actual) = write(&with(&[(option, "true")]), &[batch_of(words)]);
        assert_eq!(actual, None);
        assert_eq!(read(&out).patches.len(), 2);
    }
    // A header can have any value.
    let mut maker = PatchMaker::new();
    maker.0.begin_message(0);
    for kind in [TermKind::Literal, TermKind::BlankNode, TermKind::Iri] {
        let name = maker.term(TermKind::Literal, "");
        let object = maker.term(kind, "x");
        let header = Operation {
            name,
            object,
            ..Operation::bare(OperationCode::Header)
        };
        maker.0.add(header).unwrap();
    }
    maker.0.end_message();
    let (out, _, error) = write(&Options::default(), &[maker.0.take().unwrap()]);
    assert_eq!(error, None);
    assert_eq!(
        read(&out).patches,
        [["H \"\" \"x\" .", "H \"\" _:x .", "H \"\" <x> ."]]
    );
}

#[test]
fn tables_that_are_too_small_are_rejected() {
    let reason = encoder("jelly-patch", &with(&[("name_table", "7")]))
        .err()
        .unwrap();
    assert_eq!(
        reason.text(),
        "the name table size is 7, expected 8 or more"
    );
    let mut maker = PatchMaker::new();
    maker.0.begin_message(0);
    let one = maker.iri("http://one/a");
    let other = maker.iri("http://other/a");
    maker.statement(OperationCode::Add, [one, one, other, TermId::DEFAULT_GRAPH]);
    maker.0.end_message();
    let batch = maker.0.take().unwrap();
    let small = with(&[("prefix_table", "1")]);
    let error = write(&small, std::slice::from_ref(&batch)).2.unwrap();
    assert!(
        error
            .to_string()
            .contains("needs more than 1 lookup entries at once"),
        "{error}"
    );
    assert_eq!(error.reason.remedies()[0].option, "prefix_table");
    let (out, ..) = write(&with(&[("prefix_table", "0")]), &[batch]);
    assert_eq!(
        read(&out).patches,
        [["A <http://one/a> <http://one/a> <http://other/a> ."]]
    );
}

#[test]
fn adds_deletes_and_namespaces_share_repeated_terms_across_batches() {
    let words = "tAPAc A A";
    let whole = batch_of(words);
    let (out, ..) = write(&Options::default(), std::slice::from_ref(&whole));
    let cut: Vec<PatchBatch> = (0..3).map(|index| whole.slice(index..index + 1)).collect();
    assert_eq!(write(&Options::default(), &cut).0, out);
    let separate: Vec<PatchBatch> = words
        .split(' ')
        .zip(0..)
        .map(|(word, index)| {
            let mut maker = PatchMaker::new();
            maker.0.start_at(index);
            maker.patch(word);
            maker.0.take().unwrap()
        })
        .collect();
    assert_eq!(write(&Options::default(), &separate).0, out);
    // Each of the last two patches is an empty statement and a punctuation row.
    let tail = [varint(8), crate::jelly::wire::row(2, ""), mark()].concat();
    assert!(out.ends_with(&[tail.clone(), tail].concat()));
}

#[test]
fn blank_node_labels_are_unchanged_when_patches_are_merged() {
    let log = frame(&[
        options(PUNCTUATED, QUADS, &[]),
        quad(ADD, "b", "p", "o", "g"),
        mark(),
        quad(3, "b", "p", "o", "g"),
        mark(),
    ]);
    let flat = with(&[("flat", "true"), ("generalized", "true")]);
    let (out, ..) = write(&flat, &batches(&Options::default(), &log));
    let reread = read_with(&Options::default(), &out);
    assert_eq!(
        reread.patches,
        [["A _:b _:p _:o _:g .", "D _:b _:p _:o _:g ."]]
    );
}

#[test]
fn logs_of_messages_are_rejected() {
    let mut encoder = encoder("jelly-patch", &Options::default()).unwrap();
    let error = encoder
        .encode((&MessageBatch::empty()).into(), &mut Vec::new())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Jelly-Patch can represent only patches, not messages"),
        "{error}"
    );
}
