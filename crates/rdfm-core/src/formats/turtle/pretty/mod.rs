//! Writes pretty Turtle and TriG: sorted, indented, with nested blank nodes and lists.
//!
//! - In: complete messages.
//! - Out: text that is the same for equal datasets with the same prefixes. A statement has one
//!   predicate per line and several objects one per line. Prefixes precede the first message that
//!   uses them.
//! - Cost: each distinct term is sorted once. A nested node is copied once per level if objects are
//!   sorted by its text. Memory is proportional to the text of the message.
//! - Law: neither the order of quads, their repetitions nor the labels of blank nodes affect the
//!   text. Writing the messages that readers get writes the same text.
//!
//! [`dataset`] sorts the distinct terms and quads, `crate::syntax::shape` nests blank nodes,
//! [`labels`] numbers the others, [`order`] sorts objects, and [`namespaces`] selects prefixes.

mod dataset;
mod labels;
mod namespaces;
mod order;

use std::io::Write as _;

use dataset::SortedDataset;
use namespaces::UsedNamespaces;
use order::SortedShape;

use super::short_forms::{RDF_TYPE, open_literal, write_short_iri};
use crate::codec::options::{DEPTH, LENIENT};
use crate::codec::spec::FormatSpec;
use crate::codec::values::Values;
use crate::model::batch::MessageBatch;
use crate::model::term::{TermId, TermKind};
use crate::model::write::{Style, direction};
use crate::syntax::prefixes::head_of;
use crate::syntax::shape::{MessageShape, NestingRule};
use crate::syntax::text::encode::{StatementError, StatementWriter};

const INDENTATION: &[u8] = b"    ";

/// Writes pretty messages.
pub(super) struct PrettyWriter {
    max_depth: u8,
    dataset: SortedDataset,
    shape: MessageShape,
    namespaces: UsedNamespaces,
    /// The statements of the message.
    body: Vec<u8>,
    repeated: u64,
}

impl PrettyWriter {
    pub fn new(format: &FormatSpec, values: &Values) -> Self {
        Self {
            max_depth: u8::try_from(values.number(&DEPTH)).unwrap_or(u8::MAX),
            dataset: SortedDataset::new(format.carries.graphs, values.is_on(&LENIENT)),
            shape: MessageShape::default(),
            namespaces: UsedNamespaces::default(),
            body: Vec::new(),
            repeated: 0,
        }
    }
}

impl StatementWriter for PrettyWriter {
    const PARTS: bool = false;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &[u8]) {
        let terms = batch.table().terms().len();
        self.dataset.begin_batch(terms);
        self.shape.begin_batch(terms);
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], _out: &mut Vec<u8>) -> bool {
        self.namespaces.declare(name, iri)
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let table = batch.table();
        self.repeated += self.dataset.load(table, batch.message(message))?;
        let rule = NestingRule {
            // A triple term in a nested node adds to the depth.
            max_depth: self.max_depth.saturating_sub(self.dataset.triple_depth()),
            types: true,
        };
        let graphs = self.dataset.has_graphs() && batch.has_graphs();
        let quads = &self.dataset.quads;
        self.shape.analyze(table, quads, graphs, rule);
        let numbers = labels::number(table, &self.dataset, &mut self.shape, rule)?;
        self.dataset.set_numbers(numbers);
        self.body.clear();
        let mut layout = StatementLayout {
            order: SortedShape::new(table, &self.dataset, &mut self.shape, rule),
            namespaces: &mut self.namespaces,
            style: &style,
            max_bytes: style.max_bytes.saturating_sub(out.len()),
            out: &mut self.body,
        };
        layout.write_graphs()?;
        self.namespaces.write_new(out);
        out.append(&mut self.body);
        Ok(())
    }

    fn reset(&mut self) {
        self.namespaces = UsedNamespaces::default();
        self.repeated = 0;
    }

    fn count_repeated(&self) -> u64 {
        self.repeated
    }

    fn count_unused(&self) -> u64 {
        self.namespaces.uses.count_unused()
    }
}

/// Writes the statements of one message.
struct StatementLayout<'a> {
    order: SortedShape<'a>,
    namespaces: &'a mut UsedNamespaces,
    style: &'a Style,
    max_bytes: usize,
    out: &'a mut Vec<u8>,
}

