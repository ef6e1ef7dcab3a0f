//! Decoder loop for frame-based logs, shared by Jelly-RDF and Jelly-Patch.
//!
//! - In: bytes in pieces of any size, containing delimited frames or one bare frame. A
//!   [`RowHandler`] decodes the rows of a format.
//! - Out: messages, each ended by a frame, a mark or the end of the log.
//! - Cost: linear; memory is bounded by one frame, one piece and one batch. Rows use static
//!   dispatch.
//! - Law: a frame is decoded only when it is complete, so the result does not depend on how the
//!   bytes are cut.
//!
//! If the stream options determine what ends a message, leading frames without rows are buffered
//! until the first row arrives.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::columns::{
    ColumnReader, Fault, FrameParts, Locate as _, Located, NO_OPTIONS, check_meaning,
};
use super::frames::{
    COLUMNS_FIELD, EMPTY_ROW, FRAME_OVERHEAD, FirstRow, Frame, FrameSplitter, METADATA_FIELD,
    NextFrame, after_length, begins_delimited, begins_with_options, first_row, row_field,
};
use super::lookup::{NEW_TABLES, WITHOUT_MARKS, wrong_mark};
use super::metadata::FrameMetadata;
use super::options::{COLUMNS_VERSION, FrameMeaning, JoinMode, OptionsRow, ReadSettings};
use super::restart::{MarkFinder, MarkSearch, begins_log, is_marked};
use super::term_reader::TermReader;
use crate::codec::batch::LogRecord;
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::values::Value;
use crate::codec::{
    DecoderWarnings, LogEnd, LogHeader, Observations, Parts, Split, SuspiciousData,
};
use crate::model::batch::LogBatch;
use crate::model::builder::LogBuilder;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::wire::{Checked, Wire, WireError, malformed_error};

/// The boundary that ends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEnd {
    /// The end of a frame.
    Frame,
    /// The end of the log.
    Log,
    /// A mark, or the end of the log if the last mark is missing.
    Mark,
}

/// The row kinds of a format, and its decoding state.
pub(super) trait RowHandler: Send {
    /// Record type of its messages.
    type Record: LogRecord;

    /// Name of a file in this format, for error messages.
    const FILE: &'static str;
    /// Name of the options row, for error messages.
    const OPTIONS: &'static str;
    /// Numeric fields of the options row, as a bit set.
    const OPTION_NUMBERS: u32;
    /// The newest version, and a list of all supported versions for error messages.
    const VERSIONS: (u32, &'static str);
    /// Known fields of a frame, as a bit set.
    const FRAME_FIELDS: u32;
    /// Names of the row's fields, by number.
    const NAMES: &'static [&'static str];
    /// Known fields of a row, as a bit set.
    const FIELDS: u32;
    /// Returns the name of the type that makes all frames one message; `None` if `frames=message`
    /// cannot override the type.
    const FLAT_TYPE: Option<fn(&OptionsRow) -> String>;

    fn new(reading: &ReadSettings) -> Self;

    /// Prepares for the next log; the term reader has already been reset.
    fn reset(&mut self);

    fn terms(&mut self) -> &mut TermReader<Self::Record>;

    fn terms_read(&self) -> &TermReader<Self::Record>;

    /// Returns the message boundary if the decoder options determine it.
    fn requested_ends(_reading: &ReadSettings) -> Option<MessageEnd> {
        None
    }

    /// Returns the message boundary for a log with these options. `options` is `None` if the first
    /// row is not an options row.
    fn ends(options: Option<&OptionsRow>, reading: &ReadSettings) -> MessageEnd;

