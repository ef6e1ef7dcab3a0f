//! The codec contract, and the types that describe and open codecs.
//!
//! A [`Decoder`] turns bytes into batches and an [`Encoder`] turns batches into bytes. Neither does
//! I/O, reads a clock or starts a thread. The division of the bytes into pieces changes neither the
//! messages nor the error, and the division of messages into batches does not change the output.
//! All decoders share [`input`].

pub mod batch;
pub mod carries;
pub mod chain;
pub mod contexts;
pub mod input;
pub mod messages;
pub mod options;
pub(crate) mod result_head;
pub mod sniff;
pub mod spec;
pub mod start;
pub(crate) mod unknown;
pub mod unsupported;
pub mod values;

use std::sync::{Arc, LazyLock};

use self::batch::{Batch, BatchRef};
use self::carries::Capabilities;
use self::contexts::ContextLoader;
use self::values::{GivenValue, Value};

use crate::codec::input::ReadError;
use crate::model::error::{DecodeError, EncodeError};
use crate::model::remedy::Reason;

/// Decodes bytes into batches.
pub trait Decoder: Send {
    /// Adds a piece of the log, cut anywhere. Never fails, because nothing is decoded yet.
    fn feed(&mut self, piece: &[u8]);

    /// Marks the end of the log.
    fn finish(&mut self);

    /// Returns the next batch. `None` means that more input is needed or, after
    /// [`finish`](Self::finish), that there are no more batches.
    ///
    /// # Errors
    /// The error is returned after all messages completed before it, and again on later calls.
    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError>;

    /// After an error, skips to the next delimiter and returns the skipped bytes (at most the first
    /// MiB). The skipped message keeps its index. `None` means that more input is needed before
    /// another call.
    ///
    /// # Errors
    /// Returns the same error again if the format cannot resume.
    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError>;

    /// Whether bytes are missing in the last result of [`skip_message`](Self::skip_message), for
    /// formats of lines.
    fn is_skip_cut(&self) -> bool {
        false
    }

    /// Returns the lines skipped since the last call, with [`Opening::skip_lines`]. Call it after
    /// each [`next_batch`](Self::next_batch): if it returns lines, `next_batch` may have returned
    /// `None` because of them, so call that again before feeding more.
    fn take_skipped_lines(&mut self) -> Vec<(DecodeError, Vec<u8>)> {
        Vec::new()
    }

    /// Resets the state for another log with the same options. Discards all input and errors.
    fn reset(&mut self);

    /// Whether all further input belongs to other [`Split`]s, so nothing more needs to be read.
    fn is_done(&self) -> bool {
        false
    }

    /// Header of the log as far as it has been read, complete once a batch has been yielded. The
    /// `Arc` is replaced only if the header changes.
    fn header(&self) -> Arc<LogHeader> {
        LogHeader::none()
    }

    /// Observations so far, complete at the end of the log.
    fn observations(&self) -> Observations {
        Observations::default()
    }
}

/// Encodes batches to bytes. Formats implement a [`Writer`](messages::Writer), which the shared
/// [loop](messages::MessageLoop) drives.
pub trait Encoder: Send {
    /// Appends the messages of a batch to `out`.
    ///
    /// # Errors
    /// If the format has no logs of this kind, or a message cannot be written. `out` then ends with
    /// the last complete message before it.
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Appends the end of a log.
    ///
    /// # Errors
    /// See [`encode`](Self::encode).
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Continues an existing log that ends in this way. Call before the first batch.
    ///
    /// # Errors
    /// If the encoder's options do not allow another message after those of the log.
    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        Err("the log is one message, so no messages can be appended".into())
    }

    /// Completes the log as written so far, so that it can end here and be continued. Returns the
    /// kind of end, or `None` if the log cannot end here. A log cannot end inside a message, and a
    /// log that consists of one message cannot be continued.
    ///
    /// # Errors
    /// See [`encode`](Self::encode).
    fn pause(&mut self, _out: &mut Vec<u8>) -> Result<Option<LogEnd>, EncodeError> {
        Ok(None)
    }

    /// Moves past a batch that a [`twin`](Self::twin) writes, and returns the place where the batch
    /// begins. Returns `None`, and does nothing, if the output for the batch depends on more than
    /// this place.
    fn skip(&mut self, _batch: BatchRef<'_>) -> Option<LogPosition> {
        None
    }

    /// Returns an encoder that writes batches at the places that [`skip`](Self::skip) returns,
    /// until this encoder writes another batch itself. The output and the errors are the same as
    /// those of this encoder.
    fn twin(&self) -> Option<Box<dyn Encoder>> {
        None
    }

    /// Moves to a place in the log. For twins.
    fn go_to(&mut self, _place: LogPosition) {}

    /// Resets the state for another log with the same options, including the counts of
    /// [`dropped_counts`](Self::dropped_counts).
    fn reset(&mut self);

    /// Names and counts of the data omitted so far: cosmetic details, and data dropped on request.
    fn dropped_counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Notes for readers of the log, one sentence each.
    fn notes(&self) -> Vec<Reason> {
        Vec::new()
    }
}

