//! Decoder for Jelly-SPARQL.
//!
//! - In: bytes in pieces of any size.
//! - Out: one message per row. The result sets of a stream are one log, which has one list of
//!   variables.
//! - Cost: linear; memory is bounded by one frame, one piece and one batch. Rows are expanded batch by
//!   batch.
//! - Law: nothing of a frame is added before all of it has been checked. The rows before an error, or
//!   before a trailer with an error, are returned first.

use std::sync::Arc;

use super::super::columns::{
    CellCursor, Column, ColumnRules, Fault, Locate as _, Located, NO_OPTIONS, Version, fault,
    set_entries,
};
use super::super::frames::{Frame, FrameSplitter, NextFrame};
use super::super::options::{OptionsRow, ReadSettings};
use super::super::term_reader::TermReader;
use super::frame::ResultFrame;
use super::stream::{PUNCTUATED_TYPE, read_options};
use crate::codec::Observations;
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::result_head::Variables;
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::error::{ErrorClass, format_count, quote_up_to};
use crate::model::record::{Record as _, ResultHead};
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::syntax::wire::{Checked, WireError, limit, malformed_error};

/// What the column of a variable may contain.
const KINDS: u8 = 0b1111;
/// Number of characters of a trailer's error that are shown.
const MAX_SHOWN: usize = 1000;

/// A frame that is being expanded.
struct OpenFrame {
    /// Number of rows that are left.
    left: u32,
    row: u64,
    cursors: Vec<CellCursor>,
    /// Whether the frame ends its result set, and the error in its trailer.
    ends: bool,
    failure: Option<Fault>,
}

/// Decodes a stream of result sets.
pub(super) struct ResultSetReader {
    frames: FrameSplitter,
    terms: TermReader<TermId>,
    max: u64,
    /// The header of the log, after the first frame.
    head: Option<Arc<ResultHead>>,
    variables: Variables,
    is_punctuated: bool,
    version: Version,
    /// Whether a result set is open, which needs a trailer.
    in_set: bool,
    /// Number of result sets that have begun.
    sets: u64,
    open: Option<OpenFrame>,
    batch_returned: bool,
    dropped_metadata: u64,
}

impl ResultSetReader {
    pub fn new(mut reading: ReadSettings) -> Self {
        reading.delimited = Some(true);
        Self {
            frames: FrameSplitter::new(&reading),
            terms: TermReader::new(&reading),
            max: reading.limits.max_message_bytes,
            head: None,
            variables: Variables::default(),
            is_punctuated: false,
            version: Version::default(),
            in_set: false,
            sets: 0,
            open: None,
            batch_returned: false,
            dropped_metadata: 0,
        }
    }

    /// Returns the completed rows, or only the header if the log is complete and has no rows.
    fn take_rows(&mut self, done: bool) -> Option<ResultBatch> {
        let mut batch = self.terms.builder.take();
        if batch.is_none() && done && !self.batch_returned {
            batch = Some(self.terms.builder.take_head());
        }
        self.batch_returned |= batch.is_some();
        batch
    }

    /// Checks that the log is complete.
    fn check_end(&self, input: &Buffer) -> Result<(), ReadError> {
        let reason = if self.head.is_none() {
            "the log ends before the stream options"
        } else if self.in_set {
            "the log ends before the trailer of its result set, so rows may be missing"
        } else {
            return Ok(());
        };
        Err(input.error(ErrorClass::Truncated, reason))
    }

    /// Reads a frame, or continues it. Returns true if the batch must end before the frame does.
    fn read_frame(&mut self, bytes: &[u8], offset: u64) -> Located<bool> {
        let mut frame = match self.open.take() {
            Some(frame) => frame,
            None => self.open_frame(bytes)?,
        };
        let builder_is_full = expand(&mut frame, bytes, offset, &mut self.terms)?;
        if builder_is_full {
            self.open = Some(frame);
            return Ok(true);
        }
        if let Some(failure) = frame.failure {
            return Err(failure);
        }
        self.in_set &= !frame.ends;
        Ok(false)
    }

