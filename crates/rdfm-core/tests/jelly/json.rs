//! A small JSON reader for the suites' manifests.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(usize),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

impl Json {
    pub fn parse(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        value(&chars, &mut at)
    }

    pub fn get(&self, key: &str) -> &Self {
        match self {
            Self::Map(map) => map.get(key).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    pub fn number(&self) -> usize {
        match self {
            Self::Number(number) => *number,
            _ => usize::MAX,
        }
    }

    pub fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }
}

fn space(chars: &[char], at: &mut usize) {
    while chars[*at].is_whitespace() {
        *at += 1;
    }
}

fn value(chars: &[char], at: &mut usize) -> Json {
    space(chars, at);
    match chars[*at] {
        '{' => {
            let mut map = BTreeMap::new();
            *at += 1;
            loop {
                space(chars, at);
                match chars[*at] {
                    '}' => break,
                    ',' => *at += 1,
                    _ => {
                        let key = string(chars, at);
                        space(chars, at);
                        *at += 1;
                        map.insert(key, value(chars, at));
                    }
                }
            }
            *at += 1;
            Json::Map(map)
        }
        '[' => {
            let mut list = Vec::new();
            *at += 1;
            loop {
                space(chars, at);
                match chars[*at] {
                    ']' => break,
                    ',' => *at += 1,
                    _ => list.push(value(chars, at)),
                }
            }
            *at += 1;
            Json::List(list)
        }
        '"' => Json::Text(string(chars, at)),
        _ => {
            let start = *at;
            while *at < chars.len() && (chars[*at].is_alphanumeric() || "+-.".contains(chars[*at]))
            {
                *at += 1;
            }
            match chars[start..*at].iter().collect::<String>().as_str() {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                number => Json::Number(number.parse().unwrap()),
            }
        }
    }
}

fn string(chars: &[char], at: &mut usize) -> String {
    let mut out = String::new();
    *at += 1;
    loop {
        match chars[*at] {
            '"' => break,
            '\\' => {
                *at += 1;
                match chars[*at] {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'u' => {
                        let code: String = chars[*at + 1..*at + 5].iter().collect();
                        let code = u32::from_str_radix(&code, 16).unwrap();
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                        *at += 4;
                    }
                    other => out.push(other),
                }
            }
            other => out.push(other),
        }
        *at += 1;
    }
    *at += 1;
    out
}
