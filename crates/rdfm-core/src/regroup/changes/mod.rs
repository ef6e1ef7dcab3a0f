//! Changes of datasets: patches applied, made of messages and made messages, and the difference of two datasets.
//!
//! - In: batches of messages and of patches. Out: batches of the other kind.
//! - Cost: a dataset is held whole ([`dataset`]); the rest holds a batch.
//! - Law: blank nodes of a dataset and of patches are known by their labels.

pub mod dataset;
pub mod difference;
mod index;
pub mod logs;
mod terms;
