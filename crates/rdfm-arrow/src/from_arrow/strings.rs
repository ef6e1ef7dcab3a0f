//! A column of strings from another producer.
//!
//! - In: utf8, `large_utf8` or `string_view`, their binary counterparts, dictionaries or runs of
//!   any of these, or the null type.
//! - Out: the bytes of a value, or `None` for null.
//! - Cost: nothing is expanded. Each value is looked up in its dictionary or run.
//! - Law: the bytes may be invalid UTF-8. Offsets, indices and run ends are checked at every use,
//!   because the producer may not have validated them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ByteArrayType, ByteViewType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericByteArray, GenericByteViewArray, PrimitiveArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, RunEndBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::error::Error;

/// A column of strings in any layout, as bytes.
pub struct Strings {
    nulls: Option<NullBuffer>,
    texts: StringLayout,
}

enum StringLayout {
    Small(ScalarBuffer<i32>, Buffer),
    Large(ScalarBuffer<i64>, Buffer),
    View(ScalarBuffer<u128>, Vec<Buffer>),
    Fixed(usize, Buffer),
    Dictionary(DictionaryIndices, Box<Strings>),
    Runs(RunEnds, Box<Strings>),
    Nulls,
}

/// Maximum length of a string that a view stores inline, in bytes.
const MAX_INLINE_BYTES: usize = 12;

impl Strings {
    /// Reads a column of strings. `name` is used in errors.
    pub fn new(array: &ArrayRef, name: &str) -> Result<Self, Error> {
        let wrong_type = || {
            let data_type = array.data_type();
            Error::wrong_columns(format!(
                "column {name}: expected strings, found {data_type}"
            ))
        };
        Self::from_array(array, false, true).ok_or_else(wrong_type)
    }

    /// Reads a column of bytes or, if `or_strings` is true, of bytes or strings. Returns `None` if
    /// it has another type.
    pub fn bytes(array: &ArrayRef, or_strings: bool) -> Option<Self> {
        Self::from_array(array, true, or_strings)
    }

    /// Creates a column from strings that this crate has written.
    pub fn from_buffers(bytes: Vec<u8>, offsets: Vec<i64>, valid: Vec<bool>) -> Self {
        Self {
            nulls: Some(NullBuffer::from(valid)),
            texts: StringLayout::Large(offsets.into(), Buffer::from_vec(bytes)),
        }
    }

    fn from_array(array: &ArrayRef, bytes: bool, texts: bool) -> Option<Self> {
        let strings = match array.data_type() {
            DataType::Utf8 if texts => small(array.as_string::<i32>()),
            DataType::LargeUtf8 if texts => large(array.as_string::<i64>()),
            DataType::Utf8View if texts => view(array.as_string_view()),
            DataType::Binary if bytes => small(array.as_binary::<i32>()),
            DataType::LargeBinary if bytes => large(array.as_binary::<i64>()),
            DataType::BinaryView if bytes => view(array.as_binary_view()),
            DataType::FixedSizeBinary(width) if bytes => {
                let array = array.as_fixed_size_binary();
                let buffer = Buffer::from(array.value_data());
                StringLayout::Fixed(usize::try_from(*width).ok()?, buffer)
            }
            DataType::Null => StringLayout::Nulls,
            DataType::Dictionary(_, values) if !is_nested(values) => {
                let array = array.as_any_dictionary_opt()?;
                let indices = DictionaryIndices::new(array.keys())?;
                StringLayout::Dictionary(
                    indices,
                    Self::from_array(array.values(), bytes, texts)?.into(),
                )
            }
            DataType::RunEndEncoded(_, values)
                if !matches!(values.data_type(), DataType::RunEndEncoded(..)) =>
            {
                let (ends, values) = RunEnds::new(array)?;
                StringLayout::Runs(ends, Self::from_array(&values, bytes, texts)?.into())
            }
            _ => return None,
        };
        Some(Self {
            nulls: array.nulls().cloned(),
            texts: strings,
        })
    }

