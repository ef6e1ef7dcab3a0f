//! The tape: values and keys of one JSON text, one after the other.
//!
//! - In: the events of a parser: starts and ends of objects and arrays, keys, scalars, each with the
//!   position in the source where it begins.
//! - Out: [`Node`]s, read through a [`View`] that knows the source.
//! - Cost: 16 bytes a node. A string without escapes is a range of the source; others lie in the tape.
//! - Law: of an object, keys and values alternate; [`View::next`] jumps over a whole value.

use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Reason, Remedy};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object; its keys and values follow, up to `next`.
    Object,
    /// An array; its values follow, up to `next`.
    Array,
    /// A key of an object; its value follows.
    Key,
    /// A string.
    String,
    /// A number, as it is written.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
}

/// A value or a key.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its text lies in the tape, since the source holds it in another form.
    owned: bool,
    /// A key that stands again behind it in the object, where only the last one counts.
    replaced: bool,
    /// Where in the source it begins.
    pub at: u32,
    /// Where its text begins; of an object or array, the byte of the source behind it.
    text: u32,
    /// Length of its text; of an object or array, the node behind it and all that it holds.
    length: u32,
}

impl Node {
    const fn holds_others(self) -> bool {
        matches!(self.kind, Kind::Object | Kind::Array)
    }
}

/// What stops a parser, and where in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte of the source.
    pub at: usize,
    /// What a caller can do.
    pub class: ErrorClass,
    /// What is wrong.
    pub reason: Reason,
}

/// Bounds of a tape.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Deepest nesting of objects and arrays.
    pub max_depth: u32,
    /// Most bytes that the tape may take.
    pub max_bytes: u64,
    /// Most bytes of it that may repeat values, which stand in the source once.
    pub max_repeated: u64,
    /// Accept a key twice in an object: the last one counts.
    pub duplicates: bool,
}

/// One JSON text.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    /// How many nodes there may be before the bytes are counted again.
    unchecked: usize,
    texts: Vec<u8>,
    /// Bytes of texts that stand for more than one node, each time but the first.
    repeated_texts: usize,
    /// Bytes of nodes and texts that repeat others.
    repeated: usize,
    /// Objects and arrays that are not ended, and how many marks there were.
    open: Vec<(u32, u32, Kind)>,
    /// Most objects and arrays that were open together.
    deepest: usize,
    /// What tells most keys of the open objects apart.
    marks: Vec<u64>,
    contexts: bool,
    /// Keys of an object, to be sorted.
    keys: Vec<u32>,
}

/// Up to so many keys are compared each with each.
const FEW_KEYS: usize = 12;

