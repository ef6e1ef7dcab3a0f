//! Native matching returns the same rows as `spareval`, which gets each message as a separate
//! dataset. Batch boundaries do not affect the rows.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fmt::Write as _;

use oxrdf::{Dataset, GraphName, NamedOrBlankNode, Quad, Term, Variable};
use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::TermId;
use rdfm_core::model::write::write_term;
use rdfm_core::registry;
use rdfm_query::query::budget::Limits;
use rdfm_query::query::dictionary::{DEFAULT_GRAPH, Dictionary};
use rdfm_query::query::evaluate::Evaluation;
use rdfm_query::query::message::{Graphs, Message};
use rdfm_query::query::native::{Matcher, Plan};
use rdfm_query::query::output::RowOutput;
use rdfm_query::query::{parse, rows};
use spareval::{QueryEvaluator, QueryResults};
use spargebra::algebra::GraphPattern;
use spargebra::{Query, SparqlParser};

/// Rows of a message, with terms as N-Triples.
type MessageRows = Vec<Vec<String>>;

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn choose<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const SUBJECTS: &[&str] = &["<http://e/a>", "<http://e/b>", "<http://e/c>", "_:x", "_:y"];
const PREDICATES: &[&str] = &["<http://e/p>", "<http://e/q>", "<http://e/r>"];
const OBJECTS: &[&str] = &[
    "<http://e/a>",
    "<http://e/b>",
    "<http://e/p>",
    "_:x",
    "_:y",
    "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"01\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"2.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
    "\"text\"",
    "\"text\"@en",
    "\"text\"@EN",
    "\"2026-01-01T00:00:00Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
    "\"?\"^^<http://www.w3.org/2001/XMLSchema#integer>",
];
const GRAPHS: &[&str] = &["", "", "", "<http://e/g>", "<http://e/h>", "_:x"];
const VARIABLES: &[&str] = &["?a", "?b", "?c", "?d"];

/// Returns random messages as N-Quads. Some of them have many quads.
fn messages(random: &mut Random) -> Vec<String> {
    let count = 2 + random.below(3);
    let message = |random: &mut Random| {
        let sizes: [usize; 6] = [0, 6, 12, 24, 40, 60];
        let mut text = String::new();
        for _ in 0..sizes[random.below(sizes.len())] {
            let parts = [SUBJECTS, PREDICATES, OBJECTS, GRAPHS].map(|of| random.choose(of));
            writeln!(text, "{} .", parts.join(" ")).unwrap();
        }
        text
    };
    (0..count).map(|_| message(random)).collect()
}

fn batches(messages: &[String]) -> Vec<MessageBatch> {
    let spec = registry::find("nq").unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    let mut text = messages.join("# @message\n");
    if messages.first().is_some_and(String::is_empty) {
        text.insert_str(0, "# @message\n");
    }
    if messages.last().is_some_and(String::is_empty) {
        text.push_str("# @message\n");
    }
    decoder.feed(text.as_bytes());
    decoder.finish();
    let mut actual = Vec::new();
    while let Some(batch) = decoder.next_batch_of().unwrap() {
        actual.push(batch);
    }
    assert_eq!(
        actual.iter().map(MessageBatch::len).sum::<usize>(),
        messages.len()
    );
    actual
}

/// Returns the messages, each in a separate batch with a different term table.
fn cut(messages: &[String]) -> Vec<MessageBatch> {
    const OTHER: &str = "<http://e/h> <http://e/r> <http://e/q> .\n";
    let one = |message: &String| batches(&[OTHER.into(), message.clone()])[0].slice(1..2);
    messages.iter().map(one).collect()
}

fn triple(random: &mut Random) -> String {
    let variable = random.choose(VARIABLES);
    let subject = match random.below(6) {
        0 => random.choose(&SUBJECTS[..3]),
        1 => "[]",
        _ => variable,
    };
    let predicate = match random.below(4) {
        0 => random.choose(VARIABLES),
        _ => random.choose(PREDICATES),
    };
    let object = match random.below(4) {
        0 => random.choose(&[&OBJECTS[..3], &OBJECTS[5..]].concat()),
        _ => random.choose(VARIABLES),
    };
    format!("{subject} {predicate} {object} . ")
}

