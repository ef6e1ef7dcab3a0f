//! Limit on the string bytes in a record batch, whose offsets are 32 bits wide.
//!
//! - In: lengths, before the bytes are stored. Out: an error if they exceed the limit.
//! - Law: offsets within the limit fit in 32 bits.

use arrow_schema::ArrowError;
use rdfm_core::model::error::ErrorClass;

use crate::error::Error;

/// Maximum number of string bytes in one record batch.
pub const MAX_BYTES: usize = i32::MAX as usize;

/// An error during the construction of columns.
pub enum BuildError {
    /// The strings would exceed [`MAX_BYTES`].
    TooLarge,
    /// Arrow rejects the result, which is a bug.
    Arrow(ArrowError),
}

impl From<ArrowError> for BuildError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl BuildError {
    /// Converts to an [`Error`]. If the columns are too large, `too_large` is its text.
    pub fn into_error(self, too_large: &str) -> Error {
        let (class, reason) = match self {
            Self::TooLarge => (ErrorClass::Limit, too_large.to_owned()),
            Self::Arrow(error) => (ErrorClass::Internal, error.to_string()),
        };
        Error {
            class,
            row: None,
            reason: reason.into(),
        }
    }
}

/// Adds to the number of string bytes in a record batch, and checks the limit.
#[inline]
pub fn charge(bytes: &mut usize, added: usize) -> Result<(), BuildError> {
    *bytes += added;
    if *bytes > MAX_BYTES {
        return Err(BuildError::TooLarge);
    }
    Ok(())
}
