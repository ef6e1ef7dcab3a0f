//! Stream types: the quad order, and the rules for each message.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail by panicking"
)]

use rdfm_analysis::streams::{NamedGraphs, StreamRules, SubjectShape, sort_messages};
use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rdfm_core::registry;

/// Decodes a log of N-Quads in a short form: `;` ends a quad, `|` ends a message.
fn log(text: &str) -> MessageBatch {
    let spec = registry::find("nq").unwrap();
    let values = Values::read(spec.reads(), [("generalized", GivenValue::from(true))]).unwrap();
    let mut decoder = registry::new_decoder(spec, &values, &Opening::default()).unwrap();
    let lines: Vec<String> = (text.split('|'))
        .map(|message| {
            (message.split(';').map(str::trim))
                .filter(|quad| !quad.is_empty())
                .fold(String::new(), |lines, quad| lines + quad + " .\n")
        })
        .collect();
    decoder.feed(lines.join("# @message\n").as_bytes());
    decoder.finish();
    decoder.next_batch_of().unwrap().unwrap()
}

fn shown(table: &TermTable, id: TermId) -> String {
    let term = table.term(id);
    let text = String::from_utf8_lossy(table.text(id)).into_owned();
    match term.kind {
        TermKind::DefaultGraph => "-".to_owned(),
        TermKind::Literal | TermKind::TypedLiteral | TermKind::LangLiteral => format!("\"{text}\""),
        TermKind::TripleTerm => "<<>>".to_owned(),
        _ => text,
    }
}

/// The objects of each message after sorting.
fn objects(text: &str) -> Vec<Vec<String>> {
    let batch = sort_messages(&log(text));
    (0..batch.len())
        .map(|number| {
            (batch.message(number).iter())
                .map(|quad| shown(batch.table(), quad.object))
                .collect()
        })
        .collect()
}

/// The first violation of each message, with its rule.
fn violations(rules: &StreamRules, text: &str) -> Vec<(u64, &'static str, String)> {
    (rules.violations(&sort_messages(&log(text))).into_iter())
        .map(|actual| (actual.message_index, actual.rule, actual.text))
        .collect()
}

fn rules(graphs: NamedGraphs) -> StreamRules {
    StreamRules {
        graphs,
        ..StreamRules::default()
    }
}

#[test]
fn quads_are_sorted_by_graph_subject_predicate_object() {
    let batch = sort_messages(&log(
        "<b:> <p:> <o:> <g:>;<b:> <p:> <o:>;<a:> <q:> <o:>;<a:> <p:> <z:>",
    ));
    let table = batch.table();
    let lines: Vec<String> = (batch.message(0).iter())
        .map(|quad| {
            let terms = [quad.graph, quad.subject, quad.predicate, quad.object];
            terms.map(|id| shown(table, id)).join(" ")
        })
        .collect();
    // The default graph is urn:x-arq:DefaultGraph, which sorts after g:.
    assert_eq!(
        lines,
        ["g: b: p: o:", "- a: p: z:", "- a: q: o:", "- b: p: o:"]
    );
}

#[test]
fn literals_sort_before_iris_and_labels() {
    let text = "<s:> <p:> <a:>;<s:> <p:> _:a;<s:> <p:> \"z\"";
    assert_eq!(objects(text), [["\"z\"", "a", "a:"]]);
}

#[test]
fn strings_are_compared_as_utf_16() {
    // U+10000 is D800 DC00 in UTF-16 and therefore sorts before U+FFFD.
    let text = "<s:> <p:> <a:\u{fffd}>;<s:> <p:> <a:\u{10000}>;<s:> <p:> <a:\u{e9}>;<s:> <p:> <a:>";
    assert_eq!(
        objects(text),
        [["a:", "a:\u{e9}", "a:\u{10000}", "a:\u{fffd}"]]
    );
}

