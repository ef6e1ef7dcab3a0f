//! Changes of datasets: applying patches, converting messages to patches and back, and computing
//! differences. Results are compared with sets of lines, in batches of several sizes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]
#![allow(
    clippy::format_collect,
    reason = "shorter, and the texts in tests are small"
)]

use std::collections::BTreeSet;

use crate::support::{Options, decoder, encoder, lines};
use rdfm_core::changes::dataset::{AppliedCounts, Dataset};
use rdfm_core::changes::difference::Difference;
use rdfm_core::changes::logs::{ToMessages, ToPatches};
use rdfm_core::codec::batch::{LogRecord, NextBatchOf as _};
use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch};
use rdfm_core::model::builder::PatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::{Operation, OperationCode};
use rdfm_core::model::term::{Quad, TermKind};

/// Maximum numbers of records per batch.
const SIZES: [u64; 4] = [1, 2, 5, 8192];

fn batches<R: LogRecord>(format: &str, log: &[u8], size: u64) -> Vec<LogBatch<R>> {
    let options = Options::with("batch_quads", size).parts(true);
    let mut decoder = decoder(format, &options).unwrap();
    decoder.feed(log);
    decoder.finish();
    let mut batches = Vec::new();
    while let Some(batch) = decoder.next_batch_of().unwrap() {
        batches.push(batch);
    }
    batches
}

fn messages(log: &str, size: u64) -> Vec<MessageBatch> {
    batches("nq", log.as_bytes(), size)
}

fn patches(log: &str, size: u64) -> Vec<PatchBatch> {
    batches("rdf-patch", log.as_bytes(), size)
}

fn dataset(log: &str, size: u64) -> Dataset {
    let mut dataset = Dataset::new();
    for batch in messages(log, size) {
        dataset.add(&batch).unwrap();
    }
    dataset
}

/// Returns the quads of a dataset in order. Checks that one batch and parts have the same quads.
fn quads_of(dataset: &Dataset) -> Vec<String> {
    let mut whole = dataset.message(false);
    let batch = whole.next_batch().unwrap().unwrap();
    assert!(whole.next_batch().unwrap().is_none());
    let quads = lines(&batch, 0);
    let mut parts = dataset.message(true);
    let mut actual = Vec::new();
    while let Some(batch) = parts.next_batch().unwrap() {
        actual.extend(lines(&batch, 0));
    }
    assert_eq!(actual, quads);
    assert_eq!(quads.len(), dataset.len());
    quads
}

/// Applies patches to a dataset, in batches of several sizes. The results must be equal.
fn applied(data: &str, log: &str) -> (Vec<String>, AppliedCounts) {
    let mut actual: Option<(Vec<String>, AppliedCounts)> = None;
    for size in SIZES {
        let mut dataset = dataset(data, size);
        for batch in patches(log, size) {
            dataset.apply(&batch, true).unwrap();
        }
        let result = (quads_of(&dataset), dataset.applied_counts());
        if let Some(actual) = &actual {
            assert_eq!(&result, actual, "in batches of {size}: {log}");
        }
        actual = Some(result);
    }
    actual.unwrap()
}

/// Returns N-Quads with one quad per letter.
fn data(letters: &str) -> String {
    letters
        .chars()
        .map(|letter| format!("<a:s> <a:p> <a:{letter}> .\n"))
        .collect()
}

/// Returns a patch row for each word: `+x` adds the quad of `x`, `-x` deletes it.
fn rows(words: &str) -> String {
    let row = |word: &str| match word.split_at(1) {
        ("+", letter) => format!("A <a:s> <a:p> <a:{letter}> .\n"),
        ("-", letter) => format!("D <a:s> <a:p> <a:{letter}> .\n"),
        _ => format!("{word} .\n"),
    };
    words.split(' ').map(row).collect()
}

fn letters(quads: &[String]) -> String {
    quads.iter().map(|quad| &quad[15..16]).collect()
}

