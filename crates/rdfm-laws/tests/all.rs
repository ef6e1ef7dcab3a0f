//! The tests of this crate, in one program because each program takes seconds to link.

mod analysis;
mod archive;
mod corpus;
mod fixtures;
mod namespaces;
mod query;
mod regressions;
mod strict;
mod yaml;
