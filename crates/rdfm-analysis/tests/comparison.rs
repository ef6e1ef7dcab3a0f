//! Message comparison finds the significant differences, regardless of the division into batches.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::format_collect,
    reason = "tests fail by panicking, and their texts are small"
)]

use rdfm_analysis::comparison::{
    Comparer, Exhausted, Limits, Mode, MultisetResult, NamespaceUse, PairDifferences,
    ReachedLimits, Side, find_isomorphism,
};
use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::registry;

const STEPS: u64 = 1_000_000;

fn limits(each: u64) -> Limits {
    Limits {
        each,
        total: u64::MAX,
    }
}

/// Decodes a log of N-Quads in a short form: `;` ends a quad, `|` ends a message.
pub(crate) fn log(text: &str) -> MessageBatch {
    let lines = text.replace(';', " .\n").replace('|', " .\n# @message\n");
    batches(&format!("{lines} .\n"), 8192).pop().unwrap()
}

fn batches(text: &str, size: u64) -> Vec<MessageBatch> {
    let spec = registry::find("nq").unwrap();
    let given = [("batch_quads", GivenValue::from(size))];
    let values = Values::read(spec.reads(), given).unwrap();
    let mut decoder = registry::new_decoder(spec, &values, &Opening::default()).unwrap();
    decoder.feed(text.as_bytes());
    decoder.finish();
    let mut batches = Vec::new();
    while let Some(batch) = decoder.next_batch_of().unwrap() {
        batches.push(batch);
    }
    batches
}

fn differ(mode: Mode, a: &str, b: &str) -> bool {
    let (a, b) = (log(a), log(b));
    let mut comparer = Comparer::new(mode, false, NamespaceUse::Ignored, limits(STEPS));
    let run = comparer.run((&a, 0), (&b, 0), usize::MAX);
    match run.differences {
        None => {
            assert_eq!(run.pairs, 1);
            let rough = [(Side::A, &a), (Side::B, &b)]
                .map(|(side, batch)| comparer.compute_signatures(side, batch, 0..1));
            assert_eq!(rough[0], rough[1]);
            false
        }
        Some(actual) => {
            assert_eq!(
                actual,
                PairDifferences {
                    records: true,
                    ..PairDifferences::default()
                }
            );
            true
        }
    }
}

/// Whether two logs of one message have different full signatures.
fn full_signatures_differ(a: &str, b: &str) -> bool {
    let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits(STEPS));
    for (side, text) in [(Side::A, a), (Side::B, b)] {
        let undecided = comparer.collect(side, &log(text));
        assert!(undecided.is_empty());
        comparer.next_batch(side);
    }
    comparer.compare_multisets()
        != MultisetResult {
            same: 1,
            only: [0, 0],
        }
}

#[test]
fn sets_ignore_order_labels_and_repetitions() {
    for (a, b, different) in [
        ("<a:s> <a:p> 'x'", "<a:s> <a:p> 'x'", false),
        ("<a:s> <a:p> 'x'", "<a:s> <a:p> 'y'", true),
        ("<a:s> <a:p> 'x'", "<a:s> <a:p> 'x'@en", true),
        ("<a:s> <a:p> 'x'@en", "<a:s> <a:p> 'x'@en--ltr", true),
        ("<a:s> <a:p> 'x'", "<a:s> <a:p> 'x' <a:g>", true),
        (
            "<a:s> <a:p> 'x';<a:t> <a:p> 'x'",
            "<a:t> <a:p> 'x';<a:s> <a:p> 'x'",
            false,
        ),
        ("<a:s> <a:p> 'x';<a:s> <a:p> 'x'", "<a:s> <a:p> 'x'", false),
        ("_:a <a:p> _:b", "_:b <a:p> _:a", false),
        ("_:a <a:p> _:b", "_:a <a:p> _:a", true),
        (
            "_:a <a:p> 'x';_:b <a:p> 'y'",
            "_:c <a:p> 'y';_:d <a:p> 'x'",
            false,
        ),
        (
            "_:a <a:p> 'x';_:a <a:p> 'y'",
            "_:c <a:p> 'y';_:d <a:p> 'x'",
            true,
        ),
        (
            "<a:s> <a:p> <<( _:a <a:p> _:b )>>",
            "<a:s> <a:p> <<( _:x <a:p> _:y )>>",
            false,
        ),
        (
            "<a:s> <a:p> <<( _:a <a:p> _:b )>>",
            "<a:s> <a:p> <<( _:x <a:p> _:x )>>",
            true,
        ),
        (
            "_:s <a:p> 'x' _:g;_:g <a:p> 'y'",
            "_:g <a:p> 'x' _:s;_:s <a:p> 'y'",
            false,
        ),
        (
            "_:s <a:p> 'x' _:g;_:g <a:p> 'y'",
            "_:g <a:p> 'x' _:s;_:g <a:p> 'y'",
            true,
        ),
    ] {
        let [a, b] = [a, b].map(|text| text.replace('\'', "\""));
        assert_eq!(differ(Mode::Sets, &a, &b), different, "{a} {b}");
        assert_eq!(differ(Mode::Sets, &b, &a), different, "{b} {a}");
        assert_eq!(full_signatures_differ(&a, &b), different, "{a} {b}");
    }
}

