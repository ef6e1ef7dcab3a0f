//! Shared part of the encoders of text formats: delimiters, style, and the output size limit.
//!
//! - In: batches, and a [`StatementWriter`] that writes the quads of a message.
//! - Out: the log.
//! - Cost: the text of a batch may not exceed [`MAX_TEXT`], however often its terms repeat long
//!   strings.
//! - Law: a log that ends with an error has the same delimiters as a log that ends normally at that
//!   point.

use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::options::{FLAT, VERSION_LABEL, WRITE_DIALECT};
use crate::codec::spec::FormatSpec;
use crate::codec::unsupported::{WriteResult, misread_iri_error, reject_second};
use crate::codec::values::Values;
use crate::codec::{Dialect, LogEnd, LogPosition, Source};
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::{Style, TermError};
use crate::syntax::rdfc;
use crate::syntax::text::delimit::{DelimiterPosition, Delimiters};

/// Maximum size of a batch as text. A batch refers to repeated terms by number, but text repeats
/// them in full. Without a limit, a small log could therefore fill the memory.
pub const MAX_TEXT: usize = 1 << 30;

/// Writes the quads of messages in one format.
pub trait StatementWriter: Send + 'static {
    /// Whether a message may be written in parts.
    const PARTS: bool = true;

    /// Begins a batch. Term ids now refer to the terms of this batch.
    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]);

    /// Declares a namespace. Returns false if the format cannot declare any.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> bool;

    /// Writes the quads of a message, or of a part of it.
    ///
    /// # Errors
    /// If a term cannot be written. The length of the buffer is then undefined.
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError>;

    /// Ends the message and all open statements.
    fn end_message(&mut self, _out: &mut Vec<u8>) {}

    /// Ends the batch. Open statements continue in the next one.
    fn end_batch(&mut self, _batch: &MessageBatch) {}

    /// Continues an existing log.
    fn continue_log(&mut self) {}

    /// Returns another writer, whose batches need not be consecutive, or `None` if the output for a
    /// batch depends on earlier batches.
    fn twin(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Whether [`twin`](Self::twin) returns a writer.
    fn has_twin(&self) -> bool {
        false
    }

    /// Ends the log.
    fn finish(&mut self, _out: &mut Vec<u8>) {}

    /// Begins another log.
    fn reset(&mut self) {}

    /// Number of quads that were not written because their messages contain equal ones.
    fn count_repeated(&self) -> u64 {
        0
    }

    /// Number of declared namespaces that were not written because no message used them.
    fn count_unused(&self) -> u64 {
        0
    }
}

/// Reason why a message cannot be written.
#[derive(Clone, Copy, Debug)]
pub enum StatementError {
    /// A term that the grammar does not allow.
    Term(TermError),
    /// An IRI that readers would interpret as a blank node.
    BlankNode(TermId),
    /// A graph that readers would interpret as the default graph.
    DefaultGraph(TermId),
    /// More text than [`Style::max_bytes`].
    TooLong,
    /// Blank nodes that need more than [`MAX_STEPS`](rdfc::MAX_STEPS) to label.
    TooManySteps,
}

impl StatementError {
    /// Returns the class and reason. `max_text` is the maximum size of a batch.
    #[cold]
    pub fn explain(self, table: &TermTable, max_text: usize) -> (ErrorClass, Reason) {
        match self {
            Self::Term(error) => (ErrorClass::Unsupported, describe(table, error)),
            Self::BlankNode(id) => {
                let iri = quote(table.text(id));
                let text =
                    format!("readers of the format would read the IRI {iri} as a blank node");
                (ErrorClass::Unsupported, text.into())
            }
            Self::DefaultGraph(id) => misread_iri_error(table.text(id), "the default graph"),
            Self::TooLong => (ErrorClass::Limit, too_long(max_text)),
            Self::TooManySteps => {
                let steps = rdfc::MAX_STEPS;
                let text = format!("the labels of the blank nodes need more than {steps} steps");
                (ErrorClass::Limit, text.into())
            }
        }
    }
}

/// Layout of the messages in a text log, independent of the syntax of statements.
#[derive(Clone)]
pub struct TextLayout {
    /// The delimiters between messages.
    pub delimiters: Delimiters,
    /// The style of terms.
    pub style: Style,
    /// Whether all messages are written as one. The blank nodes of each message stay distinct.
    pub flat: bool,
}

