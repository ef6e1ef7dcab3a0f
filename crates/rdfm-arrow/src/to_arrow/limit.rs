//! How many bytes of strings a record batch may hold, since offsets are 32 bits wide.
//!
//! - In: lengths, before the bytes are kept. Out: an error where there is no room.
//! - Law: whoever keeps to it has offsets that fit.

use arrow_schema::ArrowError;
use rdfm_core::model::error::ErrorClass;

use crate::error::Error;

/// Bytes of strings that one record batch may hold.
pub const MAX_BYTES: usize = i32::MAX as usize;

/// Why columns could not be made.
pub enum MakeError {
    /// The strings would pass [`MAX_BYTES`].
    TooLarge,
    /// Arrow refuses what was made: a bug.
    Arrow(ArrowError),
}

impl From<ArrowError> for MakeError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl MakeError {
    /// The error, with the way out where the columns are too large.
    pub fn told(self, too_large: &str) -> Error {
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

/// Counts bytes of strings of a record batch.
#[inline]
pub fn charge(bytes: &mut usize, more: usize) -> Result<(), MakeError> {
    *bytes += more;
    if *bytes > MAX_BYTES {
        return Err(MakeError::TooLarge);
    }
    Ok(())
}
