//! NDJSON-LD logs. Each line is a context, an empty message or a message.
//!
//! - In: pieces of any size. Only complete lines are read.
//! - Out: batches of complete messages, as soon as all complete lines are read.
//! - Cost: linear. Memory is bounded by a line, its tape, a piece and a batch.
//! - Law: how the input is cut changes neither messages nor errors. LF ends a line; a CR before it
//!   is white space.

use super::forms::Forms;
use super::lost::may_be_context;
use super::options::DocumentReading;
use super::reader::MessageReader;
use crate::codec::Observations;
use crate::codec::input::{Buffer, ReadError, Reader, Skipped};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::BOM;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::json::parse::parse_surveyed;
use crate::syntax::json::survey::Survey;
use crate::syntax::json::{ParseError, Tape, View};
use crate::syntax::text::position::LinePosition;

/// Reads NDJSON-LD.
pub struct NdjsonReader {
    reader: MessageReader,
    builder: BatchBuilder,
    tape: Tape,
    forms: Forms,
    /// The bytes between the first unread byte and this index contain no line breaks.
    scanned: usize,
    lines: LinePosition,
    max: u64,
    lenient: bool,
    /// Whether the current line is complete JSON.
    is_json: bool,
    /// The first bytes of the line with the error, while it is being skipped.
    skipped: Option<Skipped>,
}

impl NdjsonReader {
    /// Creates a reader.
    ///
    /// # Errors
    /// If the base is not an absolute IRI.
    pub(super) fn new(options: &DocumentReading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            tape: Tape::new(),
            forms: Forms::default(),
            scanned: 0,
            lines: LinePosition::default(),
            max: options.limits.max_message_bytes,
            lenient: options.lenient,
            is_json: false,
            skipped: None,
        })
    }

    /// Returns the end of the next complete line, and the start of the line after it. At the end of
    /// the log, the last line is complete even without a line feed.
    fn next_line(&mut self, input: &Buffer) -> Result<Option<(usize, usize)>, ParseError> {
        let from = self.scanned.max(input.index);
        let rest = input.bytes.get(from..).unwrap_or_default();
        let line_end = memchr::memchr(b'\n', rest).map(|end| from + end);
        let end = line_end.unwrap_or(input.bytes.len());
        if (end - input.index) as u64 > self.max {
            // Upper bound, regardless of how many bytes are buffered.
            let line = &input.rest()[..self.max as usize];
            self.lose_context(line.strip_prefix(BOM).unwrap_or(line));
            return Err(too_long("line", self.max));
        }
        if line_end.is_none() {
            self.scanned = end;
        }
        let last = input.finished && end > input.index;
        Ok(match line_end {
            Some(end) => Some((end, end + 1)),
            None => last.then_some((end, end)),
        })
    }

    /// Reads a line. Positions of errors are relative to the line.
    fn read_line(&mut self, input: &Buffer, end: usize) -> Result<(), ParseError> {
        let offset = input.offset();
        self.is_json = false;
        let mut line = input.bytes.get(input.index..end).unwrap_or_default();
        let mut bom_bytes = 0;
        // Logs joined from several files may contain byte order marks at the joins.
        let bom_result = check_bom(line, self.lenient || offset == 0);
        if line.starts_with(BOM) {
            bom_bytes = BOM.len();
            line = &line[bom_bytes..];
        }
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            bom_result?;
            if self.lenient {
                return Ok(());
            }
            return Err(ParseError {
                position: 0,
                class: ErrorClass::Malformed,
                reason: Reason::new("expected a JSON value, found a blank line")
                    .with(Remedy::lenient("skips blank lines")),
            });
        }
        let survey = Survey::new(line);
        let check_line = || {
            if survey.is_ascii {
                Ok(())
            } else {
                check_utf8(line)
            }
        };
        let outcome = match bom_result.and_then(|()| check_line()) {
            Ok(()) => self.read_utf8_line(line, &survey, offset + bom_bytes as u64),
            Err(error) => {
                self.lose_context(line);
                Err(error)
            }
        };
        outcome.map_err(|error| ParseError {
            position: error.position + bom_bytes,
            ..error
        })
    }

    /// Reads a line that is valid UTF-8.
    fn read_utf8_line(
        &mut self,
        line: &[u8],
        survey: &Survey,
        offset: u64,
    ) -> Result<(), ParseError> {
        let start = |view: &View<'_>| offset + u64::from(view.node(0).index);
        if let Some(form) = self.forms.find(line, survey, self.reader.version()) {
            let view = View {
                tape: form.template.tape(),
                source: line,
            };
            self.is_json = true;
            let (builder, plan) = (&mut self.builder, form.plan.as_mut());
            return self.reader.read_known(&view, start(&view), builder, plan);
        }
        if let Err(error) = parse_surveyed(line, survey, &mut self.tape, self.reader.bounds()) {
            self.lose_context(line);
            return Err(error);
        }
        self.is_json = true;
        let view = View {
            tape: &self.tape,
            source: line,
        };
        self.reader.read(&view, start(&view), &mut self.builder)?;
        self.forms
            .add(&view, survey, &mut self.reader, &mut self.builder);
        Ok(())
    }

    /// Marks the context in force as unknown if an unreadable line may be a context.
    #[cold]
    fn lose_context(&mut self, line: &[u8]) {
        if may_be_context(line) {
            self.reader.lose_context(self.builder.message_index());
        }
    }

    /// Converts an error in the next line to the decoder's error.
    #[cold]
    fn fail(&mut self, input: &Buffer, error: ParseError, last: bool) -> ReadError {
        self.skipped = Some(Skipped::default());
        let error = read_error(&self.lines, input, error, last);
        ReadError {
            resumable: true,
            ..error
        }
    }

    /// Moves to the next line.
    fn go_to(&mut self, input: &mut Buffer, next: usize) {
        let bytes = (next - input.index) as u64;
        let ended = input.bytes.get(next.wrapping_sub(1)) == Some(&b'\n');
        self.lines.advance_lines(bytes, u64::from(ended));
        input.index = next;
        self.scanned = next;
    }
}