fn expression(random: &mut Random) -> String {
    let [one, two] = [0; 2].map(|_| random.choose(VARIABLES));
    match random.below(15) {
        0 => format!("{one} > 1"),
        1 => format!("isIRI({one})"),
        2 => format!("bound({one})"),
        3 => format!("!bound({one})"),
        4 => format!("{one} = {two}"),
        5 => format!("{one} != {two} || isBlank({one})"),
        6 => format!("regex(str({one}), \"^HTTP\", \"i\")"),
        7 => format!("{one} IN (1, <http://e/a>, \"text\")"),
        8 => format!(
            "lang({one}) = \"en\" || datatype({two}) = <http://www.w3.org/2001/XMLSchema#integer>"
        ),
        9 => format!("{one} >= 1 && {two} != <http://e/b>"),
        11 => format!("str({one}) = \"01\" || contains(str({one}), \":00Z\")"),
        12 => format!("strlen(str({one})) < strlen(str({two}))"),
        13 => format!("xsd:integer({one}) < 5"),
        10 => format!("coalesce({one}, 1) = 1"),
        _ => format!("if(bound({one}), isLiteral({one}), isIRI({two}))"),
    }
}

/// Returns a random expression whose value is a term.
fn value(random: &mut Random) -> String {
    let [one, two] = [0; 2].map(|_| random.choose(VARIABLES));
    match random.below(8) {
        0 => format!("{one} + 1"),
        1 => format!("str({one})"),
        2 => format!("strlang(str({one}), \"en\")"),
        3 => format!("lang({one})"),
        4 => format!("{one} = {two}"),
        5 => format!("datatype({one})"),
        6 => format!("concat(str({one}), str({two}))"),
        _ => format!("xsd:integer({one}) * 1"),
    }
}

fn group(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        let kind = if depth == 0 {
            random.below(4)
        } else {
            random.below(12)
        };
        let inner = |random: &mut Random| group(random, depth - 1);
        match kind {
            0..=2 => text.push_str(&triple(random)),
            3 => write!(text, "FILTER({}) ", expression(random)).unwrap(),
            4..=6 => write!(text, "OPTIONAL {{ {} }} ", inner(random)).unwrap(),
            7 if random.below(2) == 0 => {
                let name = ["?e", "?f", "?d"][random.below(3)];
                write!(text, "BIND({} AS {name}) ", value(random)).unwrap();
            }
            7 => write!(text, "{{ {} }} ", inner(random)).unwrap(),
            8 => write!(
                text,
                "{{ {} }} UNION {{ {} }} ",
                inner(random),
                inner(random)
            )
            .unwrap(),
            9 => {
                let graph = random.choose(&["?g", "?a", "<http://e/g>", "<http://e/none>"]);
                write!(text, "GRAPH {graph} {{ {} }} ", inner(random)).unwrap();
            }
            _ => {
                let [one, two] = [["?a", "?b"], ["?b", "?c"], ["?c", "?e"]][random.below(3)];
                write!(text, "VALUES ({one} {two}) {{ ").unwrap();
                for _ in 0..random.below(8) {
                    let terms = [0; 2].map(|_| match random.below(4) {
                        0 => "UNDEF",
                        _ => random.choose(&[
                            SUBJECTS[0],
                            OBJECTS[1],
                            OBJECTS[5],
                            "7",
                            "\"text\"@en",
                        ]),
                    });
                    write!(text, "({}) ", terms.join(" ")).unwrap();
                }
                text.push_str("} ");
            }
        }
    }
    text
}

fn query(random: &mut Random) -> String {
    const PREFIX: &str = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>";
    let form = random.choose(&[
        "SELECT *",
        "SELECT *",
        "SELECT DISTINCT ?b ?a",
        "SELECT ?c ?none ?a",
    ]);
    format!(
        "{PREFIX} {form} {{ {} {} }}",
        triple(random),
        group(random, 3)
    )
}

/// Returns the variables of a query's rows.
fn selected(pattern: &GraphPattern) -> &[Variable] {
    match pattern {
        GraphPattern::Distinct { inner } => selected(inner),
        GraphPattern::Project { variables, .. } => variables,
        other => panic!("{other}"),
    }
}

