//! What the encoders of the text formats have in common: messages, refusals, errors, what is dropped.
//!
//! - In: batches, and a [`Statements`] that writes the quads of a message.
//! - Out: the log.
//! - Cost: a batch's text may not exceed [`MAX_TEXT`], however often its terms repeat long texts.
//! - Law: an error leaves the last whole message at the end of the output, and comes again.

use crate::codec::options::{FLAT, MERGE_GRAPHS, VERSION_LABEL, WRITE_DIALECT, prefixes};
use crate::codec::refuse::{refuse, refuse_second};
use crate::codec::spec::FormatSpec;
use crate::codec::values::Values;
use crate::codec::{Dialect, Encoder, Source};
use crate::model::batch::{InForce, MessageBatch};
use crate::model::error::{EncodeError, ErrorClass, quote};
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::model::write::{Style, TermError};
use crate::syntax::text::delimit::Delimiters;

/// Most bytes that one batch may be written as. A batch repeats its terms by number, text repeats them
/// in full: without a bound a small log could fill the memory.
pub const MAX_TEXT: usize = 1 << 30;

/// Most bytes to make room for before a batch is written.
const MAX_ROOM: usize = 16 << 20;

/// Writes the quads of messages in one format.
pub trait Statements: Send {
    /// A batch begins: term ids mean other terms than before.
    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]);

    /// Declares a namespace. False if the format cannot.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> bool;

    /// Writes the quads of a message, or of a part of it.
    ///
    /// # Errors
    /// A term cannot be written; the buffer then has any length.
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop>;

    /// The message ends, and with it whatever is open.
    fn end_message(&mut self, out: &mut Vec<u8>);

    /// The log ends.
    fn finish(&mut self, _out: &mut Vec<u8>) {}

    /// The batch ends, the message goes on in the next.
    fn suspend(&mut self, batch: &MessageBatch);

    /// Another log begins.
    fn reset(&mut self);
}

/// Why a message cannot be written.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// A term that the grammar cannot hold.
    Term(TermError),
    /// More text than [`Style::most`].
    TooLong,
    /// Nothing can stand between this message and the one before it.
    Second,
}

/// How the messages of a text log are written, whatever their statements look like.
pub struct Layout {
    /// What stands between them.
    pub delimiters: Delimiters,
    /// How terms are written.
    pub style: Style,
    /// All of them are one: their blank nodes are kept apart.
    pub flat: bool,
    /// Drop graph names where the format has none.
    pub merge_graphs: bool,
    /// Namespaces to declare at the start.
    pub prefixes: Vec<(String, String)>,
}

impl Layout {
    /// In a dialect: the one that was given, or that of the source.
    ///
    /// # Errors
    /// The version label announces no messages, or nothing is announced.
    pub fn of(values: &Values, source: Option<&Source>) -> Result<Self, Reason> {
        let given = values.text(&WRITE_DIALECT).and_then(Dialect::named);
        let found = source
            .and_then(|source| source.dialect)
            .filter(|dialect| *dialect == Dialect::Directive);
        let dialect = if values.switch(&FLAT) {
            Dialect::Plain
        } else {
            given.or(found).unwrap_or(Dialect::Comment)
        };
        // Where neither is known yet, the source may say.
        let settled = source.is_some() || given.is_some() || values.switch(&FLAT);
        if settled && dialect != Dialect::Directive && values.get(&VERSION_LABEL).is_some() {
            let asked = Remedy::write("dialect", "directive", "writes it");
            let reason = "version_label is written in the directive dialect only";
            return Err(Reason::new(reason).with(asked));
        }
        let label = values.text(&VERSION_LABEL).unwrap_or_default();
        Ok(Self {
            delimiters: Delimiters::new(dialect, label)?,
            flat: dialect == Dialect::Plain,
            ..Self::undelimited(values)
        })
    }

    /// Without delimiters: the format itself tells messages apart.
    pub fn undelimited(values: &Values) -> Self {
        Self {
            delimiters: Delimiters::none(),
            style: Style::CANONICAL,
            flat: false,
            merge_graphs: values.switch(&MERGE_GRAPHS),
            prefixes: prefixes(values),
        }
    }
}

/// The encoder of a text format.
pub struct TextEncoder<S> {
    format: &'static FormatSpec,
    delimiters: Delimiters,
    statements: S,
    style: Style,
    flat: bool,
    merge_graphs: bool,
    prefixes: Vec<(String, String)>,
    started: bool,
    in_force: InForce,
    /// Bytes to make room for: a little more than the batch before took.
    room: usize,
    graph_names: u64,
    namespaces: u64,
    metadata: u64,
    max_text: usize,
    failed: Option<EncodeError>,
}

