//! NDJSON-LD made up at random: all of JSON-LD 1.1, mostly as it is meant, sometimes not.
//!
//! - In: random numbers.
//! - Out: a log of one or two lines.
//! - Law: a term's name says how its value mostly looks, so that containers meet the maps that they are for; a log
//!   has few names, so that those that are used are mostly defined.

use crate::mutate::Random;

/// Definitions by name; several of one name are chosen from.
const DEFINITIONS: &[(&str, &[&str])] = &[
    (
        "ex",
        &[
            r#""http://ex/""#,
            r#""http://ex/#""#,
            r#"{"@id":"http://ex/","@prefix":true}"#,
            r#"{"@id":"http://ex/"}"#,
        ],
    ),
    (
        "np",
        &[
            r#""http://np""#,
            r#"{"@id":"http://np/"}"#,
            r#"{"@id":"http://np","@prefix":true}"#,
            r#""_:np""#,
        ],
    ),
    ("xsd", &[r#""http://www.w3.org/2001/XMLSchema#""#]),
    (
        "name",
        &[
            r#""http://ex/name""#,
            r#""ex:name""#,
            r#"{"@id":"ex:name","@language":"fr"}"#,
            "null",
            r#"{"@language":null}"#,
        ],
    ),
    (
        "knows",
        &[
            r#"{"@id":"http://ex/knows","@type":"@id"}"#,
            r#"{"@type":"@vocab"}"#,
            r#"{"@id":"ex:knows","@type":"@id","@container":"@set"}"#,
        ],
    ),
    (
        "n",
        &[
            r#"{"@id":"http://ex/n","@type":"http://www.w3.org/2001/XMLSchema#double"}"#,
            r#"{"@id":"ex:n","@type":"xsd:integer"}"#,
            r#"{"@type":"@none"}"#,
            r#"{"@id":"ex:n","@type":"@none","@language":"de"}"#,
        ],
    ),
    (
        "d",
        &[
            r#"{"@id":"http://ex/d","@type":"xsd:date","@language":"en"}"#,
            r#"{"@id":"http://ex/d","@type":"http://ex/D","@container":"@list"}"#,
        ],
    ),
    (
        "tags",
        &[
            r#"{"@id":"http://ex/tags","@container":"@set"}"#,
            r#"{"@container":["@set"]}"#,
        ],
    ),
    (
        "list",
        &[
            r#"{"@id":"http://ex/list","@container":"@list"}"#,
            r#"{"@id":"http://ex/list","@container":["@list"],"@type":"@id"}"#,
        ],
    ),
    (
        "label",
        &[
            r#"{"@id":"http://ex/label","@container":"@language"}"#,
            r#"{"@container":["@language","@set"],"@direction":"rtl"}"#,
        ],
    ),
    (
        "idx",
        &[
            r#"{"@id":"http://ex/idx","@container":"@index"}"#,
            r#"{"@container":["@index","@set"]}"#,
            r#"{"@id":"http://ex/idx","@container":"@index","@type":"@id"}"#,
        ],
    ),
    (
        "pidx",
        &[
            r#"{"@id":"http://ex/pidx","@container":"@index","@index":"http://ex/key"}"#,
            r#"{"@id":"http://ex/pidx","@container":["@index","@set"],"@index":"name"}"#,
            r#"{"@id":"http://ex/pidx","@container":"@index","@index":"knows","@type":"@id"}"#,
        ],
    ),
    (
        "ids",
        &[
            r#"{"@id":"http://ex/ids","@container":"@id"}"#,
            r#"{"@container":["@id","@set"]}"#,
        ],
    ),
    (
        "types",
        &[
            r#"{"@id":"http://ex/types","@container":"@type"}"#,
            r#"{"@container":["@set","@type"],"@type":"@vocab"}"#,
        ],
    ),
    (
        "graph",
        &[
            r#"{"@id":"http://ex/graph","@container":"@graph"}"#,
            r#"{"@container":["@graph","@set"]}"#,
        ],
    ),
    (
        "gid",
        &[r#"{"@id":"http://ex/gid","@container":["@graph","@id"]}"#],
    ),
    (
        "gidx",
        &[
            r#"{"@id":"http://ex/gidx","@container":["@graph","@index","@set"]}"#,
            r#"{"@id":"http://ex/gidx","@container":["@graph","@index"],"@index":"http://ex/gkey"}"#,
        ],
    ),
    (
        "rev",
        &[
            r#"{"@reverse":"http://ex/rev"}"#,
            r#"{"@reverse":"ex:rev","@type":"@id"}"#,
            r#"{"@reverse":"http://ex/rev","@container":"@set"}"#,
        ],
    ),
    (
        "revidx",
        &[r#"{"@reverse":"http://ex/revidx","@container":"@index"}"#],
    ),
    ("j", &[r#"{"@id":"http://ex/j","@type":"@json"}"#]),
    ("nest", &[r#""@nest""#, r#"{"@id":"@nest"}"#]),
    (
        "nested",
        &[
            r#"{"@id":"http://ex/nested","@nest":"nest"}"#,
            r#"{"@id":"http://ex/nested","@nest":"@nest"}"#,
        ],
    ),
    (
        "scoped",
        &[
            r#"{"@id":"http://ex/scoped","@context":{"name":"http://s/name","only":"http://s/only"}}"#,
            r#"{"@id":"http://ex/scoped","@context":null}"#,
            r#"{"@id":"http://ex/scoped","@context":{"@vocab":"http://s/","name":null}}"#,
            r#"{"@id":"http://ex/scoped","@context":{"@propagate":false,"only":"http://s/only"}}"#,
            r#"{"@id":"http://ex/scoped","@context":[null,{"id":"@id","only":"http://s/only"}],"@type":"@id"}"#,
            r#"{"@id":"http://ex/scoped","@context":{"@base":"http://sb/","@language":"it","scoped":{"@id":"http://s/s","@context":{"only":"http://ss/"}}}}"#,
            r#"{"@id":"http://ex/scoped","@context":"http://r/terms"}"#,
        ],
    ),
    (
        "Person",
        &[
            r#""http://ex/Person""#,
            r#"{"@id":"http://ex/Person","@context":{"name":"http://pe/name","only":"http://pe/only"}}"#,
            r#"{"@id":"http://ex/Person","@context":{"@propagate":true,"only":{"@id":"http://pe/only","@type":"@id"}}}"#,
            r#"{"@context":{"@vocab":"http://pe/"}}"#,
            r#"{"@id":"ex:Person","@context":null}"#,
        ],
    ),
    (
        "Place",
        &[
            r#"{"@id":"http://ex/Place","@context":{"name":"http://pl/name","tags":{"@id":"http://pl/t","@container":"@list"}}}"#,
            r#""http://ex/Place""#,
        ],
    ),
    ("id", &[r#""@id""#]),
    (
        "type",
        &[
            r#""@type""#,
            r#"{"@id":"@type"}"#,
            r#"{"@id":"@type","@container":"@set"}"#,
        ],
    ),
    ("value", &[r#""@value""#]),
    ("lang", &[r#""@language""#]),
    ("set", &[r#""@set""#, r#""@list""#]),
    ("inc", &[r#""@included""#]),
    ("more", &[r#""@graph""#]),
    ("back", &[r#""@reverse""#]),
    ("key", &[r#""@index""#]),
    ("none", &[r#""@none""#]),
    (
        "@type",
        &[
            r#"{"@container":"@set"}"#,
            r#"{"@container":"@set","@protected":true}"#,
            r#"{"@protected":true}"#,
        ],
    ),
    ("z", &["null", r#"{"@id":null}"#]),
    (
        "ex:c",
        &[
            r#"{"@type":"@id"}"#,
            r#"{"@language":"en"}"#,
            r#""http://ex/c""#,
        ],
    ),
    (
        "p",
        &[
            r#"{"@id":"http://ex/p","@protected":true}"#,
            r#"{"@id":"http://ex/p","@protected":false}"#,
            r#""http://ex/p""#,
        ],
    ),
];
/// What a definition is not meant to be, or hardly.
const ODD: &[&str] = &[
    r#"{"@id":"rel"}"#,
    r#"{"@id":"name"}"#,
    r#"{"@id":"z"}"#,
    r#"{"@id":5}"#,
    "5",
    "[]",
    "{}",
    r#"{"@id":"@context"}"#,
    r#"{"@id":"http://ex/o","@container":"@foo"}"#,
    r#"{"@id":"http://ex/o","@container":["@list","@set"]}"#,
    r#"{"@id":"http://ex/o","@container":["@id","@type"]}"#,
    r#"{"@id":"http://ex/o","@type":"rel"}"#,
    r#"{"@id":"http://ex/o","@type":"_:b"}"#,
    r#"{"@id":"http://ex/o","@type":5}"#,
    r#"{"@id":"http://ex/o","@language":5}"#,
    r#"{"@id":"http://ex/o","@direction":"up"}"#,
    r#"{"@id":"http://ex/o","@direction":null}"#,
    r#"{"@id":"http://ex/o","@nest":"@id"}"#,
    r#"{"@id":"http://ex/o","@nest":5}"#,
    r#"{"@id":"http://ex/o","@prefix":1}"#,
    r#"{"@id":"http://ex/o","@index":"http://ex/i"}"#,
    r#"{"@id":"http://ex/o","@container":"@index","@index":"@type"}"#,
    r#"{"@id":"http://ex/o","@unknown":1}"#,
    r#"{"@id":"http://ex/o","@protected":1}"#,
    r#"{"@id":"http://ex/o","@context":5}"#,
    r#"{"@id":"http://ex/o","@context":{"x":5}}"#,
    r#"{"@reverse":"http://ex/o","@id":"http://ex/o"}"#,
    r#"{"@reverse":5}"#,
    r#"{"@reverse":"http://ex/o","@container":"@list"}"#,
    r#"{"@reverse":"rel"}"#,
    r#"{"@reverse":"@foo"}"#,
    r#"{"@id":"@foo"}"#,
    r#""@foo""#,
    r#""@type""#,
    r#""_:o""#,
    r#"{"@id":"_:o"}"#,
    r#""o:o""#,
    r#"{"@id":"@type","@type":"@id"}"#,
    r#"{"@id":"http://ex/o","@type":"@json","@container":"@list"}"#,
    r#"{"@id":"@id","@prefix":true}"#,
    r#"{"@id":"http://ex/o","@container":"@type","@type":"http://ex/D"}"#,
    r#"{"@id":"http://ex/o","@container":null}"#,
];
/// Entries of contexts that define no term.
const ENTRIES: &[&str] = &[
    r#""@vocab":"http://v/""#,
    r#""@vocab":"http://v/#""#,
    r#""@vocab":null"#,
    r#""@vocab":"""#,
    r#""@vocab":"ex:v/""#,
    r#""@vocab":"rel/""#,
    r#""@base":"http://b/x/y""#,
    r#""@base":null"#,
    r#""@base":"z/""#,
    r#""@base":"""#,
    r#""@language":"en""#,
    r#""@language":null"#,
    r#""@language":"de-CH""#,
    r#""@direction":"rtl""#,
    r#""@direction":null"#,
    r#""@version":1.1"#,
    r#""@protected":true"#,
    r#""@protected":false"#,
    r#""@propagate":true"#,
    r#""@propagate":false"#,
    r#""@import":"http://r/terms""#,
    r#""@import":"http://r/protected""#,
];
const ODD_ENTRIES: &[&str] = &[
    r#""@vocab":5"#,
    r#""@vocab":"@foo""#,
    r#""@base":5"#,
    r#""@language":5"#,
    r#""@direction":"up""#,
    r#""@version":1.0"#,
    r#""@version":"1.1""#,
    r#""@protected":1"#,
    r#""@propagate":1"#,
    r#""@import":5"#,
    r#""@import":"http://r/none""#,
    r#""@import":"http://r/more""#,
    r#""@import":"http://r/missing""#,
    r#""@id":"http://ex/""#,
    r#""@foo":"http://ex/foo""#,
    r#""":"http://ex/empty""#,
];
const URLS: &[&str] = &[
    "http://r/terms",
    "http://r/more",
    "http://r/scoped",
    "http://r/protected",
    "http://r/none",
    "http://r/array",
    "http://r/missing",
];
const KEYS: &[&str] = &[
    "@id",
    "@id",
    "@type",
    "@type",
    "@value",
    "@graph",
    "@list",
    "@set",
    "@context",
    "@context",
    "@index",
    "@reverse",
    "@included",
    "@nest",
    "@foo",
    "only",
    "ex:a",
    "ex:b",
    "ex:c",
    "a:b",
    "np:c",
    "http://k/1",
    "http://k/2",
    "urn:k",
    "_:p",
    "x y",
    "",
    "é",
    "@language",
    "lang",
    "nest",
    "scoped",
    "Person",
    "idx",
    "unknown",
    "unknown2",
    "a:b c",
    "rel/x",
    "@none",
    "@json",
];
const STRINGS: &[&str] = &[
    "",
    "x",
    "http://i/1",
    "http://i/2",
    "http://i/a b",
    "ex:i",
    "ex:name",
    "_:b0",
    "_:b1",
    "_:a b",
    "rel",
    "../up",
    "?q#f",
    "@id",
    "@none",
    "@foo",
    "en",
    "en-GB",
    "a_b",
    "ltr",
    "rtl",
    "Person",
    "Place",
    "xsd:integer",
    "http://www.w3.org/2001/XMLSchema#double",
    "@json",
    "q\\\"\\u00e9\\n",
    "name",
    "id",
    "np:v",
    "http://[bad",
    "mailto:a@b",
    "urn:x:y",
    "#frag",
    "//host/p",
    "z",
    "unknown",
    "type",
    "only",
];
const SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "0.0",
    "1",
    "12.50",
    "1e3",
    "-1.5E-7",
    "1e19",
    "1e20",
    "1e21",
    "123456789012345678901234",
    "123456789012345678",
    "0.1234567890123456789",
    "100",
    "1.0E400",
    "1e-400",
    "5e-324",
    "100000000000000000000.0",
    "-1e20",
    "0.5e1",
];
const MAP_KEYS: &[&str] = &[
    "en",
    "de",
    "en-GB",
    "@none",
    "none",
    "x",
    "http://i/1",
    "_:b0",
    "ex:i",
    "Person",
    "Place",
    "name",
    "",
    "@foo",
    "a_b",
    "rel",
    "z",
];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// An object whose keys differ.
fn object_of(members: Vec<(String, String)>) -> String {
    let mut keys: Vec<String> = Vec::new();
    let mut out = Vec::new();
    for (key, value) in members {
        if !keys.contains(&key) {
            out.push(format!("\"{key}\":{value}"));
            keys.push(key);
        }
    }
    format!("{{{}}}", out.join(","))
}

/// Makes a log, of which most contexts define, and most objects use, the same few names.
struct Maker<'a> {
    random: &'a mut Random,
    names: Vec<usize>,
}

impl Maker<'_> {
    fn one_in(&mut self, times: usize) -> bool {
        self.random.below(times) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        pick(self.random, from)
    }

    fn quoted(&mut self, from: &[&str]) -> String {
        quoted(pick(self.random, from))
    }

    fn string(&mut self) -> String {
        self.quoted(STRINGS)
    }

    fn scalar(&mut self) -> String {
        self.pick(SCALARS).to_owned()
    }

    fn array(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> String) -> String {
        let items: Vec<String> = (0..self.random.below(most + 1))
            .map(|_| item(self))
            .collect();
        format!("[{}]", items.join(","))
    }

    fn object_with(
        &mut self,
        most: usize,
        mut member: impl FnMut(&mut Self) -> (String, String),
    ) -> String {
        let members = (0..self.random.below(most + 1)).map(|_| member(self));
        let members = members.collect();
        object_of(members)
    }

    /// A name with its definitions: mostly one of the log's.
    fn name(&mut self) -> (&'static str, &'static [&'static str]) {
        if self.one_in(6) {
            return DEFINITIONS[self.random.below(DEFINITIONS.len())];
        }
        DEFINITIONS[self.names[self.random.below(self.names.len())]]
    }

    /// A context's object.
    fn definitions(&mut self) -> String {
        let mut members = Vec::new();
        for _ in 0..self.random.below(3) {
            let odd = self.one_in(40);
            let entry = self.pick(if odd { ODD_ENTRIES } else { ENTRIES });
            let (key, value) = entry.split_once("\":").unwrap_or((entry, ""));
            members.push((key.trim_start_matches('"').to_owned(), value.to_owned()));
        }
        // Most names get their IRI from these.
        if self.one_in(2) {
            members.push(("@vocab".to_owned(), "\"http://v/\"".to_owned()));
        }
        if self.one_in(2) {
            members.push(("ex".to_owned(), "\"http://ex/\"".to_owned()));
        }
        for _ in 0..self.random.below(9) {
            let (name, variants) = self.name();
            let odd = self.one_in(80);
            let value = self.pick(if odd { ODD } else { variants });
            members.push((name.to_owned(), value.to_owned()));
        }
        object_of(members)
    }

    /// A value of `@context`.
    fn context(&mut self) -> String {
        match self.random.below(16) {
            0 => "null".to_owned(),
            1 => self.quoted(URLS),
            2 | 3 => self.array(3, |made| match made.random.below(6) {
                0 => "null".to_owned(),
                1 => made.quoted(URLS),
                _ => made.definitions(),
            }),
            4 if self.one_in(8) => self.pick(&["5", "[[]]", "true", "\"rel\""]).to_owned(),
            _ => self.definitions(),
        }
    }

    /// What a map of a container has for its keys.
    fn map(&mut self, depth: usize, item: fn(&mut Self, usize) -> String) -> String {
        self.object_with(3, |made| {
            let key = made.pick(MAP_KEYS).to_owned();
            let value = if made.one_in(3) {
                made.array(2, |made| item(made, depth + 1))
            } else {
                item(made, depth + 1)
            };
            (key, value)
        })
    }

    /// A value object.
    fn value_object(&mut self) -> String {
        let value = if self.one_in(3) {
            self.scalar()
        } else {
            self.string()
        };
        let key = self.pick(&["@value", "@value", "@value", "@value", "value"]);
        let mut members = vec![(key.to_owned(), value)];
        let mut add = |key: &str, value: String| members.push((key.to_owned(), value));
        match self.random.below(12) {
            0 | 1 => add("@type", self.string()),
            2 | 3 => add("@language", self.quoted(&["en", "fr", "de-CH", "a_b"])),
            4 | 5 => {
                add("@language", quoted("ar"));
                add("@direction", self.quoted(&["ltr", "rtl"]));
            }
            6 => add("@index", self.string()),
            7 => add("@direction", self.quoted(&["ltr", "rtl", "up"])),
            8 => {
                let keys = ["lang", "type", "unknown", "name", "@id", "@type", "@foo"];
                add(self.pick(&keys), self.string());
            }
            _ => {}
        }
        object_of(members)
    }

    /// Any value.
    fn value(&mut self, depth: usize) -> String {
        match self.random.below(if depth > 3 { 8 } else { 16 }) {
            0..4 => self.string(),
            4 | 5 => self.scalar(),
            6 | 7 => self.value_object(),
            8 => self.array(3, |made| made.value(depth + 1)),
            9 => format!(
                "{{\"@list\":{}}}",
                self.array(3, |made| made.value(depth + 1))
            ),
            10 => format!("{{\"@set\":{}}}", self.value(depth + 1)),
            _ => self.object(depth + 1),
        }
    }

    fn node(&mut self, depth: usize) -> String {
        if depth > 3 {
            return "{\"@id\":\"http://i/deep\",\"http://k/1\":1}".to_owned();
        }
        self.object(depth)
    }

    fn nodes(&mut self, depth: usize) -> String {
        if self.one_in(3) {
            self.node(depth + 1)
        } else {
            self.array(2, |made| made.node(depth + 1))
        }
    }

    fn types(&mut self) -> String {
        const TYPES: &[&str] = &[
            "Person",
            "Place",
            "Person",
            "Place",
            "http://ex/T",
            "ex:T",
            "rel",
            "_:t",
        ];
        if self.one_in(3) {
            return self.array(3, |made| made.quoted(TYPES));
        }
        self.quoted(TYPES)
    }

    /// A value as a key mostly has it.
    fn value_of(&mut self, key: &str, depth: usize) -> String {
        if self.one_in(8) {
            return self.value(depth);
        }
        match key {
            "@context" => self.context(),
            "@id" | "id" | "@value" | "value" => self.string(),
            "@type" | "type" => self.types(),
            "@index" | "key" | "@language" | "lang" => self.quoted(&["en", "x", "fr"]),
            "@direction" => self.quoted(&["ltr", "rtl"]),
            "@graph" | "more" | "@included" | "inc" | "graph" | "rev" | "@nest" | "nest" => {
                self.nodes(depth)
            }
            "@reverse" | "back" => self.object_with(2, |made| {
                let keys = [
                    "http://k/1",
                    "ex:a",
                    "knows",
                    "rev",
                    "unknown",
                    "name",
                    "idx",
                    "@id",
                    "j",
                ];
                (made.pick(&keys).to_owned(), made.nodes(depth))
            }),
            "scoped" => self.node(depth + 1),
            "label" => self.map(depth, |made, _| match made.random.below(8) {
                0 => "null".to_owned(),
                1 => made.scalar(),
                _ => made.string(),
            }),
            "idx" | "pidx" => self.map(depth, Self::value),
            "ids" | "types" | "gid" | "gidx" | "revidx" => self.map(depth, Self::node),
            _ => self.value(depth),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        self.object_with(5, |made| {
            let key = if made.one_in(2) {
                made.pick(KEYS)
            } else {
                made.name().0
            };
            (key.to_owned(), made.value_of(key, depth))
        })
    }
}

/// A log.
pub fn log(random: &mut Random) -> String {
    let count = 3 + random.below(8);
    let names = (0..count)
        .map(|_| random.below(DEFINITIONS.len()))
        .collect();
    let mut made = Maker { random, names };
    let mut lines = Vec::new();
    if !made.one_in(5) {
        lines.push(format!("{{\"@context\":{}}}", made.context()));
    }
    lines.push(made.object(0));
    lines.join("\n")
}
