//! Whether messages are the same dataset, and what differs.
