//! The record batch columns from which messages are built.
//!
//! - In: a record batch with a `quads` column and optional `metadata` and `namespaces` columns, or
//!   with an `operations` column. Other columns are ignored.
//! - Out: the lists of records, and the metadata and namespaces of each row.

use std::ops::Range;

use arrow_array::RecordBatch;
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::{ErrorClass, LimitExceeded};

use super::lists::{InputListRecord, InputLists};
use super::maps::InputMaps;
use crate::error::Error;
use crate::schema;

/// The record batch columns from which messages are built.
pub struct MessageColumns<R: InputListRecord> {
    /// Number of rows.
    pub rows: usize,
    /// The quads or operations.
    pub records: InputLists<R>,
    metadata: Option<InputMaps>,
    namespaces: Option<InputMaps>,
}

impl<R: InputListRecord> MessageColumns<R> {
    /// Finds the columns in a record batch.
    pub fn new(batch: &RecordBatch) -> Result<Self, Error> {
        let Some(records) = batch.column_by_name(R::COLUMN) else {
            let column = format!("'{}'", R::COLUMN);
            return Err(schema::missing_column_error(&column, &batch.schema()));
        };
        let maps = |name| {
            let input_maps = R::EXTRAS.then(|| InputMaps::new(batch, name));
            input_maps.transpose().map(Option::flatten)
        };
        Ok(Self {
            rows: batch.num_rows(),
            records: InputLists::new(records)?,
            metadata: maps("metadata")?,
            namespaces: maps("namespaces")?,
        })
    }

    /// Adds a row's metadata and namespaces.
    pub fn add_extras(&self, row: usize, builder: &mut LogBuilder<R>) -> Result<(), Error> {
        let error = |builder: &LogBuilder<R>, reason: String| {
            Error::in_row(builder.message_index(), ErrorClass::Malformed, reason)
        };
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned);
        if let Some(metadata) = &self.metadata {
            for index in
                entry_range(metadata, "metadata", row).map_err(|text| error(builder, text))?
            {
                let (key, value) = metadata
                    .entry(index)
                    .map_err(|reason| error(builder, format!("metadata entry: {reason}")))?;
                let key = text(key)
                    .map_err(|_| error(builder, "a metadata key is not valid UTF-8".to_owned()))?;
                let added = builder.add_metadata(&key, value);
                added.map_err(|limit| too_large(builder, limit))?;
            }
        }
        if let Some(namespaces) = &self.namespaces {
            for index in
                entry_range(namespaces, "namespaces", row).map_err(|text| error(builder, text))?
            {
                let (name, iri) = namespaces
                    .entry(index)
                    .map_err(|reason| error(builder, format!("namespace: {reason}")))?;
                let name = text(name).map_err(|_| {
                    error(builder, "a namespace name is not valid UTF-8".to_owned())
                })?;
                let iri = text(iri).map_err(|_| {
                    error(
                        builder,
                        format!("the IRI of namespace '{name}' is not valid UTF-8"),
                    )
                })?;
                if builder.in_force().get(name.as_bytes()) != Some(iri.as_bytes()) {
                    let added = builder.add_namespace(name.as_bytes(), iri.as_bytes());
                    added.map_err(|limit| too_large(builder, limit))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the indexes of a row's map entries.
fn entry_range(maps: &InputMaps, name: &str, row: usize) -> Result<Range<usize>, String> {
    maps.range(row).ok_or_else(|| {
        format!("malformed Arrow data: the offsets of a map in column {name} are outside its array")
    })
}

fn too_large<R: InputListRecord>(builder: &LogBuilder<R>, limit: LimitExceeded) -> Error {
    Error::in_row(builder.message_index(), ErrorClass::Limit, limit.0)
}