    /// Checks a frame, and sets its lookup entries.
    fn open_frame(&mut self, bytes: &[u8]) -> Located<OpenFrame> {
        let parts = ResultFrame::read(bytes)?;
        self.begin_frame(bytes, &parts)?;
        set_entries(bytes, &parts.tables, &mut self.terms)?;
        self.check_columns(&parts)?;
        let mut cursors = Vec::with_capacity(parts.columns.len());
        for (index, range) in parts.columns.iter().enumerate() {
            let place = ColumnRules {
                name: self.variables.name(index),
                kinds: KINDS,
                bound: false,
            };
            let size = (parts.rows, self.version);
            let column = Column::open(bytes, range, place, size, &mut self.terms)?;
            cursors.push(CellCursor::new(bytes, column).locate(range.start)?);
        }
        let failure = parts.trailer.as_ref().filter(|text| !text.is_empty());
        Ok(OpenFrame {
            left: parts.rows,
            row: 0,
            cursors,
            ends: parts.trailer.is_some(),
            failure: failure.map(|text| {
                let shown = quote_up_to(&bytes[text.clone()], MAX_SHOWN);
                let reason = format!("the result set is incomplete; its trailer says {shown}");
                Fault {
                    row: parts.rows.into(),
                    ..fault(text.start, reason)
                }
            }),
        })
    }

    /// Applies the stream options, and begins a result set if the frame is its first one.
    fn begin_frame(&mut self, bytes: &[u8], parts: &ResultFrame) -> Located<()> {
        let begins = parts.options.is_some() || !self.in_set;
        if let Some((at, options)) = &parts.options {
            if self.in_set && self.is_punctuated {
                let reason = "the frame has stream options, which only the first frame of a result set may have in a \
                              PUNCTUATED stream";
                return Err(fault(*at, reason));
            }
            if self
                .head
                .as_ref()
                .is_some_and(|head| head.boolean.is_some())
                && !self.is_punctuated
            {
                let reason = "a frame follows the ASK result of a FLAT stream";
                return Err(fault(*at, reason));
            }
            self.apply(options).locate(*at)?;
        } else if self.head.is_none() {
            return Err(fault(0, NO_OPTIONS));
        } else if begins && !self.is_punctuated {
            let reason = "a frame without stream options follows the trailer of a FLAT stream";
            return Err(fault(0, reason));
        }
        let (links, others) = parts.links(bytes)?;
        self.dropped_metadata += others;
        if begins {
            self.begin_set(bytes, parts, links.unwrap_or_default())?;
        } else {
            self.dropped_metadata += u64::from(links.is_some());
            self.check_later_frame(parts)?;
        }
        Ok(())
    }

    /// Checks a frame that is not the first one of its result set.
    fn check_later_frame(&self, parts: &ResultFrame) -> Located<()> {
        let only_first = "which only the first frame of a result set may have";
        if let Some(variable) = parts.variables.first() {
            let reason = format!("the frame has variables, {only_first}");
            return Err(fault(variable.start, reason));
        }
        if let Some((at, _)) = parts.answer {
            let reason = format!("the frame has an ASK result, {only_first}");
            return Err(fault(at, reason));
        }
        if self
            .head
            .as_ref()
            .is_some_and(|head| head.boolean.is_some())
        {
            let reason = "a frame without stream options follows an ASK result that has no trailer";
            return Err(fault(0, reason));
        }
        Ok(())
    }

    /// Begins a result set.
    fn begin_set(
        &mut self,
        bytes: &[u8],
        parts: &ResultFrame,
        links: Vec<Box<str>>,
    ) -> Located<()> {
        let first = parts.variables.first().map_or(0, |range| range.start);
        if let Some((at, _)) = parts.answer {
            let has_rows = parts.rows > 0 || !parts.columns.is_empty();
            if has_rows || !parts.variables.is_empty() {
                let reason = "a frame with an ASK result has variables, columns or rows";
                return Err(fault(at, reason));
            }
        }
        self.variables.clear();
        let mut size = 0;
        for (name, range) in parts.names(bytes)?.into_iter().zip(&parts.variables) {
            size += (name.len() + size_of::<CellCursor>()) as u64;
            self.check_head(size).locate(range.start)?;
            self.variables
                .add(name)
                .map_err(malformed_error)
                .locate(range.start)?;
        }
        size += links.iter().map(|link| link.len() as u64 + 16).sum::<u64>();
        self.check_head(size).locate(first)?;
        let head = ResultHead {
            variables: self.variables.names(),
            boolean: parts.answer.map(|(_, answer)| answer),
            links,
        };
        if let Some(before) = &self.head {
            let head = Arc::new(head);
            if *before != head {
                let reason = TermId::different_head_reason(before, &head);
                let error = WireError::new(ErrorClass::Unsupported, reason);
                return Err(error).locate(first);
            }
        } else {
            let head = Arc::new(head);
            self.terms.builder.set_head(Arc::clone(&head));
            self.head = Some(head);
        }
        if self.is_punctuated {
            let labels = self.terms.labels.get_or_insert_default();
            labels.begin(self.sets);
        }
        self.in_set = true;
        self.sets += 1;
        Ok(())
    }

