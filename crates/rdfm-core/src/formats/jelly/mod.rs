//! Jelly-RDF 1.1: binary logs with one frame per message. `columns` is the column layout of Jelly
//! 1.2. [`patch`] is Jelly-Patch, and [`results`] is Jelly-SPARQL.
//!
//! [`decode`] reads the `frames` of both formats, and `rows` the rows of Jelly-RDF; [`encode`]
//! writes them. [`restart`] defines the frame marks at which reading can begin. `term_reader` reads
//! terms with the tables of `lookup`, and `term_writer` writes them with those of `encoder_table`.
//! `owned` keeps the terms that the next batch may repeat. [`grpc`] reads and writes the other
//! messages of Jelly gRPC.

pub mod decode;
pub mod encode;
pub mod grpc;
pub mod options;
pub mod patch;
pub mod restart;
pub mod results;
pub mod sniff;
pub mod spec;
pub mod stream;

mod columns;
mod count;
mod encoder_table;
mod frame_writer;
mod frames;
mod lookup;
mod metadata;
mod owned;
mod rows;
mod term_reader;
mod term_writer;
mod usual_rows;
