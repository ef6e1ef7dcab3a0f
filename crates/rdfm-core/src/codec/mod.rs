//! The contract of every codec, and the options that reach it.
//!
//! A [`Decoder`] turns bytes into batches and an [`Encoder`] batches into bytes; neither does I/O,
//! looks at a clock or starts a thread. How the bytes are cut into pieces changes neither the
//! messages nor the error, and how messages are cut into batches changes no output byte.

pub mod contexts;
pub mod format;
pub mod refuse;
pub mod sniff;
pub mod start;

use std::sync::Arc;

use self::contexts::ContextLoader;

use crate::formats::jelly::options::JellyOptions;
use crate::model::batch::MessageBatch;
use crate::model::error::{DecodeError, EncodeError};
use crate::model::limits::Limits;

/// Bytes to batches.
pub trait Decoder: Send {
    /// Takes a piece of the log, cut anywhere. Never fails, decodes nothing.
    fn feed(&mut self, piece: &[u8]);

    /// Marks the end of the log.
    fn finish(&mut self);

    /// The next batch; None means "feed me", and after [`finish`](Self::finish) "done".
    ///
    /// # Errors
    /// After every message completed before the fault; the same error again on later calls.
    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError>;

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

    /// What the log says about itself, as far as read: complete once a batch was yielded.
    fn header(&self) -> LogHeader {
        LogHeader::default()
    }
}

/// Batches to bytes.
pub trait Encoder: Send {
    /// Appends a batch's messages to `out`.
    ///
    /// # Errors
    /// A message cannot be written; `out` then ends with the last whole message before it.
    fn encode(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) -> Result<(), EncodeError>;

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

/// What a Jelly frame means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frames {
    /// A frame is a message, or becomes one.
    #[default]
    Message,
    /// Frames are transport: the whole log is one message.
    Flat,
}

/// How the rows of an RDF Protobuf log are held together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Each message is a length and an `RDF_Stream`.
    Messages,
    /// Each row is behind its length, as Jena has it: the whole log is one message.
    Rows,
}

/// What becomes of the base directions of JSON-LD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RdfDirection {
    /// Literals of RDF 1.2 with a language and a direction.
    #[default]
    Literal,
    /// They are left out.
    None,
    /// Literals of datatypes that name language and direction.
    I18n,
    /// Blank nodes with value, language and direction.
    Compound,
}

/// What a log says about itself.
#[derive(Clone, Debug, Default)]
pub struct LogHeader {
    /// The dialect of a text log, once a delimiter or an announcement was seen: that of its first
    /// message.
    pub dialect: Option<Dialect>,
    /// Whether a later message of a text log is in another dialect than the first.
    pub changes_dialect: bool,
    /// The version label of a text log.
    pub version_label: Option<String>,
    /// The stream options of a Jelly log.
    pub jelly: Option<JellyOptions>,
    /// What the frames of a Jelly log mean, once that is known.
    pub frames: Option<Frames>,
    /// Metadata entries of a Jelly log so far that are left out: where its frames are one message, those
    /// of all frames but the first.
    pub dropped_metadata: u64,
    /// At the end of the log: namespaces that its last declarations set, with no message behind them to
    /// carry them.
    pub trailing_namespaces: u64,
    /// JSON-LD: keys so far that no context maps to an IRI, so that they were dropped with their values.
    pub dropped_keys: u64,
    /// JSON-LD: the first of them, quoted.
    pub dropped_key: Option<String>,
    /// What whoever reads the log should know, a sentence each.
    pub notes: Vec<String>,
}

