//! The law of the two YAML readers: both create the same tapes.

use rdfm_core::formats::jsonld::yaml::block::BlockComposer;
use rdfm_core::formats::jsonld::yaml::compose::Composer;
use rdfm_core::formats::jsonld::yaml::stream::{DocumentSearch, NextDocument};
use rdfm_core::syntax::json::{Bounds, Tape};

use crate::mutate::{Random, mutate_with};

/// Tokens that are significant in YAML.
const TOKENS: &[&str] = &[
    "\n",
    "\n\n",
    "\r\n",
    "\n  ",
    "\n    ",
    " ",
    "  ",
    "\t",
    "- ",
    "-",
    "\n- ",
    "\n  - ",
    "- - ",
    ":",
    ": ",
    ":\n",
    "? ",
    "'",
    "''",
    "\"",
    "\"\"",
    "#",
    " # x",
    "\\",
    "\\n",
    "\\\"",
    "\\x41",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\U0001F600",
    "{}",
    "[]",
    "{a: 1}",
    "[a, b]",
    ",",
    "|\n",
    ">-\n",
    "&a ",
    "*a",
    "!!str ",
    "!",
    "%",
    "@",
    "`",
    "~",
    "null",
    "true",
    "-1",
    "0x1F",
    "1.5e3",
    ".inf",
    "012",
    "<<",
    "---",
    "---\n",
    "--- ",
    "...",
    "...\n",
    "a: 1\n",
    "\u{e9}",
    "\u{80}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ff0c}",
    "\u{1f600}",
    "\0",
    "\u{7f}",
];

/// Applies random changes to a YAML text.
pub fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let tokens = TOKENS.iter().map(|token| token.as_bytes());
    mutate_with(random, input, &tokens.collect::<Vec<_>>())
}

/// The block reader creates the same tape as the event parser for each document in a log, or leaves
/// the document to the event parser. The limits are derived from the bytes. Returns the number of
/// documents that the block reader handled, and the number of those that it left.
pub fn block_reader_equals_event_parser(data: &[u8]) -> (usize, usize) {
    let mut random = Random::from_data(data);
    let mut bounds = Bounds {
        max_depth: 100,
        max_bytes: 1 << 20,
        max_repeated: 1 << 20,
        duplicates: random.next_below(2) == 0,
    };
    if random.next_below(4) == 0 {
        bounds.max_depth = [1, 2, 3, 4, 5][random.next_below(5)];
    }
    if random.next_below(4) == 0 {
        bounds.max_bytes = random.next_below(1000) as u64;
    }
    let (mut block, mut composer) = (BlockComposer::default(), Composer::default());
    let (mut actual, mut expected) = (Tape::new(), Tape::new());
    let (mut block_documents, mut other_documents) = (0, 0);
    let mut search = DocumentSearch::default();
    let mut start = 0;
    while let NextDocument::Document { end, .. } = search.next(data, true) {
        let document = &data[start..end];
        start = end;
        let Ok(text) = std::str::from_utf8(document) else {
            continue;
        };
        if block.compose(text, &mut actual, &bounds).is_none() {
            other_documents += 1;
            continue;
        }
        block_documents += 1;
        let result = composer.compose_events(text, &mut expected, &bounds);
        assert_eq!(result, Ok(true), "{text:?}, {bounds:?}");
        let parts = |tape: &Tape| {
            let counts = (tape.deepest(), tape.depth(), tape.bytes());
            (tape.texts().to_vec(), tape.has_contexts(), counts)
        };
        assert_eq!(actual.nodes(), expected.nodes(), "{text:?}");
        assert_eq!(parts(&actual), parts(&expected), "{text:?}");
    }
    (block_documents, other_documents)
}
