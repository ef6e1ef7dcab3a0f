//! The laws of queries for random changes to a few queries: a short version of the fuzz target for
//! stable Rust.

use rdfm_laws::mutate::Random;
use rdfm_laws::query::check_both_ways;

const QUERIES: [&str; 8] = [
    "PREFIX : <http://e/> SELECT ?s ?v { ?s :p ?o ; :q ?v FILTER(?v > 1) OPTIONAL { ?o :r ?x } }",
    "PREFIX : <http://e/> SELECT * { GRAPH ?g { ?s :p ?o } VALUES (?s ?x) { (:a UNDEF) (:c 1) } }",
    "PREFIX : <http://e/> SELECT DISTINCT ?s { { ?s :p ?o } UNION { ?o :q ?s } MINUS { ?s :r ?n } }",
    "PREFIX : <http://e/> SELECT ?s (COUNT(*) AS ?n) { ?s (:p|^:q)* ?o } GROUP BY ?s ORDER BY ?n",
    "PREFIX : <http://e/> CONSTRUCT { ?s :x [ :y ?o ] } { ?s :p ?o BIND(BNODE() AS ?b) }",
    "PREFIX : <http://e/> SELECT ?s { ?s :r ?n FILTER(LANG(?n) = 'en' && EXISTS { ?s :q ?v }) }",
    "PREFIX : <http://e/> SELECT ?s FROM :g FROM NAMED :h { ?s ?p ?o { SELECT ?s { ?s ?p 2 } } }",
    "PREFIX : <http://e/> SELECT * { ?s :p <<( ?a :p ?b )>> OPTIONAL { ?a :p ?s FILTER(?b != ?s) } }",
];

#[test]
fn the_unchanged_queries_obey_the_laws() {
    for query in QUERIES {
        check_both_ways(query.as_bytes());
    }
}

/// Whether a word is a term, so that another term can replace it.
fn is_term(word: &str) -> bool {
    word.starts_with(['?', ':', '1', '2'])
}

#[test]
fn random_changes_do_not_break_any_law() {
    let mut random = Random::new(7);
    let mut compared = 0;
    for _ in 0..2000 {
        let one = QUERIES[random.next_below(QUERIES.len())];
        let mut words: Vec<&str> = one.split(' ').collect();
        for _ in 0..=random.next_below(3) {
            let index = random.next_below(words.len());
            let other = QUERIES[random.next_below(QUERIES.len())];
            let others: Vec<&str> = other.split(' ').collect();
            let from = random.next_below(others.len());
            if random.next_below(4) == 0 {
                // Replace a word with a part of another query.
                let length = random.next_below(others.len() - from) + 1;
                words.splice(index..=index, others[from..from + length].iter().copied());
            } else if is_term(words[index]) && is_term(others[from]) {
                words[index] = others[from];
            }
        }
        compared += usize::from(check_both_ways(words.join(" ").as_bytes()));
    }
    assert!(compared > 50, "{compared}");
}
