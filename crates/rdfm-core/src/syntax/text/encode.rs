//! What the encoders of the text formats have in common: delimiters, style, and the bound on the text.
//!
//! - In: batches, and a [`Statements`] that writes the quads of a message.
//! - Out: the log.
//! - Cost: a batch's text may not exceed [`MAX_TEXT`], however often its terms repeat long texts.
//! - Law: a log that ends with an error is delimited like one that was to end there.

use crate::codec::messages::{MessageLoop, Writer};
use crate::codec::options::{FLAT, VERSION_LABEL, WRITE_DIALECT};
use crate::codec::refuse::{Refused, refuse_second, taken_for};
use crate::codec::spec::FormatSpec;
use crate::codec::values::Values;
use crate::codec::{Dialect, Source};
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::{Style, TermError};
use crate::syntax::text::delimit::{Delimiters, Place};

/// Most bytes that one batch may be written as. A batch repeats its terms by number, text repeats them
/// in full: without a bound a small log could fill the memory.
pub const MAX_TEXT: usize = 1 << 30;

/// Writes the quads of messages in one format.
pub trait Statements: Send {
    /// Whether a message may come in parts.
    const PARTS: bool = true;

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
    fn end_message(&mut self, _out: &mut Vec<u8>) {}

    /// The batch ends; what is open goes on in the next.
    fn end_batch(&mut self, _batch: &MessageBatch) {}

    /// The log ends.
    fn finish(&mut self, _out: &mut Vec<u8>) {}

    /// Another log begins.
    fn reset(&mut self) {}
}

/// Why a message cannot be written.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// A term that the grammar cannot hold.
    Term(TermError),
    /// An IRI that would be read as a blank node.
    Bnode(TermId),
    /// A graph that would be read as the default graph.
    DefaultGraph(TermId),
    /// More text than [`Style::most`].
    TooLong,
}

impl Stop {
    /// Class and reason. `max_text` is what a batch may be written as.
    #[cold]
    pub fn told(self, table: &TermTable, max_text: usize) -> (ErrorClass, Reason) {
        match self {
            Self::Term(error) => (ErrorClass::Unsupported, describe(table, error)),
            Self::Bnode(id) => {
                let iri = quote(table.text(id));
                let text = format!("readers of the format take the IRI {iri} for a blank node");
                (ErrorClass::Unsupported, text.into())
            }
            Self::DefaultGraph(id) => taken_for(table.text(id), "the default graph"),
            Self::TooLong => (ErrorClass::Limit, too_long(max_text)),
        }
    }
}

/// How the messages of a text log are written, whatever their statements look like.
pub struct Layout {
    /// What stands between them.
    pub delimiters: Delimiters,
    /// How terms are written.
    pub style: Style,
    /// All of them are one: their blank nodes are kept apart.
    pub flat: bool,
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
            ..Self::undelimited()
        })
    }

    /// Without delimiters: the format itself tells messages apart.
    pub fn undelimited() -> Self {
        Self {
            delimiters: Delimiters::none(),
            style: Style::CANONICAL,
            flat: false,
        }
    }
}

/// Writes a text format.
pub struct TextWriter<S> {
    /// Whether the format tells messages apart.
    boundaries: bool,
    layout: Layout,
    /// Where the delimiters were before the open message.
    before: Place,
    statements: S,
    max_text: usize,
}

impl<S: Statements> TextWriter<S> {
    /// An encoder at the start of a log.
    pub fn encoder(
        format: &'static FormatSpec,
        values: &Values,
        layout: Layout,
        statements: S,
    ) -> MessageLoop<Self> {
        let writer = Self {
            boundaries: format.carries.boundaries,
            layout,
            before: Place::default(),
            statements,
            max_text: MAX_TEXT,
        };
        MessageLoop::new(format, values, writer)
    }

    /// Sets another bound than [`MAX_TEXT`].
    #[cfg(test)]
    pub fn bound(&mut self, max_text: usize) {
        self.max_text = max_text;
    }
}

impl<S: Statements> Writer for TextWriter<S> {
    type Record = Quad;

    const NAMESPACES_BEFORE: bool = true;
    const PARTS: bool = S::PARTS;

    fn begin_batch(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) {
        self.layout.style.most = out.len().saturating_add(self.max_text);
        self.layout.delimiters.announce(out);
        self.statements.begin_batch(batch, out);
    }

    #[inline]
    fn begin_message(&mut self, _batch: &MessageBatch, _number: u64, out: &mut Vec<u8>) {
        self.before = self.layout.delimiters.place();
        self.layout.delimiters.begin(out);
    }

    fn second(&self) -> Refused<bool> {
        if self.boundaries {
            return Ok(false);
        }
        refuse_second(self.layout.flat)
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> Refused<bool> {
        Ok(self.statements.declare(name, iri, out))
    }

    #[inline]
    fn write(&mut self, batch: &MessageBatch, message: usize, out: &mut Vec<u8>) -> Refused<()> {
        if !batch.message(message).is_empty() {
            self.layout.delimiters.not_empty();
        }
        let style = Style {
            apart: self.layout.flat.then(|| self.layout.delimiters.number()),
            ..self.layout.style
        };
        self.statements
            .write(batch, message, style, out)
            .map_err(|stop| stop.told(batch.table(), self.max_text))
    }

    #[inline]
    fn end_message(&mut self, out: &mut Vec<u8>) {
        self.statements.end_message(out);
        self.layout.delimiters.end(out);
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.statements.end_batch(batch);
    }

    fn take_back(&mut self, out: &mut Vec<u8>) {
        self.layout.delimiters.back_to(self.before);
        self.layout.delimiters.finish(out);
    }

    fn finish(&mut self, open: bool, out: &mut Vec<u8>) {
        if open {
            self.end_message(out);
        }
        self.layout.delimiters.announce(out);
        self.layout.delimiters.finish(out);
        self.statements.finish(out);
    }

    fn lost_if_empty(&self) -> Option<&'static str> {
        self.layout.flat.then_some(
            "an empty message without delimiters is read as no message; message_per_file=true reads each file as one",
        )
    }

    fn reset(&mut self) {
        self.layout.delimiters.reset();
        self.statements.reset();
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
            "{} is not a valid language tag, and no escape can write it",
            quote(table.text(id))
        ))
        .lacking(Feature::AnyLanguage),
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
