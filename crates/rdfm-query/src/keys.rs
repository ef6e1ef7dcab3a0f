//! Message keys, by which a log is divided into files.
//!
//! - In: the definition of the key, and batches of messages.
//! - Out: the key of each message, which is the first value in quad order.
//! - Cost: one filter for each predicate. Each distinct value is read once per batch.
//! - Law: batch boundaries do not affect the result.

use std::str::FromStr;

use oxsdatatypes::{Date, TimezoneOffset};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rdfm_core::model::write::write_term;
use rustc_hash::FxHashMap;

use crate::filter::{MessageFilter, Position, moment, time_type};

/// Time properties, which are used if no predicate is given: sosa:resultTime, prov:generatedAtTime,
/// as:published and dct:created.
const TIMES: [&str; 4] = [
    "http://www.w3.org/ns/sosa/resultTime",
    "http://www.w3.org/ns/prov#generatedAtTime",
    "https://www.w3.org/ns/activitystreams#published",
    "http://purl.org/dc/terms/created",
];
/// Property whose values are further time properties.
const TIMESTAMP_PATH: &str = "https://w3id.org/ldes#timestampPath";
/// Maximum number of time properties, so that a log cannot declare an unlimited number.
const MAX_TIMES: usize = 64;

/// The part of a message that determines its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A graph name.
    Graph,
    /// An object.
    Value,
    /// The day of a time, in UTC.
    Day,
    /// The month of a time, in UTC.
    Month,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Bytes that identify the key in the log. Empty for messages without a key.
    pub id: Vec<u8>,
    /// Readable text of the key. Different keys may have the same text.
    pub text: String,
}

/// The keys of a batch.
#[derive(Debug, Default)]
pub struct Keys {
    /// The distinct keys, in message order.
    pub distinct: Vec<Key>,
    /// For each message, the index of its key in `distinct`.
    pub key_numbers: Vec<u32>,
    /// Number of messages with several distinct keys.
    pub ambiguous: u64,
}

/// Finds the keys of messages.
pub struct KeyFinder {
    kind: KeyKind,
    /// One filter per predicate, which finds its quads.
    predicates: Vec<MessageFilter>,
    /// IRIs of the predicates, if logs can declare further ones.
    times: Vec<Vec<u8>>,
    /// Filter for quads that declare further predicates.
    declarations: Option<MessageFilter>,
}

impl KeyFinder {
    /// Returns a finder of graph names, which does not need a predicate.
    #[must_use]
    pub fn graph() -> Self {
        Self {
            kind: KeyKind::Graph,
            predicates: Vec::new(),
            times: Vec::new(),
            declarations: None,
        }
    }

    /// Returns a finder of times. The properties are the default ones, and those that logs declare
    /// with `ldes:timestampPath`.
    ///
    /// # Errors
    /// None in practice, because all default properties are valid.
    pub fn times(kind: KeyKind) -> Result<Self, Reason> {
        let mut finder = Self {
            kind,
            predicates: Vec::new(),
            times: Vec::new(),
            declarations: Some(with_predicate(
                MessageFilter::default(),
                &iri(TIMESTAMP_PATH),
            )?),
        };
        for property in TIMES {
            finder.add_property(property.as_bytes())?;
        }
        Ok(finder)
    }

