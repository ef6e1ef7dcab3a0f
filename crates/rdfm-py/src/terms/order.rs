//! Order, equality and hashes of terms and quads.
//!
//! - In: terms, as [`AnyTerm`].
//! - Out: an order, a comparison result for Python, a hash.
//! - Cost: a comparison of both strings. Parts that are the same object are not compared.
//! - Law: the order of terms is total. Terms are ordered by kind, then by the code points of text,
//!   datatype and language, then by direction; triple terms are ordered by each part in turn. Equal
//!   terms have equal hashes.

use std::cmp::Ordering;

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyNotImplemented, PyString};

use super::{AnyTerm, LiteralKind, Quad};

impl<'py> AnyTerm<'_, 'py> {
    const fn rank(self) -> u8 {
        match self {
            Self::BlankNode(_) => 0,
            Self::Iri(_) => 1,
            Self::Literal(_) => 2,
            Self::Triple(_) => 3,
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
                let order = self.term_text()?.cmp(other.term_text()?);
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
            _ => Ok(self.term_text()?.cmp(other.term_text()?)),
        }
    }

    fn is_same(self, other: AnyTerm<'_, 'py>) -> PyResult<bool> {
        if self.rank() != other.rank() {
            return Ok(false);
        }
        Ok(self.compare(other)?.is_eq())
    }

    pub(super) fn hash(self) -> PyResult<u64> {
        let own = u64::from(self.rank());
        let text = |value: &Py<PyString>, py: Python<'py>| {
            value
                .bind(py)
                .hash()
                .map(|hash| mix(own, hash.cast_unsigned() as u64))
        };
        match self {
            Self::BlankNode(bnode) => text(&bnode.get().value, bnode.py()),
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
}

impl Quad {
    /// Returns the order of two quads. A graph that is None sorts first.
    pub(super) fn compare(&self, other: &Self, py: Python<'_>) -> PyResult<Ordering> {
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

pub(super) fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

fn compare_objects<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Ordering> {
    if a.is(b) {
        return Ok(Ordering::Equal);
    }
    AnyTerm::expect(a, "a term")?.compare(AnyTerm::expect(b, "a term")?)
}

pub(super) fn compare<'py>(
    a: AnyTerm<'_, 'py>,
    b: &Bound<'py, PyAny>,
    op: CompareOp,
    py: Python<'py>,
) -> PyResult<Py<PyAny>> {
    let Some(b) = AnyTerm::from_object(b) else {
        return Ok(PyNotImplemented::get(py).to_owned().into_any().unbind());
    };
    let result = match op {
        CompareOp::Eq => a.is_same(b)?,
        CompareOp::Ne => !a.is_same(b)?,
        _ => op.matches(a.compare(b)?),
    };
    Ok(result.into_pyobject(py)?.to_owned().into_any().unbind())
}
