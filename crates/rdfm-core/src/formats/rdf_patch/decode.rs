//! Decodes logs of RDF Patch: finds rows and patches, and tracks positions.
//!
//! - In: pieces of any size. A row may begin anywhere on a line and span several lines.
//! - Out: batches of complete patches, as soon as the buffer contains no more complete patches.
//! - Cost: linear. An incomplete row is read again after the next line end, or when its buffered
//!   size has grown by half.
//! - Law: a row is accepted only when further bytes cannot change it, so neither patches nor errors
//!   depend on how the input is cut.

use rustc_hash::FxHashMap;
use simdutf8::compat::from_utf8;

use super::options::PatchReading;
use super::rows::{self, PatchRow};
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::{LogEnd, Observations};
use crate::model::batch::PatchBatch;
use crate::model::builder::PatchBuilder;
use crate::model::chars::{self, BOM, NAME};
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::syntax::ntriples::lex::LexError;
use crate::syntax::ntriples::{StatementGrammar, StatementReader};
use crate::syntax::text::position::LinePosition;

/// Number of bytes after an error that may affect the error. It is reported when these bytes are
/// buffered.
const LOOKAHEAD_BYTES: usize = 4096;
/// A row shorter than this is read again at every line end.
const SHORT_ROW: usize = 64 << 10;
/// A row longer than this is read again only when its buffered size is eight times as large.
const LONG_ROW: usize = 1 << 20;
/// Maximum number of skipped bytes that are kept.
const KEPT: usize = 1 << 20;
/// Maximum number of white space characters between `Z` and its dot when patches are skipped.
const MAX_SEGMENT_SPACE: usize = 1024;

/// Reads RDF Patch.
pub struct PatchReader {
    options: PatchReading,
    statements: StatementReader,
    builder: PatchBuilder,
    /// Position of the first buffered byte.
    lines: LinePosition,
    /// Length of the checked text at the start of the buffered bytes.
    valid: usize,
    /// Whether the byte after the checked text is not UTF-8.
    invalid: bool,
    /// Whether a comment between rows is open.
    in_comment: bool,
    /// Whether the open patch has operations other than headers.
    has_changes: bool,
    /// Offset of the open patch in the log.
    open: u64,
    /// Number of bytes of the incomplete row that have been scanned.
    scanned: usize,
    skip: Option<SegmentSkip>,
    /// Whether a transaction is open.
    in_transaction: bool,
    /// State at the end of the log. Set when the end is reached.
    end: Option<LogEnd>,
}

/// State of a skip to the next segment row (`Z .`).
struct SegmentSkip {
    bytes: Vec<u8>,
    /// Whether the current line is known not to be a segment.
    inside: bool,
}

impl SegmentSkip {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// The next item in the text.
enum PatchItem {
    /// A row, and the position after it.
    Row(usize, PatchRow),
    /// A header after other rows, which begins the next patch.
    Boundary,
    /// More bytes are needed, or the log ends.
    Feed,
}

impl PatchReader {
    pub(super) fn new(options: PatchReading) -> Self {
        Self {
            statements: StatementReader::new(StatementGrammar {
                graphs: true,
                generalized: true,
                lenient: options.lenient,
                max_depth: options.limits.max_depth,
                single_terms: false,
                abbreviations: true,
            }),
            builder: PatchBuilder::new(options.limits.clone()),
            options,
            lines: LinePosition::default(),
            valid: 0,
            invalid: false,
            in_comment: false,
            has_changes: false,
            open: 0,
            scanned: 0,
            skip: None,
            in_transaction: false,
            end: None,
        }
    }

    /// Checks the bytes fed since the last call.
    fn check_utf8(&mut self, input: &Buffer) {
        if self.invalid || self.valid == input.bytes.len() {
            return;
        }
        match from_utf8(&input.bytes[self.valid..]) {
            Ok(_) => self.valid = input.bytes.len(),
            Err(error) => {
                self.valid += error.valid_up_to();
                self.invalid = error.error_len().is_some() || input.finished;
            }
        }
    }

