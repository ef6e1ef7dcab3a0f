//! ORDER BY, MIN and MAX over terms of all kinds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::common::{batch, rows, whole_rows};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Objects of all kinds, in order.
fn objects() -> Vec<String> {
    let typed = |datatype: &str, text: &str| format!("\"{text}\"^^<{XSD}{datatype}>");
    let mut objects = vec![
        "<http://e/a>".to_owned(),
        "<http://e/b>".to_owned(),
        typed("double", "-INF"),
        typed("integer", "-10"),
        typed("decimal", "-9.5"),
        typed("integer", "+1"),
        typed("integer", "01"),
        typed("integer", "1"),
        typed("unsignedByte", "1"),
        typed("double", "2.0E0"),
        typed("decimal", "2.5"),
        typed("integer", "10"),
        typed("integer", "9007199254740993"),
        typed("float", "NaN"),
        typed("dateTime", "2025-12-31T23:00:00"),
        typed("dateTime", "2026-01-01T00:00:00+01:00"),
        typed("dateTime", "2026-01-01T00:00:00Z"),
        typed("date", "2026-01-01"),
        typed("time", "01:00:00"),
        typed("gYear", "2026"),
        typed("gYearMonth", "2026-01"),
        typed("gMonth", "--01"),
        typed("gMonthDay", "--01-01"),
        typed("gDay", "---01"),
        typed("dayTimeDuration", "PT1H"),
        typed("duration", "P1M"),
        typed("yearMonthDuration", "P1Y"),
        typed("boolean", "false"),
        typed("boolean", "true"),
        "\"\"".to_owned(),
        "\"10\"".to_owned(),
        "\"9\"".to_owned(),
        "\"a\"".to_owned(),
        "\"a\"@de".to_owned(),
        "\"a\"@en".to_owned(),
        "\"ab\"".to_owned(),
        "\"9\"^^<http://e/unknown>".to_owned(),
        typed("hexBinary", "0a"),
        typed("integer", "one"),
    ];
    objects.push("<<( <http://e/a> <http://e/p> \"1\" )>>".to_owned());
    objects
}

/// Returns the objects in an order that the seed determines.
fn shuffled(seed: u64) -> Vec<String> {
    let mut objects = objects();
    let mut state = seed;
    for index in (1..objects.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        objects.swap(index, (state >> 33) as usize % (index + 1));
    }
    objects
}

fn log(objects: &[String]) -> String {
    let quads = objects.iter().enumerate();
    let quads =
        quads.map(|(index, object)| format!("<http://e/s{index}> <http://e/p> {object} .\n"));
    quads.collect()
}

#[test]
fn order_by_does_not_depend_on_the_input_order() {
    for seed in 0..40 {
        let log = batch(&log(&shuffled(seed)));
        let expected: Vec<_> = objects().iter().map(|term| format!("0: {term}")).collect();
        assert_eq!(rows("SELECT ?o { ?s ?p ?o } ORDER BY ?o", &log), expected);
        let descending: Vec<_> = expected.iter().rev().cloned().collect();
        assert_eq!(
            rows("SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o)", &log),
            descending
        );
        assert_eq!(
            rows(
                "SELECT ?o { { SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 3 } }",
                &log
            ),
            expected[..3]
        );
        let whole = whole_rows("SELECT ?o { ?s ?p ?o } ORDER BY ?o", &log);
        assert_eq!(whole, objects());
    }
}

#[test]
fn keys_are_evaluated_once_for_each_row() {
    let many: Vec<String> = (0..3000)
        .map(|index| format!("<http://e/s{index}> <http://e/p> {index} .\n"))
        .collect();
    let many = many.concat();
    let log = batch(&many);
    assert_eq!(
        rows("SELECT * { ?s ?p ?o } ORDER BY RAND()", &log).len(),
        3000
    );
    let last = rows(
        "SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o * 2) ?s LIMIT 1",
        &log,
    );
    assert_eq!(last, [format!("0: \"2999\"^^<{XSD}integer>")]);
}

#[test]
fn unbound_values_and_errors_sort_first() {
    let log = batch("<http://e/a> <http://e/p> 2 , \"x\" . <http://e/b> <http://e/q> 1 .");
    assert_eq!(
        rows(
            "SELECT ?s ?o { ?s ?x ?y OPTIONAL { ?s ex:p ?o } } ORDER BY ?o",
            &log
        )[0],
        "0: <http://e/b> -"
    );
    let sums = rows("SELECT ?o { ?s ex:p ?o } ORDER BY (?o + 1)", &log);
    assert_eq!(sums[0], "0: \"x\"");
}

#[test]
fn groups_can_be_sorted_by_an_aggregate() {
    let log = batch("<http://e/a> <http://e/p> 2 , 9 . <http://e/b> <http://e/p> 10 .");
    assert_eq!(
        rows(
            "SELECT ?s (MAX(?o) AS ?max) { ?s ex:p ?o } GROUP BY ?s ORDER BY DESC(MAX(?o))",
            &log
        ),
        [
            format!("0: <http://e/b> \"10\"^^<{XSD}integer>"),
            format!("0: <http://e/a> \"9\"^^<{XSD}integer>")
        ]
    );
}

#[test]
fn min_and_max_do_not_depend_on_the_order_of_rows() {
    for seed in 0..40 {
        let log = batch(&log(&shuffled(seed)));
        let actual = rows(
            "SELECT (MIN(?o) AS ?min) (MAX(?o) AS ?max) (MIN(DISTINCT ?n) AS ?number) \
             { ?s ?p ?o OPTIONAL { ?s ?p ?n FILTER(isNumeric(?n)) } FILTER(!isTriple(?o)) }",
            &log,
        );
        assert_eq!(
            actual,
            [format!("0: <http://e/a> \"one\"^^<{XSD}integer> -")]
        );
        let numbers = rows(
            "SELECT (MIN(DISTINCT ?o) AS ?min) (MAX(?o) AS ?max) { ?s ?p ?o FILTER(?o < 100) }",
            &log,
        );
        let double = |value: &str| format!("\"{value}\"^^<{XSD}double>");
        assert_eq!(
            numbers,
            [format!("0: {} \"10\"^^<{XSD}integer>", double("-INF"))]
        );
    }
    let nothing = batch("<http://e/a> <http://e/p> 2 .");
    let actual = rows("SELECT (MIN(?o) AS ?min) { ?s ex:q ?o }", &nothing);
    assert_eq!(actual, ["0: -"]);
}