#[test]
fn order_and_repetitions_matter_in_sequences() {
    for (a, b, different) in [
        (
            "<a:s> <a:p> <a:x>;<a:s> <a:p> <a:x>",
            "<a:s> <a:p> <a:x>",
            true,
        ),
        (
            "<a:s> <a:p> <a:x>;<a:s> <a:p> <a:y>",
            "<a:s> <a:p> <a:y>;<a:s> <a:p> <a:x>",
            true,
        ),
        (
            "_:a <a:p> _:b;_:b <a:p> _:a",
            "_:b <a:p> _:a;_:a <a:p> _:b",
            false,
        ),
        (
            "_:a <a:p> _:b;_:b <a:p> _:a",
            "_:b <a:p> _:a;_:b <a:p> _:a",
            true,
        ),
        (
            "_:a <a:p> _:b;_:c <a:p> _:a",
            "_:x <a:p> _:y;_:x <a:p> _:x",
            true,
        ),
    ] {
        assert_eq!(differ(Mode::Sequences, a, b), different, "{a} {b}");
    }
    assert!(differ(Mode::Exact, "_:a <a:p> _:b", "_:b <a:p> _:a"));
    assert!(!differ(Mode::Exact, "_:a <a:p> _:b", "_:a <a:p> _:b"));
}

#[test]
fn batch_sizes_do_not_affect_the_comparison() {
    let message = |index: usize| {
        (0..=index % 4)
            .map(|quad| format!("_:b{quad} <a:p> \"{index}\" .\n"))
            .collect::<String>()
    };
    let text: Vec<String> = (0..50).map(message).collect();
    let one = text.join("# @message\n");
    let other = one.replace("_:b", "_:c").replace("\"33\"", "\"x\"");
    for (size_a, size_b) in [(1, 1), (3, 8), (8192, 5), (8192, 8192)] {
        let (a, b) = (batches(&one, size_a), batches(&other, size_b));
        let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits(STEPS));
        let (mut index, mut same, mut different) = ([(0, 0), (0, 0)], 0, Vec::new());
        while let (Some(x), Some(y)) = (a.get(index[0].0), b.get(index[1].0)) {
            let run = comparer.run((x, index[0].1), (y, index[1].1), usize::MAX);
            let mut pairs = run.pairs;
            same += run.pairs;
            if run.differences.is_some() {
                different.push(x.first_message_index() as usize + index[0].1 + run.pairs);
                pairs += 1;
            }
            for (place, (length, side)) in index
                .iter_mut()
                .zip([(x.len(), Side::A), (y.len(), Side::B)])
            {
                place.1 += pairs;
                if place.1 == length {
                    *place = (place.0 + 1, 0);
                    comparer.next_batch(side);
                }
            }
        }
        assert_eq!((same, different), (49, vec![33]), "{size_a} {size_b}");
    }
}

#[test]
fn many_similar_blank_nodes_need_few_steps() {
    let leaves = |label: &str| {
        let quads: Vec<String> = (0..500)
            .map(|index| {
                format!("_:hub <a:p> _:{label}{index};_:{label}{index} <a:q> _:z{label}{index}")
            })
            .collect();
        quads.join(";")
    };
    assert!(!differ(Mode::Sets, &leaves("a"), &leaves("b")));
    assert!(!full_signatures_differ(&leaves("a"), &leaves("b")));
}

#[test]
fn comparisons_above_the_limit_are_undecided() {
    let clique = |label: &str| {
        let quads: Vec<String> = (0..100)
            .filter(|index| index / 10 != index % 10)
            .map(|index| format!("_:{label}{} <a:p> _:{label}{}", index / 10, index % 10))
            .collect();
        log(&quads.join(";"))
    };
    let (a, b) = (clique("a"), clique("b"));
    let bounded = |steps| {
        let actual = find_isomorphism((a.quads(), a.table()), (b.quads(), b.table()), steps);
        actual.map(|pairs| pairs.map(|pairs| pairs.len()))
    };
    assert_eq!(bounded(100), Err(Exhausted));
    assert_eq!(bounded(STEPS), Ok(Some(10)));
    let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits(100));
    assert_eq!(comparer.collect(Side::A, &a), [0]);
}

#[test]
fn messages_in_only_one_log_are_picked_in_order() {
    let make = |values: &[u32]| {
        let messages: Vec<String> = values
            .iter()
            .map(|value| format!("<a:s> <a:p> \"{value}\""))
            .collect();
        log(&messages.join("|"))
    };
    let (a, b) = (make(&[1, 2, 2, 3, 2, 9]), make(&[3, 2, 1, 4]));
    let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits(STEPS));
    assert!(comparer.collect(Side::A, &a).is_empty());
    assert!(comparer.collect(Side::B, &b).is_empty());
    let settled = comparer.compare_multisets();
    assert_eq!(
        settled,
        MultisetResult {
            same: 3,
            only: [3, 1]
        }
    );
    assert_eq!(comparer.find_surplus(Side::A, &a), [1, 2, 5]);
    assert_eq!(comparer.find_surplus(Side::B, &b), [3]);
    assert!(comparer.find_surplus(Side::B, &b).is_empty());
}

