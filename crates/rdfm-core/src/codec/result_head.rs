//! The head of a result set: the variables, by name and by column.
//!
//! - In: names in the order of their columns.
//! - Out: the column of a name; whether a head can be written.
//! - Cost: one comparison per cell if a row names its columns in order, as most rows do; otherwise
//!   a lookup.
//! - Law: each name identifies one column.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unsupported::WriteResult;
use crate::model::error::{ErrorClass, format_count, quote};
use crate::model::record::ResultHead;
use crate::model::remedy::Reason;

/// The variables of a log.
#[derive(Default)]
pub(crate) struct Variables {
    names: Vec<Box<str>>,
    columns: FxHashMap<Box<str>, usize>,
}

impl Variables {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Adds the variable of the next column.
    ///
    /// # Errors
    /// If the name already occurs.
    pub fn add(&mut self, name: &str) -> Result<(), Reason> {
        if self.columns.insert(name.into(), self.names.len()).is_some() {
            return Err(duplicate(name));
        }
        self.names.push(name.into());
        Ok(())
    }

    /// Returns the column of a name. The expected column is checked first.
    #[inline]
    pub fn column(&self, name: &[u8], expected: usize) -> Option<usize> {
        if self
            .names
            .get(expected)
            .is_some_and(|known| known.as_bytes() == name)
        {
            return Some(expected);
        }
        let name = std::str::from_utf8(name).ok()?;
        self.columns.get(name).copied()
    }

    /// Returns the name of a column.
    pub fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", |name| name)
    }

    /// Returns all names.
    pub fn names(&self) -> Vec<Box<str>> {
        self.names.clone()
    }

    /// Removes all variables.
    pub fn clear(&mut self) {
        self.names.clear();
        self.columns.clear();
    }
}

fn duplicate(name: &str) -> Reason {
    format!("the variable {} occurs twice", quote(name.as_bytes())).into()
}

/// Error text for a row whose number of cells differs from the number of variables.
#[cold]
pub(crate) fn length_error(cells: usize, variables: usize) -> String {
    let (cells, variables) = (
        format_count(cells, "term"),
        format_count(variables, "variable"),
    );
    format!("a row has {cells}, but the head has {variables}")
}

/// Rejects a head with a duplicate variable, which no format supports.
pub(crate) fn reject_duplicate(head: &ResultHead) -> WriteResult<()> {
    let mut seen = FxHashSet::default();
    for name in &head.variables {
        if !seen.insert(&**name) {
            return Err((ErrorClass::Unsupported, duplicate(name)));
        }
    }
    Ok(())
}

/// Rejects the answer to an ASK query in a format that cannot represent it.
pub(crate) fn reject_boolean(head: &ResultHead) -> WriteResult<()> {
    if head.boolean.is_none() {
        return Ok(());
    }
    let text = "the format cannot represent the answer to an ASK query; use the JSON or XML \
                results format";
    Err((ErrorClass::Unsupported, text.into()))
}

/// Rejects a row after the answer to an ASK query.
pub(crate) fn reject_row(ask: bool) -> WriteResult<()> {
    if ask {
        let text = "a row after the answer to an ASK query, which has no rows";
        return Err((ErrorClass::Unsupported, text.into()));
    }
    Ok(())
}
