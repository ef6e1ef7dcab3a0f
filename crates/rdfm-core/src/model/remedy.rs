//! Why something failed, and what would help: texts and options apart, so that each surface (Python, the
//! command line, Spark) shows the options as its users write them.

use std::borrow::Cow;
use std::fmt;

/// Who takes an option.
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
    /// The name used everywhere.
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
    /// Who takes it.
    pub side: Side,
    /// Its name in Python, such as `merge_graphs`.
    pub option: &'static str,
    /// The value to give: `true`, a word or a number; words in capitals are for the user to fill in (`IRI`,
    /// `URL=FILE`), and `|` stands between values that all help. None: a larger one than now.
    pub value: Option<Cow<'static, str>>,
    /// The end of the sentence that begins with the option, such as `drops them on purpose`.
    pub text: Cow<'static, str>,
}

impl Remedy {
    /// A larger value of a limit.
    pub const fn limit(option: &'static str) -> Self {
        Self {
            side: Side::Read,
            option,
            value: None,
            text: Cow::Borrowed("if the source is trusted"),
        }
    }

    /// A larger value of an option of the encoder.
    pub const fn larger(option: &'static str) -> Self {
        Self {
            side: Side::Write,
            option,
            value: None,
            text: Cow::Borrowed(""),
        }
    }

    /// A value of an option of the decoder.
    pub const fn read(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Read, option, value, text)
    }

    /// A value of an option of the encoder.
    pub const fn write(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Write, option, value, text)
    }

    /// A value of an option of a stage.
    pub const fn stage(option: &'static str, value: &'static str, text: &'static str) -> Self {
        Self::new(Side::Stage, option, value, text)
    }

    /// The listed deviations, which the decoder takes with `lenient`.
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

/// What would have to be possible. Which formats can do it, the registry knows.
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
    /// Any character in a text, and any IRI as a predicate.
    AnyText,
    /// IRIs that are not absolute, and datatypes of languages without one.
    AnyIri,
    /// Languages that are no language tags.
    AnyLanguage,
    /// Names with prefixes instead of whole IRIs.
    PrefixedNames,
    /// Messages that are not held whole.
    Parts,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Graphs,
        Self::Generalized,
        Self::TripleTermObjects,
        Self::TripleTerms,
        Self::Boundaries,
        Self::AnyText,
        Self::AnyIri,
        Self::AnyLanguage,
        Self::PrefixedNames,
        Self::Parts,
    ];

    /// The name used everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graphs => "graphs",
            Self::Generalized => "generalized",
            Self::TripleTermObjects => "triple_term_objects",
            Self::TripleTerms => "triple_terms",
            Self::Boundaries => "boundaries",
            Self::AnyText => "any_text",
            Self::AnyIri => "any_iri",
            Self::AnyLanguage => "any_language",
            Self::PrefixedNames => "prefixed_names",
            Self::Parts => "parts",
        }
    }
}

/// What is wrong and what was expected, with the options that would help. One pointer wide, so that results
/// stay small.
#[derive(Clone, PartialEq, Eq)]
pub struct Reason(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    text: Cow<'static, str>,
    remedies: Vec<Remedy>,
    lacks: Option<Feature>,
    follows: bool,
}

impl Reason {
    /// A text without remedies.
    #[cold]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Details {
            text: text.into(),
            remedies: Vec::new(),
            lacks: None,
            follows: false,
        }))
    }

    /// A limit of the caller was met, which an option raises.
    #[cold]
    pub fn limit(text: impl Into<Cow<'static, str>>, option: &'static str) -> Self {
        Self::new(text).with(Remedy::limit(option))
    }

    /// With one more remedy.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.0.remedies.push(remedy);
        self
    }

    /// Of something that would have to be possible.
    #[must_use]
    pub fn lacking(mut self, feature: Feature) -> Self {
        self.0.lacks = Some(feature);
        self
    }

    /// Of what may be wrong only because something before it was skipped; `how` says so.
    #[must_use]
    pub fn following(mut self, how: &str) -> Self {
        self.0.text = format!("{} ({how})", self.0.text).into();
        self.0.follows = true;
        self
    }

    /// Of something that lacks a declaration, which may have stood in a message that was skipped.
    #[must_use]
    pub fn perhaps_declared_in(self, skipped: Option<u64>) -> Self {
        match skipped {
            Some(message) => self.following(&format!(
                "it may have been declared in message {message}, which was skipped"
            )),
            None => self,
        }
    }

    /// With what would help against its cause.
    #[must_use]
    pub fn because_of(mut self, cause: &Self) -> Self {
        self.0.remedies.extend_from_slice(&cause.0.remedies);
        self.0.lacks = self.0.lacks.or(cause.0.lacks);
        self
    }

    /// With another text.
    #[must_use]
    pub fn reworded(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.0.text = words(&self.0.text).into();
        self
    }

    /// The text, without the remedies.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The options that would help, the best first.
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// What would have to be possible.
    pub fn lacks(&self) -> Option<Feature> {
        self.0.lacks
    }

    /// Whether it may be wrong only because something before it was skipped.
    pub fn follows(&self) -> bool {
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
    fn remedies_stand_beside_the_text() {
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
    fn another_text_keeps_the_rest() {
        let reason = Reason::from("of a graph")
            .with(Remedy::write("merge_graphs", "true", "drops it"))
            .lacking(Feature::Graphs);
        let reworded = reason.clone().reworded(|text| format!("a name {text}"));
        assert_eq!(reworded.text(), "a name of a graph");
        assert_eq!(reworded.remedies(), reason.remedies());
        assert_eq!(reworded.lacks(), Some(Feature::Graphs));
    }

    #[test]
    fn what_follows_says_so() {
        let reason = Reason::from("not declared").with(Remedy::limit("max_depth"));
        assert!(!reason.follows());
        let following = reason.clone().following("message 3 was skipped");
        assert!(following.follows());
        assert_eq!(following.text(), "not declared (message 3 was skipped)");
        assert_eq!(following.remedies(), reason.remedies());
    }

    #[test]
    fn a_reason_is_as_small_as_a_pointer() {
        assert_eq!(
            size_of::<Option<Reason>>(),
            size_of::<usize>(),
            "it travels in results of hot paths"
        );
    }
}
