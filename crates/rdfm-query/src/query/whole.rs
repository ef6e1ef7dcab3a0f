//! Queries over all messages of logs as one dataset.
//!
//! - In: messages, added one by one, and a query. Out: row batches, messages (one per row), or an
//!   answer.
//! - Cost: the dataset is in memory. It contains each distinct term once, 16 bytes per quad, and 4
//!   bytes per quad for each sort order that a query needs.
//! - Law: blank nodes of different messages are different (RDF 1.1 Semantics, section 4.1:
//!   merging). Blank nodes that would share a label are relabelled.

use oxrdf::BlankNode;
use rdfm_core::model::batch::{MessageBatch, ResultBatch};
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, Term as Entry, TermId, TermKind};
use rustc_hash::FxHashMap;

use super::budget::{self, Stop};
use super::dictionary::{ClassIndex, Content, Dictionary, UNBOUND, content};
use super::evaluate::{Evaluation, MessageContext, Triples};
use super::fresh::FreshLabels;
use super::message::Message;
use super::output::{MessageOutput, RowOutput};
use super::parse::Form;
use super::rows::SolutionRows;
use super::stack::with_stack;

/// Maximum number of rows in a piece of the result.
const ROWS_PER_PIECE: usize = 4096;
/// Maximum number of terms in the rows of a piece.
const TERMS_PER_PIECE: u64 = 1 << 18;

/// Collects messages into one dataset.
pub struct Collector {
    builder: BatchBuilder,
    index: ClassIndex,
    /// Copies of the blank nodes of the current message, by label.
    nodes: FxHashMap<Box<[u8]>, TermId>,
    /// Number of blank nodes with each label so far, used to create a different label.
    labels: FxHashMap<Box<[u8]>, u64>,
    has_named: bool,
}

impl Default for Collector {
    fn default() -> Self {
        let mut builder = BatchBuilder::within_2_gib();
        builder.begin_message(None);
        Self {
            builder,
            index: ClassIndex::default(),
            nodes: FxHashMap::default(),
            labels: FxHashMap::default(),
            has_named: false,
        }
    }
}

impl Collector {
    /// Adds the messages of a batch.
    ///
    /// # Errors
    /// If the dataset would exceed 2 GiB.
    pub fn add(&mut self, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        let mut ids = vec![UNBOUND; batch.table().terms().len()];
        self.has_named |= batch.has_graphs();
        for index in 0..batch.len() {
            if index > 0 || !batch.continued() {
                self.nodes.clear();
            }
            for quad in batch.message(index) {
                let parts = [quad.subject, quad.predicate, quad.object, quad.graph];
                let mut copy = [TermId::DEFAULT_GRAPH; 4];
                for (copy, id) in copy.iter_mut().zip(parts) {
                    *copy = self.copy(batch.table(), &mut ids, id)?;
                }
                let [subject, predicate, object, graph] = copy;
                self.builder.add_quad(Quad {
                    subject,
                    predicate,
                    object,
                    graph,
                })?;
            }
        }
        self.builder.check_2_gib()
    }

    /// Whether any message contains named graphs.
    pub fn has_named(&self) -> bool {
        self.has_named
    }

    /// Returns the dataset, as a batch with one message.
    pub fn finish(mut self) -> MessageBatch {
        self.builder.end_message();
        self.builder.take().unwrap_or_else(MessageBatch::empty)
    }

    /// Copies a term. The recursion depth is the nesting depth of triple terms.
    fn copy(
        &mut self,
        table: &TermTable,
        ids: &mut [u32],
        id: TermId,
    ) -> Result<TermId, LimitExceeded> {
        if id == TermId::DEFAULT_GRAPH {
            return Ok(id);
        }
        let existing = ids[id.index()];
        if existing != UNBOUND {
            return Ok(TermId(existing));
        }
        let term = table.term(id);
        let copy = match term.kind {
            // Blank nodes are specific to their message, and so are triple terms that may contain
            // them.
            TermKind::BlankNode => return self.add_blank_node(table.text_of(term)),
            TermKind::TripleTerm => {
                let mut triple = table.triple(term);
                for part in &mut triple {
                    *part = self.copy(table, ids, *part)?;
                }
                return self.triple(triple);
            }
            _ => self.add_simple_term(table, id)?,
        };
        ids[id.index()] = copy.0;
        Ok(copy)
    }

    fn find(&self, term_content: Content<'_>) -> Option<TermId> {
        let table = self.builder.table();
        let is_same = |class: u32| term_content.is(content(table, TermId(class), |part| part.0));
        self.index.find(term_content.hash(), is_same).map(TermId)
    }

