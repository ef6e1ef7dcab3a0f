//! Batches from Python messages and quads.
//!
//! - In: `Message` objects or iterables of `Quad`; operations; rows. Views are copied by term id,
//!   without creating objects.
//! - Out: a batch, with messages numbered from a given index.
//! - Cost: one hash lookup per term. Equal terms are stored once. If views are in batch order, only
//!   the namespaces that changed between them are declared.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch, ResultBatch};
use rdfm_core::model::builder::{BatchBuilder, LogBuilder};
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::namespaces::Namespaces;
use rdfm_core::model::record::{Operation, OperationCode, Record, ResultHead};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, Term, TermId, TermKind};
use rustc_hash::FxHashMap;

use crate::errors;
use crate::terms::{self, AnyTerm, Parts};

/// A function that returns the core batch of a Python batch.
pub type BatchOf = for<'a> fn(&'a Bound<'_, PyAny>) -> PyResult<&'a MessageBatch>;

/// Builds a batch from an iterable of messages or of quad iterables.
pub fn from_messages(
    messages: &Bound<'_, PyAny>,
    first_message_index: u64,
    after: Option<&MessageBatch>,
    batch_of: BatchOf,
) -> PyResult<MessageBatch> {
    let py = messages.py();
    let class = message_class(py)?;
    let mut build = MessageBuilder {
        terms: BatchTerms::new(first_message_index),
        batch_of,
        copied: None,
        declared: None,
    };
    if let Some(batch) = after {
        build.terms.builder.start_after(batch);
    }
    for message in messages.try_iter()? {
        let message = message?;
        build.terms.builder.begin_message(None);
        if is_message(&message, class)? {
            build.message(&message)?;
        } else {
            build.quads(&message)?;
        }
        build.terms.end_message()?;
    }
    Ok(build.terms.take())
}

/// Whether an object is a message. A check against `Message`, an abstract base class, calls Python
/// code, so the usual types are recognized first.
fn is_message(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<bool> {
    if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
        return Ok(false);
    }
    Ok(object.get_type().is(class) || object.is_instance(class)?)
}

/// Builds a batch from an iterable of patches, each an iterable of operations: tuples of code,
/// name, subject, predicate, object and graph.
pub fn from_patches(patches: &Bound<'_, PyAny>, first_message_index: u64) -> PyResult<PatchBatch> {
    let mut terms = BatchTerms::<Operation>::new(first_message_index);
    for patch in patches.try_iter()? {
        terms.builder.begin_message(None);
        for operation in patch?.try_iter()? {
            let operation = terms.operation(&operation?)?;
            terms.builder.add(operation).map_err(errors::limit_error)?;
        }
        terms.end_message()?;
    }
    Ok(terms.take())
}

/// Builds a batch from an iterable of rows, each an iterable of terms or None, one per variable.
pub fn from_rows(
    rows: &Bound<'_, PyAny>,
    head: ResultHead,
    first_message_index: u64,
) -> PyResult<ResultBatch> {
    let mut terms = BatchTerms::<TermId>::new(first_message_index);
    let width = head.variables.len();
    let answers = head.boolean.is_some();
    terms.builder.set_head(Arc::new(head));
    for row in rows.try_iter()? {
        if answers {
            return Err(PyValueError::new_err(
                "the answer to an ASK query has no rows",
            ));
        }
        terms.builder.begin_message(None);
        let mut cells = 0;
        for cell in row?.try_iter()? {
            let cell = terms.optional(&cell?)?;
            terms.builder.add(cell).map_err(errors::limit_error)?;
            cells += 1;
        }
        if cells != width {
            let row = terms.builder.message_index();
            return Err(PyValueError::new_err(format!(
                "row {row} has {cells} cells, expected {width} (one for each variable)"
            )));
        }
        terms.end_message()?;
    }
    let head = terms.builder.take_head();
    Ok(terms.builder.take().unwrap_or(head))
}