    /// Moves to the first byte of the next row. Returns false if the text contains none.
    fn find(&mut self, input: &mut Buffer) -> Result<bool, LexError> {
        loop {
            let text = input.bytes.get(input.index..self.valid).unwrap_or_default();
            if self.in_comment {
                let Some(end) = memchr::memchr2(b'\n', b'\r', text) else {
                    input.index = self.valid;
                    return Ok(false);
                };
                input.index += end;
                self.in_comment = false;
                continue;
            }
            match text {
                [] => return Ok(false),
                [b' ' | b'\t' | b'\n' | b'\r', ..] => input.index += 1,
                [b'#', ..] => self.in_comment = true,
                [0xef, 0xbb, 0xbf, ..] if input.offset() == 0 => {
                    input.index += BOM.len();
                }
                _ => return Ok(true),
            }
        }
    }

    #[inline]
    fn next(&mut self, input: &mut Buffer) -> Result<PatchItem, LexError> {
        if !self.find(input)? {
            return Ok(PatchItem::Feed);
        }
        let start = input.index;
        if self.has_changes && input.bytes[start] == b'H' {
            match input.bytes.get(start + 1..self.valid) {
                Some([byte, ..]) if chars::is(*byte, NAME) || *byte == b':' => {}
                Some([]) | None if !input.finished && !self.invalid => return Ok(PatchItem::Feed),
                _ => return Ok(PatchItem::Boundary),
            }
        }
        let max = usize::try_from(self.options.limits.max_message_bytes).unwrap_or(usize::MAX);
        // A row that exceeds the message limit is not read to its end.
        let window = start
            .saturating_add(max)
            .saturating_add(2 * LOOKAHEAD_BYTES);
        let end = self.valid.min(window);
        let last = end == window || self.invalid || input.finished;
        if !last && !self.should_retry(input) {
            return Ok(PatchItem::Feed);
        }
        let text = &input.bytes[..end];
        let error = match rows::parse_row(&mut self.statements, &mut self.builder, text, start) {
            Ok((end, _)) if !last && !is_complete_row(text, end) => None,
            Ok((end, _)) if end - start > max => Some(too_long(start, max)),
            Ok((end, row)) => {
                self.scanned = 0;
                return Ok(PatchItem::Row(end, row));
            }
            Err(error) if !last && !is_final_error(text, error.index) => None,
            Err(error) if error.index - start > max => Some(too_long(start, max)),
            Err(error) if error.index >= end && self.invalid && end == self.valid => {
                Some(self.not_utf8())
            }
            Err(error) => Some(*error),
        };
        match error {
            None => {
                self.scanned = end - start;
                Ok(PatchItem::Feed)
            }
            Some(error) => Err(error),
        }
    }

    /// Whether an incomplete row should be read again with the new bytes.
    #[inline]
    fn should_retry(&self, input: &Buffer) -> bool {
        let length = self.valid - input.index;
        // Every attempt leaves terms in the batch, so long rows must be read only a few times.
        let more = if self.scanned < LONG_ROW {
            self.scanned / 2
        } else {
            7 * self.scanned
        };
        if self.scanned == 0 || length > self.scanned + more {
            return true;
        }
        let new = input.bytes.get(input.index + self.scanned..self.valid);
        length < SHORT_ROW && memchr::memchr2(b'\n', b'\r', new.unwrap_or_default()).is_some()
    }

    #[cold]
    fn not_utf8(&self) -> LexError {
        LexError {
            index: self.valid,
            class: ErrorClass::Malformed,
            reason: "invalid UTF-8; the log must be UTF-8 text".into(),
        }
    }

