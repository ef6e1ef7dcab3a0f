//! Message keys: the first value is the key, regardless of batch boundaries.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::registry;
use rdfm_query::keys::{Key, KeyFinder, KeyKind, Keys};

const LOG: &str = r#"
PREFIX ex: <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
ex:a ex:p "x", "y" ; ex:at "2026-01-01T00:00:00Z"^^xsd:dateTime .
# @message
GRAPH ex:g { ex:b ex:p ex:x ; sosa:resultTime "2026-01-31T23:00:00-02:00"^^xsd:dateTime . }
# @message
ex:log <https://w3id.org/ldes#timestampPath> ex:at .
ex:c ex:at "-0044-03-15"^^xsd:date .
# @message
PREFIX ex: <http://other/>
ex:d ex:p "x" .
# @message
"#;

fn batch() -> MessageBatch {
    let spec = registry::find("trig").unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    decoder.feed(LOG.as_bytes());
    decoder.finish();
    decoder.next_batch_of().unwrap().unwrap()
}

/// Returns the text of each key and the number of messages with several keys. Checks that batch
/// boundaries do not affect them.
fn texts(make: impl Fn() -> KeyFinder) -> (Vec<String>, u64) {
    let batch = batch();
    let read = |batches: Vec<MessageBatch>| {
        let mut finder = make();
        let (mut texts, mut several) = (Vec::new(), 0);
        for batch in batches {
            let keys = finder.keys(&batch);
            let text = |number: &u32| keys.distinct[*number as usize].text.clone();
            texts.extend(keys.key_numbers.iter().map(text));
            several += keys.ambiguous;
        }
        (texts, several)
    };
    let small = (0..batch.len())
        .map(|index| batch.slice(index..index + 1))
        .collect();
    let actual = read(vec![batch]);
    assert_eq!(read(small), actual);
    actual
}

#[test]
fn the_first_value_is_the_key() {
    let find = || KeyFinder::predicate(KeyKind::Value, "ex:p", []).unwrap();
    let (keys, several) = texts(find);
    assert_eq!(keys, ["x", "http://e/x", "other", "x"]);
    assert_eq!(several, 1);
    let given = [(b"ex".to_vec(), b"http://other/".to_vec())];
    let find = || KeyFinder::predicate(KeyKind::Value, "ex:p", given.clone()).unwrap();
    assert_eq!(texts(find).0, ["other", "other", "other", "x"]);
    let find = || KeyFinder::predicate(KeyKind::Value, "http://e/p", []).unwrap();
    assert_eq!(texts(find).0, ["x", "http://e/x", "other", "other"]);
}

#[test]
fn graphs_are_keys() {
    let (keys, several) = texts(KeyFinder::graph);
    assert_eq!(keys, ["default", "http://e/g", "default", "default"]);
    assert_eq!(several, 0);
}

#[test]
fn times_are_in_utc_and_logs_can_declare_properties() {
    let days = texts(|| KeyFinder::times(KeyKind::Day).unwrap()).0;
    assert_eq!(days, ["other", "2026-02-01", "-0044-03-15", "other"]);
    let months = texts(|| KeyFinder::times(KeyKind::Month).unwrap()).0;
    assert_eq!(months, ["other", "2026-02", "-0044-03", "other"]);
}

#[test]
fn predicates_must_be_iris() {
    for text in ["", "p", "5", "\"a:b\"", "_:b", "<a b>"] {
        assert!(
            KeyFinder::predicate(KeyKind::Value, text, []).is_err(),
            "{text}"
        );
    }
}

#[test]
fn a_stretch_ends_when_there_is_no_room_for_a_key() {
    let key = |text: &str| Key {
        id: text.into(),
        text: text.to_owned(),
    };
    let keys = Keys {
        distinct: ["a", "b", "c"].map(key).into(),
        key_numbers: vec![0, 1, 0, 2, 1],
        ambiguous: 0,
    };
    let none = [false; 3];
    assert_eq!(keys.live_run(0, &none, 2), (3, vec![1, 0]));
    assert_eq!(keys.live_run(3, &[true, false, false], 0), (3, vec![]));
    assert_eq!(keys.live_run(3, &[false, true, false], 1), (5, vec![2, 1]));
    assert_eq!(keys.live_run(0, &[true; 3], 0), (5, vec![0, 2, 1]));
    assert_eq!((keys.run(0, 5), keys.run(4, 5)), (1, 5));
}
