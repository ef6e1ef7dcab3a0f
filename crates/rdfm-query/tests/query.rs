//! SPARQL over messages: rows, triples and answers, for each message separately and for all
//! messages together.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use crate::common::{batch, evaluation, rows, term};
use rdfm_core::model::batch::MessageBatch;
use rdfm_query::query::budget::{Limits, Stop};
use rdfm_query::query::evaluate::{Evaluation, Triples};
use rdfm_query::query::output::MessageOutput;
use rdfm_query::query::parse::{Query, QueryError};
use rdfm_query::query::rows::SolutionRows;
use rdfm_query::query::whole::{Collector, Piece};

const LOG: &str = r#"
PREFIX ex: <http://e/>
ex:a ex:value 5 ; ex:name "Kingfisher"@EN , "Kingfisher"@en .
# @message
_:b ex:value 7 ; ex:of ex:a . _:b ex:value 7 .
GRAPH ex:g { _:b a ex:Bird . ex:a ex:value 8 }
# @message
# @message
_:b ex:value "none" .
"#;

fn query(text: &str) -> Result<Query, QueryError> {
    let prefixes = [("ex".to_owned(), "http://e/".to_owned())];
    Query::parse(text, None, &prefixes, text.contains("union"))
}

fn triples_of(messages: &MessageBatch) -> Vec<String> {
    let quad = |quad: &rdfm_core::model::term::Quad| {
        let parts = [quad.subject, quad.predicate, quad.object];
        parts.map(|part| term(messages, part)).join(" ")
    };
    let message = |index| {
        let quads: Vec<_> = messages.message(index).iter().map(quad).collect();
        quads.join(", ")
    };
    (0..messages.len()).map(message).collect()
}

fn constructed(text: &str, log: &MessageBatch) -> Vec<String> {
    let evaluation = evaluation(text, Limits::default());
    let (mut rows, mut triples) = (SolutionRows::default(), Triples::default());
    let progress = evaluation.construct_triples(log, 0, &mut rows, &mut triples);
    assert_eq!((progress.done, progress.stop), (log.len(), None));
    let mut output = MessageOutput::default();
    let result = output.build_batch(&evaluation.query, log, 0, &rows, &triples);
    triples_of(&result.unwrap().unwrap())
}

#[test]
fn select_returns_rows_of_each_message() {
    let log = batch(LOG);
    let integer = |value: u32| format!("\"{value}\"^^<http://www.w3.org/2001/XMLSchema#integer>");
    assert_eq!(
        rows(
            "SELECT ?s ?v { ?s ex:value ?v FILTER(isNumeric(?v)) }",
            &log
        ),
        [
            format!("0: <http://e/a> {}", integer(5)),
            format!("1: _:b {}", integer(7))
        ]
    );
    // Computed terms that occur in a quad are terms of the data. Others are new.
    assert_eq!(
        rows(
            "SELECT (?v + 1 AS ?n) ?x { ?s ex:value ?v FILTER(isNumeric(?v)) }",
            &log
        ),
        [
            format!("0: {} -", integer(6)),
            format!("1: {} -", integer(8))
        ]
    );
    assert_eq!(
        rows("SELECT ?g { GRAPH ?g { ?s ?p ?o } }", &log),
        ["1: <http://e/g>", "1: <http://e/g>"]
    );
    assert_eq!(
        rows("SELECT ?v { ?s ex:value ?v FILTER(?v > 5) } # union", &log),
        [format!("1: {}", integer(7)), format!("1: {}", integer(8))]
    );
    assert_eq!(
        rows(
            "SELECT ?v FROM ex:g FROM <http://e/none> { ?s ex:value ?v }",
            &log
        ),
        [format!("1: {}", integer(8))]
    );
}

#[test]
fn filters_and_patterns_compare_language_tags_in_the_same_way() {
    let log = batch("PREFIX ex: <http://e/> ex:a ex:p \"x\"@EN . ex:b ex:p \"x\"@en .");
    for text in [
        "SELECT ?s { ?s ex:p \"x\"@en }",
        "SELECT ?s { ?s ex:p ?o FILTER(?o = \"x\"@EN) }",
        "SELECT ?s { ?s ex:p ?o FILTER(LANG(?o) = 'en' && sameTerm(?o, \"x\"@en)) }",
    ] {
        assert_eq!(
            rows(text, &log),
            ["0: <http://e/a>", "0: <http://e/b>"],
            "{text}"
        );
    }
}

