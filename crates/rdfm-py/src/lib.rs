//! The Python module `rdfm._core`: a translation layer, without logic, between Python and the
//! crates `rdfm-core`, `rdfm-arrow`, `rdfm-analysis` and `rdfm-query`.
//!
//! - [`codecs`]: decoders and encoders. [`options`]: their keyword arguments.
//! - [`batch`], [`records`]: batches of each kind. [`views`]: the code that they share. [`build`]:
//!   batches from Python messages.
//! - [`terms`]: terms and quads. [`arrow`]: the PyCapsule interface. [`arrow_rows`]: conversion
//!   between batches and Arrow rows.
//! - [`contexts`]: remote JSON-LD contexts. [`grpc`]: messages of Jelly gRPC.
//! - [`regroup`]: regrouping of messages. [`keys`]: division of a log by message key. [`changes`]:
//!   patches and datasets. [`comparison`]: message comparison.
//! - [`statistics`]: log statistics. [`streams`]: stream type rules.
//! - [`filter`]: message filters. [`query`]: SPARQL. [`columns`]: result rows as typed columns.
//! - [`nanopub`]: checks and descriptions of nanopublications.
//! - [`values`]: columns whose values are separate logs. [`parquet`]: sizes of Parquet columns, and
//!   joined files. [`archive`]: tar archive members.
//! - [`warnings`]: warnings about valid but suspicious data.
//! - [`errors`]: the only mapping of error classes to exceptions.
//!
//! The GIL is released while the core works. Only queries start threads.

#![allow(
    clippy::doc_markdown,
    reason = "the doc comments of classes and methods are Python docstrings"
)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::unused_self,
    reason = "PyO3 passes arguments by value, and Python methods have a `self`"
)]

mod archive;
mod arrow;
mod arrow_rows;
mod batch;
mod build;
mod canonical;
mod changes;
mod codecs;
mod columns;
mod comparison;
mod contexts;
mod errors;
mod filter;
mod grpc;
mod keys;
mod nanopub;
mod options;
mod parquet;
mod query;
mod records;
mod regroup;
mod statistics;
mod streams;
mod terms;
mod values;
mod views;
mod warnings;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("debug_build", cfg!(debug_assertions))?;
    terms::register(module)?;
    batch::register(module)?;
    records::register(module)?;
    canonical::register(module)?;
    changes::register(module)?;
    comparison::register(module)?;
    arrow::register(module)?;
    arrow_rows::register(module)?;
    values::register(module)?;
    parquet::register(module)?;
    archive::register(module)?;
    filter::register(module)?;
    grpc::register(module)?;
    keys::register(module)?;
    query::register(module)?;
    columns::register(module)?;
    nanopub::register(module)?;
    regroup::register(module)?;
    statistics::register(module)?;
    streams::register(module)?;
    warnings::register(module)?;
    codecs::register(module)
}
