//! Arrays in requested types, compared with the results of Arrow's casts.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use crate::support::{batch, everything};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use rdfm_arrow::schema::Column;
use rdfm_arrow::to_arrow;
use rdfm_arrow::widths::widen;

/// Rows with every column.
fn rows() -> ArrayRef {
    let batch = batch(&everything());
    let rows = to_arrow::record_batch(&[&batch], &Column::ALL, Some("a.nq")).unwrap();
    Arc::new(StructArray::from(rows))
}

/// Replaces the types of strings, binary values and lists at any depth.
fn replaced(from: &DataType, text: &DataType, bytes: &DataType, large: bool) -> DataType {
    let field = |field: &FieldRef| {
        let to = replaced(field.data_type(), text, bytes, large);
        Arc::new(Field::clone(field).with_data_type(to))
    };
    match from {
        DataType::Utf8 => text.clone(),
        DataType::Binary => bytes.clone(),
        DataType::List(item) if large => DataType::LargeList(field(item)),
        DataType::List(item) => DataType::List(field(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

#[test]
fn widened_arrays_equal_cast_arrays() {
    let rows = rows();
    let texts = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View];
    let binaries = [
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
    ];
    for text in &texts {
        for bytes in &binaries {
            for large in [false, true] {
                let to = replaced(rows.data_type(), text, bytes, large);
                let converted = widen(&rows, &to).unwrap();
                assert_eq!(converted.data_type(), &to);
                assert_eq!(&converted, &cast(&rows, &to).unwrap());
            }
        }
    }
}

#[test]
fn fields_are_reordered() {
    let rows = rows();
    let DataType::Struct(fields) = rows.data_type() else {
        unreachable!("rows are structs");
    };
    let reversed: Fields = fields.iter().rev().cloned().collect();
    let converted = widen(&rows, &DataType::Struct(reversed.clone())).unwrap();
    assert_eq!(converted.data_type(), &DataType::Struct(reversed));
    assert_eq!(converted.len(), rows.len());
}

#[test]
fn other_casts_are_left_to_the_consumer() {
    let rows = rows();
    let other = Fields::from(vec![Field::new("offset", DataType::Int32, true)]);
    assert!(widen(&rows, &DataType::Struct(other)).is_none());
    assert!(widen(&rows, &DataType::Int64).is_none());
}

#[test]
fn fields_with_nulls_cannot_become_non_nullable() {
    let rows = rows();
    let DataType::Struct(fields) = rows.data_type() else {
        unreachable!("rows are structs");
    };
    let required = fields
        .iter()
        .map(|field| Arc::new(Field::clone(field).with_nullable(false)));
    assert!(widen(&rows, &DataType::Struct(required.collect())).is_none());
}