#[test]
fn named_graphs_exist_even_without_quads() {
    let log = batch(LOG);
    let text = "SELECT ?g FROM NAMED ex:g FROM NAMED ex:none { GRAPH ?g { } }";
    let all = ["<http://e/g>", "<http://e/none>"];
    let expected = (0..4).flat_map(|index| all.map(|name| format!("{index}: {name}")));
    assert_eq!(rows(text, &log), expected.collect::<Vec<_>>());
}

#[test]
fn language_tags_are_case_insensitive_and_keep_their_first_spelling() {
    let log = batch(LOG);
    assert_eq!(
        rows("SELECT ?n { ?s ex:name ?n }", &log),
        ["0: \"Kingfisher\"@EN"]
    );
    assert_eq!(
        rows("SELECT ?s { ?s ex:name \"Kingfisher\"@En }", &log).len(),
        1
    );
    let slices = log.slice(1..4);
    assert!(rows("SELECT ?n { ?s ex:name ?n }", &slices).is_empty());
}

#[test]
fn construct_creates_one_message_from_each_message() {
    let log = batch(LOG);
    assert_eq!(
        constructed(
            "CONSTRUCT { ?s ex:is [ ex:v ?v ] . ?v ex:of ?s . ex:x ?p ?none } { ?s ex:value ?v }",
            &log
        ),
        [
            "_:b1 <http://e/v> \"5\"^^<http://www.w3.org/2001/XMLSchema#integer>, <http://e/a> <http://e/is> _:b1",
            "_:b1 <http://e/v> \"7\"^^<http://www.w3.org/2001/XMLSchema#integer>, _:b <http://e/is> _:b1",
            "",
            "_:b1 <http://e/v> \"none\", _:b <http://e/is> _:b1",
        ]
    );
    // New labels differ from those of the message, even for BNODE().
    let taken = batch("PREFIX ex: <http://e/> _:b1 ex:value 1 .");
    assert_eq!(
        constructed(
            "CONSTRUCT { ?s ex:p ?n , _:x } { ?s ex:value ?v BIND(BNODE() AS ?n) }",
            &taken
        ),
        ["_:b1 <http://e/p> _:b_1, _:b1 <http://e/p> _:b_2"]
    );
}

#[test]
fn every_query_form_can_be_matched_natively() {
    for text in [
        "SELECT ?s { ?s ex:value ?v FILTER(?v > 5) }",
        "CONSTRUCT { ?s ex:p [] } { ?s ex:value ?v OPTIONAL { ?s ex:of ?x } }",
        "CONSTRUCT WHERE { ?s ex:value ?v }",
        "ASK { ?s ex:value 5 }",
    ] {
        assert!(Evaluation::is_covered(&query(text).unwrap()), "{text}");
    }
}

#[test]
fn ask_returns_one_answer_per_message() {
    let log = batch(LOG);
    let evaluation = evaluation("ASK { ?s ex:value 7 }", Limits::default());
    let mut answers = Vec::new();
    evaluation.evaluate_answers(&log, 1, &mut answers);
    assert_eq!(answers, [true, false, false]);
}

fn whole(text: &str, log: &MessageBatch) -> Vec<Piece> {
    let mut collector = Collector::default();
    // Messages are added one by one, since batch boundaries do not affect the result.
    for index in 0..log.len() {
        collector.add(&log.slice(index..index + 1)).unwrap();
    }
    let data = collector.finish();
    let mut pieces = Vec::new();
    let evaluation = evaluation(text, Limits::default());
    let mut give = |piece| {
        pieces.push(piece);
        true
    };
    evaluation.run_whole(&data, &mut give).unwrap();
    pieces
}

