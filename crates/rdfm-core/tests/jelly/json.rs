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
        let mut index = 0;
        value(&chars, &mut index)
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

fn space(chars: &[char], index: &mut usize) {
    while chars[*index].is_whitespace() {
        *index += 1;
    }
}

fn value(chars: &[char], index: &mut usize) -> Json {
    space(chars, index);
    match chars[*index] {
        '{' => {
            let mut map = BTreeMap::new();
            *index += 1;
            loop {
                space(chars, index);
                match chars[*index] {
                    '}' => break,
                    ',' => *index += 1,
                    _ => {
                        let key = string(chars, index);
                        space(chars, index);
                        *index += 1;
                        map.insert(key, value(chars, index));
                    }
                }
            }
            *index += 1;
            Json::Map(map)
        }
        '[' => {
            let mut list = Vec::new();
            *index += 1;
            loop {
                space(chars, index);
                match chars[*index] {
                    ']' => break,
                    ',' => *index += 1,
                    _ => list.push(value(chars, index)),
                }
            }
            *index += 1;
            Json::List(list)
        }
        '"' => Json::Text(string(chars, index)),
        _ => {
            let start = *index;
            while *index < chars.len()
                && (chars[*index].is_alphanumeric() || "+-.".contains(chars[*index]))
            {
                *index += 1;
            }
            match chars[start..*index].iter().collect::<String>().as_str() {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                number => Json::Number(number.parse().unwrap()),
            }
        }
    }
}

fn string(chars: &[char], index: &mut usize) -> String {
    let mut out = String::new();
    *index += 1;
    loop {
        match chars[*index] {
            '"' => break,
            '\\' => {
                *index += 1;
                match chars[*index] {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'u' => {
                        let code: String = chars[*index + 1..*index + 5].iter().collect();
                        let code = u32::from_str_radix(&code, 16).unwrap();
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                        *index += 4;
                    }
                    other => out.push(other),
                }
            }
            other => out.push(other),
        }
        *index += 1;
    }
    *index += 1;
    out
}
