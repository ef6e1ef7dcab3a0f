//! Position and cause of a syntax error in a query.
//!
//! - In: a query that the parser rejects, and the error. Out: the position of the first unexpected
//!   word, and a sentence that explains it.
//! - Cost: a binary search that parses part of the text in each step. The search is needed because
//!   the library reports only the last alternative that it tried: the position may be after the
//!   actual error, and the message uses names from the grammar.

use std::ops::Range;

use spargebra::SparqlParser;

use super::parse::QueryError;

/// Number of spaces appended to a prefix of a query. If the prefix can be continued, parsing fails
/// after these spaces. Otherwise it fails at the invalid part, or after it by at most the length of
/// the longest keyword.
const PADDING: usize = 64;
/// Maximum size in bytes of a query that is parsed repeatedly.
const MAX_REPARSED_BYTES: usize = 1 << 16;
/// Maximum length of a word in an error, in characters.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// The library's sentences, and clearer replacements.
const CLEARER_SENTENCES: [(&str, &str); 3] = [
    (
        "the SELECT contains a variable that is unbound",
        "with GROUP BY or an aggregate, SELECT can contain only variables of GROUP BY and aggregates such as SAMPLE(?x)",
    ),
    (
        "duplicated variable name in SELECT",
        "SELECT contains a variable twice",
    ),
    (
        "SELECT * is not authorized with GROUP BY",
        "SELECT * is not allowed with GROUP BY; name the variables",
    ),
];

/// Returns a sentence about the term that is missing before the end of a triple, if `word` ends a
/// triple. `before` contains the preceding words.
fn missing_term(text: &str, before: &[Range<usize>], word: &str) -> Option<String> {
    if !matches!(word, "}" | "." | ";" | ",") {
        return None;
    }
    let is_mark = |word: &&Range<usize>| {
        matches!(
            &text[(*word).clone()],
            "{" | "}" | "." | ";" | "," | "(" | ")" | "[" | "]"
        )
    };
    let terms = before
        .iter()
        .rev()
        .take_while(|word| !is_mark(word))
        .count();
    let mark = before.iter().rev().find(is_mark)?;
    let last = shorten(&text[before.last()?.clone()]);
    let term_count = match &text[mark.clone()] {
        "{" | "." => terms,
        ";" => terms + 1,
        _ => return None,
    };
    match term_count {
        1 => Some(format!("expected a predicate after {last}")),
        2 if terms > 0 => Some(format!("expected an object after {last}")),
        _ => None,
    }
}

/// Finds the position and cause of an error. `error` is the library's message, "error at
/// LINE:COLUMN: EXPECTATION". `is_declared` returns whether a prefix is declared.
pub fn diagnose(
    text: &str,
    error: &str,
    parser: &SparqlParser,
    is_declared: impl Fn(&str) -> bool,
) -> QueryError {
    if text.len() > MAX_REPARSED_BYTES {
        return QueryError::at(
            "there is a syntax error here or a few characters earlier",
            find_location(error).map(|(location, _)| location),
        );
    }
    let words = words(text);
    let open = words.last().filter(|word| is_open(&text[(*word).clone()]));
    if let Some(word) = open {
        return QueryError::at(
            "the string that begins here is not terminated",
            Some(position(text, word.start)),
        );
    }
    let is_valid_start = |count: usize| {
        let end = count.checked_sub(1).map_or(0, |last| words[last].end);
        is_valid_beginning(&text[..end], parser)
    };
    // Find the first word that cannot follow the text before it.
    let (mut valid, mut invalid) = (0, words.len() + 1);
    while invalid - valid > 1 {
        let middle = valid.midpoint(invalid);
        if is_valid_start(middle) {
            valid = middle;
        } else {
            invalid = middle;
        }
    }
    let word = words.get(valid).cloned();
    let start = word.as_ref().map_or(text.len(), |word| word.start);
    let shown = word.map(|word| shorten(&text[word]));
    let reason = match (sentence(error), shown) {
        (_, Some(name)) if prefix(&name).is_some_and(|prefix| !is_declared(prefix)) => {
            let prefix = prefix(&name).unwrap_or_default();
            return QueryError {
                undeclared: Some(prefix.to_owned()),
                ..QueryError::at(
                    format!(
                        "the prefix {prefix}: of {name} is not declared; add PREFIX {prefix}: <...>"
                    ),
                    Some(position(text, start)),
                )
            };
        }
        (_, Some(iri)) if iri.starts_with('<') && iri.ends_with('>') && !iri.contains(':') => {
            format!(
                "{iri} is relative, but the query has no base; write the complete IRI, or add BASE <...>"
            )
        }
        (_, Some(node)) if node.starts_with("_:") => {
            format!("{node} also occurs in another group; use a variable instead")
        }
        (Some("IRI parsing failed"), Some(iri)) if iri.starts_with('<') => {
            format!("{iri} is not a valid IRI")
        }
        (Some("IRI parsing failed" | "Prefix not found"), Some(word)) => {
            format!("'{word}' is not expected here")
        }
        (Some(sentence), _) => {
            let mut text = sentence.to_owned();
            if text.starts_with("The ") || text.starts_with("This ") || text.starts_with("Dup") {
                text[..1].make_ascii_lowercase();
            }
            text
        }
        (None, Some(word)) => match find_overridden(&text[..start]) {
            Some(name) if word == "}" => {
                format!("BIND gives {name} a value, but {name} already has one")
            }
            _ => missing_term(text, &words[..valid], &word)
                .unwrap_or_else(|| format!("'{word}' is not expected here")),
        },
        (None, None) => "the query ends before it is complete".to_owned(),
    };
    // The library reports errors about the entire query at the end of the query.
    let is_whole = ["the SELECT", "SELECT *", "duplicated"]
        .iter()
        .any(|beginning| reason.starts_with(beginning));
    let replacement = CLEARER_SENTENCES
        .iter()
        .find(|(theirs, _)| *theirs == reason);
    QueryError::at(
        replacement.map_or(reason, |(_, ours)| (*ours).to_owned()),
        if is_whole {
            find(text, |word| word.eq_ignore_ascii_case("SELECT"))
        } else {
            Some(position(text, start))
        },
    )
}

