//! Batches from Python messages and quads.
//!
//! - In: `Message` objects (views are copied by id, without making objects) or iterables of `Quad`.
//! - Out: a batch; its messages are numbered from an index that the caller gives.
//! - Cost: a hash look-up a term; terms that are the same object or equal are stored once. Views in
//!   the order of their batch cost the namespaces that changed between them.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::namespaces::Namespaces;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, Term, TermId, TermKind};
use rustc_hash::FxHashMap;

use crate::errors;
use crate::terms::{self, AnyTerm, Parts};

/// How to come from a Python batch to the core's.
pub type BatchOf = for<'a> fn(&'a Bound<'_, PyAny>) -> PyResult<&'a MessageBatch>;

/// A batch from an iterable of messages, or of iterables of quads.
pub fn from_messages(
    messages: &Bound<'_, PyAny>,
    first_index: u64,
    after: Option<&MessageBatch>,
    batch_of: BatchOf,
) -> PyResult<MessageBatch> {
    let py = messages.py();
    let class = message_class(py)?;
    let mut build = Build {
        builder: BatchBuilder::within_2_gib(),
        batch_of,
        objects: FxHashMap::default(),
        texts: FxHashMap::default(),
        copied: None,
        declared: None,
    };
    build.builder.start_at(first_index);
    if let Some(batch) = after {
        build.builder.start_after(batch);
    }
    for message in messages.try_iter()? {
        let message = message?;
        build.builder.begin_message(0);
        if message.is_instance(class)? {
            build.message(&message)?;
        } else {
            build.quads(&message)?;
        }
        build.builder.end_message();
        build.builder.check_2_gib().map_err(errors::exceeded)?;
    }
    Ok(build.builder.take().unwrap_or_else(MessageBatch::empty))
}

fn message_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static MESSAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    MESSAGE.import(py, "rdfm.message", "Message")
}

/// What a batch under construction remembers of Python's terms.
struct Build<'py> {
    builder: BatchBuilder,
    batch_of: BatchOf,
    /// Terms by object; holds the object, so that its address stays its own.
    objects: FxHashMap<usize, (TermId, Bound<'py, PyAny>)>,
    /// Terms by content: kind with direction, datatype or language id, text.
    texts: FxHashMap<(u8, u32, Box<str>), TermId>,
    /// The batch that views were last copied from, and the new ids of its terms (0: none yet).
    copied: Option<(Bound<'py, PyAny>, Vec<u32>)>,
    /// The view whose namespaces were declared last, and none of another message since.
    declared: Option<(Bound<'py, PyAny>, usize)>,
}

impl<'py> Build<'py> {
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
                self.builder
                    .add_metadata(&entry.key, &entry.value)
                    .map_err(errors::exceeded)?;
            }
        } else {
            for (key, value) in metadata.cast::<PyDict>()?.iter() {
                let key: String = key.extract()?;
                let value: Vec<u8> = value.extract()?;
                self.builder
                    .add_metadata(&key, &value)
                    .map_err(errors::exceeded)?;
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

    /// The batch of a view, and the message's place in it.
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
                "no message {index} in a batch of {}",
                batch.len()
            )));
        }
        Ok((batch, index))
    }

    /// Declares the namespaces in force at a view.
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
            // Those up to `last` are in force already.
            Some((known, last)) if known.is(source) && last <= index => {
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

    /// Declares a namespace unless it is in force already; tells whether it was not.
    fn namespace(&mut self, name: &[u8], iri: &[u8]) -> PyResult<bool> {
        let new = self.builder.in_force().get(name) != Some(iri);
        if new {
            self.builder
                .add_namespace(name, iri)
                .map_err(errors::exceeded)?;
        }
        Ok(new)
    }

    fn quads(&mut self, quads: &Bound<'py, PyAny>) -> PyResult<()> {
        for quad in quads.try_iter()? {
            let quad = quad?;
            let quad = quad.cast::<terms::Quad>()?.get();
            let py = quads.py();
            let [subject, predicate, object, graph] = quad.parts().map(|part| part.bind(py));
            let quad = Quad {
                subject: self.term(subject)?,
                predicate: self.term(predicate)?,
                object: self.term(object)?,
                graph: if graph.is_none() {
                    TermId::DEFAULT_GRAPH
                } else {
                    self.term(graph)?
                },
            };
            self.builder.add_quad(quad).map_err(errors::exceeded)?;
        }
        Ok(())
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
        match term.parts()? {
            Parts::Iri(text) => self.text(TermKind::Iri, text, 0, 0),
            Parts::Bnode(text) => self.text(TermKind::Bnode, text, 0, 0),
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
                    .map_err(errors::exceeded)
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
            .map_err(errors::exceeded)?;
        self.texts.insert(key, id);
        Ok(id)
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
            let mut part = |id: TermId| copy_term(&mut self.builder, table, &mut ids, id);
            let mut quad = || -> Result<Quad, LimitExceeded> {
                Ok(Quad {
                    subject: part(quad.subject)?,
                    predicate: part(quad.predicate)?,
                    object: part(quad.object)?,
                    graph: part(quad.graph)?,
                })
            };
            let quad = quad().map_err(errors::exceeded)?;
            self.builder.add_quad(quad).map_err(errors::exceeded)?;
        }
        self.copied = Some((source.clone(), ids));
        Ok(())
    }
}

/// The id of a copy of a term, made when first asked for. Recursion is as deep as triple terms nest.
fn copy_term(
    builder: &mut BatchBuilder,
    table: &TermTable,
    ids: &mut [u32],
    id: TermId,
) -> Result<TermId, LimitExceeded> {
    let known = ids[id.index()];
    if known != 0 || id == TermId::DEFAULT_GRAPH {
        return Ok(TermId(known));
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