    fn enter(&mut self, id: TermId) -> TermId {
        let term_content = content(self.builder.table(), id, |part| part.0);
        self.index.insert(term_content.hash(), id.0);
        id
    }

    fn add_simple_term(&mut self, table: &TermTable, id: TermId) -> Result<TermId, LimitExceeded> {
        // The term keeps its first spelling.
        if let Some(existing) = self.find(content(table, id, |part| part.0)) {
            return Ok(existing);
        }
        let mut term = table.term(id);
        if matches!(term.kind, TermKind::LangLiteral | TermKind::TypedLiteral) {
            term.aux = self.add_simple_term(table, TermId(term.aux))?.0;
        }
        let text = self.builder.add_text(table.text_of(table.term(id)))?;
        let id = self.builder.add_term(Entry {
            offset: text.offset,
            ..term
        })?;
        Ok(self.enter(id))
    }

    fn triple(&mut self, triple: [TermId; 3]) -> Result<TermId, LimitExceeded> {
        let content = Content::Triple(triple.map(|part| part.0));
        if let Some(existing) = self.find(content) {
            return Ok(existing);
        }
        let id = self.builder.add_triple_term(triple)?;
        Ok(self.enter(id))
    }

    fn add_blank_node(&mut self, label: &[u8]) -> Result<TermId, LimitExceeded> {
        if let Some(&existing) = self.nodes.get(label) {
            return Ok(existing);
        }
        let mut unique = label.to_vec();
        while self.find(Content::BlankNode(&unique)).is_some() {
            let count = self.labels.entry(label.into()).or_insert(1);
            *count += 1;
            unique = [label, b"_", count.to_string().as_bytes()].concat();
        }
        let id = self.builder.add_simple(TermKind::BlankNode, &unique, 0)?;
        self.nodes.insert(label.into(), id);
        Ok(self.enter(id))
    }
}

/// A piece of a query result.
pub enum Piece {
    /// Rows of a SELECT query. The first piece may have no rows.
    Rows(ResultBatch),
    /// Messages of a CONSTRUCT query, one for each row.
    Messages(MessageBatch),
    /// Answer to an ASK query.
    Answer(bool),
}

impl Evaluation {
    /// Evaluates the query on a dataset, which is the only message of a batch. `emit` receives the
    /// pieces and returns whether to continue. Returns whether the dataset has named graphs.
    ///
    /// # Errors
    /// If the evaluation stopped early; the error gives the reason. All pieces that were complete
    /// at that time have been passed to `emit`.
    pub fn run_whole(
        &self,
        data: &MessageBatch,
        emit: &mut (impl FnMut(Piece) -> bool + Send),
    ) -> Result<bool, Stop> {
        let evaluate = || {
            budget::forget_kept();
            let dictionary = Dictionary::of(data);
            let graphs = self.query.graphs.by_class(&dictionary);
            let mut message = Message::default();
            let quads = data.quads().iter();
            message.read_all(
                &graphs,
                quads.map(|quad| {
                    [quad.subject, quad.predicate, quad.object, quad.graph]
                        .map(|id| dictionary.class(id))
                }),
            );
            let context = MessageContext {
                dictionary,
                message,
            };
            budget::run_within(&self.limits, &self.cancel, || {
                self.send_pieces(data, &context, emit)
            })?;
            Ok(context.message.has_named)
        };
        with_stack(evaluate, || self.check()).unwrap_or_else(|error| {
            Err(Stop::Failed(format!(
                "cannot start a thread for the query: {error}"
            )))
        })
    }

    fn send_pieces(
        &self,
        data: &MessageBatch,
        context: &MessageContext<'_>,
        emit: &mut impl FnMut(Piece) -> bool,
    ) -> Result<(), Stop> {
        let mut pieces = PieceBuilder::new(self, data);
        let mut fresh = FreshLabels::default();
        let mut count = 0;
        let mut send = |piece: Option<Piece>| {
            let continues = piece.is_none_or(&mut *emit);
            if continues {
                Ok(())
            } else {
                Err(Stop::Cancelled)
            }
        };
        if let Form::Ask = self.query.form {
            let mut answer = false;
            self.evaluate(context, |_| {
                answer = true;
                Ok(())
            })?;
            return send(Some(Piece::Answer(answer)));
        }
        self.evaluate(context, |solution| {
            count += 1;
            self.check_rows(count)?;
            budget::keep(self.weight());
            for term in solution {
                let cell = context.add_cell(&mut pieces.rows, &mut fresh, term);
                pieces.rows.cells.push(cell);
            }
            pieces.add_row(&context.dictionary, || {
                fresh.name_node(&context.dictionary, context.message.classes())
            });
            if pieces.is_full() {
                send(pieces.take().map_err(|error| too_large(&error))?)?;
            }
            Ok(())
        })?;
        send(pieces.take().map_err(|error| too_large(&error))?)
    }

