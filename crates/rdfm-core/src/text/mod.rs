//! What the text formats share: character classes.

pub mod chars;