impl Tape {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.unchecked = 0;
        self.texts.clear();
        self.repeated_texts = 0;
        self.repeated = 0;
        self.open.clear();
        self.deepest = 0;
        self.marks.clear();
        self.contexts = false;
    }

    /// The nodes, in document order.
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The texts that are not in the source as they are, one behind the other.
    #[inline]
    pub fn texts(&self) -> &[u8] {
        &self.texts
    }

    /// Whether an object holds the key `@context`.
    #[inline]
    pub fn has_contexts(&self) -> bool {
        self.contexts
    }

    /// How deep objects and arrays nest.
    #[inline]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// How many objects and arrays are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The innermost object or array that is open.
    #[inline]
    pub fn innermost(&self) -> Option<Kind> {
        self.open.last().map(|(_, _, kind)| *kind)
    }

    /// Begins an object or an array.
    ///
    /// # Errors
    /// It would be too deep, or the tape too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn start(&mut self, kind: Kind, at: usize, bounds: &Bounds) -> Result<(), ParseError> {
        if self.open.len() >= bounds.max_depth as usize {
            return Err(too_deep(at, bounds));
        }
        self.open
            .push((self.nodes.len() as u32, self.marks.len() as u32, kind));
        self.deepest = self.deepest.max(self.open.len());
        self.push(kind, false, at, 0, 0, bounds)
    }

    /// Ends the innermost object or array before byte `end` of the source. Does nothing if none is open.
    ///
    /// # Errors
    /// A key stands twice in the object, and `bounds` do not allow it. The source must be the one that
    /// borrowed texts lie in.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn end(&mut self, end: usize, source: &[u8], bounds: &Bounds) -> Result<(), ParseError> {
        let Some((open, marks, _)) = self.open.pop() else {
            return Ok(());
        };
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(open as usize) {
            node.length = next;
            node.text = end as u32;
        }
        let own = self.marks.get(marks as usize..).unwrap_or_default();
        let twice = own.len() > 1 && (own.len() > FEW_KEYS || has_equal(own));
        self.marks.truncate(marks as usize);
        if twice {
            return self.look_at_keys(open, source, bounds);
        }
        Ok(())
    }

    /// Takes note of a key that was added, by its mark.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    fn note_key(&mut self, mark: u64) {
        self.contexts |= mark == CONTEXT;
        self.marks.push(mark);
    }

    /// Adds a key whose text is a range of the source.
    ///
    /// # Errors
    /// The tape would be too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn borrowed_key(
        &mut self,
        at: usize,
        range: std::ops::Range<usize>,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        self.note_key(mark_in(source, &range));
        self.push(Kind::Key, false, at, range.start, range.len(), bounds)
    }

    /// Adds a string or a number whose text is a range of the source.
    ///
    /// # Errors
    /// The tape would be too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn borrowed(
        &mut self,
        kind: Kind,
        at: usize,
        range: std::ops::Range<usize>,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        self.push(kind, false, at, range.start, range.len(), bounds)
    }

    /// Adds a key, a string or a number with a text of its own.
    ///
    /// # Errors
    /// The tape would be too large.
    pub fn owned(
        &mut self,
        kind: Kind,
        at: usize,
        text: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let start = self.texts.len();
        if (self.bytes() + text.len()) as u64 > bounds.max_bytes {
            return Err(too_large(at, bounds));
        }
        self.texts.extend_from_slice(text);
        self.unchecked = 0;
        if kind == Kind::Key {
            self.note_key(mark(text));
        }
        self.push(kind, true, at, start, text.len(), bounds)
    }

    /// Adds `true`, `false` or `null`.
    ///
    /// # Errors
    /// The tape would be too large.
    #[inline]
    pub fn scalar(&mut self, kind: Kind, at: usize, bounds: &Bounds) -> Result<(), ParseError> {
        self.push(kind, false, at, 0, 0, bounds)
    }

    /// Adds a value once more that stands in the tape already and is complete; with `key`, a string as a key. The
    /// source must be the one that borrowed texts lie in.
    ///
    /// # Errors
    /// It would be too deep here, or the tape too large, which is known before anything is added.
    pub fn repeat(
        &mut self,
        node: u32,
        key: bool,
        at: usize,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if key {
            let mark = mark(View { tape: self, source }.text(node));
            self.note_key(mark);
        }
        let start = node as usize;
        let end = self.next(node) as usize;
        // Whoever writes the value out writes its texts again.
        let copied = self.nodes.get(start..end).unwrap_or_default();
        let mut texts = 0;
        for node in copied.iter().filter(|node| !node.holds_others()) {
            texts += node.length as usize;
        }
        self.repeated_texts += texts;
        self.unchecked = 0;
        self.repeated += size_of_val(copied) + texts;
        if self.repeated as u64 > bounds.max_repeated {
            return Err(too_repetitive(at, bounds));
        }
        if (self.bytes() + size_of_val(copied)) as u64 > bounds.max_bytes {
            return Err(too_large(at, bounds));
        }
        let mut inside: Vec<u32> = Vec::new();
        let shift = (self.nodes.len() - start) as u32;
        for from in start..end {
            let Some(&(mut copy)) = self.nodes.get(from) else {
                break;
            };
            while inside.last().is_some_and(|&last| last as usize <= from) {
                inside.pop();
            }
            if copy.holds_others() {
                inside.push(copy.length);
                let depth = self.open.len() + inside.len();
                if depth > bounds.max_depth as usize {
                    return Err(too_deep(at, bounds));
                }
                self.deepest = self.deepest.max(depth);
                copy.length += shift;
            }
            copy.at = at as u32;
            if from == start && matches!(copy.kind, Kind::Key | Kind::String) {
                copy.kind = if key { Kind::Key } else { Kind::String };
            }
            self.nodes.push(copy);
        }
        Ok(())
    }

    /// A tape of one value of another, which needs no source.
    pub fn of(view: &View<'_>, value: u32) -> Self {
        let mut made = Self::new();
        for index in value..view.next(value) {
            let mut node = view.node(index);
            if node.holds_others() {
                node.text = 0;
                node.length -= value;
            } else {
                let text = view.text(index);
                node.owned = true;
                node.text = made.texts.len() as u32;
                made.texts.extend_from_slice(text);
            }
            made.contexts |= node.kind == Kind::Key && view.text(index) == b"@context";
            made.nodes.push(node);
        }
        made
    }

    /// Bytes of memory that it takes.
    #[inline]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + self.texts.len() + self.repeated_texts
    }

    /// The node behind a value and all that it holds, or behind a key.
    #[inline]
    fn next(&self, index: u32) -> u32 {
        match self.nodes.get(index as usize) {
            Some(node) if node.holds_others() => node.length,
            Some(_) => index + 1,
            None => u32::MAX,
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    fn push(
        &mut self,
        kind: Kind,
        owned: bool,
        at: usize,
        text: usize,
        length: usize,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if self.nodes.len() >= self.unchecked {
            self.check(at, bounds)?;
        }
        self.nodes.push(Node {
            kind,
            owned,
            replaced: false,
            at: at as u32,
            text: text as u32,
            length: length as u32,
        });
        Ok(())
    }

    /// Counts the bytes, and the nodes that there is room for.
    #[cold]
    fn check(&mut self, at: usize, bounds: &Bounds) -> Result<(), ParseError> {
        let Some(room) = bounds.max_bytes.checked_sub(self.bytes() as u64) else {
            return Err(too_large(at, bounds));
        };
        self.unchecked = self.nodes.len() + room as usize / size_of::<Node>() + 1;
        Ok(())
    }

    /// Looks at the keys of an object, some of which may be the same: the last one of each counts then, if
    /// `bounds` allow it.
    #[cold]
    fn look_at_keys(
        &mut self,
        object: u32,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let twice = self.sort_keys(object, source, bounds.duplicates);
        match twice {
            Some(twice) if !bounds.duplicates => {
                let view = View { tape: self, source };
                Err(ParseError {
                    at: view.node(twice).at as usize,
                    class: ErrorClass::Malformed,
                    reason: Reason::from(format!(
                        "the key {} occurs twice in an object",
                        quote(view.text(twice))
                    ))
                    .with(Remedy::lenient("takes the last one")),
                })
            }
            _ => Ok(()),
        }
    }

    /// The first key that stands before in its object.
    fn sort_keys(&mut self, object: u32, source: &[u8], replace: bool) -> Option<u32> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        let view = View { tape: self, source };
        keys.extend(view.keys(object));
        keys.sort_unstable_by(|&a, &b| view.text(a).cmp(view.text(b)).then(a.cmp(&b)));
        let same = |pair: &&[u32]| view.text(pair[0]) == view.text(pair[1]);
        let found = keys.windows(2).filter(same).map(|pair| pair[1]).min();
        if replace && found.is_some() {
            let twice = keys.windows(2).filter(same);
            let replaced: Vec<u32> = twice.map(|pair| pair[0]).collect();
            for key in replaced {
                if let Some(node) = self.nodes.get_mut(key as usize) {
                    node.replaced = true;
                }
            }
        }
        self.keys = keys;
        found
    }
}

