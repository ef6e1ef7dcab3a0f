//! Property paths whose rows differ from those of the evaluator.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::common::{batch, rows, whole_rows};

const LOG: &str = "
<http://e/a> <http://e/p> <http://e/b> .
GRAPH <http://e/g> { <http://e/b> <http://e/p> <http://e/c> }
GRAPH <http://e/h> { <http://e/a> <http://e/p> 5 }
";

/// Returns the sorted rows of a query, without message numbers. Checks that the rows are the
/// same natively and with the evaluator.
fn solve(query: &str) -> Vec<String> {
    found_in(LOG, query)
}

fn found_in(log: &str, query: &str) -> Vec<String> {
    let log = batch(log);
    let native = rows(query, &log);
    let mut actual: Vec<_> = native.iter().map(|row| row[3..].to_owned()).collect();
    actual.sort();
    let mut evaluator = whole_rows(query, &log);
    evaluator.sort();
    assert_eq!(actual, evaluator, "{query}");
    actual
}

#[test]
fn zero_length_paths_match_constants_that_are_not_in_the_graph() {
    let zz = ["<http://e/zz>"];
    for path in [
        "ex:p*",
        "ex:p?",
        "^ex:p*",
        "(ex:p/ex:p)*",
        "(ex:p?)+",
        "((ex:p*)?)*",
        "(ex:p|!ex:p)?",
        "ex:p*|ex:q",
        "(ex:p*/ex:q?)?",
        "ex:p*/ex:q*",
        "ex:p?/^ex:q*/ex:p*",
    ] {
        assert_eq!(
            solve(&format!("SELECT ?y {{ ex:zz {path} ?y }}")),
            zz,
            "{path}"
        );
        assert_eq!(
            solve(&format!("SELECT ?y {{ ?y {path} ex:zz }}")),
            zz,
            "{path}"
        );
        let both = format!("SELECT * {{ ex:zz {path} ex:zz }}");
        assert_eq!(solve(&both), [""], "{path}");
        let two = format!("SELECT * {{ ex:zz {path} ex:yy }}");
        assert!(solve(&two).is_empty(), "{path}");
    }
    for path in [
        "ex:p",
        "ex:p+",
        "ex:p*/ex:q",
        "!ex:p",
        "^ex:p+",
        "ex:p|ex:q+",
    ] {
        let query = format!("SELECT ?y {{ ex:zz {path} ?y }}");
        assert!(solve(&query).is_empty(), "{path}");
    }
    assert_eq!(
        solve("SELECT ?y { 7 ex:p* ?y }"),
        ["\"7\"^^<http://www.w3.org/2001/XMLSchema#integer>"]
    );
}

#[test]
fn zero_length_alternatives_are_counted_separately() {
    let count = |path: &str| solve(&format!("SELECT ?y {{ ex:zz {path} ?y }}")).len();
    assert_eq!(count("ex:p*|ex:q*"), 2);
    assert_eq!(count("ex:p*|ex:q?|ex:r"), 2);
    assert_eq!(count("(ex:p*|ex:q*)*"), 1);
    assert_eq!(count("(ex:p*|ex:q*)|(ex:p*|ex:q*)"), 4);
}

#[test]
fn constants_in_the_graph_match_once() {
    assert_eq!(
        solve("SELECT ?y { ex:a ex:p* ?y }"),
        ["<http://e/a>", "<http://e/b>"]
    );
    assert_eq!(
        solve("SELECT ?y { ?y ex:p* ex:b }"),
        ["<http://e/a>", "<http://e/b>"]
    );
    assert_eq!(solve("SELECT ?y { ex:b ex:q? ?y }"), ["<http://e/b>"]);
    assert_eq!(solve("SELECT * { ex:a ex:q* ex:a }"), [""]);
}

#[test]
fn constants_match_in_each_named_graph() {
    assert_eq!(
        solve("SELECT ?g ?y { GRAPH ?g { ex:b ex:p* ?y } }"),
        [
            "<http://e/g> <http://e/b>",
            "<http://e/g> <http://e/c>",
            "<http://e/h> <http://e/b>"
        ]
    );
    assert_eq!(
        solve("SELECT ?g { GRAPH ?g { ex:zz ex:p? ex:zz } }"),
        ["<http://e/g>", "<http://e/h>"]
    );
    assert_eq!(
        solve("SELECT ?y { GRAPH ex:g { ex:a ex:p* ?y } }"),
        ["<http://e/a>"]
    );
    assert!(solve("SELECT ?y { GRAPH ex:none { ex:a ex:p* ?y } }").is_empty());
    assert_eq!(
        solve("SELECT ?y FROM ex:g { ex:a ex:p* ?y }"),
        ["<http://e/a>"]
    );
}

