//! Terms and quads as small, frozen Python objects that are compared and hashed by content.
//!
//! - In: Python strings, or a batch's term table ([`TermObjects`]).
//! - Out: `Iri`, `BlankNode`, `Literal`, `TripleTerm`, `Quad`; `str()` is canonical N-Triples.
//! - Cost: one string and one object per term, shared by messages; a quad has four references.
//! - Law: terms never change. Their order is total: blank nodes, IRIs, literals, triple terms.
//!
//! This module defines the classes. [`any`] reads a term of any kind from its Python object,
//! [`order`] compares and hashes terms, [`text`] writes them, [`pickle`] decomposes triple terms
//! for pickling, and [`objects`] stores the Python objects of a batch.

mod any;
mod objects;
mod order;
mod pickle;
mod text;

pub use any::{AnyTerm, Parts};
pub use objects::TermObjects;
use order::{compare, mix};

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyNotImplemented, PyString, PyTuple};
use rdfm_core::model::term::{XSD_STRING, flags};

use crate::errors;

const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// An IRI.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Iri {
    /// The IRI, without angle brackets.
    #[pyo3(get)]
    value: Py<PyString>,
}

/// A blank node. Its label is meaningful only within its message.
#[pyclass(frozen, module = "rdfm._core")]
pub struct BlankNode {
    /// The label, without `_:`.
    #[pyo3(get)]
    value: Py<PyString>,
}

/// A literal: a string with a datatype, or with a language and optionally a base direction.
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

    const fn from_flags(term_flags: u8) -> Self {
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

/// A quad: subject, predicate, object and graph. If the graph is None, the quad is in the default
/// graph.
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
    /// The graph; None for the default graph.
    #[pyo3(get)]
    pub graph: Py<PyAny>,
}

/// Returns a string argument as an exact `str`, which must be valid UTF-8.
fn text_argument(text: Bound<'_, PyString>) -> PyResult<Py<PyString>> {
    let valid = text.to_str()?;
    if text.is_exact_instance_of::<PyString>() {
        Ok(text.unbind())
    } else {
        Ok(PyString::new(text.py(), valid).unbind())
    }
}

/// Methods of all terms: comparison, hash, `str()`.
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

term_methods!(BlankNode, BlankNode {
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
        Ok(format!("BlankNode({})", self.value.bind(py).repr()?))
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
                    "direction must be 'ltr' or 'rtl', not {}",
                    rdfm_core::model::error::quote(other.as_bytes())
                )));
            }
        };
        if language.is_none() && direction != Direction::None {
            return Err(PyValueError::new_err("a direction requires a language"));
        }
        let kind = match (language, datatype) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err(
                    "a literal cannot have both a language and a datatype",
                ));
            }
            (Some(language), None) => {
                if language.is_empty()? {
                    return Err(PyValueError::new_err("language must not be empty"));
                }
                LiteralKind::Tagged(text_argument(language)?, direction)
            }
            (None, Some(datatype)) => {
                let datatype = if let Ok(iri) = datatype.cast_exact::<Iri>() {
                    iri.clone()
                } else if let Ok(text) = datatype.cast::<PyString>() {
                    Bound::new(py, Iri::new(text.clone())?)?
                } else {
                    return Err(PyTypeError::new_err("datatype must be an Iri or a str"));
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

    /// Return the value as a Python object, or the literal itself if none represents it exactly.
    ///
    /// Numbers, booleans, dates, times, durations, binary data and strings without a language have
    /// Python values.
    ///
    /// Returns:
    ///     A str, int, Decimal, float, bool, datetime, date, time, timedelta or bytes; otherwise
    ///     the literal.
    fn to_python<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let convert = CONVERT.import(slf.py(), "rdfm.literals", "python_value")?;
        convert.call1((slf,))
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

    /// The datatype. It is xsd:string, rdf:langString or rdf:dirLangString if none was given.
    #[getter]
    fn datatype(&self, py: Python<'_>) -> PyResult<Py<Iri>> {
        static KNOWN: [PyOnceLock<Py<Iri>>; 3] =
            [PyOnceLock::new(), PyOnceLock::new(), PyOnceLock::new()];
        let index = match &self.kind {
            LiteralKind::Typed(datatype) => return Ok(datatype.clone_ref(py)),
            LiteralKind::Simple => 0,
            LiteralKind::Tagged(_, Direction::None) => 1,
            LiteralKind::Tagged(..) => 2,
        };
        let iri = KNOWN[index].get_or_try_init(py, || {
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

/// Returns the IRI of xsd:string.
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
        for (part, role) in [(subject, "subject"), (predicate, "predicate"), (object, "object")] {
            if let AnyTerm::Triple(triple) = AnyTerm::expect(part, role)? {
                depth = depth.max(triple.get().depth);
            }
        }
        if u64::from(depth) >= rdfm_core::codec::options::MAX_DEPTH {
            return Err(errors::limit(format!(
                "triple terms are nested deeper than {} levels",
                rdfm_core::codec::options::MAX_DEPTH
            )));
        }
        Ok(Self {
            subject: subject.clone().unbind(),
            predicate: predicate.clone().unbind(),
            object: object.clone().unbind(),
            depth: depth + 1,
        })
    }

    /// The term as canonical N-Triples, like `str()`.
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
        let make = slf.py().import("rdfm._core")?.getattr("build_triple_term")?;
        Ok((make, (pickle::build_steps(slf)?,)))
    }
});

impl Quad {
    /// Returns the parts in order. The graph may be None.
    pub const fn parts(&self) -> [&Py<PyAny>; 4] {
        [&self.subject, &self.predicate, &self.object, &self.graph]
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
        let [subject, predicate, object, graph] = self.parts();
        let parts = (subject, predicate, object, graph).into_pyobject(py)?;
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
        let result = op.matches(self.compare(other.get(), py)?);
        Ok(result.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hash = 4;
        for part in self.parts() {
            if let Some(term) = AnyTerm::from_object(part.bind(py)) {
                hash = mix(hash, term.hash()?);
            }
        }
        Ok(hash)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let mut out = Vec::new();
        for part in self.parts() {
            if let Some(term) = AnyTerm::from_object(part.bind(py)) {
                term.write(&mut out)?;
                out.push(b' ');
            }
        }
        out.push(b'.');
        String::from_utf8(out).map_err(|error| errors::internal_error(error.to_string()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut out = String::from("Quad(");
        for (index, part) in self.parts().into_iter().enumerate() {
            if let Some(term) = AnyTerm::from_object(part.bind(py)) {
                out.push_str(if index == 0 { "" } else { ", " });
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

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Iri>()?;
    module.add_class::<BlankNode>()?;
    module.add_class::<Literal>()?;
    module.add_class::<TripleTerm>()?;
    module.add_class::<Quad>()?;
    let py = module.py();
    let union = py
        .get_type::<Iri>()
        .bitor(py.get_type::<BlankNode>())?
        .bitor(py.get_type::<Literal>())?
        .bitor(py.get_type::<TripleTerm>())?;
    module.add("Term", union)?;
    module.add_function(wrap_pyfunction!(pickle::build_triple_term, module)?)?;
    module.add_function(wrap_pyfunction!(objects::parse_term, module)?)
}
