//! JSON-LD made up at random, read as the oracle has it; and what the oracle is known to read otherwise.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rdfm_laws::jsonld::standing::DIFFERENCES;
use rdfm_laws::jsonld::{Compared, compare, generate};
use rdfm_laws::mutate::{Random, mutate};
use rdfm_laws::options::Reading;

/// Logs of the test, unless `RDFM_JSONLD_DOCUMENTS` says another number.
const DOCUMENTS: u64 = 5000;

fn reading(seed: u64) -> Reading {
    let directions = ["literal", "none", "i18n-datatype", "compound-literal"];
    let reading = Reading::of("ndjsonld")
        .with("lenient", seed.is_multiple_of(2))
        .with("rdf_direction", directions[Random::new(seed).below(4)]);
    if seed.is_multiple_of(3) {
        reading
    } else {
        reading.with("base", "http://example.org/base/")
    }
}

#[test]
fn documents_are_read_as_the_oracle_has_them() {
    let documents = std::env::var("RDFM_JSONLD_DOCUMENTS");
    let documents = documents.map_or(DOCUMENTS, |text| text.parse().expect("a number"));
    let mut found: HashMap<Compared, u64> = HashMap::new();
    let mut lines = 0;
    for seed in 1..=documents {
        let mut random = Random::new(seed);
        let text = generate::log(&mut random);
        let mut data = text.clone().into_bytes();
        if random.below(8) == 0 {
            data = mutate(&mut random, &data);
        }
        let reading = reading(seed);
        let caught = catch_unwind(AssertUnwindSafe(|| compare(&reading, &data)));
        let Ok(compared) = caught else {
            panic!(
                "seed {seed}: {reading:?}\n{}",
                String::from_utf8_lossy(&data)
            );
        };
        for each in compared {
            lines += 1;
            *found.entry(each).or_default() += 1;
        }
    }
    let count = |wanted: Compared| found.get(&wanted).copied().unwrap_or_default();
    let differ: u64 = DIFFERENCES
        .iter()
        .map(|difference| count(Compared::Differs(difference.name)))
        .sum();
    // The generator makes what is right and what is wrong, and seldom what cannot be compared.
    assert!(count(Compared::Read) > lines / 2, "{found:#?}");
    assert!(count(Compared::Refused) > lines / 10, "{found:#?}");
    assert!(differ < lines / 10, "{found:#?}");
    assert!(count(Compared::Unjudged) <= lines / 1000, "{found:#?}");
}

