//! What the text formats share: character classes, and how terms are written.

pub mod chars;
pub mod write;
