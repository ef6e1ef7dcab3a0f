//! Terms and quads as Python objects: small, frozen, compared and hashed by content.
//!
//! - In: Python strings, or a batch's term table ([`TermObjects`]).
//! - Out: `Iri`, `Bnode`, `Literal`, `TripleTerm`, `Quad`; `str()` is canonical N-Triples.
//! - Cost: one string and one object a term, made once a batch; a quad holds four references.
//! - Law: order is total over terms: by kind (blank nodes, IRIs, literals, triple terms), then by
//!   code points of text, datatype, language, direction; parts of triple terms in turn.

use std::cmp::Ordering;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyNotImplemented, PyString, PyTuple};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, XSD_STRING, flags};
use rdfm_core::model::write;
use rustc_hash::FxHashMap;

use crate::{build, errors, options};

const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// An IRI.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Iri {
    /// The IRI, without angle brackets.
    #[pyo3(get)]
    value: Py<PyString>,
}

/// A blank node. Its label means something within its message only.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Bnode {
    /// The label, without `_:`.
    #[pyo3(get)]
    value: Py<PyString>,
}

/// A literal: a text with a datatype, or with a language and perhaps a base direction.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Literal {
    /// The lexical form.
    #[pyo3(get)]
    value: Py<PyString>,
    kind: LiteralKind,
}

enum LiteralKind {
    Simple,
    Typed(Py<Iri>),
    Tagged(Py<PyString>, Direction),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    None,
    Ltr,
    Rtl,
}

impl Direction {
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Ltr => Some("ltr"),
            Self::Rtl => Some("rtl"),
        }
    }

    const fn flag(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Ltr => flags::LTR,
            Self::Rtl => flags::RTL,
        }
    }

    const fn of(term_flags: u8) -> Self {
        if term_flags & flags::LTR != 0 {
            Self::Ltr
        } else if term_flags & flags::RTL != 0 {
            Self::Rtl
        } else {
            Self::None
        }
    }
}

/// A triple used as a term (RDF 1.2; the quoted triple of RDF-star).
#[pyclass(frozen, module = "rdfm._core")]
pub struct TripleTerm {
    /// The subject.
    #[pyo3(get)]
    subject: Py<PyAny>,
    /// The predicate.
    #[pyo3(get)]
    predicate: Py<PyAny>,
    /// The object.
    #[pyo3(get)]
    object: Py<PyAny>,
    depth: u32,
}

/// A quad: subject, predicate, object and graph; graph None is the default graph.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Quad {
    /// The subject.
    #[pyo3(get)]
    pub subject: Py<PyAny>,
    /// The predicate.
    #[pyo3(get)]
    pub predicate: Py<PyAny>,
    /// The object.
    #[pyo3(get)]
    pub object: Py<PyAny>,
    /// The graph; None is the default graph.
    #[pyo3(get)]
    pub graph: Py<PyAny>,
}

/// A term of any kind, borrowed from its Python object.
#[derive(Clone, Copy)]
pub enum AnyTerm<'a, 'py> {
    Bnode(&'a Bound<'py, Bnode>),
    Iri(&'a Bound<'py, Iri>),
    Literal(&'a Bound<'py, Literal>),
    Triple(&'a Bound<'py, TripleTerm>),
}

impl<'a, 'py> AnyTerm<'a, 'py> {
    /// The term that an object is, or None if it is none.
    pub fn of(object: &'a Bound<'py, PyAny>) -> Option<Self> {
        if let Ok(iri) = object.cast_exact::<Iri>() {
            Some(Self::Iri(iri))
        } else if let Ok(literal) = object.cast_exact::<Literal>() {
            Some(Self::Literal(literal))
        } else if let Ok(bnode) = object.cast_exact::<Bnode>() {
            Some(Self::Bnode(bnode))
        } else if let Ok(triple) = object.cast_exact::<TripleTerm>() {
            Some(Self::Triple(triple))
        } else {
            None
        }
    }