/// Options of the decoders; each takes those its format knows.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// Bounds.
    pub limits: Limits,
    /// Yield a message larger than a batch in parts.
    pub parts: bool,
    /// Accept the deviations that the format's page lists.
    pub lenient: bool,
    /// N-Triples, N-Quads: accept generalized quads and RDF-star.
    pub generalized: bool,
    /// Text: the dialect, or found out.
    pub dialect: Option<Dialect>,
    /// Text: a version label announced outside the log.
    pub announced: Option<String>,
    /// N-Triples, N-Quads: the part of the log to read, or all of it.
    pub split: Option<Split>,
    /// N-Triples, N-Quads: the index of the first message, where that is known.
    pub first_index: Option<u64>,
    /// Turtle, TriG, JSON-LD: the base IRI at the start.
    pub base: Option<String>,
    /// JSON-LD: what becomes of base directions.
    pub rdf_direction: RdfDirection,
    /// JSON-LD: the JSON text of a context that is in force before any other, or of a document that holds it.
    pub expand_context: Option<String>,
    /// JSON-LD: gives remote contexts; without it none is at hand.
    pub context_loader: Option<Arc<dyn ContextLoader>>,
    /// Jelly: what a frame means, or what the log's logical type says: flat types are
    /// [`Frames::Flat`], all others and none [`Frames::Message`].
    pub frames: Option<Frames>,
    /// Jelly: yield in parts a message of all frames, whatever `parts` says.
    pub flat_parts: bool,
    /// RDF Protobuf: how rows are held together, or found out.
    pub framing: Option<Framing>,
    /// Jelly: whether frames are length-prefixed, or found out.
    pub delimited: Option<bool>,
    /// Jelly: largest frame, in bytes.
    pub max_frame_bytes: u64,
    /// Jelly: largest name table that a log may declare, in entries.
    pub max_name_table: u32,
    /// Jelly: largest prefix table that a log may declare, in entries.
    pub max_prefix_table: u32,
    /// Jelly: largest datatype table that a log may declare, in entries.
    pub max_datatype_table: u32,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            parts: false,
            lenient: false,
            generalized: false,
            dialect: None,
            announced: None,
            split: None,
            first_index: None,
            base: None,
            rdf_direction: RdfDirection::Literal,
            expand_context: None,
            context_loader: None,
            frames: None,
            flat_parts: false,
            framing: None,
            delimited: None,
            max_frame_bytes: 64 << 20,
            max_name_table: 65_536,
            max_prefix_table: 65_536,
            max_datatype_table: 4096,
        }
    }
}

/// Where the documents of a JSON-LD log have the context of the log's namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextLines {
    /// In a context message before the first, and again when it changes.
    #[default]
    First,
    /// In every document.
    Every,
    /// Nowhere: the expanded form.
    None,
}

/// Options of the encoders; each takes those its format knows.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// Text: the dialect; Comment unless given. Plain writes no delimiters (`flat`).
    pub dialect: Dialect,
    /// Text: the label of a directive log.
    pub version_label: String,
    /// Escape what a text grammar does not allow where an escape can say it.
    pub lenient: bool,
    /// Write quads of named graphs as triples where the format has no graphs.
    pub merge_graphs: bool,
    /// Formats that hold no boundaries: write all messages as one, their blank nodes kept apart.
    pub flat: bool,
    /// Text: write triple terms as `<< s p o >>` instead of `<<( s p o )>>` (N-Triples, N-Quads).
    pub rdf_star_syntax: bool,
    /// Namespaces to declare at the start, names and IRIs.
    pub prefixes: Vec<(String, String)>,
    /// JSON-LD: where the context stands.
    pub context_lines: ContextLines,
    /// JSON-LD: the JSON text of a context to compact with, instead of one of the namespaces.
    pub compact_with: Option<String>,
    /// RDF Protobuf: how rows are held together; messages unless given or `flat`.
    pub framing: Option<Framing>,
    /// RDF Protobuf, RDF Thrift: abbreviate IRIs with the namespaces; Thrift unless given, as Jena does.
    pub prefixed_names: Option<bool>,
    /// RDF Protobuf, RDF Thrift: write numbers as values where their lexical forms are read back.
    pub values: bool,
    /// Jelly: write namespace declarations (version 2).
    pub namespaces: bool,
    /// Jelly: the stream options to write with.
    pub jelly: JellyOptions,
    /// Jelly: one frame a message, or one message over many frames.
    pub frames: Frames,
    /// Jelly: rows a frame with [`Frames::Flat`].
    pub frame_rows: usize,
    /// Jelly: length-prefix frames. Without it a log of more than one frame is refused.
    pub delimited: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect::Comment,
            version_label: "1.2-messages".to_owned(),
            lenient: false,
            merge_graphs: false,
            flat: false,
            rdf_star_syntax: false,
            prefixes: Vec::new(),
            context_lines: ContextLines::First,
            compact_with: None,
            framing: None,
            prefixed_names: None,
            values: false,
            namespaces: false,
            jelly: JellyOptions::default(),
            frames: Frames::Message,
            frame_rows: 256,
            delimited: true,
        }
    }
}