    fn check_head(&self, size: u64) -> Checked<()> {
        if size <= self.max {
            return Ok(());
        }
        let text = format!("the variables and links take more than {} bytes", self.max);
        Err(limit(Reason::limit(text, "max_message_bytes")))
    }

    /// Applies the first stream options, or restated ones.
    fn apply(&mut self, bytes: &[u8]) -> Checked<()> {
        let options: OptionsRow = read_options(bytes)?;
        if let Some(first) = &self.terms.options
            && first.physical_type != options.physical_type
        {
            return Err(malformed_error(format!(
                "the restated stream options change stream_type from {} to {}",
                first.physical_type, options.physical_type
            )));
        }
        self.is_punctuated = options.physical_type == PUNCTUATED_TYPE;
        self.version = Version(options.stream_type);
        self.terms.open(&options, false)?;
        self.terms.options.get_or_insert(options);
        Ok(())
    }

    /// Checks the number of columns.
    fn check_columns(&self, parts: &ResultFrame) -> Located<()> {
        let (columns, variables) = (parts.columns.len(), self.variables.len());
        if columns == variables || (columns == 0 && parts.rows == 0) {
            return Ok(());
        }
        let at = parts.columns.first().map_or(0, |range| range.start);
        let (columns, variables) = (
            format_count(columns, "column"),
            format_count(variables, "variable"),
        );
        let reason = format!("the frame has {columns}, but the result set has {variables}");
        Err(fault(at, reason))
    }
}

/// Adds rows to the builder. Returns true if the batch must end before the frame does.
fn expand(
    frame: &mut OpenFrame,
    bytes: &[u8],
    offset: u64,
    terms: &mut TermReader<TermId>,
) -> Located<bool> {
    while frame.left > 0 {
        if terms.builder.is_full() {
            return Ok(true);
        }
        terms.builder.begin_message(offset);
        for cursor in &mut frame.cursors {
            let added = cursor
                .next(bytes, terms)
                .and_then(|id| Ok(terms.builder.add(id)?));
            if let Err(error) = added {
                let row = frame.row;
                return Err(Fault {
                    start: 0,
                    row,
                    error,
                });
            }
        }
        terms.builder.end_message();
        frame.left -= 1;
        frame.row += 1;
    }
    Ok(false)
}

impl Reader for ResultSetReader {
    type Record = TermId;

    fn builder_mut(&mut self) -> &mut ResultBuilder {
        &mut self.terms.builder
    }

    fn reset(&mut self) {
        self.frames.reset();
        self.terms.reset();
        self.head = None;
        self.variables.clear();
        self.is_punctuated = false;
        self.version = Version::default();
        self.in_set = false;
        self.sets = 0;
        self.open = None;
        self.batch_returned = false;
        self.dropped_metadata = 0;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<ResultBatch>, ReadError> {
        loop {
            let frame = match self.frames.next_frame(input)? {
                NextFrame::Frame(frame) => frame,
                NextFrame::Wait => return Ok(self.take_rows(false)),
                NextFrame::Done => {
                    self.check_end(input)?;
                    return Ok(self.take_rows(true));
                }
            };
            let bytes = &input.bytes[frame.at..frame.end];
            match self.read_frame(bytes, input.offset()) {
                Ok(true) => return Ok(self.take_rows(false)),
                Ok(false) => {}
                Err(Fault { start, row, error }) => {
                    let frame = Frame {
                        at: frame.at + start,
                        row,
                        ..frame
                    };
                    let (class, reason) = error.into_parts();
                    return Err(self.frames.error(input, &frame, class, reason, true));
                }
            }
            input.index = frame.end;
            self.frames.index += 1;
        }
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason =
            "rows of a damaged log cannot be skipped, because later frames depend on earlier ones";
        Err(input.error(ErrorClass::Unsupported, reason))
    }

    fn observations(&self) -> Observations {
        Observations {
            dropped_metadata: self.dropped_metadata,
            ..Observations::default()
        }
    }
}