#[test]
fn transactions_are_applied_completely_or_not_at_all() {
    for (before, words, after) in [
        ("ab", "TX +c -a TC", "bc"),
        ("ab", "TX +c -a TA", "ab"),
        ("ab", "TX +c -a", "ab"),
        ("ab", "+c -a", "bc"),
        ("ab", "-a TX -b +c TA +d", "bd"),
        // Earlier changes of the transaction are undone too.
        ("ab", "TX -a +a +c -c -b TA", "ab"),
        ("ab", "TX -a +a TC", "ba"),
        ("ab", "TX +a -a +a -x TA -a", "b"),
        ("ab", "TX TC TX TA TX -a TC TX +z TA", "b"),
        // The end of a patch or of the log ends its transaction.
        ("ab", "TX -a Z +c TX +d", "abc"),
        ("", "TX +a Z TX +b TC Z TX +c TA", "b"),
        ("ab", "Z Z", "ab"),
    ] {
        let (quads, _) = applied(&data(before), &rows(words));
        assert_eq!(letters(&quads), after, "{before}: {words}");
    }
}

#[test]
fn changes_are_counted() {
    let (_, counts) = applied(&data("ab"), &rows("TX +c +a -b -x TC TX +d -a TA -c TX +e"));
    let expected = AppliedCounts {
        added: 1,
        deleted: 2,
        without_effect: 2,
        committed: 1,
        undone: 2,
    };
    assert_eq!(counts, expected);
}

#[test]
fn terms_are_compared_by_value() {
    let terms = [
        "<a:o>",
        "_:o",
        "\"o\"",
        "\"o\"@en",
        "\"o\"@EN",
        "\"o\"@en--ltr",
        "\"o\"@en--rtl",
        "\"o\"^^<a:o>",
        "\"o\\n\\\"\"",
        "<<( <a:s> <a:p> _:o )>>",
        "<<( <a:s> <a:p> <<( _:o <a:p> \"o\"@en--ltr )>> )>>",
    ];
    let quads: Vec<String> = terms
        .iter()
        .flat_map(|term| {
            ["", " <a:g>", " _:g"].map(|graph| format!("<a:s> <a:p> {term}{graph} .\n"))
        })
        .collect();
    let log = quads.concat();
    for quad in &quads {
        let (remaining, counts) = applied(&log, &format!("D {quad}A {quad}D {quad}"));
        assert_eq!((counts.deleted, counts.added), (2, 1), "{quad}");
        let others = quads.iter().filter(|other| *other != quad);
        let others: Vec<&str> = others.map(|quad| quad.trim_end()).collect();
        assert_eq!(remaining, others, "{quad}");
    }
}

/// Encodes batches as a complete log.
fn encoded<R: LogRecord>(format: &str, batches: &[LogBatch<R>]) -> Vec<u8> {
    let options = match format {
        "jelly" | "jelly-patch" => Options::with("rdf_star", true),
        _ => Options::default(),
    };
    let mut writer = encoder(format, &options).unwrap();
    let mut bytes = Vec::new();
    for batch in batches {
        writer.encode(batch.into(), &mut bytes).unwrap();
    }
    writer.finish(&mut bytes).unwrap();
    bytes
}

/// Codecs set different flags for equal terms: text codecs check the grammar, binary ones do not.
#[test]
fn patches_in_any_format_delete_equal_quads_from_any_format() {
    let plain = "<a:s> <a:p> \"x\"@en <a:g> .\n_:b <a:p> \"1\"^^<a:d> .\n";
    let triple = "<a:s> <a:p> <<( _:b <a:p> \"x\" )>> .\n";
    for format in [
        "nq",
        "trig",
        "jelly",
        "rdf-thrift",
        "rdf-protobuf",
        "ndjsonld",
    ] {
        let text = match format {
            "ndjsonld" => plain.to_owned(),
            _ => [plain, triple].concat(),
        };
        let bytes = encoded(format, &messages(&text, 8192));
        let deletes: String = text.lines().map(|line| format!("D {line}\n")).collect();
        for patch_format in ["rdf-patch", "rdf-patch-thrift", "jelly-patch"] {
            let mut dataset = Dataset::new();
            for batch in batches::<Quad>(format, &bytes, 8192) {
                dataset.add(&batch).unwrap();
            }
            let log = encoded(patch_format, &patches(&deletes, 8192));
            for batch in batches::<Operation>(patch_format, &log, 8192) {
                dataset.apply(&batch, true).unwrap();
            }
            let remaining = quads_of(&dataset);
            assert!(
                remaining.is_empty(),
                "{format}, {patch_format}: {remaining:?}"
            );
            assert_eq!(
                dataset.applied_counts().deleted,
                text.lines().count() as u64
            );
        }
    }
}