    /// Returns the next batch, or `None` if more input is needed or the log is complete.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, LexError> {
        self.check_utf8(input);
        loop {
            let ended = match self.next(input)? {
                PatchItem::Row(end, PatchRow::Operation(operation)) => {
                    self.take_row(input, end, operation)?;
                    if self.options.parts && self.builder.is_part_full() {
                        return Ok(self
                            .take_complete()
                            .or_else(|| Some(self.builder.take_part())));
                    }
                    continue;
                }
                PatchItem::Row(end, PatchRow::End) => {
                    if !self.builder.is_open() {
                        self.builder.begin_message(input.offset());
                    }
                    input.index = end;
                    true
                }
                PatchItem::Boundary => true,
                PatchItem::Feed => false,
            };
            if ended {
                self.builder.end_message();
                self.has_changes = false;
                self.in_transaction = false;
                if self.builder.is_full() {
                    return Ok(self.builder.take());
                }
                continue;
            }
            if self.invalid && input.index == self.valid {
                return Err(self.not_utf8());
            }
            if input.finished {
                self.end.get_or_insert(match self.builder.is_open() {
                    _ if self.in_transaction => LogEnd::Inside,
                    true => LogEnd::Content,
                    false => LogEnd::Delimiter,
                });
                if self.builder.is_open() {
                    self.builder.end_message();
                }
                return Ok(self.builder.take());
            }
            return Ok(self.take_complete());
        }
    }

    /// Returns the complete patches before an open one.
    fn take_complete(&mut self) -> Option<PatchBatch> {
        self.builder.take_complete(&mut FxHashMap::default())
    }

    /// Adds the operation of a row that ends at `end`.
    #[inline]
    fn take_row(
        &mut self,
        input: &mut Buffer,
        end: usize,
        operation: Operation,
    ) -> Result<(), LexError> {
        self.statements
            .charge(&mut self.builder, input.index, end)
            .map_err(|error| *error)?;
        if !self.builder.is_open() {
            self.open = input.offset();
            self.builder.begin_message(self.open);
        }
        self.builder.push_at(operation, input.offset());
        self.has_changes |= operation.code != OperationCode::Header;
        match operation.code {
            OperationCode::Begin => self.in_transaction = true,
            OperationCode::Commit | OperationCode::Abort => self.in_transaction = false,
            _ => {}
        }
        if matches!(
            operation.code,
            OperationCode::AddPrefix | OperationCode::DeletePrefix
        ) {
            self.apply_prefix(operation).map_err(|reason| LexError {
                index: input.index,
                class: ErrorClass::Limit,
                reason,
            })?;
        }
        input.index = end;
        Ok(())
    }

    /// Applies a prefix change to later prefixed names.
    fn apply_prefix(&mut self, operation: Operation) -> Result<(), Reason> {
        let table = self.builder.table();
        let iri =
            (operation.code == OperationCode::AddPrefix).then(|| table.text(operation.object));
        let max = self.options.limits.max_message_bytes;
        self.statements
            .set_prefix(table.text(operation.name), iri, max)
    }

    /// Converts an error to a resumable one. Decoding can continue after the next segment row.
    #[cold]
    fn fail(&mut self, input: &Buffer, error: LexError) -> ReadError {
        let LexError {
            index,
            class,
            reason,
        } = error;
        if !reason.may_follow_from_skipping() {
            self.statements.skip_message(self.builder.message_index());
        }
        let class = match class {
            ErrorClass::Malformed if index == input.bytes.len() => ErrorClass::Truncated,
            class => class,
        };
        let mut decode_error = self.lines.error(&input.bytes, index, class, reason);
        decode_error.resumable = true;
        let mut skip = SegmentSkip {
            bytes: Vec::new(),
            inside: false,
        };
        let from = self.start(input);
        skip.add(&input.bytes[from..input.index]);
        self.skip = Some(skip);
        decode_error
    }

    /// Index at which the open patch begins if it is at most [`KEPT`] bytes back, otherwise the
    /// current index.
    fn start(&self, input: &Buffer) -> usize {
        let open = self.builder.is_open().then_some(self.open);
        open.and_then(|open| input.index(open))
            .filter(|start| input.index.saturating_sub(*start) <= KEPT)
            .unwrap_or(input.index)
    }
}

