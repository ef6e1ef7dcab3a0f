//! The tape: consecutive values and keys of one JSON text.
//!
//! - In: the events of a parser: starts and ends of objects and arrays, keys and scalars, each with
//!   its position in the source.
//! - Out: [`Node`]s, read through a [`View`] that has the source.
//! - Cost: 20 bytes per node. A string without escapes is a range of the source; other strings are
//!   stored in the tape.
//! - Law: in an object, keys and values alternate. [`View::next`] skips a complete value.

use crate::model::error::{ErrorClass, format_count, quote};
use crate::model::remedy::{Reason, Remedy};

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// An object; its keys and values follow, up to `next`.
    Object,
    /// An array; its values follow, up to `next`.
    Array,
    /// A key of an object; its value is the next node.
    Key,
    /// A string.
    String,
    /// A number, as in the source.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
}

/// A value or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind of the node.
    pub kind: JsonKind,
    /// Whether its text is stored in the tape, because the source contains it in another form.
    pub(super) owned: bool,
    /// Whether the object has a later key with the same name, which replaces this one.
    pub(super) replaced: bool,
    /// Position of the node in the source.
    pub index: u32,
    /// Start of its text. For an object or array, the position in the source after it, or 0.
    pub(super) text: u32,
    /// Length of its text. For an object or array, the index of the node after its content.
    pub(super) length: u32,
}

impl Node {
    pub(super) const fn is_container(self) -> bool {
        matches!(self.kind, JsonKind::Object | JsonKind::Array)
    }
}

/// A parse error with its position in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Position in the source.
    pub position: usize,
    /// The error class.
    pub class: ErrorClass,
    /// Description of the error.
    pub reason: Reason,
}

/// Limits of a tape.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum nesting of objects and arrays.
    pub max_depth: u32,
    /// Maximum memory of the tape in bytes.
    pub max_bytes: u64,
    /// Maximum size in bytes of copies, in the tape, of values that occur only once in the source.
    pub max_repeated: u64,
    /// Whether an object may contain a key twice. The last one applies.
    pub duplicates: bool,
}

/// One JSON text.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(super) nodes: Vec<Node>,
    /// Number of nodes up to which the memory need not be checked again.
    unchecked: usize,
    texts: Vec<u8>,
    /// Bytes of strings used by more than one node, counted for each use except the first.
    repeated_texts: usize,
    /// Bytes of nodes and strings that repeat others.
    repeated: usize,
    /// Open objects and arrays, each with its node, the number of marks before it, and its kind.
    open: Vec<(u32, u32, JsonKind)>,
    /// Maximum number of objects and arrays that were open at once.
    deepest: usize,
    /// Marks of the keys of the open objects. Equal keys have equal marks.
    marks: Vec<u64>,
    contexts: bool,
    /// Reused buffer for sorting the keys of an object.
    keys: Vec<u32>,
}

/// Maximum number of keys that are compared in pairs.
const FEW_KEYS: usize = 12;

impl Tape {
    /// Creates an empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all content.
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

    /// The strings that are not literally in the source, concatenated.
    #[inline]
    pub fn texts(&self) -> &[u8] {
        &self.texts
    }

    /// Whether any object may have the key `@context`.
    #[inline]
    pub fn has_contexts(&self) -> bool {
        self.contexts
    }

    /// Maximum nesting of objects and arrays in the tape.
    #[inline]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// Number of open objects and arrays.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Kind of the innermost open object or array.
    #[inline]
    pub fn innermost(&self) -> Option<JsonKind> {
        self.open.last().map(|(_, _, kind)| *kind)
    }

