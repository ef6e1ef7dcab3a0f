//! Row batches and message batches, built from query results.
//!
//! - In: rows or triples, as cells. Out: batches with their own terms, numbered consecutively.
//! - Law: messages created by a query have the namespaces of their source and those that the query
//!   declares.

use std::sync::Arc;

use rdfm_core::model::batch::{InForceNamespaces, LogBatch, MessageBatch, ResultBatch};
use rdfm_core::model::builder::{BatchBuilder, ResultBuilder};
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::record::{Record, ResultHead};
use rdfm_core::model::term::{Quad, TermId};

use super::evaluate::Triples;
use super::parse::Query;
use super::rows::{SolutionRows, TermCopier};

/// Builder of row batches.
pub struct RowOutput {
    copier: TermCopier<TermId>,
    head: Arc<ResultHead>,
}

impl RowOutput {
    /// Creates a builder for the rows of a query.
    pub fn new(query: &Query) -> Self {
        let variables = query.variables.iter();
        let head = ResultHead {
            variables: variables.map(|name| name.as_str().into()).collect(),
            ..ResultHead::default()
        };
        let head = Arc::new(head);
        let mut builder = ResultBuilder::within_2_gib();
        builder.set_head(Arc::clone(&head));
        Self {
            copier: TermCopier::new(builder),
            head,
        }
    }

    /// Returns the rows for one source batch. If there are none, the result contains only the
    /// variables.
    ///
    /// # Errors
    /// If the rows are too large.
    pub fn build_batch<R: Record>(
        &mut self,
        source: &LogBatch<R>,
        rows: &SolutionRows,
    ) -> Result<ResultBatch, LimitExceeded> {
        let width = self.head.variables.len();
        self.copier.begin();
        for row in 0..rows.messages.len() {
            self.copier.builder.begin_message(None);
            for &cell in &rows.cells[row * width..][..width] {
                let term = self.copier.copy_cell(source.table(), &rows.others, cell)?;
                let term = term.unwrap_or(TermId::DEFAULT_GRAPH);
                self.copier.builder.add(term)?;
            }
            self.copier.builder.end_message();
        }
        self.copier.builder.check_2_gib()?;
        let batch = self.copier.builder.take();
        Ok(batch.unwrap_or_else(|| self.copier.builder.take_head()))
    }
}

/// Builder of message batches.
pub struct MessageOutput {
    copier: TermCopier<Quad>,
    in_force: InForceNamespaces,
    has_begun: bool,
}

impl Default for MessageOutput {
    fn default() -> Self {
        Self {
            copier: TermCopier::new(BatchBuilder::within_2_gib()),
            in_force: InForceNamespaces::default(),
            has_begun: false,
        }
    }
}

impl MessageOutput {
    /// Returns the messages for one source batch, starting at `from`, or `None` if there are none.
    ///
    /// # Errors
    /// If the messages are too large.
    pub fn build_batch(
        &mut self,
        query: &Query,
        source: &MessageBatch,
        from: usize,
        rows: &SolutionRows,
        triples: &Triples,
    ) -> Result<Option<MessageBatch>, LimitExceeded> {
        self.copier.begin();
        if from == 0 {
            for (name, iri) in self.in_force.new_namespaces(source) {
                self.copier.builder.add_namespace(name, iri)?;
            }
        }
        self.declare(query)?;
        let mut start = 0;
        for (index, &end) in triples.ends.iter().enumerate() {
            for change in source.namespace_changes_of(from + index) {
                let (name, iri) = (change.name, change.iri);
                let table = source.table();
                self.copier
                    .builder
                    .add_namespace(table.span(name), table.span(iri))?;
            }
            self.copier
                .builder
                .begin_message(source.byte_offset(from + index));
            self.add(source, rows, &triples.triples[start..end])?;
            self.copier.builder.end_message();
            start = end;
        }
        self.copier.builder.check_2_gib()?;
        Ok(self.copier.builder.take())
    }

    /// Returns a batch with one message for each row of an entire log.
    ///
    /// # Errors
    /// If the messages are too large.
    pub fn build_batch_of_rows<R: Record>(
        &mut self,
        query: &Query,
        source: &LogBatch<R>,
        rows: &SolutionRows,
        triples: &Triples,
    ) -> Result<Option<MessageBatch>, LimitExceeded> {
        self.copier.begin();
        self.declare(query)?;
        let mut start = 0;
        for &end in &triples.ends {
            self.copier.builder.begin_message(None);
            self.add(source, rows, &triples.triples[start..end])?;
            self.copier.builder.end_message();
            start = end;
        }
        self.copier.builder.check_2_gib()?;
        Ok(self.copier.builder.take())
    }

    /// Declares the namespaces of a query, but only once.
    fn declare(&mut self, query: &Query) -> Result<(), LimitExceeded> {
        if !self.has_begun {
            self.has_begun = true;
            for (name, iri) in &query.prefixes {
                let (name, iri) = (name.as_bytes(), iri.as_bytes());
                self.copier.builder.add_namespace(name, iri)?;
            }
        }
        Ok(())
    }

    fn add<R: Record>(
        &mut self,
        source: &LogBatch<R>,
        rows: &SolutionRows,
        triples: &[[u32; 3]],
    ) -> Result<(), LimitExceeded> {
        for triple in triples {
            let mut ids = [TermId::DEFAULT_GRAPH; 3];
            for (id, &cell) in ids.iter_mut().zip(triple) {
                let copy = self.copier.copy_cell(source.table(), &rows.others, cell)?;
                *id = copy.unwrap_or(TermId::DEFAULT_GRAPH);
            }
            let [subject, predicate, object] = ids;
            self.copier.builder.add_quad(Quad {
                subject,
                predicate,
                object,
                graph: TermId::DEFAULT_GRAPH,
            })?;
        }
        Ok(())
    }
}
