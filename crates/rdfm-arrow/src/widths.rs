//! Conversion of arrays to wider offsets or views.
//!
//! - In: an array from this crate, and the type that a consumer requests.
//! - Out: the array in the requested type, if only the widths of strings, binary values and lists
//!   differ.
//! - Cost: new offsets or views. The bytes are shared. Arrow's casts support more types, but would
//!   increase the size of the extension by half.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, LargeBinaryArray, LargeListArray, LargeStringArray,
    ListArray, MapArray, StringViewArray, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

/// Converts an array to another type. Returns `None` if anything other than widths and field order
/// differs.
pub fn widen(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    let from = array.data_type();
    if from == to {
        return Some(Arc::clone(array));
    }
    let nulls = array.nulls().cloned();
    Some(match (from, to) {
        (DataType::Utf8, DataType::LargeUtf8) => {
            let array = array.as_string::<i32>();
            let offsets = widen_offsets(array.offsets());
            Arc::new(LargeStringArray::try_new(offsets, array.values().clone(), nulls).ok()?)
        }
        (DataType::Utf8, DataType::Utf8View) => {
            Arc::new(StringViewArray::from(array.as_string::<i32>()))
        }
        (DataType::Binary, DataType::LargeBinary) => {
            let array = array.as_binary::<i32>();
            let offsets = widen_offsets(array.offsets());
            Arc::new(LargeBinaryArray::try_new(offsets, array.values().clone(), nulls).ok()?)
        }
        (DataType::Binary, DataType::BinaryView) => {
            Arc::new(BinaryViewArray::from(array.as_binary::<i32>()))
        }
        (DataType::List(_), DataType::List(item)) => {
            let array = array.as_list::<i32>();
            let items = widen(array.values(), item.data_type())?;
            let offsets = array.offsets().clone();
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, nulls).ok()?)
        }
        (DataType::List(_), DataType::LargeList(item)) => {
            let array = array.as_list::<i32>();
            let items = widen(array.values(), item.data_type())?;
            let offsets = widen_offsets(array.offsets());
            Arc::new(LargeListArray::try_new(Arc::clone(item), offsets, items, nulls).ok()?)
        }
        (DataType::Struct(fields), DataType::Struct(requested))
            if fields.len() == requested.len() =>
        {
            let array = array.as_struct();
            let columns = requested.iter().map(|field| {
                let column = array.column_by_name(field.name())?;
                widen(column, field.data_type())
            });
            let columns = columns.collect::<Option<Vec<_>>>()?;
            Arc::new(StructArray::try_new(requested.clone(), columns, nulls).ok()?)
        }
        (DataType::Map(..), DataType::Map(field, sorted)) => {
            let array = array.as_map();
            let entries: ArrayRef = Arc::new(array.entries().clone());
            let entries = widen(&entries, field.data_type())?.as_struct().clone();
            let offsets = array.offsets().clone();
            let map = MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *sorted);
            Arc::new(map.ok()?)
        }
        _ => return None,
    })
}

fn widen_offsets(offsets: &[i32]) -> OffsetBuffer<i64> {
    let offsets = offsets.iter().map(|offset| i64::from(*offset));
    OffsetBuffer::new(offsets.collect::<ScalarBuffer<_>>())
}
