//! Changes of datasets: patches that are checked, applied, reverted, made of messages and made messages; differences
//! of datasets and of messages.
//!
//! - In: batches of messages and of patches. Out: batches of the other kind.
//! - Cost: a dataset is held in memory ([`dataset`]); the rest holds a batch, or a message ([`per_message`]).
//! - Law: blank nodes of a dataset and of patches are known by their labels.

pub mod dataset;
pub mod difference;
mod index;
pub mod logs;
pub mod per_message;
pub mod revert;
pub mod rules;
mod terms;
