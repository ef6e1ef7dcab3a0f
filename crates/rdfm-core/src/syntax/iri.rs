//! IRI references, for text formats with a base IRI.
//!
//! - In: a reference in valid UTF-8, and a base.
//! - Out: the resolved IRI, or the reason why it cannot be resolved.
//! - Cost: a check of the scheme; only relative references are resolved.
//! - Law: lenient reading keeps references that cannot be resolved.

use oxiri::Iri;

use crate::model::chars::{DIGIT, LETTER, is};
use crate::model::error::quote;
use crate::model::remedy::{Reason, Remedy};

/// Whether an IRI reference begins with a scheme.
#[inline]
pub(crate) fn has_scheme(reference: &[u8]) -> bool {
    scheme_end(reference).is_some()
}

/// Index of the colon after the scheme of an IRI reference.
#[inline]
pub(crate) fn scheme_end(reference: &[u8]) -> Option<usize> {
    let end = reference
        .iter()
        .position(|&byte| !is(byte, LETTER | DIGIT) && !matches!(byte, b'+' | b'-' | b'.'))?;
    (reference[end] == b':' && is(reference[0], LETTER)).then_some(end)
}

/// Parses the base IRI from an option.
///
/// # Errors
/// If the text is not an absolute IRI.
pub(crate) fn parse_base(text: Option<&str>) -> Result<Option<Iri<String>>, String> {
    text.map(|text| {
        Iri::parse(text.to_owned()).map_err(|error| {
            format!(
                "base is not an absolute IRI: {} ({error})",
                quote(text.as_bytes())
            )
        })
    })
    .transpose()
}

/// Resolves a relative reference and replaces `out` with the result. Returns false if the reference
/// must be kept unchanged.
///
/// # Errors
/// If there is no base, or the reference is invalid. Never if `lenient`.
pub(crate) fn resolve(
    reference: &[u8],
    base: Option<&Iri<String>>,
    lenient: bool,
    out: &mut String,
) -> Result<bool, Reason> {
    let Some(base) = base else {
        if lenient {
            return Ok(false);
        }
        return Err(Reason::from(format!(
            "the relative IRI {} needs a base",
            quote(reference)
        ))
        .with(Remedy::read("base", "IRI", "makes it absolute"))
        .with(Remedy::lenient("keeps it unchanged")));
    };
    // The text is valid UTF-8, so this cannot fail.
    let relative = std::str::from_utf8(reference).unwrap_or_default();
    out.clear();
    match base.resolve_into(relative, out) {
        Ok(()) => Ok(true),
        Err(_) if lenient => Ok(false),
        Err(error) => {
            let text = format!("{} is not a valid relative IRI ({error})", quote(reference));
            Err(Reason::from(text).with(Remedy::lenient("keeps it unchanged")))
        }
    }
}
