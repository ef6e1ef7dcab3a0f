//! What is legal and suspicious: relative IRIs, ill-typed literals, language tags, labels of blank nodes that several
//! messages share, prefixes that change their meaning.
//!
//! - In: batches of a log, in order. Out: [`Finding`]s, those of a batch by message.
//! - Cost: a look at each term of a batch's table; the quads are looked at only where a term is suspicious, or where
//!   labels are compared. Memory: 1 MiB of labels, the last [`prefixes::MAX_PREFIXES`] prefixes.
//! - Law: how messages are cut into batches changes nothing.

mod blanks;
pub mod datatypes;
pub mod lines;
mod prefixes;
mod terms;

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Record;

pub use blanks::Labels as BlankNodes;

/// What is wrong with a term or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// An IRI without a scheme.
    RelativeIri,
    /// A literal whose lexical form is none of its datatype.
    IllTypedLiteral,
    /// A language tag that BCP 47 does not allow.
    LanguageTag,
    /// A blank node label of several messages.
    SharedBlankNode,
    /// A prefix that means another IRI than before.
    RedeclaredNamespace,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::RelativeIri,
        Self::IllTypedLiteral,
        Self::LanguageTag,
        Self::SharedBlankNode,
        Self::RedeclaredNamespace,
    ];

    /// Its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RelativeIri => "relative-iri",
            Self::IllTypedLiteral => "ill-typed-literal",
            Self::LanguageTag => "language-tag",
            Self::SharedBlankNode => "shared-blank-node",
            Self::RedeclaredNamespace => "redeclared-namespace",
        }
    }
}

/// Something suspicious in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Why it is.
    pub rule: Rule,
    /// Index of the message in its log.
    pub message: u64,
    /// First byte of the message.
    pub position: u64,
    /// What was found, and what was expected.
    pub text: String,
    /// How the term stands in text logs, most often.
    pub written: Vec<u8>,
}

/// Checks the batches of logs, one log after the other.
#[derive(Debug)]
pub struct Checker {
    limit: u64,
    counts: [u64; Rule::ALL.len()],
    found: Vec<Finding>,
    terms: terms::Terms,
    labels: blanks::Seen,
    prefixes: prefixes::Prefixes,
}

/// Takes findings, up to the limit of each rule.
struct Sink<'a> {
    limit: u64,
    counts: &'a mut [u64; Rule::ALL.len()],
    found: &'a mut Vec<Finding>,
}

impl Sink<'_> {
    /// Counts a finding, and makes it where it is one of the first of its rule.
    fn add(&mut self, rule: Rule, make: impl FnOnce() -> Finding) {
        let count = &mut self.counts[rule as usize];
        *count += 1;
        if *count <= self.limit {
            self.found.push(make());
        }
    }
}

impl Checker {
    /// Gives at most `limit` findings of each rule; the others are counted.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            counts: [0; Rule::ALL.len()],
            found: Vec::new(),
            terms: terms::Terms::default(),
            labels: blanks::Seen::default(),
            prefixes: prefixes::Prefixes::default(),
        }
    }

    /// Begins another log: labels and prefixes are of one log.
    pub fn begin_log(&mut self) {
        self.labels.clear();
        self.prefixes.clear();
    }

    /// Checks the next batch of the log; `labels` says which labels of blank nodes are suspicious.
    pub fn check<R: Record>(&mut self, batch: &LogBatch<R>, labels: BlankNodes) -> Vec<Finding> {
        let mut sink = Sink {
            limit: self.limit,
            counts: &mut self.counts,
            found: &mut self.found,
        };
        let has_bnodes = self.terms.check(batch, &mut sink);
        if has_bnodes && labels != BlankNodes::Ignored {
            self.labels.check(batch, labels, &mut sink);
        }
        self.prefixes.check(batch, &mut sink);
        self.found.sort_by_key(|finding| finding.message);
        std::mem::take(&mut self.found)
    }

    /// How often each rule was met, in the order of [`Rule::ALL`].
    #[must_use]
    pub fn counts(&self) -> [u64; Rule::ALL.len()] {
        self.counts
    }
}
