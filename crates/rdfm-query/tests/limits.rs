//! Queries that exceed the memory or time limits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::{Duration, Instant};

use crate::common::{batch, rows_until, triples_until, whole_rows_until};
use rdfm_query::query::budget::{Limits, Stop};

const TIMEOUT: Duration = Duration::from_millis(200);

fn with_few_terms() -> Limits {
    Limits {
        max_terms: 50_000,
        ..Limits::default()
    }
}

fn with_short_timeout() -> Limits {
    Limits {
        timeout: Some(TIMEOUT),
        ..Limits::default()
    }
}

/// A message with integers as objects.
fn numbers(count: usize) -> String {
    let quad = |index| format!("<http://e/s{index}> <http://e/p> {index} .\n");
    (0..count).map(quad).collect()
}

/// Returns the reason why a query is stopped. Checks that the reason is the same natively and with
/// the evaluator.
fn stop(query: &str, log: &str, limits: &Limits) -> Option<Stop> {
    let log = batch(log);
    let (_, native) = rows_until(query, &log, limits.clone());
    let (_, evaluator) = whole_rows_until(query, &log, limits.clone());
    assert_eq!(native, evaluator, "{query}");
    native
}

#[test]
fn growing_strings_count_towards_the_limit() {
    let log = "<http://e/a> <http://e/p> \"0123456789\" .";
    // Ten bytes doubled 29 times would be 5 GB.
    let steps = (1..30).map(|index| format!("BIND(CONCAT(?x{0}, ?x{0}) AS ?x{index}) ", index - 1));
    let doubled: String = steps.collect();
    let select = format!("SELECT * {{ ?s ?p ?o BIND(?o AS ?x0) {doubled} }}");
    assert_eq!(stop(&select, log, &with_few_terms()), Some(Stop::Memory));
    for count in [40, 4000] {
        let arguments = vec!["?o"; count].join(", ");
        let inner = format!("CONCAT({arguments})");
        let outer = vec![inner.as_str(); 60].join(", ");
        for test in [
            format!("FILTER(STRLEN(CONCAT({outer})) > 0)"),
            format!("FILTER(?o != 'x' && CONTAINS(CONCAT({outer}, STR(CONCAT({outer}))), '%'))"),
            format!("BIND(STRLEN(ENCODE_FOR_URI(CONCAT({outer}))) AS ?n)"),
            format!("BIND(COALESCE(1 + CONCAT({outer}), 1) AS ?n)"),
        ] {
            let limits = Limits {
                max_terms: if count > 1000 { 50_000 } else { 500 },
                ..Limits::default()
            };
            let query = format!("SELECT * {{ ?s ?p ?o {test} }}");
            assert_eq!(stop(&query, log, &limits), Some(Stop::Memory), "{test}");
        }
    }
}

#[test]
fn strings_count_towards_the_limit_while_their_expression_is_evaluated() {
    let log = numbers(3000);
    let text = "x".repeat(1000);
    for test in [
        format!("FILTER(STRLEN(CONCAT(STR(?o), '{text}')) > 0)"),
        format!(
            "FILTER(STRLEN(CONCAT(STR(?o), '{text}')) > 0 && CONTAINS(REPLACE('{text}', 'x', STR(?s)), 'e'))"
        ),
        // An error also ends an expression.
        format!("BIND(CONCAT(CONCAT(STR(?o), '{text}'), 1) AS ?y)"),
        format!("FILTER(COALESCE(CONCAT('{text}', STR(?o)) + 1, true))"),
        format!(
            "FILTER EXISTS {{ ?s ?p ?x FILTER(CONCAT(STR(?x), '{text}') = CONCAT(STR(?o), '{text}')) }}"
        ),
    ] {
        let query = format!("SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o {test} }}");
        assert_eq!(stop(&query, &log, &with_few_terms()), None, "{test}");
        let ordered =
            format!("SELECT ?s {{ ?s ?p ?o {test} }} ORDER BY CONCAT(STR(?o), STR(?s)) LIMIT 1");
        assert_eq!(stop(&ordered, &log, &with_few_terms()), None, "{test}");
    }
}

#[test]
fn strings_in_results_count_towards_the_limit() {
    let log = numbers(3000);
    let text = "x".repeat(1000);
    let query = format!("SELECT (CONCAT(STR(?o), '{text}') AS ?y) {{ ?s ?p ?o }}");
    let (_, each) = rows_until(&query, &batch(&log), with_few_terms());
    assert_eq!(each, Some(Stop::Memory));
    // The rows of an entire dataset are returned in pieces, so their sizes do not add up.
    let (whole, stopped) = whole_rows_until(
        &query,
        &batch(&log),
        Limits {
            max_terms: 1 << 20,
            ..with_few_terms()
        },
    );
    assert_eq!((whole.len(), stopped), (3000, None));
    let (_, stopped) = whole_rows_until(
        &format!("{query} ORDER BY ?y"),
        &batch(&log),
        with_few_terms(),
    );
    assert_eq!(stopped, Some(Stop::Memory));
}

