//! The laws of queries for random changes to a few queries: a short version of the fuzz target for
//! stable Rust.

use rdfm_laws::mutate::Random;
use rdfm_laws::query::both_ways_agree;

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
        both_ways_agree(query.as_bytes());
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
        let one = QUERIES[random.below(QUERIES.len())];
        let mut words: Vec<&str> = one.split(' ').collect();
        for _ in 0..=random.below(3) {
            let at = random.below(words.len());
            let other = QUERIES[random.below(QUERIES.len())];
            let others: Vec<&str> = other.split(' ').collect();
            let from = random.below(others.len());
            if random.below(4) == 0 {
                // Replace a word with a part of another query.
                let length = random.below(others.len() - from) + 1;
                words.splice(at..=at, others[from..from + length].iter().copied());
            } else if is_term(words[at]) && is_term(others[from]) {
                words[at] = others[from];
            }
        }
        compared += usize::from(both_ways_agree(words.join(" ").as_bytes()));
    }
    assert!(compared > 50, "{compared}");
}
