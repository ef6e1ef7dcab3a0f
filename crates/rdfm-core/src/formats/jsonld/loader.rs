//! Remote contexts, loaded by the caller and cached for the lifetime of the decoder.
//!
//! - In: the URL of a context.
//! - Out: its document as a tape.
//! - Law: this crate does no I/O. Each URL is requested once. The total size of the documents is
//!   limited.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::error::JsonLdError;
use super::iri::BaseIri;
use crate::codec::contexts::ContextLoader;
use crate::model::error::{ErrorClass, quote};
use crate::model::limits::Limits;
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::{Bounds, Tape, View, parse};
use crate::syntax::text::position::LinePosition;

/// A JSON text that is kept after the message that needs it has been read.
#[derive(Debug)]
pub(super) struct StoredJson {
    source: Box<[u8]>,
    tape: Tape,
    /// The URL that the text was loaded from.
    pub url: Option<Arc<BaseIri>>,
}

impl StoredJson {
    /// Stores a tape that does not refer to a source.
    pub fn new(tape: Tape) -> Self {
        Self {
            source: Box::default(),
            tape,
            url: None,
        }
    }

    pub fn view(&self) -> View<'_> {
        View {
            tape: &self.tape,
            source: &self.source,
        }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.source.len() + self.tape.bytes()
    }

    /// Line and column of a position in the source.
    pub fn position(&self, index: usize) -> String {
        position(&self.source, index)
    }
}

/// Line and column of a position in the source.
pub(super) fn position(source: &[u8], index: usize) -> String {
    let before = source.get(..index).unwrap_or_default();
    let (line, column) = LinePosition::default().position(before);
    format!("line {line}, column {column}")
}

/// The result of loading a document. The reason of an error contains the URL.
type LoadOutcome = Result<Arc<StoredJson>, JsonLdError>;

/// Loaded documents.
#[derive(Debug)]
pub(super) struct ContextStore {
    loader: Option<Arc<dyn ContextLoader>>,
    bounds: Bounds,
    loaded: RefCell<LoadedContexts>,
}

#[derive(Debug, Default)]
struct LoadedContexts {
    outcomes: HashMap<Box<str>, LoadOutcome>,
    bytes: u64,
}

impl ContextStore {
    pub fn new(loader: Option<Arc<dyn ContextLoader>>, limits: &Limits) -> Self {
        Self {
            loader,
            bounds: Bounds {
                max_depth: limits.max_depth,
                max_bytes: limits.max_message_bytes,
                max_repeated: 0,
                duplicates: true,
            },
            loaded: RefCell::default(),
        }
    }

    /// Total bytes of the loaded documents.
    pub fn bytes(&self) -> u64 {
        self.loaded.borrow().bytes
    }

    /// Returns the document of an absolute URL.
    pub fn load(&self, url: &str) -> LoadOutcome {
        if let Some(outcome) = self.loaded.borrow().outcomes.get(url) {
            return outcome.clone();
        }
        let outcome = self.load_new(url);
        let mut loaded = self.loaded.borrow_mut();
        loaded.bytes += url.len() as u64 + 128;
        if let Ok(stored) = &outcome {
            loaded.bytes += stored.bytes() as u64;
        }
        if loaded.bytes > self.bounds.max_bytes {
            return Err(JsonLdError::limit(
                None,
                Reason::limit(
                    format!(
                        "the remote contexts take more than {} bytes",
                        self.bounds.max_bytes
                    ),
                    "max_message_bytes",
                ),
            ));
        }
        loaded.outcomes.insert(url.into(), outcome.clone());
        outcome
    }

    fn load_new(&self, url: &str) -> LoadOutcome {
        let shown = quote(url.as_bytes());
        let failed = |reason: String| JsonLdError::with_class(ErrorClass::Malformed, None, reason);
        let loader = self.loader.as_ref();
        let response = loader.map_or(Ok(None), |loader| loader.load(url));
        let response = response
            .map_err(|reason| failed(format!("the context {shown} cannot be loaded: {reason}")))?;
        let Some(remote) = response else {
            return Err(failed(format!("the context {shown} is not available"))
                .with(Remedy::read("context", "URL=FILE", "names its file"))
                .with(Remedy::read(
                    "contexts",
                    "DIR",
                    "names a folder of contexts",
                ))
                .with(Remedy::read("allow_network", "true", "allows fetching it")));
        };
        let broken = |reason: &str| failed(format!("the context {shown} cannot be used: {reason}"));
        if simdutf8::basic::from_utf8(&remote.document).is_err() {
            return Err(broken("it is not UTF-8"));
        }
        let mut tape = Tape::new();
        parse(&remote.document, &mut tape, &self.bounds).map_err(|error| {
            let position = position(&remote.document, error.position);
            let text = format!("{} ({position})", error.reason);
            let mut invalid = broken(&text).because_of(&error.reason);
            invalid.class = match error.class {
                ErrorClass::Limit => ErrorClass::Limit,
                _ => ErrorClass::Malformed,
            };
            invalid
        })?;
        Ok(Arc::new(StoredJson {
            source: remote.document.into(),
            tape,
            url: BaseIri::new(remote.url.as_bytes()).map(Arc::new),
        }))
    }
}
