//! What stops reading, and how it is reported: the error code of the specification, and where.

use std::io;
use std::ops::{Deref, DerefMut};

use crate::model::error::{ErrorClass, LimitExceeded};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::ParseError;

/// What is wrong with a context or a message; a pointer, so that results stay small.
#[derive(Clone, Debug)]
pub(super) struct Wrong(Box<Details>);

/// What is wrong.
#[derive(Clone, Debug)]
pub(super) struct Details {
    pub class: ErrorClass,
    pub reason: Reason,
    /// Byte of the message; None where it is not in the message, but in a context that it names.
    pub at: Option<u32>,
}

impl Deref for Wrong {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Wrong {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

/// A result that the rules of JSON-LD, or a limit, can spoil.
pub(super) type Read<T> = Result<T, Wrong>;

impl Wrong {
    /// Any error.
    #[cold]
    pub fn of(class: ErrorClass, at: Option<u32>, reason: impl Into<Reason>) -> Self {
        let reason = reason.into();
        Self(Box::new(Details { class, reason, at }))
    }

    /// An error that the specification names (JSON-LD 1.1 API, 9.6.2).
    #[cold]
    pub fn new(code: &str, at: Option<u32>, reason: &str) -> Self {
        let reason = format!("{reason} (JSON-LD: {code})");
        Self::of(ErrorClass::Malformed, at, reason)
    }

    /// The system has no thread with a stack for what nests deeply.
    #[cold]
    pub fn no_stack(error: &io::Error) -> Self {
        let reason = format!("no thread for a message that nests deeply: {error}");
        Self::of(ErrorClass::Limit, None, reason)
    }

    /// A limit was met.
    #[cold]
    pub fn limit(at: Option<u32>, reason: impl Into<Reason>) -> Self {
        Self::of(ErrorClass::Limit, at, reason)
    }

    /// With an option that would help.
    #[cold]
    pub fn with(self, remedy: Remedy) -> Self {
        let Details { class, reason, at } = *self.0;
        Self::of(class, at, reason.with(remedy))
    }

    /// With what would help against its cause.
    #[cold]
    pub fn because_of(self, cause: &Reason) -> Self {
        let Details { class, reason, at } = *self.0;
        Self::of(class, at, reason.because_of(cause))
    }

    /// The same, at a byte of the message where it has no position of its own.
    pub fn or_at(mut self, at: u32) -> Self {
        self.at = self.at.or(Some(at));
        self
    }

    /// The error of a message that begins at a byte.
    pub fn error(self, start: u32) -> ParseError {
        ParseError {
            at: self.at.unwrap_or(start) as usize,
            class: self.class,
            reason: self.0.reason,
        }
    }
}

impl From<LimitExceeded> for Wrong {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::limit(None, exceeded.0)
    }
}
