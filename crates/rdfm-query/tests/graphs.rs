//! Groups of `GRAPH ?g`, compared with the same group in each graph.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fmt::Write as _;

use crate::common::{batch, rows, whole_rows, whole_rows_until};
use rdfm_query::query::budget::{Limits, Stop};

const LOG: &str = "
<http://e/a> <http://e/q> <http://e/default> .
GRAPH <http://e/g> {
  <http://e/a> <http://e/p> 1 , 2 .
  <http://e/b> <http://e/p> 3 ; <http://e/q> 4 ; <http://e/r> <http://e/g>
}
GRAPH <http://e/h> {
  <http://e/a> <http://e/p> 1 .
  <http://e/c> <http://e/r> <http://e/g>
}
GRAPH <http://e/i> { <http://e/c> <http://e/q> 5 }
";

/// Returns the sorted rows of a query over each message. Checks that those over all messages are
/// the same.
fn solve(query: &str) -> Vec<String> {
    let log = batch(LOG);
    let each = rows(query, &log);
    let mut actual: Vec<_> = each.iter().map(|row| row[3..].to_owned()).collect();
    actual.sort();
    let mut whole = whole_rows(query, &log);
    whole.sort();
    assert_eq!(actual, whole, "{query}");
    actual
}

const GROUPS: [&str; 36] = [
    "?s ex:p ?o",
    "BIND(1 AS ?n)",
    "{ SELECT (COUNT(*) AS ?n) { ?s ex:p ?o } }",
    "{ SELECT (COUNT(*) AS ?n) { ?s ex:p ?o FILTER(?o > 2) } }",
    "{ SELECT ?s (SUM(?o) AS ?n) { ?s ex:p ?o } GROUP BY ?s HAVING(SUM(?o) > 1) }",
    "{ SELECT ?s ?o { ?s ex:p ?o } ORDER BY ?s ?o LIMIT 1 }",
    "{ SELECT ?s ?o { ?s ex:p ?o } ORDER BY ?s ?o OFFSET 1 }",
    "{ SELECT DISTINCT ?s { ?s ?p ?o } }",
    "{ SELECT ?g { ?s ex:r ?g } }",
    "{ SELECT ?g (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?g }",
    "?s ex:q ?y { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s }",
    "?s ex:p ?o MINUS { ?x ex:q ?y }",
    "?s ex:p ?o MINUS { ?s ex:q ?y }",
    "?s ex:p ?o MINUS { ?x ex:p ?z OPTIONAL { ?s ex:q ?y } }",
    "?s ex:p ?o MINUS { ?x ex:r ?g }",
    "?s ex:p ?o MINUS { ?s ex:r ?g }",
    "?s ex:p ?o MINUS { ?s ?q ?x MINUS { ?s ex:p ?x } }",
    "VALUES ?s { ex:a 1 }",
    "VALUES (?s ?n) { (ex:a 1) (UNDEF 2) }",
    "VALUES ?s { ex:a ex:c } ?s ?p ?o",
    "{ VALUES ?s { ex:a } } UNION { ?s ex:p ?o }",
    "OPTIONAL { VALUES ?s { ex:a } }",
    "VALUES ?g { ex:g ex:none }",
    "VALUES ?s { ex:a } OPTIONAL { ?s ex:p ?o }",
    "?s ex:p ?o { VALUES ?x { ex:a ex:c 1 } OPTIONAL { ?x ex:q ?y } }",
    "?s ex:p ?o OPTIONAL { GRAPH ?h { ?x ex:q ?n } OPTIONAL { ?n ?z ?y } }",
    "GRAPH ex:h { ?s ?p ?o }",
    "GRAPH ?h { ?s ex:p ?o }",
    "GRAPH ?h { { SELECT (COUNT(*) AS ?n) { ?s ex:p ?o } } }",
    "GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?s ex:p ?o } } }",
    "?s ?p ?o OPTIONAL { ?s ex:r ?g }",
    "?s ex:p ?o FILTER EXISTS { SELECT ?x { ?x ex:q ?y } LIMIT 1 }",
    "?s ex:p ?o FILTER NOT EXISTS { ?x ex:q ?y MINUS { ?x ex:r ?z } }",
    "?s ex:p ?o FILTER EXISTS { GRAPH ?h { SELECT (COUNT(*) AS ?n) { ?x ex:q ?y } } }",
    "{ SELECT (COUNT(DISTINCT *) AS ?n) { ?s ex:p|ex:q [] } }",
    "?s ex:q* ex:missing { SELECT * { ?x ex:q ?n } }",
];

#[test]
fn a_group_is_evaluated_in_each_graph() {
    for group in GROUPS {
        let select = "SELECT ?g ?h ?s ?o ?n ?y";
        let mut expected = Vec::new();
        for graph in ["ex:g", "ex:h", "ex:i"] {
            // In another group, so that ?g has no value inside.
            expected.extend(solve(&format!(
                "{select} {{ VALUES ?g {{ {graph} }} {{ GRAPH {graph} {{ {group} }} }} }}"
            )));
        }
        expected.sort();
        let query = format!("{select} {{ GRAPH ?g {{ {group} }} }}");
        assert_eq!(solve(&query), expected, "{group}");
        let query = format!("{select} {{ VALUES ?g {{ ex:g ex:h ex:i }} GRAPH ?g {{ {group} }} }}");
        assert_eq!(solve(&query), expected, "{group}");
    }
}

#[test]
fn filters_see_the_name_of_the_graph() {
    let counted =
        "{ SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } FILTER(?g = ex:g && STRENDS(STR(?g), 'g'))";
    for group in ["?s ex:q ?n FILTER(?g = ex:i)", counted] {
        let actual = solve(&format!("SELECT ?n {{ GRAPH ?g {{ {group} }} }}"));
        assert_eq!(actual.len(), 1, "{group}");
        assert!(actual[0].contains("\"5\""), "{group}");
    }
}

#[test]
fn only_the_named_graphs_of_the_query_are_used() {
    let group = "GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }";
    assert_eq!(
        solve(&format!(
            "SELECT ?g FROM NAMED ex:h FROM NAMED ex:none {{ {group} }}"
        )),
        ["<http://e/h>", "<http://e/none>"]
    );
    assert!(solve(&format!("SELECT ?g FROM ex:h {{ {group} }}")).is_empty());
}

#[test]
fn blank_nodes_name_graphs() {
    let log = batch("_:x <http://e/about> 1 . GRAPH _:x { <http://e/a> <http://e/p> 1 , 2 }");
    let query = "SELECT ?n { ?g ex:about 1 GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }";
    let count = "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    assert_eq!(whole_rows(query, &log), [count]);
    assert_eq!(rows(query, &log), [format!("0: {count}")]);
}

#[test]
fn the_number_of_graphs_is_limited() {
    let log = |graphs: usize| {
        let mut text = String::new();
        for graph in 0..graphs {
            writeln!(
                text,
                "GRAPH <http://e/{graph}> {{ <http://e/a> <http://e/p> 1 }}"
            )
            .unwrap();
        }
        batch(&text)
    };
    let query = "SELECT ?g { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ex:p ?o . ?s ex:p ?x } } }";
    assert_eq!(whole_rows(query, &log(2000)).len(), 2000);
    let (rows, stop) = whole_rows_until(query, &log(50_001), Limits::default());
    assert!(rows.is_empty());
    let Some(Stop::Failed(reason)) = stop else {
        panic!("{stop:?}");
    };
    assert!(reason.contains("GRAPH ?g"), "{reason}");
    assert!(reason.contains("too many graphs (50001)"), "{reason}");
}
