//! The prefixes that messages use.
//!
//! - In: declarations, and the prefixes of written IRIs.
//! - Out: `PREFIX` lines, sorted, for the prefixes that no earlier message used.
//! - Law: a name in use keeps its IRI, so reading and writing the output again selects the same
//!   prefixes. Of a name that is not in use, the last declaration counts.

use std::collections::BTreeMap;

use crate::syntax::prefixes::{DeclareResult, Prefixes};

/// The declared prefixes and their use.
#[derive(Default)]
pub struct UsedNamespaces {
    pub prefixes: Prefixes,
    pub uses: PrefixUses,
}

/// Whether each prefix is written.
#[derive(Default)]
pub struct PrefixUses {
    states: BTreeMap<Box<[u8]>, PrefixUse>,
    /// Whether any prefix waits to be written.
    waits: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PrefixUse {
    Unused,
    /// Used in the current message for the first time.
    Waits,
    Written,
}

impl PrefixUses {
    /// Marks a declared prefix as used.
    pub fn mark(&mut self, name: &[u8]) {
        if let Some(state) = self.states.get_mut(name)
            && *state == PrefixUse::Unused
        {
            *state = PrefixUse::Waits;
            self.waits = true;
        }
    }

    /// Number of prefixes that no message used.
    pub fn count_unused(&self) -> u64 {
        let states = self.states.values();
        states.filter(|state| **state == PrefixUse::Unused).count() as u64
    }
}

impl UsedNamespaces {
    /// Declares a prefix. Returns false if it cannot be used.
    pub fn declare(&mut self, name: &[u8], iri: &[u8]) -> bool {
        if self.uses.states.get(name) == Some(&PrefixUse::Written) {
            return self.prefixes.get(name) == Some(iri);
        }
        match self.prefixes.declare(name, iri) {
            DeclareResult::Refused => return false,
            DeclareResult::Known => {}
            DeclareResult::New => {
                self.uses.states.insert(name.into(), PrefixUse::Unused);
            }
        }
        true
    }

    /// Appends the prefixes that are used for the first time, and a blank line.
    pub fn write_new(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.uses.waits) {
            return;
        }
        for (name, state) in &mut self.uses.states {
            if *state == PrefixUse::Waits {
                *state = PrefixUse::Written;
                let iri = self.prefixes.get(name).unwrap_or_default();
                for part in [b"PREFIX ", &**name, b": <", iri, b">\n"] {
                    out.extend_from_slice(part);
                }
            }
        }
        out.push(b'\n');
    }
}
