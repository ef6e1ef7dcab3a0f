//! Counts the messages of a split without decoding them, so that the messages of all splits can be
//! numbered.
//!
//! - In: the pieces that a decoder of the split would receive.
//! - Out: the number of messages in the split. In the row layout, each frame is one message. In the
//!   column layout, messages are counted by their lengths.
//! - Cost: a search for the first mark, then one varint per frame. Only frames in the column layout
//!   are buffered, one at a time.
//! - Law: the result is the number of messages that a decoder returns for the split.

use super::columns::MessageCounter;
use super::decode::RowHandler as _;
use super::frames::{FirstRow, first_row};
use super::options::{COLUMNS_VERSION, OptionsRow, ReadSettings};
use super::restart::{MarkFinder, MarkSearch, begins_log};
use super::rows::QuadRows;
use crate::codec::{DelimiterCounter, Split};
use crate::syntax::wire::{Varint, read_long_varint};

/// Number of bytes at the start of a frame that are needed to find its mark.
const HEAD_BYTES: usize = 64;

/// Counts the messages of one split.
pub(super) struct FrameCounter {
    split: Split,
    max_frame_bytes: u64,
    marks: MarkFinder,
    /// Whether the first mark of the split has not been found yet.
    seeking: bool,
    /// Offset of the first pending byte, or of the next byte to be fed.
    offset: u64,
    /// Bytes that were fed and are still needed: bytes to search, or the head of a frame.
    pending: Vec<u8>,
    /// Number of bytes of the current frame that have not been skipped yet.
    left: u64,
    finished: bool,
    done: bool,
    damaged: bool,
    /// Number of frames, each of which is a message, unless `columns` is set.
    frames: u64,
    /// Number of bytes of a frame that must be buffered.
    wanted: usize,
    /// Whether the first frame of the split has been read, which has the stream options.
    knows_layout: bool,
    /// Counts the messages of a log in the column layout.
    columns: Option<MessageCounter>,
}

/// Result of inspecting the first bytes of a frame.
enum FrameHead {
    /// Sizes of the length prefix and of the frame.
    Complete(usize, u64),
    /// More bytes are needed.
    Wait,
    /// The frame belongs to the next split.
    Next,
    Damaged,
}

impl FrameCounter {
    /// Creates a counter for the split, or for the entire log.
    pub fn new(reading: &ReadSettings) -> Self {
        let split = reading.split.unwrap_or(Split {
            start: 0,
            stop: u64::MAX,
            dialect: None,
        });
        Self {
            split,
            max_frame_bytes: reading.limits.max_message_bytes,
            marks: MarkFinder::default(),
            seeking: split.start > 0,
            offset: split.start.saturating_sub(1),
            pending: Vec::new(),
            left: 0,
            finished: false,
            done: false,
            damaged: false,
            frames: 0,
            wanted: HEAD_BYTES,
            knows_layout: false,
            columns: None,
        }
    }

    /// Searches the pending bytes for the first mark of the split.
    fn seek(&mut self) {
        let from = self.split.start.saturating_sub(self.offset) as usize;
        let found = self.marks.find(&self.pending, from);
        let (MarkSearch::Found(at) | MarkSearch::None(at)) = found;
        let at = at.min(self.pending.len());
        self.pending.drain(..at);
        self.offset += at as u64;
        self.seeking = !matches!(found, MarkSearch::Found(_));
        self.done = self.offset >= self.split.stop;
    }

    /// Inspects the first bytes of a frame.
    fn head(&self, bytes: &[u8]) -> FrameHead {
        if bytes.is_empty() {
            return FrameHead::Wait;
        }
        if self.offset >= self.split.stop {
            match begins_log(bytes) {
                Some(true) => return FrameHead::Next,
                None if !self.finished => return FrameHead::Wait,
                _ => {}
            }
        }
        match read_long_varint(bytes) {
            Varint::Value(length, prefix) if length <= self.max_frame_bytes => {
                FrameHead::Complete(prefix, length)
            }
            Varint::Incomplete if !self.finished => FrameHead::Wait,
            _ => FrameHead::Damaged,
        }
    }

    /// Counts the messages of a frame whose length is given. Returns false if more bytes are needed.
    fn count(&mut self, bytes: &[u8], length: u64) -> bool {
        if self.knows_layout && self.columns.is_none() {
            self.frames += 1;
            return true;
        }
        let Some(frame) = bytes.get(..length as usize) else {
            self.wanted = (length as usize - bytes.len()).max(HEAD_BYTES);
            return false;
        };
        self.wanted = HEAD_BYTES;
        if !self.knows_layout {
            self.knows_layout = true;
            self.columns = has_columns(frame).then(MessageCounter::default);
        }
        self.frames += 1;
        if let Some(columns) = &mut self.columns {
            columns.count(frame);
        }
        true
    }

    /// Counts the frames whose heads are in `bytes`, which begin at `self.offset`. Returns the
    /// number of bytes that are no longer needed.
    fn walk(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while !self.done {
            let skipped = self.left.min((bytes.len() - at) as u64);
            self.left -= skipped;
            self.offset += skipped;
            at += skipped as usize;
            if self.left > 0 {
                break;
            }
            match self.head(&bytes[at..]) {
                FrameHead::Complete(prefix, length) => {
                    if !self.count(&bytes[at + prefix..], length) {
                        break;
                    }
                    self.left = prefix as u64 + length;
                }
                FrameHead::Wait => break,
                FrameHead::Next => self.done = true,
                FrameHead::Damaged => {
                    self.damaged = true;
                    self.done = true;
                }
            }
        }
        at
    }

    fn walk_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let at = self.walk(&pending);
        pending.drain(..at);
        self.pending = pending;
    }
}

impl DelimiterCounter for FrameCounter {
    fn feed(&mut self, mut piece: &[u8]) {
        if self.seeking && !self.done {
            self.pending.extend_from_slice(piece);
            self.seek();
            if !self.seeking {
                self.walk_pending();
            }
            return;
        }
        // The previous piece ended inside the head of a frame.
        while !self.pending.is_empty() && !piece.is_empty() && !self.done {
            let (head, rest) = piece.split_at(piece.len().min(self.wanted));
            self.pending.extend_from_slice(head);
            self.walk_pending();
            piece = rest;
        }
        if !self.done {
            let at = self.walk(piece);
            self.pending.extend_from_slice(&piece[at..]);
        }
    }

    fn finish(&mut self) {
        self.finished = true;
        if !self.seeking {
            self.walk_pending();
        }
        self.done = true;
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn delimiters(&self) -> u64 {
        self.columns
            .as_ref()
            .map_or(self.frames, MessageCounter::messages)
    }

    fn is_content_first(&self) -> bool {
        false
    }

    fn is_indivisible(&self) -> bool {
        self.damaged
    }
}

/// Whether a log in the column layout begins with this frame.
fn has_columns(frame: &[u8]) -> bool {
    let FirstRow::Row(1, payload) = first_row(frame, QuadRows::FIELDS) else {
        return false;
    };
    let options = OptionsRow::read(&payload, QuadRows::OPTION_NUMBERS, QuadRows::OPTIONS);
    options.is_ok_and(|options| options.version == COLUMNS_VERSION)
}
