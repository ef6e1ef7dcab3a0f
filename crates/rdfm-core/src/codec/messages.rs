//! The message loop that all encoders share.
//!
//! - In: batches, which end between messages or, if a message is in parts, inside it; and a
//!   format's [`Writer`].
//! - Out: the log. Content that the format does not support is rejected, or counted if it
//!   may be omitted.
//! - Cost: a few writer calls per message, none per record.
//! - Law: after an error the output ends with the last complete message. The error is repeated on
//!   later calls.

use std::iter::Peekable;
use std::slice::Iter;

use super::batch::{BatchRef, LogRecord as _};
use super::options::{MERGE_GRAPHS, prefixes};
use super::spec::FormatSpec;
use super::unsupported::{Representable, WriteResult, check_supported};
use super::values::Values;
use super::{Encoder, LogEnd, LogPosition};
use crate::model::batch::{InForceNamespaces, LogBatch};
use crate::model::error::{EncodeError, ErrorClass};
use crate::model::limits::DEFAULT_MAX_MESSAGE_BYTES;
use crate::model::namespaces::NamespaceChange;
use crate::model::record::Record;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::TermId;

/// Maximum number of bytes to reserve before a batch is written.
const MAX_ROOM: usize = 16 << 20;

/// The error for a part of a message if the format needs complete messages.
const PART: &str =
    "a document contains a complete message, but this is a part of one; read the log without parts";

/// Header of a log with records of this type.
pub type Head<R> = <R as Record>::Head;

/// Writes messages in one format. It writes one log between two resets. After an error it must be
/// reset before it writes again.
pub trait Writer: Send + 'static {
    /// The records of its messages.
    type Record: Representable;

    /// If true, namespaces in force at the start of a batch are written before its first message,
    /// and are kept if that message is rejected. Otherwise they are written in the message.
    const NAMESPACES_BEFORE: bool = false;

    /// Whether a message may be written in parts.
    const PARTS: bool = true;

    /// Writes the header before the first message, once.
    ///
    /// # Errors
    /// If the format cannot express the header.
    fn write_message_head(
        &mut self,
        _head: &Head<Self::Record>,
        _out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        Ok(())
    }

    /// Begins a batch: term ids refer to new terms.
    fn begin_batch(&mut self, batch: &LogBatch<Self::Record>, out: &mut Vec<u8>);

    /// Begins a message. `number` is the number of messages before it.
    fn begin_message(&mut self, _batch: &LogBatch<Self::Record>, _number: u64, _out: &mut Vec<u8>) {
    }

    /// Whether the boundary before the current message is lost.
    ///
    /// # Errors
    /// If the log cannot contain a second message.
    fn check_second_message(&self) -> WriteResult<bool> {
        Ok(false)
    }

    /// Declares a namespace. Returns false if the format cannot express it.
    ///
    /// # Errors
    /// If the message cannot be written.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> WriteResult<bool>;

    /// Writes the records of a message, or of a part of it.
    ///
    /// # Errors
    /// If the message cannot be written. The caller removes its output from the buffer.
    fn write(
        &mut self,
        batch: &LogBatch<Self::Record>,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()>;

    /// Ends the message.
    fn end_message(&mut self, _out: &mut Vec<u8>) {}

    /// Ends the batch. Its last message may continue in the next one.
    fn end_batch(&mut self, _batch: &LogBatch<Self::Record>) {}

    /// Removes the current message, which was rejected: the log ends with the previous one.
    fn remove_message(&mut self, _out: &mut Vec<u8>) {}

    /// Continues an existing log that ends in this way.
    ///
    /// # Errors
    /// If the options do not allow another message after those of the log.
    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        Ok(())
    }

    /// Moves past a batch that a twin writes. If `open` is true, the batch may begin with the rest
    /// of a message. Returns whether the message before the batch is empty, or `None` if the output
    /// for the batch depends on earlier batches.
    fn skip(&mut self, _batch: &LogBatch<Self::Record>, _open: bool) -> Option<bool> {
        None
    }

    /// Returns a writer for batches that were skipped.
    fn twin(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Moves to a place in the log.
    fn go_to(&mut self, _place: LogPosition) {}

    /// Completes the log after a message, and returns the kind of its end. Returns `None` if the
    /// log cannot end there and be continued.
    fn pause(&mut self, _out: &mut Vec<u8>) -> Option<LogEnd> {
        Some(LogEnd::Content)
    }

    /// Ends the log, possibly within a message.
    fn finish(&mut self, _open: bool, _out: &mut Vec<u8>) {}

    /// Begins another log.
    fn reset(&mut self);

    /// Counts of omitted content, including those of the writer, in the order of the summary.
    fn count_dropped(&self, dropped: Dropped) -> Counts {
        dropped.counts()
    }

    /// A note for logs of only empty messages, if readers find no message in them.
    fn note_if_empty(&self) -> Option<Reason> {
        None
    }

    /// Notes as in [`Encoder::notes`], after this number of messages.
    fn notes(&self, _messages: u64) -> Vec<Reason> {
        Vec::new()
    }
}