    /// The term that an object is.
    pub fn expect(object: &'a Bound<'py, PyAny>, place: &str) -> PyResult<Self> {
        Self::of(object).ok_or_else(|| {
            let found = object
                .get_type()
                .name()
                .map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "{place} is an Iri, Bnode, Literal or TripleTerm, not {found}"
            ))
        })
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Bnode(_) => 0,
            Self::Iri(_) => 1,
            Self::Literal(_) => 2,
            Self::Triple(_) => 3,
        }
    }

    /// The text: label, IRI or lexical form; empty for triple terms.
    fn text(self) -> PyResult<&'a str> {
        match self {
            Self::Bnode(bnode) => bnode.get().value.bind(bnode.py()).to_str(),
            Self::Iri(iri) => iri.get().value.bind(iri.py()).to_str(),
            Self::Literal(literal) => literal.get().value.bind(literal.py()).to_str(),
            Self::Triple(_) => Ok(""),
        }
    }

    fn compare(self, other: AnyTerm<'_, 'py>) -> PyResult<Ordering> {
        let order = self.rank().cmp(&other.rank());
        if order.is_ne() {
            return Ok(order);
        }
        match (self, other) {
            (Self::Triple(a), AnyTerm::Triple(b)) => {
                for (x, y) in a.get().parts().into_iter().zip(b.get().parts()) {
                    let order = compare_objects(x.bind(a.py()), y.bind(a.py()))?;
                    if order.is_ne() {
                        return Ok(order);
                    }
                }
                Ok(Ordering::Equal)
            }
            (Self::Literal(a), AnyTerm::Literal(b)) => {
                let order = self.text()?.cmp(other.text()?);
                if order.is_ne() {
                    return Ok(order);
                }
                let py = a.py();
                let order = a.get().datatype_text(py)?.cmp(b.get().datatype_text(py)?);
                if order.is_ne() {
                    return Ok(order);
                }
                Ok(a.get().tag(py)?.cmp(&b.get().tag(py)?))
            }
            _ => Ok(self.text()?.cmp(other.text()?)),
        }
    }

    fn same(self, other: AnyTerm<'_, 'py>) -> PyResult<bool> {
        if self.rank() != other.rank() {
            return Ok(false);
        }
        Ok(self.compare(other)?.is_eq())
    }

    fn hash(self) -> PyResult<u64> {
        let own = u64::from(self.rank());
        let text = |value: &Py<PyString>, py: Python<'py>| {
            value
                .bind(py)
                .hash()
                .map(|hash| mix(own, hash.cast_unsigned() as u64))
        };
        match self {
            Self::Bnode(bnode) => text(&bnode.get().value, bnode.py()),
            Self::Iri(iri) => text(&iri.get().value, iri.py()),
            Self::Literal(literal) => {
                let py = literal.py();
                let hash = text(&literal.get().value, py)?;
                let more = match &literal.get().kind {
                    LiteralKind::Simple => return Ok(hash),
                    LiteralKind::Typed(datatype) => datatype.get().value.bind(py).hash()?,
                    LiteralKind::Tagged(language, direction) => {
                        language.bind(py).hash()? ^ *direction as isize
                    }
                };
                Ok(mix(hash, more.cast_unsigned() as u64))
            }
            Self::Triple(triple) => {
                let mut hash = own;
                for part in triple.get().parts() {
                    let part = part.bind(triple.py());
                    hash = mix(hash, AnyTerm::expect(part, "a part")?.hash()?);
                }
                Ok(hash)
            }
        }
    }

    /// Appends the term as canonical N-Triples.
    pub fn write(self, out: &mut Vec<u8>) -> PyResult<()> {
        match self {
            Self::Bnode(_) => write::write_label(self.text()?.as_bytes(), false, out),
            Self::Iri(_) => write::write_iri(self.text()?.as_bytes(), false, out),
            Self::Literal(literal) => {
                let py = literal.py();
                write::write_string(self.text()?.as_bytes(), false, out);
                match &literal.get().kind {
                    LiteralKind::Simple => {}
                    LiteralKind::Typed(datatype) => {
                        out.extend_from_slice(b"^^");
                        let text = datatype.get().value.bind(py).to_str()?;
                        write::write_iri(text.as_bytes(), false, out);
                    }
                    LiteralKind::Tagged(language, direction) => {
                        let text = language.bind(py).to_str()?;
                        write::write_language(text.as_bytes(), false, out);
                        out.extend_from_slice(write::direction(direction.flag()));
                    }
                }
            }
            Self::Triple(triple) => {
                out.extend_from_slice(b"<<( ");
                for part in triple.get().parts() {
                    AnyTerm::expect(part.bind(triple.py()), "a part")?.write(out)?;
                    out.push(b' ');
                }
                out.extend_from_slice(b")>>");
            }
        }
        Ok(())
    }

    /// Appends the term as Python would write it.
    fn write_repr(self, out: &mut String) -> PyResult<()> {
        let shown = match self {
            Self::Bnode(bnode) => bnode.repr()?,
            Self::Iri(iri) => iri.repr()?,
            Self::Literal(literal) => literal.repr()?,
            Self::Triple(triple) => {
                // Not through Python, whose recursion is bounded lower than the depth of terms.
                out.push_str("TripleTerm(");
                for (at, part) in triple.get().parts().into_iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    AnyTerm::expect(part.bind(triple.py()), "a part")?.write_repr(out)?;
                }
                out.push(')');
                return Ok(());
            }
        };
        out.push_str(shown.to_str()?);
        Ok(())
    }

    fn to_text(self) -> PyResult<String> {
        let mut out = Vec::new();
        self.write(&mut out)?;
        String::from_utf8(out).map_err(|error| errors::internal(error.to_string()))
    }
}

