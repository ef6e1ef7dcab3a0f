//! Reads JSON texts that are identical to an earlier text, except for some strings and numbers.
//!
//! - In: a JSON text. Out: its tape, if the text has the form of the template.
//! - Cost: the fixed parts are compared, only the other values are parsed, and nodes are changed
//!   only if they moved. Memory is limited by [`MAX_BYTES`].
//! - Law: the tape equals that of the parser, except that [`View::raw`] may find no text. A text
//!   with escapes or control characters does not match.

use super::parse::{find_number_end, plain_end};
use super::survey::Survey;
use super::tape::{JsonKind, Node, Tape, View};
use crate::syntax::cache::starts_with;

/// Maximum length of the text of a template.
const MAX_BYTES: usize = 1 << 14;

/// The form of a text, and the tape of the last text of this form.
pub struct Template {
    tape: Tape,
    /// The fixed parts, concatenated.
    fixed: Vec<u8>,
    /// Number of quotes in the fixed parts.
    quotes: usize,
    /// End of the first fixed part.
    first: u32,
    gaps: Vec<Gap>,
    /// Length of the text that the tape describes.
    length: u32,
}

/// A value that differs between texts.
struct Gap {
    node: u32,
    is_number: bool,
    /// End of the fixed part after the value.
    fixed: u32,
}

impl Template {
    /// Whether a surveyed text is suitable for a template: it is not too long and contains no
    /// escapes, contexts or replaced keys.
    pub fn is_suitable(view: &View<'_>, survey: &Survey) -> bool {
        let mut nodes = view.tape.nodes().iter();
        view.source.len() <= MAX_BYTES
            && is_plain(survey)
            && !view.tape.has_contexts()
            && !nodes.any(|node| node.owned || node.replaced)
    }

    /// Creates a template from a [suitable](Self::is_suitable) text. The strings and numbers
    /// for which `varies` is true differ between texts. Returns `None` if there are none.
    pub fn new(view: &View<'_>, survey: &Survey, varies: impl Fn(u32) -> bool) -> Option<Self> {
        let source = view.source;
        let nodes = view.tape.nodes();
        let mut tape = view.tape.clone();
        let mut fixed = Vec::new();
        let mut gaps: Vec<Gap> = Vec::new();
        let (mut first, mut last) = (0, 0);
        for (number, node) in nodes.iter().enumerate() {
            if node.is_container() {
                tape.nodes.get_mut(number)?.text = 0;
            }
            let is_number = node.kind == JsonKind::Number;
            if !(is_number || node.kind == JsonKind::String) || !varies(number as u32) {
                continue;
            }
            fixed.extend_from_slice(source.get(last as usize..node.text as usize)?);
            match gaps.last_mut() {
                Some(gap) => gap.fixed = fixed.len() as u32,
                None => first = fixed.len() as u32,
            }
            gaps.push(Gap {
                node: number as u32,
                is_number,
                fixed: 0,
            });
            last = node.text + node.length;
        }
        fixed.extend_from_slice(source.get(last as usize..)?);
        gaps.last_mut()?.fixed = fixed.len() as u32;
        Some(Self {
            tape,
            fixed,
            quotes: survey.quotes,
            first,
            gaps,
            length: source.len() as u32,
        })
    }

    /// Reads a surveyed text into the tape. Returns `None` if the text has another form.
    #[inline]
    pub fn read(&mut self, source: &[u8], survey: &Survey) -> Option<()> {
        let first = self.fixed.get(..self.first as usize)?;
        // If all quotes are in the fixed parts, a string extends to the next fixed part.
        if survey.quotes != self.quotes || !is_plain(survey) || !starts_with(source, first) {
            return None;
        }
        let (mut index, mut fixed, mut next) = (first.len(), first.len(), 0);
        for gap in &self.gaps {
            let part = self.fixed.get(fixed..gap.fixed as usize)?;
            let nodes = self.tape.nodes.get_mut(next..=gap.node as usize)?;
            let value = nodes.last_mut()?;
            let follows = |end: usize| {
                source
                    .get(end..)
                    .is_some_and(|rest| starts_with(rest, part))
            };
            let mut end = index + value.length as usize;
            if gap.is_number || !follows(end) {
                end = if gap.is_number {
                    find_number_end(source, index).ok()?
                } else {
                    plain_end::<false, false>(source, index)
                };
                if !follows(end) {
                    return None;
                }
                value.length = (end - index) as u32;
            }
            let shift = (index as u32).wrapping_sub(value.text);
            move_by(shift, nodes);
            (fixed, next) = (gap.fixed as usize, gap.node as usize + 1);
            index = end + part.len();
        }
        if index != source.len() {
            return None;
        }
        let shift = (index as u32).wrapping_sub(self.length);
        move_by(shift, self.tape.nodes.get_mut(next..)?);
        self.length = index as u32;
        Some(())
    }

