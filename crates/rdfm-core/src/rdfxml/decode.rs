//! Reads RDF/XML logs: pieces of bytes to batches.
//!
//! - In: bytes in pieces of any size.
//! - Out: messages in batches; errors with line and column.
//! - Cost: linear in the input; memory holds one batch, one piece and one incomplete token.
//! - Law: pieces change neither messages nor errors; what is complete before a fault comes first.

use simdutf8::compat::from_utf8;

use super::machine::{Machine, Pause};
use super::xml::Fault;
use crate::batch::{BatchBuilder, MessageBatch};
use crate::codec::{DecodeOptions, Decoder, LogHeader};
use crate::error::{DecodeError, ErrorClass, Place};
use crate::formats::Format;
use crate::text::position::Lines;

/// Decoder of RDF/XML.
pub struct RdfXmlDecoder {
    /// What is not consumed yet, and before [`Machine::pos`] what is.
    buffer: Vec<u8>,
    /// Length of the checked text at the buffer's start.
    valid: usize,
    /// The byte after the checked text is no UTF-8.
    invalid: bool,
    ended: bool,
    done: bool,
    lines: Lines,
    machine: Machine,
    parts: bool,
    failed: Option<DecodeError>,
}

impl RdfXmlDecoder {
    /// At the start of a log.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub fn new(options: &DecodeOptions) -> Result<Self, String> {
        // Places in the arena are 32 bits wide.
        let mut limits = options.limits.clone();
        limits.max_message_bytes = limits.max_message_bytes.min(3 << 30);
        limits.batch_bytes = limits.batch_bytes.min(512 << 20);
        Ok(Self {
            buffer: Vec::new(),
            valid: 0,
            invalid: false,
            ended: false,
            done: false,
            lines: Lines::default(),
            machine: Machine::new(BatchBuilder::new(limits), options)?,
            parts: options.parts,
            failed: None,
        })
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

    fn not_utf8(&self) -> Fault {
        let first = self.machine.offset == 0 && self.valid == 0;
        let wide = first && matches!(self.buffer.first(), Some(0xFE | 0xFF));
        Fault {
            at: self.valid,
            class: ErrorClass::Malformed,
            reason: if wide {
                "the log seems to be UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"
            } else {
                "invalid UTF-8; the log must be UTF-8 text"
            }
            .to_owned(),
        }
    }

    fn fail(&mut self, fault: Fault) -> Result<Option<MessageBatch>, DecodeError> {
        let at = fault.at.min(self.buffer.len());
        self.failed = Some(DecodeError {
            format: Format::RdfXml.name(),
            class: fault.class,
            reason: fault.reason,
            place: Place {
                offset: self.machine.offset + at as u64,
                message: Some(self.machine.builder.message_index()),
                line_column: Some(self.lines.place(&self.buffer[..at])),
                frame_row: None,
            },
        });
        if self.machine.builder.is_open() {
            self.machine.builder.discard_message();
        }
        self.buffer = Vec::new();
        match self.machine.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.next_batch(),
        }
    }
}

impl Decoder for RdfXmlDecoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.failed.is_some() || self.done {
            return;
        }
        let used = self.machine.pos;
        if used > 0 && used >= self.buffer.len() / 2 {
            self.lines.advance(&self.buffer[..used]);
            self.buffer.drain(..used);
            self.valid -= used;
            self.machine.pos = 0;
            self.machine.offset = self.lines.offset();
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
        let ended = self.ended && !self.invalid;
        match self.machine.run(&self.buffer[..self.valid], ended) {
            Ok(Pause::Full) if self.parts && self.machine.builder.is_open() => {
                Ok(Some(self.machine.take_part()))
            }
            Ok(Pause::Need) if self.invalid => {
                let fault = self.not_utf8();
                self.fail(fault)
            }
            Ok(Pause::Full | Pause::Need) => Ok(self.machine.take()),
            Ok(Pause::Done) => {
                self.done = true;
                self.buffer = Vec::new();
                Ok(self.machine.take())
            }
            Err(fault) => self.fail(*fault),
        }
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn reset(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.buffer = buffer;
        self.valid = 0;
        self.invalid = false;
        self.ended = false;
        self.done = false;
        self.lines = Lines::default();
        self.machine.reset();
        self.failed = None;
    }

    fn header(&self) -> LogHeader {
        LogHeader::default()
    }
}
