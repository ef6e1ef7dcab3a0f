//! The messages of Jelly gRPC for Python. Malformed messages are errors of the type ValueError.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rdfm_core::formats::jelly::options::{OptionsRow, TableSizes};
use rdfm_core::formats::jelly::{grpc, restart};

/// The fields of `rdfm.storage.jelly_wire.StreamOptions`.
type OptionFields = (String, u32, bool, bool, u32, u32, u32, u32, u32, u32);

fn fields(row: OptionsRow) -> OptionFields {
    (
        row.stream_name,
        row.physical_type,
        row.generalized,
        row.rdf_star,
        row.tables.name,
        row.tables.prefix,
        row.tables.datatype,
        row.logical_type,
        row.version,
        row.stream_type,
    )
}

/// Return stream options as a message.
#[pyfunction]
fn write_options(options: OptionFields) -> Vec<u8> {
    grpc::write_options(&OptionsRow {
        stream_name: options.0,
        physical_type: options.1,
        generalized: options.2,
        rdf_star: options.3,
        tables: TableSizes {
            name: options.4,
            prefix: options.5,
            datatype: options.6,
        },
        logical_type: options.7,
        version: options.8,
        stream_type: options.9,
        ..OptionsRow::default()
    })
}

/// Return the topic and the requested options of a subscription.
#[pyfunction]
fn read_subscription(message: &[u8]) -> PyResult<(String, OptionFields)> {
    let (topic, row) = grpc::read_subscription(message).map_err(PyValueError::new_err)?;
    Ok((topic, fields(row)))
}

/// Whether a Jelly frame has rows.
#[pyfunction]
fn has_rows(frame: &[u8]) -> bool {
    grpc::has_rows(frame)
}

/// Whether a Jelly frame has a restart mark with the length of the frame.
#[pyfunction]
fn is_marked(frame: &[u8]) -> bool {
    restart::is_marked(frame)
}

/// Return the stream options in the first row of a Jelly frame, or None if that row contains
/// something else.
#[pyfunction]
fn first_options(frame: &[u8]) -> PyResult<Option<OptionFields>> {
    let row = grpc::first_options(frame).map_err(PyValueError::new_err)?;
    Ok(row.map(fields))
}

/// Return a message after its length, such as a frame in a file.
#[pyfunction]
fn delimited(message: &[u8]) -> Vec<u8> {
    grpc::delimited(message)
}

/// Find the complete frames in bytes with length prefixes, as `rdfm.storage.jelly_wire.cut_frames`.
#[pyfunction]
fn cut_frames(data: &[u8], start: usize, max_bytes: u64) -> PyResult<(Vec<&[u8]>, usize, usize)> {
    grpc::cut_frames(data, start, max_bytes).map_err(PyValueError::new_err)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(write_options, module)?)?;
    module.add_function(wrap_pyfunction!(read_subscription, module)?)?;
    module.add_function(wrap_pyfunction!(has_rows, module)?)?;
    module.add_function(wrap_pyfunction!(is_marked, module)?)?;
    module.add_function(wrap_pyfunction!(first_options, module)?)?;
    module.add_function(wrap_pyfunction!(delimited, module)?)?;
    module.add_function(wrap_pyfunction!(cut_frames, module)?)
}