/// A log of messages, each a complete graph of ten blank nodes. The order of edges depends on the
/// label.
fn cliques(label: &str, messages: usize) -> MessageBatch {
    let clique = (0..100)
        .map(|index| (index / 10, index % 10))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| match label {
            "a" => format!("_:a{from} <a:p> _:a{to}"),
            _ => format!("_:{label}{to} <a:p> _:{label}{from}"),
        });
    log(&vec![clique.collect::<Vec<_>>().join(";"); messages].join("|"))
}

/// A log of messages, each a strongly regular graph with 16 blank nodes of degree six: the rook's
/// graph or the Shrikhande graph.
fn strongly_regular(is_rooks: bool, messages: usize) -> MessageBatch {
    let adjacent = |one: usize, other: usize| {
        let (across, down) = ((4 + one / 4 - other / 4) % 4, (4 + one % 4 - other % 4) % 4);
        if is_rooks {
            (across == 0) != (down == 0)
        } else {
            [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)].contains(&(across, down))
        }
    };
    let quads: Vec<String> = (0..256)
        .map(|index| (index / 16, index % 16))
        .filter(|&(one, other)| adjacent(one, other))
        .map(|(one, other)| format!("_:n{one} <a:p> _:n{other}"))
        .collect();
    assert_eq!(quads.len(), 96);
    log(&vec![quads.join(";"); messages].join("|"))
}

#[test]
fn the_total_limit_applies_to_all_pairs() {
    let (a, b) = (strongly_regular(true, 5), strongly_regular(false, 5));
    let undecided = |total| {
        let limits = Limits { each: STEPS, total };
        let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits);
        let mut actual = Vec::new();
        for index in 0..5 {
            let differs = comparer
                .run((&a, index), (&b, index), 1)
                .differences
                .unwrap();
            assert_ne!(differs.records, differs.undecided);
            actual.push(differs.undecided);
        }
        (actual, comparer.reached_limits())
    };
    let total = ReachedLimits {
        each: false,
        total: true,
    };
    assert_eq!(
        undecided(u64::MAX),
        (vec![false; 5], ReachedLimits::default())
    );
    assert_eq!(undecided(0), (vec![true; 5], total));
    let (actual, reached) = undecided(300_000);
    assert_eq!((actual[0], actual[4]), (false, true), "{actual:?}");
    assert_eq!(reached, total);
}

#[test]
fn pick_skips_undecided_messages() {
    let (a, b) = (cliques("a", 6), log("<a:s> <a:p> <a:o>"));
    let mut actual = Vec::new();
    for total in (0..).map(|step| step * 20_000) {
        let limits = Limits { each: STEPS, total };
        let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, limits);
        let undecided = comparer.collect(Side::A, &a);
        comparer.collect(Side::B, &b);
        let settled = comparer.compare_multisets();
        assert_eq!(settled.only[0] as usize, 6 - undecided.len());
        let decided: Vec<usize> = (0..6).filter(|index| !undecided.contains(index)).collect();
        assert_eq!(comparer.find_surplus(Side::A, &a), decided);
        actual.push(undecided.len());
        if undecided.is_empty() {
            break;
        }
    }
    assert!(
        actual.iter().any(|count| (1..6).contains(count)),
        "{actual:?}"
    );
}

#[test]
fn namespaces_affect_pairs_only_if_they_are_compared() {
    let make = |iri: &str| {
        let text =
            format!("@prefix e: <{iri}> .\n<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:o> .\n");
        let spec = registry::find("ttl").unwrap();
        let values = Values::read(spec.reads(), std::iter::empty::<(&str, GivenValue)>()).unwrap();
        let mut decoder = registry::new_decoder(spec, &values, &Opening::default()).unwrap();
        decoder.feed(text.as_bytes());
        decoder.finish();
        let batch: MessageBatch = decoder.next_batch_of().unwrap().unwrap();
        batch
    };
    let (a, b) = (make("http://a/"), make("http://b/"));
    for (namespace_use, pairs, differ) in [
        (NamespaceUse::Ignored, 2, false),
        (NamespaceUse::Noticed, 2, true),
        (NamespaceUse::Compared, 0, true),
    ] {
        let mut comparer = Comparer::new(Mode::Sets, false, namespace_use, limits(STEPS));
        assert_eq!(comparer.run((&a, 0), (&b, 0), 2).pairs, pairs);
        assert_eq!(comparer.namespaces_differ(), differ);
        assert_eq!(comparer.run((&a, 0), (&a, 0), 2).differences, None);
    }
}
