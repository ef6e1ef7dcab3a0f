//! Builder of map columns.
//!
//! - In: entries, row by row. Out: an array of maps.
//! - Law: a map may be null, but its keys and values are never null.

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use std::sync::Arc;

use arrow_array::{ArrayRef, MapArray, StructArray};
use arrow_schema::{ArrowError, DataType};

use super::texts::{Texts, nulls};
use crate::schema::{entries_field, entry_fields};

/// A builder of a map column.
pub struct OutputMaps {
    keys: Texts,
    values: Texts,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl OutputMaps {
    pub fn new() -> Self {
        Self {
            keys: Texts::new(),
            values: Texts::new(),
            offsets: vec![0],
            valid: Vec::new(),
        }
    }

    /// Adds an entry to the current map.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.keys.add(key);
        self.values.add(value);
    }

    /// Ends the map of a row. The map is null if `valid` is false.
    pub fn end(&mut self, valid: bool) {
        self.offsets.push(self.keys.len() as i32);
        self.valid.push(valid);
    }

    /// Keeps the first `count` maps.
    pub fn truncate(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        self.valid.truncate(count);
        let entries = self.offsets.last().copied().unwrap_or_default();
        self.keys.truncate(entries.unsigned_abs() as usize);
        self.values.truncate(entries.unsigned_abs() as usize);
    }

    /// Returns the array. `value` is the type of the values: strings or bytes.
    pub fn finish(self, value: DataType) -> Result<ArrayRef, ArrowError> {
        let values: ArrayRef = if value == DataType::Binary {
            Arc::new(self.values.into_binary(None)?)
        } else {
            Arc::new(self.values.into_strings(None)?)
        };
        let keys: ArrayRef = Arc::new(self.keys.into_strings(None)?);
        let entries = StructArray::try_new(entry_fields(value.clone()), vec![keys, values], None)?;
        let nulls = nulls(self.valid);
        let offsets = Texts::offsets(self.offsets);
        let maps = MapArray::try_new(entries_field(value), offsets, entries, nulls, false)?;
        Ok(Arc::new(maps))
    }
}
