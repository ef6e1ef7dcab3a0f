//! Changes of datasets: checking, linking, applying and reverting patches, converting between messages and
//! patches, and computing differences of datasets and messages.
//!
//! - In: batches of messages and of patches. Out: batches of the other kind.
//! - Cost: [`dataset`] and [`difference`] keep datasets in memory. The other modules buffer one
//!   batch, or the waiting messages ([`per_message`]).
//! - Law: blank nodes of datasets and patches are identified by their labels.

pub mod chain;
pub mod dataset;
pub mod difference;
mod index;
pub mod logs;
pub mod per_message;
pub mod revert;
pub mod rules;
mod terms;
