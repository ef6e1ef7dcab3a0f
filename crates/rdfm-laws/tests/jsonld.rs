//! The two ways of JSON-LD over messages made up at random.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rdfm_core::codec::DecodeOptions;
use rdfm_core::formats::Format;
use rdfm_laws::jsonld::ways;
use rdfm_laws::mutate::{Random, mutate};

const ROUNDS: u64 = 6000;

/// Contexts that a log may begin with.
const CONTEXTS: &[&str] = &[
    r#"{"@vocab": "http://v/", "@base": "http://b/x/"}"#,
    r#"{"ex": "http://ex/", "name": "ex:name", "knows": {"@id": "ex:knows", "@type": "@id"}, "id": "@id", "type": "@type"}"#,
    r#"{"@language": "en", "@vocab": "http://v/", "tags": {"@container": "@set"}, "list": {"@container": "@list"}, "label": {"@container": "@language"}}"#,
    r#"{"xsd": "http://www.w3.org/2001/XMLSchema#", "ex": "http://ex/#", "n": {"@id": "ex:n", "@type": "xsd:double"}, "d": {"@id": "ex:d", "@type": "xsd:date", "@container": "@list"}}"#,
    r#"[{"a": "http://a/"}, null, {"@vocab": "http://v/#", "p": {"@type": "@vocab"}, "q": {"@language": "fr"}, "z": null}]"#,
    r#"{"@vocab": "http://v/", "rev": {"@reverse": "http://v/r"}, "scoped": {"@id": "http://v/s", "@context": {"x": "http://x/"}}, "j": {"@id": "http://v/j", "@type": "@json"}}"#,
    r#"{"@protected": true, "ex": {"@id": "http://ex/", "@prefix": true}, "name": "ex:name", "noprefix": {"@id": "http://np/"}}"#,
    r#"{"@vocab": "http://v/", "@direction": "rtl", "@language": "ar"}"#,
];
const KEYS: &[&str] = &[
    "@id",
    "@type",
    "@value",
    "@language",
    "@graph",
    "@list",
    "@set",
    "@context",
    "@index",
    "@reverse",
    "id",
    "type",
    "name",
    "knows",
    "tags",
    "list",
    "label",
    "n",
    "d",
    "p",
    "q",
    "z",
    "rev",
    "scoped",
    "j",
    "ex:a",
    "ex:b",
    "a:b",
    "noprefix:c",
    "http://k/1",
    "urn:k",
    "_:p",
    "x y",
    "",
    "@foo",
    "@direction",
    "é",
    "@included",
    "@nest",
];
const STRINGS: &[&str] = &[
    "",
    "x",
    "http://i/1",
    "http://i/a b",
    "ex:i",
    "_:b0",
    "_:b1",
    "_:a b",
    "rel",
    "../up",
    "?q#f",
    "@id",
    "@none",
    "en",
    "en-GB",
    "a_b",
    "ltr",
    "Person",
    "xsd:integer",
    "http://www.w3.org/2001/XMLSchema#double",
    "@json",
    "q\\\"\\u00e9",
    "name",
    "id",
    "noprefix:v",
    "http://[bad",
    "mailto:a@b",
    "urn:x:y",
    "#frag",
    "//host/p",
    "z",
];
const SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "12.50",
    "1e3",
    "-1.5E-7",
    "1e20",
    "1e21",
    "123456789012345678901234",
    "0.1234567890123456789",
    "100",
    "1.0E400",
];

fn string(random: &mut Random) -> String {
    format!("\"{}\"", STRINGS[random.below(STRINGS.len())])
}

fn value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth > 3 { 6 } else { 12 }) {
        0..4 => string(random),
        4 | 5 => SCALARS[random.below(SCALARS.len())].to_owned(),
        6 | 7 => {
            let items: Vec<String> = (0..random.below(4))
                .map(|_| value(random, depth + 1))
                .collect();
            format!("[{}]", items.join(","))
        }
        8 => format!(
            "{{\"@value\": {}, \"@type\": {}}}",
            value(random, 9),
            string(random)
        ),
        9 => format!(
            "{{\"@value\": {}, \"@language\": {}}}",
            string(random),
            string(random)
        ),
        _ => object(random, depth + 1),
    }
}

fn object(random: &mut Random, depth: usize) -> String {
    let members: Vec<String> = (0..random.below(5))
        .map(|_| {
            let key = KEYS[random.below(KEYS.len())];
            let value = if key == "@context" {
                CONTEXTS[random.below(CONTEXTS.len())].to_owned()
            } else if matches!(key, "@graph" | "@included") && depth < 4 && random.below(2) > 0 {
                let nodes: Vec<String> = (0..random.below(3))
                    .map(|_| object(random, depth + 1))
                    .collect();
                format!("[{}]", nodes.join(", "))
            } else if key.starts_with('@') && random.below(4) > 0 {
                string(random)
            } else {
                value(random, depth)
            };
            format!("\"{key}\": {value}")
        })
        .collect();
    format!("{{{}}}", members.join(", "))
}

fn log(random: &mut Random) -> String {
    let mut lines = Vec::new();
    if random.below(4) > 0 {
        let context = CONTEXTS[random.below(CONTEXTS.len())];
        lines.push(format!("{{\"@context\": {context}}}"));
    }
    lines.push(object(random, 0));
    lines.join("\n")
}

#[test]
fn both_ways_give_the_same_messages() {
    let (mut declined, mut without_fault) = (0, 0);
    for seed in 1..=ROUNDS {
        let mut random = Random::new(seed);
        let text = log(&mut random);
        let mut data = text.clone().into_bytes();
        if random.below(8) == 0 {
            data = mutate(&mut random, &data);
        }
        let options = DecodeOptions {
            lenient: seed % 2 == 0,
            base: (seed % 3 == 0).then(|| "http://example.org/base/".to_owned()),
            ..DecodeOptions::default()
        };
        let caught = catch_unwind(AssertUnwindSafe(|| ways(Format::Ndjsonld, &options, &data)));
        let Ok(count) = caught else {
            panic!("seed {seed}: the ways differ on\n{text}");
        };
        declined += count;
        without_fault += u64::from(count == 0);
    }
    // The walk reads a fair share, and so does the other way.
    assert!(
        declined > ROUNDS / 10 && without_fault > ROUNDS / 10,
        "{declined} {without_fault}"
    );
}
