//! The tests of this crate, in one program because each program takes seconds to link.

mod changes;
mod jelly;
mod ndjsonld;
mod nquads;
#[path = "support/oracle.rs"]
mod oracle;
mod patches;
mod results;
mod skipped_lines;
mod skipping;
mod specs;
mod support;
mod turtle;
mod w3c_nquads;
mod w3c_turtle;
mod writers;