/// Names and counts of omitted content.
pub type Counts = Vec<(&'static str, u64)>;

/// Omitted content counted by the loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dropped {
    /// Boundaries between messages that became one.
    pub boundaries: u64,
    /// Quads that lost their graph name.
    pub graph_names: u64,
    /// Namespace declarations.
    pub namespaces: u64,
    /// Metadata entries.
    pub metadata: u64,
}

impl Dropped {
    /// Names and counts.
    #[must_use]
    pub fn counts(self) -> Counts {
        vec![
            ("boundaries", self.boundaries),
            ("graph names", self.graph_names),
            ("namespaces", self.namespaces),
            ("metadata", self.metadata),
        ]
    }
}

/// Encoder of a format: a [`Writer`] in the loop over messages.
pub struct MessageLoop<W: Writer> {
    format: &'static FormatSpec,
    merge_graphs: bool,
    prefixes: Vec<(String, String)>,
    writer: W,
    /// The header before the first message, once written.
    head: Option<Head<W::Record>>,
    /// Number of messages begun.
    messages: u64,
    /// Whether any message has a record.
    has_records: bool,
    /// Number of bytes written for the current message.
    message_bytes: u64,
    /// Whether a message is larger than the default limit of readers.
    exceeds_limit: bool,
    /// Note for a finished log that contains only empty messages, which readers do not find.
    lost: Option<Reason>,
    /// Whether the last message continues in the next batch.
    open: bool,
    in_force: InForceNamespaces,
    /// Whether this encoder writes batches that another encoder skipped, so that the namespaces in
    /// force are known.
    is_twin: bool,
    /// Bytes to reserve: a little more than the previous batch needed.
    room: usize,
    dropped: Dropped,
    failed: Option<EncodeError>,
}

impl<W: Writer> MessageLoop<W> {
    /// Starts at the beginning of a log.
    pub fn new(format: &'static FormatSpec, values: &Values, writer: W) -> Self {
        Self {
            format,
            merge_graphs: values.is_on(&MERGE_GRAPHS),
            prefixes: prefixes(values),
            writer,
            head: None,
            messages: 0,
            has_records: false,
            message_bytes: 0,
            exceeds_limit: false,
            lost: None,
            open: false,
            in_force: InForceNamespaces::default(),
            is_twin: false,
            room: 0,
            dropped: Dropped::default(),
            failed: None,
        }
    }

    /// The writer.
    #[cfg(test)]
    pub fn writer_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes the header before the first batch. All later batches must have the same header.
    fn write_head(
        &mut self,
        batch: &LogBatch<W::Record>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let length = out.len();
        let result = match &self.head {
            None => self.writer.write_message_head(batch.head(), out),
            Some(head) if head == batch.head() => return Ok(()),
            Some(head) => {
                let reason = W::Record::different_head_reason(head, batch.head());
                Err((ErrorClass::Unsupported, reason.into()))
            }
        };
        let (class, reason) = match result {
            Ok(()) => {
                self.head = Some(batch.head().clone());
                return Ok(());
            }
            Err(error) => error,
        };
        out.truncate(length);
        Err(EncodeError {
            format: self.format.name,
            class,
            reason,
            message_index: batch.first_message_index(),
        })
    }