#[test]
fn zero_length_paths_match_in_filters_and_groups() {
    let all = ["<http://e/a>"];
    assert_eq!(
        solve("SELECT ?s { ?s ex:p ?o FILTER EXISTS { ex:zz ex:p* ex:zz } }"),
        all
    );
    assert_eq!(
        solve("SELECT ?s { ?s ex:p ?o FILTER EXISTS { ex:zz ex:p* ?x } }"),
        all
    );
    assert!(solve("SELECT ?s { ?s ex:p ?o FILTER EXISTS { ex:zz ex:p* ?s } }").is_empty());
    assert!(solve("SELECT ?s { ?s ex:p ?o FILTER NOT EXISTS { ex:zz ex:p? ?x } }").is_empty());
    assert_eq!(
        solve("SELECT ?s ?y { ?s ex:p ?o OPTIONAL { ex:zz ex:p* ?y } }"),
        ["<http://e/a> <http://e/zz>"]
    );
    assert_eq!(
        solve("SELECT (COUNT(?y) AS ?n) { ex:zz ex:p*|ex:q* ?y }"),
        ["\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>"]
    );
}

#[test]
fn variables_match_only_terms_of_the_graph() {
    assert!(solve("SELECT ?o { VALUES ?s { ex:zz } ?s ex:p* ?o }").is_empty());
    assert_eq!(
        solve("SELECT ?s ?o { ?s ex:q* ?o }"),
        ["<http://e/a> <http://e/a>", "<http://e/b> <http://e/b>"]
    );
}

#[test]
fn alternatives_keep_duplicates_outside_of_closures() {
    let log = "PREFIX ex: <http://e/> ex:a ex:p ex:b ; ex:q ex:b . ex:b ex:r ex:a .";
    let count = |path: &str| found_in(log, &format!("SELECT * {{ ?x {path} ?y }}")).len();
    assert_eq!(count("ex:p|ex:q"), 2);
    assert_eq!(count("ex:p|ex:p|ex:q"), 3);
    assert_eq!(count("^(ex:p|ex:q)"), 2);
    assert_eq!(count("(ex:p|ex:q)/ex:r"), 2);
    assert_eq!(count("(ex:p|ex:q)/^(ex:p|ex:q)"), 4);
    assert_eq!(count("ex:r|((ex:p|ex:q)/ex:r)"), 3);
    assert_eq!(count("!(ex:r|^ex:r)"), 4);
    assert_eq!(count("!(ex:p|^ex:p)"), 4);
    assert_eq!(count("(ex:p|ex:q)+"), 1);
    assert_eq!(count("(ex:p|ex:q)?"), 3);
    assert_eq!(count("(ex:p|ex:q)*"), 3);
}

#[test]
fn blank_nodes_do_not_make_counted_solutions_distinct() {
    let log = "PREFIX ex: <http://e/> ex:a ex:p ex:b, ex:c . ex:b ex:q ex:a . ex:c ex:q ex:a .";
    let count = |select: &str| {
        let rows = found_in(log, &format!("SELECT {select}"));
        rows.iter()
            .map(|row| row[1..].split('"').next().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(count("(COUNT(DISTINCT *) AS ?n) { ?x ex:p [] }"), "1");
    assert_eq!(count("(COUNT(DISTINCT *) AS ?n) { ?x ex:p/ex:q ?y }"), "1");
    assert_eq!(count("(COUNT(DISTINCT *) AS ?n) { [] ex:p [] }"), "1");
    assert_eq!(count("(COUNT(DISTINCT *) AS ?n) { ?x ex:p ?y }"), "2");
    assert_eq!(count("(COUNT(*) AS ?n) { ?x ex:p [] }"), "2");
    let grouped = "(COUNT(DISTINCT *) AS ?n) { ?x ex:p|ex:q [] } GROUP BY (STRLEN(STR(?x)))";
    assert_eq!(count(grouped), "3");
}
