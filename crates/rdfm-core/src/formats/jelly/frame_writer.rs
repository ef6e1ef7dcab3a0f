//! Builds frames from rows, for Jelly-RDF and Jelly-Patch.
//!
//! - In: the rows of the open frame, and the start of each message.
//! - Out: frames. The rows of a rejected message are removed.
//! - Cost: the rows before a message are copied once if the message spans several frames.

use super::restart::{MARK_BYTES, put_mark};
use super::term_writer::FrameRows;
use crate::syntax::wire::put_varint;

/// Writes frames.
#[derive(Default)]
pub(super) struct FrameWriter {
    /// Metadata of the open frame, encoded.
    pub metadata: Vec<u8>,
    /// Number of frames written.
    pub count: u64,
    /// Bytes written since the last restart.
    pub bytes: u64,
    /// Whether the open frame has a restart mark.
    pub marked: bool,
    delimited: bool,
    /// Number of row bytes in the frame before the open message.
    before: usize,
    /// Rows and metadata before the open message, saved when the frame was written.
    saved: Option<(Vec<u8>, Vec<u8>)>,
}

impl FrameWriter {
    /// Creates a writer for a new log. If `delimited`, each frame has a length prefix.
    pub fn new(delimited: bool) -> Self {
        Self {
            delimited,
            ..Self::default()
        }
    }

    /// Records where the next message begins.
    pub fn begin_message(&mut self, rows: &FrameRows) {
        self.before = rows.bytes.len();
        self.saved = None;
    }

    /// Writes the frame.
    pub fn write(&mut self, rows: &mut FrameRows, out: &mut Vec<u8>) {
        let start = out.len();
        let mut length = (rows.bytes.len() + self.metadata.len()) as u64;
        if self.marked {
            length += MARK_BYTES as u64;
        }
        if self.delimited {
            put_varint(out, length);
        }
        if self.marked {
            put_mark(out, length);
            self.marked = false;
        }
        out.extend_from_slice(&rows.bytes);
        out.extend_from_slice(&self.metadata);
        rows.clear();
        self.metadata.clear();
        self.count += 1;
        self.bytes += (out.len() - start) as u64;
    }

    /// Writes the frame although the open message is incomplete.
    pub fn write_part(&mut self, rows: &mut FrameRows, out: &mut Vec<u8>) {
        if self.saved.is_none() {
            self.saved = Some((rows.bytes[..self.before].to_vec(), self.metadata.clone()));
        }
        self.write(rows, out);
    }

    /// Restores the rows as they were before the open message.
    pub fn roll_back_message(&mut self, rows: &mut FrameRows) {
        match self.saved.take() {
            Some(saved) => (rows.bytes, self.metadata) = saved,
            None => rows.bytes.truncate(self.before),
        }
    }
}
