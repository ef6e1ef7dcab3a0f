//! Datatypes with checked lexical forms: the XML Schema 1.1 datatypes that RDF recommends, and
//! RDF's own datatypes.
//!
//! - In: the IRI of a datatype, and a string. Out: whether it is a lexical form of the datatype.
//! - Cost: one pass over the bytes. Nothing is allocated and no value is computed.
//! - Law: lexical forms are checked unchanged. White space is not collapsed first.

mod binary;
mod names;
mod numbers;
mod times;

use crate::model::chars::is_language_tag;

const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";
const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// A datatype with known lexical forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Datatype(&'static DatatypeRule);

/// Name of a datatype, the check of its lexical forms, and a description of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct DatatypeRule {
    name: &'static str,
    check: Check,
    expected: &'static str,
}

/// The check of a lexical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Check {
    Boolean,
    Decimal,
    Float,
    /// An integer between optional bounds.
    Integer(Option<numbers::Bound>, Option<numbers::Bound>),
    Moment(times::DateTimeShape),
    Duration(times::DurationParts),
    Hex,
    Base64,
    Normalized,
    Token,
    Language,
    NmToken,
    Name,
    NcName,
    /// Always invalid: such literals have a language tag, and are not written with a datatype.
    Tagged,
}

impl Datatype {
    /// Returns the datatype with this IRI, if its lexical forms are known and restricted.
    #[must_use]
    pub fn from_iri(iri: &[u8]) -> Option<Self> {
        let (known, local) = match iri.strip_prefix(XSD) {
            Some(local) => (KNOWN, local),
            None => (TAGGED, iri.strip_prefix(RDF)?),
        };
        known
            .iter()
            .find(|known| known.name.as_bytes()[4..] == *local)
            .map(Self)
    }

    /// Name, such as `xsd:integer`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Description of the lexical forms.
    #[must_use]
    pub const fn expected_form(self) -> &'static str {
        self.0.expected
    }

    /// Whether a string of valid UTF-8 is a lexical form of the datatype.
    #[inline]
    #[must_use]
    pub fn allows(self, text: &[u8]) -> bool {
        match self.0.check {
            Check::Boolean => matches!(text, b"true" | b"false" | b"1" | b"0"),
            Check::Decimal => numbers::is_decimal(text),
            Check::Float => numbers::is_float(text),
            Check::Integer(min, max) => numbers::is_integer(text, min, max),
            Check::Moment(shape) => times::is_moment(text, shape),
            Check::Duration(parts) => times::is_duration(text, parts),
            Check::Hex => binary::is_hex(text),
            Check::Base64 => binary::is_base64(text),
            Check::Normalized => !text
                .iter()
                .any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')),
            Check::Token => names::is_token(text),
            Check::Language => is_language_tag(text),
            Check::NmToken => names::is_nmtoken(text),
            Check::Name => names::is_name(text, true),
            Check::NcName => names::is_name(text, false),
            Check::Tagged => false,
        }
    }

    /// Returns all known datatypes.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().chain(TAGGED).map(Self)
    }
}

const fn rule(name: &'static str, check: Check, expected: &'static str) -> DatatypeRule {
    DatatypeRule {
        name,
        check,
        expected,
    }
}

/// An integer between two bounds; an empty string means unbounded.
const fn integer(min: &'static str, max: &'static str) -> Check {
    Check::Integer(numbers::Bound::new(min), numbers::Bound::new(max))
}

const fn moment_check(shape: &'static str) -> Check {
    Check::Moment(times::DateTimeShape::new(shape))
}

