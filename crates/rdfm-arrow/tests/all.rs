//! The tests of this crate, in one program because each program takes seconds to link.

mod columns;
mod from_arrow;
mod kinds;
mod quads;
mod support;
mod to_arrow;
mod values;
mod widths;
