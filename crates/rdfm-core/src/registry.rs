//! Where to get the codecs of each format: the one file that knows them all.

use crate::codec::options::{FLAT, LARGEST_MESSAGE};
use crate::codec::spec::{Continuable, FormatSpec, Kind, Made};
use crate::codec::values::Values;
use crate::codec::{Decoder, DelimiterCounter, Encoder, Opening, Source};
use crate::formats::{jelly, jsonld, nquads, rdf_binary, rdf_patch, rdfxml, results, turtle};
use crate::model::remedy::{Feature, Remedy, Side};
use crate::regroup::flat::FlatEncoder;

/// The formats, in the order in which they are asked and listed.
pub static FORMATS: [&FormatSpec; 20] = [
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
];

/// The format of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static FormatSpec> {
    FORMATS.into_iter().find(|format| format.name == name)
}

/// A decoder of a format.
///
/// # Errors
/// An option does not fit; the text says which.
pub fn decoder(spec: &FormatSpec, values: &Values, opening: &Opening) -> Made<dyn Decoder> {
    (spec.decoder)(values, opening)
}

/// An encoder of a format; `source` is where the messages come from, if that is known.
///
/// # Errors
/// An option does not fit; the text says which.
pub fn encoder(spec: &FormatSpec, values: &Values, source: Option<&Source>) -> Made<dyn Encoder> {
    let made = (spec.encoder)(values, source)?;
    let whole = spec.carries.boundaries && spec.continuable == Continuable::Never;
    if whole && values.switch(&FLAT) {
        return Ok(Box::new(FlatEncoder::new(
            made,
            spec.name,
            values.number(&LARGEST_MESSAGE),
        )?));
    }
    Ok(made)
}

/// A counter of the delimiters of a split.
///
/// # Errors
/// The format has no splits.
pub fn counter(
    spec: &FormatSpec,
    values: &Values,
    opening: &Opening,
) -> Made<dyn DelimiterCounter> {
    match spec.splitter {
        Some(splitter) => Ok(splitter(values, opening)),
        None => Err(format!("{} logs have no splits", spec.name).into()),
    }
}

/// The names of the formats for logs of the same kinds that hold something.
fn holders(kinds: &[Kind], feature: Feature) -> Vec<&'static str> {
    FORMATS
        .into_iter()
        .filter(|spec| spec.kinds == kinds && spec.carries.has(feature))
        .map(|spec| spec.name)
        .collect()
}

/// Another format to write, where one lacks something. Of the messages that one log cannot hold the remedy is
/// several logs. The format itself is none, though it may hold the same elsewhere: TSV lacks some names only.
pub fn another_target(format: &str, feature: Feature) -> Option<Remedy> {
    let kinds = find(format).map_or(&[Kind::Messages][..], |spec| spec.kinds);
    let mut names = match feature {
        Feature::Boundaries => Vec::new(),
        _ => holders(kinds, feature),
    };
    names.retain(|name| *name != format);
    (!names.is_empty()).then(|| Remedy {
        side: Side::Stage,
        option: "to_format",
        value: Some(names.join("|").into()),
        text: "holds it".into(),
    })
}

/// Another format to read as, where a log shows that it is not of the format it was read as.
pub fn another_source(format: &str, feature: Feature) -> Option<Remedy> {
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
    fn holders_are_those_that_carry_it() {
        assert_eq!(
            holders(&[Kind::Messages], Feature::Generalized),
            ["nt", "nq", "jelly", "rdf-protobuf", "rdf-thrift"]
        );
        for feature in Feature::ALL {
            for spec in FORMATS {
                let holds = holders(spec.kinds, feature).contains(&spec.name);
                assert_eq!(holds, spec.carries.has(feature), "{}", spec.name);
            }
        }
    }

    #[test]
    fn another_format_is_named_where_one_helps() {
        let remedy = another_target("nt", Feature::AnyLanguage).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("jelly|rdf-protobuf|rdf-thrift")
        );
        assert_eq!(another_target("nq", Feature::Parts), None);
        let remedy = another_target("rdf-patch", Feature::AnyLanguage).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("jelly-patch|rdf-patch-thrift")
        );
        let remedy = another_target("results-xml", Feature::AnyText).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("results-thrift|results-protobuf|results-json|results-tsv")
        );
        let remedy = another_target("results-tsv", Feature::AnyText).unwrap();
        assert_eq!(
            remedy.value.as_deref(),
            Some("results-thrift|results-protobuf|results-json")
        );
        let remedy = another_source("ttl", Feature::Graphs).unwrap();
        assert_eq!(remedy.value.as_deref(), Some("trig"));
        assert_eq!(another_source("trig", Feature::Graphs), None);
        assert_eq!(another_source("parquet", Feature::Graphs), None);
    }
}
