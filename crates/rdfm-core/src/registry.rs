//! The formats and their codecs. Only this file refers to all of them.

use crate::codec::options::{FLAT, LARGEST_MESSAGE, WRITE_DIALECT};
use crate::codec::spec::{CodecResult, FormatSpec, Kind};
use crate::codec::values::Values;
use crate::codec::{Decoder, DelimiterCounter, Dialect, Encoder, Opening, Source};
use crate::formats::{jelly, jsonld, nquads, rdf_binary, rdf_patch, rdfxml, results, turtle};
use crate::model::remedy::{Feature, Remedy, Side};
use crate::regroup::flat::FlatEncoder;

/// The formats, in the order in which they are detected and listed.
pub static FORMATS: [&FormatSpec; 21] = [
    &nquads::spec::NTRIPLES,
    &nquads::spec::NQUADS,
    &turtle::spec::TURTLE,
    &turtle::spec::TRIG,
    &jelly::spec::JELLY,
    &jelly::patch::spec::JELLY_PATCH,
    &rdf_binary::spec::PROTOBUF,
    &rdf_binary::spec::THRIFT,
    &rdfxml::spec::RDFXML,
    &jsonld::spec::NDJSONLD,
    &jsonld::spec::JSONLD,
    &jsonld::spec::YAMLLD,
    &rdf_patch::spec::TEXT,
    &rdf_patch::spec::THRIFT,
    &results::spec::THRIFT,
    &results::spec::PROTOBUF,
    &results::spec::JSON,
    &results::spec::XML,
    &results::spec::TSV,
    &results::spec::CSV,
    &jelly::results::spec::RESULTS_JELLY,
];

/// Returns the format with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static FormatSpec> {
    FORMATS.into_iter().find(|format| format.name == name)
}

/// Returns a decoder of a format.
///
/// # Errors
/// If an option is not valid for the format. The error names the option.
pub fn new_decoder(
    spec: &FormatSpec,
    values: &Values,
    opening: &Opening,
) -> CodecResult<dyn Decoder> {
    (spec.decoder)(values, opening)
}

/// Returns an encoder of a format. `source` describes where the messages come from, if known.
///
/// # Errors
/// If an option is not valid for the format. The error names the option.
pub fn new_encoder(
    spec: &FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> CodecResult<dyn Encoder> {
    let encoder = (spec.encoder)(values, source)?;
    let needs_complete = spec.carries.boundaries && spec.needs_complete_messages(values);
    let is_flat = values.is_on(&FLAT) || values.text(&WRITE_DIALECT) == Some(Dialect::Plain.name());
    if needs_complete && is_flat {
        return Ok(Box::new(FlatEncoder::new(
            encoder,
            spec.name,
            values.number(&LARGEST_MESSAGE),
        )?));
    }
    Ok(encoder)
}

/// Returns a counter of the delimiters of a split.
///
/// # Errors
/// If logs of the format cannot be split.
pub fn new_counter(
    spec: &FormatSpec,
    values: &Values,
    opening: &Opening,
) -> CodecResult<dyn DelimiterCounter> {
    match spec.splitter {
        Some(splitter) => Ok(splitter(values, opening)),
        None => Err(format!("{} logs cannot be split", spec.name).into()),
    }
}

/// Names of the formats for logs of these kinds that support a feature.
fn formats_with(kinds: &[Kind], feature: Feature) -> Vec<&'static str> {
    FORMATS
        .into_iter()
        .filter(|spec| spec.kinds == kinds && spec.carries.has(feature))
        .map(|spec| spec.name)
        .collect()
}

/// Returns the other formats that support a feature that `format` lacks. If `format` lacks message
/// boundaries, no format is returned, because the remedy is to write several logs. `format` itself
/// is excluded even if it supports the feature in other places: for example, TSV restricts only
/// variable names.
pub fn suggest_target(format: &str, feature: Feature) -> Option<Remedy> {
    let kinds = find(format).map_or(&[Kind::Messages][..], |spec| spec.kinds);
    let mut names = match feature {
        Feature::Boundaries => Vec::new(),
        _ => formats_with(kinds, feature),
    };
    names.retain(|name| *name != format);
    (!names.is_empty()).then(|| Remedy {
        side: Side::Stage,
        option: "to",
        value: Some(names.join("|").into()),
        text: "supports it".into(),
    })
}

/// Returns the format in which to read a log whose content shows that it is not in `format`.
pub fn suggest_source(format: &str, feature: Feature) -> Option<Remedy> {
    let name = match (format, feature) {
        ("nt", Feature::Graphs) => "nq",
        ("nt", Feature::PrefixedNames) => "ttl",
        ("nq", Feature::PrefixedNames) | ("ttl", Feature::Graphs) => "trig",
        _ => return None,
    };
    Some(Remedy::stage("from_format", name, "reads it"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    #[test]
    fn formats_are_found_by_feature() {
        assert_eq!(
            formats_with(&[Kind::Messages], Feature::Generalized),
            ["nt", "nq", "jelly", "rdf-protobuf", "rdf-thrift"]
        );
        for feature in Feature::ALL {
            for spec in FORMATS {
                let has = formats_with(spec.kinds, feature).contains(&spec.name);
                assert_eq!(has, spec.carries.has(feature), "{}", spec.name);
            }
        }
    }

    #[test]
    fn formats_that_support_the_feature_are_suggested() {
        let remedy = suggest_target("nt", Feature::AnyLanguage).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("jelly|rdf-protobuf|rdf-thrift")
        );
        assert_eq!(suggest_target("nq", Feature::Parts), None);
        let remedy = suggest_target("rdf-patch", Feature::AnyLanguage).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("jelly-patch|rdf-patch-thrift")
        );
        let remedy = suggest_target("results-xml", Feature::AnyText).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("results-thrift|results-protobuf|results-json|results-tsv|results-jelly")
        );
        let remedy = suggest_target("results-tsv", Feature::AnyText).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("results-thrift|results-protobuf|results-json|results-jelly")
        );
        let remedy = suggest_source("ttl", Feature::Graphs).unwrap();
        assert_eq!(remedy.value.as_deref(), Some("trig"));
        assert_eq!(suggest_source("trig", Feature::Graphs), None);
        assert_eq!(suggest_source("parquet", Feature::Graphs), None);
    }
}
