//! Quads that state the time of a message.
//!
//! - In: message batches. Out: the quads with a time property, in order.
//! - Cost: one filter for each property.
//! - Law: batch boundaries do not affect the result. A property that a log declares applies to the
//!   message that declares it, and to later messages.

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::term::TermKind;

use super::{MessageFilter, Position};

/// Time properties that need not be declared: sosa:resultTime, prov:generatedAtTime, as:published
/// and dct:created.
const TIMES: [&str; 4] = [
    "http://www.w3.org/ns/sosa/resultTime",
    "http://www.w3.org/ns/prov#generatedAtTime",
    "https://www.w3.org/ns/activitystreams#published",
    "http://purl.org/dc/terms/created",
];
/// Property whose values are further time properties.
const TIMESTAMP_PATH: &str = "https://w3id.org/ldes#timestampPath";
/// Maximum number of time properties, so that a log cannot declare an unlimited number.
const MAX_TIMES: usize = 64;

/// The time properties: the default ones, and those that logs declare with `ldes:timestampPath`.
pub(crate) struct TimeProperties {
    iris: Vec<Vec<u8>>,
    /// One filter per property, which finds its quads.
    filters: Vec<MessageFilter>,
    /// Filter for quads that declare further properties.
    declarations: MessageFilter,
}

impl TimeProperties {
    /// Returns the default properties.
    ///
    /// # Errors
    /// None in practice, because all default properties are valid.
    pub(crate) fn new() -> Result<Self, Reason> {
        let mut properties = Self {
            iris: Vec::new(),
            filters: Vec::new(),
            declarations: with_property(TIMESTAMP_PATH)?,
        };
        for property in TIMES {
            properties.add(property.as_bytes())?;
        }
        Ok(properties)
    }

    /// Returns the indexes of the quads with a time property, in order.
    pub(crate) fn find_quads(&mut self, batch: &MessageBatch) -> Vec<usize> {
        let declared = self.find_declared(batch);
        let mut quads: Vec<usize> = Vec::new();
        for filter in &mut self.filters {
            quads.extend(filter.matching_quads(batch));
        }
        for (message, property) in declared {
            let start = batch.range(message).start;
            if let Some(filter) = self.declare(&property) {
                let indices = filter.matching_quads(batch);
                quads.extend(indices.into_iter().filter(|index| *index >= start));
            }
        }
        quads.sort_unstable();
        quads
    }

    /// Returns the properties that messages of a batch declare.
    fn find_declared(&mut self, batch: &MessageBatch) -> Vec<(usize, Vec<u8>)> {
        let table = batch.table();
        let mut message = 0;
        let mut declared = Vec::new();
        for index in self.declarations.matching_quads(batch) {
            let property = batch.quads()[index].object;
            if table.term(property).kind == TermKind::Iri {
                while batch.range(message).end <= index {
                    message += 1;
                }
                declared.push((message, table.text(property).to_vec()));
            }
        }
        declared
    }

    /// Adds a property that a log declares. Returns its filter if it is new.
    fn declare(&mut self, property: &[u8]) -> Option<&mut MessageFilter> {
        let is_new = !self.iris.iter().any(|iri| iri == property);
        if !is_new || self.iris.len() >= MAX_TIMES {
            return None;
        }
        self.add(property).ok()?;
        self.filters.last_mut()
    }

    fn add(&mut self, property: &[u8]) -> Result<(), Reason> {
        self.filters
            .push(with_property(&String::from_utf8_lossy(property))?);
        self.iris.push(property.to_vec());
        Ok(())
    }
}

fn with_property(iri: &str) -> Result<MessageFilter, Reason> {
    let mut filter = MessageFilter::default();
    filter.add_term(Position::Predicate, &format!("<{iri}>"))?;
    Ok(filter)
}