/// Whether two of some numbers are the same.
#[inline]
fn has_equal(marks: &[u64]) -> bool {
    let mut rest = marks;
    while let [first, others @ ..] = rest {
        if others.contains(first) {
            return true;
        }
        rest = others;
    }
    false
}

/// A number that differs for most texts that differ: by the length and the last bytes.
#[inline]
pub const fn mark(text: &[u8]) -> u64 {
    let end = if let Some(last) = text.last_chunk::<8>() {
        u64::from_le_bytes(*last)
    } else {
        let (mut sum, mut at) = (0, text.len());
        while at > 0 {
            at -= 1;
            sum = sum << 8 | text[at] as u64;
        }
        sum
    };
    end ^ (text.len() as u64) << 56
}

/// The mark of the key that most looks for contexts are saved by; some others have it too.
const CONTEXT: u64 = mark(b"@context");

/// The mark of a range of a text.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn mark_in(source: &[u8], range: &std::ops::Range<usize>) -> u64 {
    let before = source.get(..range.end).unwrap_or_default();
    let length = range.len();
    match before.last_chunk::<8>() {
        Some(last) if length > 0 => {
            let rest = 8 * 8_usize.saturating_sub(length);
            u64::from_le_bytes(*last) >> rest ^ (length as u64) << 56
        }
        _ => mark(source.get(range.clone()).unwrap_or_default()),
    }
}

