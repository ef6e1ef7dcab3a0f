//! Records in messages: quads in a dataset, operations in a patch, cells in a result row.
//!
//! - In: term ids. Out: records of a fixed size, in the order of the log; and the header of a log
//!   that has one.
//! - Law: a record contains ids of one batch's terms, and nothing else that depends on the batch.

use std::sync::Arc;

use super::error::quote;
use super::table::TermTable;
use super::term::{Quad, TermId, TermKind};

/// A record of a message.
pub trait Record: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Noun for a message of such records.
    const MESSAGE: &'static str;
    /// Decoded bytes charged for a record.
    const BYTES: usize;
    /// Maximum number of terms in a record.
    const TERMS: u64;
    /// Header of a log before its first message. Every batch has a copy.
    type Head: Clone + Default + PartialEq + Send + Sync + std::fmt::Debug;

    /// Returns the reason why content with the header `other` cannot follow in a log with a
    /// different header.
    fn different_head_reason(_head: &Self::Head, _other: &Self::Head) -> String {
        "the header differs from the previous one".to_owned()
    }

    /// Calls a function with each term of the record.
    fn each(self, term: impl FnMut(TermId));

    /// Returns the record with its terms replaced.
    #[must_use]
    fn map(self, term: impl FnMut(TermId) -> TermId) -> Self;

    /// The graph of the record.
    fn graph(self) -> TermId;
}

impl Record for Quad {
    const MESSAGE: &'static str = "message";
    const BYTES: usize = 16;
    const TERMS: u64 = 4;
    type Head = ();

    #[inline]
    fn each(self, term: impl FnMut(TermId)) {
        [self.subject, self.predicate, self.object, self.graph]
            .into_iter()
            .for_each(term);
    }

    #[inline]
    fn map(self, mut term: impl FnMut(TermId) -> TermId) -> Self {
        Self {
            subject: term(self.subject),
            predicate: term(self.predicate),
            object: term(self.object),
            graph: term(self.graph),
        }
    }

    #[inline]
    fn graph(self) -> TermId {
        self.graph
    }
}

/// Operation of a patch. The names are those of RDF Patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OperationCode {
    /// `H`: a header, with its key as `name` and its value as `object`.
    Header,
    /// `TX`: begins a transaction.
    Begin,
    /// `TC`: commits a transaction.
    Commit,
    /// `TA`: aborts a transaction.
    Abort,
    /// `PA`: adds a prefix, with its name as `name` and its IRI as `object`.
    AddPrefix,
    /// `PD`: deletes a prefix.
    DeletePrefix,
    /// `A`: adds a quad.
    Add,
    /// `D`: deletes a quad.
    Delete,
}

impl OperationCode {
    /// All operations.
    pub const ALL: [Self; 8] = [
        Self::Header,
        Self::Begin,
        Self::Commit,
        Self::Abort,
        Self::AddPrefix,
        Self::DeletePrefix,
        Self::Add,
        Self::Delete,
    ];

    /// Returns the code of the operation in RDF Patch.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "H",
            Self::Begin => "TX",
            Self::Commit => "TC",
            Self::Abort => "TA",
            Self::AddPrefix => "PA",
            Self::DeletePrefix => "PD",
            Self::Add => "A",
            Self::Delete => "D",
        }
    }

    /// Returns the operation with this code in RDF Patch.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// An operation of a patch. Unused positions are [`TermId::DEFAULT_GRAPH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Operation {
    /// The operation code.
    pub code: OperationCode,
    /// The key of a header, or a prefix without its colon: a literal.
    pub name: TermId,
    /// Subject.
    pub subject: TermId,
    /// Predicate.
    pub predicate: TermId,
    /// Object; the value of a header; the IRI of a prefix.
    pub object: TermId,
    /// Graph.
    pub graph: TermId,
}

impl Operation {
    /// Creates an operation without terms, such as `TX`.
    #[must_use]
    pub const fn bare(code: OperationCode) -> Self {
        Self {
            code,
            name: TermId::DEFAULT_GRAPH,
            subject: TermId::DEFAULT_GRAPH,
            predicate: TermId::DEFAULT_GRAPH,
            object: TermId::DEFAULT_GRAPH,
            graph: TermId::DEFAULT_GRAPH,
        }
    }

    /// Creates an operation that adds or deletes a quad.
    #[must_use]
    pub const fn new(code: OperationCode, quad: Quad) -> Self {
        Self {
            subject: quad.subject,
            predicate: quad.predicate,
            object: quad.object,
            graph: quad.graph,
            ..Self::bare(code)
        }
    }