/// Skips past the next segment at the start of a line. Returns false if more bytes are needed.
fn skip_rows(input: &mut Buffer, skip: &mut SegmentSkip) -> bool {
    loop {
        let rest = input.rest();
        if rest.is_empty() {
            return input.finished;
        }
        let (length, delimiter) = if skip.inside {
            let end = memchr::memchr2(b'\n', b'\r', rest);
            skip.inside = end.is_none();
            (end.unwrap_or(rest.len()), false)
        } else if matches!(rest[0], b' ' | b'\t' | b'\n' | b'\r') {
            (1, false)
        } else {
            match find_segment_dot(rest) {
                Some(length) if length < rest.len() => (length + 1, true),
                Some(_) if !input.finished => return false,
                _ => {
                    skip.inside = true;
                    (0, false)
                }
            }
        };
        skip.add(&rest[..length]);
        input.index += length;
        if delimiter {
            return true;
        }
    }
}

/// Returns the actual or expected position of a segment's dot; `None` if the text does not begin
/// with a segment.
fn find_segment_dot(rest: &[u8]) -> Option<usize> {
    let rest = rest.strip_prefix(b"Z")?;
    let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let space = space.take(MAX_SEGMENT_SPACE).count();
    matches!(rest.get(space), None | Some(b'.')).then_some(space + 1)
}

/// Whether a row certainly ends with the dot before `end`: the token before it is closed, or a byte
/// that cannot continue a name follows.
#[inline]
fn is_complete_row(text: &[u8], end: usize) -> bool {
    let before = end.checked_sub(2).and_then(|index| text.get(index));
    let closed = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'"' | b'\'');
    if before.is_some_and(closed) {
        return true;
    }
    let name = |byte: &u8| {
        chars::is(*byte, NAME) || matches!(byte, b'.' | b':' | b'%' | b'+' | b'\\' | 0x80..)
    };
    !text.get(end..).unwrap_or_default().iter().all(name)
}

/// Whether an error does not depend on further text.
fn is_final_error(text: &[u8], index: usize) -> bool {
    let remaining = text.get(index..).unwrap_or_default();
    remaining.len() > LOOKAHEAD_BYTES || memchr::memchr2(b'\n', b'\r', remaining).is_some()
}

#[cold]
fn too_long(index: usize, max: usize) -> LexError {
    LexError {
        index,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!("the row is longer than {max} bytes"),
            "max_message_bytes",
        ),
    }
}

impl Reader for PatchReader {
    type Record = Operation;

    fn builder_mut(&mut self) -> &mut PatchBuilder {
        &mut self.builder
    }

    fn reset(&mut self) {
        self.statements.forget_prefixes();
        self.lines = LinePosition::default();
        self.valid = 0;
        self.invalid = false;
        self.in_comment = false;
        self.has_changes = false;
        self.scanned = 0;
        self.skip = None;
        self.in_transaction = false;
        self.end = None;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, ReadError> {
        self.read(input).map_err(|error| self.fail(input, error))
    }

    /// A `Z` at the end of the log can only be a truncated delimiter.
    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        let begin = self.builder.open_since();
        let begin = begin.filter(|_| input.rest().trim_ascii() != b"Z");
        begin.or(Some(input.offset()))
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skip) = self.skip.take() else {
            return Ok(None);
        };
        if !skip_rows(input, &mut skip) {
            self.skip = Some(skip);
            return Ok(None);
        }
        self.valid = input.index;
        self.invalid = false;
        self.in_comment = false;
        self.has_changes = false;
        self.scanned = 0;
        Ok(Some(skip.bytes))
    }

    fn observations(&self) -> Observations {
        let is_inside = self.end == Some(LogEnd::Inside);
        Observations {
            end: self.end,
            complete: is_inside.then_some(self.open),
            incomplete: is_inside.then_some("the last transaction has no end"),
            ..Observations::default()
        }
    }

    fn keep(&self, input: &Buffer) -> usize {
        self.start(input)
    }

    fn forget(&mut self, consumed: &[u8]) {
        self.lines.advance(consumed);
        self.valid = self.valid.saturating_sub(consumed.len());
    }
}
