//! NDJSON-LD lines with the form of an earlier line are read on a fast path, with the same result.
//!
//! A line with a control character is never read on the fast path. Therefore every log is read
//! twice: with a space before each line, and with a tab. Batches, errors and positions must be
//! equal.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use crate::support::{Options, decoder};
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::Quad;

const LOGS: u64 = 4_000;

/// Documents, with `$` in place of strings and `#` in place of numbers.
const DOCUMENTS: &[&str] = &[
    r#"{"@id":"$","@type":"$","p:a":{"@id":"$"},"p:b":{"@value":"$","@type":"p:t"},"p:c":{"p:d":{"@value":"$","@type":"xsd:double"},"p:e":{"@id":"$"}}}"#,
    r#"{"@id":"$","@type":["$","$"],"http://a/b":[{"@id":"$"},{"@value":#,"@type":"http://a/$"}],"http://a/c":[{"p:d":[{"@value":"$","@type":"$"}]},{"@id":"$"}]}"#,
    r#"{"id":"$","type":"T","name":"$","at":"$","size":#,"link":"$","word":"$","set":["$",#,true,null,{"@id":"$"}],"list":["$",["$"]]}"#,
    r#"{"name":"$","json":{"b":"$","a":#},"map":{"x":"$"},"languages":{"en":"$"},"back":{"@id":"$"},"tree":{"name":"$","tree":{"id":"$","tree":{}}}}"#,
    r#"{"@graph":[{"@id":"$","p:a":#}],"p:b":{"@value":"$","@language":"en"},"@index":"$"}"#,
    r#"{"@id":"$","@reverse":{"p:a":{"@id":"$"}},"@included":[{"@id":"$","p:b":"$"}]}"#,
    r#"{"@id":"$","unknown":"$","nothing":"$","p:a":{"@value":"$","@direction":"ltr","@language":"ar"},"p:b":[],"p:c":null,"p:d":{}}"#,
    r#"{"@type":"Scoped","name":"$","inner":{"name":"$"},"p:a":[{"@type":"$"},{"@type":"$","@id":"$"}],"@id":"$"}"#,
    r#"{"@id":"$","@context":{"name":"http://other/"},"name":"$","p:a":{"name":"$"}}"#,
    r#"{"@id":"$","p:a":{"@value":"$","@type":"rdf:langString"},"p:b":{"@type":"p:t","@value":"$"}}"#,
    r#"{"@id":"$","p:a":{"@id":"$","@index":"$"},"bad":"$","relative":{"@id":"$"}}"#,
    r#"{"@id":"$","p:a":"$","p:a":"$"}"#,
    r#"[{"@id":"$"}]"#,
    "{}",
    "#",
    r#"{"@id":"$","p:a":#"#,
];

const CONTEXTS: &[&str] = &[
    r#"{"p":"http://p/","xsd":"http://www.w3.org/2001/XMLSchema#","rdf":"http://www.w3.org/1999/02/22-rdf-syntax-ns#"}"#,
    r#"{"@vocab":"http://v/","@language":"en","p":"http://q/","id":"@id","type":"@type","name":{"@id":"p:name","@language":"de"},"at":{"@type":"xsd:dateTime"},"size":{"@type":"http://www.w3.org/2001/XMLSchema#double"},"link":{"@type":"@id"},"word":{"@type":"@vocab"},"set":{"@container":"@set"},"list":{"@container":"@list"},"json":{"@type":"@json"},"map":{"@container":"@index"},"languages":{"@container":"@language"},"back":{"@reverse":"p:back"},"nothing":null,"tree":{"@type":"@id"},"bad":"_:bad"}"#,
    r#"{"@base":"http://base/","p":"http://p/","id":"@id","name":"http://name","set":{"@id":"p:set","@container":["@set"],"@type":"@id"},"size":"p:size"}"#,
    r#"{"p":"http://p/","name":"http://name","inner":"p:inner","Scoped":{"@id":"p:Scoped","@context":{"name":"http://scoped"}}}"#,
    "null",
    "5",
];