/// The datatypes of XML Schema.
static KNOWN: &[DatatypeRule] = &[
    rule(
        "xsd:integer",
        integer("", ""),
        "digits with an optional sign",
    ),
    rule(
        "xsd:decimal",
        Check::Decimal,
        "digits with an optional sign and decimal point",
    ),
    rule(
        "xsd:double",
        Check::Float,
        "a number such as 1.5E3, INF, -INF or NaN",
    ),
    rule(
        "xsd:float",
        Check::Float,
        "a number such as 1.5E3, INF, -INF or NaN",
    ),
    rule("xsd:boolean", Check::Boolean, "true, false, 1 or 0"),
    rule(
        "xsd:dateTime",
        moment_check("YMDT"),
        "a date and time such as 2026-01-31T23:59:59Z",
    ),
    rule(
        "xsd:dateTimeStamp",
        moment_check("YMDTZ"),
        "a date and time with a time zone, such as 2026-01-31T23:59:59Z",
    ),
    rule("xsd:date", moment_check("YMD"), "a date such as 2026-01-31"),
    rule("xsd:time", moment_check("T"), "a time such as 23:59:59"),
    rule("xsd:gYear", moment_check("Y"), "a year such as 2026"),
    rule(
        "xsd:gYearMonth",
        moment_check("YM"),
        "a year and month such as 2026-01",
    ),
    rule("xsd:gMonth", moment_check("M"), "a month such as --01"),
    rule(
        "xsd:gMonthDay",
        moment_check("MD"),
        "a month and day such as --01-31",
    ),
    rule("xsd:gDay", moment_check("D"), "a day such as ---31"),
    rule(
        "xsd:duration",
        Check::Duration(times::DurationParts::All),
        "a duration such as P1Y2M3DT4H5M6.7S",
    ),
    rule(
        "xsd:yearMonthDuration",
        Check::Duration(times::DurationParts::YearsAndMonths),
        "a duration such as P1Y2M",
    ),
    rule(
        "xsd:dayTimeDuration",
        Check::Duration(times::DurationParts::DaysAndTimes),
        "a duration such as P3DT4H5M6.7S",
    ),
    rule(
        "xsd:long",
        integer("-9223372036854775808", "9223372036854775807"),
        "a 64-bit integer",
    ),
    rule(
        "xsd:int",
        integer("-2147483648", "2147483647"),
        "an integer from -2147483648 to 2147483647",
    ),
    rule(
        "xsd:short",
        integer("-32768", "32767"),
        "an integer from -32768 to 32767",
    ),
    rule(
        "xsd:byte",
        integer("-128", "127"),
        "an integer from -128 to 127",
    ),
    rule(
        "xsd:unsignedLong",
        integer("0", "18446744073709551615"),
        "an unsigned 64-bit integer",
    ),
    rule(
        "xsd:unsignedInt",
        integer("0", "4294967295"),
        "an integer from 0 to 4294967295",
    ),
    rule(
        "xsd:unsignedShort",
        integer("0", "65535"),
        "an integer from 0 to 65535",
    ),
    rule(
        "xsd:unsignedByte",
        integer("0", "255"),
        "an integer from 0 to 255",
    ),
    rule(
        "xsd:nonNegativeInteger",
        integer("0", ""),
        "an integer >= 0",
    ),
    rule("xsd:positiveInteger", integer("1", ""), "an integer >= 1"),
    rule(
        "xsd:nonPositiveInteger",
        integer("", "0"),
        "an integer <= 0",
    ),
    rule("xsd:negativeInteger", integer("", "-1"), "an integer <= -1"),
    rule(
        "xsd:hexBinary",
        Check::Hex,
        "an even number of hexadecimal digits",
    ),
    rule(
        "xsd:base64Binary",
        Check::Base64,
        "Base64 with padding, without line breaks",
    ),
    rule(
        "xsd:language",
        Check::Language,
        "a language tag such as de-CH",
    ),
    rule("xsd:Name", Check::Name, "an XML name"),
    rule("xsd:NCName", Check::NcName, "an XML name without a colon"),
    rule(
        "xsd:NMTOKEN",
        Check::NmToken,
        "characters that are allowed in XML names",
    ),
    rule(
        "xsd:token",
        Check::Token,
        "no line breaks or tabs, and no leading, trailing or consecutive spaces",
    ),
    rule(
        "xsd:normalizedString",
        Check::Normalized,
        "no line breaks and no tabs",
    ),
];

/// Datatypes of RDF that require a language tag.
static TAGGED: &[DatatypeRule] = &[
    rule(
        "rdf:langString",
        Check::Tagged,
        "a literal with a language tag",
    ),
    rule(
        "rdf:dirLangString",
        Check::Tagged,
        "a literal with a language tag and a direction",
    ),
];

#[cfg(test)]
mod tests;
