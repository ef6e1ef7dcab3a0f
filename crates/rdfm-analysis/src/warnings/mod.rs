//! What is legal and suspicious: relative IRIs, ill-typed literals, language tags, labels of blank nodes that several
//! messages share, prefixes that change their meaning.
//!
//! - In: batches of a log, in order. Out: [`Finding`]s, those of a batch by message.
//! - Cost: a look at each term of a batch's table; the quads are looked at only where a term is suspicious, or where
//!   labels are compared. Memory: 1 MiB of labels, 4 MiB of prefixes.
//! - Law: how messages are cut into batches changes nothing.

mod blanks;
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

    /// Begins another log: labels and prefixes are of one log. `own` is what IRIs begin with that the log's own address
    /// completed; empty where there are none.
    pub fn begin_log(&mut self, own: &[u8]) {
        self.terms.begin_log(own);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use rdfm_core::model::batch::MessageBatch;
    use rdfm_core::model::builder::LogBuilder;
    use rdfm_core::model::limits::Limits;
    use rdfm_core::model::term::{Quad, TermId, TermKind};

    use super::*;

    /// A message with something wrong of every rule, the same six times, and a message that is right between them.
    fn batch() -> MessageBatch {
        let mut builder = LogBuilder::<Quad>::new(Limits::default());
        for message in 0..12 {
            builder.begin_message(message * 10);
            let odd = message % 2 == 0;
            let iri: &[u8] = if odd { b"relative" } else { b"http://e/" };
            let iri = builder.add_simple(TermKind::Iri, iri, 0).unwrap();
            let bnode = builder.add_simple(TermKind::Bnode, b"alice", 0).unwrap();
            let datatype = b"http://www.w3.org/2001/XMLSchema#int";
            let datatype = builder.add_simple(TermKind::Iri, datatype, 0).unwrap();
            let number: &[u8] = if odd { b"x" } else { b"1" };
            let number = builder
                .add_with_aux(TermKind::TypedLiteral, number, datatype.0, 0)
                .unwrap();
            let tag: &[u8] = if odd { b"en_US" } else { b"en-US" };
            let tag = builder.add_simple(TermKind::Language, tag, 0).unwrap();
            let word = builder
                .add_with_aux(TermKind::LangLiteral, b"a", tag.0, 0)
                .unwrap();
            let inner = builder.add_triple_term([bnode, iri, number]).unwrap();
            let outer = builder.add_triple_term([bnode, iri, inner]).unwrap();
            for object in [word, outer, outer] {
                let quad = Quad {
                    subject: bnode,
                    predicate: datatype,
                    object,
                    graph: TermId::DEFAULT_GRAPH,
                };
                builder.add_quad(quad).unwrap();
            }
            let namespace: &[u8] = if odd { b"http://a/" } else { b"http://b/" };
            builder.add_namespace(b"p", namespace).unwrap();
            builder.end_message();
        }
        builder.take().unwrap()
    }

    fn findings(checker: &mut Checker, batches: &[MessageBatch]) -> Vec<(Rule, u64, u64)> {
        let found = batches
            .iter()
            .flat_map(|batch| checker.check(batch, BlankNodes::Chosen));
        let mut found: Vec<_> = found
            .map(|finding| (finding.rule, finding.message, finding.position))
            .collect();
        found.sort_unstable_by_key(|found| (found.1, found.0 as u8));
        found
    }

    #[test]
    fn a_message_has_each_finding_once() {
        let mut checker = Checker::new(100);
        let found = findings(&mut checker, &[batch()]);
        let of_terms = [Rule::RelativeIri, Rule::IllTypedLiteral, Rule::LanguageTag];
        let first: Vec<_> = of_terms.map(|rule| (rule, 0, 0)).to_vec();
        let second = [
            (Rule::SharedBlankNode, 1, 10),
            (Rule::RedeclaredNamespace, 1, 10),
        ];
        assert_eq!(found[..5], [first, second.to_vec()].concat());
        assert_eq!(checker.counts(), [6, 6, 6, 1, 1]);
    }

    #[test]
    fn how_messages_are_cut_into_batches_changes_nothing() {
        let whole = batch();
        let expected = findings(&mut Checker::new(100), std::slice::from_ref(&whole));
        for size in [1, 2, 5] {
            let cut: Vec<_> = (0..whole.len())
                .step_by(size)
                .map(|start| whole.slice(start..(start + size).min(whole.len())))
                .collect();
            assert_eq!(findings(&mut Checker::new(100), &cut), expected, "{size}");
        }
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut checker = Checker::new(2);
        assert_eq!(findings(&mut checker, &[batch()]).len(), 2 + 2 + 2 + 1 + 1);
        assert_eq!(checker.counts(), [6, 6, 6, 1, 1]);
    }

    #[test]
    fn logs_have_labels_and_prefixes_of_their_own() {
        let mut checker = Checker::new(100);
        for _ in 0..2 {
            checker.begin_log(b"");
            let first = batch().slice(0..1);
            assert_eq!(findings(&mut checker, &[first]).len(), 3);
        }
    }
}
