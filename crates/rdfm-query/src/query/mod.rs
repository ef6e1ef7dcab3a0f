//! SPARQL over messages.
//!
//! - In: a query ([`parse`]), and batches of messages. Out: rows, triples or answers, of each message by itself
//!   ([`evaluate`]) or of all as one dataset ([`whole`]).
//! - Cost: each distinct term of a batch is hashed once ([`dictionary`]); then what the query costs in each message.
//! - Law: a query neither asks the network nor runs without bounds ([`budget`]).

pub mod budget;
mod diagnosis;
pub mod dictionary;
pub mod evaluate;
mod fresh;
mod functions;
pub mod message;
pub mod native;
mod order;
pub mod output;
pub mod parse;
mod paths;
pub mod rows;
mod stack;
pub mod template;
mod view;
mod walk;
pub mod whole;
