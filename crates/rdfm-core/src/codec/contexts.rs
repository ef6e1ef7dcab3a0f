//! Where the documents of remote contexts come from: the caller gives them.

use std::fmt::Debug;

/// Gives the documents of remote contexts.
pub trait ContextLoader: Debug + Send + Sync {
    /// The document of a URL; None where it is not at hand.
    ///
    /// # Errors
    /// It is at hand but cannot be read; the text says why.
    fn load(&self, url: &str) -> Result<Option<RemoteContext>, String>;
}

/// A document that holds a context.
#[derive(Clone, Debug)]
pub struct RemoteContext {
    /// JSON with an `@context`.
    pub document: Vec<u8>,
    /// Where it was in the end: what its relative URLs are resolved against.
    pub url: String,
}