    /// Returns the rule that the operation violates, or `None` if it is well-formed.
    #[must_use]
    pub fn find_violated_rule(self, table: &TermTable) -> Option<&'static str> {
        use OperationCode as Code;
        let has = |id: TermId| id != TermId::DEFAULT_GRAPH;
        let Self {
            code, name, object, ..
        } = self;
        let has_other_terms = has(self.subject) || has(self.predicate);
        let has_iri = has(object) && table.term(object).kind == TermKind::Iri;
        let (is_valid, rule) = match code {
            Code::Header => (
                has(name) && has(object) && !has_other_terms && !has(self.graph),
                "a header must have a name, and a value as its object",
            ),
            Code::Begin | Code::Commit | Code::Abort => (
                self == Self::bare(code),
                "the start and end of a transaction must not have terms",
            ),
            Code::AddPrefix => (
                has(name) && has_iri && !has_other_terms,
                "an added prefix must have a name, and an IRI as its object; a graph is optional",
            ),
            Code::DeletePrefix => (
                has(name) && !has(object) && !has_other_terms,
                "a deleted prefix must have a name, and no terms except an optional graph",
            ),
            Code::Add | Code::Delete => (
                !has(name) && has(self.subject) && has(self.predicate) && has(object),
                "an added or deleted quad must have a subject, a predicate and an object, and no \
                 name; a graph is optional",
            ),
        };
        (!is_valid).then_some(rule)
    }

    /// The quad that the operation adds or deletes; a quad without terms for other operations.
    #[must_use]
    pub const fn change(self) -> Quad {
        match self.code {
            OperationCode::Add | OperationCode::Delete => self.quad(),
            code => Self::bare(code).quad(),
        }
    }

    /// The subject, predicate, object and graph of the operation, as a quad.
    #[must_use]
    pub const fn quad(self) -> Quad {
        Quad {
            subject: self.subject,
            predicate: self.predicate,
            object: self.object,
            graph: self.graph,
        }
    }
}

impl Record for Operation {
    const MESSAGE: &'static str = "patch";
    const BYTES: usize = 24;
    const TERMS: u64 = 5;
    type Head = ();

    #[inline]
    fn each(self, mut term: impl FnMut(TermId)) {
        term(self.name);
        self.quad().each(term);
    }

    #[inline]
    fn map(self, mut term: impl FnMut(TermId) -> TermId) -> Self {
        let name = term(self.name);
        Self {
            name,
            ..Self::new(self.code, self.quad().map(term))
        }
    }

    #[inline]
    fn graph(self) -> TermId {
        self.graph
    }
}

/// Header of a result set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultHead {
    /// Names of the variables, without `?`. A row has a cell for each.
    pub variables: Vec<Box<str>>,
    /// The answer to an ASK query, which has no rows.
    pub boolean: Option<bool>,
    /// IRI references of documents with additional information.
    pub links: Vec<Box<str>>,
}

/// Maximum number of variables that an error lists.
const MAX_SHOWN: usize = 5;

impl ResultHead {
    /// Returns the error for rows with the variables `after` after rows with `before`. `container`
    /// names the container, which has only one list of variables.
    #[must_use]
    pub fn different_variables_reason(
        before: &[Box<str>],
        after: &[Box<str>],
        container: &str,
    ) -> String {
        let show = |names: &[Box<str>]| {
            let shown: Vec<_> = names
                .iter()
                .take(MAX_SHOWN)
                .map(|name| quote(name.as_bytes()))
                .collect();
            match names.len() {
                0 => "none".to_owned(),
                length if length > MAX_SHOWN => format!("{}, …", shown.join(", ")),
                _ => shown.join(", "),
            }
        };
        let sorted = |names: &[Box<str>]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        let reason = if sorted(before) == sorted(after) {
            "the variables are not in the same order as in earlier rows"
        } else {
            "the variables differ from those of earlier rows"
        };
        let (after, before) = (show(after), show(before));
        format!("{reason}: {after}, not {before}; {container} has only one list of variables")
    }

    /// Returns the reason why the rows or the answer of `other` cannot follow in the same log.
    fn describe_difference(&self, other: &Self) -> String {
        if self.boolean != other.boolean {
            return "the answer to an ASK query is followed by another answer or by rows; a log \
                    of results contains one answer or only rows"
                .to_owned();
        }
        if self.variables != other.variables {
            return Self::different_variables_reason(
                &self.variables,
                &other.variables,
                "a log of results",
            );
        }
        "the links differ from those of earlier rows; a log of results has only one list of links"
            .to_owned()
    }
}

/// A cell of a result row. [`TermId::DEFAULT_GRAPH`] means unbound.
impl Record for TermId {
    const MESSAGE: &'static str = "row";
    const BYTES: usize = 4;
    const TERMS: u64 = 1;
    type Head = Arc<ResultHead>;

    fn different_head_reason(head: &Self::Head, other: &Self::Head) -> String {
        head.describe_difference(other)
    }

    #[inline]
    fn each(self, mut term: impl FnMut(TermId)) {
        term(self);
    }

    #[inline]
    fn map(self, mut term: impl FnMut(TermId) -> TermId) -> Self {
        term(self)
    }

    #[inline]
    fn graph(self) -> TermId {
        TermId::DEFAULT_GRAPH
    }
}