#[test]
fn patches_change_the_prefixes_of_the_dataset() {
    let text = b"PREFIX a: <http://a/> PREFIX b: <http://b/> a:s a:p a:o .";
    let mut dataset = Dataset::new();
    for batch in batches::<Quad>("trig", text, 8192) {
        dataset.add(&batch).unwrap();
    }
    let log = "PA \"c\" <http://c/> .\nTX .\nPA \"a\" <http://x/> .\nPD \"b\" .\nTA .\nTX .\nPD \"b\" .\nPA \"d\" <http://d/> .\nTC .\nPD \"none\" .\n";
    for batch in patches(log, 8192) {
        dataset.apply(&batch, true).unwrap();
    }
    let batch = dataset.message(false).next_batch().unwrap().unwrap();
    let namespaces = batch.namespaces(0);
    let actual: Vec<_> = namespaces
        .iter()
        .map(|(name, iri)| format!("{} {}", text_of(name), text_of(iri)))
        .collect();
    assert_eq!(actual, ["a http://a/", "c http://c/", "d http://d/"]);
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn errors_contain_the_row_and_earlier_changes_are_kept() {
    for (words, row, reason) in [
        (
            "+c TX +d TX",
            3,
            "TX within a transaction; expected TC or TA before it",
        ),
        ("+c TC", 1, "TC without TX before it"),
        ("+c TX TA TA", 3, "TA without TX before it"),
        ("Z Z TX -a Z +c TX TC TC", 3, "TC without TX before it"),
    ] {
        for size in SIZES {
            let mut dataset = dataset(&data("ab"), size);
            let error = patches(&rows(words), size)
                .iter()
                .find_map(|batch| dataset.apply(batch, true).err())
                .expect(words);
            let expected = format!("row {row} of the patch: {reason}");
            assert_eq!(
                error.reason.text(),
                expected,
                "in batches of {size}: {words}"
            );
            let message = words.matches('Z').count() as u64;
            assert_eq!(error.position.message_index, Some(message), "{words}");
            assert_eq!(letters(&quads_of(&dataset)), "abc", "{words}");
        }
    }
}

/// A pseudorandom number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }

    fn quad(&mut self) -> String {
        let terms = ["<a:a>", "_:b", "\"c\"", "\"c\"@en"];
        let graphs = ["", " <a:g>", " _:b"];
        let (object, graph) = (self.below(4), self.below(3));
        let subject = ["<a:a>", "_:b"][self.below(2) as usize];
        let (object, graph) = (terms[object as usize], graphs[graph as usize]);
        format!("{subject} <a:p> {object}{graph} .")
    }

    fn data(&mut self) -> String {
        let count = self.below(12);
        (0..count).map(|_| format!("{}\n", self.quad())).collect()
    }
}

fn set(quads: &[String]) -> BTreeSet<String> {
    assert_eq!(quads.iter().collect::<BTreeSet<_>>().len(), quads.len());
    quads.iter().cloned().collect()
}

/// Applies rows with a simple implementation of the same rules.
fn model(before: &str, rows: &[String]) -> BTreeSet<String> {
    let mut quads: BTreeSet<String> = before.lines().map(str::to_owned).collect();
    let mut begun: Option<BTreeSet<String>> = None;
    for row in rows.iter().map(String::as_str).chain(["Z ."]) {
        match row.split_once(' ').unwrap() {
            ("A", quad) => drop(quads.insert(quad.to_owned())),
            ("D", quad) => drop(quads.remove(quad)),
            ("TX", _) => begun = Some(quads.clone()),
            ("TC", _) => begun = None,
            _ => quads = begun.take().unwrap_or(quads),
        }
    }
    quads
}