impl<S: Statements> TextEncoder<S> {
    /// At the start of a log.
    pub fn new(format: &'static FormatSpec, layout: Layout, statements: S) -> Self {
        let Layout {
            delimiters,
            style,
            flat,
            merge_graphs,
            prefixes,
        } = layout;
        Self {
            format,
            delimiters,
            statements,
            style,
            flat,
            merge_graphs,
            prefixes,
            started: false,
            in_force: InForce::default(),
            room: 0,
            graph_names: 0,
            namespaces: 0,
            metadata: 0,
            max_text: MAX_TEXT,
            failed: None,
        }
    }

    /// With another bound than [`MAX_TEXT`].
    #[cfg(test)]
    pub fn bounded(mut self, max_text: usize) -> Self {
        self.max_text = max_text;
        self
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) {
        if !self.statements.declare(name, iri, out) {
            self.namespaces += 1;
        }
    }

    /// What stands before the first message of a batch.
    fn begin_batch(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) {
        let first = !self.started;
        self.started = true;
        if first {
            self.delimiters.announce(out);
            let prefixes = std::mem::take(&mut self.prefixes);
            for (name, iri) in &prefixes {
                self.declare(name.as_bytes(), iri.as_bytes(), out);
            }
            self.prefixes = prefixes;
        }
        let holds = self.format.carries.namespaces;
        if holds || first {
            for (name, iri) in self.in_force.news(batch) {
                self.declare(name, iri, out);
            }
        }
        if !holds {
            self.namespaces += batch.namespace_changes().len() as u64;
        }
        self.metadata += batch.all_metadata().len() as u64;
        self.statements.begin_batch(batch, out);
    }

    /// Writes messages until the first that cannot be written, whose index in the batch is given.
    fn messages(
        &mut self,
        batch: &MessageBatch,
        refused: Option<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), (usize, Option<Stop>)> {
        let table = batch.table();
        let mut changes = batch.namespace_changes().iter().peekable();
        let holds_namespaces = self.format.carries.namespaces;
        let drops_graphs = !self.format.carries.graphs && batch.has_graphs();
        for message in 0..batch.len() {
            let place = self.delimiters.place();
            let length = out.len();
            let goes_on = message == 0 && batch.continued() && self.delimiters.begun();
            if !goes_on {
                self.delimiters.begin(out);
            }
            while let Some(change) =
                changes.next_if(|change| holds_namespaces && change.message as usize == message)
            {
                self.declare(table.span(change.name), table.span(change.iri), out);
            }
            let quads = batch.message(message);
            if !quads.is_empty() {
                self.delimiters.not_empty();
            }
            let style = Style {
                apart: self.flat.then(|| self.delimiters.number()),
                ..self.style
            };
            let result = if refused == Some(message) {
                Err(None)
            } else if !self.format.carries.boundaries
                && !goes_on
                && refuse_second(self.delimiters.number(), self.flat).is_err()
            {
                Err(Some(Stop::Second))
            } else {
                self.statements
                    .write(batch, message, style, out)
                    .map_err(Some)
            };
            if let Err(stop) = result {
                out.truncate(length);
                self.delimiters.back_to(place);
                if !goes_on {
                    self.delimiters.finish(out);
                }
                return Err((message, stop));
            }
            if drops_graphs {
                let named = |quad: &&crate::model::term::Quad| quad.graph != TermId::DEFAULT_GRAPH;
                self.graph_names += quads.iter().filter(named).count() as u64;
            }
            if batch.continues() && message + 1 == batch.len() {
                self.statements.suspend(batch);
            } else {
                self.statements.end_message(out);
                self.delimiters.end(out);
            }
        }
        Ok(())
    }

    fn stopped(&self, batch: &MessageBatch, message: usize, stop: Stop) -> EncodeError {
        let (class, reason) = match stop {
            Stop::Term(error) => (ErrorClass::Unsupported, describe(batch.table(), error)),
            Stop::Second => match refuse_second(1, false) {
                Err(refused) => refused,
                Ok(()) => (ErrorClass::Internal, Reason::new("")),
            },
            Stop::TooLong => (ErrorClass::Limit, too_long(self.max_text)),
        };
        EncodeError {
            format: self.format.name,
            class,
            reason,
            message: batch.first_index() + message as u64,
        }
    }
}

/// More text than a batch may be written as.
pub(crate) fn too_long(max_text: usize) -> Reason {
    Reason::from(format!(
        "a batch with this message is longer than {max_text} bytes of text, since it repeats long terms"
    ))
    .lacking(Feature::Parts)
}

