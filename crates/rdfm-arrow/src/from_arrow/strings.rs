//! A column of strings that others made.
//!
//! - In: utf8, `large_utf8`, `string_view`, dictionaries or runs of them, or nothing but nulls.
//! - Out: a value's bytes, or none for null.
//! - Law: the bytes may be no UTF-8: Arrow promises it, nobody checked it.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;

use crate::error::Error;

/// A column of strings of any width, as bytes: Arrow promises UTF-8, nobody checked it.
pub enum Strings {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
}

impl Strings {
    /// The column of a name.
    pub fn new(array: &ArrayRef, name: &str) -> Result<Self, Error> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Small(array.as_string::<i32>().clone().into())),
            DataType::LargeUtf8 => Ok(Self::Large(array.as_string::<i64>().clone().into())),
            DataType::Utf8View => Ok(Self::View(array.as_string_view().clone().to_binary_view())),
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) | DataType::Null => {
                let array = arrow_cast::cast(array, &DataType::LargeUtf8)
                    .map_err(|_| Self::refused(name, array.data_type()))?;
                Ok(Self::Large(array.as_string::<i64>().clone().into()))
            }
            other => Err(Self::refused(name, other)),
        }
    }

    fn refused(name: &str, found: &DataType) -> Error {
        Error::shape(format!("{name} is a column of strings, not of {found}"))
    }

    /// A value, unless it is null.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}
