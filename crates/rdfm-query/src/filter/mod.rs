//! Selects messages or quads by pattern.
//!
//! - In: conditions, and message batches.
//! - Out: whether each message matches, or whether each quad matches.
//! - Cost: each distinct term is tested once per batch, and again if a namespace that a pattern
//!   uses changes. Each quad takes only a few integer comparisons.
//! - Law: batch boundaries do not affect the result.

mod term;
mod times;

use std::ops::Range;

use memchr::memmem::Finder;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};
use regex::bytes::RegexBuilder;

pub(crate) use term::time_type;
use term::{FilterTerm, Test, is_within};
pub use term::{Period, parse_moment};
pub(crate) use times::TimeProperties;

/// Maximum memory use of a compiled regular expression, in bytes.
const REGEX_BYTES: usize = 10 << 20;

/// Number of quads that are checked together.
const RUN: usize = 16;

/// Position of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Subject.
    Subject,
    /// Predicate.
    Predicate,
    /// Object.
    Object,
    /// Graph.
    Graph,
    /// Any of these positions, including inside a triple term.
    Any,
}

/// A prefixed name in a condition.
struct Name {
    prefix: Vec<u8>,
    local: Vec<u8>,
    /// Whether any log has declared the prefix.
    matches: bool,
}

struct Condition {
    position: Position,
    test: Test,
    /// The test result of each term of the batch.
    tested: Vec<TermMatch>,
    /// The matching terms, if all terms have been tested.
    matches: Vec<TermId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TermMatch {
    Untested,
    Yes,
    No,
}

impl Condition {
    fn matches(&mut self, table: &TermTable, quad: Quad, names: &[Option<Vec<u8>>]) -> bool {
        match self.position {
            Position::Subject => self.term_matches(table, quad.subject, names),
            Position::Predicate => self.term_matches(table, quad.predicate, names),
            Position::Object => self.term_matches(table, quad.object, names),
            Position::Graph => self.term_matches(table, quad.graph, names),
            Position::Any => [quad.subject, quad.predicate, quad.object, quad.graph]
                .into_iter()
                .any(|id| self.term_matches(table, id, names)),
        }
    }

    #[inline]
    fn term_matches(&mut self, table: &TermTable, id: TermId, names: &[Option<Vec<u8>>]) -> bool {
        let tested = &mut self.tested[id.index()];
        if *tested == TermMatch::Untested {
            *tested = if self.test.matches(table, id, names) {
                TermMatch::Yes
            } else {
                TermMatch::No
            };
        }
        *tested == TermMatch::Yes
    }

    /// Begins a batch. Tests all terms of the batch if the test is cheap.
    fn begin(&mut self, table: &TermTable, names: &[Option<Vec<u8>>]) {
        let terms = table.terms().len();
        self.matches.clear();
        self.tested.clear();
        if !self.test.is_cheap() {
            self.tested.resize(terms, TermMatch::Untested);
            return;
        }
        let deep = self.position == Position::Any;
        self.test.find(table, names, deep, &mut self.matches);
        self.tested.resize(terms, TermMatch::No);
        for id in &self.matches {
            self.tested[id.index()] = TermMatch::Yes;
        }
    }

    /// Whether it is known that no term of the batch matches.
    fn is_unmatchable(&self) -> bool {
        self.matches.is_empty() && self.test.is_cheap()
    }