const STRINGS: &[&str] = &[
    "",
    "x",
    "p:x",
    "p:y",
    "xsd:double",
    "p",
    "name",
    "T",
    "http://a/b",
    "http://a/b/c?d#e",
    "http://a/é",
    "_:b",
    "_:_g0",
    "_:_gx5f",
    "_:",
    "_:a b",
    "a b",
    "http://a b",
    "@id",
    "@other",
    "../x",
    "#f",
    ":",
    "p:a b",
    "é and a longer text of more than thirty-two bytes",
    "rdf:langString",
    r"a\u0041",
    r#"\""#,
    r"\n",
    "2026-01-01T00:00:00Z",
    "15.88",
    "1E5",
    "p://x",
    "urn:a:b",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-2.5",
    "1e400",
    "12345678901234567890",
    "01",
    "1.",
    "true",
    "\"x\"",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn choose<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Replaces the placeholders of a document with random values.
    fn line(&mut self, document: &str, usual: bool) -> String {
        let mut line = String::new();
        for c in document.chars() {
            match c {
                '$' if usual => line.push_str(self.choose(&STRINGS[8..12])),
                '$' => line.push_str(self.choose(STRINGS)),
                '#' if usual => line.push_str(self.choose(&NUMBERS[..3])),
                '#' => line.push_str(self.choose(NUMBERS)),
                c => line.push(c),
            }
        }
        line
    }

    fn log(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let documents: Vec<&str> = (0..=self.below(3))
            .map(|_| self.choose(DOCUMENTS))
            .collect();
        for _ in 0..self.below(24) {
            if self.below(8) == 0 {
                let context = self.below(CONTEXTS.len());
                lines.push(format!(r#"{{"@context":{}}}"#, CONTEXTS[context]));
            }
            let document = self.choose(&documents);
            let usual = self.below(3) > 0;
            let mut line = self.line(document, usual);
            if self.below(16) == 0 && line.is_ascii() {
                line.remove(self.below(line.len()));
            }
            lines.push(line);
        }
        lines
    }
}

/// Describes the terms, quads, positions and namespaces of a batch.
fn describe(batch: &MessageBatch) -> String {
    let messages: Vec<_> = (0..batch.len())
        .map(|message| {
            let (index, position) = (batch.message_index(message), batch.byte_offset(message));
            (
                index,
                position,
                batch.range(message),
                batch.namespace_changes_of(message),
            )
        })
        .collect();
    let at_end: Vec<_> = batch.namespaces_at_end().iter().collect();
    let table = batch.table();
    let arena = String::from_utf8_lossy(table.arena());
    let (terms, quads) = (table.terms(), batch.quads());
    format!("{arena}\n{terms:?}\n{quads:?}\n{messages:?}\n{at_end:?}")
}

/// Returns everything that a decoder returns: batches with their tables, errors and skipped bytes.
fn read(options: &Options, log: &[u8], piece: usize) -> Vec<String> {
    let mut decoder = match decoder("ndjsonld", options) {
        Ok(decoder) => decoder,
        Err(error) => return vec![format!("{error:?}")],
    };
    let mut seen = Vec::new();
    let mut pieces = log.chunks(piece);
    let mut finished = false;
    loop {
        match decoder.next_batch_of::<Quad>() {
            Ok(Some(batch)) => {
                seen.push(describe(&batch));
                continue;
            }
            Ok(None) if finished => break,
            Ok(None) => {}
            Err(error) => {
                seen.push(format!("{error:?}"));
                if let Some(skipped) = decoder.skip_message().unwrap() {
                    seen.push(String::from_utf8_lossy(&skipped).replace('\t', " "));
                    continue;
                }
            }
        }
        if let Some(piece) = pieces.next() {
            decoder.feed(piece);
        } else {
            assert!(!finished, "a skip ends at the end of the log");
            finished = true;
            decoder.finish();
        }
    }
    seen.push(format!("{:?}", decoder.observations()));
    seen
}

#[test]
fn lines_with_a_known_form_are_read_like_other_lines() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut read_quads = 0;
    for log in 0..LOGS {
        let mut options = Options::default();
        for option in ["lenient", "exact_doubles"] {
            if random.below(3) == 0 {
                options = options.and(option, true);
            }
        }
        if random.below(3) == 0 {
            options = options.and("base", "http://b/c");
        }
        if random.below(4) == 0 {
            let directions = ["none", "i18n-datatype", "compound-literal"];
            options = options.and("rdf_direction", random.choose(&directions));
        }
        if random.below(4) == 0 {
            options = options.and("max_message_bytes", 200 + random.below(3000) as u64);
        }
        if random.below(8) == 0 {
            options = options.and("expand_context", CONTEXTS[random.below(4)]);
        }
        let lines = random.log();
        let text = |first: char| {
            let lines: Vec<String> = lines
                .iter()
                .map(|line| format!("{first}{line}\n"))
                .collect();
            lines.concat()
        };
        let piece = 1 + random.below(2000);
        let known = read(&options, text(' ').as_bytes(), piece);
        let others = read(&options, text('\t').as_bytes(), piece);
        assert_eq!(
            known,
            others,
            "log {log}: {options:?}\n{}",
            lines.join("\n")
        );
        read_quads += known.iter().filter(|seen| seen.contains("Quad {")).count();
    }
    assert!(read_quads > LOGS as usize / 2);
}