#[test]
fn values_of_aggregates_count_towards_the_limit() {
    let log = numbers(3000);
    let text = "x".repeat(1000);
    let concatenation = format!("CONCAT(STR(?o), '{text}')");
    for aggregate in [
        format!("GROUP_CONCAT({concatenation})"),
        format!("GROUP_CONCAT(DISTINCT {concatenation})"),
        format!("GROUP_CONCAT(STR(?o); separator='{text}')"),
        format!("COUNT(DISTINCT {concatenation})"),
    ] {
        let query = format!("SELECT ({aggregate} AS ?n) {{ ?s ?p ?o }}");
        assert_eq!(
            stop(&query, &log, &with_few_terms()),
            Some(Stop::Memory),
            "{aggregate}"
        );
    }
    for aggregate in [
        format!("SAMPLE({concatenation})"),
        format!("MAX({concatenation})"),
    ] {
        let query = format!("SELECT ({aggregate} AS ?n) {{ ?s ?p ?o }} GROUP BY ?s");
        assert_eq!(
            stop(&query, &log, &with_few_terms()),
            Some(Stop::Memory),
            "{aggregate}"
        );
        let query = format!("SELECT ({aggregate} AS ?n) {{ ?s ?p ?o }}");
        assert_eq!(stop(&query, &log, &with_few_terms()), None, "{aggregate}");
    }
    let repeated = format!(
        "SELECT (GROUP_CONCAT(DISTINCT STR(?o * 0); separator='{text}') AS ?n) {{ ?s ?p ?o }}"
    );
    let (rows, stopped) = rows_until(&repeated, &batch(&log), with_few_terms());
    assert_eq!((rows, stopped), (vec!["0: \"0\"".to_owned()], None));
}

#[test]
fn cells_of_rows_count_towards_the_limit() {
    let log = numbers(2);
    // Each pattern doubles the rows.
    let pattern = |index| format!("?a{index} ?b{index} ?c{index} . ");
    for count in [90, 400] {
        let patterns: String = (0..count).map(pattern).collect();
        let query = format!("SELECT * {{ {patterns} }}");
        let (rows, stop) = rows_until(&query, &batch(&log), with_few_terms());
        assert_eq!((rows.len(), stop), (0, Some(Stop::Memory)));
    }
    // The template creates 10 triples from each of 16,384 rows.
    let patterns: String = (0..14).map(pattern).collect();
    let template: Vec<String> = (0..10)
        .map(|index| format!("?a{index} ex:n{index} [] . "))
        .collect();
    let template = template.concat();
    let query = format!("CONSTRUCT {{ {template} }} {{ {patterns} }}");
    let limits = Limits {
        max_terms: 150_000,
        ..Limits::default()
    };
    assert_eq!(
        triples_until(&query, &batch(&log), limits),
        Some(Stop::Memory)
    );
}

#[test]
fn the_time_limit_is_checked_before_compiling_a_regular_expression() {
    // Each regular expression is different and takes several milliseconds to compile.
    let log = numbers(3000);
    for test in [
        r"REGEX('x', CONCAT('(\\pL{20}|', STR(?o), ')'))",
        r"REPLACE('x', CONCAT('(\\pL{20}|', STR(?o), ')'), '') = 'y'",
    ] {
        let query = format!("SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o FILTER({test}) }}");
        let start = Instant::now();
        assert_eq!(
            stop(&query, &log, &with_short_timeout()),
            Some(Stop::Timeout(TIMEOUT)),
            "{test}"
        );
        assert!(start.elapsed() < 25 * TIMEOUT, "{:?}", start.elapsed());
    }
}

#[test]
fn large_regular_expressions_are_rejected() {
    let log = numbers(2);
    for test in [
        r"REGEX(STR(?o), '(\\pL{100}){100}')",
        r"REGEX(STR(?o), '(\\pL{100}){100}', 'i')",
        r"REGEX(STR(?o), CONCAT('(\\pL{100}){100}', STR(?o)))",
        r"REPLACE(STR(?o), '(\\pL{100}){100}', '') = 'x'",
    ] {
        let query = format!("SELECT * {{ ?s ?p ?o FILTER({test}) }}");
        let Some(Stop::Failed(why)) = stop(&query, &log, &Limits::default()) else {
            panic!("{test}");
        };
        assert!(
            why.starts_with("a regular expression takes more than 1 MB"),
            "{why}"
        );
    }
    // An invalid regular expression has no value.
    let query = "SELECT * { ?s ?p ?o FILTER(REGEX(STR(?o), '[')) }";
    assert_eq!(stop(query, &log, &Limits::default()), None);
}

#[test]
fn copying_long_strings_counts_towards_the_time_limit() {
    let text = "x".repeat(200_000);
    let log = format!("{}<http://e/t> <http://e/long> \"{text}\" .", numbers(2000));
    let query = "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o . ?u ex:p ?v . ?t ex:long ?x FILTER(STRLEN(?x) < ?o + ?v) }";
    let start = Instant::now();
    assert_eq!(
        stop(query, &log, &with_short_timeout()),
        Some(Stop::Timeout(TIMEOUT))
    );
    assert!(start.elapsed() < 25 * TIMEOUT, "{:?}", start.elapsed());
}
