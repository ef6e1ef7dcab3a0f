//! A column of maps from another producer.
//!
//! - In: maps from strings to strings or bytes. Out: the entries of each row. A null row has no
//!   entries.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, MapArray, RecordBatch};
use arrow_schema::DataType;

use super::strings::Strings;
use crate::error::Error;

/// A column of maps from strings to strings or bytes.
pub struct InputMaps {
    rows: MapArray,
    keys: Strings,
    values: Strings,
}

impl InputMaps {
    /// Finds the column by name. Returns `None` if it is missing or has the null type.
    pub fn new(batch: &RecordBatch, name: &str) -> Result<Option<Self>, Error> {
        let Some(column) = batch.column_by_name(name) else {
            return Ok(None);
        };
        if *column.data_type() == DataType::Null {
            return Ok(None);
        }
        let wrong_columns = || {
            let data_type = column.data_type();
            Error::wrong_columns(format!(
                "column {name}: expected a map of strings, found {data_type}"
            ))
        };
        let maps = column.as_map_opt().ok_or_else(wrong_columns)?.clone();
        let keys = Strings::new(maps.keys(), name)?;
        let values = Strings::bytes(maps.values(), true).ok_or_else(wrong_columns)?;
        Ok(Some(Self {
            rows: maps,
            keys,
            values,
        }))
    }

    /// Returns the indexes of a row's entries, or `None` if they are outside the array.
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        if self.rows.is_null(row) {
            return Some(0..0);
        }
        let offsets = self.rows.value_offsets();
        let [start, end] = [*offsets.get(row)?, *offsets.get(row + 1)?];
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        (range.start <= range.end && range.end <= self.rows.entries().len()).then_some(range)
    }

    /// Returns the key and value of an entry.
    ///
    /// # Errors
    /// If the key or value is invalid; the error says why.
    pub fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), String> {
        match (
            self.keys.invalid_reason(index),
            self.values.invalid_reason(index),
        ) {
            (None, None) => {}
            (Some(reason), _) | (None, Some(reason)) => return Err(reason),
        }
        let [key, value] = [&self.keys, &self.values].map(|texts| texts.get(index));
        Ok((key.unwrap_or_default(), value.unwrap_or_default()))
    }
}
