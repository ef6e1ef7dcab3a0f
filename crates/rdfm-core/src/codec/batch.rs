//! Batches of logs of any kind.
//!
//! - In: batches of records. Out: batches as the codec contract speaks of them.
//! - Law: a codec yields and takes batches of its format's kinds alone.

use super::Decoder;
use super::spec::Kind;
use crate::model::batch::{LogBatch, MessageBatch};
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::record::Record;
use crate::model::term::Quad;

/// A batch of a log of any kind.
#[derive(Clone, Debug)]
pub enum Batch {
    /// Datasets.
    Messages(MessageBatch),
}

/// A batch of any kind that is someone else's.
#[derive(Clone, Copy, Debug)]
pub enum BatchRef<'a> {
    /// Datasets.
    Messages(&'a MessageBatch),
}

impl Batch {
    /// What its messages are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        BatchRef::from(self).kind()
    }
}

impl BatchRef<'_> {
    /// What its messages are.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Messages(_) => Kind::Messages,
        }
    }
}

impl<'a> From<&'a Batch> for BatchRef<'a> {
    fn from(batch: &'a Batch) -> Self {
        match batch {
            Batch::Messages(batch) => Self::Messages(batch),
        }
    }
}

impl<'a, R: KindOf> From<&'a LogBatch<R>> for BatchRef<'a> {
    fn from(batch: &'a LogBatch<R>) -> Self {
        R::view(batch)
    }
}

/// Records that a kind of log is made of.
pub trait KindOf: Record {
    /// The kind.
    const KIND: Kind;

    /// A batch of them as one of any kind.
    fn any(batch: LogBatch<Self>) -> Batch;

    /// The same of someone else's.
    fn view(batch: &LogBatch<Self>) -> BatchRef<'_>;

    /// The batch, if it is of this kind.
    fn taken(batch: Batch) -> Option<LogBatch<Self>>;

    /// The same of someone else's.
    fn seen(batch: BatchRef<'_>) -> Option<&LogBatch<Self>>;
}

impl KindOf for Quad {
    const KIND: Kind = Kind::Messages;

    fn any(batch: MessageBatch) -> Batch {
        Batch::Messages(batch)
    }

    fn view(batch: &MessageBatch) -> BatchRef<'_> {
        BatchRef::Messages(batch)
    }

    fn taken(batch: Batch) -> Option<MessageBatch> {
        let Batch::Messages(batch) = batch;
        Some(batch)
    }

    fn seen(batch: BatchRef<'_>) -> Option<&MessageBatch> {
        let BatchRef::Messages(batch) = batch;
        Some(batch)
    }
}

/// Decoders of a known kind of log.
pub trait NextOf: Decoder {
    /// The next batch, as [`Decoder::next_batch`] gives it.
    ///
    /// # Errors
    /// As there; or the log is of another kind.
    fn next_of<R: KindOf>(&mut self) -> Result<Option<LogBatch<R>>, DecodeError> {
        let Some(batch) = self.next_batch()? else {
            return Ok(None);
        };
        let kind = batch.kind();
        R::taken(batch).map(Some).ok_or_else(|| DecodeError {
            format: kind.name(),
            class: ErrorClass::Unsupported,
            reason: format!("a log of {}, not of {}", kind.name(), R::KIND.name()).into(),
            position: Position::default(),
        })
    }
}

impl<D: Decoder + ?Sized> NextOf for D {}
