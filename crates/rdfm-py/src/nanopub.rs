//! Nanopublications for Python: batches in, verdicts and descriptions out.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rdfm_analysis::nanopub::{
    self, Verdict, Violation, listing::Description, signature::Signature,
};

use crate::batch::MessageBatch;
use crate::errors;

/// Rule, whether it is an error, text, and the written form of the term.
type ProblemTuple<'py> = (&'static str, bool, String, Bound<'py, PyBytes>);
/// Algorithm, public key, signature, and digest of the signed text.
type SignatureTuple<'py> = (String, String, String, Bound<'py, PyBytes>);
/// Message, number of nanopublications in it, IRI, whether it is trusty, problems, signature.
type VerdictTuple<'py> = (
    usize,
    usize,
    Option<String>,
    bool,
    Vec<ProblemTuple<'py>>,
    Option<SignatureTuple<'py>>,
);
/// Message, then the columns of a listing.
type DescriptionTuple = (
    usize,
    String,
    Vec<String>,
    Option<String>,
    Option<String>,
    Vec<String>,
    Vec<String>,
    Vec<String>,
    Vec<String>,
    Option<String>,
);

/// Check the nanopublications of a batch of complete messages. Signatures are returned, not verified.
///
/// Returns:
///     For each nanopublication: number of the message in the batch, number of nanopublications in
///     the message, IRI or None, whether it has a trusty URI that is right, problems, and the
///     signature or None. A problem is a rule, whether it is an error, a text, and the usual
///     written form of the term. A signature is an algorithm, a public key and a signature in
///     Base64, and the SHA-256 digest of the signed text.
#[pyfunction]
fn check_nanopubs<'py>(
    py: Python<'py>,
    batch: &Bound<'py, MessageBatch>,
) -> PyResult<Vec<VerdictTuple<'py>>> {
    let batch = batch.get().inner();
    let verdicts = errors::guarded(py, || nanopub::check(batch))?;
    let problem = |found: Violation| {
        (
            found.rule.name(),
            found.is_error,
            found.text,
            PyBytes::new(py, &found.written),
        )
    };
    let signature = |found: Signature| {
        (
            found.algorithm,
            found.public_key,
            found.signature,
            PyBytes::new(py, &found.digest),
        )
    };
    let verdict = |found: Verdict| {
        (
            found.message,
            found.of,
            found.uri,
            found.is_trusty,
            found.problems.into_iter().map(problem).collect(),
            found.signature.map(signature),
        )
    };
    Ok(verdicts.into_iter().map(verdict).collect())
}

/// Check structure and artifact codes of the messages of a batch.
///
/// Returns:
///     For each message: why it is not a nanopublication with a trusty URI that is right, or None.
#[pyfunction]
fn verify_nanopubs(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
) -> PyResult<Vec<Option<String>>> {
    let batch = batch.get().inner();
    errors::guarded(py, || nanopub::verify(batch))
}

/// Describe the nanopublications of a batch of complete messages. Messages without one are left out.
///
/// Returns:
///     For each nanopublication: number of the message in the batch, IRI, creators, time of
///     creation, license, types, introduced things, retracted and superseded nanopublications, and
///     the hash of the public key.
#[pyfunction]
fn describe_nanopubs(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
) -> PyResult<Vec<DescriptionTuple>> {
    let batch = batch.get().inner();
    let found = errors::guarded(py, || nanopub::describe(batch))?;
    let tuple = |found: Description| {
        (
            found.message,
            found.uri,
            found.creators,
            found.created,
            found.license,
            found.types,
            found.introduces,
            found.retracts,
            found.supersedes,
            found.pubkey_hash,
        )
    };
    Ok(found.into_iter().map(tuple).collect())
}

/// Compute the artifact code of a message (module RA).
///
/// Args:
///     batch: A batch of complete messages.
///     message: Number of the message in the batch.
///     code: Text that is replaced by a space in all IRIs; None to replace nothing.
///
/// Raises:
///     IndexError: If there is no such message.
///     ValueError: If the quads have no artifact code, because of a blank node for example.
#[pyfunction]
#[pyo3(signature = (batch, message, code=None))]
fn artifact_code(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
    message: usize,
    code: Option<&str>,
) -> PyResult<String> {
    let batch = batch.get().inner();
    if message >= batch.len() {
        return Err(PyIndexError::new_err("there is no such message"));
    }
    errors::guarded(py, || {
        nanopub::code_of(batch, message, code.map(str::as_bytes))
    })?
    .map_err(PyValueError::new_err)
}

/// Return the artifact code at the end of an IRI, which a file suffix may follow; None if there is none.
#[pyfunction]
fn artifact_code_of_iri(iri: &str) -> Option<&str> {
    let code = nanopub::trusty::artifact_code(iri.as_bytes())?;
    std::str::from_utf8(code).ok()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_nanopubs, module)?)?;
    module.add_function(wrap_pyfunction!(verify_nanopubs, module)?)?;
    module.add_function(wrap_pyfunction!(describe_nanopubs, module)?)?;
    module.add_function(wrap_pyfunction!(artifact_code, module)?)?;
    module.add_function(wrap_pyfunction!(artifact_code_of_iri, module)?)
}
