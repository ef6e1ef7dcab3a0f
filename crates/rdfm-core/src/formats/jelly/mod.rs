//! Jelly-RDF 1.1: binary logs, one frame a message.
//!
//! [`decode`] cuts frames, `rows` reads them with the tables of `lookup`; [`encode`] writes them with
//! those of `lru`; `owned` keeps the terms that the next batch may repeat.

pub mod decode;
pub mod encode;
pub mod options;
pub mod sniff;
pub mod spec;
pub mod stream;

mod lookup;
mod lru;
mod owned;
mod rows;
