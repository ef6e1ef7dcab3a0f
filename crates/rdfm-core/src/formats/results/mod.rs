//! Results of SPARQL queries: rows of terms, in six formats. A row is a message, a log one result set.
//!
//! - `binary`, `binary_encode`: RDF Thrift and RDF Protobuf, as Apache Jena has them.
//! - `json`, `json_encode`; `xml`, `xml_encode`; `table` with `tsv` and `csv`, `table_encode`: those of the
//!   W3C; `text_encode`: what their writers share.
//! - `rows`: rows under construction, for the readers of text; `head`: what is said before them.
//! - [`spec`]: the formats; `options`: their options.

mod binary;
mod binary_encode;
mod csv;
mod head;
mod json;
mod json_encode;
mod options;
mod rows;
pub mod spec;
mod table;
mod table_encode;
mod text_encode;
mod tsv;
mod xml;
mod xml_encode;
