//! JSON as a tree, read by the parser of the oracle.
//!
//! - In: JSON text.
//! - Out: [`Json`], with numbers as they are written; its `Display` is JSON text again.
//! - Law: what is not JSON, says a key twice, or is nested deeper than [`MAX_DEPTH`] gives none.

use std::fmt;

use json_event_parser::{JsonEvent, SliceJsonParser};

/// Deepest nesting that is read.
pub const MAX_DEPTH: usize = 80;

/// Members of an object, in order.
pub type Members = Vec<(String, Json)>;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object, its keys apart from each other.
    Object(Members),
}

impl Json {
    /// The value of a text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut parser = SliceJsonParser::new(text);
        // Open arrays and objects, each with the key that waits for its value.
        let mut open: Vec<(Self, Option<String>)> = Vec::new();
        let mut root = None;
        loop {
            let value = match parser.parse_next().ok()? {
                JsonEvent::String(text) => Self::String(text.into_owned()),
                JsonEvent::Number(text) => Self::Number(text.into_owned()),
                JsonEvent::Boolean(value) => Self::Bool(value),
                JsonEvent::Null => Self::Null,
                JsonEvent::StartArray => {
                    open.push((Self::Array(Vec::new()), None));
                    continue;
                }
                JsonEvent::StartObject => {
                    open.push((Self::Object(Vec::new()), None));
                    continue;
                }
                JsonEvent::ObjectKey(text) => {
                    open.last_mut()?.1 = Some(text.into_owned());
                    continue;
                }
                JsonEvent::EndArray | JsonEvent::EndObject => open.pop()?.0,
                JsonEvent::Eof => return root,
            };
            if open.len() > MAX_DEPTH {
                return None;
            }
            match open.last_mut() {
                None => root = Some(value),
                Some((Self::Array(items), _)) => items.push(value),
                Some((Self::Object(members), key)) => {
                    let key = key.take()?;
                    if members.iter().any(|(other, _)| *other == key) {
                        return None;
                    }
                    members.push((key, value));
                }
                Some(_) => return None,
            }
        }
    }

    /// A string.
    pub fn string(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The members of an object; none of anything else.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let found = self.members().iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// The items of an array; anything else is the only item.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            one => std::slice::from_ref(one),
        }
    }

    /// What arrays within arrays hold, without them.
    pub fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Array(items) => items.iter().flat_map(Self::flat).collect(),
            one => vec![one],
        }
    }

    /// Whether it is a string, a number or a boolean.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::String(_) | Self::Number(_) | Self::Bool(_))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_string(text, f),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at > 0 { "," } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    f.write_str(if at > 0 { "," } else { "" })?;
                    write_string(key, f)?;
                    f.write_str(":")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back() {
        let text = r#"{"a":[1.50,{"b":null},"\u0001\"\\é"],"c":[true,false,{}]}"#;
        assert_eq!(Json::parse(text.as_bytes()).unwrap().to_string(), text);
    }

    #[test]
    fn what_is_ambiguous_or_no_json_gives_none() {
        for text in ["", "{", r#"{"a":1,"a":2}"#, "[1,]", "1 2", "\"\u{1}\""] {
            assert_eq!(Json::parse(text.as_bytes()), None, "{text}");
        }
        let deep = "[".repeat(MAX_DEPTH + 2) + &"]".repeat(MAX_DEPTH + 2);
        assert_eq!(Json::parse(deep.as_bytes()), None);
    }
}