/// Returns the rows of each message, with language tags spelled as in the message.
fn rows_of(evaluation: &Evaluation, batches: &[MessageBatch]) -> Vec<MessageRows> {
    let width = evaluation.query.variables.len();
    let mut actual = Vec::new();
    for batch in batches {
        let before = actual.len();
        actual.resize(before + batch.len(), MessageRows::new());
        let mut rows = rows::SolutionRows::default();
        let progress = evaluation.evaluate_rows(batch, 0, &mut rows);
        assert_eq!((progress.done, progress.stop), (batch.len(), None));
        let output = RowOutput::new(&evaluation.query)
            .build_batch(batch, &rows)
            .unwrap();
        for (row, message) in rows.messages.iter().enumerate() {
            let cells = output.message(row);
            assert_eq!(cells.len(), width);
            let text = |cell: &TermId| {
                let mut text = Vec::new();
                if *cell != TermId::DEFAULT_GRAPH {
                    write_term(output.table(), *cell, &mut text);
                }
                String::from_utf8(text).unwrap()
            };
            actual[before + *message as usize].push(cells.iter().map(text).collect());
        }
    }
    actual
}

fn sorted(mut messages: Vec<MessageRows>) -> Vec<MessageRows> {
    for rows in &mut messages {
        rows.sort();
    }
    messages
}

fn evaluated(query: &Query, batches: &[MessageBatch]) -> Vec<MessageRows> {
    let mut actual = Vec::new();
    for batch in batches {
        let dictionary = Dictionary::of(batch);
        let node = |term: Term| match term {
            Term::NamedNode(iri) => NamedOrBlankNode::from(iri),
            Term::BlankNode(node) => node.into(),
            other => panic!("{other}"),
        };
        for index in 0..batch.len() {
            let mut dataset = Dataset::new();
            for quad in batch.message(index) {
                let ids = [quad.subject, quad.predicate, quad.object];
                let [subject, predicate, object] = ids.map(|id| dictionary.term(id.0).unwrap());
                let graph = match quad.graph.0 {
                    DEFAULT_GRAPH => GraphName::DefaultGraph,
                    graph => node(dictionary.term(graph).unwrap()).into(),
                };
                let Term::NamedNode(predicate) = predicate else {
                    panic!()
                };
                dataset.insert(&Quad::new(node(subject), predicate, object, graph));
            }
            let evaluator = QueryEvaluator::new();
            let QueryResults::Solutions(solutions) =
                evaluator.prepare(query).execute(&dataset).unwrap()
            else {
                panic!()
            };
            let Query::Select { pattern, .. } = query else {
                panic!()
            };
            let names = selected(pattern);
            let rows = solutions.map(|solution| {
                let solution = solution.unwrap();
                let text = |name| {
                    solution
                        .get(name)
                        .map(ToString::to_string)
                        .unwrap_or_default()
                };
                names.iter().map(text).collect()
            });
            actual.push(rows.collect());
        }
    }
    actual
}

#[test]
fn native_rows_equal_those_of_spareval() {
    let mut random = Random(7);
    let (mut covered, mut with_rows) = (0, 0);
    let tries = std::env::var("TRIES").map_or(3000, |tries| tries.parse().unwrap());
    for number in 0..tries {
        let text = query(&mut random);
        let union_graphs = random.below(4) == 0;
        let evaluation = |native| {
            let query = parse::Query::parse(&text, None, &[], union_graphs).ok()?;
            Some(Evaluation::new(query, Limits::default(), native))
        };
        let Some(theirs) = evaluation(false) else {
            continue;
        };
        let log = messages(&mut random);
        let [whole, cut] = [batches(&log), cut(&log)];
        let context = || format!("{number}: {text}\n{}", log.join("# @message\n"));
        let wanted = sorted(rows_of(&theirs, &whole));
        assert_eq!(wanted, sorted(rows_of(&theirs, &cut)), "{}", context());
        let Some(ours) = evaluation(true).filter(Evaluation::is_native) else {
            continue;
        };
        covered += 1;
        let rows = rows_of(&ours, &whole);
        assert_eq!(rows, rows_of(&ours, &cut), "{}", context());
        let actual = sorted(rows);
        with_rows += usize::from(actual.iter().any(|rows| !rows.is_empty()));
        assert_eq!(actual, wanted, "{}", context());
        // The reference does not support the union of graphs, and treats `@EN` and `@en` as
        // different terms.
        if !union_graphs && !log.iter().any(|message| message.contains("@EN")) {
            let query = SparqlParser::new().parse_query(&text).unwrap();
            assert_eq!(sorted(evaluated(&query, &whole)), wanted, "{}", context());
        }
    }
    assert!(
        covered > tries / 3 && with_rows > tries / 8,
        "{covered} {with_rows}"
    );
}