    /// Returns a finder of a predicate's objects. The predicate has the same syntax as in a filter,
    /// but an IRI such as `http://…` may be written without angle brackets. `prefixes` are the same
    /// as in [`MessageFilter::new`].
    ///
    /// # Errors
    /// If the text is not an IRI.
    pub fn predicate(
        kind: KeyKind,
        predicate: &str,
        prefixes: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<Self, Reason> {
        let text = if predicate.contains("://") && !predicate.starts_with(['<', '"']) {
            iri(predicate)
        } else {
            predicate.to_owned()
        };
        let is_iri = text == "a" || text.contains(':') && !text.starts_with(['"', '_']);
        if !is_iri {
            return Err(format!(
                "'{predicate}' is not an IRI; write <http://example.org/p> or ex:p"
            )
            .into());
        }
        Ok(Self {
            kind,
            predicates: vec![with_predicate(MessageFilter::new(prefixes), &text)?],
            times: Vec::new(),
            declarations: None,
        })
    }

    /// Returns the prefixes whose namespaces are taken from the logs.
    pub fn prefixes(&self) -> impl Iterator<Item = &[u8]> {
        self.predicates.iter().flat_map(MessageFilter::prefixes)
    }

    /// Returns the prefixes that no log has declared so far.
    pub fn undeclared(&self) -> impl Iterator<Item = &[u8]> {
        self.predicates.iter().flat_map(MessageFilter::undeclared)
    }

    /// Returns the keys of a batch's messages.
    pub fn keys(&mut self, batch: &MessageBatch) -> Keys {
        let mut reading = KeyReading::new(self.kind, batch);
        if self.kind == KeyKind::Graph {
            for message in 0..batch.len() {
                let graphs = batch.message(message).iter().map(|quad| quad.graph);
                reading.message(graphs);
            }
            return reading.keys;
        }
        let declared = self.declared(batch);
        let mut quads: Vec<usize> = Vec::new();
        for filter in &mut self.predicates {
            quads.extend(filter.matching_quads(batch));
        }
        if self.predicates.len() > 1 {
            quads.sort_unstable();
        }
        // A property applies to the message that declares it, and to later messages.
        for (message, property) in declared {
            let start = batch.range(message).start;
            if let Some(filter) = self.declare(&property) {
                let found = filter.matching_quads(batch);
                quads.extend(found.into_iter().filter(|at| *at >= start));
                quads.sort_unstable();
            }
        }
        let mut rest = &quads[..];
        for message in 0..batch.len() {
            let end = batch.range(message).end;
            let (here, others) = rest.split_at(rest.partition_point(|at| *at < end));
            rest = others;
            reading.message(here.iter().map(|at| batch.quads()[*at].object));
        }
        reading.keys
    }

    /// Returns the properties that messages of a batch declare.
    fn declared(&mut self, batch: &MessageBatch) -> Vec<(usize, Vec<u8>)> {
        let table = batch.table();
        let quads = self.declarations.as_mut().map(|filter| {
            let found = filter.matching_quads(batch).into_iter();
            found.filter(|at| table.term(batch.quads()[*at].object).kind == TermKind::Iri)
        });
        let mut message = 0;
        let declare = |at: usize| {
            while batch.range(message).end <= at {
                message += 1;
            }
            (message, table.text(batch.quads()[at].object).to_vec())
        };
        quads.into_iter().flatten().map(declare).collect()
    }

    /// Adds a property that a log declares. Returns its filter if it is new.
    fn declare(&mut self, property: &[u8]) -> Option<&mut MessageFilter> {
        let is_new = !self.times.iter().any(|time| time == property);
        if !is_new || self.times.len() >= MAX_TIMES {
            return None;
        }
        self.add_property(property).ok()?;
        self.predicates.last_mut()
    }

    fn add_property(&mut self, property: &[u8]) -> Result<(), Reason> {
        let text = iri(&String::from_utf8_lossy(property));
        self.predicates
            .push(with_predicate(MessageFilter::default(), &text)?);
        self.times.push(property.to_vec());
        Ok(())
    }
}

fn iri(text: &str) -> String {
    format!("<{text}>")
}

fn with_predicate(mut filter: MessageFilter, text: &str) -> Result<MessageFilter, Reason> {
    filter.term(Position::Predicate, text)?;
    Ok(filter)
}

/// Cached key of a value in the batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CachedKey {
    Unread,
    /// The value is not a key.
    NotAKey,
    Key(u32),
}

/// Collects the keys of a batch.
struct KeyReading<'a> {
    kind: KeyKind,
    table: &'a TermTable,
    cache: Vec<CachedKey>,
    default_graph: CachedKey,
    numbers: FxHashMap<Vec<u8>, u32>,
    keys: Keys,
}

impl<'a> KeyReading<'a> {
    fn new(kind: KeyKind, batch: &'a MessageBatch) -> Self {
        let table = batch.table();
        Self {
            kind,
            table,
            cache: vec![CachedKey::Unread; table.terms().len()],
            default_graph: CachedKey::Unread,
            numbers: FxHashMap::default(),
            keys: Keys::default(),
        }
    }

    /// Adds a message with these values. Some of them may not be keys.
    fn message(&mut self, values: impl Iterator<Item = TermId>) {
        let mut first = None;
        let mut last = None;
        let mut several = false;
        for value in values {
            if last == Some(value) {
                continue;
            }
            last = Some(value);
            if let CachedKey::Key(number) = self.key(value) {
                several |= *first.get_or_insert(number) != number;
            }
        }
        let number = first.unwrap_or_else(|| {
            self.number(Key {
                id: Vec::new(),
                text: "other".to_owned(),
            })
        });
        self.keys.key_numbers.push(number);
        self.keys.ambiguous += u64::from(several);
    }

