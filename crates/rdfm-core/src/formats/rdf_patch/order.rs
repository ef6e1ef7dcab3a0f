//! Boundaries of patches, and positions of headers.
//!
//! - Law: decoding returns the same patches, since a header after other rows would begin a new patch.

use super::options::HEADERS_FIRST;
use crate::codec::messages::{Counts, Dropped};
use crate::codec::refuse::Refused;
use crate::codec::values::Values;
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Reason, Remedy};

const LATE: &str = "a header follows other operations of its patch and would begin a new patch";
const PARTS: &str = "a header is in a later part of its patch than its first operations, so it cannot go to the front";

/// State of the patches being written: segments, and the kinds of operations so far.
pub(super) struct Patches {
    /// The bytes that end a patch.
    segment: &'static [u8],
    /// Whether headers after other operations are moved to the front.
    first: bool,
    /// Number of patches begun.
    begun: u64,
    /// Whether the patch before the last one begun has no operations.
    empty_before: bool,
    /// Whether the open patch has operations other than headers.
    changes: bool,
    /// Whether the open patch has operations.
    any: bool,
    /// Number of headers moved to the front.
    moved: u64,
}

/// The order in which the operations of a patch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Unchanged.
    Given,
    /// The headers, then the others.
    HeadersFirst,
}

impl Patches {
    pub fn new(values: &Values, segment: &'static [u8]) -> Self {
        Self {
            segment,
            first: values.switch(&HEADERS_FIRST),
            begun: 0,
            empty_before: false,
            changes: false,
            any: false,
            moved: 0,
        }
    }

    /// Begins a patch.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.begun > 0 {
            out.extend_from_slice(self.segment);
        }
        self.begun += 1;
        self.changes = false;
        self.empty_before = !std::mem::take(&mut self.any);
    }

    /// Removes the last patch begun: the log ends with the one before it.
    pub fn take_back(&mut self, out: &mut Vec<u8>) {
        self.begun -= 1;
        self.any = !self.empty_before;
        self.finish(out);
    }

    /// Ends the log. A patch without operations is represented only by its end.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if self.begun > 0 && !self.any {
            out.extend_from_slice(self.segment);
        }
    }

    /// The order in which the operations of a patch, or of a part of it, are written.
    ///
    /// # Errors
    /// A header is in a position where it cannot be written.
    pub fn order(&mut self, operations: &[Operation]) -> Refused<Order> {
        let header = |operation: &&Operation| operation.code == OperationCode::Header;
        if !operations.iter().any(|operation| header(&operation)) {
            self.changes |= !operations.is_empty();
            self.any |= !operations.is_empty();
            return Ok(Order::Given);
        }
        let leading = if self.changes {
            0
        } else {
            operations.iter().take_while(header).count()
        };
        let rest = operations.get(leading..).unwrap_or_default();
        let late = if self.changes || !rest.is_empty() {
            rest.iter().filter(header).count()
        } else {
            0
        };
        let order = match (late, self.first, self.changes) {
            (0, ..) => Order::Given,
            (_, false, _) => {
                let front = Remedy::write("headers_first", "true", "writes it at the front");
                return Err((ErrorClass::Unsupported, Reason::new(LATE).with(front)));
            }
            (_, true, true) => return Err((ErrorClass::Unsupported, Reason::new(PARTS))),
            (_, true, false) => Order::HeadersFirst,
        };
        self.moved += late as u64;
        self.changes |= !rest.is_empty();
        self.any |= !operations.is_empty();
        Ok(order)
    }

    /// Counts of what was omitted.
    pub fn dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("metadata", dropped.metadata),
            ("header positions", self.moved),
        ]
    }

    /// Prepares for another log.
    pub fn reset(&mut self) {
        (self.begun, self.moved) = (0, 0);
        (self.empty_before, self.changes, self.any) = (false, false, false);
    }
}

/// The operations of a patch in the given order.
pub(super) fn ordered(
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
