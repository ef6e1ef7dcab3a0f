//! Rules for patch logs: the order of transaction rows, and the chain of `id` and `prev`.
//!
//! - In: the operations of patches, in order, across consecutive logs.
//! - Out: each operation that violates a rule, and each unfinished transaction.
//! - Cost: one comparison per operation, and memory for the `id`s of two patches.
//! - Law: code that applies patches rejects the violations that [`Rules::check`] finds, except
//!   unfinished transactions, which are undone.

use crate::model::batch::PatchBatch;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::TermId;
use crate::model::write::write_term;

/// Maximum number of characters of a term in an error. Patch ids are often longer than the usual 40
/// characters, and differ at the end.
const MAX_SHOWN_CHARS: usize = 200;

/// A rule for patch logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `TX` occurs only outside of a transaction, `TC` and `TA` only inside.
    Transaction,
    /// A patch ends the transactions that it begins.
    Unfinished,
    /// The `prev` of a patch is the `id` of the patch before it.
    Chain,
    /// Like [`Self::Chain`], for the first patch of a log that follows another log.
    ChainOfLogs,
}

impl Rule {
    /// Whether the rule concerns the patch chain.
    #[must_use]
    pub const fn is_chain(self) -> bool {
        matches!(self, Self::Chain | Self::ChainOfLogs)
    }

    /// Name of the rule in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Unfinished => "unfinished",
            Self::Chain => "chain",
            Self::ChainOfLogs => "chain-of-logs",
        }
    }
}

/// A violated rule, without its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The value found and the value expected, as text.
    pub text: String,
}

impl Violation {
    /// Returns the reason to reject the patch because of this row.
    #[cold]
    pub(super) fn reason(self, row: u64) -> Reason {
        match self.rule {
            Rule::Transaction | Rule::Unfinished => in_row(row, self.text.into()),
            Rule::Chain | Rule::ChainOfLogs => {
                Reason::new(format!("the chain of patches is broken: {}", self.text))
                    .with(Remedy::stage("chain", "false", "skips this check"))
            }
        }
    }
}

/// A violated rule, found by [`Rules::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundViolation {
    /// The violated rule.
    pub violation: Violation,
    /// Index of the patch in its log, from 0.
    pub message_index: u64,
    /// Number of the row in its patch, from 0.
    pub row: u64,
    /// Offset of the row in the log if the format reports it; otherwise the offset of the patch.
    /// `None` if the patches are not from a log of bytes.
    pub byte_offset: Option<u64>,
}

/// Tracks the rows that begin and end transactions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transactions {
    open: bool,
}

impl Transactions {
    /// Whether a transaction is open.
    #[must_use]
    pub const fn is_open(self) -> bool {
        self.open
    }