fn mix(hash: u64, more: u64) -> u64 {
    (hash.rotate_left(5) ^ more).wrapping_mul(0x517c_c1b7_2722_0a95)
}

fn compare_objects<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Ordering> {
    if a.is(b) {
        return Ok(Ordering::Equal);
    }
    AnyTerm::expect(a, "a term")?.compare(AnyTerm::expect(b, "a term")?)
}

fn compare<'py>(
    a: AnyTerm<'_, 'py>,
    b: &Bound<'py, PyAny>,
    op: CompareOp,
    py: Python<'py>,
) -> PyResult<Py<PyAny>> {
    let Some(b) = AnyTerm::of(b) else {
        return Ok(PyNotImplemented::get(py).to_owned().into_any().unbind());
    };
    let result = match op {
        CompareOp::Eq => a.same(b)?,
        CompareOp::Ne => !a.same(b)?,
        _ => op.matches(a.compare(b)?),
    };
    Ok(result.into_pyobject(py)?.to_owned().into_any().unbind())
}

/// A string argument as an exact `str` that is valid UTF-8.
fn text_argument(text: Bound<'_, PyString>) -> PyResult<Py<PyString>> {
    let valid = text.to_str()?;
    if text.is_exact_instance_of::<PyString>() {
        Ok(text.unbind())
    } else {
        Ok(PyString::new(text.py(), valid).unbind())
    }
}

/// What all terms have in common: comparison, hash, `str()`.
macro_rules! term_methods {
    ($class:ident, $variant:ident { $($rest:tt)* }) => {
        #[pymethods]
        impl $class {
            fn __richcmp__(
                slf: &Bound<'_, Self>,
                other: &Bound<'_, PyAny>,
                op: CompareOp,
            ) -> PyResult<Py<PyAny>> {
                compare(AnyTerm::$variant(slf), other, op, slf.py())
            }

            fn __hash__(slf: &Bound<'_, Self>) -> PyResult<u64> {
                AnyTerm::$variant(slf).hash()
            }

            fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
                AnyTerm::$variant(slf).to_text()
            }

            $($rest)*
        }
    };
}