    /// Returns the encoder options that reproduce the options row.
    fn values(options: &OptionsRow) -> Vec<(&'static str, Value)>;

    /// Applies the log's options, whose version has been checked, and creates the tables.
    fn open(&mut self, options: &OptionsRow) -> Checked<()>;

    /// Records the byte offset of the next row in the log.
    #[inline]
    fn begin_row(&mut self, _position: u64) {}

    /// Decodes rows from the start of a frame, up to the first one in an unusual encoding, and
    /// advances the frame to that row. Returns true if a part of a message ends there, which
    /// happens only if `parts` is true.
    fn usual_rows(&mut self, bytes: &[u8], frame: &mut Frame, parts: bool) -> Checked<bool>;

    /// Decodes a row.
    fn row(&mut self, field: usize, payload: &[u8]) -> Checked<()>;

    /// Whether the previous row was a mark that ends a message. Returns true once for each mark.
    #[inline]
    fn take_mark(&mut self) -> bool {
        false
    }

    /// Begins a log in the column layout, before its options have been read. Returns false if the
    /// format has no such layout.
    fn begin_columns(&mut self) -> bool {
        false
    }

    /// Returns the state of a log in the column layout, and its terms; `None` in the row layout.
    fn columns(&mut self) -> Option<(&mut ColumnReader, &mut TermReader<Quad>)> {
        None
    }

    /// Returns the size in bytes of each column, and of the lookup entries.
    fn column_bytes(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Prepares for a new stream with the same options.
    fn begin_stream(&mut self) {}

    /// Ends a frame.
    fn end_frame(&mut self) -> Checked<()> {
        Ok(())
    }

    /// Returns the error for a log that ends here, if any.
    fn unfinished(&self) -> Option<&'static str> {
        None
    }

    /// Returns a note about the data that was read, if any.
    fn note(&self) -> Option<String> {
        None
    }

    /// Decodes a row from its bytes.
    #[inline]
    fn any_row(&mut self, bytes: &[u8]) -> Checked<()> {
        let mut wire = Wire::new(bytes);
        // Nearly every row has exactly one field.
        if let Ok((field, payload)) = wire.read_field(Self::FIELDS, "the row")
            && wire.is_done()
        {
            return self.row_after_options(field, payload);
        }
        self.unusual_row(bytes)
    }

    #[cold]
    fn unusual_row(&mut self, bytes: &[u8]) -> Checked<()> {
        let (field, payload) = row_field(bytes, Self::FIELDS)?;
        self.row_after_options(field, &payload)
    }

    #[inline]
    fn row_after_options(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        if self.terms_read().options.is_none() && field != 1 {
            return Err(before_options::<Self>(self.terms_read().mark, field));
        }
        self.row(field, payload)
    }

    /// Handles the first options row or a later one. A later one begins a new stream if
    /// [`TermReader::begins_stream`] is set.
    fn options(&mut self, bytes: &[u8]) -> Checked<()> {
        let options = read_options::<Self>(bytes)?;
        options.check_layout()?;
        let terms = self.terms();
        terms.options_rows += 1;
        if std::mem::take(&mut terms.begins_stream) {
            check_version::<Self>(&options)?;
            // `options` remains the row of the first stream, as does the header.
            return self.open(&options);
        }
        if let Some(first) = &terms.options {
            if *first != options {
                let joined = terms.repeats_options;
                return Err(other_options::<Self>(first, &options, joined));
            }
            return Ok(());
        }
        check_version::<Self>(&options)?;
        self.open(&options)?;
        self.terms().options = Some(options);
        Ok(())
    }
}

fn read_options<H: RowHandler + ?Sized>(bytes: &[u8]) -> Checked<OptionsRow> {
    OptionsRow::read(bytes, H::OPTION_NUMBERS, H::OPTIONS)
}

fn check_version<H: RowHandler + ?Sized>(options: &OptionsRow) -> Checked<()> {
    let (newest, versions) = H::VERSIONS;
    let version = options.version;
    if version == 0 {
        return Err(malformed_error(format!(
            "the version is 0 or missing, expected {versions}"
        )));
    }
    if version > newest {
        return Err(WireError::new(
            ErrorClass::Unsupported,
            format!("version {version} is newer than {newest}, the newest that rdfm reads"),
        ));
    }
    Ok(())
}

/// Returns the error for an options row that differs from the first one. `joined` is true if the
/// row is at the start of a frame, where a joined file may begin.
#[cold]
fn other_options<H: RowHandler + ?Sized>(
    first: &OptionsRow,
    other: &OptionsRow,
    joined: bool,
) -> WireError {
    let differences = |values: &[(&'static str, Value)], others: &[(&'static str, Value)]| {
        let differing = values.iter().filter(|value| !others.contains(value));
        let parts: Vec<String> = differing
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        parts.join(", ")
    };
    let (expected, found) = (H::values(first), H::values(other));
    let reason = Reason::from(format!(
        "{} differ from those at the start of the log: expected {}, found {}",
        H::OPTIONS,
        differences(&expected, &found),
        differences(&found, &expected)
    ));
    malformed_error(if joined {
        reason.with(NEW_TABLES)
    } else {
        reason
    })
}

#[cold]
fn before_options<H: RowHandler + ?Sized>(mark: Option<u64>, field: usize) -> WireError {
    if field == 0 {
        return malformed_error(EMPTY_ROW);
    }
    let (name, expected) = (H::NAMES[field], H::OPTIONS);
    match mark {
        Some(mark) => wrong_mark(
            mark,
            &format!("its frame begins with a {name} row, expected {expected}"),
        ),
        None => malformed_error(format!(
            "the log begins with a {name} row, expected {expected}"
        )),
    }
}

/// Returns the error for columns in a stream of the row layout, or before the stream options. The
/// options may follow the columns in their frame.
#[cold]
fn unexpected_columns<H: RowHandler>(rows: &mut H, frame: &[u8]) -> WireError {
    if rows.terms_read().options.is_none()
        && let FirstRow::Row(1, payload) = first_row(frame, H::FIELDS)
        && let Err(error) = rows.options(&payload)
    {
        return error;
    }
    if let Some(mark) = rows.terms_read().mark {
        return wrong_mark(mark, NO_OPTIONS);
    }
    let Some(options) = &rows.terms_read().options else {
        return malformed_error(format!(
            "the log begins with columns, expected {}",
            H::OPTIONS
        ));
    };
    malformed_error(format!(
        "the frame has columns, which need version {COLUMNS_VERSION}, but {} have version {}",
        H::OPTIONS,
        options.version
    ))
}

/// Whether a file with length prefixes begins where a later field of a bare frame is expected.
#[cold]
fn is_joined(input: &Buffer, frame: &Frame) -> bool {
    frame.at > input.index && begins_delimited(&input.bytes[frame.at..frame.end])
}

#[cold]
fn delimited_after_bare(at: u64) -> WireError {
    malformed_error(format!(
        "a file with length prefixes was joined at byte {at} to a file without them; split the log there, and read \
         both files"
    ))
}

/// Reads a frame-based log.
pub(super) struct FrameReader<H: RowHandler> {
    reading: ReadSettings,
    rows: H,
    /// The boundary that ends a message, or `None` until the first row is read.
    ends: Option<MessageEnd>,
    parts: bool,
    frame: Option<Frame>,
    frames: FrameSplitter,
    metadata: FrameMetadata,
    /// Whether the metadata of the current frame was read ahead.
    metadata_was_read: bool,
    /// Index of the first frame of the stream.
    first_frame: u64,
    /// Offset of the first frame that repeats the options, if all frames are one message.
    repeated: Option<u64>,
    /// Size in bytes of the frames that are buffered until the first row arrives.
    held: u64,
    dropped_metadata: u64,
    warnings: DecoderWarnings,
    /// Decodes marked frames separately to check their marks.
    alone: Option<Box<H>>,
    header: Arc<LogHeader>,
    /// Whether the log ends with content or a delimiter. Set at the end of a log with marks.
    end: Option<LogEnd>,
    /// Searches for the marks at which the split begins and ends.
    marks: MarkFinder,
    /// Whether the mark at which the split begins has not been found yet.
    seeking: bool,
    /// Whether all further frames belong to other splits.
    done: bool,
    /// Whether the next frame belongs to another split, but its options end the open message.
    is_ending: bool,
    /// Whether the first frame of the log has a restart mark.
    restarts: bool,
}

impl<H: RowHandler> FrameReader<H> {
    /// Creates a reader.
    pub fn new(reading: ReadSettings) -> Self {
        Self {
            rows: H::new(&reading),
            ends: None,
            parts: false,
            frame: None,
            frames: FrameSplitter::new(&reading),
            metadata: FrameMetadata::default(),
            metadata_was_read: false,
            first_frame: 0,
            repeated: None,
            held: 0,
            dropped_metadata: 0,
            warnings: DecoderWarnings::default(),
            alone: None,
            header: LogHeader::none(),
            end: None,
            marks: MarkFinder::default(),
            seeking: false,
            done: false,
            is_ending: false,
            restarts: false,
            reading,
        }
    }

