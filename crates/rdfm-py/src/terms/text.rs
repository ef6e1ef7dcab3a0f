//! Terms as text: canonical N-Triples for `str()`, and Python syntax for `repr()`.
//!
//! - In: a term, as [`AnyTerm`].
//! - Out: its text, which is appended to a buffer.
//! - Law: the recursion depth is the nesting depth of triple terms, which is limited when they are
//!   created.

use pyo3::prelude::*;
use rdfm_core::model::write;

use super::{AnyTerm, LiteralKind};
use crate::errors;

impl AnyTerm<'_, '_> {
    /// Appends the term as canonical N-Triples.
    pub fn write(self, out: &mut Vec<u8>) -> PyResult<()> {
        match self {
            Self::BlankNode(_) => write::write_label(self.term_text()?.as_bytes(), false, out),
            Self::Iri(_) => write::write_iri(self.term_text()?.as_bytes(), false, out),
            Self::Literal(literal) => {
                let py = literal.py();
                write::write_string(self.term_text()?.as_bytes(), false, out);
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

    /// Appends the term in Python syntax.
    pub(super) fn write_repr(self, out: &mut String) -> PyResult<()> {
        let shown = match self {
            Self::BlankNode(bnode) => bnode.repr()?,
            Self::Iri(iri) => iri.repr()?,
            Self::Literal(literal) => literal.repr()?,
            Self::Triple(triple) => {
                // Not done with Python's `repr`, because terms may be nested more deeply than
                // Python's recursion limit allows.
                out.push_str("TripleTerm(");
                for (index, part) in triple.get().parts().into_iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    AnyTerm::expect(part.bind(triple.py()), "a part")?.write_repr(out)?;
                }
                out.push(')');
                return Ok(());
            }
        };
        out.push_str(shown.to_str()?);
        Ok(())
    }

    pub(super) fn to_text(self) -> PyResult<String> {
        let mut out = Vec::new();
        self.write(&mut out)?;
        String::from_utf8(out).map_err(|error| errors::internal_error(error.to_string()))
    }
}
