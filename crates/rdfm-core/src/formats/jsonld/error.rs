//! Errors in contexts and messages, with the error code of the specification and the position.

use std::io;
use std::ops::{Deref, DerefMut};

use crate::model::error::{ErrorClass, LimitExceeded};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::ParseError;

/// An error in a context or a message. It is boxed to keep results small.
#[derive(Clone, Debug)]
pub(super) struct Wrong(Box<Details>);

/// The details of an error.
#[derive(Clone, Debug)]
pub(super) struct Details {
    pub class: ErrorClass,
    pub reason: Reason,
    /// Byte offset in the message, or `None` if the error is in a context that the message refers to.
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

/// A result that can fail because of the rules of JSON-LD or a limit.
pub(super) type Read<T> = Result<T, Wrong>;

impl Wrong {
    /// Any error.
    #[cold]
    pub fn of(class: ErrorClass, at: Option<u32>, reason: impl Into<Reason>) -> Self {
        let reason = reason.into();
        Self(Box::new(Details { class, reason, at }))
    }

    /// An error with a code of the specification (JSON-LD 1.1 API, 9.6.2).
    #[cold]
    pub fn new(code: &str, at: Option<u32>, reason: &str) -> Self {
        let reason = format!("{reason} (JSON-LD: {code})");
        Self::of(ErrorClass::Malformed, at, reason)
    }

    /// The system cannot start a thread with a stack for deeply nested data.
    #[cold]
    pub fn no_stack(error: &io::Error) -> Self {
        let reason = format!("cannot start a thread for a deeply nested message: {error}");
        Self::of(ErrorClass::Limit, None, reason)
    }

    /// A limit was exceeded.
    #[cold]
    pub fn limit(at: Option<u32>, reason: impl Into<Reason>) -> Self {
        Self::of(ErrorClass::Limit, at, reason)
    }

    /// Adds an option that avoids the error.
    #[cold]
    pub fn with(self, remedy: Remedy) -> Self {
        let Details { class, reason, at } = *self.0;
        Self::of(class, at, reason.with(remedy))
    }

    /// Adds the remedies of the cause.
    #[cold]
    pub fn because_of(self, cause: &Reason) -> Self {
        let Details { class, reason, at } = *self.0;
        Self::of(class, at, reason.because_of(cause))
    }

    /// The same error, at the given byte of the message if it has no position yet.
    pub fn or_at(mut self, at: u32) -> Self {
        self.at = self.at.or(Some(at));
        self
    }

    /// Converts the error of a message that begins at byte `start`.
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
