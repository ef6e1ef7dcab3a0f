//! Batches of logs of any kind.
//!
//! - In: batches of records of one kind. Out: batches of any kind, as codecs exchange them.
//! - Law: a codec returns and accepts only batches of kinds that its format supports.

use super::Decoder;
use super::spec::Kind;
use crate::model::batch::{LogBatch, MessageBatch, PatchBatch, ResultBatch};
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::record::{Operation, Record};
use crate::model::term::{Quad, TermId};

/// A batch of a log of any kind.
#[derive(Clone, Debug)]
pub enum Batch {
    /// Datasets.
    Messages(MessageBatch),
    /// Operations.
    Patches(PatchBatch),
    /// Rows.
    Results(ResultBatch),
}

/// A borrowed batch of any kind.
#[derive(Clone, Copy, Debug)]
pub enum BatchRef<'a> {
    /// Datasets.
    Messages(&'a MessageBatch),
    /// Operations.
    Patches(&'a PatchBatch),
    /// Rows.
    Results(&'a ResultBatch),
}

impl Batch {
    /// The kind of the batch's messages.
    #[must_use]
    pub fn kind(&self) -> Kind {
        BatchRef::from(self).kind()
    }

    /// Whether the batch has no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Messages(batch) => batch.is_empty(),
            Self::Patches(batch) => batch.is_empty(),
            Self::Results(batch) => batch.is_empty(),
        }
    }

    /// Approximate size in memory in bytes, for limits.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Messages(batch) => batch.memory_bytes(),
            Self::Patches(batch) => batch.memory_bytes(),
            Self::Results(batch) => batch.memory_bytes(),
        }
    }
}

impl BatchRef<'_> {
    /// The kind of the batch's messages.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Messages(_) => Kind::Messages,
            Self::Patches(_) => Kind::Patches,
            Self::Results(_) => Kind::Results,
        }
    }

    /// Returns an owned copy.
    #[must_use]
    pub fn to_owned(self) -> Batch {
        match self {
            Self::Messages(batch) => Batch::Messages(batch.clone()),
            Self::Patches(batch) => Batch::Patches(batch.clone()),
            Self::Results(batch) => Batch::Results(batch.clone()),
        }
    }
}

impl<'a> From<&'a Batch> for BatchRef<'a> {
    fn from(batch: &'a Batch) -> Self {
        match batch {
            Batch::Messages(batch) => Self::Messages(batch),
            Batch::Patches(batch) => Self::Patches(batch),
            Batch::Results(batch) => Self::Results(batch),
        }
    }
}

impl<'a, R: LogRecord> From<&'a LogBatch<R>> for BatchRef<'a> {
    fn from(batch: &'a LogBatch<R>) -> Self {
        R::view(batch)
    }
}

/// Record types, one for each kind of log.
pub trait LogRecord: Record {
    /// The kind.
    const KIND: Kind;

    /// Wraps a batch as a batch of any kind.
    fn any(batch: LogBatch<Self>) -> Batch;

    /// Wraps a borrowed batch as a batch of any kind.
    fn view(batch: &LogBatch<Self>) -> BatchRef<'_>;

    /// Returns the batch if it is of this kind.
    fn from_batch(batch: Batch) -> Option<LogBatch<Self>>;

    /// Returns the borrowed batch if it is of this kind.
    fn from_ref(batch: BatchRef<'_>) -> Option<&LogBatch<Self>>;
}

macro_rules! kind_of {
    ($record:ty, $kind:ident) => {
        impl LogRecord for $record {
            const KIND: Kind = Kind::$kind;

            fn any(batch: LogBatch<Self>) -> Batch {
                Batch::$kind(batch)
            }

            fn view(batch: &LogBatch<Self>) -> BatchRef<'_> {
                BatchRef::$kind(batch)
            }

            fn from_batch(batch: Batch) -> Option<LogBatch<Self>> {
                match batch {
                    Batch::$kind(batch) => Some(batch),
                    _ => None,
                }
            }

            fn from_ref(batch: BatchRef<'_>) -> Option<&LogBatch<Self>> {
                match batch {
                    BatchRef::$kind(batch) => Some(batch),
                    _ => None,
                }
            }
        }
    };
}

kind_of!(Quad, Messages);
kind_of!(Operation, Patches);
kind_of!(TermId, Results);

/// Decoders of a known kind of log.
pub trait NextBatchOf: Decoder {
    /// Returns the next batch, as [`Decoder::next_batch`] does.
    ///
    /// # Errors
    /// If [`Decoder::next_batch`] fails, or the log is of another kind.
    fn next_batch_of<R: LogRecord>(&mut self) -> Result<Option<LogBatch<R>>, DecodeError> {
        let Some(batch) = self.next_batch()? else {
            return Ok(None);
        };
        let kind = batch.kind();
        R::from_batch(batch).map(Some).ok_or_else(|| DecodeError {
            format: kind.name(),
            class: ErrorClass::Unsupported,
            reason: format!(
                "expected a log of {}, found {}",
                R::KIND.name(),
                kind.name()
            )
            .into(),
            position: Position::default(),
        })
    }
}

impl<D: Decoder + ?Sized> NextBatchOf for D {}