    fn key(&mut self, value: TermId) -> CachedKey {
        let is_default = value == TermId::DEFAULT_GRAPH;
        let cached = if is_default {
            self.default_graph
        } else {
            self.cache[value.index()]
        };
        if cached != CachedKey::Unread {
            return cached;
        }
        let cached = match self.read(value) {
            None => CachedKey::NotAKey,
            Some(key) => CachedKey::Key(self.number(key)),
        };
        if is_default {
            self.default_graph = cached;
        } else {
            self.cache[value.index()] = cached;
        }
        cached
    }

    fn number(&mut self, key: Key) -> u32 {
        if let Some(number) = self.numbers.get(&key.id) {
            return *number;
        }
        let number = self.keys.distinct.len() as u32;
        self.numbers.insert(key.id.clone(), number);
        self.keys.distinct.push(key);
        number
    }

    fn read(&self, value: TermId) -> Option<Key> {
        if matches!(self.kind, KeyKind::Day | KeyKind::Month) {
            let text = self.date(value)?;
            let id = text.clone().into_bytes();
            return Some(Key { id, text });
        }
        if value == TermId::DEFAULT_GRAPH {
            let text = "default".to_owned();
            let id = text.clone().into_bytes();
            return Some(Key { id, text });
        }
        if self.has_bnode(value) {
            return None; // a blank node's label is meaningless in other messages
        }
        let mut id = Vec::new();
        write_term(self.table, value, &mut id);
        let text = match self.table.term(value).kind {
            TermKind::TripleTerm => &id,
            _ => self.table.text(value),
        };
        let text = String::from_utf8_lossy(text).into_owned();
        Some(Key { id, text })
    }

    fn has_bnode(&self, value: TermId) -> bool {
        let term = self.table.term(value);
        match term.kind {
            TermKind::Bnode => true,
            TermKind::TripleTerm => {
                let parts = self.table.triple(term);
                parts.into_iter().any(|part| self.has_bnode(part))
            }
            _ => false,
        }
    }

    /// Returns the day or month of a literal. A time is converted to UTC; a date is used as
    /// written.
    fn date(&self, value: TermId) -> Option<String> {
        let kind = time_type(self.table, value)?;
        let text = std::str::from_utf8(self.table.text(value)).ok()?;
        let (year, month, day) = if kind == b"date" {
            let date = Date::from_str(text.trim_matches([' ', '\t', '\r', '\n'])).ok()?;
            (date.year(), date.month(), date.day())
        } else {
            let moment = moment(text)?.exact()?.adjust(Some(TimezoneOffset::UTC))?;
            (moment.year(), moment.month(), moment.day())
        };
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        Some(if self.kind == KeyKind::Day {
            format!("{sign}{year:04}-{month:02}-{day:02}")
        } else {
            format!("{sign}{year:04}-{month:02}")
        })
    }
}

impl Keys {
    /// Finds the longest run of messages from `start` whose keys are live or can become live.
    /// Returns the number of the message after the run, and the keys of the run in order of last
    /// use.
    ///
    /// A key is live while its file is open. `live` contains for each key whether it is live, and
    /// `room` is the number of keys that can still become live.
    #[must_use]
    pub fn live_run(&self, start: usize, live: &[bool], mut room: usize) -> (usize, Vec<u32>) {
        let mut last_use: Vec<Option<usize>> = vec![None; self.distinct.len()];
        let mut stop = start;
        for number in self.key_numbers.get(start..).unwrap_or_default() {
            let key = *number as usize;
            if last_use[key].is_none() && !live.get(key).copied().unwrap_or_default() {
                if room == 0 {
                    break;
                }
                room -= 1;
            }
            last_use[key] = Some(stop);
            stop += 1;
        }
        let used = last_use.into_iter().zip(0..);
        let mut used: Vec<(usize, u32)> =
            used.filter_map(|(last, key)| Some((last?, key))).collect();
        used.sort_unstable();
        (stop, used.into_iter().map(|(_, key)| key).collect())
    }

    /// Returns the end of the run of messages with the same key that begins at `start`, but at most
    /// `stop`.
    #[must_use]
    pub fn run(&self, start: usize, stop: usize) -> usize {
        let key = self.key_numbers[start];
        let same = self.key_numbers[start..stop]
            .iter()
            .take_while(|one| **one == key);
        start + same.count()
    }
}
