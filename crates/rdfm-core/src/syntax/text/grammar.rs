//! The frame of the decoders whose grammars are no lines: a [`Grammar`] gets checked text, and its errors
//! get their positions.
//!
//! - In: bytes in pieces of any size.
//! - Out: messages in batches; errors with line and column.
//! - Cost: linear in the input; memory holds one batch, one piece and one incomplete token.
//! - Law: pieces change neither messages nor errors; what is complete before an error comes first.

use std::sync::Arc;

use simdutf8::compat::from_utf8;

use crate::codec::{Decoder, LogHeader, Noticed};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::remedy::Reason;
use crate::syntax::text::position::Lines;

/// Something wrong at a byte of the text.
#[derive(Debug)]
pub(crate) struct GrammarError {
    /// Index in the text.
    pub at: usize,
    /// What a caller can do.
    pub class: ErrorClass,
    /// What is wrong, what was expected, the way out.
    pub reason: Reason,
}

/// Why [`Grammar::run`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The batch is full: take it (or, while a message is open, a part) and run again.
    Full,
    /// More text is needed.
    Need,
    /// The log ended well.
    Done,
}

/// How much of the text there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// More may come.
    Open,
    /// Nothing more comes, since what follows is no text.
    Cut,
    /// The log ends here.
    End,
}

/// Reads a text that grows at its end.
pub(crate) trait Grammar: Send {
    /// The name of the log's format.
    fn format(&self) -> &'static str;

    /// Reads on in `text` from [`consumed`](Self::consumed) until something has to happen.
    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>>;

    /// Length of the text's start that is not looked at again.
    fn consumed(&self) -> usize;

    /// What is consumed is taken off: the text begins at this byte of the log now.
    fn forget(&mut self, consumed: &[u8], offset: u64);

    /// Where messages are built.
    fn builder(&mut self) -> &mut BatchBuilder;

    /// The messages that are complete, if any.
    fn take(&mut self) -> Option<MessageBatch>;

    /// What there is of an open message, too.
    fn take_part(&mut self) -> MessageBatch;

    /// Goes to the start of another log.
    fn reset(&mut self);

    /// Finds lines of what was noted at bytes of the log that are at hand.
    fn locate(&mut self, _line: impl Fn(u64) -> u64) {}

    /// What the log says about itself.
    fn header(&self) -> Arc<LogHeader> {
        LogHeader::none()
    }

    /// What was noticed; `done` at its end.
    fn noticed(&self, _done: bool) -> Noticed {
        Noticed::default()
    }
}

/// A decoder of a grammar.
pub(crate) struct TextDecoder<G> {
    grammar: G,
    /// What is not consumed yet, and before [`Grammar::consumed`] what is.
    buffer: Vec<u8>,
    /// Length of the checked text at the buffer's start.
    valid: usize,
    /// The byte after the checked text is no UTF-8.
    invalid: bool,
    ended: bool,
    done: bool,
    lines: Lines,
    parts: bool,
    failed: Option<DecodeError>,
}

impl<G: Grammar> TextDecoder<G> {
    /// At the start of a log; with `parts`, messages larger than a batch come in parts.
    pub fn new(grammar: G, parts: bool) -> Self {
        Self {
            grammar,
            buffer: Vec::new(),
            valid: 0,
            invalid: false,
            ended: false,
            done: false,
            lines: Lines::default(),
            parts,
            failed: None,
        }
    }

    /// Checks what was fed since the last call.
    fn check_utf8(&mut self) {
        if self.invalid || self.valid == self.buffer.len() {
            return;
        }
        match from_utf8(&self.buffer[self.valid..]) {
            Ok(_) => self.valid = self.buffer.len(),
            Err(error) => {
                self.valid += error.valid_up_to();
                self.invalid = error.error_len().is_some() || self.ended;
            }
        }
    }

    fn not_utf8(&self) -> GrammarError {
        let first = self.lines.offset() == 0 && self.valid == 0;
        let wide = first && matches!(self.buffer.first(), Some(0xFE | 0xFF));
        GrammarError {
            at: self.valid,
            class: ErrorClass::Malformed,
            reason: if wide {
                "the log seems to be UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"
            } else {
                "invalid UTF-8; the log must be UTF-8 text"
            }
            .into(),
        }
    }

    fn fail(&mut self, error: GrammarError) -> Result<Option<MessageBatch>, DecodeError> {
        let at = error.at.min(self.buffer.len());
        let builder = self.grammar.builder();
        let message = Some(builder.message_index());
        if builder.is_open() {
            builder.discard_message();
        }
        self.failed = Some(DecodeError {
            format: self.grammar.format(),
            class: error.class,
            reason: error.reason,
            position: Position {
                offset: self.lines.offset() + at as u64,
                message,
                line_column: Some(self.lines.position(&self.buffer[..at])),
                frame_row: None,
            },
        });
        self.buffer = Vec::new();
        match self.grammar.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.next_batch(),
        }
    }
}

impl<G: Grammar> Decoder for TextDecoder<G> {
    fn feed(&mut self, piece: &[u8]) {
        if self.failed.is_some() || self.done {
            return;
        }
        let used = self.grammar.consumed();
        if used > 0 && used >= self.buffer.len() / 2 {
            let consumed = &self.buffer[..used];
            self.lines.advance(consumed);
            self.grammar.forget(consumed, self.lines.offset());
            self.buffer.drain(..used);
            self.valid -= used;
        }
        self.buffer.extend_from_slice(piece);
    }

    fn finish(&mut self) {
        self.ended = true;
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.done {
            return Ok(None);
        }
        self.check_utf8();
        let reach = match (self.invalid, self.ended) {
            (true, _) => Reach::Cut,
            (false, true) => Reach::End,
            (false, false) => Reach::Open,
        };
        let paused = self.grammar.run(&self.buffer[..self.valid], reach);
        self.grammar.locate(|offset| {
            let before = offset.saturating_sub(self.lines.offset()) as usize;
            self.lines
                .position(self.buffer.get(..before).unwrap_or_default())
                .0
        });
        match paused {
            Ok(Pause::Full) if self.parts && self.grammar.builder().is_open() => {
                Ok(Some(self.grammar.take_part()))
            }
            Ok(Pause::Need) if self.invalid => {
                let error = self.not_utf8();
                self.fail(error)
            }
            Ok(Pause::Full | Pause::Need) => Ok(self.grammar.take()),
            Ok(Pause::Done) => {
                self.done = true;
                self.buffer = Vec::new();
                Ok(self.grammar.take())
            }
            Err(error) => self.fail(*error),
        }
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn reset(&mut self) {
        self.buffer.clear();
        self.valid = 0;
        self.invalid = false;
        self.ended = false;
        self.done = false;
        self.lines = Lines::default();
        self.grammar.reset();
        self.failed = None;
    }

    fn header(&self) -> Arc<LogHeader> {
        self.grammar.header()
    }

    fn noticed(&self) -> Noticed {
        self.grammar.noticed(self.done)
    }
}