/// A line that a reader skipped.
#[derive(Debug)]
pub struct SkippedLine {
    /// Offset of its first byte in the log.
    pub offset: u64,
    /// Its bytes, without the line end.
    pub text: Vec<u8>,
    /// The reason.
    pub error: ReadError,
}

/// A place between two batches of a log that is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// Number of messages begun before this place; at least 1.
    pub messages: u64,
    /// Whether the last of these messages continues.
    pub open: bool,
    /// Whether the last of these messages is empty.
    pub empty: bool,
}

/// The end of a log, for an encoder that continues it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogEnd {
    /// Before the first message and the first delimiter.
    Start,
    /// With a message. In formats with delimiters, the next message needs one before it.
    #[default]
    Content,
    /// With a delimiter.
    Delimiter,
    /// Inside a transaction.
    Inside,
}

impl LogEnd {
    /// Returns the end with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Start, Self::Content, Self::Delimiter, Self::Inside]
            .into_iter()
            .find(|end| end.name() == name)
    }

    /// Name of the end.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Content => "content",
            Self::Delimiter => "delimiter",
            Self::Inside => "inside",
        }
    }
}

/// Settings for opening a log, apart from the options of its format.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The messages that may be returned in parts.
    pub parts: Parts,
    /// Whether to skip a line that is not a statement and keep the rest of its message. For formats
    /// that can do so ([`spec::FormatSpec::skips_lines`]).
    pub skip_lines: bool,
    /// The part of the log to read, or `None` for all of it. For formats with splits.
    pub split: Option<Split>,
    /// Index of the first message, if known.
    pub first_message_index: Option<u64>,
    /// Whether to check restart marks, and warn about wrong ones.
    pub checks_marks: bool,
    /// Loads remote contexts. If `None`, no remote context is available.
    pub contexts: Option<Arc<dyn ContextLoader>>,
}

/// The messages that a decoder may yield in parts if they are larger than a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// No message.
    #[default]
    Never,
    /// Messages that span many frames.
    Frames,
    /// Any message.
    Always,
}

/// The origin of the messages to be written, as far as it is known before the first one.
#[derive(Clone, Debug)]
pub struct Source {
    /// Capabilities of the source format.
    pub carries: Capabilities,
    /// Dialect of a text log.
    pub dialect: Option<Dialect>,
    /// Stream options of a source log in the output format, by the names of the encoder's options.
    pub options: Vec<(String, GivenValue)>,
    /// Whether the options were requested, not taken from the source log.
    pub requested: bool,
    /// Whether the first message declares namespaces.
    pub namespaces: bool,
    /// Whether the source log is one message in many frames, which should remain one message.
    pub flat: bool,
    /// Whether the options are those of the log that the encoder continues, and cannot change.
    pub continued: bool,
}

/// The way messages are delimited in a text log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `# @message` comments.
    Comment,
    /// `MESSAGE` or `@message .` in a log announced by a version label.
    Directive,
    /// No delimiters.
    Plain,
}

impl Dialect {
    /// Returns the dialect with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "comment" => Some(Self::Comment),
            "directive" => Some(Self::Directive),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }

    /// Name of the dialect.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Directive => "directive",
            Self::Plain => "plain",
        }
    }
}

/// A byte range of a log that can be read separately.
///
/// - In a line-based log: the messages after the delimiters whose lines begin in the split. Content
///   before the first delimiter of the log belongs to the split at the start of the log.
/// - In a log of frames with restart marks: the messages from each marked frame that begins in the
///   split up to the next marked frame. Frames before the first mark of the log belong to the split
///   at its start.
///
/// Wherever the log is cut, its splits together contain every message exactly once. A decoder of
/// a split is fed from the byte before its start, or from the start of the log, until it is
/// [`is_done`](Decoder::is_done).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub stop: u64,
    /// Dialect of a text log. The bytes before the split determine it. `None` is the comment
    /// dialect. A split of a plain log contains the lines that begin in it, which are a part of the
    /// log's only message.
    pub dialect: Option<Dialect>,
}

impl Split {
    /// The dialect of a text log.
    #[must_use]
    pub fn text_dialect(&self) -> Dialect {
        self.dialect.unwrap_or(Dialect::Comment)
    }

