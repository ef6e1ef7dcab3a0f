//! What the text formats share: character classes, the writer of terms, the message dialects, lines
//! and columns.

pub mod chars;
pub mod dialect;
pub mod position;
pub mod write;