/// Returns the position of the only word for which `is_match` is true, or `None` if there is not
/// exactly one.
pub fn find(text: &str, is_match: impl Fn(&str) -> bool) -> Option<(u64, u64)> {
    let words = words(text);
    let mut matches = words.iter().filter(|word| is_match(&text[(*word).clone()]));
    let first = matches.next()?;
    matches
        .next()
        .is_none()
        .then(|| position(text, first.start))
}

/// Returns the variable of a `BIND` at the end of `text`, if the variable also occurs earlier.
fn find_overridden(text: &str) -> Option<&str> {
    let index = text.rfind("BIND").or_else(|| text.rfind("bind"))?;
    let (before, bind) = text.split_at(index);
    let name = bind.trim_end().strip_suffix(')')?.trim_end();
    let name = &name[name.rfind(['?', '$'])?..];
    let is_name = |text: &str| {
        text.chars()
            .all(|character| character.is_alphanumeric() || character == '_')
    };
    let mut occurrences = before.match_indices(name);
    let occurs_earlier = occurrences.any(|(index, _)| {
        let next = before[index + name.len()..].chars().next();
        next.is_none_or(|next| !is_name(next.encode_utf8(&mut [0; 4])))
    });
    (is_name(&name[1..]) && occurs_earlier).then_some(name)
}

/// Whether a string can be the beginning of a query.
fn is_valid_beginning(text: &str, parser: &SparqlParser) -> bool {
    let longer = format!("{text}{}", " ".repeat(PADDING));
    let Err(error) = parser.clone().parse_query(&longer) else {
        return true;
    };
    let error = error.to_string();
    let end = position(&longer, longer.len() - PADDING / 2);
    find_location(&error).is_some_and(|(location, _)| location >= end)
}

/// Splits an error of the library into position and expectation.
fn find_location(error: &str) -> Option<((u64, u64), &str)> {
    let (position, expected) = error.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = position.split_once(':')?;
    Some(((line.parse().ok()?, column.parse().ok()?), expected))
}

/// Returns the part of an error that is a sentence. The other expectations are tokens of the
/// grammar.
fn sentence(error: &str) -> Option<&str> {
    let Some((_, expected)) = find_location(error) else {
        return Some(error);
    };
    let expected = expected.trim_start_matches("expected ");
    let mut parts = expected.trim_start_matches("one of ").split(", ");
    parts.find(|part| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b" *.,!()-".contains(&byte);
        part.contains(' ') && part.bytes().all(is_word)
    })
}

/// Returns the prefix of a prefixed name.
fn prefix(word: &str) -> Option<&str> {
    let (prefix, _) = word.split_once(':')?;
    let is_name = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    (prefix != "_" && prefix.chars().all(is_name)).then_some(prefix)
}

fn shorten(word: &str) -> String {
    let short: String = word.chars().take(MAX_SHOWN_CHARACTERS).collect();
    let rest = if short.len() < word.len() { "…" } else { "" };
    let safe = short.chars().map(|character| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    });
    safe.chain(rest.chars()).collect()
}

/// Returns the line and column of a byte offset, both from 1. Columns are counted in characters.
fn position(text: &str, index: usize) -> (u64, u64) {
    let before = &text[..index];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
    (line, before[line_start..].chars().count() as u64 + 1)
}

/// Splits a query into words: IRIs, strings, brackets, punctuation, and everything in between.
fn words(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        let start = index;
        let rest = &text[index..];
        match bytes[index] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                index += 1;
                continue;
            }
            b'#' => {
                index += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'"' | b'\'' => index += string(rest),
            b'<' => {
                // An IRI or a comparison operator.
                let end = rest.find(['>', ' ', '\n', '"', '{', '}']);
                let iri = end.filter(|end| rest.as_bytes()[*end] == b'>');
                index += iri.map_or(1, |end| end + 1);
            }
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b';' | b'.' => index += 1,
            _ => {
                let ends = |character: char| {
                    character.is_whitespace() || "\"'<(){}[],;#".contains(character)
                };
                index += rest.find(ends).unwrap_or(rest.len()).max(1);
                // A full stop after a name ends the triple.
                if index - start > 1 && bytes[index - 1] == b'.' {
                    index -= 1;
                }
            }
        }
        words.push(start..index);
    }
    words
}

/// Whether a word is an unterminated string.
fn is_open(word: &str) -> bool {
    let quote = word.chars().next().filter(|mark| "\"'".contains(*mark));
    quote.is_some_and(|quote| word.len() < 2 || !word.ends_with(quote))
}

/// Returns the length in bytes of the string at the start of `text`. An unterminated string extends
/// to the end of the line or, if it has long quotes, to the end of the text.
fn string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let long = bytes.starts_with(&[quote; 3]);
    let mut index = if long { 3 } else { 1 };
    while index < bytes.len() {
        match bytes[index] {
            b'\\' => index += 1,
            b'\n' if !long => break,
            byte if byte == quote && (!long || bytes[index..].starts_with(&[quote; 3])) => {
                return index + if long { 3 } else { 1 };
            }
            _ => {}
        }
        index += 1;
    }
    // An escape at the end of the text may have moved the position past the end.
    (index.min(bytes.len())..=bytes.len())
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(bytes.len())
}