#[test]
fn the_closing_quote_of_a_literal_affects_the_order() {
    // `"a"` does not always sort before longer literals: the quote follows ! and space, but
    // precedes all other characters.
    let text = r#"<s:> <p:> "ab";<s:> <p:> "a#";<s:> <p:> "a!";<s:> <p:> "a";<s:> <p:> "a\"""#;
    assert_eq!(
        objects(text),
        [["\"a!\"", "\"a\"", "\"a#\"", "\"a\"\"", "\"ab\""]]
    );
}

#[test]
fn literals_with_the_same_text_are_ordered_by_language_and_datatype() {
    let batch = sort_messages(&log(
        "<s:> <p:> \"a\"^^<t:>;<s:> <p:> \"a\"@en;<s:> <p:> \"a\";<s:> <p:> \"a\"@de",
    ));
    let kinds: Vec<TermKind> = (batch.message(0).iter())
        .map(|quad| batch.table().term(quad.object).kind)
        .collect();
    assert_eq!(
        kinds,
        [
            TermKind::Literal,
            TermKind::LangLiteral,
            TermKind::LangLiteral,
            TermKind::TypedLiteral
        ]
    );
}

#[test]
fn repeated_quads_are_removed_within_a_message() {
    let text = "<s:> <p:> <a:>;<s:> <p:> <b:>;<s:> <p:> <a:>|<s:> <p:> <a:>||<s:> <p:> <c:>";
    assert_eq!(
        objects(text),
        [vec!["a:", "b:"], vec!["a:"], vec![], vec!["c:"]]
    );
}

#[test]
fn quad_order_does_not_affect_the_result() {
    let one = "<s:> <p:> <a:> <g:>;_:b <p:> \"x\";<s:> <q:> \"x\"@en;<s:> <p:> <a:>";
    let other = "<s:> <q:> \"x\"@en;<s:> <p:> <a:>;_:b <p:> \"x\";<s:> <p:> <a:> <g:>";
    assert_eq!(objects(one), objects(other));
}

#[test]
fn graph_stream_messages_must_have_only_a_default_graph() {
    let text = "<s:> <p:> <o:>|<s:> <p:> <o:> <g:>|";
    assert_eq!(
        violations(&rules(NamedGraphs::None), text),
        [(
            1,
            "graphs",
            "has the named graph 'g:', expected only a default graph".to_owned()
        )]
    );
    assert_eq!(violations(&rules(NamedGraphs::Any), text), []);
}

#[test]
fn named_graph_messages_must_have_exactly_one_named_graph() {
    let text = "<s:> <p:> <o:> <g:>;<s:> <p:> <o:>;<t:> <p:> <o:> <g:>\
        |<s:> <p:> <o:> <g:>;<s:> <p:> <o:> <h:>;<s:> <q:> <o:> <g:>|<s:> <p:> <o:>";
    let actual = violations(&rules(NamedGraphs::One), text);
    let texts: Vec<_> = actual
        .iter()
        .map(|(index, _, text)| (*index, &text[..]))
        .collect();
    assert_eq!(
        texts,
        [
            (1, "has 2 named graphs, expected exactly one"),
            (2, "has no named graph, expected exactly one")
        ]
    );
}

#[test]
fn the_default_graph_must_have_one_time_value_for_the_named_graph() {
    let timed = StreamRules {
        time: Some(b"t:".to_vec()),
        ..rules(NamedGraphs::One)
    };
    let with = |quads: &str| violations(&timed, &format!("<s:> <p:> <o:> <g:>;{quads}"));
    assert_eq!(with("<g:> <t:> \"1\""), []);
    for (quads, actual) in [
        ("", "no value"),
        ("<g:> <t:> \"1\" <g:>", "no value"),
        ("<h:> <t:> \"1\"", "no value"),
        ("<g:> <t:> \"1\";<g:> <t:> \"2\"", "2 values"),
    ] {
        let violated = with(quads);
        assert_eq!((violated.len(), violated[0].1), (1, "time"), "{quads}");
        let text = &violated[0].2;
        assert!(text.starts_with(&format!("has {actual} of the time property 't:'")));
    }
}