    fn write_batch(
        &mut self,
        batch: &LogBatch<W::Record>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let carries = self.format.carries;
        let mut changes = batch.namespace_changes().iter().peekable();
        if !carries.namespaces {
            self.dropped.namespaces += changes.len() as u64;
            changes = [].iter().peekable();
        }
        if !carries.metadata {
            self.dropped.metadata += batch.all_metadata().len() as u64;
        }
        let stopped = |message: usize, (class, reason)| EncodeError {
            format: self.format.name,
            class,
            reason,
            message_index: batch.message_index(message),
        };
        self.has_records |= !batch.records().is_empty();
        self.writer.begin_batch(batch, out);
        if W::NAMESPACES_BEFORE {
            self.declare_in_force(batch, out)
                .map_err(|error| stopped(0, error))?;
        }
        let mut rejection = check_supported(batch, self.format, self.merge_graphs).err();
        for message in 0..batch.len() {
            let reason = rejection.take_if(|(index, _)| *index == message);
            let reason = reason.map(|(_, reason)| reason);
            self.write_message(batch, message, reason, &mut changes, out)
                .map_err(|error| stopped(message, error))?;
        }
        self.writer.end_batch(batch);
        Ok(())
    }

    /// Declares the namespaces in force before the first message of the batch.
    fn declare_in_force(
        &mut self,
        batch: &LogBatch<W::Record>,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        if self.is_twin {
            return Ok(());
        }
        let first = self.messages == 0;
        let prefixes = self.prefixes.iter().filter(|_| first);
        let prefixes = prefixes.map(|(name, iri)| (name.as_bytes(), iri.as_bytes()));
        let includes_in_force = first || self.format.carries.namespaces;
        let in_force = includes_in_force.then(|| self.in_force.new_namespaces(batch));
        for (name, iri) in prefixes.chain(in_force.into_iter().flatten()) {
            let declared = self.writer.declare(name, iri, out)?;
            self.dropped.namespaces += u64::from(!declared);
        }
        Ok(())
    }

    /// Writes a message, or removes it on error.
    #[inline]
    fn write_message(
        &mut self,
        batch: &LogBatch<W::Record>,
        message: usize,
        rejection: Option<Reason>,
        changes: &mut Peekable<Iter<'_, NamespaceChange>>,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        let start = out.len();
        let begins = !(message == 0 && batch.continued() && self.open);
        if begins {
            self.writer.begin_message(batch, self.messages, out);
        }
        let result = self.write_content(batch, message, begins, rejection, changes, out);
        let merged = result.inspect_err(|_| {
            out.truncate(start);
            if begins {
                self.writer.remove_message(out);
            }
        })?;
        self.messages += u64::from(begins);
        self.dropped.boundaries += u64::from(merged);
        if batch.has_graphs() && !self.format.carries.graphs {
            let named = |record: &&W::Record| record.graph() != TermId::DEFAULT_GRAPH;
            self.dropped.graph_names += batch.message(message).iter().filter(named).count() as u64;
        }
        self.open = batch.continues() && message + 1 == batch.len();
        if !self.open {
            self.writer.end_message(out);
        }
        let earlier = if begins { 0 } else { self.message_bytes };
        self.message_bytes = earlier + out.len().saturating_sub(start) as u64;
        self.exceeds_limit |= self.message_bytes > DEFAULT_MAX_MESSAGE_BYTES;
        Ok(())
    }

    /// Writes a message except its end. Returns whether its boundary is lost.
    #[inline]
    fn write_content(
        &mut self,
        batch: &LogBatch<W::Record>,
        message: usize,
        begins: bool,
        rejection: Option<Reason>,
        changes: &mut Peekable<Iter<'_, NamespaceChange>>,
        out: &mut Vec<u8>,
    ) -> WriteResult<bool> {
        if message == 0 && !W::NAMESPACES_BEFORE {
            self.declare_in_force(batch, out)?;
        }
        let table = batch.table();
        while let Some(change) = changes.next_if(|change| change.message as usize == message) {
            let (name, iri) = (table.span(change.name), table.span(change.iri));
            let declared = self.writer.declare(name, iri, out)?;
            self.dropped.namespaces += u64::from(!declared);
        }
        let part = (batch.continued() && message == 0)
            || (batch.continues() && message + 1 == batch.len());
        if part && !W::PARTS {
            return Err((ErrorClass::Unsupported, Reason::new(PART)));
        }
        if let Some(reason) = rejection {
            return Err((ErrorClass::Unsupported, reason));
        }
        let merged = begins && self.messages > 0 && self.writer.check_second_message()?;
        self.writer.write(batch, message, out)?;
        Ok(merged)
    }
}

