//! What statistics come to: plain numbers.

use rdfm_core::model::record::OperationCode;

use super::distinct::Estimate;
use super::names::NamesReport;
use super::series::{DensityReport, SeriesReport, SizesReport};

/// A series of distinct terms a message, and how many there are in the whole log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unique {
    /// A number a message.
    pub series: SeriesReport,
    /// In the log.
    pub unique: Estimate,
}

/// How often terms occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// IRIs.
    pub iris: u64,
    /// Blank nodes.
    pub blank_nodes: u64,
    /// Literals of xsd:string.
    pub simple_literals: u64,
    /// Literals of other datatypes.
    pub datatype_literals: u64,
    /// Literals with a language tag.
    pub language_literals: u64,
    /// Those of them with a base direction.
    pub directed_literals: u64,
    /// Triple terms.
    pub quoted_triples: u64,
}

/// A variable of results.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableReport {
    /// Its name, without `?`.
    pub name: String,
    /// Rows in which it is bound.
    pub bound: u64,
    /// Different terms; None beyond the variables that are counted.
    pub unique: Option<Estimate>,
}

/// What statistics come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Messages, patches or rows that are complete.
    pub messages: u64,
    /// Those without quads, operations or bound cells.
    pub empty_messages: u64,
    /// Messages so large that some of their numbers are estimates.
    pub approximate_messages: u64,
    /// Quads, operations or bound cells, a message.
    pub sizes: SizesReport,
    /// Bytes of a message as N-Quads, with a delimiter; None of patches and results.
    pub bytes: Option<SizesReport>,
    /// Of patches, quads added a patch.
    pub adds: Option<SizesReport>,
    /// Of patches, quads deleted a patch.
    pub deletes: Option<SizesReport>,
    /// Of patches, how many operations of each code.
    pub operations: Vec<(OperationCode, u64)>,
    /// Of results, the variables.
    pub variables: Vec<VariableReport>,
    /// Series of terms, by the bits of [`super::distinct::bits`], without the statements.
    pub terms: Vec<Unique>,
    /// Statements a message.
    pub statements: SeriesReport,
    /// Control characters a message.
    pub controls: SeriesReport,
    /// Triple terms that occur, a message.
    pub triples: SeriesReport,
    /// Bytes by statements, a message.
    pub density: DensityReport,
    /// How often terms occur.
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