    fn is_flat(&self) -> bool {
        self.ends == Some(MessageEnd::Log)
    }

    /// Returns the reason if no message can be appended to the log.
    fn closed(&self) -> Option<&'static str> {
        if self.is_flat() {
            Some("all its frames are one message")
        } else if self.frames.is_bare() {
            Some("its only frame has no length prefix")
        } else {
            None
        }
    }

    /// Whether the metadata of the frame is dropped because its message has the metadata of an
    /// earlier frame.
    fn omits_metadata(&self) -> bool {
        self.is_flat() && self.frames.index > self.first_frame
    }

    /// Returns the name of the logical type if that type, not an option, makes all frames one
    /// message.
    fn flat_type(&self) -> Option<String> {
        let from_type = self.reading.frames.is_none() && self.is_flat();
        let options = self.rows.terms_read().options.as_ref();
        let options = options.filter(|options| options.version != COLUMNS_VERSION);
        let name = H::FLAT_TYPE.filter(|_| from_type)?;
        options.map(name)
    }

    /// Warns about a frame that is larger than recommended. A bare frame is not counted, because it
    /// cannot be split.
    #[inline]
    fn note_size(&mut self, input: &Buffer, frame: &Frame) {
        let size = frame.end - frame.at;
        if size > ADVISED_FRAME_BYTES && !self.frames.is_bare() {
            self.warnings.add("large-frame", || SuspiciousData {
                byte_offset: Some(input.offset_of(frame.at)),
                frame: Some(self.frames.index),
                text: format!("the frame of {size} bytes is larger than the recommended 1 MB"),
            });
        }
    }

    /// Warns about suspicious data in the rows of the frame.
    #[inline]
    fn note_suspicious(&mut self, input: &Buffer) {
        for (rule, text) in self.rows.terms().suspicious.drain(..) {
            self.warnings.add(rule, || SuspiciousData {
                byte_offset: Some(input.offset()),
                frame: Some(self.frames.index),
                text: text.to_owned(),
            });
        }
    }

    /// Warns about a marked frame with valid rows that depends on earlier frames.
    #[inline]
    fn check_mark(&mut self, input: &Buffer, end: usize) {
        if self.reading.checks_marks && input.offset() > 0 && !self.frames.is_bare() {
            self.check_mark_of(input, end);
        }
    }

    #[cold]
    fn check_mark_of(&mut self, input: &Buffer, end: usize) {
        let Some(frame) = input.bytes.get(input.index..end).and_then(after_length) else {
            return;
        };
        if is_marked(frame) && self.depends_on_others(input.offset(), frame) {
            self.warnings.add("wrong-mark", || SuspiciousData {
                byte_offset: Some(input.offset()),
                frame: Some(self.frames.index),
                text: "the frame has a restart mark, but depends on earlier frames; convert the \
                       log to Jelly again, which writes new marks"
                    .to_owned(),
            });
        }
    }

