//! JSON-LD is read as an independent reader has it.
//!
//! - In: an NDJSON-LD log.
//! - Law: each message is the dataset that [`oracle`] makes of the same document, or both refuse it. Where they
//!   differ, a difference that is known must apply ([`standing`]): the specification says that the oracle is wrong,
//!   or says nothing.
//! - Not compared: what is no JSON, says a key twice, or meets a limit of ours.

pub mod facts;
pub mod generate;
pub mod json;
pub mod oracle;
pub mod standing;

use std::sync::Arc;

use rdfm_core::codec::contexts::{ContextLoader, RemoteContext};
use rdfm_core::codec::options::LENIENT;
use rdfm_core::model::error::{DecodeError, ErrorClass};

use self::facts::Facts;
use self::json::Json;
use self::oracle::{Oracle, Verdict};
use crate::decode::outcome;
use crate::message::{Message, Term};
use crate::options::Reading;
use crate::structure::{dataset, dataset_of};

/// How often the oracle is asked again, since the order in which it goes through terms is chance.
const TRIES: usize = 12;

/// How a line of a log compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compared {
    /// Both give the same dataset.
    Read,
    /// Both refuse it.
    Refused,
    /// They differ as it is known; the name of the difference.
    Differs(&'static str),
    /// The oracle panicked, or gave what cannot be judged.
    Unjudged,
}

