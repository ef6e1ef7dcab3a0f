//! SPARQL query results: rows of terms, in six formats. A row is a message, and a log is one result
//! set.
//!
//! - `binary`, `binary_encode`: RDF Thrift and RDF Protobuf, as defined by Apache Jena.
//! - `json` with `json_binding`, `json_encode`; `xml`, `xml_encode`; `table` with `tsv` and `csv`,
//!   `table_encode`: the W3C formats; `text_encode`: code shared by their encoders.
//! - `rows`: builds rows for the text decoders.
//! - [`spec`]: the formats; `options`: their options.

mod binary;
mod binary_encode;
mod csv;
mod json;
mod json_binding;
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
