//! IRI references, for text formats with a base IRI, and IRIs that are not valid datatypes.
//!
//! - In: a reference in valid UTF-8, and a base.
//! - Out: the resolved IRI, or the reason why it cannot be resolved.
//! - Cost: only relative references are resolved.
//! - Law: lenient reading keeps references that cannot be resolved.

use oxiri::Iri;

use crate::model::error::quote;
use crate::model::remedy::{Reason, Remedy};

/// The error for a literal without a language tag whose datatype requires one.
#[cold]
pub(crate) fn missing_tag_error(datatype: &[u8]) -> Reason {
    Reason::from(format!(
        "the datatype {} requires a language tag, but the literal has none",
        quote(datatype)
    ))
    .with(Remedy::lenient("accepts it"))
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
