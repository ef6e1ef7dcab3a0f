//! Patterns select messages and quads regardless of batch boundaries.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::registry;
use rdfm_query::filter::{MessageFilter, Period, Position, parse_moment};

const LOG: &str = r#"
PREFIX ex: <http://e/>
ex:a ex:value 5 ; ex:name "Kingfisher"@en .
# @message
ex:b ex:value 7.0 ; ex:at "2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
GRAPH ex:g { ex:b a ex:Bird . }
# @message
PREFIX ex: <http://other/>
ex:a ex:value true ; ex:said <<( ex:x ex:y <<( ex:x ex:z "deep" )>> )>> ; ex:at "2026-01-02"^^<http://www.w3.org/2001/XMLSchema#date> .
# @message
"#;

/// Returns the log, in one batch or in batches of one message.
fn batches(small: bool) -> Vec<MessageBatch> {
    let spec = registry::find("trig").unwrap();
    let values = Values::default();
    let mut decoder = registry::new_decoder(spec, &values, &Opening::default()).unwrap();
    decoder.feed(LOG.as_bytes());
    decoder.finish();
    let mut actual = Vec::new();
    while let Some(batch) = decoder.next_batch_of().unwrap() {
        actual.push(batch);
    }
    if small {
        let slices = |batch: &MessageBatch| {
            let one = |index| batch.slice(index..index + 1);
            (0..batch.len()).map(one).collect::<Vec<_>>()
        };
        actual = actual.iter().flat_map(slices).collect();
    }
    actual
}

/// Returns the indexes of the messages that match.
fn kept(make: impl Fn(&mut MessageFilter)) -> Vec<usize> {
    let [whole, cut] = [false, true].map(|small| {
        let mut filter = MessageFilter::new([(b"given".to_vec(), b"http://e/".to_vec())]);
        make(&mut filter);
        let batches = batches(small);
        let wanted = batches
            .iter()
            .flat_map(|batch| filter.matching_messages(batch));
        let kept = wanted.enumerate().filter(|(_, kept)| *kept);
        kept.map(|(index, _)| index).collect::<Vec<_>>()
    });
    assert_eq!(whole, cut);
    whole
}

fn with_term(position: Position, text: &str) -> Vec<usize> {
    kept(|filter| filter.add_term(position, text).unwrap())
}

#[test]
fn terms_match_in_their_positions() {
    for (position, text, expected) in [
        (Position::Subject, "<http://e/a>", vec![0]),
        (Position::Subject, "<http://e/b>", vec![1]),
        (Position::Object, "<http://e/a>", vec![]),
        (Position::Any, "<http://e/Bird>", vec![1]),
        (Position::Predicate, "a", vec![1]),
        (Position::Object, "5", vec![0]),
        (Position::Object, "7.0", vec![1]),
        (Position::Object, "7", vec![]),
        (Position::Object, "true", vec![2]),
        (Position::Object, "\"Kingfisher\"@en", vec![0]),
        (Position::Object, "\"Kingfisher\"", vec![]),
        (Position::Graph, "ex:g", vec![1]),
        (Position::Any, "<http://other/z>", vec![2]),
        (Position::Any, "\"deep\"", vec![2]),
        (Position::Any, "ex:y", vec![2]),
        (Position::Object, "\"deep\"", vec![]),
        (Position::Subject, "ex:a", vec![0, 2]),
        (Position::Subject, "given:a", vec![0]),
        (Position::Subject, "none:a", vec![]),
    ] {
        assert_eq!(with_term(position, text), expected, "{position:?} {text}");
    }
}

#[test]
fn conditions_of_a_pattern_apply_to_one_quad() {
    let both = |split: bool| {
        kept(move |filter| {
            filter.add_term(Position::Predicate, "ex:value").unwrap();
            if split {
                filter.begin_pattern();
            }
            filter.add_text("fish");
        })
    };
    assert_eq!(both(false), [] as [usize; 0]);
    assert_eq!(both(true), [0]);
    assert_eq!(kept(|_| ()), [0, 1, 2], "no conditions");
    assert_eq!(kept(MessageFilter::default_graph), [0, 1, 2]);
}

#[test]
fn strings_and_times_are_matched() {
    assert_eq!(kept(|filter| filter.add_text("2026-01")), [1, 2]);
    assert_eq!(kept(|filter| filter.add_text("example")), [] as [usize; 0]);
    assert_eq!(kept(|filter| filter.matches("^[Kk]ing").unwrap()), [0]);
    let within = |from, until| {
        let period = Period {
            from: parse_moment(from),
            until: parse_moment(until),
        };
        kept(move |filter| filter.add_period(period))
    };
    assert_eq!(within("2026-01-02", "2026-01-03"), [1, 2]);
    assert_eq!(within("2026-01-02T03:04:05Z", ""), [1]);
    assert_eq!(within("2026-01-02T03:04:06", ""), [] as [usize; 0]);
    assert_eq!(within("", "2026-01-02T04:04:05+01:00"), [2]);
}

#[test]
fn matching_quads_are_selected() {
    let batch = &batches(false)[0];
    let mut filter = MessageFilter::default();
    filter.add_term(Position::Predicate, "ex:value").unwrap();
    let wanted = filter.quads(batch);
    assert_eq!(wanted.iter().filter(|kept| **kept).count(), 3);
    filter.begin_pattern();
    filter.add_period(Period::default());
    let wanted = filter.quads(batch);
    let kept: Vec<usize> = (0..wanted.len()).filter(|index| wanted[*index]).collect();
    assert_eq!(kept, [2, 5], "only quads of the first pattern");
}

#[test]
fn invalid_terms_are_rejected() {
    for text in [
        "",
        "x",
        "_:b",
        "http://e/a",
        "\"open",
        "<a b>",
        "1.2.3",
        "-",
        "ex:a b",
        "ex:a>",
    ] {
        let mut filter = MessageFilter::default();
        assert!(filter.add_term(Position::Any, text).is_err(), "{text}");
    }
    assert!(MessageFilter::default().matches("(").is_err());
    assert!(MessageFilter::default().matches("(a{1000}){1000}").is_err());
}

#[test]
fn undeclared_prefixes_are_reported() {
    let mut filter = MessageFilter::default();
    for text in ["ex:a", "none:a"] {
        filter.add_term(Position::Any, text).unwrap();
    }
    for batch in batches(false) {
        filter.matching_messages(&batch);
    }
    assert_eq!(filter.undeclared().collect::<Vec<_>>(), [b"none"]);
    assert_eq!(filter.prefixes().collect::<Vec<_>>(), [&b"ex"[..], b"none"]);
}
