//! The results of statistics as plain numbers.

use super::merge::{Mergeable, Reader, Unreadable, Writer};
use rdfm_core::model::record::OperationCode;

use super::distinct::Estimate;
use super::names::NamesReport;
use super::series::{DensityReport, SeriesReport, SizesReport};

/// Distinct terms: a series with one number per message, and the number in the entire log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctTerms {
    /// Number per message.
    pub series: SeriesReport,
    /// Number in the log.
    pub unique: Estimate,
}

/// Numbers of term occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// IRIs.
    pub iris: u64,
    /// Blank nodes.
    pub blank_nodes: u64,
    /// Literals with the datatype xsd:string.
    pub simple_literals: u64,
    /// Literals with other datatypes.
    pub datatype_literals: u64,
    /// Literals with a language tag.
    pub language_literals: u64,
    /// Literals with a language tag and a base direction.
    pub directed_literals: u64,
    /// Triple terms.
    pub quoted_triples: u64,
}

impl Occurrences {
    const fn numbers_mut(&mut self) -> [&mut u64; 7] {
        [
            &mut self.iris,
            &mut self.blank_nodes,
            &mut self.simple_literals,
            &mut self.datatype_literals,
            &mut self.language_literals,
            &mut self.directed_literals,
            &mut self.quoted_triples,
        ]
    }
}

impl Mergeable for Occurrences {
    fn write(&self, out: &mut Writer) {
        let mut copy = *self;
        for number in copy.numbers_mut() {
            number.write(out);
        }
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        for number in self.numbers_mut() {
            number.merge(input)?;
        }
        Ok(())
    }
}

/// A result variable.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableReport {
    /// Name of the variable, without `?`.
    pub name: String,
    /// Number of rows in which it is bound.
    pub bound: u64,
    /// Number of distinct terms, or `None` if the maximum number of counted variables is exceeded.
    pub unique: Option<Estimate>,
}

/// The results of statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of complete messages, patches or rows.
    pub messages: u64,
    /// Number of messages, patches or rows without quads, operations or bound cells.
    pub empty_messages: u64,
    /// Number of messages that are so large that some of their numbers are estimates.
    pub approximate_messages: u64,
    /// Quads, operations or bound cells per message.
    pub sizes: SizesReport,
    /// Size in bytes of each message as N-Quads, including a delimiter. `None` for patches and
    /// results.
    pub bytes: Option<SizesReport>,
    /// For patches: added quads per patch.
    pub adds: Option<SizesReport>,
    /// For patches: deleted quads per patch.
    pub deletes: Option<SizesReport>,
    /// For patches: number of operations by code.
    pub operations: Vec<(OperationCode, u64)>,
    /// For results: the variables.
    pub variables: Vec<VariableReport>,
    /// Series of distinct terms, indexed by the bits of [`super::distinct::bits`]. The series of
    /// statements is separate.
    pub terms: Vec<DistinctTerms>,
    /// Statements per message.
    pub statements: SeriesReport,
    /// Control characters per message.
    pub controls: SeriesReport,
    /// Occurrences of triple terms per message.
    pub triples: SeriesReport,
    /// Bytes per statement of each message.
    pub density: DensityReport,
    /// Numbers of term occurrences.
    pub occurrences: Occurrences,
    /// Datatypes of literals.
    pub datatypes: NamesReport,
    /// Language tags of literals.
    pub languages: NamesReport,
    /// Predicates of statements.
    pub predicates: NamesReport,
    /// Objects of rdf:type.
    pub types: NamesReport,
    /// IRIs up to their last `#` or `/`.
    pub namespaces: NamesReport,
}
