//! The contract of every codec, and how it is described and opened.
//!
//! A [`Decoder`] turns bytes into batches and an [`Encoder`] batches into bytes; neither does I/O,
//! looks at a clock or starts a thread. How the bytes are cut into pieces changes neither the
//! messages nor the error, and how messages are cut into batches changes no output byte.
//! [`input`] is what all decoders share.

pub mod batch;
pub mod carries;
pub mod contexts;
pub mod input;
pub mod messages;
pub mod options;
pub mod refuse;
pub mod sniff;
pub mod spec;
pub mod start;
pub mod values;

use std::sync::{Arc, LazyLock};

use self::batch::{Batch, BatchRef};
use self::carries::Carries;
use self::contexts::ContextLoader;
use self::values::{Given, Value};

use crate::model::error::{DecodeError, EncodeError};

/// Bytes to batches.
pub trait Decoder: Send {
    /// Takes a piece of the log, cut anywhere. Never fails, decodes nothing.
    fn feed(&mut self, piece: &[u8]);

    /// Marks the end of the log.
    fn finish(&mut self);

    /// The next batch; None means "feed me", and after [`finish`](Self::finish) "done".
    ///
    /// # Errors
    /// After every message completed before the error; the same error again on later calls.
    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError>;

    /// After an error: goes to the next delimiter and gives the bytes skipped (at most the first
    /// MiB of them). The skipped message keeps its index. None means "feed me and call again".
    ///
    /// # Errors
    /// The error itself, where the format offers no way to resume.
    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError>;

    /// Goes to the start of another log, with the same options: what was fed and met before is forgotten.
    fn reset(&mut self);

    /// Whether what is fed from now on belongs to other [`Split`]s: nothing more need be read.
    fn done(&self) -> bool {
        false
    }

    /// What the log says about itself, as far as read: complete once a batch was yielded. It is another
    /// one only where it says something else.
    fn header(&self) -> Arc<LogHeader> {
        LogHeader::none()
    }

    /// What was noticed so far: complete at the end of the log.
    fn noticed(&self) -> Noticed {
        Noticed::default()
    }
}

/// Batches to bytes. A format's is a [`Writer`](messages::Writer) in the one [loop](messages::MessageLoop).
pub trait Encoder: Send {
    /// Appends a batch's messages to `out`.
    ///
    /// # Errors
    /// The format has no logs of this kind, or a message cannot be written; `out` then ends with the last whole message before it.
    fn encode(&mut self, batch: BatchRef<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Appends what stands at the end of a log.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Goes to the start of another log, with the same options. What was left out is counted anew.
    fn reset(&mut self);

    /// What was left out so far, by name and count: cosmetic things, and losses asked for.
    fn dropped(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// What whoever reads the log should know, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// How a log is opened for reading, besides the options of its format.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Which messages may come in parts.
    pub parts: Parts,
    /// The part of the log to read, or all of it, where the format has splits.
    pub split: Option<Split>,
    /// The index of the first message, where that is known.
    pub first_index: Option<u64>,
    /// Gives remote contexts; without it none is at hand.
    pub contexts: Option<Arc<dyn ContextLoader>>,
}

/// Which messages a decoder may yield in parts, where they are larger than a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// None.
    #[default]
    Never,
    /// Those of many frames.
    Frames,
    /// All.
    Always,
}

/// Where the messages come from that are written, as far as that is known when the first of them is.
#[derive(Clone, Debug)]
pub struct Source {
    /// What the log is written in can hold.
    pub carries: Carries,
    /// The dialect of a text log.
    pub dialect: Option<Dialect>,
    /// The stream options of a log of the format that is written, by the names of the encoder's options.
    pub options: Vec<(String, Given)>,
    /// Whether they were asked for, and are not those of the log that is read.
    pub asked: bool,
    /// Whether its first message declares namespaces.
    pub namespaces: bool,
    /// Whether it is one message of many frames that is to stay so.
    pub flat: bool,
}

/// How messages are delimited in a text log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `# @message` comments.
    Comment,
    /// `MESSAGE` or `@message .` in a log announced by a version label.
    Directive,
    /// Nothing delimits.
    Plain,
}

impl Dialect {
    /// The dialect of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "comment" => Some(Self::Comment),
            "directive" => Some(Self::Directive),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }

    /// The name of the dialect.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Directive => "directive",
            Self::Plain => "plain",
        }
    }
}

/// A part of a log of lines: the messages after those delimiters whose lines begin in it. What precedes
/// the log's first delimiter belongs to the split that begins with the log.
///
/// So any cuts give splits that hold every message once. A decoder of a split is fed from the byte
/// before its start, or from the log's start, until it is [`done`](Decoder::done).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// First byte.
    pub start: u64,
    /// The byte after the last one.
    pub stop: u64,
    /// The dialect that is in force from the log's head on: what stands before a split says it.
    pub dialect: Dialect,
}

/// What a log says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHeader {
    /// The dialect of a text log, once a delimiter or an announcement was seen: that of its first
    /// message.
    pub dialect: Option<Dialect>,
    /// Whether a later message of a text log is in another dialect than the first.
    pub changes_dialect: bool,
    /// The version label of a text log.
    pub version_label: Option<String>,
    /// What the same format's encoder is to be given to say the same: names of its options, and values.
    pub options: Vec<(&'static str, Value)>,
    /// Of a log of frames, once that is known: whether all of them are one message.
    pub flat: Option<bool>,
}

impl LogHeader {
    /// That of a log that says nothing.
    #[must_use]
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<LogHeader>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// What was noticed while a log was read, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// Metadata entries that are left out: where the frames of a log are one message, those of all frames
    /// but the first.
    pub dropped_metadata: u64,
    /// At the end of the log: namespaces that its last declarations set, with no message behind them to
    /// carry them.
    pub trailing_namespaces: u64,
    /// Keys of objects that no context maps to an IRI, so that they were dropped with their values.
    pub dropped_keys: u64,
    /// The first of them, quoted.
    pub dropped_key: Option<String>,
    /// Comments that look like delimiters of messages and are none.
    pub look_alikes: u64,
    /// Where the first of them begin in the log.
    pub look_alike_offsets: Vec<u64>,
    /// What whoever reads the log should know, a sentence each.
    pub notes: Vec<String>,
}

/// Counts the delimiters of a split without decoding, so that its messages can be numbered.
pub trait DelimiterCounter: Send {
    /// Takes a piece of the log, as a decoder of the split is fed, and counts.
    fn feed(&mut self, piece: &[u8]);

    /// Marks the end of the log.
    fn finish(&mut self);

    /// Whether nothing more need be fed.
    fn done(&self) -> bool;

    /// Delimiters whose lines begin in the split.
    fn delimiters(&self) -> u64;

    /// Whether a message begins before the first of them: by a statement or an error, or as every log in
    /// the directive dialect begins with one.
    fn content_first(&self) -> bool;

    /// Whether the log changes its dialect behind its head, so that it cannot be read in splits.
    fn strayed(&self) -> bool;
}