#[test]
fn messages_in_one_dataset_keep_separate_blank_nodes() {
    let log = batch(LOG);
    let pieces = whole("SELECT ?s ?v { ?s ex:value ?v } ORDER BY ?v", &log);
    let [Piece::Rows(rows)] = &pieces[..] else {
        panic!("one piece of rows")
    };
    let show = |row: usize| rows.message(row).iter().map(|&cell| term(rows, cell));
    let subjects: Vec<_> = (0..rows.len())
        .map(|row| show(row).next().unwrap())
        .collect();
    assert_eq!(subjects, ["<http://e/a>", "_:b", "_:b_2"]);

    let pieces = whole(
        "CONSTRUCT { ?s ex:v [] } { ?s ex:value ?v } ORDER BY ?v",
        &log,
    );
    let [Piece::Messages(messages)] = &pieces[..] else {
        panic!("one piece of messages")
    };
    assert_eq!(
        triples_of(messages),
        [
            "<http://e/a> <http://e/v> _:b1",
            "_:b <http://e/v> _:b2",
            "_:b_2 <http://e/v> _:b3"
        ]
    );
    let pieces = whole("ASK { ?s ex:of ex:a ; ex:value 7 }", &log);
    assert!(matches!(&pieces[..], [Piece::Answer(true)]));
}

/// Invalid queries, with the line and column of the error and the start of its text.
const INVALID: &[(&str, u64, u64, &str)] = &[
    (
        "SELECT ?s\n{ ?s ex:p }",
        2,
        11,
        "expected an object after ex:p",
    ),
    (
        "SELECT ?s { ?s a",
        1,
        17,
        "the query ends before it is complete",
    ),
    (
        "SELEC ?s { ?s a ex:a }",
        1,
        1,
        "'SELEC' is not expected here",
    ),
    (
        "SELECT ?s {\n ?s no:é 1 }",
        2,
        5,
        "the prefix no: of no:é is not declared",
    ),
    (
        "SELECT ?s { ?s a <a b> }",
        1,
        21,
        "'b>' is not expected here",
    ),
    (
        "SELECT ?s { ?s a \"x }",
        1,
        18,
        "the string that begins here",
    ),
    (
        "SELECT ?s { ?s a 1 } LIMIT x",
        1,
        28,
        "'x' is not expected here",
    ),
    (
        "SELECT ?s { FILTER(FOO(?s)) }",
        1,
        20,
        "'FOO' is not expected here",
    ),
    (
        "SELECT (1 AS ?s) { ?s ?p ?o }",
        1,
        1,
        "the SELECT overrides an existing",
    ),
    ("SELECT ?s { ?s a <x> }", 1, 18, "<x> is relative"),
    (
        "SELECT * { _:a a 1 OPTIONAL { _:a a 2 } }",
        1,
        31,
        "_:a also occurs in another group",
    ),
    (
        "SELECT * { ?s ?p ?o BIND(1 AS ?s) }",
        1,
        35,
        "BIND gives ?s a value",
    ),
    (
        "SELECT * { ?s ?p ?o FILTER(ex:f(?s)) }",
        1,
        28,
        "unknown function <http://e/f>",
    ),
    (
        "ASK {}\n#\nSELECT ?s",
        3,
        1,
        "'SELECT' is not expected here",
    ),
    (
        "\nSELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o }",
        2,
        1,
        "with GROUP BY or an aggregate, SELECT can contain only",
    ),
    (
        "SELECT (1 AS ?a) (2 AS ?a) {}",
        1,
        1,
        "SELECT contains a variable twice",
    ),
    (
        "SELECT * { ?s ?p ?o } GROUP BY ?s",
        1,
        1,
        "SELECT * is not allowed with GROUP BY",
    ),
    (
        "SELECT * { SERVICE <http://e/> { ?s ?p ?o } }",
        1,
        12,
        "SERVICE is not supported",
    ),
    ("", 0, 0, "the text does not contain a query"),
];

#[test]
fn invalid_queries_are_rejected() {
    for (text, line, column, reason) in INVALID {
        check_rejected(text, (*line, *column), reason);
    }
}

fn check_rejected(text: &str, position: (u64, u64), reason: &str) {
    let error = query(text).err().unwrap();
    let context = format!("{text}: {}", error.reason);
    assert_eq!(error.position.unwrap_or_default(), position, "{context}");
    assert!(error.reason.starts_with(reason), "{context}");
}