term_methods!(Iri, Iri {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    #[new]
    fn new(value: Bound<'_, PyString>) -> PyResult<Self> {
        Ok(Self {
            value: text_argument(value)?,
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Iri({})", self.value.bind(py).repr()?))
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyString>,) {
        (self.value.clone_ref(py),)
    }
});

term_methods!(Bnode, Bnode {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    #[new]
    fn new(label: Bound<'_, PyString>) -> PyResult<Self> {
        Ok(Self {
            value: text_argument(label)?,
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Bnode({})", self.value.bind(py).repr()?))
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyString>,) {
        (self.value.clone_ref(py),)
    }
});

impl Literal {
    fn datatype_text<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        match &self.kind {
            LiteralKind::Simple => Ok(xsd_string()),
            LiteralKind::Typed(datatype) => datatype.get().value.bind(py).to_str(),
            LiteralKind::Tagged(_, Direction::None) => Ok(RDF_LANG_STRING),
            LiteralKind::Tagged(..) => Ok(RDF_DIR_LANG_STRING),
        }
    }

    fn tag<'a>(&'a self, py: Python<'a>) -> PyResult<Option<(&'a str, Direction)>> {
        match &self.kind {
            LiteralKind::Tagged(language, direction) => {
                Ok(Some((language.bind(py).to_str()?, *direction)))
            }
            _ => Ok(None),
        }
    }
}

term_methods!(Literal, Literal {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    #[new]
    #[pyo3(signature = (value, *, language=None, direction=None, datatype=None))]
    fn new(
        value: Bound<'_, PyString>,
        language: Option<Bound<'_, PyString>>,
        direction: Option<&str>,
        datatype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = value.py();
        let direction = match direction {
            None => Direction::None,
            Some("ltr") => Direction::Ltr,
            Some("rtl") => Direction::Rtl,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "direction is 'ltr' or 'rtl', not {}",
                    rdfm_core::model::error::quote(other.as_bytes())
                )));
            }
        };
        if language.is_none() && direction != Direction::None {
            return Err(PyValueError::new_err("a direction needs a language"));
        }
        let kind = match (language, datatype) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err(
                    "a literal has a language or a datatype, not both",
                ));
            }
            (Some(language), None) => {
                if language.is_empty()? {
                    return Err(PyValueError::new_err("a language is not empty"));
                }
                LiteralKind::Tagged(text_argument(language)?, direction)
            }
            (None, Some(datatype)) => {
                let datatype = if let Ok(iri) = datatype.cast_exact::<Iri>() {
                    iri.clone()
                } else if let Ok(text) = datatype.cast::<PyString>() {
                    Bound::new(py, Iri::new(text.clone())?)?
                } else {
                    return Err(PyTypeError::new_err("datatype is an Iri or a str"));
                };
                if datatype.get().value.bind(py).to_str()? == xsd_string() {
                    LiteralKind::Simple
                } else {
                    LiteralKind::Typed(datatype.unbind())
                }
            }
            (None, None) => LiteralKind::Simple,
        };
        Ok(Self {
            value: text_argument(value)?,
            kind,
        })
    }

    /// The language tag, or None.
    #[getter]
    fn language(&self, py: Python<'_>) -> Option<Py<PyString>> {
        match &self.kind {
            LiteralKind::Tagged(language, _) => Some(language.clone_ref(py)),
            _ => None,
        }
    }

    /// The base direction, "ltr" or "rtl", or None.
    #[getter]
    fn direction(&self) -> Option<&'static str> {
        match &self.kind {
            LiteralKind::Tagged(_, direction) => direction.name(),
            _ => None,
        }
    }

    /// The datatype; xsd:string, rdf:langString or rdf:dirLangString where none is written.
    #[getter]
    fn datatype(&self, py: Python<'_>) -> PyResult<Py<Iri>> {
        static KNOWN: [PyOnceLock<Py<Iri>>; 3] =
            [PyOnceLock::new(), PyOnceLock::new(), PyOnceLock::new()];
        let at = match &self.kind {
            LiteralKind::Typed(datatype) => return Ok(datatype.clone_ref(py)),
            LiteralKind::Simple => 0,
            LiteralKind::Tagged(_, Direction::None) => 1,
            LiteralKind::Tagged(..) => 2,
        };
        let iri = KNOWN[at].get_or_try_init(py, || {
            let value = PyString::new(py, self.datatype_text(py)?).unbind();
            Py::new(py, Iri { value })
        })?;
        Ok(iri.clone_ref(py))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = self.value.bind(py).repr()?;
        Ok(match &self.kind {
            LiteralKind::Simple => format!("Literal({value})"),
            LiteralKind::Typed(datatype) => {
                format!("Literal({value}, datatype={})", datatype.get().value.bind(py).repr()?)
            }
            LiteralKind::Tagged(language, direction) => {
                let language = language.bind(py).repr()?;
                match direction.name() {
                    None => format!("Literal({value}, language={language})"),
                    Some(name) => {
                        format!("Literal({value}, language={language}, direction='{name}')")
                    }
                }
            }
        })
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Py<PyString>,), Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        match &self.kind {
            LiteralKind::Simple => {}
            LiteralKind::Typed(datatype) => keywords.set_item("datatype", datatype)?,
            LiteralKind::Tagged(language, direction) => {
                keywords.set_item("language", language)?;
                if let Some(name) = direction.name() {
                    keywords.set_item("direction", name)?;
                }
            }
        }
        Ok(((self.value.clone_ref(py),), keywords))
    }
});

