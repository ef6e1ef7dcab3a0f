//! The source of remote JSON-LD contexts, provided by the caller.

use std::fmt::Debug;

/// Loads documents of remote contexts.
pub trait ContextLoader: Debug + Send + Sync {
    /// Returns the document at a URL, or `None` if no document is available there.
    ///
    /// # Errors
    /// If the document is available but cannot be read; the error says why.
    fn load(&self, url: &str) -> Result<Option<RemoteContext>, String>;
}

/// A document that contains a context.
#[derive(Clone, Debug)]
pub struct RemoteContext {
    /// JSON with an `@context`.
    pub document: Vec<u8>,
    /// The final URL, after redirects. Relative URLs are resolved against it.
    pub url: String,
}