fn message_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static MESSAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    MESSAGE.import(py, "rdfm.message", "Message")
}

/// The terms of a batch under construction, by Python object and by content.
struct BatchTerms<'py, R: Record> {
    builder: LogBuilder<R>,
    /// Terms by object address. A reference to the object ensures that its address is not reused.
    objects: FxHashMap<usize, (TermId, Bound<'py, PyAny>)>,
    /// Terms by content: kind with direction, datatype or language id, text.
    texts: FxHashMap<(u8, u32, Box<str>), TermId>,
}

/// Builds a message batch.
struct MessageBuilder<'py> {
    terms: BatchTerms<'py, Quad>,
    batch_of: BatchOf,
    /// The batch from which views were last copied, and the new ids of its terms (0: not copied
    /// yet).
    copied: Option<(Bound<'py, PyAny>, Vec<u32>)>,
    /// The view whose namespaces were last declared, unless another message has declared any since.
    declared: Option<(Bound<'py, PyAny>, usize)>,
}

impl<'py, R: Record> BatchTerms<'py, R> {
    fn new(first_message_index: u64) -> Self {
        let mut builder = LogBuilder::within_2_gib();
        builder.start_at(first_message_index);
        Self {
            builder,
            objects: FxHashMap::default(),
            texts: FxHashMap::default(),
        }
    }

    fn end_message(&mut self) -> PyResult<()> {
        self.builder.end_message();
        self.builder.check_2_gib().map_err(errors::limit_error)
    }

    fn take(&mut self) -> LogBatch<R> {
        self.builder.take().unwrap_or_else(LogBatch::empty)
    }

    /// Returns the id of a term, or of the default graph for None.
    fn optional(&mut self, object: &Bound<'py, PyAny>) -> PyResult<TermId> {
        if object.is_none() {
            return Ok(TermId::DEFAULT_GRAPH);
        }
        self.term(object)
    }

    fn operation(&mut self, operation: &Bound<'py, PyAny>) -> PyResult<Operation> {
        let parts: [Bound<'py, PyAny>; 6] = operation.extract()?;
        let code: &str = &parts[0].extract::<String>()?;
        let code = OperationCode::from_name(code).ok_or_else(|| {
            let codes = OperationCode::ALL.map(OperationCode::name).join(", ");
            PyValueError::new_err(format!(
                "'{code}' is not an operation; expected one of {codes}"
            ))
        })?;
        let name = if parts[1].is_none() {
            TermId::DEFAULT_GRAPH
        } else {
            let name: String = parts[1].extract()?;
            self.text(TermKind::Literal, &name, 0, 0)?
        };
        let operation = Operation {
            code,
            name,
            subject: self.optional(&parts[2])?,
            predicate: self.optional(&parts[3])?,
            object: self.optional(&parts[4])?,
            graph: self.optional(&parts[5])?,
        };
        match operation.find_violated_rule(self.builder.table()) {
            None => Ok(operation),
            Some(rule) => Err(PyValueError::new_err(format!("{}: {rule}", code.name()))),
        }
    }

    fn term(&mut self, object: &Bound<'py, PyAny>) -> PyResult<TermId> {
        let address = object.as_ptr() as usize;
        if let Some((id, _)) = self.objects.get(&address) {
            return Ok(*id);
        }
        let id = self.new_term(AnyTerm::expect(object, "a term")?)?;
        self.objects.insert(address, (id, object.clone()));
        Ok(id)
    }

    fn new_term(&mut self, term: AnyTerm<'_, 'py>) -> PyResult<TermId> {
        match term.triple_parts()? {
            Parts::Iri(text) => self.text(TermKind::Iri, text, 0, 0),
            Parts::BlankNode(text) => self.text(TermKind::BlankNode, text, 0, 0),
            Parts::Simple(text) => self.text(TermKind::Literal, text, 0, 0),
            Parts::Typed(text, datatype) => {
                let datatype = self.term(datatype)?;
                self.text(TermKind::TypedLiteral, text, datatype.0, 0)
            }
            Parts::Tagged(text, language, direction) => {
                let language = self.text(TermKind::Language, language, 0, 0)?;
                self.text(TermKind::LangLiteral, text, language.0, direction)
            }
            Parts::Triple([subject, predicate, object]) => {
                let triple = [
                    self.term(subject)?,
                    self.term(predicate)?,
                    self.term(object)?,
                ];
                self.builder
                    .add_triple_term(triple)
                    .map_err(errors::limit_error)
            }
        }
    }

    fn text(&mut self, kind: TermKind, text: &str, aux: u32, flags: u8) -> PyResult<TermId> {
        let key = (kind as u8 | flags << 4, aux, text.into());
        if let Some(id) = self.texts.get(&key) {
            return Ok(*id);
        }
        let id = self
            .builder
            .add_with_aux(kind, text.as_bytes(), aux, flags)
            .map_err(errors::limit_error)?;
        self.texts.insert(key, id);
        Ok(id)
    }
}

impl<'py> MessageBuilder<'py> {
    fn message(&mut self, message: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = message.py();
        let own_quads = message.getattr(pyo3::intern!(py, "_quads"))?;
        let source = message.getattr(pyo3::intern!(py, "_batch"))?;
        if own_quads.is_none() {
            let (batch, index) = self.view(&source, message)?;
            self.copy(&source, batch, index)?;
        } else {
            self.quads(&own_quads)?;
        }
        let metadata = message.getattr(pyo3::intern!(py, "_metadata"))?;
        if metadata.is_none() {
            let (batch, index) = self.view(&source, message)?;
            for entry in batch.metadata(index) {
                self.terms
                    .builder
                    .add_metadata(&entry.key, &entry.value)
                    .map_err(errors::limit_error)?;
            }
        } else {
            for (key, value) in metadata.cast::<PyDict>()?.iter() {
                let key: String = key.extract()?;
                let value: Vec<u8> = value.extract()?;
                self.terms
                    .builder
                    .add_metadata(&key, &value)
                    .map_err(errors::limit_error)?;
            }
        }
        let namespaces = message.getattr(pyo3::intern!(py, "_namespaces"))?;
        if namespaces.is_none() {
            let (batch, index) = self.view(&source, message)?;
            self.view_namespaces(&source, batch, index)?;
        } else {
            for (name, iri) in namespaces.cast::<PyDict>()?.iter() {
                let (name, iri): (String, String) = (name.extract()?, iri.extract()?);
                if self.namespace(name.as_bytes(), iri.as_bytes())? {
                    self.declared = None;
                }
            }
        }
        Ok(())
    }

    /// Returns the batch of a view, and the number of the view's message in the batch.
    fn view<'a>(
        &self,
        source: &'a Bound<'py, PyAny>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<(&'a MessageBatch, usize)> {
        let index: usize = message
            .getattr(pyo3::intern!(message.py(), "_index"))?
            .extract()?;
        let batch = (self.batch_of)(source)?;
        if index >= batch.len() {
            return Err(PyIndexError::new_err(format!(
                "message index {index} is out of range for a batch of size {}",
                batch.len()
            )));
        }
        Ok((batch, index))
    }

    /// Declares the namespaces in scope at a view.
    fn view_namespaces(
        &mut self,
        source: &Bound<'py, PyAny>,
        batch: &MessageBatch,
        index: usize,
    ) -> PyResult<()> {
        if batch.namespaces_at_start().is_empty() && batch.namespace_changes().is_empty() {
            return Ok(());
        }
        match self.declared.take() {
            // The namespaces up to `last` are already declared.
            Some((declared, last)) if declared.is(source) && last <= index => {
                let changes = batch.namespace_changes();
                let up_to = |message: usize| {
                    changes.partition_point(|change| change.message as usize <= message)
                };
                let mut newer = Namespaces::default();
                for change in &changes[up_to(last)..up_to(index)] {
                    let table = batch.table();
                    newer.set(table.span(change.name), table.span(change.iri));
                }
                for (name, iri) in newer.iter() {
                    self.namespace(name, iri)?;
                }
            }
            _ => {
                for (name, iri) in batch.namespaces(index).iter() {
                    self.namespace(name, iri)?;
                }
            }
        }
        self.declared = Some((source.clone(), index));
        Ok(())
    }

    /// Declares a namespace unless it is already in scope. Returns whether it was declared.
    fn namespace(&mut self, name: &[u8], iri: &[u8]) -> PyResult<bool> {
        let is_new = self.terms.builder.in_force().get(name) != Some(iri);
        if is_new {
            self.terms
                .builder
                .add_namespace(name, iri)
                .map_err(errors::limit_error)?;
        }
        Ok(is_new)
    }

    fn quads(&mut self, quads: &Bound<'py, PyAny>) -> PyResult<()> {
        for quad in quads.try_iter()? {
            let quad = quad?;
            let quad = quad.cast::<terms::Quad>()?.get();
            let py = quads.py();
            let [subject, predicate, object, graph] = quad.parts().map(|part| part.bind(py));
            let quad = Quad {
                subject: self.terms.term(subject)?,
                predicate: self.terms.term(predicate)?,
                object: self.terms.term(object)?,
                graph: self.terms.optional(graph)?,
            };
            self.terms
                .builder
                .add_quad(quad)
                .map_err(errors::limit_error)?;
        }
        Ok(())
    }

    /// Copies a message of another batch.
    fn copy(
        &mut self,
        source: &Bound<'py, PyAny>,
        batch: &MessageBatch,
        index: usize,
    ) -> PyResult<()> {
        let table = batch.table();
        let mut ids = match self.copied.take() {
            Some((last, ids)) if last.is(source) => ids,
            _ => vec![0; table.terms().len()],
        };
        for quad in batch.message(index) {
            let mut part = |id: TermId| copy_term(&mut self.terms.builder, table, &mut ids, id);
            let mut quad = || -> Result<Quad, LimitExceeded> {
                Ok(Quad {
                    subject: part(quad.subject)?,
                    predicate: part(quad.predicate)?,
                    object: part(quad.object)?,
                    graph: part(quad.graph)?,
                })
            };
            let quad = quad().map_err(errors::limit_error)?;
            self.terms
                .builder
                .add_quad(quad)
                .map_err(errors::limit_error)?;
        }
        self.copied = Some((source.clone(), ids));
        Ok(())
    }
}

/// Copies a term, unless it has been copied already, and returns the id of the copy. The recursion
/// depth is the nesting depth of triple terms.
fn copy_term(
    builder: &mut BatchBuilder,
    table: &TermTable,
    ids: &mut [u32],
    id: TermId,
) -> Result<TermId, LimitExceeded> {
    let existing = ids[id.index()];
    if existing != 0 || id == TermId::DEFAULT_GRAPH {
        return Ok(TermId(existing));
    }
    let term = table.term(id);
    let copy = match term.kind {
        TermKind::TripleTerm => {
            let [subject, predicate, object] = table.triple(term);
            let triple = [
                copy_term(builder, table, ids, subject)?,
                copy_term(builder, table, ids, predicate)?,
                copy_term(builder, table, ids, object)?,
            ];
            builder.add_triple_term(triple)?
        }
        TermKind::LangLiteral | TermKind::TypedLiteral => {
            let aux = copy_term(builder, table, ids, TermId(term.aux))?.0;
            let offset = builder.add_text(table.text_of(term))?.offset;
            builder.add_term(Term {
                offset,
                aux,
                ..term
            })?
        }
        _ => {
            let offset = builder.add_text(table.text_of(term))?.offset;
            builder.add_term(Term { offset, ..term })?
        }
    };
    ids[id.index()] = copy.0;
    Ok(copy)
}