#[cold]
fn too_deep(at: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        at,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!(
                "objects and arrays are nested more than {} deep",
                bounds.max_depth
            ),
            "max_depth",
        ),
    }
}

#[cold]
fn too_large(at: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        at,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!(
                "the values of the message take more than {} bytes of memory",
                bounds.max_bytes
            ),
            "max_message_bytes",
        ),
    }
}

#[cold]
fn too_repetitive(at: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        at,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!(
                "what the aliases of the message repeat takes more than {} bytes",
                bounds.max_repeated
            ),
            "max_message_bytes",
        ),
    }
}

/// A tape and the source that its borrowed texts lie in.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The tape.
    pub tape: &'a Tape,
    /// The source.
    pub source: &'a [u8],
}

impl<'a> View<'a> {
    /// A node; behind the last one, a null.
    #[inline]
    pub fn node(&self, index: u32) -> Node {
        self.tape
            .nodes
            .get(index as usize)
            .copied()
            .unwrap_or(Node {
                kind: Kind::Null,
                owned: false,
                replaced: false,
                at: 0,
                text: 0,
                length: 0,
            })
    }

    /// What a node is.
    #[inline]
    pub fn kind(&self, index: u32) -> Kind {
        self.node(index).kind
    }

    /// The node behind a value and all that it holds, or behind a key.
    #[inline]
    pub fn next(&self, index: u32) -> u32 {
        self.tape.next(index)
    }

    /// The text of a key, a string or a number: of UTF-8, without escapes.
    #[inline]
    pub fn text(&self, index: u32) -> &'a [u8] {
        let node = self.node(index);
        if node.holds_others() {
            return &[];
        }
        let from: &'a [u8] = if node.owned {
            &self.tape.texts
        } else {
            self.source
        };
        let range = node.text as usize..node.text as usize + node.length as usize;
        from.get(range).unwrap_or_default()
    }

    /// An object or array as the source has it, if that is JSON.
    #[inline]
    pub fn raw(&self, index: u32) -> Option<&'a [u8]> {
        let node = self.node(index);
        if !node.holds_others() || node.text == 0 {
            return None;
        }
        self.source.get(node.at as usize..node.text as usize)
    }

    /// Whether the text of a node is written with escapes, or not in the source.
    #[inline]
    pub fn is_owned(&self, index: u32) -> bool {
        self.node(index).owned
    }

    /// Whether a key stands again behind it in the object, where only the last one counts.
    #[inline]
    pub fn is_replaced(&self, key: u32) -> bool {
        self.node(key).replaced
    }

    /// The keys of an object that count; the value of each is the node behind it.
    #[inline]
    pub fn keys(self, object: u32) -> impl Iterator<Item = u32> {
        let end = self.next(object);
        let mut at = object + 1;
        std::iter::from_fn(move || {
            while at < end {
                let key = at;
                at = self.next(key + 1);
                if !self.node(key).replaced {
                    return Some(key);
                }
            }
            None
        })
    }

    /// The values of an array.
    #[inline]
    pub fn items(self, array: u32) -> impl Iterator<Item = u32> {
        let end = self.next(array);
        let mut at = array + 1;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let item = at;
            at = self.next(item);
            Some(item)
        })
    }

    /// The value of a key of an object.
    pub fn get(self, object: u32, name: &[u8]) -> Option<u32> {
        let mut keys = self.keys(object);
        keys.find(|&key| self.text(key) == name).map(|key| key + 1)
    }
}