impl TextLayout {
    /// Creates the layout for a dialect, from the options or the source.
    ///
    /// # Errors
    /// If the version label does not announce messages, or if the dialect has no version label.
    pub fn from_values(values: &Values, source: Option<&Source>) -> Result<Self, Reason> {
        let given = values.text(&WRITE_DIALECT).and_then(Dialect::from_name);
        let source_dialect = source
            .and_then(|source| source.dialect)
            .filter(|dialect| *dialect == Dialect::Directive);
        let dialect = if values.is_on(&FLAT) {
            Dialect::Plain
        } else {
            given.or(source_dialect).unwrap_or(Dialect::Comment)
        };
        // Without a source or such an option, a later source may still determine the dialect.
        let is_final = source.is_some() || given.is_some() || values.is_on(&FLAT);
        if is_final && dialect != Dialect::Directive && values.get(&VERSION_LABEL).is_some() {
            let directive = Remedy::write("dialect", "directive", "writes it");
            let reason = "version_label is written only in the directive dialect";
            return Err(Reason::new(reason).with(directive));
        }
        let label = values.text(&VERSION_LABEL).unwrap_or_default();
        Ok(Self {
            delimiters: Delimiters::new(dialect, label)?,
            flat: dialect == Dialect::Plain,
            ..Self::without_delimiters()
        })
    }

    /// Creates a layout without delimiters, for formats that separate messages themselves.
    pub fn without_delimiters() -> Self {
        Self {
            delimiters: Delimiters::without_delimiters(),
            style: Style::TEXT,
            flat: false,
        }
    }
}

/// Writes a text format.
pub struct TextWriter<S> {
    /// Whether the format has message boundaries.
    boundaries: bool,
    layout: TextLayout,
    /// State of the delimiters before the open message.
    before: DelimiterPosition,
    statements: S,
    max_text: usize,
}

impl<S: StatementWriter> TextWriter<S> {
    /// Returns an encoder at the start of a log.
    pub fn encoder(
        format: &'static FormatSpec,
        values: &Values,
        layout: TextLayout,
        statements: S,
    ) -> MessageLoop<Self> {
        let writer = Self {
            boundaries: format.carries.boundaries,
            layout,
            before: DelimiterPosition::default(),
            statements,
            max_text: MAX_TEXT,
        };
        MessageLoop::new(format, values, writer)
    }

    /// Sets a limit other than [`MAX_TEXT`].
    #[cfg(test)]
    pub fn set_max_text(&mut self, max_text: usize) {
        self.max_text = max_text;
    }
}

impl<S: StatementWriter> Writer for TextWriter<S> {
    type Record = Quad;

    const NAMESPACES_BEFORE: bool = true;
    const PARTS: bool = S::PARTS;

    fn begin_batch(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) {
        self.layout.style.max_bytes = out.len().saturating_add(self.max_text);
        self.layout.delimiters.announce(out);
        self.statements.begin_batch(batch, out);
    }

    #[inline]
    fn begin_message(&mut self, _batch: &MessageBatch, _number: u64, out: &mut Vec<u8>) {
        self.before = self.layout.delimiters.position();
        self.layout.delimiters.begin(out);
    }

    fn check_second_message(&self) -> WriteResult<bool> {
        if self.boundaries {
            return Ok(false);
        }
        reject_second(self.layout.flat)
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(self.statements.declare(name, iri, out))
    }

    #[inline]
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        if !batch.message(message).is_empty() {
            self.layout.delimiters.mark_not_empty();
        }
        let style = Style {
            message_number: self.layout.flat.then(|| self.layout.delimiters.number()),
            ..self.layout.style
        };
        self.statements
            .write(batch, message, style, out)
            .map_err(|error| error.explain(batch.table(), self.max_text))
    }

    #[inline]
    fn end_message(&mut self, out: &mut Vec<u8>) {
        self.statements.end_message(out);
        self.layout.delimiters.end(out);
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.statements.end_batch(batch);
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        self.layout.delimiters.go_back_to(self.before);
        self.layout.delimiters.finish(out);
    }

    fn continue_log(&mut self, end: LogEnd) -> Result<(), Reason> {
        if self.layout.flat {
            return Err("messages cannot be appended without delimiters".into());
        }
        self.layout.delimiters.continue_log(end);
        self.statements.continue_log();
        Ok(())
    }

    fn skip(&mut self, batch: &MessageBatch, open: bool) -> Option<bool> {
        if !self.boundaries || self.layout.flat || !self.statements.has_twin() {
            return None;
        }
        let delimiters = &mut self.layout.delimiters;
        let empty = delimiters.is_empty();
        let mut out = Vec::new();
        for message in 0..batch.len() {
            if message > 0 || !(batch.continued() && open) {
                delimiters.begin(&mut out);
            }
            if !batch.message(message).is_empty() {
                delimiters.mark_not_empty();
            }
            if message + 1 < batch.len() || !batch.continues() {
                delimiters.end(&mut out);
            }
            out.clear();
        }
        Some(empty)
    }

    fn twin(&self) -> Option<Self> {
        Some(Self {
            boundaries: self.boundaries,
            layout: self.layout.clone(),
            before: self.before,
            statements: self.statements.twin()?,
            max_text: self.max_text,
        })
    }

    fn go_to(&mut self, position: LogPosition) {
        self.layout.delimiters.go_to(position);
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Option<LogEnd> {
        (!self.layout.flat).then(|| self.layout.delimiters.pause(out))
    }

    fn finish(&mut self, open: bool, out: &mut Vec<u8>) {
        if open {
            self.end_message(out);
        }
        self.layout.delimiters.announce(out);
        self.layout.delimiters.finish(out);
        self.statements.finish(out);
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        let namespaces = dropped.namespaces + self.statements.count_unused();
        let mut counts = Dropped {
            namespaces,
            ..dropped
        }
        .counts();
        counts.push(("repeated quads", self.statements.count_repeated()));
        counts
    }

    fn note_if_empty(&self) -> Option<Reason> {
        self.layout.flat.then(|| {
            Reason::new("without delimiters, readers will not find an empty message").with(
                Remedy::stage("message_per_file", "true", "reads each file as one"),
            )
        })
    }

    fn reset(&mut self) {
        self.layout.delimiters.reset();
        self.statements.reset();
    }
}