    /// Processes a row. A row that is out of order does not change the state.
    ///
    /// # Errors
    /// For `TX` within a transaction, and `TC` or `TA` outside of one.
    #[inline]
    pub fn check_order(&mut self, code: OperationCode) -> Result<(), Violation> {
        match code {
            OperationCode::Begin if self.open => Err(out_of_order(
                "TX within a transaction; expected TC or TA before it".to_owned(),
            )),
            OperationCode::Commit | OperationCode::Abort if !self.open => Err(out_of_order(
                format!("{} without TX before it", code.name()),
            )),
            OperationCode::Begin => {
                self.open = true;
                Ok(())
            }
            OperationCode::Commit | OperationCode::Abort => {
                self.open = false;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends a patch. Returns true if the patch leaves a transaction open, which then has no effect.
    pub fn end_patch(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }
}

#[cold]
fn out_of_order(text: String) -> Violation {
    Violation {
        rule: Rule::Transaction,
        text,
    }
}

/// The headers that link patches. Only the first `id` and the first `prev` of a patch are used.
#[derive(Debug, Default)]
struct Links {
    /// Whether the patch before this one is known.
    previous_is_known: bool,
    /// The `id` of the previous patch, if it has one.
    before: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    prev: Option<Vec<u8>>,
    /// Whether a patch has been read since the last gap.
    has_begun: bool,
    /// Whether the previous patch is in another log.
    previous_is_in_other_log: bool,
    /// Whether a patch of this log has been read.
    has_patch_of_log: bool,
    /// Number of patches with `prev`.
    count: u64,
}

impl Links {
    fn begin_patch(&mut self) {
        self.before = self.id.take();
        self.previous_is_known = self.has_begun;
        self.prev = None;
        self.previous_is_in_other_log = !self.has_patch_of_log;
        self.has_begun = true;
        self.has_patch_of_log = true;
    }

    #[cold]
    fn check_header(&mut self, table: &TermTable, operation: Operation) -> Result<(), Violation> {
        let name = table.text(operation.name);
        if name.eq_ignore_ascii_case(b"id") && self.id.is_none() {
            let id = self.id.insert(term_text(table, operation.object));
            if self.prev.as_ref() == Some(id) {
                return Err(self_reference(id));
            }
        } else if name.eq_ignore_ascii_case(b"prev") && self.prev.is_none() {
            self.count += 1;
            let prev = self.prev.insert(term_text(table, operation.object));
            if self.id.as_ref() == Some(prev) {
                return Err(self_reference(prev));
            }
            if self.previous_is_known && self.before.as_ref() != Some(prev) {
                let header = self.before.as_ref().map_or_else(
                    || "no id".to_owned(),
                    |before| format!("the id {}", render_term(before)),
                );
                return Err(Violation {
                    rule: if self.previous_is_in_other_log {
                        Rule::ChainOfLogs
                    } else {
                        Rule::Chain
                    },
                    text: format!(
                        "prev is {}, but the previous patch has {header}",
                        render_term(prev)
                    ),
                });
            }
        }
        Ok(())
    }
}

fn term_text(table: &TermTable, id: TermId) -> Vec<u8> {
    let mut out = Vec::new();
    write_term(table, id, &mut out);
    out
}

fn self_reference(id: &[u8]) -> Violation {
    Violation {
        rule: Rule::Chain,
        text: format!("prev is {}, the id of the same patch", render_term(id)),
    }
}

fn render_term(term: &[u8]) -> String {
    let text = String::from_utf8_lossy(term);
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Checks the rules over consecutive patches.
#[derive(Debug, Default)]
pub struct Rules {
    transactions: Transactions,
    links: Links,
    /// Number of the next row of the patch.
    row: u64,
    /// Row and offset of the open `TX`, in [`Self::check`].
    open_begin: (u64, Option<u64>),
}

impl Rules {
    /// Creates a checker at the start of the first log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a log whose first patch follows the last patch of the previous log.
    pub fn begin_log(&mut self) {
        self.links.has_patch_of_log = false;
    }

    /// Accounts for missing patches, or for a patch without its end. The next patch may then have
    /// any `prev`.
    pub fn skip(&mut self) {
        *self = Self {
            links: Links {
                has_patch_of_log: self.links.has_patch_of_log,
                count: self.links.count,
                ..Links::default()
            },
            ..Self::default()
        };
    }

    /// Number of patches with `prev` so far.
    #[must_use]
    pub const fn links(&self) -> u64 {
        self.links.count
    }

    /// Begins a patch.
    pub fn begin_patch(&mut self) {
        self.row = 0;
        self.links.begin_patch();
    }

    /// Number of the next row of the patch, from 0. After an error, the row with the error.
    #[must_use]
    pub const fn row(&self) -> u64 {
        self.row
    }

    /// Checks a row. Call [`Self::next_row`] afterwards.
    ///
    /// # Errors
    /// If the row violates a rule.
    #[inline]
    pub fn check_row(&mut self, table: &TermTable, operation: Operation) -> Result<(), Violation> {
        match operation.code {
            OperationCode::Add
            | OperationCode::Delete
            | OperationCode::AddPrefix
            | OperationCode::DeletePrefix => Ok(()),
            OperationCode::Header => self.links.check_header(table, operation),
            OperationCode::Begin | OperationCode::Commit | OperationCode::Abort => {
                self.transactions.check_order(operation.code)
            }
        }
    }

    /// Advances to the next row of the patch.
    #[inline]
    pub fn next_row(&mut self) {
        self.row += 1;
    }

    /// Ends a patch. Returns true if it leaves a transaction open.
    pub fn end_patch(&mut self) -> bool {
        self.transactions.end_patch()
    }

    /// Returns all violated rules, in order. A row that violates a rule is skipped.
    pub fn check(&mut self, batch: &PatchBatch) -> Vec<FoundViolation> {
        let mut violations = Vec::new();
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.begin_patch();
            }
            let message_index = batch.message_index(patch);
            for index in batch.range(patch) {
                let operation = batch.records()[index];
                let byte_offset = || {
                    batch
                        .record_offset(index)
                        .or_else(|| batch.byte_offset(patch))
                };
                match self.check_row(batch.table(), operation) {
                    Err(violation) => violations.push(FoundViolation {
                        violation,
                        message_index,
                        row: self.row,
                        byte_offset: byte_offset(),
                    }),
                    Ok(()) if operation.code == OperationCode::Begin => {
                        self.open_begin = (self.row, byte_offset());
                    }
                    Ok(()) => {}
                }
                self.next_row();
            }
            if (patch + 1 < batch.len() || !batch.continues()) && self.end_patch() {
                let (row, byte_offset) = self.open_begin;
                violations.push(FoundViolation {
                    violation: Violation {
                        rule: Rule::Unfinished,
                        text: "the patch does not end its transaction, which is then undone"
                            .to_owned(),
                    },
                    message_index,
                    row,
                    byte_offset,
                });
            }
        }
        violations
    }
}

/// Adds the row number in the patch, from 0, to a reason.
#[cold]
pub(super) fn in_row(row: u64, reason: Reason) -> Reason {
    reason.with_rewording(|text| format!("row {row} of the patch: {text}"))
}

/// Returns the error for a record of a patch.
#[cold]
pub(super) fn row_error(
    batch: &PatchBatch,
    patch: usize,
    record: Option<usize>,
    (class, reason): (ErrorClass, Reason),
) -> DecodeError {
    let record_offset = record.and_then(|index| batch.record_offset(index));
    DecodeError {
        format: "patches",
        class,
        reason,
        position: Position {
            byte_offset: record_offset.or_else(|| batch.byte_offset(patch)),
            message_index: Some(batch.message_index(patch)),
            ..Position::default()
        },
    }
}