/// The IRI of xsd:string as text.
fn xsd_string() -> &'static str {
    std::str::from_utf8(XSD_STRING).unwrap_or_default()
}

impl TripleTerm {
    const fn parts(&self) -> [&Py<PyAny>; 3] {
        [&self.subject, &self.predicate, &self.object]
    }
}

term_methods!(TripleTerm, Triple {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("subject", "predicate", "object")
    }

    #[new]
    fn new(
        subject: &Bound<'_, PyAny>,
        predicate: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let mut depth = 0;
        for (part, place) in [(subject, "subject"), (predicate, "predicate"), (object, "object")] {
            if let AnyTerm::Triple(triple) = AnyTerm::expect(part, place)? {
                depth = depth.max(triple.get().depth);
            }
        }
        if u64::from(depth) >= options::MAX_DEPTH {
            return Err(errors::limit(format!(
                "triple terms nest at most {} deep",
                options::MAX_DEPTH
            )));
        }
        Ok(Self {
            subject: subject.clone().unbind(),
            predicate: predicate.clone().unbind(),
            object: object.clone().unbind(),
            depth: depth + 1,
        })
    }

    /// The term as canonical N-Triples, as `str()` gives it.
    #[getter]
    fn value(slf: &Bound<'_, Self>) -> PyResult<String> {
        AnyTerm::Triple(slf).to_text()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut out = String::new();
        AnyTerm::Triple(slf).write_repr(&mut out)?;
        Ok(out)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyTuple>,))> {
        let py = slf.py();
        let mut steps = Steps { items: Vec::new(), places: FxHashMap::default() };
        steps.triple(slf)?;
        let make = py.import("rdfm._core")?.getattr("build_triple_term")?;
        Ok((make, (PyTuple::new(py, steps.items)?,)))
    }
});

/// A triple term in steps, for pickling: parts before what they are parts of, each once. No deeper
/// than a tuple of tuples, however deep the term is.
struct Steps<'py> {
    /// Terms, and for each triple term the places of its parts.
    items: Vec<Bound<'py, PyAny>>,
    places: FxHashMap<usize, usize>,
}

impl<'py> Steps<'py> {
    fn triple(&mut self, triple: &Bound<'py, TripleTerm>) -> PyResult<()> {
        let py = triple.py();
        let mut places = [0; 3];
        for (place, part) in places.iter_mut().zip(triple.get().parts()) {
            let part = part.bind(py);
            let address = part.as_ptr() as usize;
            if let Some(known) = self.places.get(&address) {
                *place = *known;
                continue;
            }
            match AnyTerm::expect(part, "a part")? {
                AnyTerm::Triple(inner) => self.triple(inner)?,
                _ => self.items.push(part.clone()),
            }
            *place = self.items.len() - 1;
            self.places.insert(address, *place);
        }
        self.items.push(PyTuple::new(py, places)?.into_any());
        Ok(())
    }
}

