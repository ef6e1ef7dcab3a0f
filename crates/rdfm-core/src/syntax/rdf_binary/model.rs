//! The terms that both encodings of RDF Binary share.
//!
//! - Law: strings are unchecked slices of the log.

use crate::syntax::wire::{Checked, WireError, malformed_error};

/// A term.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw<'a> {
    Iri(&'a [u8]),
    Name(PrefixedName<'a>),
    BlankNode(&'a [u8]),
    Literal(&'a [u8], RawLiteralKind<'a>),
    Value(NativeValue),
    /// A triple term, as the bytes of its statement.
    Triple(&'a [u8]),
    Placeholder(Placeholder),
}

/// A placeholder for a term in a pattern or a query result. Data must not contain placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Variable,
    Any,
    /// An unbound variable.
    Undef,
    Repeat,
}

impl Placeholder {
    /// Name in error texts.
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
pub(crate) struct PrefixedName<'a> {
    pub prefix: &'a [u8],
    pub local: &'a [u8],
}

/// Kind of a literal: everything except its lexical form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawLiteralKind<'a> {
    Plain,
    Language(&'a [u8]),
    /// Language and base direction.
    Directed(&'a [u8], &'a [u8]),
    Datatype(&'a [u8]),
    DatatypeName(PrefixedName<'a>),
}

/// A literal as a native value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NativeValue {
    Integer(i64),
    Double(f64),
    /// A number, and how many times to divide it by ten.
    Decimal(i64, i32),
}

/// The terms of a statement: subject, predicate, object, graph. Filled in place, because terms are
/// large.
pub(crate) struct Slots<'a>([Option<Raw<'a>>; 4]);

impl<'a> Slots<'a> {
    pub const EMPTY: Self = Self([None; 4]);

    /// Returns the empty slot of a term; `field` counts from 1.
    #[inline]
    pub fn empty_slot(&mut self, field: usize) -> Checked<&mut Option<Raw<'a>>> {
        match self.0.get_mut(field.wrapping_sub(1)) {
            Some(slot @ None) => Ok(slot),
            _ => Err(malformed_error(format!(
                "field {field} of a statement is repeated"
            ))),
        }
    }

    /// Returns the subject, predicate or object, which must be present.
    #[inline]
    pub fn get(&self, position: usize) -> Checked<&Raw<'a>> {
        self.0[position].as_ref().ok_or_else(|| {
            let part = ["subject", "predicate", "object", "graph"][position];
            malformed_error(format!("a statement has no {part}"))
        })
    }

    /// Returns the graph, if present.
    #[inline]
    pub fn graph(&self) -> Option<&Raw<'a>> {
        self.0[3].as_ref()
    }
}

/// Returns the error for a placeholder in data, which is valid only in patterns and results.
#[cold]
pub(crate) fn placeholder_error(kind: &str) -> WireError {
    malformed_error(format!(
        "{kind} in place of a term; only patterns and query results may contain it"
    ))
}

/// Returns the error for a union with two fields.
#[cold]
pub(crate) fn ambiguous_error(union_name: &str) -> WireError {
    malformed_error(format!(
        "{union_name} is ambiguous: two fields of a union are set"
    ))
}

/// Returns the error for a union without a field.
#[cold]
pub(crate) fn unset_error(union_name: &str) -> WireError {
    malformed_error(format!("{union_name} is not set"))
}
