//! x
use pyo3 as _;
use pyo3_arrow as _;
