//! Reasons for errors, and options that would help. Reasons and options are separate, so that
//! Python, the command line and Spark can each show options in their own notation.

use std::borrow::Cow;
use std::fmt;

/// The component that accepts an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The decoder.
    Read,
    /// The encoder.
    Write,
    /// A stage above the codecs, such as the conversion or the output.
    Stage,
}

impl Side {
    /// Name, the same in every interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Stage => "stage",
        }
    }
}

/// An option that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The component that accepts the option.
    pub side: Side,
    /// Name in Python, such as `merge_graphs`.
    pub option: &'static str,
    /// Value to pass: `true`, a word or a number. Words in capitals are placeholders (`IRI`,
    /// `URL=FILE`), and `|` separates alternative values. `None` means a larger value than the
    /// current one.
    pub value: Option<Cow<'static, str>>,
    /// The end of a sentence that begins with the option, such as `drops graph names`.
    pub text: Cow<'static, str>,
}

impl Remedy {
    /// Suggests a higher limit.
    pub const fn limit(option: &'static str) -> Self {
        Self {
            side: Side::Read,
            option,
            value: None,
            text: Cow::Borrowed("if the source is trusted"),
        }
    }

    /// Suggests a larger value of an encoder option.
    pub const fn larger(option: &'static str) -> Self {
        Self {
            side: Side::Write,
            option,
            value: None,
            text: Cow::Borrowed(""),
        }
    }

    /// Suggests a value of a decoder option.
    pub const fn read(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Read, option, value, text)
    }

    /// Suggests a value of an encoder option.
    pub const fn write(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Write, option, value, text)
    }

    /// Suggests a value of an option of a stage.
    pub const fn stage(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Stage, option, value, text)
    }

    /// Suggests `lenient`, with which the decoder accepts documented deviations.
    pub const fn lenient(text: &'static str) -> Self {
        Self::read("lenient", "true", text)
    }

    const fn new(
        side: Side,
        option: &'static str,
        value: &'static str,
        text: &'static str,
    ) -> Self {
        Self {
            side,
            option,
            value: Some(Cow::Borrowed(value)),
            text: Cow::Borrowed(text),
        }
    }
}

/// Returns an encoder option for use within the text of a reason. Marks around the option let every
/// interface show it in its own notation.
pub fn mark_option(option: &str, value: &str) -> String {
    format!("\u{1f}write {option} {value}\u{1f}")
}

/// A feature that a format may lack. The registry knows which formats have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Graph names.
    Graphs,
    /// Literals and blank nodes in every position.
    Generalized,
    /// Triple terms as objects.
    TripleTermObjects,
    /// Triple terms in any position.
    TripleTerms,
    /// More than one message.
    Boundaries,
    /// Any character in a string, and any IRI as a predicate.
    AnyText,
    /// Absolute IRIs that RFC 3987 does not allow, such as `http://e/a[1]`.
    InvalidIri,
    /// Any string as an IRI, and language datatypes without a language.
    AnyIri,
    /// Language strings that are not valid language tags.
    AnyLanguage,
    /// Prefixed names instead of full IRIs.
    PrefixedNames,
    /// Messages in parts, which are not in memory all at once.
    Parts,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 11] = [
        Self::Graphs,
        Self::Generalized,
        Self::TripleTermObjects,
        Self::TripleTerms,
        Self::Boundaries,
        Self::AnyText,
        Self::InvalidIri,
        Self::AnyIri,
        Self::AnyLanguage,
        Self::PrefixedNames,
        Self::Parts,
    ];

    /// Name, the same in every interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graphs => "graphs",
            Self::Generalized => "generalized",
            Self::TripleTermObjects => "triple_term_objects",
            Self::TripleTerms => "triple_terms",
            Self::Boundaries => "boundaries",
            Self::AnyText => "any_text",
            Self::InvalidIri => "invalid_iri",
            Self::AnyIri => "any_iri",
            Self::AnyLanguage => "any_language",
            Self::PrefixedNames => "prefixed_names",
            Self::Parts => "parts",
        }
    }
}

