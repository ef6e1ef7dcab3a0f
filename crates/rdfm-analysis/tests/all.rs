//! The tests of this crate, in one program because each program takes seconds to link.

mod comparison;
mod streams;