    /// Returns a value, or `None` if it is null. An invalid value is returned as an empty string.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&[u8]> {
        if self.is_null(position) {
            return None;
        }
        match &self.texts {
            StringLayout::Dictionary(indices, values) => match indices.get(position) {
                Some(index) if index < values.len() => values.get(index),
                _ => Some(b""),
            },
            StringLayout::Runs(ends, values) => match ends.get(position) {
                Some(index) if index < values.len() => values.get(index),
                _ => Some(b""),
            },
            StringLayout::Nulls => None,
            _ => Some(self.text(position).unwrap_or_default()),
        }
    }

    /// Returns the reason why a value is invalid, or `None` if it is valid.
    #[cold]
    pub fn invalid_reason(&self, position: usize) -> Option<String> {
        if self.is_null(position) {
            return None;
        }
        match &self.texts {
            StringLayout::Dictionary(indices, values) => match indices.get(position) {
                Some(index) if index < values.len() => values.invalid_reason(index),
                _ => Some("malformed Arrow data: an index is outside its dictionary".to_owned()),
            },
            StringLayout::Runs(ends, values) => match ends.get(position) {
                Some(index) if index < values.len() => values.invalid_reason(index),
                _ => Some("malformed Arrow data: a run has no value".to_owned()),
            },
            StringLayout::Nulls => None,
            _ if self.text(position).is_some() => None,
            _ => Some(
                "malformed Arrow data: the offsets of a string are outside its buffer".to_owned(),
            ),
        }
    }

    fn is_null(&self, index: usize) -> bool {
        let nulls = self.nulls.as_ref();
        nulls.is_some_and(|nulls| index < nulls.len() && nulls.is_null(index))
    }

    fn len(&self) -> usize {
        match &self.texts {
            StringLayout::Small(offsets, _) => offsets.len().saturating_sub(1),
            StringLayout::Large(offsets, _) => offsets.len().saturating_sub(1),
            StringLayout::View(views, _) => views.len(),
            StringLayout::Fixed(width, bytes) => {
                bytes.len().checked_div(*width).unwrap_or(usize::MAX)
            }
            StringLayout::Dictionary(indices, _) => indices.len(),
            StringLayout::Runs(..) | StringLayout::Nulls => usize::MAX,
        }
    }

    /// Returns a string in a buffer, if its offsets are valid.
    #[inline]
    fn text(&self, index: usize) -> Option<&[u8]> {
        match &self.texts {
            StringLayout::Small(offsets, bytes) => {
                let [start, end] = [*offsets.get(index)?, *offsets.get(index + 1)?];
                bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            }
            StringLayout::Large(offsets, bytes) => {
                let [start, end] = [*offsets.get(index)?, *offsets.get(index + 1)?];
                bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            }
            StringLayout::View(views, buffers) => {
                let view = views.get(index)?;
                let length = *view as u32 as usize;
                if length <= MAX_INLINE_BYTES {
                    // Views in memory have the machine's byte order, which is little-endian.
                    let bytes = views.inner().get(index * 16 + 4..index * 16 + 16)?;
                    return bytes.get(..length);
                }
                let buffer = buffers.get((view >> 64) as u32 as usize)?;
                let start = (view >> 96) as usize;
                buffer.get(start..start.checked_add(length)?)
            }
            StringLayout::Fixed(width, bytes) => {
                let start = index.checked_mul(*width)?;
                bytes.get(start..start.checked_add(*width)?)
            }
            StringLayout::Dictionary(..) | StringLayout::Runs(..) | StringLayout::Nulls => None,
        }
    }
}

/// Whether the values of a dictionary are themselves encoded as a dictionary or as runs.
fn is_nested(values: &DataType) -> bool {
    matches!(
        values,
        DataType::Dictionary(..) | DataType::RunEndEncoded(..)
    )
}

fn offsets<O: arrow_buffer::ArrowNativeType>(offsets: &OffsetBuffer<O>) -> ScalarBuffer<O> {
    offsets.inner().clone()
}

fn small<T: ByteArrayType<Offset = i32>>(array: &GenericByteArray<T>) -> StringLayout {
    StringLayout::Small(offsets(array.offsets()), array.values().clone())
}