/// The cause of an error and what was expected, with options that would help. As small as one
/// pointer, so that results stay small.
#[derive(Clone, PartialEq, Eq)]
pub struct Reason(Box<ReasonDetails>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ReasonDetails {
    text: Cow<'static, str>,
    remedies: Vec<Remedy>,
    missing_feature: Option<Feature>,
    follows: bool,
}

impl Reason {
    /// Creates a reason without remedies.
    #[cold]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ReasonDetails {
            text: text.into(),
            remedies: Vec::new(),
            missing_feature: None,
            follows: false,
        }))
    }

    /// Creates a reason for exceeding a limit that the option can raise.
    #[cold]
    pub fn limit(text: impl Into<Cow<'static, str>>, option: &'static str) -> Self {
        Self::new(text).with(Remedy::limit(option))
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.0.remedies.push(remedy);
        self
    }

    /// Removes the remedies of an option, which would not help.
    #[must_use]
    pub fn without(mut self, option: &str) -> Self {
        self.0.remedies.retain(|remedy| remedy.option != option);
        self
    }

    /// Sets the missing feature.
    #[must_use]
    pub fn lacking(mut self, feature: Feature) -> Self {
        self.0.missing_feature = Some(feature);
        self
    }

    /// Marks the reason as a possible consequence of skipped input; `how` is added to the text.
    #[must_use]
    pub fn with_possible_cause(mut self, how: &str) -> Self {
        self.0.text = format!("{} ({how})", self.0.text).into();
        self.0.follows = true;
        self
    }

    /// Marks a missing declaration that a skipped message may have contained.
    #[must_use]
    pub fn perhaps_declared_in(self, skipped: Option<u64>) -> Self {
        match skipped {
            Some(message) => self.with_possible_cause(&format!(
                "it may have been declared in message {message}, which was skipped"
            )),
            None => self,
        }
    }

    /// Adds the remedies and the missing feature of the cause.
    #[must_use]
    pub fn because_of(mut self, cause: &Self) -> Self {
        self.0.remedies.extend_from_slice(&cause.0.remedies);
        self.0.missing_feature = self.0.missing_feature.or(cause.0.missing_feature);
        self
    }

    /// Replaces the text.
    #[must_use]
    pub fn with_rewording(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.0.text = words(&self.0.text).into();
        self
    }

    /// The text, without the remedies.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Options that would help, the best first.
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// The missing feature.
    pub fn missing_feature(&self) -> Option<Feature> {
        self.0.missing_feature
    }

    /// Whether the error may be a consequence of skipped input.
    pub fn may_follow_from_skipping(&self) -> bool {
        self.0.follows
    }
}

impl fmt::Display for Reason {
    /// The text, without the remedies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::new(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_separate_from_the_text() {
        let reason = Reason::from("too deep")
            .with(Remedy::limit("max_depth"))
            .with(Remedy::lenient("accepts it"));
        assert_eq!(reason.to_string(), "too deep");
        let options: Vec<_> = reason.remedies().iter().map(|r| r.option).collect();
        assert_eq!(options, ["max_depth", "lenient"]);
        assert_eq!(reason.remedies()[0].value, None);
        assert_eq!(reason.remedies()[1].value.as_deref(), Some("true"));
        assert_ne!(reason, Reason::from("too deep"));
    }

    #[test]
    fn rewording_keeps_remedies_and_features() {
        let reason = Reason::from("of a graph")
            .with(Remedy::write("merge_graphs", "true", "drops it"))
            .lacking(Feature::Graphs);
        let reworded = reason
            .clone()
            .with_rewording(|text| format!("a name {text}"));
        assert_eq!(reworded.text(), "a name of a graph");
        assert_eq!(reworded.remedies(), reason.remedies());
        assert_eq!(reworded.missing_feature(), Some(Feature::Graphs));
    }

    #[test]
    fn consequences_of_skipped_input_are_marked() {
        let reason = Reason::from("not declared").with(Remedy::limit("max_depth"));
        assert!(!reason.may_follow_from_skipping());
        let following = reason.clone().with_possible_cause("message 3 was skipped");
        assert!(following.may_follow_from_skipping());
        assert_eq!(following.text(), "not declared (message 3 was skipped)");
        assert_eq!(following.remedies(), reason.remedies());
    }

    #[test]
    fn a_reason_is_as_small_as_a_pointer() {
        assert_eq!(
            size_of::<Option<Reason>>(),
            size_of::<usize>(),
            "it is part of results in hot paths"
        );
    }
}