/// Returns the error for a batch whose text is too long.
pub(crate) fn too_long(max_text: usize) -> Reason {
    Reason::from(format!(
        "the text of a batch with this message is longer than {max_text} bytes, because long terms are repeated"
    ))
    .lacking(Feature::Parts)
}

/// Returns the reason for an invalid term, with remedies.
pub(crate) fn describe(table: &TermTable, error: TermError) -> Reason {
    let (TermError::Iri(id)
    | TermError::Relative(id)
    | TermError::Invalid(id)
    | TermError::Untagged(id)
    | TermError::Language(id)) = error;
    let shown = quote(table.text(id));
    let lenient = |text: String| {
        let anyway = Remedy::write("lenient", "true", "writes it anyway");
        Reason::from(text).with(anyway).lacking(Feature::AnyIri)
    };
    match error {
        TermError::Iri(_) => lenient(format!(
            "the IRI {shown} contains characters that are not allowed in an IRI"
        )),
        TermError::Relative(_) => lenient(format!(
            "the IRI {shown} is relative; readers of the format reject or change it"
        )),
        TermError::Invalid(id) => {
            let text = String::from_utf8_lossy(table.text(id));
            let cause =
                oxiri::Iri::parse(&*text).map_or_else(|error| error.to_string(), |_| String::new());
            lenient(format!(
                "the IRI {shown} is not valid ({cause}); readers of the format drop its statements"
            ))
            .lacking(Feature::InvalidIri)
        }
        TermError::Untagged(_) => lenient(format!(
            "a literal with the datatype {shown} has no language tag; readers of the format reject \
             or drop it"
        )),
        TermError::Language(_) => Reason::from(format!(
            "{shown} is not a valid language tag and cannot be escaped"
        ))
        .lacking(Feature::AnyLanguage),
    }
}

/// Positions of the terms written earlier in the batch, for copying them.
///
/// Cost: 12 bytes per term. Forgetting all positions usually takes only one addition.
#[derive(Default)]
pub struct TextMemo {
    entries: Vec<MemoEntry>,
    generation: u32,
    base: usize,
}

/// Position of a written term.
#[derive(Clone, Copy, Default)]
struct MemoEntry {
    generation: u32,
    start: u32,
    length: u32,
}

impl TextMemo {
    /// Begins a batch with this many terms. Its text begins at the end of the output.
    pub fn begin_batch(&mut self, terms: usize, out: &[u8]) {
        self.base = out.len();
        if self.entries.len() < terms {
            self.entries.resize(terms, MemoEntry::default());
        }
        self.forget();
    }

    /// Forgets all positions.
    pub fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.fill(MemoEntry::default());
            self.generation = 1;
        }
    }

    /// Copies a term if it was written earlier in the batch. Otherwise returns false.
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

    /// Records that a term was written from `start` to the end of the output.
    #[inline]
    pub fn keep(&mut self, id: TermId, start: usize, out: &[u8]) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            *entry = MemoEntry {
                generation: self.generation,
                start: (start - self.base) as u32,
                length: (out.len() - start) as u32,
            };
        }
    }
}

/// Whether the text of a term may differ between messages if labels are made unique.
#[inline]
pub const fn contains_labels(kind: TermKind) -> bool {
    matches!(kind, TermKind::BlankNode | TermKind::TripleTerm)
}
