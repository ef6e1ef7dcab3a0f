//! The Python objects for a batch's terms.
//!
//! - In: a batch's term table, or a string.
//! - Out: the Python object for a term.
//! - Cost: one object per term, created on first access. An object that another message uses soon
//!   afterwards is kept as long as the batch. Other objects are released. Otherwise Python's
//!   garbage collector would take a fifth of the run time, because it examines all objects whenever
//!   700 new ones exist.
//! - Law: a term's language, datatype and parts are objects from the same table.

use pyo3::prelude::*;
use pyo3::types::PyString;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};

use super::{BlankNode, Direction, Iri, Literal, LiteralKind, TripleTerm};
use crate::{errors, options};

/// After this number of new objects, the objects that only one call has used are released.
const MAX_NEW: usize = 256;

/// The Python objects for a term table, each created on first access.
#[derive(Default)]
pub struct TermObjects {
    objects: Vec<Option<TermObject>>,
    /// Terms whose objects were created since objects were last released.
    new: Vec<TermId>,
    /// Number of the current call.
    call: u32,
}

/// The Python object for a term.
struct TermObject {
    object: Py<PyAny>,
    /// Number of the call that created the object.
    call: u32,
    /// Whether a later call has also used the object.
    is_shared: bool,
}

impl TermObjects {
    /// Starts a call that gets objects for a table's terms.
    pub fn begin_call(&mut self, table: &TermTable) {
        if self.objects.len() < table.terms().len() {
            self.objects.resize_with(table.terms().len(), || None);
        }
        if self.new.len() >= MAX_NEW {
            for id in self.new.drain(..) {
                let slot = &mut self.objects[id.index()];
                slot.take_if(|entry| !entry.is_shared);
            }
        }
        self.call = self.call.wrapping_add(1);
    }

    /// Returns the object for a term, or None for the default graph.
    #[inline]
    pub fn get(&mut self, py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyAny>> {
        if let Some(entry) = &mut self.objects[id.index()] {
            entry.is_shared |= entry.call != self.call;
            return Ok(entry.object.clone_ref(py));
        }
        self.get_new(py, table, id)
    }

    /// Creates the object for a term. Separate, so that the usual case of `get` is inlined.
    #[inline(never)]
    fn get_new(&mut self, py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyAny>> {
        let object = self.create(py, table, id)?;
        self.new.push(id);
        self.objects[id.index()] = Some(TermObject {
            object: object.clone_ref(py),
            call: self.call,
            is_shared: false,
        });
        Ok(object)
    }

    fn create(&mut self, py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyAny>> {
        let term = table.term(id);
        let value = || text_object(py, table, id);
        Ok(match term.kind {
            TermKind::DefaultGraph => py.None(),
            TermKind::Iri => Py::new(py, Iri { value: value()? })?.into_any(),
            TermKind::BlankNode => Py::new(py, BlankNode { value: value()? })?.into_any(),
            TermKind::Language => value()?.into_any(),
            TermKind::Literal => Py::new(
                py,
                Literal {
                    value: value()?,
                    kind: LiteralKind::Simple,
                },
            )?
            .into_any(),
            TermKind::LangLiteral => {
                let language = self.get(py, table, TermId(term.aux))?;
                let language = language.cast_bound::<PyString>(py)?.clone().unbind();
                let kind = LiteralKind::Tagged(language, Direction::from_flags(term.flags));
                let value = value()?;
                Py::new(py, Literal { value, kind })?.into_any()
            }
            TermKind::TypedLiteral => {
                let datatype = self.get(py, table, TermId(term.aux))?;
                let datatype = datatype.cast_bound::<Iri>(py)?.clone().unbind();
                let kind = LiteralKind::Typed(datatype);
                let value = value()?;
                Py::new(py, Literal { value, kind })?.into_any()
            }
            TermKind::TripleTerm => {
                let [subject, predicate, object] = table.triple(term);
                let subject = self.get(py, table, subject)?;
                let predicate = self.get(py, table, predicate)?;
                let object = self.get(py, table, object)?;
                let triple =
                    TripleTerm::new(subject.bind(py), predicate.bind(py), object.bind(py))?;
                Py::new(py, triple)?.into_any()
            }
        })
    }
}

/// Returns the text of a table's term as a Python string.
fn text_object(py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyString>> {
    PyString::from_bytes(py, table.text(id)).map(Bound::unbind)
}

/// Parse a term in N-Triples syntax.
///
/// Accepts all kinds of terms, both syntaxes of triple terms, and all escapes in IRIs.
///
/// Args:
///     text: The term.
///     max_depth: Maximum nesting of triple terms.
/// Raises:
///     DecodeError: If the text is not a valid term.
#[pyfunction]
#[pyo3(signature = (text, *, max_depth=64))]
pub(super) fn parse_term(py: Python<'_>, text: &str, max_depth: u32) -> PyResult<Py<PyAny>> {
    let mut builder = BatchBuilder::within_2_gib();
    let max_depth = options::check_depth(max_depth)?;
    let id = rdfm_core::formats::nquads::parse_term(&mut builder, text.as_bytes(), max_depth)
        .map_err(errors::term)?;
    let mut objects = TermObjects::default();
    objects.begin_call(builder.table());
    objects.get(py, builder.table(), id)
}