/// The remote contexts that logs may name.
pub const REMOTES: &[(&str, &str)] = &[
    (
        "http://r/terms",
        r#"{"@context": {"ex": "http://ex/", "name": "ex:name", "knows": {"@id": "ex:knows", "@type": "@id"}}}"#,
    ),
    (
        "http://r/more",
        r#"{"@context": ["terms", {"tags": {"@id": "ex:tags", "@container": "@set"}, "@base": "http://ignored/"}]}"#,
    ),
    (
        "http://r/scoped",
        r#"{"@context": {"@vocab": "http://v/", "Person": {"@context": "terms"}, "p": {"@context": {"name": "http://s/n"}}}}"#,
    ),
    (
        "http://r/protected",
        r#"{"@context": {"@protected": true, "name": "http://pr/name", "id": "@id"}}"#,
    ),
    ("http://r/none", r#"{"a": 1}"#),
    ("http://r/array", r#"[{"@context": {}}]"#),
];

/// Gives [`REMOTES`].
#[derive(Debug)]
struct Remotes;

impl ContextLoader for Remotes {
    fn load(&self, url: &str) -> Result<Option<RemoteContext>, String> {
        let found = REMOTES.iter().find(|(known, _)| *known == url);
        Ok(found.map(|(url, document)| RemoteContext {
            document: document.as_bytes().to_vec(),
            url: (*url).to_owned(),
        }))
    }
}

/// Compares each line of an NDJSON-LD log, which may name [`REMOTES`].
pub fn compare(reading: &Reading, data: &[u8]) -> Vec<Compared> {
    let mut reading = reading.clone();
    reading.opening.contexts = Some(Arc::new(Remotes));
    let ours = outcome(&reading, data, data.len());
    let asks_for_lenient = ours.error.as_ref().is_some_and(|error| {
        let remedies = error.reason.remedies();
        remedies.iter().any(|remedy| remedy.option == "lenient")
    });
    if !reading.values().switch(&LENIENT) && asks_for_lenient {
        // What is left out then is no part of a quad, or the oracle refuses it too.
        let lenient = reading.with("lenient", true);
        let more = outcome(&lenient, data, data.len());
        assert!(
            ours.messages.len() <= more.messages.len()
                && ours
                    .messages
                    .iter()
                    .zip(&more.messages)
                    .all(|(a, b)| dataset(a) == dataset(b)),
            "lenient changes messages that are right"
        );
        return compare(&lenient, data);
    }
    let error_line = ours.error.as_ref().map(|error| {
        let end = usize::try_from(error.position.offset).unwrap_or(data.len());
        data[..end.min(data.len())]
            .split(|&byte| byte == b'\n')
            .count()
            - 1
    });
    let oracle = Oracle::new(&reading.values(), REMOTES);
    let mut compared = Vec::new();
    let mut messages = ours.messages.iter();
    let mut context = None;
    for (number, line) in data.split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        // The parser passes over a byte order mark, which no JSON text has (RFC 8259, 8.1).
        let found = Json::parse(line).filter(|_| !line.starts_with("\u{feff}".as_bytes()));
        let Some(found) = found else {
            break;
        };
        let Json::Object(members) = &found else {
            break;
        };
        let failed = error_line == Some(number);
        if failed
            && ours
                .error
                .as_ref()
                .is_some_and(|error| error.class == ErrorClass::Limit)
        {
            break;
        }
        let is_context = matches!(members.as_slice(), [(key, _)] if key == "@context");
        let document = match (&context, is_context) {
            (_, true) => {
                let empty = ("@graph".to_owned(), Json::Array(Vec::new()));
                Json::Object(vec![members[0].clone(), empty])
            }
            (Some(context), false) if !members.is_empty() => Json::Object(vec![
                ("@context".to_owned(), Json::clone(context)),
                ("@graph".to_owned(), found.clone()),
            ]),
            _ => found.clone(),
        };
        let ours = match &ours.error {
            Some(error) if failed => Ours::Refused(error),
            _ if is_context => Ours::Context,
            _ => Ours::Read(messages.next().expect("a message a line")),
        };
        compared.push(ours.compare(&oracle, &document));
        if failed {
            break;
        }
        if is_context {
            context = Some(members[0].1.clone()).filter(|context| *context != Json::Null);
        }
    }
    compared
}

/// What our reader makes of a line.
enum Ours<'a> {
    Context,
    Read(&'a Message),
    Refused(&'a DecodeError),
}

impl Ours<'_> {
    fn is(&self, verdict: &Verdict) -> bool {
        match (self, verdict) {
            (Self::Refused(_), Verdict::Refused(_)) | (Self::Context, Verdict::Read(_)) => true,
            (Self::Read(message), Verdict::Read(quads)) => dataset(message) == dataset_of(quads),
            _ => false,
        }
    }

    fn compare(&self, oracle: &Oracle, document: &Json) -> Compared {
        let repaired = oracle.repaired(document);
        let text = repaired.to_string();
        let verdict = oracle.verdict(&text);
        let refused = matches!(self, Self::Refused(_));
        if self.is(&verdict)
            || (refused && oracle.refuses_strictly(&text))
            || (0..TRIES).any(|_| self.is(&oracle.verdict(&text)))
        {
            return if refused {
                Compared::Refused
            } else {
                Compared::Read
            };
        }
        let facts = Facts::new(&repaired, oracle);
        if let Some(found) = standing::difference(&facts) {
            return Compared::Differs(found.name);
        }
        // Where the oracle leaves a context too early, what it was asked about keys is wrong as well.
        let facts = Facts::new(document, oracle);
        if facts.has_unpropagated()
            && let Some(found) = standing::difference(&facts)
        {
            return Compared::Differs(found.name);
        }
        if matches!(verdict, Verdict::Panicked | Verdict::Unclear) {
            return Compared::Unjudged;
        }
        let ours = match self {
            Self::Context => "a context".to_owned(),
            Self::Read(message) => shown(&message.records),
            Self::Refused(error) => error.to_string(),
        };
        let theirs = match &verdict {
            Verdict::Read(quads) => shown(quads),
            other => format!("{other:?}"),
        };
        panic!(
            "{document}\nis not read as the oracle has it, which was given\n{text}\nours:\n{ours}\noracle:\n{theirs}"
        );
    }
}

/// Quads to look at, a line each.
fn shown(quads: &[impl AsRef<[Term]>]) -> String {
    let mut lines: Vec<String> = quads
        .iter()
        .map(|quad| format!("  {:?}", quad.as_ref()))
        .collect();
    lines.sort();
    lines.join("\n")
}