/// The triple term of its steps, as pickles hold them.
///
/// Args:
///     steps: Terms, and for each triple term the places of its parts among the steps before.
/// Raises:
///     ValueError: The steps make no triple term.
#[pyfunction]
fn build_triple_term<'py>(steps: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = steps.py();
    let none = || PyValueError::new_err("these steps make no triple term");
    let mut made: Vec<Bound<'py, PyAny>> = Vec::with_capacity(steps.len());
    for step in steps.iter() {
        let Ok(places) = step.extract::<[usize; 3]>() else {
            made.push(step);
            continue;
        };
        let mut parts = Vec::with_capacity(3);
        for place in places {
            parts.push(made.get(place).ok_or_else(none)?.clone());
        }
        let term = TripleTerm::new(&parts[0], &parts[1], &parts[2])?;
        made.push(Bound::new(py, term)?.into_any());
    }
    made.pop()
        .filter(|last| last.cast_exact::<TripleTerm>().is_ok())
        .ok_or_else(none)
}

impl Quad {
    /// The parts in order; the graph may be None.
    pub const fn parts(&self) -> [&Py<PyAny>; 4] {
        [&self.subject, &self.predicate, &self.object, &self.graph]
    }

    /// None sorts first.
    fn order(&self, other: &Self, py: Python<'_>) -> PyResult<Ordering> {
        for (x, y) in self.parts().into_iter().zip(other.parts()) {
            let order = match (x.is_none(py), y.is_none(py)) {
                (false, false) => compare_objects(x.bind(py), y.bind(py))?,
                (x, y) => y.cmp(&x),
            };
            if order.is_ne() {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }
}

#[pymethods]
impl Quad {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("subject", "predicate", "object", "graph")
    }

    #[new]
    #[pyo3(signature = (subject, predicate, object, graph=None))]
    fn new(
        subject: &Bound<'_, PyAny>,
        predicate: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
        graph: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        AnyTerm::expect(subject, "subject")?;
        AnyTerm::expect(predicate, "predicate")?;
        AnyTerm::expect(object, "object")?;
        let graph = match graph {
            None => subject.py().None(),
            Some(graph) => {
                AnyTerm::expect(graph, "graph (if not None)")?;
                graph.clone().unbind()
            }
        };
        Ok(Self {
            subject: subject.clone().unbind(),
            predicate: predicate.clone().unbind(),
            object: object.clone().unbind(),
            graph,
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parts = PyTuple::new(py, self.parts())?;
        Ok(parts.try_iter()?.into_any())
    }

    fn __richcmp__(
        &self,
        other: &Bound<'_, PyAny>,
        op: CompareOp,
        py: Python<'_>,
    ) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast_exact::<Self>() else {
            return Ok(PyNotImplemented::get(py).to_owned().into_any().unbind());
        };
        let result = op.matches(self.order(other.get(), py)?);
        Ok(result.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hash = 4;
        for part in self.parts() {
            if let Some(term) = AnyTerm::of(part.bind(py)) {
                hash = mix(hash, term.hash()?);
            }
        }
        Ok(hash)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let mut out = Vec::new();
        for part in self.parts() {
            if let Some(term) = AnyTerm::of(part.bind(py)) {
                term.write(&mut out)?;
                out.push(b' ');
            }
        }
        out.push(b'.');
        String::from_utf8(out).map_err(|error| errors::internal(error.to_string()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut out = String::from("Quad(");
        for (at, part) in self.parts().into_iter().enumerate() {
            if let Some(term) = AnyTerm::of(part.bind(py)) {
                out.push_str(if at == 0 { "" } else { ", " });
                term.write_repr(&mut out)?;
            }
        }
        out.push(')');
        Ok(out)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.parts())
    }
}

/// The Python objects of a term table, each made when first asked for.
#[derive(Default)]
pub struct TermObjects {
    made: Vec<Option<Py<PyAny>>>,
}

impl TermObjects {
    /// Makes room for a table's terms.
    pub fn for_table(&mut self, table: &TermTable) {
        if self.made.len() < table.terms().len() {
            self.made.resize_with(table.terms().len(), || None);
        }
    }

    /// The object of a term; None for the default graph.
    #[inline]
    pub fn get(&mut self, py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyAny>> {
        if let Some(object) = &self.made[id.index()] {
            return Ok(object.clone_ref(py));
        }
        let object = self.make(py, table, id)?;
        self.made[id.index()] = Some(object.clone_ref(py));
        Ok(object)
    }

    fn make(&mut self, py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyAny>> {
        let term = table.term(id);
        let value = || text_object(py, table, id);
        Ok(match term.kind {
            TermKind::DefaultGraph => py.None(),
            TermKind::Iri => Py::new(py, Iri { value: value()? })?.into_any(),
            TermKind::Bnode => Py::new(py, Bnode { value: value()? })?.into_any(),
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
                let kind = LiteralKind::Tagged(language, Direction::of(term.flags));
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
                let made = TripleTerm::new(subject.bind(py), predicate.bind(py), object.bind(py))?;
                Py::new(py, made)?.into_any()
            }
        })
    }
}

/// The text of a table's term as a Python string.
fn text_object(py: Python<'_>, table: &TermTable, id: TermId) -> PyResult<Py<PyString>> {
    PyString::from_bytes(py, table.text(id)).map(Bound::unbind)
}

/// The term that an N-Triples text stands for: any term, triple terms in either syntax, IRIs with any
/// escapes.
///
/// Raises:
///     DecodeError: The text is no term.
#[pyfunction]
#[pyo3(signature = (text, *, max_depth=64))]
fn parse_term(py: Python<'_>, text: &str, max_depth: u32) -> PyResult<Py<PyAny>> {
    let mut builder = build::builder();
    let max_depth = options::depth(max_depth)?;
    let id = rdfm_core::formats::nquads::parse_term(&mut builder, text.as_bytes(), max_depth)
        .map_err(errors::term)?;
    let mut objects = TermObjects::default();
    objects.for_table(builder.table());
    objects.get(py, builder.table(), id)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Iri>()?;
    module.add_class::<Bnode>()?;
    module.add_class::<Literal>()?;
    module.add_class::<TripleTerm>()?;
    module.add_class::<Quad>()?;
    let py = module.py();
    let union = py
        .get_type::<Iri>()
        .bitor(py.get_type::<Bnode>())?
        .bitor(py.get_type::<Literal>())?
        .bitor(py.get_type::<TripleTerm>())?;
    module.add("Term", union)?;
    module.add_function(wrap_pyfunction!(build_triple_term, module)?)?;
    module.add_function(wrap_pyfunction!(parse_term, module)?)
}

/// What a literal's parts are for a batch under construction.
pub enum Parts<'a, 'py> {
    Bnode(&'a str),
    Iri(&'a str),
    Simple(&'a str),
    Typed(&'a str, &'a Bound<'py, PyAny>),
    Tagged(&'a str, &'a str, u8),
    Triple([&'a Bound<'py, PyAny>; 3]),
}

impl<'a, 'py> AnyTerm<'a, 'py> {
    /// The term taken apart.
    pub fn parts(self) -> PyResult<Parts<'a, 'py>> {
        Ok(match self {
            Self::Bnode(_) => Parts::Bnode(self.text()?),
            Self::Iri(_) => Parts::Iri(self.text()?),
            Self::Literal(literal) => {
                let py = literal.py();
                match &literal.get().kind {
                    LiteralKind::Simple => Parts::Simple(self.text()?),
                    LiteralKind::Typed(datatype) => {
                        Parts::Typed(self.text()?, datatype.bind(py).as_any())
                    }
                    LiteralKind::Tagged(language, direction) => {
                        Parts::Tagged(self.text()?, language.bind(py).to_str()?, direction.flag())
                    }
                }
            }
            Self::Triple(triple) => {
                let py = triple.py();
                let [subject, predicate, object] = triple.get().parts();
                Parts::Triple([subject.bind(py), predicate.bind(py), object.bind(py)])
            }
        })
    }
}
