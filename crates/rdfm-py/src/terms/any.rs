//! A term of any kind, borrowed from its Python object.
//!
//! - In: a Python object.
//! - Out: [`AnyTerm`], and its [`Parts`] for a batch under construction.
//! - Law: only instances of the classes themselves are terms; instances of subclasses are not.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{BlankNode, Iri, Literal, LiteralKind, TripleTerm};

/// A term of any kind, borrowed from its Python object.
#[derive(Clone, Copy)]
pub enum AnyTerm<'a, 'py> {
    BlankNode(&'a Bound<'py, BlankNode>),
    Iri(&'a Bound<'py, Iri>),
    Literal(&'a Bound<'py, Literal>),
    Triple(&'a Bound<'py, TripleTerm>),
}

/// The parts of a term, for a batch under construction.
pub enum Parts<'a, 'py> {
    BlankNode(&'a str),
    Iri(&'a str),
    Simple(&'a str),
    Typed(&'a str, &'a Bound<'py, PyAny>),
    Tagged(&'a str, &'a str, u8),
    Triple([&'a Bound<'py, PyAny>; 3]),
}

impl<'a, 'py> AnyTerm<'a, 'py> {
    /// Returns the term of an object, or `None` if the object is not a term.
    pub fn from_object(object: &'a Bound<'py, PyAny>) -> Option<Self> {
        if let Ok(iri) = object.cast_exact::<Iri>() {
            Some(Self::Iri(iri))
        } else if let Ok(literal) = object.cast_exact::<Literal>() {
            Some(Self::Literal(literal))
        } else if let Ok(bnode) = object.cast_exact::<BlankNode>() {
            Some(Self::BlankNode(bnode))
        } else if let Ok(triple) = object.cast_exact::<TripleTerm>() {
            Some(Self::Triple(triple))
        } else {
            None
        }
    }

    /// Returns the term of an object, or an error if the object is not a term.
    pub fn expect(object: &'a Bound<'py, PyAny>, role: &str) -> PyResult<Self> {
        Self::from_object(object).ok_or_else(|| {
            let type_name = object
                .get_type()
                .name()
                .map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "{role} must be an Iri, BlankNode, Literal or TripleTerm, not {type_name}"
            ))
        })
    }

    /// Returns the text: label, IRI or lexical form. It is empty for triple terms.
    pub(super) fn term_text(self) -> PyResult<&'a str> {
        match self {
            Self::BlankNode(bnode) => bnode.get().value.bind(bnode.py()).to_str(),
            Self::Iri(iri) => iri.get().value.bind(iri.py()).to_str(),
            Self::Literal(literal) => literal.get().value.bind(literal.py()).to_str(),
            Self::Triple(_) => Ok(""),
        }
    }

    /// Returns the parts of the term.
    pub fn triple_parts(self) -> PyResult<Parts<'a, 'py>> {
        Ok(match self {
            Self::BlankNode(_) => Parts::BlankNode(self.term_text()?),
            Self::Iri(_) => Parts::Iri(self.term_text()?),
            Self::Literal(literal) => {
                let py = literal.py();
                match &literal.get().kind {
                    LiteralKind::Simple => Parts::Simple(self.term_text()?),
                    LiteralKind::Typed(datatype) => {
                        Parts::Typed(self.term_text()?, datatype.bind(py).as_any())
                    }
                    LiteralKind::Tagged(language, direction) => Parts::Tagged(
                        self.term_text()?,
                        language.bind(py).to_str()?,
                        direction.flag(),
                    ),
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