    /// Whether a marked frame cannot be decoded without the frames before it.
    fn depends_on_others(&mut self, mark: u64, frame: &[u8]) -> bool {
        if self.rows.columns().is_some() {
            // Restated options discard everything from before, but for the namespaces.
            let parts = FrameParts::read(frame, &(0..frame.len()));
            return !parts.is_ok_and(|parts| parts.has_options());
        }
        let reading = &self.reading;
        let rows = self.alone.get_or_insert_with(|| Box::new(H::new(reading)));
        rows.terms().builder.reset();
        rows.terms().reset();
        rows.reset();
        rows.terms().mark = Some(mark);
        rows.terms().builder.begin_message(mark);
        let mut wire = Wire::new(frame);
        while !wire.is_done() {
            let failed = match wire.read_field(H::FRAME_FIELDS, "the frame") {
                Ok((1, row)) => rows.any_row(row).is_err(),
                Ok(_) => false,
                Err(_) => true,
            };
            if failed {
                return true;
            }
        }
        false
    }

    /// Returns a note if logs may have been joined into one message.
    fn note_of_joined_logs(&self) -> Option<Reason> {
        if let Some(offset) = self.repeated {
            let text = format!(
                "a frame repeats the stream options at byte {offset}; if Jelly files were joined there, they became \
                 one message, in which equal blank node labels denote the same node"
            );
            return Some(Reason::from(text).with(SEPARATE_MESSAGES));
        }
        let repeats = self.frames.is_bare() && self.rows.terms_read().options_rows > 1;
        if !repeats || self.reading.joins == JoinMode::New {
            return None;
        }
        let text = "the frame contains the stream options more than once; if Jelly files without length prefixes were \
                    joined, they became one message";
        Some(Reason::from(text).with(SEPARATE_MESSAGES))
    }

    fn set_ends(&mut self, ends: Option<MessageEnd>) {
        self.ends = ends;
        self.parts = match self.reading.parts {
            Parts::Always => true,
            Parts::Frames => matches!(ends, Some(MessageEnd::Log | MessageEnd::Mark)),
            Parts::Never => false,
        };
    }

    /// Rebuilds the header if its values changed.
    fn update_header(&mut self) {
        let in_columns = self.rows.columns().is_some();
        let restarts = self.restarts
            && match self.ends {
                Some(MessageEnd::Frame) => true,
                Some(MessageEnd::Mark) => in_columns,
                _ => false,
            };
        // Frames of messages in the column layout have no meaning.
        let flat = self.ends.map(|ends| ends == MessageEnd::Log);
        let flat = flat.filter(|flat| *flat || !in_columns);
        let options = self.rows.terms_read().options.as_ref();
        let unchanged = self.header.flat == flat && self.header.restarts == restarts;
        if unchanged && self.header.options.is_empty() == options.is_none() {
            return;
        }
        self.header = Arc::new(LogHeader {
            options: options.map(H::values).unwrap_or_default(),
            flat,
            restarts,
            ..LogHeader::default()
        });
    }

    /// Moves to the first marked frame of the split. Returns false if it is not buffered yet, or if
    /// the split has none.
    fn seek(&mut self, input: &mut Buffer, split: Split) -> bool {
        let from = input
            .index(split.start.max(input.offset()))
            .unwrap_or(input.index);
        match self.marks.find(&input.bytes, from) {
            MarkSearch::Found(start) if input.offset_of(start) < split.stop => {
                input.index = start;
                self.rows.terms().mark = Some(input.offset_of(start));
                self.seeking = false;
                return true;
            }
            MarkSearch::None(searched)
                if input.offset_of(searched) < split.stop && !input.finished =>
            {
                input.index = searched.min(input.bytes.len());
            }
            _ => self.end_split(input),
        }
        false
    }

    fn end_split(&mut self, input: &mut Buffer) {
        self.done = true;
        input.release();
    }

    /// Whether the next frame belongs to the split and its head is buffered. Otherwise the split
    /// has ended or more input is needed.
    fn in_split(&mut self, input: &mut Buffer) -> bool {
        let Some(split) = self.reading.split else {
            return true;
        };
        if self.seeking && !self.seek(input, split) {
            return false;
        }
        if input.offset() < split.stop || self.is_ending {
            return true;
        }
        match begins_log(input.rest()) {
            Some(true) => {
                let open = |(_, terms): (_, &mut TermReader<Quad>)| terms.builder.is_open();
                self.is_ending = self.rows.columns().is_some_and(open);
                if !self.is_ending {
                    self.end_split(input);
                }
                self.is_ending
            }
            None => input.finished,
            Some(false) => true,
        }
    }

