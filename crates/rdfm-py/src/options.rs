//! Conversion of options between Python and the core: given values to core values, and specs to
//! Python values.
//!
//! - In: dicts of options. Out: [`Values`], checked by the core against the format's specs.
//! - Law: this module defines no names, defaults, limits or errors.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyMapping, PyString};
use rdfm_core::codec::carries::{Capabilities, TripleTerms};
use rdfm_core::codec::options::MAX_DEPTH;
use rdfm_core::codec::spec::{
    Append, Audience, Continuable, Default, FormatSpec, Kind, OptionSpec, ValueKind,
};
use rdfm_core::codec::values::{GivenValue, Value, Values};
use rdfm_core::codec::{Dialect, Source};

use crate::errors;

/// Returns the option values of a decoder or encoder.
pub fn parse_values(
    specs: impl Iterator<Item = &'static OptionSpec> + Clone,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Values> {
    let mut pairs: Vec<(String, GivenValue)> = Vec::new();
    for (name, value) in given.into_iter().flat_map(PyDictMethods::iter) {
        if let Some(value) = self::parse_given(&value) {
            pairs.push((name.extract()?, value));
        }
    }
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    Values::read(specs, pairs).map_err(errors::option)
}

/// Converts the value given for an option. Returns `None` for Python's None.
fn parse_given(value: &Bound<'_, PyAny>) -> Option<GivenValue> {
    if value.is_none() {
        return None;
    }
    let given_value = if let Ok(on) = value.cast::<PyBool>() {
        Some(GivenValue::Switch(on.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        value.extract().ok().map(GivenValue::Number)
    } else if value.is_instance_of::<PyString>() {
        value.extract().ok().map(GivenValue::Text)
    } else if let Ok(pairs) = value.cast::<PyMapping>() {
        let pairs = pairs.items().and_then(|items| items.extract());
        pairs.ok().map(GivenValue::Pairs)
    } else {
        let path = value.call_method0("__fspath__");
        path.and_then(|path| path.extract())
            .ok()
            .map(GivenValue::Text)
    };
    Some(given_value.unwrap_or_else(|| {
        let shown = value.repr().map(|shown| shown.to_string());
        GivenValue::Other(shown.unwrap_or_else(|_| "this value".to_owned()))
    }))
}

/// Check the value of an option that is declared in Python.
///
/// Args:
///     name: Name of the option.
///     kind: Kind of value, such as "switch", "count" or "choice".
///     minimum: Smallest number.
///     maximum: Largest number.
///     choices: The allowed words, and the number that each one represents.
///     given: The value, or its text form.
/// Returns:
///     The value: a bool, int, str or dict.
/// Raises:
///     OptionError: If the value is invalid.
#[pyfunction]
pub fn option_value<'py>(
    name: &str,
    kind: &str,
    minimum: u64,
    maximum: u64,
    choices: Vec<(String, u64)>,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let words: Vec<&str> = choices.iter().map(|(word, _)| word.as_str()).collect();
    let numbered: Vec<(&str, u64)> = choices
        .iter()
        .map(|(word, n)| (word.as_str(), *n))
        .collect();
    let kind = match kind {
        "switch" => ValueKind::Switch,
        "count" => ValueKind::Count(minimum, maximum),
        "bytes" => ValueKind::Bytes(minimum, maximum),
        "choice" => ValueKind::Choice(&words),
        "choice or number" => ValueKind::ChoiceOrNumber(&numbered),
        "namespaces" => ValueKind::Namespaces,
        "files" => ValueKind::Files,
        _ => ValueKind::Text,
    };
    let given_value =
        self::parse_given(given).unwrap_or_else(|| GivenValue::Other("None".to_owned()));
    let value = kind.read(name, given_value).map_err(errors::option)?;
    to_object(given.py(), &value)
}

/// Converts a dict of known properties to the properties of the source log.
pub fn parse_source(properties: &Bound<'_, PyDict>) -> PyResult<Source> {
    let item = |name: &str| properties.get_item(name);
    let flag =
        |name: &str| Ok::<_, PyErr>(item(name)?.is_some_and(|on| on.is_truthy().unwrap_or(false)));
    let carries = match item("carries")? {
        Some(carries) => parse_carries(&carries.cast_into::<PyMapping>()?)?,
        None => ASSUMED,
    };
    let dialect = item("dialect")?.and_then(|name| name.extract::<String>().ok());
    let mut options = Vec::new();
    if let Some(given) = item("options")? {
        for (name, value) in given.cast_into::<PyDict>()? {
            options.extend(
                self::parse_given(&value)
                    .map(|value| Ok::<_, PyErr>((name.extract()?, value)))
                    .transpose()?,
            );
        }
    }
    Ok(Source {
        carries,
        dialect: dialect.as_deref().and_then(Dialect::from_name),
        options,
        requested: flag("requested")?,
        namespaces: flag("namespaces")?,
        flat: flag("flat")?,
        continued: flag("continued")?,
    })
}

/// Returns the capabilities of a format, by name: `graphs`, `generalized`, `triple_terms` ("no",
/// "object", "anywhere"), `directions`, `boundaries`, `order`, `namespaces`, `metadata`, `any_text`
/// (any character in literals and any IRI as a predicate).
fn to_carries_dict(py: Python<'_>, carries: Capabilities) -> PyResult<Bound<'_, PyDict>> {
    let triple_terms = match carries.triple_terms {
        TripleTerms::No => "no",
        TripleTerms::Object => "object",
        TripleTerms::Anywhere => "anywhere",
    };
    let dict = PyDict::new(py);
    dict.set_item("graphs", carries.graphs)?;
    dict.set_item("generalized", carries.generalized)?;
    dict.set_item("triple_terms", triple_terms)?;
    dict.set_item("directions", carries.directions)?;
    dict.set_item("boundaries", carries.boundaries)?;
    dict.set_item("order", carries.order)?;
    dict.set_item("namespaces", carries.namespaces)?;
    dict.set_item("metadata", carries.metadata)?;
    dict.set_item("any_text", carries.any_text)?;
    Ok(dict)
}

/// Capabilities assumed for a format that does not state them.
const ASSUMED: Capabilities = Capabilities {
    triple_terms: TripleTerms::No,
    ..Capabilities::ALL
};

/// Reads the capabilities of a format from a mapping.
fn parse_carries(given: &Bound<'_, PyMapping>) -> PyResult<Capabilities> {
    let mut carries = ASSUMED;
    for (flag, name) in [
        (&mut carries.graphs, "graphs"),
        (&mut carries.generalized, "generalized"),
        (&mut carries.directions, "directions"),
        (&mut carries.boundaries, "boundaries"),
        (&mut carries.order, "order"),
        (&mut carries.namespaces, "namespaces"),
        (&mut carries.metadata, "metadata"),
        (&mut carries.any_text, "any_text"),
    ] {
        if let Ok(on) = given.get_item(name) {
            *flag = on.is_truthy()?;
        }
    }
    if let Ok(name) = given.get_item("triple_terms") {
        carries.triple_terms = match name.extract::<String>()?.as_str() {
            "no" => TripleTerms::No,
            "object" => TripleTerms::Object,
            _ => TripleTerms::Anywhere,
        };
    }
    Ok(carries)
}

/// Returns option values by name.
pub fn to_values_dict<'py>(
    py: Python<'py>,
    values: &[(&'static str, Value)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values {
        dict.set_item(name, to_object(py, value)?)?;
    }
    Ok(dict)
}

fn to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Switch(on) => PyBool::new(py, *on).to_owned().into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Pairs(pairs) => {
            let dict = PyDict::new(py);
            for (name, value) in pairs {
                dict.set_item(name, value)?;
            }
            dict.into_any()
        }
    })
}