impl StatementLayout<'_> {
    fn write_graphs(&mut self) -> Result<(), StatementError> {
        for graph in self.order.graphs() {
            let name = self.order.graph(graph);
            let named = name != TermId::DEFAULT_GRAPH;
            let mut is_first = true;
            if named {
                self.write_blank_line();
                self.write_term(name)?;
                self.out.extend_from_slice(b" {\n");
            }
            for node in self.order.top_nodes(graph) {
                if !(named && is_first) {
                    self.write_blank_line();
                }
                is_first = false;
                let depth = usize::from(named);
                self.write_indentation(depth);
                self.write_term(self.order.subject(node))?;
                self.out.push(b'\n');
                self.write_properties(node, depth + 1)?;
                self.write_indentation(depth);
                self.out.extend_from_slice(b".\n");
            }
            if named {
                self.out.extend_from_slice(b"}\n");
            }
        }
        Ok(())
    }

    /// Separates statements.
    fn write_blank_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn write_indentation(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.extend_from_slice(INDENTATION);
        }
    }

    fn write_properties(&mut self, node: u32, depth: usize) -> Result<(), StatementError> {
        for property in self.order.properties(node) {
            if self.out.len() > self.max_bytes {
                return Err(StatementError::TooLong);
            }
            self.write_indentation(depth);
            let predicate = self.order.predicate(property);
            if self.order.table.text(predicate) == RDF_TYPE {
                self.out.push(b'a');
            } else {
                self.write_term(predicate)?;
            }
            self.order.sort_objects(property)?;
            let objects = self.order.count_objects(property);
            for index in 0..objects {
                let object = self.order.object(property, index);
                if objects == 1 {
                    self.out.push(b' ');
                    self.write_object(object, depth)?;
                } else {
                    self.out
                        .extend_from_slice(if index == 0 { b"\n" } else { b" ,\n" });
                    self.write_indentation(depth + 1);
                    self.write_object(object, depth + 1)?;
                }
            }
            self.out.extend_from_slice(b" ;\n");
        }
        Ok(())
    }

    /// Writes an object that begins in a line with this indentation.
    fn write_object(&mut self, id: TermId, depth: usize) -> Result<(), StatementError> {
        if self.order.is_nil(id) {
            self.out.extend_from_slice(b"()");
            return Ok(());
        }
        let Some(node) = self.order.nested_node(id) else {
            if self.order.is_empty_node(id) {
                self.out.extend_from_slice(b"[]");
                return Ok(());
            }
            return self.write_term(id);
        };
        if self.order.is_list(node) {
            return self.write_list(node, depth);
        }
        self.out.extend_from_slice(b"[\n");
        self.write_properties(node, depth + 1)?;
        self.write_indentation(depth);
        self.out.push(b']');
        Ok(())
    }

    fn write_list(&mut self, node: u32, depth: usize) -> Result<(), StatementError> {
        self.out.extend_from_slice(b"(\n");
        let mut cell = Some(node);
        while let Some((first, rest)) = cell.and_then(|cell| self.order.cell(cell)) {
            if self.out.len() > self.max_bytes {
                return Err(StatementError::TooLong);
            }
            self.write_indentation(depth + 1);
            self.write_object(first, depth + 1)?;
            self.out.push(b'\n');
            cell = self.order.nested_node(rest);
        }
        self.write_indentation(depth);
        self.out.push(b')');
        Ok(())
    }

    /// Writes a term that is not nested.
    fn write_term(&mut self, id: TermId) -> Result<(), StatementError> {
        if self.out.len() > self.max_bytes {
            return Err(StatementError::TooLong);
        }
        let table = self.order.table;
        let term = table.term(id);
        match term.kind {
            TermKind::Iri => self.write_iri(id),
            TermKind::BlankNode => {
                // Writing to a vector does not fail.
                let _ = write!(self.out, "_:b{}", self.order.number(id));
            }
            TermKind::LangLiteral => {
                open_literal(table, term, self.out);
                self.out.extend_from_slice(b"\"@");
                self.out.extend_from_slice(table.text(TermId(term.aux)));
                self.out.extend_from_slice(direction(term.flags));
            }
            TermKind::TypedLiteral => {
                if open_literal(table, term, self.out) {
                    self.out.extend_from_slice(b"\"^^");
                    self.write_iri(TermId(term.aux));
                }
            }
            TermKind::TripleTerm => {
                self.out.extend_from_slice(self.style.open);
                for part in table.triple(term) {
                    self.write_term(part)?;
                    self.out.push(b' ');
                }
                self.out.extend_from_slice(self.style.close);
            }
            TermKind::DefaultGraph | TermKind::Literal | TermKind::Language => {
                self.style.write(table, id, self.out);
            }
        }
        Ok(())
    }

    fn write_iri(&mut self, id: TermId) {
        let table = self.order.table;
        let term = table.term(id);
        let head = head_of(table.text_of(term));
        let prefixes = &self.namespaces.prefixes;
        if let Some(name) = write_short_iri(prefixes, head, table, term, self.out) {
            self.namespaces.uses.mark(name);
        }
    }
}
