//! What both encodings of RDF Binary say: terms.
//!
//! - Law: texts are unchecked slices of the log.

use crate::syntax::wire::{Checked, WireError, malformed};

/// A term.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw<'a> {
    Iri(&'a [u8]),
    Name(Name<'a>),
    Bnode(&'a [u8]),
    Literal(&'a [u8], Kind<'a>),
    Value(Value),
    /// The bytes of a triple term's statement.
    Triple(&'a [u8]),
    Open(Open),
}

/// What stands in place of a term, outside data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Variable,
    Any,
    /// No term: an unbound variable.
    Undef,
    Repeat,
}

impl Open {
    /// As messages name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variable => "a variable",
            Self::Any => "ANY",
            Self::Undef => "UNDEF",
            Self::Repeat => "REPEAT",
        }
    }
}

/// A prefixed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub prefix: &'a [u8],
    pub local: &'a [u8],
}

/// What a literal is beside its lexical form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    Plain,
    Language(&'a [u8]),
    /// Language and base direction.
    Directed(&'a [u8], &'a [u8]),
    Datatype(&'a [u8]),
    DatatypeName(Name<'a>),
}

/// A literal by its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Double(f64),
    /// A number, to be divided by ten so many times.
    Decimal(i64, i32),
}

/// The terms of a statement: subject, predicate, object, graph. Filled in place, since they are large.
pub(crate) struct Slots<'a>([Option<Raw<'a>>; 4]);

impl<'a> Slots<'a> {
    pub const EMPTY: Self = Self([None; 4]);

    /// The place of a term, to be filled; `field` counts from 1.
    #[inline]
    pub fn slot(&mut self, field: usize) -> Checked<&mut Option<Raw<'a>>> {
        match self.0.get_mut(field.wrapping_sub(1)) {
            Some(slot @ None) => Ok(slot),
            _ => Err(malformed(format!(
                "field {field} of a statement is repeated"
            ))),
        }
    }

    /// The term of subject, predicate or object, which must be there.
    #[inline]
    pub fn get(&self, position: usize) -> Checked<&Raw<'a>> {
        self.0[position].as_ref().ok_or_else(|| {
            let part = ["a subject", "a predicate", "an object", "a graph"][position];
            malformed(format!("a statement without {part}"))
        })
    }

    /// The term of the graph.
    #[inline]
    pub fn graph(&self) -> Option<&Raw<'a>> {
        self.0[3].as_ref()
    }
}

/// A term that stands in patterns and results, not in data.
#[cold]
pub(crate) fn no_data(what: &str) -> WireError {
    malformed(format!(
        "{what} in place of a term; data holds none, patterns and query results do"
    ))
}

/// Two fields of a union.
#[cold]
pub(crate) fn ambiguous(what: &str) -> WireError {
    malformed(format!("{what} is two things at once"))
}

/// No field of a union.
#[cold]
pub(crate) fn unset(what: &str) -> WireError {
    malformed(format!("{what} is not set"))
}