/// Returns the specification of a native format: the fields of `rdfm.formats.FormatSpec`.
pub fn to_spec_dict<'py>(
    py: Python<'py>,
    spec: &'static FormatSpec,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", spec.name)?;
    dict.set_item("title", spec.title)?;
    let kinds: Vec<&str> = spec.kinds.iter().map(|kind| kind.name()).collect();
    dict.set_item("kinds", kinds)?;
    dict.set_item("suffixes", spec.suffixes)?;
    dict.set_item("media_types", spec.media_types)?;
    dict.set_item("aliases", spec.aliases)?;
    dict.set_item("carries", to_carries_dict(py, spec.carries)?)?;
    dict.set_item("binary", spec.binary)?;
    dict.set_item("resumable", spec.resumable)?;
    dict.set_item("skips_lines", spec.skips_lines)?;
    dict.set_item("splittable", spec.is_splittable())?;
    let (append, reason) = match spec.append {
        Append::Never(reason) => ("never", reason),
        Append::LastLine => ("last line", ""),
        Append::Lengths => ("lengths", ""),
        Append::Decode => ("decode", ""),
    };
    dict.set_item("append", append)?;
    dict.set_item("not_appended", reason)?;
    match spec.continuable {
        Continuable::Never => dict.set_item("continuable", false)?,
        Continuable::Always => dict.set_item("continuable", true)?,
        Continuable::With(options) => dict.set_item("continuable", options.to_vec())?,
    }
    dict.set_item("value_options", spec.value_options.to_vec())?;
    let options = |specs: &mut dyn Iterator<Item = &'static OptionSpec>| {
        let list = PyList::empty(py);
        for spec in specs.filter(|spec| spec.audience != Audience::Internal) {
            list.append(to_option_dict(py, spec)?)?;
        }
        Ok::<_, PyErr>(list)
    };
    dict.set_item("reads", options(&mut spec.reads())?)?;
    dict.set_item("writes", options(&mut spec.writes())?)?;
    Ok(dict)
}

