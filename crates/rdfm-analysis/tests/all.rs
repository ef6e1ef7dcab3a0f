//! The tests of this crate, in one program because each program takes seconds to link.

mod canonical;
mod comparison;
mod streams;