#[test]
fn unsupported_queries_are_rejected() {
    let rejected = |text: &str| query(text).err().unwrap();
    assert!(rejected("DESCRIBE ex:a").reason.starts_with("DESCRIBE"));
    assert!(
        rejected("INSERT DATA { ex:a ex:b ex:c }")
            .reason
            .contains("update")
    );
    let service = "SELECT * { FILTER EXISTS { SERVICE <http://e/> { ?s ?p ?o } } }";
    assert!(rejected(service).reason.starts_with("SERVICE"));
    let deep = format!("SELECT * {} {}", "{".repeat(200), "}".repeat(200));
    assert!(rejected(&deep).reason.contains("brackets"));
    let chain = format!(
        "SELECT * {{ ?s ?p ?o FILTER(?o = 1{}) }}",
        " || ?o = 2".repeat(100_000)
    );
    assert!(rejected(&chain).reason.contains("nested deeper than"));
}

#[test]
fn expensive_queries_are_stopped() {
    let quad = |index| format!("<http://e/{index}> <http://e/p> {index} .\n");
    let quads: Vec<String> = (0..300).map(quad).collect();
    let quads = quads.concat();
    let log = batch(&quads);
    let all = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l";
    let stop = |text: &str, limits: Limits| {
        let mut rows = SolutionRows::default();
        let progress = evaluation(text, limits).evaluate_rows(&log, 0, &mut rows);
        assert_eq!((progress.done, rows.cells.len()), (0, 0));
        progress.stop.unwrap()
    };
    let timeout = Some(Duration::from_millis(100));
    let short = || Limits {
        timeout,
        ..Limits::default()
    };
    let late = Stop::Timeout(Duration::from_millis(100));
    for text in [
        format!("SELECT (COUNT(*) AS ?n) {{ {all} }}"),
        format!("SELECT * {{ {all} FILTER(?c + ?f + ?i + ?l < 0) }}"),
        format!("SELECT DISTINCT ?x {{ {all} BIND(STRLEN(STR(?c)) AS ?x) }}"),
        "SELECT * { ?a (<http://e/p>|!<http://e/p>)* ?b . ?c (!<http://e/q>)* ?d . ?e (!<http://e/q>)* ?f FILTER(?b = ?f && ?a != ?b) }".to_owned(),
    ] {
        assert_eq!(stop(&text, short()), late, "{text}");
    }
    let few = || Limits {
        max_rows: 1000,
        ..Limits::default()
    };
    assert_eq!(
        stop(&format!("SELECT * {{ {all} }}"), few()),
        Stop::Rows(1000)
    );
    let small = Limits {
        max_terms: 100_000,
        ..Limits::default()
    };
    let small = || small.clone();
    let sorted = format!("SELECT * {{ {all} }} ORDER BY ?c");
    assert_eq!(stop(&sorted, small()), Stop::Memory);
    let joined = format!(
        "SELECT (GROUP_CONCAT(STR(?c); separator='{}') AS ?x) {{ {all} }}",
        "-".repeat(1000)
    );
    assert_eq!(stop(&joined, small()), Stop::Memory);
    // One call would create a 100 MB string from strings of 10 kB.
    let xs = "x".repeat(10_000);
    let wholes = "$0".repeat(5_000);
    for call in [
        format!("REPLACE('{xs}', 'x', '{xs}')"),
        format!("REPLACE('{xs}', '.*', '{wholes}')"),
    ] {
        for test in [
            "BIND(CALL AS ?z) OPTIONAL { ?z ?p ?o }",
            "FILTER(CALL = 'x')",
        ] {
            let text = format!("SELECT * {{ {} }}", test.replace("CALL", &call));
            assert_eq!(stop(&text, small()), Stop::Memory, "{test}");
        }
    }
    // Each match requires a scan of the remaining text.
    let slow = format!(
        "SELECT * {{ FILTER(REPLACE('{}', '.*b|a', '') = 'x') }}",
        "a".repeat(200_000)
    );
    assert_eq!(stop(&slow, short()), late);
}

#[test]
fn results_before_a_stop_are_complete() {
    let log = batch(LOG);
    let limits = Limits {
        max_rows: 1,
        ..Limits::default()
    };
    let evaluation = evaluation("SELECT ?o { ?s ?p ?o }", limits);
    let mut rows = SolutionRows::default();
    let progress = evaluation.evaluate_rows(&log, 2, &mut rows);
    assert_eq!((progress.done, progress.stop), (4, None));
    let progress = evaluation.evaluate_rows(&log, 0, &mut SolutionRows::default());
    assert_eq!((progress.done, progress.stop), (0, Some(Stop::Rows(1))));
}
