//! What the encoders of the text formats have in common: messages, refusals, errors, what is dropped.
//!
//! - In: batches, and a [`Statements`] that writes the quads of a message.
//! - Out: the log.
//! - Cost: a batch's text may not exceed [`MOST_TEXT`], however often its terms repeat long texts.
//! - Law: an error leaves the last whole message at the end of the output, and comes again.

use crate::codec::format::Format;
use crate::codec::refuse::{refuse, refuse_second};
use crate::codec::{Dialect, EncodeOptions, Encoder};
use crate::model::batch::{InForce, MessageBatch};
use crate::model::error::{EncodeError, ErrorClass, quote};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::model::write::{Fault, Style};
use crate::syntax::text::delimit::Delimiters;

/// Most bytes that one batch may be written as. A batch repeats its terms by number, text repeats them
/// in full: without a bound a small log could fill the memory.
pub const MOST_TEXT: usize = 1 << 30;

/// Most bytes to make room for before a batch is written.
const MOST_ROOM: usize = 16 << 20;

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
    Term(Fault),
    /// More text than [`Style::most`].
    TooLong,
    /// Nothing can stand between this message and the one before it.
    Second,
}

/// The encoder of a text format.
pub struct TextEncoder<S> {
    format: Format,
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
    most_text: usize,
    failed: Option<EncodeError>,
}

impl<S: Statements> TextEncoder<S> {
    /// At the start of a log.
    ///
    /// # Errors
    /// An option does not fit.
    pub fn new(format: Format, options: &EncodeOptions, statements: S) -> Result<Self, String> {
        let lines = matches!(format, Format::Nt | Format::Nq);
        let documents = matches!(format, Format::Ndjsonld | Format::Jsonld | Format::Yamlld);
        let delimiters = if documents {
            Delimiters::none()
        } else {
            Delimiters::new(options)?
        };
        let flat = if documents {
            options.flat && !format.carries().boundaries
        } else {
            options.dialect == Dialect::Plain
        };
        Ok(Self {
            format,
            delimiters,
            statements,
            style: if lines && options.rdf_star_syntax {
                Style::STAR
            } else {
                Style::CANONICAL
            },
            flat,
            merge_graphs: options.merge_graphs,
            prefixes: options.prefixes.clone(),
            started: false,
            in_force: InForce::default(),
            room: 0,
            graph_names: 0,
            namespaces: 0,
            metadata: 0,
            most_text: MOST_TEXT,
            failed: None,
        })
    }

    /// With another bound than [`MOST_TEXT`].
    #[cfg(test)]
    pub fn bounded(mut self, most_text: usize) -> Self {
        self.most_text = most_text;
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
        let holds = self.format.carries().namespaces;
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
        let holds_namespaces = self.format.carries().namespaces;
        let drops_graphs = !self.format.carries().graphs && batch.has_graphs();
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
            } else if !self.format.carries().boundaries
                && !goes_on
                && refuse_second(self.delimiters.number(), self.flat, "").is_err()
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
            Stop::Term(fault) => (ErrorClass::Unsupported, describe(batch.table(), fault)),
            Stop::Second => match refuse_second(1, false, "") {
                Err(refused) => refused,
                Ok(()) => (ErrorClass::Internal, String::new()),
            },
            Stop::TooLong => (
                ErrorClass::Limit,
                format!(
                    "a batch with this message is longer than {} bytes of text, since it repeats long \
                     terms; read it in parts (rdfm convert does, without --on-error skip), divide the \
                     message, or write jelly",
                    self.most_text
                ),
            ),
        };
        EncodeError {
            format: self.format.name(),
            class,
            reason,
            message: batch.first_index() + message as u64,
        }
    }
}

/// What is wrong with a term, and the way out.
pub(crate) fn describe(table: &TermTable, fault: Fault) -> String {
    match fault {
        Fault::Iri(id) => format!(
            "the IRI {} has characters that an IRI cannot have; lenient (--lenient) escapes what can be escaped",
            quote(table.text(id))
        ),
        Fault::Relative(id) => format!(
            "{} is no absolute IRI, so that readers of the format drop its statements; N-Quads and Jelly \
             hold it, and lenient (--lenient) writes it all the same",
            quote(table.text(id))
        ),
        Fault::Untagged(id) => format!(
            "a literal of the datatype {} without a language tag, whose statements readers of the format drop; \
             N-Quads and Jelly hold it, and lenient (--lenient) writes it all the same",
            quote(table.text(id))
        ),
        Fault::Language(id) => format!(
            "{} is no language tag, and no escape can write it; Jelly holds any",
            quote(table.text(id))
        ),
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
        self.style.most = before.saturating_add(self.most_text);
        out.reserve(self.room);
        self.begin_batch(batch, out);
        let refused = refuse(batch, self.format, self.merge_graphs).err();
        let first_refused = refused.as_ref().map(|(message, _)| *message);
        let result = self.messages(batch, first_refused, out);
        let text = out.len().saturating_sub(before);
        self.room = (text + text / 8).min(MOST_ROOM);
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
        let boundaries = if self.flat && !self.format.carries().boundaries {
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