/// Returns the fields of `rdfm.formats.OptionSpec`.
fn to_option_dict<'py>(py: Python<'py>, spec: &OptionSpec) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", spec.name)?;
    dict.set_item("kind", spec.value.name())?;
    match spec.value {
        ValueKind::Count(minimum, maximum) | ValueKind::Bytes(minimum, maximum) => {
            dict.set_item("minimum", minimum)?;
            dict.set_item("maximum", maximum)?;
        }
        ValueKind::Choice(words) => dict.set_item("choices", words)?,
        ValueKind::ChoiceOrNumber(words) => {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let numbers: Vec<u64> = words.iter().map(|(_, number)| *number).collect();
            dict.set_item("choices", names)?;
            dict.set_item("numbers", numbers)?;
        }
        _ => {}
    }
    for (name, default) in [("default", spec.default), ("printed", spec.printed)] {
        match default {
            Default::Unset => {}
            Default::Switch(on) => dict.set_item(name, on)?,
            Default::Number(number) => dict.set_item(name, number)?,
            Default::Text(text) => dict.set_item(name, text)?,
            Default::Detected => dict.set_item(format!("{name}_from"), "input")?,
            Default::Source => dict.set_item(format!("{name}_from"), "source")?,
        }
    }
    dict.set_item("shared", spec.shared)?;
    dict.set_item("hint", spec.hint)?;
    dict.set_item("metavar", spec.metavar)?;
    dict.set_item("group", spec.group)?;
    dict.set_item("help", spec.help)?;
    dict.set_item("flag", spec.flag)?;
    dict.set_item("off", spec.off)?;
    dict.set_item("python_only", spec.audience == Audience::Python)?;
    Ok(dict)
}

/// Returns the kind of log with the given name.
pub fn parse_kind(name: &str) -> PyResult<Kind> {
    Kind::from_name(name).map_err(errors::option)
}

/// Checks the nesting limit, if passed as an argument instead of an option.
pub fn check_depth(max_depth: u32) -> PyResult<u32> {
    if (1..=MAX_DEPTH).contains(&u64::from(max_depth)) {
        return Ok(max_depth);
    }
    Err(errors::option(format!(
        "max_depth must be a number from 1 to {MAX_DEPTH}, not {max_depth}"
    )))
}
