//! What the text formats share: character classes, lines and columns, the message dialects as read and
//! as written, the checks of texts, what tells formats apart, the writer of terms and of labels, and the
//! frames of decoders and encoders.

pub(crate) mod alike;
pub mod delimit;
pub mod dialect;
pub mod encode;
pub(crate) mod grammar;
pub mod position;
pub(crate) mod scan;
pub(crate) mod sniff;
pub(crate) mod terms;
