//! Errors while reading, with the error code of the specification and the position.

use std::io;
use std::ops::{Deref, DerefMut};

use crate::model::error::{ErrorClass, LimitExceeded};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::ParseError;

/// An error in a context or a message. Boxed, so that results stay small.
#[derive(Clone, Debug)]
pub(super) struct JsonLdError(Box<ErrorDetails>);

/// The content of an error.
#[derive(Clone, Debug)]
pub(super) struct ErrorDetails {
    pub class: ErrorClass,
    pub reason: Reason,
    /// Position in the message; `None` if the error is in a context that the message refers to.
    pub position: Option<u32>,
}

impl Deref for JsonLdError {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl DerefMut for JsonLdError {
    fn deref_mut(&mut self) -> &mut ErrorDetails {
        &mut self.0
    }
}

/// A result whose error is a violated JSON-LD rule or limit.
pub(super) type Read<T> = Result<T, JsonLdError>;

impl JsonLdError {
    /// Creates an error of any class.
    #[cold]
    pub fn with_class(class: ErrorClass, position: Option<u32>, reason: impl Into<Reason>) -> Self {
        let reason = reason.into();
        Self(Box::new(ErrorDetails {
            class,
            reason,
            position,
        }))
    }

    /// Creates an error with a code of the specification (JSON-LD 1.1 API, 9.6.2).
    #[cold]
    pub fn new(code: &str, position: Option<u32>, reason: &str) -> Self {
        let reason = format!("{reason} (JSON-LD: {code})");
        Self::with_class(ErrorClass::Malformed, position, reason)
    }

    /// Creates the error for a deeply nested message if the system cannot start a thread with
    /// enough stack.
    #[cold]
    pub fn out_of_stack(error: &io::Error) -> Self {
        let reason = format!("cannot start a thread for a deeply nested message: {error}");
        Self::with_class(ErrorClass::Limit, None, reason)
    }

    /// Creates the error for an exceeded limit.
    #[cold]
    pub fn limit(position: Option<u32>, reason: impl Into<Reason>) -> Self {
        Self::with_class(ErrorClass::Limit, position, reason)
    }

    /// Adds an option that would help.
    #[cold]
    pub fn with(self, remedy: Remedy) -> Self {
        let ErrorDetails {
            class,
            reason,
            position: index,
        } = *self.0;
        Self::with_class(class, index, reason.with(remedy))
    }

    /// Adds the options that would help with the cause.
    #[cold]
    pub fn because_of(self, cause: &Reason) -> Self {
        let ErrorDetails {
            class,
            reason,
            position: index,
        } = *self.0;
        Self::with_class(class, index, reason.because_of(cause))
    }

    /// Sets the position in the message if the error has none.
    pub fn or_at(mut self, position: u32) -> Self {
        self.position = self.position.or(Some(position));
        self
    }

    /// Converts the error for a message that begins at byte `start`.
    pub fn error(self, start: u32) -> ParseError {
        ParseError {
            position: self.position.unwrap_or(start) as usize,
            class: self.class,
            reason: self.0.reason,
        }
    }
}

impl From<LimitExceeded> for JsonLdError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::limit(None, exceeded.0)
    }
}
