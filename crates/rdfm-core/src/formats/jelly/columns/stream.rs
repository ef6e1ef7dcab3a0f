//! Reads the frames of a log in the column layout.
//!
//! - In: complete frames. The first one has the stream options, and later ones may restate them.
//! - Out: messages in the builder.
//! - Law: restated options empty the lookup tables and end the open message. The types and the
//!   version stay the same.

use std::ops::Range;

use super::DRAFT;
use super::batch::{ColumnBatch, SIZED, Stream};
use super::column::Version;
use super::fields::{Fields, Locate as _, Located, fault};
use crate::formats::jelly::lookup::wrong_mark;
use crate::formats::jelly::options::{
    COLUMNS_VERSION, FrameMeaning, MIN_COLUMN_NAMES, OptionsRow, PhysicalType,
};
use crate::formats::jelly::rows::ROW_NAMES;
use crate::formats::jelly::term_reader::TermReader;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::wire::{Checked, WireError, malformed_error};

/// Fields of the stream options, as a bit set.
const OPTIONS: u32 = 0b1100_1110_0111_1110;

/// Error text for a first frame, or a marked frame, without stream options.
pub(in crate::formats::jelly) const NO_OPTIONS: &str =
    "the frame has no stream options, which the first frame must have";

/// The parts of a frame.
#[derive(Default)]
pub(in crate::formats::jelly) struct FrameParts {
    /// The stream options, merged.
    options: Option<(usize, Vec<u8>)>,
    pub columns: Vec<Range<usize>>,
    /// The metadata entries.
    pub metadata: Vec<Range<usize>>,
}

impl FrameParts {
    /// Reads the fields of a frame, and of its row.
    pub fn read(bytes: &[u8], frame: &Range<usize>) -> Located<Self> {
        let mut parts = Self::default();
        let mut fields = Fields::new(bytes, frame, "the frame");
        while let Some(field) = fields.next()? {
            match field.number {
                1 => {
                    if parts.options.is_some() {
                        let reason = "the frame has several rows, expected only the stream options";
                        return Err(fault(field.start, reason));
                    }
                    let row = fields.bytes(&field)?;
                    parts.options = Some((field.start, options_in(bytes, field.start, &row)?));
                }
                2 => fields.push_bytes(&field, &mut parts.columns)?,
                15 => fields.push_bytes(&field, &mut parts.metadata)?,
                other => return Err(fields.unknown(field.start, other)),
            }
        }
        Ok(parts)
    }

    /// Whether the frame has stream options.
    pub fn has_options(&self) -> bool {
        self.options.is_some()
    }
}

/// Returns the merged stream options of a row.
fn options_in(bytes: &[u8], start: usize, row: &Range<usize>) -> Located<Vec<u8>> {
    let mut options = None;
    let mut fields = Fields::new(bytes, row, "the row");
    while let Some(field) = fields.next()? {
        match field.number {
            1 => {
                let range = fields.bytes(&field)?;
                let merged: &mut Vec<u8> = options.get_or_insert_default();
                merged.extend_from_slice(&bytes[range]);
            }
            other => {
                let name = ROW_NAMES.get(other as usize).copied().unwrap_or_default();
                if name.is_empty() {
                    return Err(fields.unknown(field.start, other));
                }
                let reason = format!(
                    "a {name} row in a log of version {COLUMNS_VERSION}, expected the stream options"
                );
                return Err(fault(start, reason));
            }
        }
    }
    options.ok_or_else(|| fault(start, "the row is empty, expected the stream options"))
}

/// Decoding state of a log in the column layout.
#[derive(Default)]
pub(in crate::formats::jelly) struct ColumnReader {
    stream: Stream,
    batch: Option<ColumnBatch>,
    /// Index and offset of the open frame.
    frame: (usize, u64),
    /// Number of bytes of each of the [`SIZED`] parts so far.
    sizes: [u64; SIZED.len()],
}

impl ColumnReader {
    /// Whether a frame is being expanded.
    pub fn is_expanding(&self) -> bool {
        self.batch.is_some()
    }

    /// Opens a frame: applies its options, and checks its columns. Returns the number of messages
    /// that begin in the frame if none was open before, otherwise 0.
    pub fn open(
        &mut self,
        bytes: &[u8],
        parts: &FrameParts,
        frame: (usize, u64),
        terms: &mut TermReader<Quad>,
    ) -> Located<u64> {
        self.frame = frame;
        let restates = parts.options.is_some();
        if let Some((start, options)) = &parts.options {
            self.apply(options, terms).locate(*start)?;
        } else if terms.options.is_none() {
            return Err(fault(frame.0, NO_OPTIONS));
        }
        self.batch = ColumnBatch::open(bytes, &parts.columns, self.stream, restates, terms)?;
        for (sum, size) in self
            .sizes
            .iter_mut()
            .zip(self.batch.iter().flat_map(|batch| batch.sizes))
        {
            *sum += size as u64;
        }
        let messages = self.batch.as_ref().map_or(0, |batch| batch.messages);
        Ok(if terms.builder.is_open() { 0 } else { messages })
    }

