//! The columns of a record batch that messages are made of.
//!
//! - In: a record batch with a column `quads`, and `metadata` and `namespaces` if there, or one `operations`; other
//!   columns are not looked at.
//! - Out: what a row adds to a message beside its records.

use arrow_array::RecordBatch;
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::ErrorClass;

use super::lists::{Listed, Lists};
use super::maps::Maps;
use crate::error::Error;
use crate::schema;

/// The columns of an Arrow batch that messages are made of.
pub struct Columns<R: Listed> {
    /// The number of rows.
    pub rows: usize,
    /// The quads, or operations.
    pub records: Lists<R>,
    metadata: Option<Maps>,
    namespaces: Option<Maps>,
}

impl<R: Listed> Columns<R> {
    /// Those of a record batch.
    pub fn new(batch: &RecordBatch) -> Result<Self, Error> {
        let Some(records) = batch.column_by_name(R::COLUMN) else {
            let column = format!("'{}'", R::COLUMN);
            return Err(schema::missing(&column, &batch.schema()));
        };
        let maps = |name| {
            let found = R::EXTRAS.then(|| Maps::new(batch, name));
            found.transpose().map(Option::flatten)
        };
        Ok(Self {
            rows: batch.num_rows(),
            records: Lists::new(records)?,
            metadata: maps("metadata")?,
            namespaces: maps("namespaces")?,
        })
    }

    /// Adds a row's metadata and namespaces.
    pub fn extras(&self, row: usize, builder: &mut LogBuilder<R>) -> Result<(), Error> {
        let error = |builder: &LogBuilder<R>, reason: String| {
            Error::in_row(builder.message_index(), ErrorClass::Malformed, reason)
        };
        let text = |bytes: Option<&[u8]>| {
            let text = std::str::from_utf8(bytes.unwrap_or_default());
            text.map(str::to_owned)
        };
        if let Some(metadata) = &self.metadata {
            for at in metadata.range(row) {
                let key = text(metadata.keys.get(at))
                    .map_err(|_| error(builder, "a key of the metadata is no UTF-8".to_owned()))?;
                builder.add_metadata(&key, metadata.values.value(at))?;
            }
        }
        if let Some(namespaces) = &self.namespaces {
            for at in namespaces.range(row) {
                let name = text(namespaces.keys.get(at))
                    .map_err(|_| error(builder, "a namespace's name is no UTF-8".to_owned()))?;
                let iri = text(Some(namespaces.values.value(at))).map_err(|_| {
                    error(
                        builder,
                        format!("the IRI of namespace '{name}' is no UTF-8"),
                    )
                })?;
                if builder.in_force().get(name.as_bytes()) != Some(iri.as_bytes()) {
                    builder.add_namespace(name.as_bytes(), iri.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}
