//! Message keys, by which a log is split into files.
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

use crate::filter::{MessageFilter, Position, TimeProperties, parse_moment, time_type};

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
    values: ValueQuads,
}

/// The quads whose objects are values of keys.
enum ValueQuads {
    /// None: the keys are graph names.
    None,
    /// The quads with a predicate.
    Predicate(Box<MessageFilter>),
    /// The quads with a time property.
    Times(Box<TimeProperties>),
}

impl KeyFinder {
    /// Returns a finder of graph names, which does not need a predicate.
    #[must_use]
    pub fn graph() -> Self {
        Self {
            kind: KeyKind::Graph,
            values: ValueQuads::None,
        }
    }

    /// Returns a finder of times. The properties are the default ones, and those that logs declare
    /// with `ldes:timestampPath`.
    ///
    /// # Errors
    /// None in practice, because all default properties are valid.
    pub fn times(kind: KeyKind) -> Result<Self, Reason> {
        Ok(Self {
            kind,
            values: ValueQuads::Times(Box::new(TimeProperties::new()?)),
        })
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
        let mut filter = MessageFilter::new(prefixes);
        filter.add_term(Position::Predicate, &text)?;
        Ok(Self {
            kind,
            values: ValueQuads::Predicate(Box::new(filter)),
        })
    }

    /// Returns the prefixes whose namespaces are taken from the logs.
    pub fn prefixes(&self) -> impl Iterator<Item = &[u8]> {
        self.filter().into_iter().flat_map(MessageFilter::prefixes)
    }

    /// Returns the prefixes that no log has declared so far.
    pub fn undeclared(&self) -> impl Iterator<Item = &[u8]> {
        self.filter()
            .into_iter()
            .flat_map(MessageFilter::undeclared)
    }

    /// Returns the keys of a batch's messages.
    pub fn keys(&mut self, batch: &MessageBatch) -> Keys {
        let mut reading = KeyReading::new(self.kind, batch);
        let quads = match &mut self.values {
            ValueQuads::None => {
                for message in 0..batch.len() {
                    let graphs = batch.message(message).iter().map(|quad| quad.graph);
                    reading.add_message(graphs);
                }
                return reading.keys;
            }
            ValueQuads::Predicate(filter) => filter.matching_quads(batch),
            ValueQuads::Times(properties) => properties.find_quads(batch),
        };
        let mut rest = &quads[..];
        for message in 0..batch.len() {
            let end = batch.range(message).end;
            let (here, others) = rest.split_at(rest.partition_point(|index| *index < end));
            rest = others;
            reading.add_message(here.iter().map(|index| batch.quads()[*index].object));
        }
        reading.keys
    }

    /// Returns the filter for the predicate, if one was given.
    fn filter(&self) -> Option<&MessageFilter> {
        match &self.values {
            ValueQuads::Predicate(filter) => Some(filter),
            ValueQuads::None | ValueQuads::Times(_) => None,
        }
    }
}

fn iri(text: &str) -> String {
    format!("<{text}>")
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
    fn add_message(&mut self, values: impl Iterator<Item = TermId>) {
        let mut first = None;
        let mut last = None;
        let mut several = false;
        for value in values {
            if last == Some(value) {
                continue;
            }
            last = Some(value);
            if let CachedKey::Key(number) = self.cached_key(value) {
                several |= *first.get_or_insert(number) != number;
            }
        }
        let number = first.unwrap_or_else(|| {
            self.assign_number(Key {
                id: Vec::new(),
                text: "other".to_owned(),
            })
        });
        self.keys.key_numbers.push(number);
        self.keys.ambiguous += u64::from(several);
    }

    fn cached_key(&mut self, value: TermId) -> CachedKey {
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
            Some(key) => CachedKey::Key(self.assign_number(key)),
        };
        if is_default {
            self.default_graph = cached;
        } else {
            self.cache[value.index()] = cached;
        }
        cached
    }

    fn assign_number(&mut self, key: Key) -> u32 {
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
        if self.has_blank_node(value) {
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

    fn has_blank_node(&self, value: TermId) -> bool {
        let term = self.table.term(value);
        match term.kind {
            TermKind::BlankNode => true,
            TermKind::TripleTerm => {
                let parts = self.table.triple(term);
                parts.into_iter().any(|part| self.has_blank_node(part))
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
            let moment = parse_moment(text)?
                .exact()?
                .adjust(Some(TimezoneOffset::UTC))?;
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
            .take_while(|next_key| **next_key == key);
        start + same.count()
    }
}