/// Returns the number of rows found and the number of calls to `stop`, which stops matching after
/// `stops` calls.
fn counted(query: &str, quads: &str, max_rows: usize, stops: usize) -> (usize, usize) {
    let query = SparqlParser::new().parse_query(query).unwrap();
    let (Query::Select { pattern, .. } | Query::Ask { pattern, .. }) = &query else {
        panic!()
    };
    let plan = Plan::from_pattern(pattern, &[]).unwrap();
    let mut matcher = Matcher::new(&plan);
    let batch = &batches(&[String::new(), quads.to_owned()])[0];
    let dictionary = Dictionary::of(batch);
    let mut message = Message::default();
    let graphs = Graphs::AsTheyAre.by_class(&dictionary);
    message.read(&dictionary, &graphs, batch, 1);
    matcher.begin(&dictionary);
    let mut calls = 0;
    let mut stop = |actual| {
        calls += 1;
        if calls == stops { Err(actual) } else { Ok(()) }
    };
    let actual = matcher.run(&dictionary, &message, max_rows, &mut Vec::new(), &mut stop);
    (actual.unwrap_or_else(|actual| actual), calls)
}

fn star(quads: usize) -> String {
    (0..quads).fold(String::new(), |mut text, number| {
        writeln!(text, "<http://e/{number}> <http://e/in> <http://e/all> .").unwrap();
        writeln!(text, "<http://e/all> <http://e/has> \"{number}\" .").unwrap();
        text
    })
}

#[test]
fn matching_stops_on_request_or_after_enough_rows() {
    const CROSS: &str = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i";
    let (ask, select) = (
        format!("ASK {{ {CROSS} }}"),
        format!("SELECT * {{ {CROSS} }}"),
    );
    assert_eq!(counted(&ask, &star(500), 1, usize::MAX).0, 1);
    assert_eq!(counted(&select, &star(500), 5, usize::MAX).0, 5);
    let (actual, _) = counted(&select, &star(500), usize::MAX, 1000);
    assert!((900..1000).contains(&actual), "{actual}");
    let none = format!("SELECT * {{ {CROSS} FILTER(?a = ?d && ?d = ?g && ?b = ?i) }}");
    assert_eq!(counted(&none, &star(500), usize::MAX, 50), (0, 50));
}

#[test]
fn joins_of_many_quads_use_an_index() {
    let query = "SELECT * { ?a <http://e/in> ?all . ?all <http://e/none> ?none }";
    let (_, small) = counted(query, &star(1000), usize::MAX, usize::MAX);
    let (_, large) = counted(query, &star(10_000), usize::MAX, usize::MAX);
    assert!(large <= 20 * small.max(2), "{large} {small}");
}

#[test]
fn unordered_rows_do_not_depend_on_batches() {
    let mut random = Random(11);
    let log: Vec<String> = (0..20).flat_map(|_| messages(&mut random)).collect();
    let [whole, cut] = [batches(&log), cut(&log)];
    for text in [
        "SELECT ?a (COUNT(?b) AS ?count) { ?a <http://e/p> ?b } GROUP BY ?a",
        "SELECT DISTINCT ?b { [] <http://e/p> ?b { ?b ?c ?d } UNION { [] ?c ?b } BIND(str(?b) AS ?e) }",
        "SELECT ?a ?b { ?a ?p ?b . ?a (<http://e/p>|<http://e/q>)+ ?b }",
        "SELECT ?a ?b { ?a ?p ?b MINUS { ?b ?p ?a } }",
    ] {
        let query = parse::Query::parse(text, None, &[], true).unwrap();
        let evaluation = Evaluation::new(query, Limits::default(), false);
        assert_eq!(
            rows_of(&evaluation, &whole),
            rows_of(&evaluation, &cut),
            "{text}"
        );
    }
}