/// What is wrong with a term, and what would help.
pub(crate) fn describe(table: &TermTable, error: TermError) -> Reason {
    let as_it_is = Remedy::write("lenient", "true", "writes it all the same");
    match error {
        TermError::Iri(id) => Reason::from(format!(
            "the IRI {} has characters that an IRI cannot have",
            quote(table.text(id))
        ))
        .with(Remedy::write(
            "lenient",
            "true",
            "escapes what can be escaped",
        )),
        TermError::Relative(id) => Reason::from(format!(
            "{} is no absolute IRI, so that readers of the format drop its statements",
            quote(table.text(id))
        ))
        .with(as_it_is)
        .lacking(Feature::AnyIri),
        TermError::Untagged(id) => Reason::from(format!(
            "a literal of the datatype {} without a language tag, whose statements readers of the format drop",
            quote(table.text(id))
        ))
        .with(as_it_is)
        .lacking(Feature::AnyIri),
        TermError::Language(id) => Reason::from(format!(
            "{} is no language tag, and no escape can write it",
            quote(table.text(id))
        ))
        .lacking(Feature::AnyLanguage),
    }
}

impl<S: Statements> Encoder for TextEncoder<S> {
    fn encode(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if batch.is_empty() {
            return Ok(());
        }
        let before = out.len();
        self.style.most = before.saturating_add(self.max_text);
        out.reserve(self.room);
        self.begin_batch(batch, out);
        let refused = refuse(batch, self.format, self.merge_graphs).err();
        let first_refused = refused.as_ref().map(|(message, _)| *message);
        let result = self.messages(batch, first_refused, out);
        let text = out.len().saturating_sub(before);
        self.room = (text + text / 8).min(MAX_ROOM);
        result.map_err(|(message, stop)| {
            let error = match (stop, refused) {
                (None, Some((_, error))) => error,
                (stop, _) => self.stopped(batch, message, stop.unwrap_or(Stop::TooLong)),
            };
            self.failed = Some(error.clone());
            error
        })
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.delimiters.announce(out);
        self.delimiters.finish(out);
        self.statements.finish(out);
        Ok(())
    }

    fn reset(&mut self) {
        self.delimiters.reset();
        self.statements.reset();
        self.started = false;
        self.in_force = InForce::default();
        self.graph_names = 0;
        self.namespaces = 0;
        self.metadata = 0;
        self.failed = None;
    }

    fn dropped(&self) -> Vec<(&'static str, u64)> {
        let boundaries = if self.flat && !self.format.carries.boundaries {
            self.delimiters.number()
        } else {
            0
        };
        [
            ("boundaries", boundaries),
            ("graph names", self.graph_names),
            ("namespaces", self.namespaces),
            ("metadata", self.metadata),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }
}

/// Where terms of the batch were written before, so that they are copied from there.
///
/// Cost: 12 bytes a term; forgetting all is one addition.
#[derive(Default)]
pub struct Memo {
    entries: Vec<Entry>,
    generation: u32,
    base: usize,
}

/// Where a term was written.
#[derive(Clone, Copy, Default)]
struct Entry {
    generation: u32,
    start: u32,
    length: u32,
}

impl Memo {
    /// A batch with this many terms begins at the end of the output.
    pub fn begin_batch(&mut self, terms: usize, out: &[u8]) {
        self.base = out.len();
        if self.entries.len() < terms {
            self.entries.resize(terms, Entry::default());
        }
        self.forget();
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.fill(Entry::default());
            self.generation = 1;
        }
    }

    /// Copies a term that was written before; false if none was.
    #[inline]
    pub fn copy(&self, id: TermId, out: &mut Vec<u8>) -> bool {
        match self.entries.get(id.index()) {
            Some(entry) if entry.generation == self.generation => {
                let start = self.base + entry.start as usize;
                out.extend_from_within(start..start + entry.length as usize);
                true
            }
            _ => false,
        }
    }

    /// Keeps that a term was written from `start` to the end of the output.
    #[inline]
    pub fn keep(&mut self, id: TermId, start: usize, out: &[u8]) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            *entry = Entry {
                generation: self.generation,
                start: (start - self.base) as u32,
                length: (out.len() - start) as u32,
            };
        }
    }
}

/// Whether the text of a term may differ between messages where labels are kept apart.
#[inline]
pub const fn holds_labels(kind: TermKind) -> bool {
    matches!(kind, TermKind::Bnode | TermKind::TripleTerm)
}
