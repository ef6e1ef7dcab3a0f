//! Where a patch ends, and where its headers stand.
//!
//! - Law: what is written is read as the same patches, since a header behind other rows begins a patch.

use super::options::HEADERS_FIRST;
use crate::codec::refuse::Refused;
use crate::codec::values::Values;
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Reason, Remedy};

const LATE: &str =
    "a header stands behind other operations of its patch, where it would begin the next one";
const PARTS: &str = "a header stands in a later part of its patch than its first operations, so it cannot go to the front";

/// The operations of a patch, in the order in which they are written.
pub(super) struct Headers {
    /// Headers that stand behind other operations go to the front.
    first: bool,
    /// The open patch has operations other than headers.
    changes: bool,
    /// The open patch has operations.
    any: bool,
    /// Headers that went to the front.
    pub moved: u64,
}

/// How the operations of a patch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they are.
    Given,
    /// The headers, then the others.
    HeadersFirst,
}

impl Headers {
    pub fn new(values: &Values) -> Self {
        Self {
            first: values.switch(&HEADERS_FIRST),
            changes: false,
            any: false,
            moved: 0,
        }
    }

    /// A patch begins; says whether the one before it has no operations.
    pub fn begin(&mut self) -> bool {
        self.changes = false;
        !std::mem::take(&mut self.any)
    }

    /// Whether the patch has operations.
    pub const fn any(&self) -> bool {
        self.any
    }

    /// How the operations of a patch, or of a part of it, are written.
    ///
    /// # Errors
    /// A header stands where it cannot be written.
    pub fn order(&mut self, operations: &[Operation]) -> Refused<Order> {
        let header = |operation: &&Operation| operation.code == OperationCode::Header;
        let leading = if self.changes {
            0
        } else {
            operations.iter().take_while(header).count()
        };
        let behind = operations.get(leading..).unwrap_or_default();
        let late = if self.changes || !behind.is_empty() {
            behind.iter().filter(header).count()
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
        self.changes |= !behind.is_empty();
        self.any |= !operations.is_empty();
        Ok(order)
    }

    /// Another log begins.
    pub fn reset(&mut self) {
        (self.changes, self.any, self.moved) = (false, false, 0);
    }
}

/// The operations of a patch in an order.
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