    /// Reports a mark inside a frame, if the next split would begin there.
    fn check_marks(&self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        let Some(split) = self.reading.split else {
            return Ok(());
        };
        if input.offset_of(frame.end) <= split.stop {
            return Ok(());
        }
        let stop = input.index(split.stop).unwrap_or_default();
        let from = stop.max(input.index + 1);
        let bytes = input.bytes.get(..frame.end).unwrap_or_default();
        match self.marks.find(bytes, from) {
            MarkSearch::Found(start) => {
                let at = input.offset_of(start);
                let reason =
                    format!("the restart mark at byte {at} is wrong: it is inside a frame");
                let reason = Reason::from(reason).with(WITHOUT_MARKS);
                Err(input.error(ErrorClass::Unsupported, reason))
            }
            MarkSearch::None(_) => Ok(()),
        }
    }

    /// Returns the next batch, or `None` if more input is needed or the log is complete.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<LogBatch<H::Record>>, ReadError> {
        loop {
            let mut frame = if let Some(open) = self.frame.take() {
                open
            } else {
                if !self.in_split(input) {
                    return Ok(if self.done {
                        self.rows.terms().builder.take()
                    } else {
                        self.completed()
                    });
                }
                match self.frames.next_frame(input)? {
                    NextFrame::Frame(frame) if self.is_ending => {
                        self.end_last_message(input, frame)?;
                        return Ok(self.rows.terms().builder.take());
                    }
                    NextFrame::Frame(frame) => {
                        self.note_size(input, &frame);
                        self.check_marks(input, &frame)?;
                        self.begin_frame(input, &frame)?;
                        frame
                    }
                    NextFrame::Wait => return Ok(self.completed()),
                    NextFrame::Done => return self.end(input),
                }
            };
            let is_cut = if self.rows.columns().is_some() {
                self.read_columns(input, &mut frame)?
            } else {
                self.read_rows(input, &mut frame)?
            };
            self.note_suspicious(input);
            if is_cut {
                self.read_metadata_ahead(input, &frame)?;
                self.frame = Some(frame);
                return Ok(self.cut());
            }
            self.check_mark(input, frame.end);
            input.index = frame.end;
            self.frames.index += 1;
            let builder = &mut self.rows.terms().builder;
            let full = match self.ends {
                None => {
                    builder.end_message();
                    false
                }
                Some(MessageEnd::Frame) => {
                    builder.end_message();
                    builder.is_full()
                }
                Some(MessageEnd::Log | MessageEnd::Mark) => self.parts && builder.is_part_full(),
            };
            if full {
                return Ok(self.cut());
            }
        }
    }

    /// Opens the frame's message, unless a message is already open or rows open messages.
    fn begin_frame(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        self.metadata_was_read = false;
        let bytes = &input.bytes[frame.at..frame.end];
        if input.offset() == 0 {
            self.restarts = self.reading.marks && !self.frames.is_bare() && is_marked(bytes);
        }
        if self.rows.terms_read().options.is_none() {
            self.decide_layout(input, bytes)?;
        }
        if self.ends.is_none() {
            self.decide_message_end(input, bytes)?;
        }
        if self.reading.split.is_some() && self.is_flat() {
            let reason = "all frames of the log are one message, so it cannot be read in splits; read it in one piece";
            return Err(input.error(ErrorClass::Unsupported, reason));
        }
        let in_rows = self.rows.columns().is_none();
        let terms = self.rows.terms();
        let has_options = in_rows && terms.options.is_some();
        terms.repeats_options = has_options && begins_with_options(bytes, H::FIELDS);
        if terms.repeats_options {
            self.repeat_options(input, bytes)?;
        }
        let terms = self.rows.terms();
        if self.ends != Some(MessageEnd::Mark) && !terms.builder.is_open() {
            terms.builder.begin_message(input.offset());
        }
        Ok(())
    }

    /// Begins a log in the column layout if the stream options of its first frame say so. Errors in
    /// the options are reported when the frame is read.
    fn decide_layout(&mut self, input: &Buffer, frame: &[u8]) -> Result<(), ReadError> {
        let FirstRow::Row(1, payload) = first_row(frame, H::FIELDS) else {
            return Ok(());
        };
        let options = read_options::<H>(&payload).ok();
        let options = options.filter(|options| options.version == COLUMNS_VERSION);
        let Some(options) = options else {
            return Ok(());
        };
        if self.rows.columns().is_some() || !self.rows.begin_columns() {
            return Ok(());
        }
        if self.frames.index > self.first_frame {
            let reason = "an earlier frame has no stream options, which the first frame must have";
            return Err(input.error(ErrorClass::Malformed, reason));
        }
        self.frames.forget_indices();
        let messages = options.stream_type == 1;
        if let Err(error) = check_meaning(self.reading.frames, messages) {
            let (class, reason) = error.into_parts();
            return Err(input.error(class, reason));
        }
        self.set_ends(Some(if messages {
            MessageEnd::Mark
        } else {
            MessageEnd::Log
        }));
        Ok(())
    }

    /// Reads a frame in the column layout. Returns true if the batch must end before the frame does.
    fn read_columns(&mut self, input: &Buffer, frame: &mut Frame) -> Result<bool, ReadError> {
        self.read_batch(input, frame)
            .map_err(|fault| self.column_error(input, frame, fault))
    }

    #[cold]
    fn column_error(&self, input: &Buffer, frame: &mut Frame, fault: Fault) -> ReadError {
        let Fault { start, row, error } = fault;
        (frame.at, frame.row) = (start, row);
        let (class, reason) = error.into_parts();
        self.frames.error(input, frame, class, reason, true)
    }

    /// Ends the last message of a split in the column layout, by the first frame of the next split.
    fn end_last_message(&mut self, input: &mut Buffer, mut frame: Frame) -> Result<(), ReadError> {
        let place = (frame.at, input.offset());
        let parts = FrameParts::read(&input.bytes, &(frame.at..frame.end));
        let ended = parts.and_then(|parts| match self.rows.columns() {
            Some((columns, terms)) => columns.end_message(&parts, place, terms),
            None => Ok(()),
        });
        ended.map_err(|fault| self.column_error(input, &mut frame, fault))?;
        self.end_split(input);
        Ok(())
    }

    /// Opens the frame, unless it is being expanded, and adds its statements.
    fn read_batch(&mut self, input: &Buffer, frame: &Frame) -> Located<bool> {
        let (is_flat, omits_metadata) = (self.is_flat(), self.omits_metadata());
        let bytes = &input.bytes;
        let Some((columns, terms)) = self.rows.columns() else {
            return Ok(false);
        };
        if !columns.is_expanding() {
            let contents = FrameParts::read(bytes, &(frame.at..frame.end))?;
            let place = (frame.at, input.offset());
            let begun = columns.open(bytes, &contents, place, terms)?;
            self.metadata_was_read = true;
            // Metadata belong to a message if it is the only one that begins in the frame.
            let keeps = if is_flat { !omits_metadata } else { begun == 1 };
            for entry in &contents.metadata {
                let entry_bytes = &bytes[entry.clone()];
                if keeps {
                    let stored = self.metadata.store(entry_bytes, &mut terms.builder);
                    stored.locate(entry.start)?;
                } else {
                    let counts = FrameMetadata::check(entry_bytes).locate(entry.start)?;
                    self.dropped_metadata += u64::from(counts);
                }
            }
            if keeps {
                if !terms.builder.is_open() {
                    terms.builder.begin_message(input.offset());
                }
                self.metadata.add_to(&mut terms.builder).locate(frame.at)?;
            }
        }
        columns.expand(bytes, self.parts, terms)
    }

    /// Handles a frame that repeats the options at its start, where a new stream may begin.
    #[cold]
    fn repeat_options(&mut self, input: &Buffer, frame: &[u8]) -> Result<(), ReadError> {
        if self.reading.joins != JoinMode::New {
            let at = input.offset();
            self.rows.terms().repeat_options(at);
            if self.is_flat() {
                self.repeated.get_or_insert(at);
            }
            return Ok(());
        }
        if let Some(reason) = self.rows.unfinished() {
            return Err(input.error(ErrorClass::Truncated, reason));
        }
        self.check_ends(input, frame)?;
        self.rows.begin_stream();
        let terms = self.rows.terms();
        terms.mark = None; // the new stream is read from its start
        if terms.builder.is_open() {
            terms.builder.end_message();
        }
        terms.begins_stream = true;
        self.first_frame = self.frames.index;
        Ok(())
    }

    /// Checks that messages end in the same way in a joined stream, because the header describes
    /// only one way.
    fn check_ends(&self, input: &Buffer, frame: &[u8]) -> Result<(), ReadError> {
        let FirstRow::Row(1, payload) = first_row(frame, H::FIELDS) else {
            return Ok(());
        };
        let Ok(options) = read_options::<H>(&payload) else {
            return Ok(()); // the error is reported when the row is read
        };
        if H::requested_ends(&self.reading).is_some()
            || self.ends == Some(H::ends(Some(&options), &self.reading))
        {
            return Ok(());
        }
        let at = input.offset();
        let reason = format!(
            "the file joined at byte {at} delimits its messages differently from the first file; split the log \
             there, and read both files"
        );
        Err(input.error(ErrorClass::Unsupported, reason))
    }

    /// Determines from the first row of a frame what ends a message. A frame without rows is
    /// buffered. If the first row is damaged or is not the options row, the error is reported when
    /// the row is read.
    fn decide_message_end(&mut self, input: &Buffer, frame: &[u8]) -> Result<(), ReadError> {
        let options = match first_row(frame, H::FIELDS) {
            FirstRow::None => {
                self.held += frame.len() as u64 + FRAME_OVERHEAD;
                if self.held <= self.reading.limits.max_message_bytes {
                    return Ok(());
                }
                let mut reason = Reason::from(format!(
                    "frames 0 to {} have no rows; the meaning of frames is unknown before the first row",
                    self.frames.index
                ));
                if H::FLAT_TYPE.is_some() {
                    reason = reason.with(FRAME_PER_MESSAGE);
                }
                return Err(input.error(ErrorClass::Limit, reason));
            }
            FirstRow::Row(1, payload) => read_options::<H>(&payload).ok(),
            _ => None,
        };
        let ends = H::ends(options.as_ref(), &self.reading);
        self.set_ends(Some(ends));
        if ends == MessageEnd::Frame {
            return Ok(());
        }
        self.join_buffered(input)
    }

    /// Merges the buffered frames, which are not separate messages. If the log is one message, that
    /// message begins with them.
    fn join_buffered(&mut self, input: &Buffer) -> Result<(), ReadError> {
        let builder = &mut self.rows.terms().builder;
        let Some(held) = builder.take() else {
            return Ok(());
        };
        builder.reset();
        if self.ends == Some(MessageEnd::Mark) {
            return Ok(());
        }
        builder.begin_message(held.byte_offset(0));
        let first = held.metadata(0);
        self.dropped_metadata += (held.all_metadata().len() - first.len()) as u64;
        for entry in first {
            if let Err(exceeded) = builder.add_metadata(&entry.key, &entry.value) {
                return Err(input.error(ErrorClass::Limit, exceeded.0));
            }
        }
        Ok(())
    }

    /// Returns the completed messages, or `None` while frames are buffered.
    fn completed(&mut self) -> Option<LogBatch<H::Record>> {
        let terms = self.rows.terms();
        if self.ends.is_none() || !terms.builder.has_messages() {
            return None;
        }
        terms.end_batch();
        terms.builder.take_complete(&mut FxHashMap::default())
    }

    /// Returns the completed messages, and the part of the open message that has been read.
    fn cut(&mut self) -> Option<LogBatch<H::Record>> {
        let terms = self.rows.terms();
        terms.end_batch();
        if terms.builder.is_open() {
            Some(terms.builder.take_part())
        } else {
            terms.builder.take()
        }
    }

    /// Returns the last batch.
    fn end(&mut self, input: &Buffer) -> Result<Option<LogBatch<H::Record>>, ReadError> {
        if let Some(reason) = self.rows.unfinished() {
            return Err(input.error(ErrorClass::Truncated, reason));
        }
        if self.ends.is_none() && self.reading.frames == Some(FrameMeaning::Flat) {
            self.join_buffered(input)?;
        }
        let open = self.rows.terms().builder.is_open();
        if open && self.ends == Some(MessageEnd::Mark) && self.rows.columns().is_some() {
            self.warnings.add(OPEN_END, || SuspiciousData {
                byte_offset: Some(input.offset()),
                frame: Some(self.frames.index.saturating_sub(1)),
                text: OPEN_END_TEXT.into(),
            });
        }
        if self.ends == Some(MessageEnd::Mark) {
            self.end.get_or_insert(if open {
                LogEnd::Content
            } else {
                LogEnd::Delimiter
            });
        }
        let builder = &mut self.rows.terms().builder;
        if open {
            builder.end_message();
        }
        Ok(builder.take())
    }

    /// Reads the remaining metadata of the frame, because the first part of a message must include
    /// it. Damage is reported later, when the rest of the frame is read.
    fn read_metadata_ahead(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        let has_metadata = H::FRAME_FIELDS >> METADATA_FIELD & 1 == 1;
        if !has_metadata || self.metadata_was_read || self.omits_metadata() {
            return Ok(());
        }
        self.metadata_was_read = true;
        let builder = &mut self.rows.terms().builder;
        let mut wire = Wire::new(&input.bytes[frame.at..frame.end]);
        let mut result = Ok(());
        while result.is_ok()
            && !wire.is_done()
            && let Ok((field, payload)) = wire.read_field(H::FRAME_FIELDS, "the frame")
        {
            if field == METADATA_FIELD {
                result = self.metadata.store(payload, builder).map(|_| ());
            }
        }
        match result.and_then(|()| self.metadata.add_to(builder)) {
            Err(error) if error.class() == ErrorClass::Limit => {
                let (class, reason) = error.into_parts();
                Err(input.error(class, reason))
            }
            _ => Ok(()),
        }
    }

    /// Reads the rows of a frame. Returns true if the batch must end before the frame does.
    fn read_rows(&mut self, input: &Buffer, frame: &mut Frame) -> Result<bool, ReadError> {
        let omits_metadata = self.omits_metadata();
        let bytes = &input.bytes[frame.at..frame.end];
        let rows = &mut self.rows;
        let mut wire = Wire::new(bytes);
        let mut in_row = false;
        let error = loop {
            if wire.is_done() {
                frame.at = frame.end;
                let result = self.metadata.add_to(&mut rows.terms().builder);
                match result.and_then(|()| rows.end_frame()) {
                    Ok(()) => return Ok(false),
                    Err(error) => break error,
                }
            }
            let start = frame.end - wire.rest().len();
            frame.at = start;
            match rows.usual_rows(&input.bytes, frame, self.parts) {
                Ok(true) => return Ok(true),
                Ok(false) => wire = Wire::new(&input.bytes[frame.at..frame.end]),
                Err(error) => {
                    in_row = true;
                    break error;
                }
            }
            if wire.is_done() {
                continue;
            }
            match wire.read_field(H::FRAME_FIELDS, "the frame") {
                Ok((1, row)) => {
                    rows.begin_row(input.offset_of(frame.at));
                    if let Err(error) = rows.any_row(row) {
                        in_row = true;
                        break error;
                    }
                    let ends_batch = if rows.take_mark() {
                        let builder = &mut rows.terms().builder;
                        builder.end_message();
                        builder.is_full()
                    } else {
                        self.parts && rows.terms().builder.is_part_full()
                    };
                    frame.row += 1;
                    if ends_batch {
                        frame.at = frame.end - wire.rest().len();
                        return Ok(true);
                    }
                }
                Ok((METADATA_FIELD, entry)) => {
                    let result = if omits_metadata || self.metadata_was_read {
                        FrameMetadata::check(entry)
                    } else {
                        self.metadata.store(entry, &mut rows.terms().builder)
                    };
                    match result {
                        Ok(counts) => {
                            self.dropped_metadata += u64::from(omits_metadata && counts);
                        }
                        Err(error) => {
                            in_row = true;
                            break error;
                        }
                    }
                }
                Ok((COLUMNS_FIELD, _)) => {
                    break unexpected_columns(rows, &input.bytes[frame.at..frame.end]);
                }
                Ok(_) => {
                    if self.frames.is_bare() && is_joined(input, frame) {
                        break delimited_after_bare(input.offset_of(frame.at));
                    }
                }
                Err(error) => break error,
            }
        };
        let error = if self.frames.is_bare() && is_joined(input, frame) {
            delimited_after_bare(input.offset_of(frame.at))
        } else {
            error
        };
        let (class, mut reason) = error.into_parts();
        if self.rows.terms().builder.is_too_large()
            && let Some(name) = self.flat_type()
        {
            let hint = format!("its type {name} makes all frames one message");
            reason = reason
                .with_rewording(|text| format!("{text}; {hint}"))
                .with(FRAME_PER_MESSAGE);
        }
        Err(self.frames.error(input, frame, class, reason, in_row))
    }
}