/// For each known difference a log that shows it.
const SHOWN: &[(&str, &str)] = &[
    (
        "null after protected terms, in one array of contexts",
        r#"{"@context":[{"a":{"@id":"http://a","@protected":true}},null]}"#,
    ),
    (
        "a term defined by one that stands for nothing",
        r#"{"@context":{"z":null,"a":{"@id":"z"}}}"#,
    ),
    (
        "a term defined by what is no IRI",
        r#"{"@context":{"a":"b"}}"#,
    ),
    (
        "a term that stands for the form of a keyword, and is referred to",
        r#"{"@context":{"a":"@foo","b":{"@id":"http://b","@type":"a:b"}}}"#,
    ),
    (
        "a relative vocabulary and no base",
        r#"{"@context":{"@vocab":"v/"}}"#,
    ),
    (
        "a compact IRI as a term whose prefix is a keyword",
        r#"{"@context":{"a":"@type","a:b":{"@type":"@id"}}}"#,
    ),
    (
        "a term with a slash or a first colon, without @id",
        concat!(
            r#"{"@context":{"@vocab":"http://v/","a/b":{"@type":"@id"}}}"#,
            "\n",
            r#"{"a/b":"http://o"}"#
        ),
    ),
    ("an integer of 21 digits", r#"{"http://p":1e20}"#),
    ("a number beyond doubles", r#"{"http://p":1e400}"#),
    (
        "a fraction that is none after rounding",
        r#"{"http://p":1e-400}"#,
    ),
    (
        "an integer of more digits than a double, as xsd:double",
        r#"{"http://p":{"@value":12345678901234567890,"@type":"http://www.w3.org/2001/XMLSchema#double"}}"#,
    ),
    (
        "@value with members that a value object has not",
        r#"{"http://p":{"http://q":1,"@value":1}}"#,
    ),
    (
        "@value null with a language or a type, or in a reverse property",
        r#"{"http://p":{"@value":null,"@language":"en"}}"#,
    ),
    (
        "@value with a type and a direction",
        r#"{"http://p":{"@value":"a","@type":"http://d","@direction":"ltr"}}"#,
    ),
    (
        "@value with an array of types",
        r#"{"http://p":{"@value":"a","@type":["http://d"]}}"#,
    ),
    (
        "@value with a type that stands for nothing",
        r#"{"http://p":{"@value":"a","@type":"@foo"}}"#,
    ),
    (
        "@list or @set with other members",
        concat!(
            r#"{"@context":{"z":null}}"#,
            "\n",
            r#"{"http://p":{"z":1,"@list":[1]}}"#
        ),
    ),
    ("@list or @set in @nest", r#"{"@nest":{"@list":[]}}"#),
    ("@set of null", r#"{"http://p":{"@set":null}}"#),
    (
        "a list container of a set, a list or a null",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@container":"@list"}}}"#,
            "\n",
            r#"{"p":{"@set":[1]}}"#
        ),
    ),
    (
        "a graph container of what is no node",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@container":"@graph"}}}"#,
            "\n",
            r#"{"p":1}"#
        ),
    ),
    (
        "a JSON literal in a container",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@type":"@json","@container":"@list"}}}"#,
            "\n",
            r#"{"p":1}"#
        ),
    ),
    (
        "the keys of a JSON literal beyond the basic plane",
        r#"{"http://p":{"@type":"@json","@value":{"\ue000":1,"\ud83d\ude00":1}}}"#,
    ),
    (
        "@graph at the top beside @index, no types or what is nested",
        r#"{"@index":"i","@graph":[{"http://p":1}]}"#,
    ),
    (
        "a keyword that says nothing here",
        r#"{"@none":1,"@graph":[{"http://p":1}]}"#,
    ),
    (
        "an array in place of a map by @id or @type",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@container":"@id"}}}"#,
            "\n",
            r#"{"p":[{"http://q":1}]}"#
        ),
    ),
    (
        "values in a map by @id or @type",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@container":"@id"}}}"#,
            "\n",
            r#"{"p":{"http://i":1}}"#
        ),
    ),
    (
        "values in a map by @index of a reverse property",
        concat!(
            r#"{"@context":{"p":{"@reverse":"http://p","@container":"@index"}}}"#,
            "\n",
            r#"{"p":{"i":{"@value":1}}}"#
        ),
    ),
    (
        "a map by a property of sets or lists",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@container":"@index","@index":"http://i"}}}"#,
            "\n",
            r#"{"p":{"a":{"@set":[{"http://q":1}]}}}"#
        ),
    ),
    (
        "a map by @type whose types have contexts",
        concat!(
            r#"{"@context":{"T":{"@id":"http://T","@context":{"U":"http://U"}},"p":{"@id":"http://p","@container":"@type"}}}"#,
            "\n",
            r#"{"p":{"T":{"@type":"U"}}}"#
        ),
    ),
    (
        "a map by @type of relative types",
        concat!(
            r#"{"@context":{"@base":"http://b/","p":{"@id":"http://p","@container":"@type"}}}"#,
            "\n",
            r#"{"p":{"T":{}}}"#
        ),
    ),
    (
        "a map by @id, @type or a property whose nodes have contexts",
        concat!(
            r#"{"@context":{"@base":"http://b/","p":{"@id":"http://p","@container":"@id"}}}"#,
            "\n",
            r#"{"p":{"i":{"@context":{"@base":"http://c/"},"http://q":1}}}"#
        ),
    ),
    (
        "two keys for one keyword",
        r#"{"@context":{"graph":"@graph"},"@id":"http://g","graph":[],"@graph":[]}"#,
    ),
    (
        "an @id of the form of a keyword",
        r#"{"@id":"@foo","http://p":1}"#,
    ),
    (
        "a node with two indexes",
        r#"{"http://p":[{"@id":"http://s","@index":"a"},{"@id":"http://s","@index":"b"}]}"#,
    ),
    ("@included of what is no node", r#"{"@included":{}}"#),
    (
        "an alias of @type that the context of a type undoes",
        concat!(
            r#"{"@context":{"type":"@type","T":{"@id":"http://T","@context":null}}}"#,
            "\n",
            r#"{"type":"T"}"#
        ),
    ),
    (
        "a string of @type @vocab whose IRI begins with a term",
        concat!(
            r#"{"@context":{"@vocab":"ex:v/","ex":"http://e/","p":{"@type":"@vocab"}}}"#,
            "\n",
            r#"{"p":"a"}"#
        ),
    ),
    (
        "several types with contexts",
        concat!(
            r#"{"@context":{"T":{"@id":"http://T","@context":{"a":"http://a"}},"U":{"@id":"http://U","@context":{"b":"http://b"}}}}"#,
            "\n",
            r#"{"@type":["T","U"],"a":1,"b":1}"#
        ),
    ),
    (
        "@type or @context in @nest",
        r#"{"@nest":{"@context":{"a":"http://a"},"http://p":1}}"#,
    ),
    (
        "@context in the map of @reverse",
        r#"{"@reverse":{"@context":{"a":"http://a"},"a":{"http://q":1}}}"#,
    ),
    (
        "a JSON literal as the value of a reverse property",
        concat!(
            r#"{"@context":{"p":{"@id":"http://p","@type":"@json"}}}"#,
            "\n",
            r#"{"@reverse":{"p":{}}}"#
        ),
    ),
    (
        "@set in a reverse property",
        r#"{"@reverse":{"http://p":{"@set":1}}}"#,
    ),
    ("an array within the array of @nest", r#"{"@nest":[[]]}"#),
    (
        "keywords in @nest",
        r#"{"@nest":[{"@id":"http://a"},{"@id":"http://b"}]}"#,
    ),
    (
        "@language or @direction without @value",
        r#"{"http://p":{"@direction":"ltr"}}"#,
    ),
    (
        "a node of a name and types in a context that is not propagated",
        concat!(
            r#"{"@context":{"@propagate":false,"@vocab":"http://v/"}}"#,
            "\n",
            r#"{"@id":"http://s","@type":"T"}"#
        ),
    ),
    (
        "a value in a context that is not propagated",
        r#"{"@context":{"@propagate":false,"@vocab":"http://v/"},"http://p":{"@index":"i","a":1,"@value":1}}"#,
    ),
    (
        "a context that is not propagated, with @nest, @reverse, maps or scoped properties below",
        concat!(
            r#"{"@context":{"T":{"@id":"http://T","@context":{"a":"http://a"}}}}"#,
            "\n",
            r#"{"@type":"T","@nest":{"a":1}}"#
        ),
    ),
    (
        "a direction from a context, without a language",
        concat!(
            r#"{"@context":{"@direction":"ltr"}}"#,
            "\n",
            r#"{"http://p":"a"}"#
        ),
    ),
    (
        "a protected term overridden for a scalar, or by a remote context of a term",
        concat!(
            r#"{"@context":[{"a":{"@id":"http://a","@protected":true}},{"p":{"@id":"http://p","@context":{"a":"http://b"}}}]}"#,
            "\n",
            r#"{"p":"x"}"#
        ),
    ),
];

#[test]
fn each_known_difference_is_still_there() {
    let reading = Reading::of("ndjsonld")
        .with("lenient", true)
        .with("rdf_direction", "i18n-datatype");
    let names: Vec<&str> = DIFFERENCES
        .iter()
        .map(|difference| difference.name)
        .collect();
    let shown: Vec<&str> = SHOWN.iter().map(|(name, _)| *name).collect();
    for (name, log) in SHOWN {
        let compared = compare(&reading, log.as_bytes());
        let expected = Compared::Differs(name);
        assert_eq!(compared.last(), Some(&expected), "{log}");
    }
    assert_eq!(shown, names);
}
