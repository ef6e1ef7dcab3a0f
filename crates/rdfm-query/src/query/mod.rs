//! SPARQL queries over messages.
//!
//! - In: a query ([`parse`]), and message batches. Out: rows, triples or answers, either for each
//!   message separately ([`evaluate`]) or for all messages as one dataset ([`whole`]).
//! - Cost: each distinct term of a batch is hashed once ([`dictionary`]), plus the cost of the
//!   query on each message.
//! - Law: a query neither accesses the network nor runs without limits ([`budget`]).

pub mod budget;
mod diagnosis;
pub mod dictionary;
pub mod evaluate;
mod fresh;
mod functions;
mod graphs;
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
