//! The tests of this crate, in one program because each program takes seconds to link.

mod common;
mod filter;
mod graphs;
mod keys;
mod limits;
mod native;
mod order;
mod paths;
mod query;
