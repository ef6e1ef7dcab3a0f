//! The columns of a record batch that messages are made of.
//!
//! - In: a record batch with a column `quads`, and `metadata` and `namespaces` if there; other columns are not
//!   looked at.
//! - Out: what a row adds to a message beside its quads.

use arrow_array::RecordBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::ErrorClass;

use super::maps::Maps;
use super::quads::Quads;
use crate::error::Error;

/// The columns of an Arrow batch that messages are made of.
pub struct Columns {
    /// The number of rows.
    pub rows: usize,
    /// The quads.
    pub quads: Quads,
    metadata: Option<Maps>,
    namespaces: Option<Maps>,
}

impl Columns {
    /// Those of a record batch.
    pub fn new(batch: &RecordBatch) -> Result<Self, Error> {
        let Some(quads) = batch.column_by_name("quads") else {
            let schema = batch.schema();
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect();
            return Err(Error::shape(format!(
                "there is no column 'quads'; found: {}",
                names.join(", ")
            )));
        };
        Ok(Self {
            rows: batch.num_rows(),
            quads: Quads::new(quads)?,
            metadata: Maps::new(batch, "metadata")?,
            namespaces: Maps::new(batch, "namespaces")?,
        })
    }

    /// Adds a row's metadata and namespaces.
    pub fn extras(&self, row: usize, builder: &mut BatchBuilder) -> Result<(), Error> {
        let error = |builder: &BatchBuilder, reason: String| {
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
