//! Remote contexts: asked for by URL, given by the caller, kept for the decoder's life.
//!
//! - In: the URL of a context.
//! - Out: its document, checked: JSON, of bounded depth and size, and of bounded cost with all that it
//!   refers to.
//! - Law: this crate does no I/O; a URL is asked for once.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use oxiri::Iri;
use rustc_hash::FxHashMap;

use super::guard;
use super::protect;
use crate::error::quote;
use crate::json::{Bounds, Tape, View, parse};
use crate::limits::Limits;

/// Contexts that refer to others, at most so deep; `oxjsonld` goes no deeper.
const MOST_DEPTH: usize = 8;
/// Most terms and references that a context may stand for, with all that it refers to.
const MOST_COST: u64 = 1 << 22;

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

/// A loaded context.
#[derive(Debug)]
pub(super) struct Loaded {
    pub document: Vec<u8>,
    /// The same, as the complete way is given it.
    pub explicit: Vec<u8>,
    pub url: String,
    /// Nodes that stand for it, with all that it refers to.
    pub cost: u64,
}

/// A context under way.
struct Above {
    url: String,
    nodes: u64,
    /// A definition refers to it.
    scoped: bool,
}

type Outcome = Result<Arc<Loaded>, String>;

/// What was loaded so far; shared with `oxjsonld`'s callback.
#[derive(Clone, Debug)]
pub(super) struct Store {
    loader: Option<Arc<dyn ContextLoader>>,
    bounds: Bounds,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    outcomes: FxHashMap<Box<str>, Outcome>,
    bytes: u64,
}

impl Store {
    pub fn new(loader: Option<Arc<dyn ContextLoader>>, limits: &Limits) -> Self {
        Self {
            loader,
            bounds: Bounds {
                max_depth: limits.max_depth,
                max_bytes: limits.max_message_bytes,
                duplicates: true,
            },
            known: Arc::default(),
        }
    }

    /// Whether a text stands in a context that was loaded.
    pub fn holds(&self, text: &[u8]) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loaded = known.outcomes.values().flatten();
        loaded.any(|loaded| memchr::memmem::find(&loaded.document, text).is_some())
    }

    /// The context of an absolute URL.
    pub fn load(&self, url: &str) -> Outcome {
        self.load_below(url, false, &mut Vec::new())
    }

    /// Loads a context that the last of those in `above` refers to, in a definition or not.
    fn load_below(&self, url: &str, scoped: bool, above: &mut Vec<Above>) -> Outcome {
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(outcome) = known.outcomes.get(url) {
                return outcome.clone();
            }
        }
        if above.len() >= MOST_DEPTH {
            return Err(format!(
                "contexts refer to each other more than {MOST_DEPTH} deep, at {}",
                quote(url.as_bytes())
            ));
        }
        let outcome = self.load_new(url, scoped, above);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.bytes += url.len() as u64 + 128;
        if let Ok(loaded) = &outcome {
            known.bytes += loaded.document.len() as u64;
        }
        if known.bytes > self.bounds.max_bytes {
            return Err(format!(
                "the remote contexts take more than {} bytes; raise max_message_bytes \
                 (--max-message-bytes) if they are trusted",
                self.bounds.max_bytes
            ));
        }
        known.outcomes.insert(url.into(), outcome.clone());
        outcome
    }

    fn load_new(&self, url: &str, scoped: bool, above: &mut Vec<Above>) -> Outcome {
        let shown = quote(url.as_bytes());
        let loader = self.loader.as_ref();
        let found = loader.map_or(Ok(None), |loader| loader.load(url));
        let found =
            found.map_err(|reason| format!("the context {shown} cannot be loaded: {reason}"))?;
        let Some(remote) = found else {
            return Err(format!(
                "the context {shown} is not at hand; name its file with context (--context URL=FILE) or a folder \
                 of contexts (--contexts DIR), or let it be fetched with allow_network (--allow-network)"
            ));
        };
        let broken = |reason: String| format!("the context {shown} cannot be used: {reason}");
        if simdutf8::basic::from_utf8(&remote.document).is_err() {
            return Err(broken("it is not UTF-8".to_owned()));
        }
        let mut tape = Tape::new();
        parse(&remote.document, &mut tape, &self.bounds).map_err(|fault| {
            let before = remote.document.get(..fault.at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            broken(format!("{} (line {line})", fault.reason))
        })?;
        let view = View {
            tape: &tape,
            source: &remote.document,
        };
        let survey = guard::survey(&view, 0, self.bounds.max_depth).map_err(broken)?;
        let mut cost = tape.nodes().len() as u64;
        let base = Iri::parse(remote.url.as_str()).ok();
        above.push(Above {
            url: url.to_owned(),
            nodes: cost,
            scoped,
        });
        for (reference, scoped) in survey.references {
            let target = match &base {
                Some(base) => base.resolve(reference),
                None => Iri::parse(reference.to_owned()),
            };
            // One that cannot be resolved is told where it is used.
            if let Ok(target) = target {
                let known = above.iter().position(|above| above.url == target.as_str());
                let round = known.and_then(|at| above.get(at..)).unwrap_or_default();
                let more = match round {
                    [] => self.load_below(target.as_str(), scoped, above)?.cost,
                    // A definition may lead back to the context that it stands in: nothing is read
                    // before it is used.
                    [first, rest @ ..] if scoped || rest.iter().any(|above| above.scoped) => {
                        first.nodes
                    }
                    _ => return Err(broken("it refers to itself".to_owned())),
                };
                cost = cost.saturating_add(more);
                if cost > MOST_COST {
                    return Err(broken(format!(
                        "with all that it refers to it stands for more than {MOST_COST} terms"
                    )));
                }
            }
        }
        above.pop();
        let mut explicit = Vec::new();
        protect::write(&view, 0, &mut explicit, |_, _| {});
        Ok(Arc::new(Loaded {
            explicit,
            document: remote.document,
            url: remote.url,
            cost,
        }))
    }
}