    /// Creates one message from each result row with the template of a CONSTRUCT query. Variables
    /// that are not in the results are unbound.
    ///
    /// # Errors
    /// If the messages are too large.
    pub fn instantiate(
        &self,
        results: &ResultBatch,
        output: &mut MessageOutput,
    ) -> Result<Option<MessageBatch>, Stop> {
        let dictionary = Dictionary::of(results);
        let names = &results.head().variables;
        let mut columns = Vec::with_capacity(self.query.variables.len());
        for variable in &self.query.variables {
            columns.push(names.iter().position(|name| **name == *variable.as_str()));
        }
        let (mut rows, mut constructed) = (SolutionRows::default(), Triples::default());
        let Form::Construct(template) = &self.query.form else {
            return Ok(None);
        };
        let constants = template.add_constants(&dictionary, &mut rows);
        let mut cells = Vec::new();
        for row in 0..results.len() {
            let row = results.message(row);
            let cell = |column: &Option<usize>| match column.map(|index| row[index]) {
                None | Some(TermId::DEFAULT_GRAPH) => UNBOUND,
                Some(id) => dictionary.class(id),
            };
            cells.clear();
            cells.extend(columns.iter().map(cell));
            let mut fresh = FreshLabels::default();
            let node = || fresh.name_node(&dictionary, cells.iter().copied());
            constructed.add(|each| {
                template.instantiate(&dictionary, &constants, &cells, &mut rows, node, each);
            });
        }
        let batch = output.build_batch_of_rows(&self.query, results, &rows, &constructed);
        batch.map_err(|error| too_large(&error))
    }
}

fn too_large(error: &LimitExceeded) -> Stop {
    Stop::Failed(error.0.text().to_owned())
}

/// A builder of pieces from the rows of a dataset.
struct PieceBuilder<'e> {
    evaluation: &'e Evaluation,
    data: &'e MessageBatch,
    rows: SolutionRows,
    triples: Triples,
    output: Output,
    /// Cells for the template's constants in `rows`.
    constants: Option<Vec<u32>>,
    is_first: bool,
}

enum Output {
    Rows(RowOutput),
    Messages(MessageOutput),
}

impl<'e> PieceBuilder<'e> {
    fn new(evaluation: &'e Evaluation, data: &'e MessageBatch) -> Self {
        let output = match evaluation.query.form {
            Form::Construct(_) => Output::Messages(MessageOutput::default()),
            Form::Select | Form::Ask => Output::Rows(RowOutput::new(&evaluation.query)),
        };
        Self {
            evaluation,
            data,
            rows: SolutionRows::default(),
            triples: Triples::default(),
            output,
            constants: None,
            is_first: true,
        }
    }

    /// Adds the last row, whose cells have already been appended.
    fn add_row(&mut self, dictionary: &Dictionary<'_>, node: impl FnMut() -> BlankNode) {
        self.rows.messages.push(0);
        if let Form::Construct(template) = &self.evaluation.query.form {
            let cells = std::mem::take(&mut self.rows.cells);
            let rows = &mut self.rows;
            let constants = self
                .constants
                .get_or_insert_with(|| template.add_constants(dictionary, rows));
            let each = |each: &mut dyn FnMut([u32; 3])| {
                template.instantiate(dictionary, constants, &cells, rows, node, each);
            };
            self.triples.add(each);
            self.rows.cells = cells;
            self.rows.cells.clear();
        }
    }

    fn is_full(&self) -> bool {
        self.rows.messages.len() >= ROWS_PER_PIECE
            || self.triples.triples.len() >= ROWS_PER_PIECE
            || budget::kept_bytes() >= TERMS_PER_PIECE
    }

    /// Returns a piece with the rows added since the last piece.
    fn take(&mut self) -> Result<Option<Piece>, LimitExceeded> {
        let is_first = std::mem::take(&mut self.is_first);
        let piece = match &mut self.output {
            Output::Rows(output) => {
                let has_rows = is_first || !self.rows.messages.is_empty();
                let batch = output.build_batch(self.data, &self.rows)?;
                has_rows.then_some(Piece::Rows(batch))
            }
            Output::Messages(output) => {
                let query = &self.evaluation.query;
                let batch =
                    output.build_batch_of_rows(query, self.data, &self.rows, &self.triples)?;
                batch.map(Piece::Messages)
            }
        };
        self.rows.clear();
        self.constants = None;
        self.triples.clear();
        budget::forget_kept();
        Ok(piece)
    }
}