    /// Begins an object or an array.
    ///
    /// # Errors
    /// If the nesting would be too deep, or the tape too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn start(
        &mut self,
        kind: JsonKind,
        index: usize,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if self.open.len() >= bounds.max_depth as usize {
            return Err(too_deep(index, bounds));
        }
        self.open
            .push((self.nodes.len() as u32, self.marks.len() as u32, kind));
        self.deepest = self.deepest.max(self.open.len());
        self.push(kind, false, index, 0, 0, bounds)
    }

    /// Ends the innermost object or array before byte `end` of the source. Does nothing if none is
    /// open. The source must contain the borrowed strings.
    ///
    /// # Errors
    /// If the object contains a key twice and `bounds` do not allow it.
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
        let object_marks = self.marks.get(marks as usize..).unwrap_or_default();
        let has_duplicates =
            object_marks.len() > 1 && (object_marks.len() > FEW_KEYS || has_equal(object_marks));
        self.marks.truncate(marks as usize);
        if has_duplicates {
            return self.check_keys(open, source, bounds);
        }
        Ok(())
    }

    /// Records the mark of a new key.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    fn note_key(&mut self, mark: u64) {
        self.contexts |= mark == CONTEXT;
        self.marks.push(mark);
    }

    /// Adds a key whose text is a range of the source.
    ///
    /// # Errors
    /// If the tape would be too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn push_borrowed_key(
        &mut self,
        index: usize,
        range: std::ops::Range<usize>,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        self.note_key(mark_in(source, &range));
        self.push(
            JsonKind::Key,
            false,
            index,
            range.start,
            range.len(),
            bounds,
        )
    }

    /// Adds a string or a number whose text is a range of the source.
    ///
    /// # Errors
    /// If the tape would be too large.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    pub fn push_borrowed(
        &mut self,
        kind: JsonKind,
        index: usize,
        range: std::ops::Range<usize>,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        self.push(kind, false, index, range.start, range.len(), bounds)
    }

    /// Adds a key, a string or a number whose text is stored in the tape.
    ///
    /// # Errors
    /// If the tape would be too large.
    pub fn push_owned(
        &mut self,
        kind: JsonKind,
        index: usize,
        text: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let start = self.texts.len();
        if (self.bytes() + text.len()) as u64 > bounds.max_bytes {
            return Err(too_large(index, bounds));
        }
        self.texts.extend_from_slice(text);
        self.unchecked = 0;
        if kind == JsonKind::Key {
            self.note_key(mark(text));
        }
        self.push(kind, true, index, start, text.len(), bounds)
    }

    /// Adds `true`, `false` or `null`.
    ///
    /// # Errors
    /// If the tape would be too large.
    #[inline]
    pub fn push_scalar(
        &mut self,
        kind: JsonKind,
        index: usize,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        self.push(kind, false, index, index, 0, bounds)
    }

    /// Adds a copy of a complete value in the tape. If `key` is true, a string is added as a key.
    /// The source must contain the borrowed strings.
    ///
    /// # Errors
    /// If the copy would be nested too deeply here, or the tape too large. If a size limit is
    /// exceeded, nothing is added.
    pub fn repeat(
        &mut self,
        node: u32,
        key: bool,
        index: usize,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if key {
            let mark = mark(View { tape: self, source }.text(node));
            self.note_key(mark);
        }
        let start = node as usize;
        let end = self.next(node) as usize;
        // The strings are charged too, because writing out the copy repeats them.
        let copied = self.nodes.get(start..end).unwrap_or_default();
        let mut texts = 0;
        for node in copied.iter().filter(|node| !node.is_container()) {
            texts += node.length as usize;
        }
        self.repeated_texts += texts;
        self.unchecked = 0;
        self.repeated += size_of_val(copied) + texts;
        if self.repeated as u64 > bounds.max_repeated {
            return Err(too_repetitive(index, bounds));
        }
        if (self.bytes() + size_of_val(copied)) as u64 > bounds.max_bytes {
            return Err(too_large(index, bounds));
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
            if copy.is_container() {
                inside.push(copy.length);
                let depth = self.open.len() + inside.len();
                if depth > bounds.max_depth as usize {
                    return Err(too_deep(index, bounds));
                }
                self.deepest = self.deepest.max(depth);
                copy.length += shift;
            }
            copy.index = index as u32;
            if from == start && matches!(copy.kind, JsonKind::Key | JsonKind::String) {
                copy.kind = if key { JsonKind::Key } else { JsonKind::String };
            }
            self.nodes.push(copy);
        }
        Ok(())
    }

    /// Creates a tape from one value of another tape. It needs no source.
    pub fn from_value(view: &View<'_>, value: u32) -> Self {
        let mut tape = Self::new();
        for index in value..view.next(value) {
            let mut node = view.node(index);
            if node.is_container() {
                node.text = 0;
                node.length -= value;
            } else {
                let text = view.text(index);
                node.owned = true;
                node.text = tape.texts.len() as u32;
                tape.texts.extend_from_slice(text);
            }
            tape.contexts |= node.kind == JsonKind::Key && view.text(index) == b"@context";
            tape.nodes.push(node);
        }
        tape
    }

    /// Memory in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + self.texts.len() + self.repeated_texts
    }

    /// Index of the node after a key, or after a value with its content.
    #[inline]
    fn next(&self, index: u32) -> u32 {
        match self.nodes.get(index as usize) {
            Some(node) if node.is_container() => node.length,
            Some(_) => index + 1,
            None => u32::MAX,
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each token
    fn push(
        &mut self,
        kind: JsonKind,
        owned: bool,
        index: usize,
        text: usize,
        length: usize,
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        if self.nodes.len() >= self.unchecked {
            self.check(index, bounds)?;
        }
        self.nodes.push(Node {
            kind,
            owned,
            replaced: false,
            index: index as u32,
            text: text as u32,
            length: length as u32,
        });
        Ok(())
    }

    /// Checks the memory and computes how many nodes may be added before the next check.
    #[cold]
    fn check(&mut self, index: usize, bounds: &Bounds) -> Result<(), ParseError> {
        let Some(room) = bounds.max_bytes.checked_sub(self.bytes() as u64) else {
            return Err(too_large(index, bounds));
        };
        self.unchecked = self.nodes.len() + room as usize / size_of::<Node>() + 1;
        Ok(())
    }

    /// Checks the keys of an object that may have duplicates. If `bounds` allow duplicates, the
    /// last of several equal keys applies.
    #[cold]
    fn check_keys(
        &mut self,
        object: u32,
        source: &[u8],
        bounds: &Bounds,
    ) -> Result<(), ParseError> {
        let duplicate = self.sort_keys(object, source, bounds.duplicates);
        match duplicate {
            Some(duplicate) if !bounds.duplicates => {
                let view = View { tape: self, source };
                Err(ParseError {
                    position: view.node(duplicate).index as usize,
                    class: ErrorClass::Malformed,
                    reason: Reason::from(format!(
                        "the key {} occurs twice in an object",
                        quote(view.text(duplicate))
                    ))
                    .with(Remedy::lenient("takes the last one")),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the first key that repeats an earlier key of its object.
    fn sort_keys(&mut self, object: u32, source: &[u8], replace: bool) -> Option<u32> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        let view = View { tape: self, source };
        keys.extend(view.keys(object));
        keys.sort_unstable_by(|&a, &b| view.text(a).cmp(view.text(b)).then(a.cmp(&b)));
        let same = |pair: &&[u32]| view.text(pair[0]) == view.text(pair[1]);
        let duplicate = keys.windows(2).filter(same).map(|pair| pair[1]).min();
        if replace && duplicate.is_some() {
            let duplicates = keys.windows(2).filter(same);
            let replaced: Vec<u32> = duplicates.map(|pair| pair[0]).collect();
            for key in replaced {
                if let Some(node) = self.nodes.get_mut(key as usize) {
                    node.replaced = true;
                }
            }
        }
        self.keys = keys;
        duplicate
    }
}

/// Whether two of the numbers are equal.
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

/// A hash of the length and the last bytes of a string. Most strings have different hashes.
#[inline]
pub const fn mark(text: &[u8]) -> u64 {
    let end = if let Some(last) = text.last_chunk::<8>() {
        u64::from_le_bytes(*last)
    } else {
        let (mut sum, mut index) = (0, text.len());
        while index > 0 {
            index -= 1;
            sum = sum << 8 | text[index] as u64;
        }
        sum
    };
    end ^ (text.len() as u64) << 56
}

/// The mark of `@context`, which avoids most searches for contexts. Some other keys have the same
/// mark.
const CONTEXT: u64 = mark(b"@context");

/// Mark of a range of a string.
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
fn too_deep(index: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        position: index,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!(
                "objects and arrays are nested deeper than {}",
                format_count(bounds.max_depth as usize, "level")
            ),
            "max_depth",
        ),
    }
}

#[cold]
fn too_large(index: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        position: index,
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
fn too_repetitive(index: usize, bounds: &Bounds) -> ParseError {
    ParseError {
        position: index,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!(
                "the content repeated by aliases in the message takes more than {} bytes",
                bounds.max_repeated
            ),
            "max_message_bytes",
        ),
    }
}

/// A tape and the source that contains its borrowed strings.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The tape.
    pub tape: &'a Tape,
    /// The source.
    pub source: &'a [u8],
}

impl<'a> View<'a> {
    /// Returns a node, or a null after the last one.
    #[inline]
    pub fn node(&self, index: u32) -> Node {
        self.tape
            .nodes
            .get(index as usize)
            .copied()
            .unwrap_or(Node {
                kind: JsonKind::Null,
                owned: false,
                replaced: false,
                index: 0,
                text: 0,
                length: 0,
            })
    }

    /// Kind of a node.
    #[inline]
    pub fn kind(&self, index: u32) -> JsonKind {
        self.node(index).kind
    }

    /// Index of the node after a key, or after a value with its content.
    #[inline]
    pub fn next(&self, index: u32) -> u32 {
        self.tape.next(index)
    }

    /// Decoded text of a key, a string or a number, in UTF-8.
    #[inline]
    pub fn text(&self, index: u32) -> &'a [u8] {
        let node = self.node(index);
        if node.is_container() {
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

    /// The source text of an object or array, if the source is JSON.
    #[inline]
    pub fn raw(&self, index: u32) -> Option<&'a [u8]> {
        let node = self.node(index);
        if !node.is_container() || node.text == 0 {
            return None;
        }
        self.source.get(node.index as usize..node.text as usize)
    }

    /// Whether the text of a node is not literally in the source, for example because of escapes.
    #[inline]
    pub fn is_owned(&self, index: u32) -> bool {
        self.node(index).owned
    }

    /// Whether a later key of the object replaces this one.
    #[inline]
    pub fn is_replaced(&self, key: u32) -> bool {
        self.node(key).replaced
    }

    /// The keys of an object, except replaced ones. The value of each is the next node.
    #[inline]
    pub fn keys(self, object: u32) -> impl Iterator<Item = u32> {
        let end = self.next(object);
        let mut index = object + 1;
        std::iter::from_fn(move || {
            while index < end {
                let key = index;
                index = self.next(key + 1);
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
        let mut index = array + 1;
        std::iter::from_fn(move || {
            if index >= end {
                return None;
            }
            let item = index;
            index = self.next(item);
            Some(item)
        })
    }

    /// Returns the value of a key of an object.
    pub fn get(self, object: u32, name: &[u8]) -> Option<u32> {
        let mut keys = self.keys(object);
        keys.find(|&key| self.text(key) == name).map(|key| key + 1)
    }
}