fn large<T: ByteArrayType<Offset = i64>>(array: &GenericByteArray<T>) -> StringLayout {
    StringLayout::Large(offsets(array.offsets()), array.values().clone())
}

fn view<T: ByteViewType>(array: &GenericByteViewArray<T>) -> StringLayout {
    StringLayout::View(array.views().clone(), array.data_buffers().to_vec())
}

/// Indices into the values of a dictionary.
enum DictionaryIndices {
    I8(ScalarBuffer<i8>),
    I16(ScalarBuffer<i16>),
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    U8(ScalarBuffer<u8>),
    U16(ScalarBuffer<u16>),
    U32(ScalarBuffer<u32>),
    U64(ScalarBuffer<u64>),
}

impl DictionaryIndices {
    fn new(keys: &dyn Array) -> Option<Self> {
        fn indices<T: ArrowPrimitiveType>(keys: &dyn Array) -> Option<ScalarBuffer<T::Native>> {
            let keys = keys.as_any().downcast_ref::<PrimitiveArray<T>>()?;
            Some(keys.values().clone())
        }
        Some(match keys.data_type() {
            DataType::Int8 => Self::I8(indices::<Int8Type>(keys)?),
            DataType::Int16 => Self::I16(indices::<Int16Type>(keys)?),
            DataType::Int32 => Self::I32(indices::<Int32Type>(keys)?),
            DataType::Int64 => Self::I64(indices::<Int64Type>(keys)?),
            DataType::UInt8 => Self::U8(indices::<UInt8Type>(keys)?),
            DataType::UInt16 => Self::U16(indices::<UInt16Type>(keys)?),
            DataType::UInt32 => Self::U32(indices::<UInt32Type>(keys)?),
            DataType::UInt64 => Self::U64(indices::<UInt64Type>(keys)?),
            _ => return None,
        })
    }

    #[inline]
    fn get(&self, index: usize) -> Option<usize> {
        match self {
            Self::I8(keys) => usize::try_from(*keys.get(index)?).ok(),
            Self::I16(keys) => usize::try_from(*keys.get(index)?).ok(),
            Self::I32(keys) => usize::try_from(*keys.get(index)?).ok(),
            Self::I64(keys) => usize::try_from(*keys.get(index)?).ok(),
            Self::U8(keys) => Some(usize::from(*keys.get(index)?)),
            Self::U16(keys) => Some(usize::from(*keys.get(index)?)),
            Self::U32(keys) => usize::try_from(*keys.get(index)?).ok(),
            Self::U64(keys) => usize::try_from(*keys.get(index)?).ok(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::I8(keys) => keys.len(),
            Self::I16(keys) => keys.len(),
            Self::I32(keys) => keys.len(),
            Self::I64(keys) => keys.len(),
            Self::U8(keys) => keys.len(),
            Self::U16(keys) => keys.len(),
            Self::U32(keys) => keys.len(),
            Self::U64(keys) => keys.len(),
        }
    }
}

/// The run ends of a run-end encoded array.
enum RunEnds {
    I16(RunEndBuffer<i16>),
    I32(RunEndBuffer<i32>),
    I64(RunEndBuffer<i64>),
}

impl RunEnds {
    /// Returns the run ends of an array, and its values.
    fn new(array: &ArrayRef) -> Option<(Self, ArrayRef)> {
        if let Some(runs) = array.as_run_opt::<Int16Type>() {
            return Some((Self::I16(runs.run_ends().clone()), runs.values().clone()));
        }
        if let Some(runs) = array.as_run_opt::<Int32Type>() {
            return Some((Self::I32(runs.run_ends().clone()), runs.values().clone()));
        }
        let runs = array.as_run_opt::<Int64Type>()?;
        Some((Self::I64(runs.run_ends().clone()), runs.values().clone()))
    }

    /// Returns the index of the run that contains a value.
    fn get(&self, index: usize) -> Option<usize> {
        match self {
            Self::I16(ends) => (index < ends.len()).then(|| ends.get_physical_index(index)),
            Self::I32(ends) => (index < ends.len()).then(|| ends.get_physical_index(index)),
            Self::I64(ends) => (index < ends.len()).then(|| ends.get_physical_index(index)),
        }
    }
}
