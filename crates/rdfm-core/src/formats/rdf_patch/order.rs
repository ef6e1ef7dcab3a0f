//! The end of a patch, and the positions of its headers.
//!
//! - Law: readers get the patches that were written. A header after other rows would begin a new
//!   patch, so it is moved or rejected.

use super::options::HEADERS_FIRST;
use crate::codec::LogEnd;
use crate::codec::messages::{Counts, Dropped};
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Reason, Remedy};

const LATE_HEADER: &str = "a header after other operations of its patch would begin the next patch";
const LATE_PART: &str = "a header is in a later part of its patch than the first operations, \
    so it cannot be moved to the front";

/// Tracks the patches that are written: the segments between them, and their operations.
pub(super) struct Patches {
    /// The row that ends a patch.
    segment: &'static [u8],
    /// Whether headers after other operations are moved to the front.
    headers_first: bool,
    /// Number of patches begun.
    patch_count: u64,
    /// Whether the patch before the last one has no operations.
    empty_before: bool,
    /// Whether the open patch has operations other than headers.
    has_changes: bool,
    /// Whether the open patch has operations.
    has_operations: bool,
    /// Whether the open patch is inside a transaction.
    in_transaction: bool,
    /// Number of headers moved to the front.
    moved: u64,
}

/// The order in which the operations of a patch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Unchanged.
    Given,
    /// Headers first, then the other operations.
    HeadersFirst,
}

impl Patches {
    pub fn new(values: &Values, segment: &'static [u8]) -> Self {
        Self {
            segment,
            headers_first: values.is_on(&HEADERS_FIRST),
            patch_count: 0,
            empty_before: false,
            has_changes: false,
            has_operations: false,
            in_transaction: false,
            moved: 0,
        }
    }

    /// Begins a patch.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.patch_count > 0 {
            out.extend_from_slice(self.segment);
        }
        self.patch_count += 1;
        self.has_changes = false;
        self.in_transaction = false;
        self.empty_before = !std::mem::take(&mut self.has_operations);
    }

    /// Removes the last patch, so that the log ends with the one before it.
    pub fn remove_message(&mut self, out: &mut Vec<u8>) {
        self.patch_count -= 1;
        self.has_operations = !self.empty_before;
        self.finish(out);
    }

    /// Ends the log. If the last patch has no operations, it is written as a segment.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if self.patch_count > 0 && !self.has_operations {
            out.extend_from_slice(self.segment);
        }
    }

    /// Starts after the content of an existing log.
    pub fn continue_log(&mut self, end: LogEnd) {
        self.patch_count = u64::from(end == LogEnd::Content);
        self.has_operations = self.patch_count > 0;
    }

    /// Completes the log. A segment ends a patch without operations or with an open transaction,
    /// which would otherwise look truncated.
    pub fn pause(&mut self, out: &mut Vec<u8>) -> LogEnd {
        if self.patch_count > 0 && self.has_operations && !self.in_transaction {
            return LogEnd::Content;
        }
        if self.patch_count > 0 {
            out.extend_from_slice(self.segment);
        }
        self.patch_count = 0;
        self.has_operations = false;
        LogEnd::Delimiter
    }

    /// Returns the order in which the operations of a patch, or of a part of it, are written.
    ///
    /// # Errors
    /// If a header follows other operations and cannot be moved to the front.
    pub fn choose_order(&mut self, operations: &[Operation]) -> WriteResult<Order> {
        let code = |operation: &Operation| match operation.code {
            OperationCode::Begin => Some(true),
            OperationCode::Commit | OperationCode::Abort => Some(false),
            _ => None,
        };
        if let Some(begins) = operations.iter().rev().find_map(code) {
            self.in_transaction = begins;
        }
        let header = |operation: &&Operation| operation.code == OperationCode::Header;
        if !operations.iter().any(|operation| header(&operation)) {
            self.has_changes |= !operations.is_empty();
            self.has_operations |= !operations.is_empty();
            return Ok(Order::Given);
        }
        let leading = if self.has_changes {
            0
        } else {
            operations.iter().take_while(header).count()
        };
        let after = operations.get(leading..).unwrap_or_default();
        let late = if self.has_changes || !after.is_empty() {
            after.iter().filter(header).count()
        } else {
            0
        };
        let order = match (late, self.headers_first, self.has_changes) {
            (0, ..) => Order::Given,
            (_, false, _) => {
                let front = Remedy::write("headers_first", "true", "writes it at the front");
                return Err((
                    ErrorClass::Unsupported,
                    Reason::new(LATE_HEADER).with(front),
                ));
            }
            (_, true, true) => return Err((ErrorClass::Unsupported, Reason::new(LATE_PART))),
            (_, true, false) => Order::HeadersFirst,
        };
        self.moved += late as u64;
        self.has_changes |= !after.is_empty();
        self.has_operations |= !operations.is_empty();
        Ok(order)
    }

    /// Counts of the data that was not preserved.
    pub fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("metadata", dropped.metadata),
            ("header positions", self.moved),
        ]
    }

    /// Prepares for the next log.
    pub fn reset(&mut self) {
        (self.patch_count, self.moved) = (0, 0);
        (self.empty_before, self.has_changes, self.has_operations) = (false, false, false);
        self.in_transaction = false;
    }
}

/// The operations of a patch in the given order.
pub(super) fn iterate_in_order(
    operations: &[Operation],
    order: Order,
) -> impl Iterator<Item = &Operation> + Clone {
    let header = |operation: &&Operation| operation.code == OperationCode::Header;
    let (front, rest) = match order {
        Order::Given => (&operations[..0], operations),
        Order::HeadersFirst => (operations, operations),
    };
    let all = order == Order::Given;
    front.iter().filter(header).chain(
        rest.iter()
            .filter(move |operation| all || !header(operation)),
    )
}
