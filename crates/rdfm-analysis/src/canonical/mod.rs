//! Canonical datasets: blank node labels and N-Quads of RDFC-1.0 with SHA-256.
//!
//! - In: the quads of a complete message. Out: canonical labels, sorted quads, N-Quads.
//! - Cost: each distinct term is written and sorted once; quads are sorted by the ranks of their
//!   terms. Labels are near linear if the quads of each blank node identify it, and exponential in
//!   the worst case, so their number of steps is limited. Existing libraries have no such limit.
//! - Law: datasets have the same N-Quads if and only if they are equal up to blank node labels. The
//!   order and repetition of quads do not matter. The case of language tags does.

mod batch;
mod dataset;
mod distinct;

pub use batch::{CanonicalBatch, canonicalize, hash_messages, label_blank_nodes};
pub use dataset::Canonicalizer;
pub use distinct::{MAX_HASH_BYTES, MessageKey, SeenMessages};
pub use rdfm_core::syntax::rdfc::{CANONICAL as LABEL_PREFIX, Effort, Hash, MAX_STEPS};

use rdfm_core::model::term::Quad;
use rdfm_core::syntax::rdfc::LabelError;

/// Maximum size of the distinct terms of a message as text. Triple terms repeat the text of their
/// parts.
pub const MAX_TEXT_BYTES: usize = 1 << 30;

/// The reason why a dataset has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanonicalError {
    /// RDFC-1.0 does not define the canonical form of a quad.
    Unsupported(Unsupported, Quad),
    /// The labels need more steps than allowed.
    TooManySteps,
    /// The distinct terms need more than [`MAX_TEXT_BYTES`] as text.
    TooLarge,
    /// The hashes of distinct messages need more than [`MAX_HASH_BYTES`].
    TooManyMessages,
    /// [`Effort::is_cancelled`] returned true.
    Cancelled,
}

impl From<LabelError> for CanonicalError {
    fn from(error: LabelError) -> Self {
        match error {
            LabelError::TooManySteps => Self::TooManySteps,
            LabelError::Cancelled => Self::Cancelled,
        }
    }
}

/// Content that RDFC-1.0 does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A literal or triple term as subject, any other term than an IRI as predicate, or a literal
    /// or triple term as graph name.
    GeneralizedQuad,
    /// Like [`Self::GeneralizedQuad`], in a triple term.
    GeneralizedTripleTerm,
    /// A blank node in a triple term.
    BlankNodeInTripleTerm,
}

impl Unsupported {
    /// The reason as text, to follow "RDFC-1.0".
    pub const fn text(self) -> &'static str {
        match self {
            Self::GeneralizedQuad => "does not support generalized quads",
            Self::GeneralizedTripleTerm => "does not support generalized triple terms",
            Self::BlankNodeInTripleTerm => "does not support blank nodes in triple terms",
        }
    }
}