impl<H: RowHandler> Reader for FrameReader<H> {
    type Record = H::Record;

    fn builder_mut(&mut self) -> &mut LogBuilder<H::Record> {
        &mut self.rows.terms().builder
    }

    fn reset(&mut self) {
        let inner = self.reading.inner_split().is_some();
        self.rows.terms().reset();
        let first_message_index = self.reading.first_message_index.filter(|_| inner);
        self.builder_mut()
            .start_at(first_message_index.unwrap_or_default());
        self.rows.reset();
        self.set_ends(H::requested_ends(&self.reading));
        self.frame = None;
        self.frames.reset();
        self.metadata.clear();
        self.metadata_was_read = false;
        self.first_frame = self.frames.index;
        self.repeated = None;
        self.held = 0;
        self.dropped_metadata = 0;
        self.warnings = DecoderWarnings::default();
        self.end = None;
        self.seeking = inner;
        self.done = false;
        self.is_ending = false;
        self.restarts = false;
        self.update_header();
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<LogBatch<H::Record>>, ReadError> {
        if self.done {
            return Ok(None);
        }
        let read = self.read(input);
        self.update_header();
        read.map_err(|error| {
            let terms = self.rows.terms();
            if terms.options.is_some() || terms.mark.is_some() {
                return error;
            }
            self.frames.explain_error(input, error, H::FILE)
        })
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason = "frames depend on earlier frames, so none can be skipped";
        Err(input.error(ErrorClass::Unsupported, reason))
    }

    fn first_byte(&self) -> u64 {
        let split = self.reading.split;
        split.map_or(0, |split| split.start.saturating_sub(1))
    }

    fn knows_indices(&self) -> bool {
        self.reading.knows_indices()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn keep(&self, input: &Buffer) -> usize {
        if self.frame.is_some() { 0 } else { input.index }
    }

    fn header(&self) -> Arc<LogHeader> {
        Arc::clone(&self.header)
    }

    fn observations(&self) -> Observations {
        let flat = self.flat_type().map(|name| {
            Reason::from(format!("{name}: frames read as one message")).with(FRAME_PER_MESSAGE)
        });
        let continued = self.rows.terms_read().note_of_continued_tables();
        let joined = if continued.is_none() {
            self.note_of_joined_logs()
        } else {
            None
        };
        let has_open_end = self.warnings.0.iter().any(|found| found.rule == OPEN_END);
        let open_end = has_open_end.then(|| Reason::from(OPEN_END_TEXT));
        Observations {
            dropped_metadata: self.dropped_metadata,
            column_bytes: self.rows.column_bytes(),
            warnings: self.warnings.clone(),
            end: self.end,
            closed: self.closed(),
            notes: continued
                .into_iter()
                .chain(flat)
                .chain(self.rows.note().map(Reason::from))
                .chain(open_end)
                .collect(),
            joined,
            ..Observations::default()
        }
    }
}

/// Maximum frame size that the specifications recommend.
const ADVISED_FRAME_BYTES: usize = 1_000_000;
/// The rule for a log in the column layout whose last message has no length.
const OPEN_END: &str = "open-end";
const OPEN_END_TEXT: &str = "the log ends before the length of its last message, so the log may have been cut \
                             between two frames";
/// The option that reads each frame as a message.
const FRAME_PER_MESSAGE: Remedy = Remedy::read(
    "frames",
    "message",
    "reads each frame as a message, so blank nodes and queries no longer span frames",
);
/// The option that separates joined logs.
const SEPARATE_MESSAGES: Remedy = Remedy::read("joins", "new", "reads one message per file");