impl Reader for NdjsonReader {
    type Record = Quad;

    fn builder_mut(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.scanned = 0;
        self.lines = LinePosition::default();
        self.skipped = None;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        loop {
            let line_end = self.next_line(input);
            let line_end = line_end.map_err(|error| self.fail(input, error, false))?;
            let Some((end, next)) = line_end else {
                return Ok(self.builder.take());
            };
            self.read_line(input, end)
                .map_err(|error| self.fail(input, error, next == end))?;
            self.go_to(input, next);
            if self.builder.is_full() && self.builder.has_messages() {
                return Ok(self.builder.take());
            }
        }
    }

    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        (!self.is_json).then(|| input.offset())
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skipped) = self.skipped.take() else {
            return Ok(Some(Vec::new()));
        };
        let rest = input.rest();
        let line = memchr::memchr(b'\n', rest).map_or(rest, |end| &rest[..=end]);
        skipped.add(line);
        let ended = line.last() == Some(&b'\n');
        self.go_to(input, input.index + line.len());
        if !ended && !input.finished {
            self.skipped = Some(skipped);
            return Ok(None);
        }
        Ok(Some(skipped.take()))
    }

    fn forget(&mut self, consumed: &[u8]) {
        self.scanned = self.scanned.saturating_sub(consumed.len());
    }

    fn observations(&self) -> Observations {
        self.reader.observations()
    }
}

/// Converts an error in the unread input. `last` is true if the log ends there. Only then can the
/// error mean that the log is truncated.
#[cold]
pub(super) fn read_error(
    lines: &LinePosition,
    input: &Buffer,
    error: ParseError,
    last: bool,
) -> ReadError {
    let class = match error.class {
        ErrorClass::Truncated if !last => ErrorClass::Malformed,
        class => class,
    };
    lines.error(input.rest(), error.position, class, error.reason)
}

/// Returns the error for a line or document that is longer than a message may be.
pub(super) fn too_long(unit: &str, max: u64) -> ParseError {
    ParseError {
        position: 0,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!("the {unit} is longer than {max} bytes"),
            "max_message_bytes",
        ),
    }
}

/// Rejects a byte order mark where it is not allowed.
fn check_bom(text: &[u8], allowed: bool) -> Result<(), ParseError> {
    if allowed || !text.starts_with(BOM) {
        return Ok(());
    }
    Err(ParseError {
        position: 0,
        class: ErrorClass::Malformed,
        reason: Reason::new(
            "expected a JSON value, found a byte order mark after the start of the log",
        )
        .with(Remedy::lenient("skips it")),
    })
}

/// Rejects text that is not UTF-8.
pub(crate) fn check_utf8(text: &[u8]) -> Result<(), ParseError> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(());
    }
    let error = simdutf8::compat::from_utf8(text).err();
    Err(ParseError {
        position: error.map_or(0, |error| error.valid_up_to()),
        class: ErrorClass::Malformed,
        reason: "invalid UTF-8; the log must be UTF-8 text".into(),
    })
}
