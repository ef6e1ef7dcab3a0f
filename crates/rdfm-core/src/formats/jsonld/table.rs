//! The terms of a context, in layers that contexts share.
//!
//! - In: names and definitions. Out: the definition of a name.
//! - Cost: one lookup per layer. A context derived from another has a separate layer for its own
//!   definitions. A layer at least half the size of the one below is merged with that one. So
//!   there are few layers, and copying costs no more than defining.
//! - Law: newer layers hide the terms that they define or remove in older ones.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHasher;

use super::definition::Definition;

/// Definitions by name; `None` if removed.
type DefinitionLayer = HashMap<TermName, Option<Arc<Definition>>, Seeded>;

/// The name of a term.
pub(super) type TermName = Arc<[u8]>;

/// Randomly seeded hashes, so that a context cannot be crafted to cause collisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeded(usize);

impl Default for Seeded {
    fn default() -> Self {
        static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Self(*SEED as usize)
    }
}

impl BuildHasher for Seeded {
    type Hasher = FxHasher;

    fn build_hasher(&self) -> FxHasher {
        FxHasher::with_seed(self.0)
    }
}

/// The terms of a context. Copies share all sealed layers.
#[derive(Clone, Debug, Default)]
pub(super) struct DefinitionTable {
    /// Layers from the oldest to the newest.
    sealed: Vec<Arc<DefinitionLayer>>,
    own: DefinitionLayer,
    /// Number of terms.
    count: usize,
}

impl DefinitionTable {
    /// Returns the definition of a term.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Arc<Definition>> {
        if !self.own.is_empty()
            && let Some(definition) = self.own.get(name)
        {
            return definition.as_ref();
        }
        let mut layers = self.sealed.iter().rev();
        layers.find_map(|layer| layer.get(name))?.as_ref()
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds or replaces a term.
    pub fn insert(&mut self, name: &[u8], definition: Arc<Definition>) {
        let existed = match self.own.insert(name.into(), Some(definition)) {
            Some(before) => before.is_some(),
            None => self.is_sealed(name),
        };
        self.count += usize::from(!existed);
    }

    /// Whether a sealed layer contains a term.
    fn is_sealed(&self, name: &[u8]) -> bool {
        let mut layers = self.sealed.iter().rev();
        layers
            .find_map(|layer| layer.get(name))
            .is_some_and(Option::is_some)
    }

    /// Removes a term.
    pub fn remove(&mut self, name: &[u8]) {
        self.count -= usize::from(self.get(name).is_some());
        if self.sealed.is_empty() {
            self.own.remove(name);
        } else {
            self.own.insert(name.into(), None);
        }
    }

    /// Turns the definitions since the last call into a layer, so that copies are cheap.
    pub fn seal(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let mut layer = std::mem::take(&mut self.own);
        while let Some(below) = self.sealed.pop_if(|below| 2 * layer.len() >= below.len()) {
            let mut merged = Arc::unwrap_or_clone(below);
            merged.extend(layer);
            layer = merged;
        }
        if self.sealed.is_empty() {
            layer.retain(|_, definition| definition.is_some());
        }
        self.sealed.push(Arc::new(layer));
    }

    /// All terms and their definitions, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&TermName, &Arc<Definition>)> {
        self.iter_unshared(None)
    }

    /// All terms that another table does not share, and possibly some that it does.
    pub fn iter_unshared(
        &self,
        other: Option<&Self>,
    ) -> impl Iterator<Item = (&TermName, &Arc<Definition>)> {
        let other = other.map_or(&[][..], |other| &other.sealed);
        let shared = self.sealed.iter().zip(other);
        let shared = shared.take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let sealed = self.sealed.get(shared..).unwrap_or_default();
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let layers = std::iter::once(&self.own).chain(sealed.iter().rev().map(|layer| &**layer));
        let all = layers.flatten();
        let is_single = sealed.len() + usize::from(!self.own.is_empty()) <= 1;
        all.filter(move |(name, _)| is_single || seen.insert(name))
            .filter_map(|(name, definition)| Some((name, definition.as_ref()?)))
    }
}
