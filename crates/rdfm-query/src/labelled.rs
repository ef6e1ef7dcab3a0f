//! Result rows that are labelled with the log and index of the message that they come from.
//!
//! - In: rows, each from one message. Out: the same rows with two additional leading cells.
//! - Cost: each term is copied once per batch, each blank node once per message.
//! - Law: different blank nodes get different labels. A label has the form `mN_LABEL`, where N is
//!   the number of the message across all logs and LABEL is the original label.

use std::sync::Arc;

use rdfm_core::model::batch::ResultBatch;
use rdfm_core::model::builder::ResultBuilder;
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::record::ResultHead;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rustc_hash::FxHashMap;

/// Names of the two leading columns.
pub const NAMES: [&str; 2] = ["source", "message_index"];
const INTEGER: &[u8] = b"http://www.w3.org/2001/XMLSchema#integer";

/// Returns the rows with two leading cells: the source, and the index of the row's message in that
/// source. The number of a message across all logs is `first` plus this index.
///
/// # Errors
/// If the rows are too large.
pub fn add_labels(
    rows: &ResultBatch,
    source: &str,
    messages: &[u64],
    first: i64,
) -> Result<ResultBatch, LimitExceeded> {
    let mut builder = ResultBuilder::within_2_gib();
    builder.start_at(rows.first_message_index());
    let names = NAMES.iter().map(|&name| name.into());
    let head = rows.head();
    builder.set_head(Arc::new(ResultHead {
        variables: names.chain(head.variables.iter().cloned()).collect(),
        ..ResultHead::default()
    }));
    let mut copies = Copies {
        table: rows.table(),
        builder,
        same: FxHashMap::default(),
        per_message: FxHashMap::default(),
        label_prefix: String::new(),
    };
    let mut last_message = None;
    for (row, &message) in messages.iter().enumerate().take(rows.len()) {
        // Term ids are valid for all rows, because the batch is completed only at the end.
        let (source, index) = match last_message {
            Some((last, terms)) if last == message => terms,
            _ => {
                let terms = copies.begin(
                    source,
                    message,
                    first,
                    last_message.map(|(_, (name, _))| name),
                )?;
                last_message = Some((message, terms));
                terms
            }
        };
        copies.builder.begin_message(None);
        copies.builder.add(source)?;
        copies.builder.add(index)?;
        for &cell in rows.message(row) {
            let cell = copies.copy_cell(cell)?;
            copies.builder.add(cell)?;
        }
        copies.builder.end_message();
    }
    copies.builder.check_2_gib()?;
    let batch = copies.builder.take();
    Ok(batch.unwrap_or_else(|| copies.builder.take_head()))
}

/// Copies of the rows' terms.
struct Copies<'a> {
    table: &'a TermTable,
    builder: ResultBuilder,
    /// Copies of terms that are the same in all messages.
    same: FxHashMap<TermId, TermId>,
    /// Copies for the current message only: blank nodes, and triple terms because they may contain
    /// blank nodes.
    per_message: FxHashMap<TermId, TermId>,
    /// Prefix of the message's blank node labels.
    label_prefix: String,
}

impl Copies<'_> {
    /// Begins a message. Returns the terms for its source (`source_term` if the source has already
    /// been added) and its index.
    fn begin(
        &mut self,
        source: &str,
        message: u64,
        first: i64,
        source_term: Option<TermId>,
    ) -> Result<(TermId, TermId), LimitExceeded> {
        self.per_message.clear();
        self.label_prefix = format!("m{}_", message.wrapping_add_signed(first));
        let source = match source_term {
            Some(term) => term,
            None => self
                .builder
                .add_simple(TermKind::Literal, source.as_bytes(), 0)?,
        };
        let datatype = self.builder.add_simple(TermKind::Iri, INTEGER, 0)?;
        let text = message.to_string();
        let kind = TermKind::TypedLiteral;
        let index = self
            .builder
            .add_with_aux(kind, text.as_bytes(), datatype.0, 0)?;
        Ok((source, index))
    }

    /// Returns the copy of a cell. The recursion depth is the nesting depth of triple terms.
    fn copy_cell(&mut self, id: TermId) -> Result<TermId, LimitExceeded> {
        if id == TermId::DEFAULT_GRAPH {
            return Ok(id);
        }
        let term = self.table.term(id);
        if !matches!(term.kind, TermKind::BlankNode | TermKind::TripleTerm) {
            return Ok(self.builder.copy_term(self.table, id, &mut self.same));
        }
        if let Some(&copy) = self.per_message.get(&id) {
            return Ok(copy);
        }
        let copy = if term.kind == TermKind::BlankNode {
            let label = [self.label_prefix.as_bytes(), self.table.text_of(term)].concat();
            self.builder.add_simple(TermKind::BlankNode, &label, 0)?
        } else {
            let mut triple = self.table.triple(term);
            for part in &mut triple {
                *part = self.copy_cell(*part)?;
            }
            self.builder.add_triple_term(triple)?
        };
        self.per_message.insert(id, copy);
        Ok(copy)
    }
}