#[test]
fn random_patches_have_the_effect_of_set_operations() {
    let mut random = Random(1);
    for _ in 0..300 {
        let before = random.data();
        let mut begun = false;
        let count = random.below(40);
        let rows: Vec<String> = (0..count)
            .map(|_| {
                let code = match (random.below(8), begun) {
                    (0, false) => "TX",
                    (0, true) => "TC",
                    (1, true) => "TA",
                    (2, _) if random.below(4) == 0 => "Z",
                    (number, _) => {
                        return format!("{} {}", ["A", "D"][number as usize % 2], random.quad());
                    }
                };
                begun = code == "TX";
                format!("{code} .")
            })
            .collect();
        let (quads, _) = applied(&before, &rows.join("\n"));
        assert_eq!(set(&quads), model(&before, &rows), "{before}\n{rows:?}");
    }
}

/// The rows of patches as text.
fn rows_of(batches: &[PatchBatch]) -> String {
    String::from_utf8(encoded("rdf-patch", batches)).unwrap()
}

#[test]
fn applying_a_difference_yields_the_other_dataset() {
    let mut random = Random(2);
    for _ in 0..200 {
        let (old, new) = (random.data(), random.data());
        let mut texts = BTreeSet::new();
        for (size, parts) in SIZES.into_iter().zip([true, false, true, false]) {
            let mut difference = Difference::from(dataset(&old, size), 0, parts, None);
            for batch in messages(&new, size) {
                difference.add(&batch).unwrap();
            }
            let mut produced = Vec::new();
            let mut changed = dataset(&old, size);
            while let Some(batch) = difference.next_batch().unwrap() {
                changed.apply(&batch, true).unwrap();
                produced.push(batch);
            }
            assert_eq!(
                quads_of(&changed).into_iter().collect::<BTreeSet<_>>(),
                model(&new, &[])
            );
            let counts = difference.counts();
            let applied = changed.applied_counts();
            assert_eq!(counts, (applied.deleted as usize, applied.added as usize));
            assert_eq!((applied.without_effect, applied.committed), (0, 1));
            texts.insert(rows_of(&produced));
        }
        assert_eq!(texts.len(), 1, "{old}\n{new}");
    }
}

#[test]
fn a_difference_larger_than_a_batch_is_split_if_allowed() {
    let new: String = (0..20_000)
        .map(|n| format!("<a:s> <a:p> \"{n}\" .\n"))
        .collect();
    for parts in [true, false] {
        let mut difference = Difference::from(Dataset::new(), 3, parts, None);
        for batch in messages(&new, 8192) {
            difference.add(&batch).unwrap();
        }
        let mut actual = Vec::new();
        while let Some(batch) = difference.next_batch().unwrap() {
            assert_eq!(batch.first_message_index(), 3);
            actual.push(batch);
        }
        assert_eq!(actual.len() > 1, parts);
        let operations: usize = actual.iter().map(|batch| batch.records().len()).sum();
        assert_eq!(operations, 20_002);
    }
}

/// Empty slots are reused, so that repeated changes do not make a dataset grow.
#[test]
fn many_changes_to_a_small_dataset_are_correct() {
    let mut dataset = dataset(&data("ab"), 8192);
    let mut builder = PatchBuilder::new(Limits::default());
    for _ in 0..30 {
        builder.begin_message(0);
        let mut iri = |text: &[u8]| builder.add_simple(TermKind::Iri, text, 0).unwrap();
        let (subject, predicate) = (iri(b"a:s"), iri(b"a:p"));
        let (object, other) = (iri(b"a:a"), iri(b"a:c"));
        for number in 0..100_000 {
            let object = if number % 4 < 2 { object } else { other };
            let quad = Quad {
                subject,
                predicate,
                object,
                graph: rdfm_core::model::term::TermId::DEFAULT_GRAPH,
            };
            let code = [OperationCode::Delete, OperationCode::Add][number % 2];
            builder.push(Operation::new(code, quad));
        }
        builder.end_message();
        dataset.apply(&builder.take().unwrap(), true).unwrap();
    }
    assert_eq!(letters(&quads_of(&dataset)), "bac");
    assert_eq!(dataset.applied_counts().added, 1_500_000);
}

