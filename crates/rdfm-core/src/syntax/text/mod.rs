//! Code shared by the text formats: lines and columns, reading and writing of message dialects,
//! checks of strings, format detection, writing of terms and labels, and the shared parts of
//! decoders and encoders.

pub mod delimit;
pub mod dialect;
pub mod encode;
pub(crate) mod grammar;
pub(crate) mod look_alikes;
pub mod position;
pub(crate) mod scan;
pub(crate) mod sniff;
pub(crate) mod terms;
