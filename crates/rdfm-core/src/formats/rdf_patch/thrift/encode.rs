//! Encodes patches in Thrift, in the form that Jena reads.
//!
//! - In: batches of patches.
//! - Out: rows, with a segment between patches. IRIs are written in full and numbers as lexical
//!   forms, because Jena's patch reader does not support other forms.
//! - Cost: each term is encoded once per batch and then copied.
//! - Law: readers get the same patches, including empty ones.

use super::row::{SEGMENT, put_bare, put_header, put_prefix, put_statement};
use crate::codec::Encoder;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::formats::rdf_patch::order::{Patches, iterate_in_order};
use crate::formats::rdf_patch::spec::THRIFT;
use crate::model::batch::PatchBatch;
use crate::model::record::{Operation, OperationCode};
use crate::model::table::TermTable;
use crate::model::term::TermId;
use crate::syntax::default_graph;
use crate::syntax::rdf_binary::encode::{EncodedTerms, MAX_BYTES, TermRange, too_long};
use crate::syntax::rdf_binary::thrift::ThriftTerms;

/// Returns an encoder for a new log.
pub(in crate::formats::rdf_patch) fn encoder(values: &Values) -> Box<dyn Encoder> {
    let writer = ThriftPatchWriter {
        terms: EncodedTerms::new(false, false, false),
        patches: Patches::new(values, SEGMENT),
        last_graph: TermId::DEFAULT_GRAPH,
        start: 0,
    };
    Box::new(MessageLoop::new(&THRIFT, values, writer))
}

struct ThriftPatchWriter {
    terms: EncodedTerms,
    patches: Patches,
    /// The graph that was checked last.
    last_graph: TermId,
    /// Start of the batch in the output.
    start: usize,
}

impl ThriftPatchWriter {
    #[inline]
    fn encode_term(&mut self, table: &TermTable, id: TermId) -> WriteResult<TermRange> {
        self.terms.encode_term::<ThriftTerms>(table, id)
    }

    #[inline]
    fn write_row(
        &mut self,
        table: &TermTable,
        row: &Operation,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        match row.code {
            OperationCode::Add | OperationCode::Delete => {
                let mut parts = [
                    self.encode_term(table, row.subject)?,
                    self.encode_term(table, row.predicate)?,
                    self.encode_term(table, row.object)?,
                    TermRange::default(),
                ];
                let used = if row.graph == TermId::DEFAULT_GRAPH {
                    &parts[..3]
                } else {
                    parts[3] = self.encode_graph(table, row.graph)?;
                    &parts
                };
                put_statement(row.code, &self.terms.bytes, used, out);
            }
            OperationCode::Begin | OperationCode::Commit | OperationCode::Abort => {
                put_bare(row.code, out);
            }
            OperationCode::Header => {
                let value = self.encode_term(table, row.object)?;
                put_header(table.text(row.name), &self.terms.bytes[value.range()], out);
            }
            OperationCode::AddPrefix | OperationCode::DeletePrefix => {
                let graph = if row.graph == TermId::DEFAULT_GRAPH {
                    None
                } else {
                    Some(self.encode_graph(table, row.graph)?)
                };
                let graph = graph.map(|range| &self.terms.bytes[range.range()]);
                let added = row.code == OperationCode::AddPrefix;
                let iri = added.then(|| table.text(row.object));
                put_prefix(graph, table.text(row.name), iri, out);
            }
        }
        if out.len() - self.start > MAX_BYTES {
            return Err(too_long());
        }
        Ok(())
    }

    #[inline]
    fn encode_graph(&mut self, table: &TermTable, id: TermId) -> WriteResult<TermRange> {
        if id != self.last_graph {
            default_graph::check(table, id)?;
            self.last_graph = id;
        }
        self.encode_term(table, id)
    }
}

impl Writer for ThriftPatchWriter {
    type Record = Operation;

    fn begin_batch(&mut self, batch: &PatchBatch, out: &mut Vec<u8>) {
        self.start = out.len();
        self.last_graph = TermId::DEFAULT_GRAPH;
        self.terms.begin(batch.table().terms().len());
    }

    fn begin_message(&mut self, _: &PatchBatch, _: u64, out: &mut Vec<u8>) {
        self.patches.begin(out);
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    fn write(&mut self, batch: &PatchBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        let operations = batch.message(message);
        let order = self.patches.choose_order(operations)?;
        for operation in iterate_in_order(operations, order) {
            self.write_row(batch.table(), operation, out)?;
        }
        Ok(())
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        self.patches.remove_message(out);
    }

    fn finish(&mut self, _: bool, out: &mut Vec<u8>) {
        self.patches.finish(out);
    }

    fn reset(&mut self) {
        self.patches.reset();
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        self.patches.count_dropped(dropped)
    }
}