fn to_patches(log: &str, size: u64) -> Vec<PatchBatch> {
    let mut converter = ToPatches::new(0);
    messages(log, size)
        .iter()
        .filter_map(|batch| converter.make_patches(batch).unwrap())
        .collect()
}

const LOG: &str = "_:a <a:p> _:_gm1_a <a:g> .\n<a:s> <a:p> \"x\"@en--rtl .\n# @message\n# @message\n\
    _:a <a:p> <<( _:a <a:p> _:b )>> .\n_:a <a:p> _:a .\n<a:s> <a:p> <a:o> .\n# @message\n_:b <a:p> \"1\" _:a .\n";

#[test]
fn a_message_becomes_a_transaction_with_its_own_labels() {
    let expected = "TX .\nA <_:a> <a:p> <_:_gm0__gm1_a> <a:g> .\nA <a:s> <a:p> \"x\"@en--rtl .\nTC .\nZ .\n\
        TX .\nTC .\nZ .\n\
        TX .\nA <_:_gm2_a> <a:p> <<( <_:_gm2_a> <a:p> <_:_gm2_b> )>> .\nA <_:_gm2_a> <a:p> <_:_gm2_a> .\n\
        A <a:s> <a:p> <a:o> .\nTC .\nZ .\n\
        TX .\nA <_:_gm3_b> <a:p> \"1\" <_:_gm3_a> .\nTC .\n";
    for size in SIZES {
        let text = rows_of(&to_patches(LOG, size));
        let text = text.replace(r#""1"^^<http://www.w3.org/2001/XMLSchema#string>"#, "\"1\"");
        assert_eq!(text, expected, "in batches of {size}");
    }
}

/// Each log counts its messages from 0.
#[test]
fn labels_of_several_logs_are_distinct() {
    let mut converter = ToPatches::new(0);
    let mut actual = Vec::new();
    for batch in [
        messages("_:a <a:p> _:b .\n", 8192),
        messages("_:a <a:p> _:c .\n", 8192),
    ]
    .concat()
    {
        actual.extend(converter.make_patches(&batch).unwrap());
    }
    let text = rows_of(&actual);
    assert!(text.contains("A <_:a> <a:p> <_:b> ."), "{text}");
    assert!(text.contains("A <_:_gm1_a> <a:p> <_:_gm1_c> ."), "{text}");
}

/// Messages, the error, and counts of dropped content.
type Converted = (Vec<Vec<String>>, Option<String>, Vec<(&'static str, u64)>);

fn to_messages(log: &str, size: u64, separate: bool) -> Converted {
    let mut converter = ToMessages::new(separate, 1 << 26);
    let mut actual = Vec::new();
    let mut error = None;
    for batch in patches(log, size) {
        let next = match converter.make_messages(&batch) {
            Ok(next) => next,
            Err(failure) => {
                error = Some(failure.error.reason.text().to_owned());
                converter.take()
            }
        };
        if let Some(batch) = next {
            assert_eq!(batch.first_message_index(), actual.len() as u64);
            assert!(!batch.continues() && !batch.continued());
            actual.extend((0..batch.len()).map(|message| lines(&batch, message)));
        }
        if error.is_some() {
            break;
        }
    }
    (actual, error, converter.dropped_counts())
}

#[test]
fn round_trips_preserve_messages() {
    for size in SIZES {
        let text = rows_of(&to_patches(LOG, size));
        let (actual, error, dropped) = to_messages(&text, size, false);
        assert_eq!((error, dropped), (None, vec![]));
        let counts: Vec<usize> = actual.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 0, 3, 1]);
        assert_eq!(actual[3], ["_:_gm3_b <a:p> \"1\" _:_gm3_a ."]);
        assert_eq!(
            actual[2][0],
            "_:_gm2_a <a:p> <<( _:_gm2_a <a:p> _:_gm2_b )>> ."
        );
    }
}

#[test]
fn transactions_and_rows_between_them_become_messages() {
    for size in SIZES {
        for (words, expected, dropped) in [
            ("TX +a TC TX +b TC", "a|b", vec![]),
            ("+a +b TX +c TC +d Z +e Z", "ab|c|d|e", vec![]),
            (
                "TX +a TA TX +b TC TX +c",
                "b",
                vec![("undone transactions", 2)],
            ),
            ("TX TC Z Z TX TC", "|", vec![]),
            ("TX +a Z +b", "b", vec![("undone transactions", 1)]),
        ] {
            let (actual, error, dropped_counts) = to_messages(&rows(words), size, false);
            assert_eq!((error, dropped_counts), (None, dropped), "{words}");
            let actual: Vec<String> = actual.iter().map(|quads| letters(quads)).collect();
            assert_eq!(actual.join("|"), expected, "in batches of {size}: {words}");
        }
        let headers = "H id <a:1> .\nPA \"e\" <http://e/> .\nPD \"e\" .\nTX .\nTC .\n";
        let (actual, _, dropped_counts) = to_messages(headers, size, false);
        assert_eq!(actual.len(), 1, "prefixes alone are not a message");
        assert_eq!(
            dropped_counts,
            [("headers", 1), ("deletions of prefixes", 1)]
        );
    }
}

#[test]
fn rows_that_no_message_can_represent_are_rejected() {
    let shared =
        "TX .\nA _:a <a:p> \"1\" .\nTC .\nTX .\nA <a:s> <a:p> <<( _:a <a:p> \"1\" )>> .\nTC .\n";
    for size in SIZES {
        let (actual, error, _) = to_messages(&rows("TX +a TC TX +b -b TC"), size, false);
        let expected = "row 5 of the patch: D deletes a quad, which a message cannot express; apply the patches to a dataset instead";
        assert_eq!((actual.len(), error.as_deref()), (1, Some(expected)));
        let (actual, error, _) = to_messages(&rows("+a Z -b"), size, false);
        assert_eq!(actual.len(), 1);
        assert!(error.unwrap().starts_with("row 0 of the patch: D deletes"));
        let (actual, error, dropped_counts) =
            to_messages(&rows("TX +a -b TA TX +b TC TX -a"), size, false);
        assert_eq!((actual.len(), error), (1, None));
        assert_eq!(dropped_counts, [("undone transactions", 2)]);
        let (actual, error, _) = to_messages(shared, size, false);
        let expected = "row 4 of the patch: the blank node 'a' is used in two transactions, and would be two nodes in two messages";
        assert_eq!((actual.len(), error.as_deref()), (1, Some(expected)));
        assert_eq!(to_messages(shared, size, true).0.len(), 2);
        // An aborted transaction is ignored.
        let (start, _) = shared.rsplit_once("TC").unwrap();
        let (actual, error, _) = to_messages(&format!("{start}TA .\n"), size, false);
        assert_eq!((actual.len(), error), (1, None));
        let undone = shared.replacen("TC", "TA", 1);
        assert_eq!(to_messages(&undone, size, false).0.len(), 1);
        for (words, reason) in [
            (
                "TX TX",
                "row 1 of the patch: TX within a transaction; expected TC or TA before it",
            ),
            ("TX TC TC", "row 2 of the patch: TC without TX before it"),
            ("TA", "row 0 of the patch: TA without TX before it"),
        ] {
            assert_eq!(
                to_messages(&rows(words), size, false).1.as_deref(),
                Some(reason)
            );
        }
    }
}

#[test]
fn message_size_is_limited() {
    let mut converter = ToMessages::new(false, 1000);
    let rows = format!("TX .\n{}TC .\n", rows("+a +b +c +d +e").repeat(20));
    let error = converter
        .make_messages(&patches(&rows, 8192)[0])
        .unwrap_err();
    assert_eq!(
        error.error.class,
        rdfm_core::model::error::ErrorClass::Limit
    );
    assert_eq!(error.error.reason.remedies()[0].option, "max_message_bytes");
}
