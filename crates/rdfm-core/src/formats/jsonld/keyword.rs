//! The keywords of JSON-LD (JSON-LD 1.1, section 1.7 "Syntax Tokens and Keywords").

/// A keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Base,
    Container,
    Context,
    Direction,
    Graph,
    Id,
    Import,
    Included,
    Index,
    Json,
    Language,
    List,
    Nest,
    None,
    Prefix,
    Propagate,
    Protected,
    Reverse,
    Set,
    Type,
    Value,
    Version,
    Vocab,
}

impl Keyword {
    /// Returns the keyword with this text. The most frequent ones are compared first.
    #[inline]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        Self::from_name(text.strip_prefix(b"@")?)
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"id" => Self::Id,
            b"type" => Self::Type,
            b"value" => Self::Value,
            b"language" => Self::Language,
            b"graph" => Self::Graph,
            b"base" => Self::Base,
            b"container" => Self::Container,
            b"context" => Self::Context,
            b"direction" => Self::Direction,
            b"import" => Self::Import,
            b"included" => Self::Included,
            b"index" => Self::Index,
            b"json" => Self::Json,
            b"list" => Self::List,
            b"nest" => Self::Nest,
            b"none" => Self::None,
            b"prefix" => Self::Prefix,
            b"propagate" => Self::Propagate,
            b"protected" => Self::Protected,
            b"reverse" => Self::Reverse,
            b"set" => Self::Set,
            b"version" => Self::Version,
            b"vocab" => Self::Vocab,
            _ => return None,
        })
    }
}

/// Whether a string has the form of a keyword. Strings of this form that are not keywords are
/// reserved and have no meaning.
pub(super) fn has_keyword_form(text: &[u8]) -> bool {
    text.strip_prefix(b"@")
        .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_alphabetic))
}