impl<W: Writer> Encoder for MessageLoop<W> {
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let Some(batch) = W::Record::from_ref(batch) else {
            let (kind, supported) = (batch.kind().name(), W::Record::KIND.name());
            let title = self.format.title;
            return Err(EncodeError {
                format: self.format.name,
                class: ErrorClass::Unsupported,
                reason: format!("{title} can represent only {supported}, not {kind}").into(),
                message_index: self.messages,
            });
        };
        let before = out.len();
        let mut result = self.write_head(batch, out);
        if result.is_ok() && !batch.is_empty() {
            out.reserve(self.room);
            result = self.write_batch(batch, out);
        }
        let length = out.len().saturating_sub(before);
        self.room = (length + length / 8).min(MAX_ROOM);
        self.failed = result.as_ref().err().cloned();
        result
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.head.is_none() {
            self.write_head(&LogBatch::empty(), out)?;
        }
        self.writer.finish(self.open, out);
        self.open = false;
        if self.messages > 0 && !self.has_records {
            self.lost = self.writer.note_if_empty();
        }
        Ok(())
    }

    fn continue_log(&mut self, end: LogEnd) -> Result<(), Reason> {
        self.writer.continue_log(end)
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Result<Option<LogEnd>, EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        Ok(if self.open {
            None
        } else {
            self.writer.pause(out)
        })
    }

    fn skip(&mut self, batch: BatchRef<'_>) -> Option<LogPosition> {
        let batch = W::Record::from_ref(batch)?;
        let continues_log = self.messages > 0 && self.head.as_ref() == Some(batch.head());
        if !continues_log || self.failed.is_some() || batch.is_empty() {
            return None;
        }
        if self.format.carries.namespaces
            && !(batch.namespace_changes().is_empty() && self.in_force.is_at_start_of(batch))
        {
            return None;
        }
        let position = LogPosition {
            messages: self.messages,
            open: self.open,
            empty: self.writer.skip(batch, self.open)?,
        };
        self.in_force.advance_to(batch);
        self.has_records |= !batch.records().is_empty();
        let is_continued = batch.continued() && self.open;
        if batch.len() > 1 || !is_continued {
            self.message_bytes = 0;
        }
        self.messages += batch.len() as u64 - u64::from(is_continued);
        self.open = batch.continues();
        Some(position)
    }

    fn twin(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(Self {
            head: self.head.clone(),
            prefixes: Vec::new(),
            is_twin: true,
            merge_graphs: self.merge_graphs,
            ..Self::new(self.format, &Values::default(), self.writer.twin()?)
        }))
    }

    fn go_to(&mut self, position: LogPosition) {
        self.messages = position.messages;
        self.open = position.open;
        self.writer.go_to(position);
    }

    fn reset(&mut self) {
        self.writer.reset();
        self.head = None;
        self.messages = 0;
        self.has_records = false;
        self.message_bytes = 0;
        self.exceeds_limit = false;
        self.lost = None;
        self.open = false;
        self.in_force = InForceNamespaces::default();
        self.dropped = Dropped::default();
        self.failed = None;
    }

    fn dropped_counts(&self) -> Vec<(&'static str, u64)> {
        let mut dropped = self.writer.count_dropped(self.dropped);
        dropped.push(("empty messages", u64::from(self.lost.is_some())));
        dropped.retain(|(_, count)| *count > 0);
        dropped
    }

    fn notes(&self) -> Vec<Reason> {
        let mut notes = self.writer.notes(self.messages);
        notes.extend(self.lost.clone());
        if self.exceeds_limit {
            let message = W::Record::MESSAGE;
            let text = format!("a {message} has more than 64 MiB, the default limit of readers");
            let remedy = Remedy {
                text: "or maxMessageBytes in Spark".into(),
                ..Remedy::limit("max_message_bytes")
            };
            notes.push(Reason::new(text).with(remedy));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::super::carries::{Capabilities, TripleTerms};
    use super::super::options::PREFIXES;
    use super::super::spec::{Append, Continuable, Kind, OptionSpec};
    use super::super::values::GivenValue;
    use super::*;
    use crate::model::batch::MessageBatch;
    use crate::model::builder::BatchBuilder;
    use crate::model::limits::Limits;
    use crate::model::term::{Quad, TermKind};

    static OPTIONS: [OptionSpec; 2] = [MERGE_GRAPHS, PREFIXES];

    static TOY: FormatSpec = FormatSpec {
        name: "toy",
        title: "Toy",
        kinds: &[Kind::Messages],
        suffixes: &[],
        media_types: &[],
        aliases: &[],
        carries: Capabilities {
            graphs: false,
            generalized: false,
            triple_terms: TripleTerms::No,
            metadata: false,
            ..Capabilities::ALL
        },
        binary: false,
        sniff: None,
        resumable: false,
        skips_lines: false,
        continuable: Continuable::Always,
        value_options: &[],
        reads: &[],
        writes: &[&[MERGE_GRAPHS, PREFIXES]],
        decoder: |_, _| Err("none".into()),
        encoder: |_, _| Err("none".into()),
        splitter: None,
        append: Append::Decode,
    };

    /// Writes `(`, the subjects and `)`. If `PLAIN`, namespaces are written in messages and parts
    /// are rejected.
    #[derive(Default)]
    struct Toy<const PLAIN: bool> {
        /// Whether messages after the first are rejected, or lose their boundaries.
        second: Option<Result<(), ()>>,
        /// The note for a log without records.
        note_if_empty: Option<Reason>,
    }

    impl<const PLAIN: bool> Writer for Toy<PLAIN> {
        type Record = Quad;

        const NAMESPACES_BEFORE: bool = !PLAIN;

        const PARTS: bool = !PLAIN;

        fn begin_batch(&mut self, _batch: &MessageBatch, _out: &mut Vec<u8>) {}

        fn begin_message(&mut self, _batch: &MessageBatch, number: u64, out: &mut Vec<u8>) {
            out.extend_from_slice(format!("{number}(").as_bytes());
        }

        fn check_second_message(&self) -> WriteResult<bool> {
            match self.second {
                None => Ok(false),
                Some(Ok(())) => Ok(true),
                Some(Err(())) => Err((ErrorClass::Unsupported, "a second".into())),
            }
        }

        fn declare(&mut self, name: &[u8], _iri: &[u8], out: &mut Vec<u8>) -> WriteResult<bool> {
            if name == b"no" {
                return Ok(false);
            }
            out.extend_from_slice(name);
            out.push(b':');
            Ok(true)
        }

        fn write(
            &mut self,
            batch: &MessageBatch,
            message: usize,
            out: &mut Vec<u8>,
        ) -> WriteResult<()> {
            for quad in batch.message(message) {
                let text = batch.table().text(quad.subject);
                out.extend_from_slice(text);
                if text == b"bad" {
                    return Err((ErrorClass::Limit, "bad".into()));
                }
            }
            Ok(())
        }

        fn end_message(&mut self, out: &mut Vec<u8>) {
            out.push(b')');
        }

        fn remove_message(&mut self, out: &mut Vec<u8>) {
            out.push(b'!');
        }

        fn finish(&mut self, open: bool, out: &mut Vec<u8>) {
            out.extend_from_slice(if open { b"..." } else { b"." });
        }

        fn note_if_empty(&self) -> Option<Reason> {
            self.note_if_empty.clone()
        }

        fn reset(&mut self) {}
    }

    fn toy<const PLAIN: bool>(values: &Values) -> MessageLoop<Toy<PLAIN>> {
        MessageLoop::new(&TOY, values, Toy::default())
    }

    fn values(merge_graphs: bool) -> Values {
        let pairs = vec![("own".to_owned(), "i".to_owned())];
        let given = [
            ("merge_graphs", merge_graphs.into()),
            ("prefixes", GivenValue::Pairs(pairs)),
        ];
        Values::read(OPTIONS.iter(), given).unwrap()
    }

    /// Adds a quad with this subject. Some subjects represent quads that the format does not
    /// support.
    fn add(builder: &mut BatchBuilder, subject: &str) {
        let mut term = |kind, text: &str| builder.add_simple(kind, text.as_bytes(), 0).unwrap();
        let iri = term(TermKind::Iri, "i");
        let quad = Quad {
            subject: term(TermKind::Iri, subject),
            predicate: if subject == "odd" {
                term(TermKind::Literal, "p")
            } else {
                iri
            },
            object: iri,
            graph: if subject == "named" {
                iri
            } else {
                TermId::DEFAULT_GRAPH
            },
        };
        builder.add_quad(quad).unwrap();
    }

    fn write_message(builder: &mut BatchBuilder, subjects: &[&str]) {
        builder.begin_message(0);
        for subject in subjects {
            add(builder, subject);
        }
        builder.end_message();
    }

    fn write_batch(messages: &[&[&str]]) -> MessageBatch {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.start_at(5);
        for subjects in messages {
            write_message(&mut builder, subjects);
        }
        builder.take().unwrap()
    }

    #[test]
    fn messages_before_an_error_are_kept_and_the_error_is_repeated() {
        for (rejected, class) in [
            ("bad", ErrorClass::Limit),
            ("odd", ErrorClass::Unsupported),
            ("named", ErrorClass::Unsupported),
        ] {
            let mut encoder = toy::<false>(&Values::default());
            let log = write_batch(&[&["a"], &["b", rejected], &["c"]]);
            let mut out = b"before ".to_vec();
            let error = encoder.encode((&log).into(), &mut out).unwrap_err();
            assert_eq!(
                (error.format, error.class, error.message_index),
                ("toy", class, 6)
            );
            assert_eq!(out, b"before 0(a)!");
            assert_eq!(
                encoder.encode((&MessageBatch::empty()).into(), &mut out),
                Err(error.clone())
            );
            assert_eq!(encoder.finish(&mut out), Err(error));
            assert_eq!(out, b"before 0(a)!");

            encoder.reset();
            encoder
                .encode((&write_batch(&[&["a"], &[]])).into(), &mut out)
                .unwrap();
            encoder.finish(&mut out).unwrap();
            assert_eq!(out, b"before 0(a)!0(a)1().");
        }
    }

    #[test]
    fn parts_are_one_message_and_only_the_part_with_an_error_is_removed() {
        let parts = |last: &str| {
            let mut builder = BatchBuilder::new(Limits::default());
            write_message(&mut builder, &["a"]);
            builder.begin_message(0);
            add(&mut builder, "b");
            let first = builder.take_part();
            add(&mut builder, last);
            builder.end_message();
            write_message(&mut builder, &["d"]);
            [first, builder.take().unwrap()]
        };
        let mut encoder = toy::<false>(&Values::default());
        let [first, second] = parts("c");
        let mut out = Vec::new();
        encoder.encode((&first).into(), &mut out).unwrap();
        assert_eq!(out, b"0(a)1(b");
        encoder.encode((&second).into(), &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        assert_eq!(out, b"0(a)1(bc)2(d).");

        encoder.reset();
        out.clear();
        encoder.encode((&first).into(), &mut out).unwrap();
        assert!(encoder.encode((&parts("bad")[1]).into(), &mut out).is_err());
        assert_eq!(out, b"0(a)1(b");

        encoder.reset();
        out.clear();
        encoder.encode((&first).into(), &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        assert_eq!(out, b"0(a)1(b...");

        // A continuation without its beginning becomes a separate message.
        encoder.reset();
        out.clear();
        encoder.encode((&second).into(), &mut out).unwrap();
        assert_eq!(out, b"0(c)1(d)");

        let mut without_parts = toy::<true>(&Values::default());
        out.clear();
        let error = without_parts.encode((&first).into(), &mut out).unwrap_err();
        assert_eq!(error.reason, Reason::new(PART));
        assert_eq!((error.message_index, out), (1, b"0(a)!".to_vec()));
    }

    #[test]
    fn namespaces_are_written_before_or_in_messages() {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.add_namespace(b"in", b"i").unwrap();
        write_message(&mut builder, &["a"]);
        let first = builder.take().unwrap();
        write_message(&mut builder, &["b"]);
        builder.add_namespace(b"late", b"i").unwrap();
        write_message(&mut builder, &["c"]);
        let second = builder.take().unwrap();

        let mut out = Vec::new();
        let mut before = toy::<false>(&values(false));
        before.encode((&first).into(), &mut out).unwrap();
        before.encode((&second).into(), &mut out).unwrap();
        assert_eq!(out, b"own:0(in:a)1(b)2(late:c)");
        // A batch that does not follow the previous one declares the namespaces in force.
        before.encode((&second).into(), &mut out).unwrap();
        assert_eq!(out, b"own:0(in:a)1(b)2(late:c)in:3(b)4(late:c)");
        out.clear();
        let mut plain = toy::<true>(&values(false));
        plain.encode((&first).into(), &mut out).unwrap();
        plain.encode((&second).into(), &mut out).unwrap();
        plain.encode((&second).into(), &mut out).unwrap();
        assert_eq!(out, b"0(own:in:a)1(b)2(late:c)3(in:b)4(late:c)");

        let bad = write_batch(&[&["bad"]]);
        out.clear();
        before.reset();
        assert!(before.encode((&bad).into(), &mut out).is_err());
        plain.reset();
        assert!(plain.encode((&bad).into(), &mut out).is_err());
        assert_eq!(out, b"own:!!");
    }

    #[test]
    fn omissions_are_counted() {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.add_namespace(b"no", b"i").unwrap();
        builder.add_namespace(b"in", b"i").unwrap();
        write_message(&mut builder, &["named", "a", "named"]);
        builder.begin_message(0);
        builder.add_metadata("key", b"value").unwrap();
        builder.end_message();
        let log = builder.take().unwrap();

        let mut encoder = toy::<true>(&values(true));
        encoder.writer_mut().second = Some(Ok(()));
        for _ in 0..2 {
            encoder.encode((&log).into(), &mut Vec::new()).unwrap();
            let dropped = [
                ("boundaries", 1),
                ("graph names", 2),
                ("namespaces", 1),
                ("metadata", 1),
            ];
            assert_eq!(encoder.dropped_counts(), dropped);
            encoder.reset();
            assert_eq!(encoder.dropped_counts(), []);
        }
    }

    #[test]
    fn unreadable_empty_messages_are_counted_and_noted() {
        let mut encoder = toy::<true>(&Values::default());
        encoder.writer_mut().note_if_empty = Some("lost".into());
        let lost = (vec![("empty messages", 1)], vec![Reason::new("lost")]);
        for (messages, counted) in [
            (&[&[][..]][..], true),
            (&[&[], &[]], true),
            (&[&[], &["a"]], false),
            (&[], false),
        ] {
            if !messages.is_empty() {
                let log = write_batch(messages);
                encoder.encode((&log).into(), &mut Vec::new()).unwrap();
            }
            assert_eq!(encoder.dropped_counts(), [], "before the end");
            encoder.finish(&mut Vec::new()).unwrap();
            let actual = (encoder.dropped_counts(), encoder.notes());
            assert_eq!(actual == lost, counted, "{messages:?}: {actual:?}");
            encoder.reset();
        }
    }

    #[test]
    fn a_writer_can_reject_a_second_message() {
        let mut encoder = toy::<true>(&Values::default());
        encoder.writer_mut().second = Some(Err(()));
        let mut out = Vec::new();
        encoder
            .encode((&write_batch(&[&["a"]])).into(), &mut out)
            .unwrap();
        let error = encoder
            .encode((&write_batch(&[&["b"]])).into(), &mut out)
            .unwrap_err();
        assert_eq!((error.reason, error.message_index), ("a second".into(), 5));
        assert_eq!(out, b"0(a)!");
    }
}