    /// Returns the number of bytes of each part of the frames so far, without those that are empty.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        let sizes = SIZED.into_iter().zip(self.sizes);
        sizes.filter(|(_, size)| *size > 0).collect()
    }

    /// Ends the open message by the stream options of the next frame, which has a restart mark.
    pub fn end_message(
        &mut self,
        parts: &FrameParts,
        (start, offset): (usize, u64),
        terms: &mut TermReader<Quad>,
    ) -> Located<()> {
        match &parts.options {
            Some((start, options)) => self.apply(options, terms).locate(*start),
            None => Err(wrong_mark(offset, NO_OPTIONS)).locate(start),
        }
    }

    /// Adds statements. Returns true if the batch of messages must end before the frame does.
    pub fn expand(
        &mut self,
        bytes: &[u8],
        parts: bool,
        terms: &mut TermReader<Quad>,
    ) -> Located<bool> {
        let Some(batch) = &mut self.batch else {
            return Ok(false);
        };
        let ends = batch.expand(bytes, self.frame, parts, terms)?;
        if !ends {
            self.batch = None;
        }
        Ok(ends)
    }

    /// Applies the first stream options, or restated ones.
    fn apply(&mut self, bytes: &[u8], terms: &mut TermReader<Quad>) -> Checked<()> {
        let options = read_options(bytes)?;
        if let Some(first) = &terms.options {
            for (name, before, now) in [
                ("physical_type", first.physical_type, options.physical_type),
                ("stream_type", first.stream_type, options.stream_type),
                ("version", first.version, options.version),
            ] {
                if before != now {
                    return Err(malformed_error(format!(
                        "the restated stream options change {name} from {before} to {now}"
                    )));
                }
            }
        }
        self.stream = Stream {
            quads: options.physical_type == PhysicalType::Quads as u32,
            messages: options.stream_type == 1,
            version: Version(options.rdf_version),
        };
        if self.stream.messages && terms.builder.is_open() {
            terms.builder.end_message();
        }
        terms.options_rows += 1;
        terms.mark = None; // a stream with options does not depend on earlier frames
        terms.open(&options, self.stream.quads)?;
        terms.options.get_or_insert(options);
        Ok(())
    }
}

/// Reads and checks the stream options.
fn read_options(bytes: &[u8]) -> Checked<OptionsRow> {
    let mut fields = Fields::new(bytes, &(0..bytes.len()), "the stream options");
    while let Some(field) = fields.next().map_err(|fault| fault.error)? {
        if field.number > 31 || OPTIONS >> field.number & 1 == 0 {
            return Err(fields.unknown(field.start, field.number).error);
        }
    }
    let options = OptionsRow::read(bytes, OPTIONS & !2, "the stream options")?;
    check_options(&options)?;
    Ok(options)
}

fn check_options(options: &OptionsRow) -> Checked<()> {
    let number = options.physical_type;
    if options.version != COLUMNS_VERSION {
        return Err(malformed_error(format!(
            "the stream options have version {}, but those before have version {COLUMNS_VERSION}",
            options.version
        )));
    }
    if number == 0 {
        let reason = format!(
            "the stream options have no physical_type; Jelly 1.2 is a draft, and rdfm reads {DRAFT}"
        );
        return Err(WireError::new(ErrorClass::Unsupported, reason));
    }
    if number > PhysicalType::Quads as u32 {
        return Err(malformed_error(format!(
            "physical type {number} is not allowed in version {COLUMNS_VERSION}, expected 1 (TRIPLES) or 2 (QUADS)"
        )));
    }
    for (name, value, max) in [
        ("stream_type", options.stream_type, 1),
        ("rdf_version", options.rdf_version, 3),
        ("generalized_statements", u32::from(options.generalized), 0),
        ("rdf_star", u32::from(options.rdf_star), 0),
        ("logical_type", options.logical_type, 0),
    ] {
        if value > max {
            return Err(malformed_error(if max == 0 {
                format!(
                    "the stream options set {name}, which version {COLUMNS_VERSION} does not have"
                )
            } else {
                format!("{name} {value} does not exist")
            }));
        }
    }
    let names = options.tables.name;
    if names < MIN_COLUMN_NAMES {
        return Err(malformed_error(format!(
            "the name table size is {names}, expected {MIN_COLUMN_NAMES} or more"
        )));
    }
    Ok(())
}

/// Checks that the requested meaning of frames is the one of the stream.
pub(in crate::formats::jelly) fn check_meaning(
    requested: Option<FrameMeaning>,
    messages: bool,
) -> Checked<()> {
    let (reason, given) = match requested {
        Some(FrameMeaning::Message) if !messages => ("the stream is one message (FLAT)", "message"),
        Some(FrameMeaning::Flat) if messages => ("the stream consists of messages", "flat"),
        _ => return Ok(()),
    };
    let reason = format!(
        "frames have no meaning in version {COLUMNS_VERSION}, and {reason}, so it cannot be read with frames={given}"
    );
    let auto = Remedy::read("frames", "auto", "reads the messages of the stream");
    Err(WireError::new(
        ErrorClass::Unsupported,
        Reason::from(reason).with(auto),
    ))
}