    /// The tape of the last text that was read.
    #[inline]
    pub fn tape(&self) -> &Tape {
        &self.tape
    }
}

/// Whether a text contains neither escapes nor control characters.
fn is_plain(survey: &Survey) -> bool {
    !survey.has_controls && !survey.has_backslashes
}

/// Changes the positions of nodes.
#[inline]
fn move_by(shift: u32, nodes: &mut [Node]) {
    if shift == 0 {
        return;
    }
    for node in nodes {
        node.index = node.index.wrapping_add(shift);
        if !node.is_container() {
            node.text = node.text.wrapping_add(shift);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::syntax::json::{Bounds, parse};

    const BOUNDS: Bounds = Bounds {
        max_depth: 64,
        max_bytes: 1 << 20,
        max_repeated: 1 << 20,
        duplicates: false,
    };

    /// The nodes of a tape, without the ends of objects and arrays.
    fn nodes(tape: &Tape) -> Vec<Node> {
        let mut nodes = tape.nodes().to_vec();
        for node in &mut nodes {
            if node.is_container() {
                node.text = 0;
            }
        }
        nodes
    }

    #[test]
    fn a_template_produces_the_same_tapes_as_the_parser() {
        let first = r#" {"a":"x", "b":[1,{"":"yy"},true,null,[],-2.5e1] ,"c":{"a":"fixed"}}"#;
        let mut tape = Tape::new();
        parse(first.as_bytes(), &mut tape, &BOUNDS).unwrap();
        let view = View {
            tape: &tape,
            source: first.as_bytes(),
        };
        let fixed = (0..tape.nodes().len() as u32).find(|&node| view.text(node) == b"fixed");
        let mut template = Template::new(&view, &Survey::new(first.as_bytes()), |node| {
            Some(node) != fixed
        })
        .unwrap();
        let same_form = [
            first,
            r#" {"a":"", "b":[17,{"":"a longer text than before, é"},true,null,[],0] ,"c":{"a":"fixed"}}"#,
            r#" {"a":"xyz", "b":[1.25,{"":"yy"},true,null,[],1] ,"c":{"a":"fixed"}}"#,
        ];
        let other_forms = [
            r#" {"a":"x", "b":[1,{"":"\n"},true,null,[],0] ,"c":{"a":"fixed"}}"#,
            r#" {"a":"xyz", "b":[1,{"":"yy"},true,null,[],-] ,"c":{"a":"fixed"}}"#,
            r#" {"a":"xyz", "b":[01,{"":"yy"},true,null,[],1] ,"c":{"a":"fixed"}}"#,
            r#" {"a":"xyz", "b":[1,{"":"yy"},true,null,[],1] ,"c":{"a":"other"}}"#,
            r#" {"a":"xyz", "b":[1,{"":"yy"},true,null,[],1] ,"c":{"a":"fixed"}} "#,
            r#" {"a":"xyz", "b":[1,{"":"yy"},true,null,[],1] ,"c":{"a":"fixed"}"#,
            r#" {"a":"xyz", "b":[1,{"":"yy"},true,null,[1],1] ,"c":{"a":"fixed"}}"#,
            " {\"a\":\"\t\", \"b\":[1,{\"\":\"\"},true,null,[],1] ,\"c\":{\"a\":\"fixed\"}}",
            "",
        ];
        // A text of another form may have changed a part of the tape.
        for other in other_forms {
            let read = template.read(other.as_bytes(), &Survey::new(other.as_bytes()));
            assert!(read.is_none(), "{other}");
            for text in same_form {
                let read = template.read(text.as_bytes(), &Survey::new(text.as_bytes()));
                assert!(read.is_some(), "{text}");
                parse(text.as_bytes(), &mut tape, &BOUNDS).unwrap();
                assert_eq!(nodes(template.tape()), nodes(&tape), "{text}");
            }
        }
    }

    #[test]
    fn unusual_texts_have_no_template() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_BYTES));
        for text in [
            r#"{"a":"\n"}"#,
            r#"{"a":{"@context":{}}}"#,
            "{\"a\":\t1}",
            &long,
        ] {
            let mut tape = Tape::new();
            parse(text.as_bytes(), &mut tape, &BOUNDS).unwrap();
            let view = View {
                tape: &tape,
                source: text.as_bytes(),
            };
            assert!(
                !Template::is_suitable(&view, &Survey::new(text.as_bytes())),
                "{text}"
            );
        }
    }
}
