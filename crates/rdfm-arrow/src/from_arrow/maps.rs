//! A column of maps that others made.
//!
//! - In: maps of strings to strings or bytes. Out: the entries of each row; a null row has none.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, MapArray, RecordBatch};
use arrow_schema::DataType;

use super::strings::Strings;
use crate::error::Error;

/// A column of maps of strings to strings or bytes.
pub struct Maps {
    rows: MapArray,
    /// The keys, which are not checked.
    pub keys: Strings,
    /// The values.
    pub values: BinaryArray,
}

impl Maps {
    /// The column of a name; None where there is none, or nothing in it.
    pub fn new(batch: &RecordBatch, name: &str) -> Result<Option<Self>, Error> {
        let Some(column) = batch.column_by_name(name) else {
            return Ok(None);
        };
        if *column.data_type() == DataType::Null {
            return Ok(None);
        }
        let shape = || {
            let found = column.data_type();
            Error::shape(format!("{name} is a map of strings, not {found}"))
        };
        let maps = column.as_map_opt().ok_or_else(shape)?.clone();
        let keys = Strings::new(maps.keys(), name)?;
        let values = arrow_cast::cast(maps.values(), &DataType::Binary).map_err(|_| shape())?;
        let values = values.as_binary::<i32>().clone();
        Ok(Some(Self {
            rows: maps,
            keys,
            values,
        }))
    }

    /// The numbers of a row's entries.
    pub fn range(&self, row: usize) -> Range<usize> {
        if self.rows.is_null(row) {
            return 0..0;
        }
        let offsets = self.rows.value_offsets();
        offsets[row].unsigned_abs() as usize..offsets[row + 1].unsigned_abs() as usize
    }
}