    /// Passes the indexes of the matching quads in a range to `take`.
    fn for_each_match(
        &mut self,
        batch: &MessageBatch,
        range: Range<usize>,
        names: &[Option<Vec<u8>>],
        mut take: impl FnMut(usize),
    ) {
        let (quads, table, start) = (&batch.quads()[range.clone()], batch.table(), range.start);
        if self.is_unmatchable() {
            return;
        }
        let [wanted] = self.matches[..] else {
            for (index, quad) in quads.iter().enumerate() {
                if self.matches(table, *quad, names) {
                    take(start + index);
                }
            }
            return;
        };
        match self.position {
            Position::Subject => scan(quads, start, |quad| quad.subject == wanted, take),
            Position::Predicate => scan(quads, start, |quad| quad.predicate == wanted, take),
            Position::Object => scan(quads, start, |quad| quad.object == wanted, take),
            Position::Graph => scan(quads, start, |quad| quad.graph == wanted, take),
            Position::Any => {
                let any = |quad: &Quad| {
                    [quad.subject, quad.predicate, quad.object, quad.graph].contains(&wanted)
                };
                scan(quads, start, any, take);
            }
        }
    }
}

/// Excludes the messages of a range that have none of the quads `matches`, which are in order.
fn require(batch: &MessageBatch, messages: Range<usize>, indices: &[usize], matches: &mut [bool]) {
    let mut remaining = indices.iter().copied().peekable();
    for message in messages {
        let end = batch.range(message).end;
        let mut has_match = false;
        while remaining.next_if(|index| *index < end).is_some() {
            has_match = true;
        }
        matches[message] &= has_match;
    }
}

/// Calls `take` with the indexes of matching quads, counted from `start`. Quads are checked in
/// runs, because most runs have no match.
fn scan(
    quads: &[Quad],
    start: usize,
    is_match: impl Fn(&Quad) -> bool,
    mut take: impl FnMut(usize),
) {
    for (number, run) in quads.chunks(RUN).enumerate() {
        if run.iter().fold(false, |any, quad| any | is_match(quad)) {
            let first = start + number * RUN;
            let indices = (0..run.len()).filter(|index| is_match(&run[*index]));
            indices.for_each(|index| take(first + index));
        }
    }
}

/// Conditions on one quad, the cheap ones first.
#[derive(Default)]
struct Pattern(Vec<Condition>);

/// The time properties and the period of a filter.
struct TimeRange {
    properties: TimeProperties,
    period: Period,
    /// Whether any message has a time property.
    matches: bool,
}

impl TimeRange {
    /// Returns the indexes of the quads with a time in the period, in order.
    fn find_quads(&mut self, batch: &MessageBatch) -> Vec<usize> {
        let mut quads = self.properties.find_quads(batch);
        self.matches |= !quads.is_empty();
        quads.retain(|index| is_within(batch.table(), batch.quads()[*index].object, self.period));
        quads
    }
}

/// A message filter. Each pattern must match a quad of the message.
#[derive(Default)]
pub struct MessageFilter {
    patterns: Vec<Pattern>,
    /// Requires a quad with a time property, like a pattern after the others.
    times: Option<Box<TimeRange>>,
    names: Vec<Name>,
    /// IRIs of the names, expanded with the current namespaces.
    bound: Vec<Option<Vec<u8>>>,
    prefixes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether [`Self::select_quads`] returned a part of the message that continues in the next
    /// batch.
    has_begun_message: bool,
}

impl MessageFilter {
    /// Creates a filter that matches every message. `prefixes` contains namespaces for prefixed
    /// names. They take precedence over those declared in logs.
    pub fn new(prefixes: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
        Self {
            prefixes: prefixes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Begins a pattern. The following conditions apply to another quad.
    pub fn begin_pattern(&mut self) {
        self.patterns.push(Pattern::default());
    }

    /// Requires a term. The text is a term in N-Triples syntax, a prefixed name, a number or
    /// boolean in Turtle syntax, or `a` for rdf:type.
    ///
    /// # Errors
    /// If the text is not a valid term.
    pub fn add_term(&mut self, position: Position, text: &str) -> Result<(), Reason> {
        let required = self.read(text)?;
        self.push(position, required);
        Ok(())
    }

    /// Requires one of these terms, in N-Triples syntax.
    ///
    /// # Errors
    /// If a text is not a valid term.
    pub fn add_terms(&mut self, position: Position, texts: &[String]) -> Result<(), Reason> {
        let terms: Result<Vec<FilterTerm>, Reason> =
            texts.iter().map(|text| FilterTerm::new(text)).collect();
        self.push(position, Test::OneOf(terms?));
        Ok(())
    }

    /// Requires the default graph.
    pub fn default_graph(&mut self) {
        self.push(Position::Graph, Test::DefaultGraph);
    }

    /// Requires a literal whose lexical form contains a string.
    pub fn add_text(&mut self, text: &str) {
        let finder = Box::new(Finder::new(text).into_owned());
        self.push(Position::Object, Test::Contains(finder));
    }

    /// Requires a literal whose lexical form matches a regular expression.
    ///
    /// # Errors
    /// If the expression is invalid or takes too much memory.
    pub fn matches(&mut self, expression: &str) -> Result<(), Reason> {
        let regex = RegexBuilder::new(expression)
            .size_limit(REGEX_BYTES)
            .build()
            .map_err(|error| {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            })?;
        self.push(Position::Object, Test::Matches(regex));
        Ok(())
    }

    /// Requires a literal with a date or time in a range.
    pub fn add_period(&mut self, period: Period) {
        self.push(Position::Object, Test::Within(period));
    }

    /// Requires a date or time in a range, in another quad. Its predicate is one of the default
    /// time properties, or one that the log declares.
    ///
    /// # Errors
    /// None in practice, because all default properties are valid.
    pub fn add_time_within(&mut self, period: Period) -> Result<(), Reason> {
        self.times = Some(Box::new(TimeRange {
            properties: TimeProperties::new()?,
            period,
            matches: false,
        }));
        Ok(())
    }

    /// Whether [`Self::add_time_within`] was called, but no message so far has a time property.
    pub fn lacks_times(&self) -> bool {
        self.times.as_ref().is_some_and(|times| !times.matches)
    }

    fn push(&mut self, position: Position, test: Test) {
        if self.patterns.is_empty() {
            self.begin_pattern();
        }
        if let Some(pattern) = self.patterns.last_mut() {
            let precedes = |other: &Condition| other.test.is_cheap() || !test.is_cheap();
            let index = pattern.0.partition_point(precedes);
            let condition = Condition {
                position,
                test,
                tested: Vec::new(),
                matches: Vec::new(),
            };
            pattern.0.insert(index, condition);
        }
    }

    fn read(&mut self, text: &str) -> Result<Test, Reason> {
        const RDF_TYPE: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
        let is = |text: &str| FilterTerm::new(text).map(|term| Test::Is(Box::new(term)));
        let literal = |datatype: &str| {
            is(&format!(
                "\"{text}\"^^<http://www.w3.org/2001/XMLSchema#{datatype}>"
            ))
        };
        match text.as_bytes() {
            b"a" => return is(RDF_TYPE),
            b"true" | b"false" => return literal("boolean"),
            [b'<' | b'"', ..] => return is(text),
            [b'_', b':', ..] => {
                return Err(
                    "blank nodes are local to their message and cannot be matched; omit the condition, or skolemize the log"
                        .to_owned()
                        .into(),
                );
            }
            [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => {
                if let Some(datatype) = number(text) {
                    return literal(datatype);
                }
            }
            _ => {}
        }
        let Some((prefix, local)) = text.split_once(':') else {
            return Err(format!(
                "'{text}' is not a term; write <http://example.org/a>, ex:a, \"text\" or 5"
            )
            .into());
        };
        if local.starts_with("//") {
            return Err(
                format!("'{text}' is an IRI without angle brackets; write <{text}>").into(),
            );
        }
        let given = self
            .prefixes
            .iter()
            .find(|(name, _)| name == prefix.as_bytes());
        if let Some((_, iri)) = given {
            let iri = String::from_utf8_lossy(iri);
            return is(&format!("<{iri}{local}>"));
        }
        FilterTerm::new(&format!("<x:{local}>"))
            .map_err(|_| format!("'{text}' is not a valid prefixed name; write the IRI in <>"))?;
        self.names.push(Name {
            prefix: prefix.into(),
            local: local.into(),
            matches: false,
        });
        self.bound.push(None);
        Ok(Test::Named(self.names.len() - 1))
    }

    /// Returns the prefixes whose namespaces are taken from the logs.
    pub fn prefixes(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| name.prefix.as_slice())
    }

    /// Returns the prefixes that no log has declared so far.
    pub fn undeclared(&self) -> impl Iterator<Item = &[u8]> {
        self.names
            .iter()
            .filter(|name| !name.matches)
            .map(|name| name.prefix.as_slice())
    }

    /// Returns whether each message matches.
    pub fn matching_messages(&mut self, batch: &MessageBatch) -> Vec<bool> {
        self.find(batch).0
    }

    /// Whether the quads of a message match independently of each other, so that a message may be
    /// passed to [`Self::select_quads`] in parts.
    pub fn tests_single_quads(&self) -> bool {
        self.patterns.len() + usize::from(self.times.is_some()) <= 1
    }

    /// Returns the messages with only their matching quads or, if `inverted`, only their other
    /// quads. Messages without such quads are omitted. A message in parts begins with its first
    /// part that has such quads. Its last part is then returned even if it has none.
    pub fn select_quads(&mut self, batch: &MessageBatch, inverted: bool) -> Vec<MessageBatch> {
        let Some(last) = batch.len().checked_sub(1) else {
            return Vec::new();
        };
        let matches = self.quads(batch);
        let selected = batch.with_records(|index| matches[index] != inverted);
        let has_begun = batch.continued() && self.has_begun_message;
        let is_middle = last == 0 && has_begun && batch.continues();
        let is_wanted = |message| {
            !selected.range(message).is_empty() || message == 0 && has_begun && !is_middle
        };
        self.has_begun_message = batch.continues() && (is_middle || is_wanted(last));
        let mut batches = selected.with_messages(is_wanted);
        if !has_begun && batches.first().is_some_and(MessageBatch::continued) {
            batches[0] = batches[0].clone().without_continuation();
        }
        batches
    }

    /// Returns whether each quad matches the first pattern and is in a message that matches the
    /// filter.
    pub fn quads(&mut self, batch: &MessageBatch) -> Vec<bool> {
        let (messages, indices) = self.find(batch);
        let matches_all = self.patterns.is_empty() && self.times.is_none();
        let mut matches = vec![matches_all; batch.quads().len()];
        for index in indices {
            matches[index] = true;
        }
        for (message, _) in messages
            .iter()
            .enumerate()
            .filter(|(_, matches)| !**matches)
        {
            matches[batch.range(message)].fill(false);
        }
        matches
    }

    /// Returns the indexes of the quads that match the first pattern, in order.
    pub(crate) fn matching_quads(&mut self, batch: &MessageBatch) -> Vec<usize> {
        self.find(batch).1
    }

    /// Returns whether each message matches, and the quads that match the first pattern.
    fn find(&mut self, batch: &MessageBatch) -> (Vec<bool>, Vec<usize>) {
        self.begin(batch);
        let mut matches = vec![true; batch.len()];
        let mut quads = Vec::new();
        // Consecutive messages in which the names have the same meaning are processed together.
        let mut start = 0;
        for message in 0..batch.len() {
            if self.changes_names(batch, message) {
                self.find_in(batch, start..message, &mut matches, &mut quads);
                start = message;
                self.apply_changes(batch, message);
            }
        }
        self.find_in(batch, start..batch.len(), &mut matches, &mut quads);
        if let Some(times) = &mut self.times {
            let indices = times.find_quads(batch);
            require(batch, 0..batch.len(), &indices, &mut matches);
            if self.patterns.is_empty() {
                quads = indices;
            }
        }
        (matches, quads)
    }

    /// Like [`Self::find`], for a range of messages in which the names have the same meaning.
    fn find_in(
        &mut self,
        batch: &MessageBatch,
        messages: Range<usize>,
        matches: &mut [bool],
        quads: &mut Vec<usize>,
    ) {
        if messages.is_empty() {
            return;
        }
        let range = batch.range(messages.start).start..batch.range(messages.end - 1).end;
        let mut indices = Vec::new();
        for (number, pattern) in self.patterns.iter_mut().enumerate() {
            indices.clear();
            pattern.find(batch, range.clone(), &self.bound, &mut indices);
            require(batch, messages.clone(), &indices, matches);
            if number == 0 {
                quads.extend(&indices);
            }
        }
    }

    fn begin(&mut self, batch: &MessageBatch) {
        let in_force = batch.namespaces_at_start();
        for (name, bound) in self.names.iter_mut().zip(&mut self.bound) {
            *bound = in_force
                .get(&name.prefix)
                .map(|iri| [iri, name.local.as_slice()].concat());
            name.matches |= bound.is_some();
        }
        let (table, names) = (batch.table(), &self.bound);
        for condition in self.patterns.iter_mut().flat_map(|pattern| &mut pattern.0) {
            condition.begin(table, names);
        }
    }

    /// Whether a message changes the namespace of a name in a condition.
    fn changes_names(&self, batch: &MessageBatch, message: usize) -> bool {
        if self.names.is_empty() || batch.namespace_changes().is_empty() {
            return false;
        }
        let table = batch.table();
        batch.namespace_changes_of(message).iter().any(|change| {
            let mut names = self.names.iter().zip(&self.bound);
            names.any(|(name, bound)| {
                let iri = bound
                    .as_deref()
                    .and_then(|iri| iri.strip_suffix(&*name.local));
                name.prefix == table.span(change.name) && iri != Some(table.span(change.iri))
            })
        })
    }

    /// Applies the namespace declarations of a message.
    fn apply_changes(&mut self, batch: &MessageBatch, message: usize) {
        let table = batch.table();
        for change in batch.namespace_changes_of(message) {
            for (name, bound) in self.names.iter_mut().zip(&mut self.bound) {
                if name.prefix == table.span(change.name) {
                    name.matches = true;
                    *bound = Some([table.span(change.iri), &name.local].concat());
                }
            }
        }
        let conditions = self.patterns.iter_mut().flat_map(|pattern| &mut pattern.0);
        for condition in conditions.filter(|condition| matches!(condition.test, Test::Named(_))) {
            condition.begin(table, &self.bound);
        }
    }
}

impl Pattern {
    /// Adds the indexes of the matching quads in a range.
    fn find(
        &mut self,
        batch: &MessageBatch,
        range: Range<usize>,
        names: &[Option<Vec<u8>>],
        indices: &mut Vec<usize>,
    ) {
        let Some((first, others)) = self.0.split_first_mut() else {
            indices.extend(range);
            return;
        };
        if others.iter().any(Condition::is_unmatchable) {
            return;
        }
        let table = batch.table();
        first.for_each_match(batch, range, names, |index| {
            let quad = batch.quads()[index];
            let matches = others
                .iter_mut()
                .all(|condition| condition.matches(table, quad, names));
            if matches {
                indices.push(index);
            }
        });
    }
}

/// Returns the datatype of a number in Turtle syntax.
fn number(text: &str) -> Option<&'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !is_digits(integer) || !is_digits(fraction) || integer.is_empty() && fraction.is_empty() {
        return None;
    }
    match exponent {
        Some(exponent) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            (!digits.is_empty() && is_digits(digits)).then_some("double")
        }
        None if mantissa.contains('.') => (!fraction.is_empty()).then_some("decimal"),
        None => Some("integer"),
    }
}
