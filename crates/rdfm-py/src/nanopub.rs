//! Nanopublications for Python: batches in, verdicts and descriptions out.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rdfm_analysis::nanopub::{
    self, Verdict, Violation, listing::Description, signature::Signature,
};

use crate::batch::MessageBatch;
use crate::errors;

/// Rule, whether breaking it is an error, text, and the term as it is usually written.
type ProblemTuple<'py> = (&'static str, bool, String, Bound<'py, PyBytes>);
/// Algorithm, public key, signature, and digest of the signed text.
type SignatureTuple<'py> = (String, String, String, Bound<'py, PyBytes>);
/// Message, number of nanopublications in the message, IRI, whether the trusty URI is correct,
/// problems, signature.
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

/// Check the nanopublications of a batch of complete messages. Signatures are returned, not
/// verified.
///
/// Returns:
///     For each nanopublication: index of the message in the batch, number of nanopublications in
///     the message, IRI or None, whether it has a correct trusty URI, problems, and the signature
///     or None. A problem is a rule, whether breaking it is an error, a reason, and the term as it
///     is usually written. A signature is an algorithm, a public key and a signature (both in
///     Base64), and the SHA-256 digest of the signed text.
#[pyfunction]
fn check_nanopubs<'py>(
    py: Python<'py>,
    batch: &Bound<'py, MessageBatch>,
) -> PyResult<Vec<VerdictTuple<'py>>> {
    let batch = batch.get().inner();
    let verdicts = errors::run_guarded(py, || nanopub::check(batch))?;
    let problem = |verdict_part: Violation| {
        (
            verdict_part.rule.name(),
            verdict_part.is_error,
            verdict_part.text,
            PyBytes::new(py, &verdict_part.term_text),
        )
    };
    let signature = |verdict_part: Signature| {
        (
            verdict_part.algorithm,
            verdict_part.public_key,
            verdict_part.signature,
            PyBytes::new(py, &verdict_part.digest),
        )
    };
    let verdict = |verdict_part: Verdict| {
        (
            verdict_part.message,
            verdict_part.count,
            verdict_part.uri,
            verdict_part.is_trusty,
            verdict_part.problems.into_iter().map(problem).collect(),
            verdict_part.signature.map(signature),
        )
    };
    Ok(verdicts.into_iter().map(verdict).collect())
}

/// Check the structure and artifact code of each message of a batch.
///
/// Returns:
///     For each message: the reason why it is not a nanopublication with a correct trusty URI, or
///     None.
#[pyfunction]
fn verify_nanopubs(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
) -> PyResult<Vec<Option<String>>> {
    let batch = batch.get().inner();
    errors::run_guarded(py, || nanopub::verify(batch))
}

/// Describe the nanopublications of a batch of complete messages. Messages without one are skipped.
///
/// Returns:
///     For each nanopublication: index of the message in the batch, IRI, creators, creation time,
///     license, types, introduced resources, retracted nanopublications, superseded
///     nanopublications, and the public key hash.
#[pyfunction]
fn describe_nanopubs(
    py: Python<'_>,
    batch: &Bound<'_, MessageBatch>,
) -> PyResult<Vec<DescriptionTuple>> {
    let batch = batch.get().inner();
    let descriptions = errors::run_guarded(py, || nanopub::describe(batch))?;
    let tuple = |descriptions: Description| {
        (
            descriptions.message,
            descriptions.uri,
            descriptions.creators,
            descriptions.created,
            descriptions.license,
            descriptions.types,
            descriptions.introduces,
            descriptions.retracts,
            descriptions.supersedes,
            descriptions.pubkey_hash,
        )
    };
    Ok(descriptions.into_iter().map(tuple).collect())
}

/// Compute the artifact code of a message (module RA).
///
/// Args:
///     batch: A batch of complete messages.
///     message: Index of the message in the batch.
///     code: Text to replace with a space in all IRIs. None replaces nothing.
///
/// Raises:
///     IndexError: If there is no such message.
///     ValueError: If the quads have no artifact code, for example because of a blank node.
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
        return Err(PyIndexError::new_err(format!(
            "the batch has no message {message}"
        )));
    }
    errors::run_guarded(py, || {
        nanopub::find_artifact_code(batch, message, code.map(str::as_bytes))
    })?
    .map_err(PyValueError::new_err)
}

/// Return the artifact code at the end of an IRI, or None. A file suffix may follow the code.
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
