//! IRI references, for the formats whose text has a base.
//!
//! - In: a reference in valid UTF-8, and a base.
//! - Out: the IRI that it stands for, or the reason why it stands for none.
//! - Cost: a look at the scheme; only relative references are resolved.
//! - Law: lenient reading takes what cannot be resolved as it is.

use oxiri::Iri;

use crate::model::chars::{DIGIT, LETTER, is};
use crate::model::error::quote;
use crate::model::remedy::{Reason, Remedy};

/// Whether an IRI reference begins with a scheme.
#[inline]
pub(crate) fn has_scheme(reference: &[u8]) -> bool {
    scheme_end(reference).is_some()
}

/// Where the colon behind an IRI reference's scheme is.
#[inline]
pub(crate) fn scheme_end(reference: &[u8]) -> Option<usize> {
    let end = reference
        .iter()
        .position(|&byte| !is(byte, LETTER | DIGIT) && !matches!(byte, b'+' | b'-' | b'.'))?;
    (reference[end] == b':' && is(reference[0], LETTER)).then_some(end)
}

/// The base that an option gives.
///
/// # Errors
/// It is not an absolute IRI.
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

/// Resolves a relative reference into `out`, which it replaces. False says that the reference stands as it is.
///
/// # Errors
/// There is no base, or the reference is not valid; never when reading is lenient.
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
        .with(Remedy::lenient("keeps it as it is")));
    };
    // The text is valid UTF-8, so this cannot fail.
    let relative = std::str::from_utf8(reference).unwrap_or_default();
    out.clear();
    match base.resolve_into(relative, out) {
        Ok(()) => Ok(true),
        Err(_) if lenient => Ok(false),
        Err(error) => {
            let text = format!("{} is not a valid relative IRI ({error})", quote(reference));
            Err(Reason::from(text).with(Remedy::lenient("keeps it as it is")))
        }
    }
}