#[test]
fn subject_graphs_must_have_a_root() {
    let connected = StreamRules {
        has_root: true,
        rdf12: true,
        ..StreamRules::default()
    };
    for text in [
        "<a:> <p:> <b:>;<b:> <p:> <c:>;<a:> <p:> \"x\"",
        "<b:> <p:> <c:>;<a:> <p:> <b:>",
        "<a:> <p:> <b:>;<b:> <p:> <a:>",
        "<a:> <p:> <<( <x:> <y:> <z:> )>>",
    ] {
        assert_eq!(violations(&connected, text), [], "{text}");
    }
    for text in [
        "<a:> <p:> <b:>;<c:> <p:> <b:>",
        "<a:> <p:> <b:>;<c:> <p:> <c:>",
    ] {
        let actual = violations(&connected, text);
        assert_eq!(
            actual[0].2,
            "has no node from which all others can be reached, expected one"
        );
    }
    let actual = violations(&connected, "<a:> <p:> <b:>||<a:> <p:> <b:>");
    assert_eq!(actual.len(), 1);
    assert!(actual[0].2.starts_with("is empty, expected a node"));
}

#[test]
fn subject_shapes_select_exactly_one_node() {
    const TYPE: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
    let shaped = StreamRules {
        subjects: vec![
            SubjectShape::Class(b"c:".to_vec()),
            SubjectShape::SubjectsOf(b"p:".to_vec()),
            SubjectShape::ObjectsOf(b"q:".to_vec()),
            SubjectShape::QuotedSubjects,
        ],
        rdf12: true,
        generalized_triples: true,
        ..StreamRules::default()
    };
    for (text, actual) in [
        (format!("<a:> {TYPE} <c:>"), ""),
        (
            format!("<a:> {TYPE} <c:>;<a:> <p:> <o:>;<b:> <q:> <a:>"),
            "",
        ),
        ("<<( <a:> <x:> <y:> )>> <r:> <o:>".to_owned(), ""),
        (format!("<a:> {TYPE} <c:>;<b:> <p:> <o:>"), "several nodes"),
        ("<a:> <r:> <o:>".to_owned(), "no node"),
    ] {
        let texts = violations(&shaped, &text);
        assert_eq!(texts.is_empty(), actual.is_empty(), "{text}");
        assert!(texts.iter().all(|each| each.2.contains(actual)), "{text}");
    }
}

#[test]
fn generalized_and_rdf12_terms_must_be_declared() {
    let all = StreamRules {
        rdf12: true,
        generalized_triples: true,
        generalized_graphs: true,
        ..StreamRules::default()
    };
    let without = |change: fn(&mut StreamRules)| {
        let mut rules = all.clone();
        change(&mut rules);
        rules
    };
    let rdf11 = without(|rules| rules.rdf12 = false);
    let plain_triples = without(|rules| rules.generalized_triples = false);
    let plain_graphs = without(|rules| rules.generalized_graphs = false);
    for (text, rules, rule) in [
        ("<s:> <p:> <<( <a:> <b:> <c:> )>>", &rdf11, "rdf12"),
        ("<s:> <p:> \"x\"@en--ltr", &rdf11, "rdf12"),
        ("\"x\" <p:> <o:>", &plain_triples, "generalized"),
        ("<s:> _:p <o:>", &plain_triples, "generalized"),
        ("<s:> \"x\" <o:>", &plain_triples, "generalized"),
        ("<s:> <p:> <o:> \"g\"", &plain_graphs, "generalized"),
    ] {
        assert_eq!(violations(rules, text)[0].1, rule, "{text}");
        assert_eq!(violations(&all, text), [], "{text}");
    }
}
