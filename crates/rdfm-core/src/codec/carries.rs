//! Capabilities of a format. Rejections, the table in the docs and the tests of format pairs are
//! derived from these capabilities.

use crate::model::remedy::Feature;

/// The positions where triple terms may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripleTerms {
    /// None.
    No,
    /// As objects, as in RDF 1.2.
    Object,
    /// In any position.
    Anywhere,
}

/// Capabilities of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Graph names.
    pub graphs: bool,
    /// Literals and blank nodes in every position (generalized RDF).
    pub generalized: bool,
    /// Triple terms.
    pub triple_terms: TripleTerms,
    /// Base directions.
    pub directions: bool,
    /// Message boundaries.
    pub boundaries: bool,
    /// Order and repetition of quads within a message.
    pub order: bool,
    /// Namespace declarations.
    pub namespaces: bool,
    /// Metadata of messages.
    pub metadata: bool,
    /// Any character in a string, and any IRI as a predicate.
    pub any_text: bool,
    /// Absolute IRIs that RFC 3987 does not allow, such as `http://e/a[1]`.
    pub invalid_iri: bool,
    /// Any string as an IRI, and language datatypes without a language.
    pub any_iri: bool,
    /// Language strings that are not valid language tags.
    pub any_language: bool,
}

impl Capabilities {
    /// All capabilities.
    pub const ALL: Self = Self {
        graphs: true,
        generalized: true,
        triple_terms: TripleTerms::Anywhere,
        directions: true,
        boundaries: true,
        order: true,
        namespaces: true,
        metadata: true,
        any_text: true,
        invalid_iri: true,
        any_iri: true,
        any_language: true,
    };

    /// Whether the format supports a feature.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        match feature {
            Feature::Graphs => self.graphs,
            Feature::Generalized => self.generalized,
            Feature::TripleTermObjects => !matches!(self.triple_terms, TripleTerms::No),
            Feature::TripleTerms => matches!(self.triple_terms, TripleTerms::Anywhere),
            Feature::Boundaries => self.boundaries,
            Feature::AnyText => self.any_text,
            Feature::InvalidIri => self.invalid_iri,
            Feature::AnyIri => self.any_iri,
            Feature::AnyLanguage => self.any_language,
            Feature::PrefixedNames | Feature::Parts => false,
        }
    }
}