    /// Whether the split contains lines of the only message of a plain log.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.dialect == Some(Dialect::Plain)
    }
}

/// Properties that a log states about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHeader {
    /// Dialect of a text log, once a delimiter or an announcement has been read. It is the dialect
    /// of the first message.
    pub dialect: Option<Dialect>,
    /// Whether a later message of a text log has a different dialect from the first.
    pub changes_dialect: bool,
    /// The version label of a text log.
    pub version_label: Option<String>,
    /// Options, with their values, with which an encoder of the same format would write the same
    /// header.
    pub options: Vec<(&'static str, Value)>,
    /// For logs of frames, once known: whether all frames are one message.
    pub flat: Option<bool>,
    /// Whether the first frame has a restart mark, so the log can be read in splits.
    pub restarts: bool,
}

impl LogHeader {
    /// The header of a log that states nothing.
    #[must_use]
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<LogHeader>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// Observations about a log, as far as it has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// Number of omitted metadata entries. If the frames of a log are one message, only the
    /// metadata of the first frame is kept.
    pub dropped_metadata: u64,
    /// In a log in columns, the size in bytes of each column, and of the lookup entries.
    pub column_bytes: Vec<(&'static str, u64)>,
    /// At the end of the log: number of namespaces declared after the last message, so no message
    /// contains them.
    pub trailing_namespaces: u64,
    /// Number of object keys that no context maps to an IRI. They were dropped with their values.
    pub dropped_keys: u64,
    /// The first of these keys, quoted.
    pub dropped_key: Option<String>,
    /// Number of comments that look like message delimiters but are not.
    pub look_alikes: u64,
    /// Offsets of the first such comments in the log.
    pub look_alike_offsets: Vec<u64>,
    /// Data that is legal but suspicious.
    pub warnings: DecoderWarnings,
    /// Notes for readers of the log, one sentence each.
    pub notes: Vec<Reason>,
    /// The note if Jelly logs may have been joined into one message. This note is not in `notes`.
    pub joined: Option<Reason>,
    /// The end of a log with delimiters, once it has been reached.
    pub end: Option<LogEnd>,
    /// The reason if no message can be appended to the log.
    pub closed: Option<&'static str>,
    /// If the log ends inside a message, or after an error that may be due to truncation: offset
    /// after the last message that is certainly complete, with its delimiter.
    pub complete: Option<u64>,
    /// The reason if the last message may be incomplete, although it is valid.
    pub incomplete: Option<&'static str>,
}

/// Legal but suspicious data that only the decoder sees, by rule of `validate`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecoderWarnings(pub Vec<DecoderWarning>);

/// The findings of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecoderWarning {
    /// Name of the rule.
    pub rule: &'static str,
    /// Number of findings.
    pub count: u64,
    /// The first findings.
    pub first: Vec<SuspiciousData>,
}

/// A finding of a decoder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuspiciousData {
    /// Offset in the log, if known.
    pub byte_offset: Option<u64>,
    /// Index of the frame, for logs of frames.
    pub frame: Option<u64>,
    /// The data found, and what was expected.
    pub text: String,
}

impl DecoderWarnings {
    /// Maximum number of findings that are described per rule. Others are only counted.
    const LISTED: usize = 100;

    /// Adds a finding.
    #[cold]
    pub fn add(&mut self, rule: &'static str, describe: impl FnOnce() -> SuspiciousData) {
        let index = self.0.iter().position(|warning| warning.rule == rule);
        let index = index.unwrap_or_else(|| {
            self.0.push(DecoderWarning {
                rule,
                count: 0,
                first: Vec::new(),
            });
            self.0.len() - 1
        });
        if let Some(warning) = self.0.get_mut(index) {
            warning.count += 1;
            if warning.first.len() < Self::LISTED {
                warning.first.push(describe());
            }
        }
    }
}

/// Counts the delimiters of a split without decoding it, so that its messages can be numbered. In a
/// log of frames it counts the messages.
pub trait DelimiterCounter: Send {
    /// Counts the delimiters in the next piece. The pieces are the same as for a decoder of the
    /// split.
    fn feed(&mut self, piece: &[u8]);

    /// Marks the end of the log.
    fn finish(&mut self);

    /// Whether no more input is needed.
    fn is_done(&self) -> bool;

    /// Number of delimiters whose lines begin in the split, or of its messages in a log of frames.
    fn delimiters(&self) -> u64;

    /// Whether a message begins before the first delimiter: with a statement, with an error, or
    /// because every log in the directive dialect begins with a message.
    fn is_content_first(&self) -> bool;

    /// Whether the log cannot be read in splits: it changes its dialect after its head, or its
    /// frames are damaged.
    fn is_indivisible(&self) -> bool;
}
