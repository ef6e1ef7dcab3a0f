//! Decoder for result sets in RDF Thrift and RDF Protobuf: a tuple of variables, followed by tuples
//! of terms.
//!
//! - In: bytes in pieces of any size.
//! - Out: one message per tuple of terms.
//! - Cost: linear; memory is bounded by one tuple, one piece and one batch. An incomplete tuple of
//!   RDF Thrift is read again from its start when its buffered size has grown by half.
//! - Law: only complete tuples are decoded, so the result does not depend on how the bytes are cut.

use std::sync::Arc;

use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::result_head::{Variables, length_error};
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::error::ErrorClass;
use crate::model::limits::Limits;
use crate::model::record::ResultHead;
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::syntax::rdf_binary::model::{Placeholder, Raw, ambiguous_error};
use crate::syntax::rdf_binary::protobuf::{self, Protobuf};
use crate::syntax::rdf_binary::terms::{BinaryTerms, TripleTermReader};
use crate::syntax::rdf_binary::thrift::{self, CompactReader, LIST, STRUCT, Thrift};
use crate::syntax::wire::{
    Checked, Varint, Wire, WireError, check_utf8, malformed_error, read_long_varint,
};

/// Decodes a result set in RDF Thrift or RDF Protobuf.
pub(super) struct ResultBinaryReader {
    /// Whether tuples have no length prefix, as in RDF Thrift. Tuples of RDF Protobuf have one.
    bare: bool,
    max: u64,
    terms: BinaryTerms<TermId>,
    /// Number of variables, once they have been read.
    columns: Option<usize>,
    /// Number of buffered bytes required before the next attempt to read a tuple.
    needed: usize,
    /// Whether a batch was returned.
    batch_returned: bool,
}

/// Class and reason of an error.
type Failure = (ErrorClass, Reason);

impl ResultBinaryReader {
    /// Creates a reader for RDF Thrift if `bare` is true, otherwise for RDF Protobuf.
    pub fn new(bare: bool, limits: &Limits) -> Self {
        Self {
            bare,
            max: limits.max_message_bytes,
            terms: BinaryTerms::new(limits),
            columns: None,
            needed: 0,
            batch_returned: false,
        }
    }

    /// Returns the next batch, or `None` if more input is needed or the log is complete.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<ResultBatch>, Failure> {
        loop {
            let rest = input.rest();
            let missing = rest.is_empty() || (rest.len() < self.needed && !input.finished);
            if missing || !self.read_tuple(input)? {
                return self.pause(input);
            }
            if self.terms.builder.is_full() {
                return Ok(self.take_rows());
            }
        }
    }

    /// Returns the completed rows when the buffer contains no more complete tuples.
    fn pause(&mut self, input: &Buffer) -> Result<Option<ResultBatch>, Failure> {
        let batch = self.take_rows();
        if batch.is_some() || !input.finished || self.batch_returned {
            return Ok(batch);
        }
        if self.columns.is_none() {
            return Err((
                ErrorClass::Truncated,
                "the log ends before the tuple of variables".into(),
            ));
        }
        self.batch_returned = true;
        Ok(Some(self.terms.builder.take_head()))
    }

    fn take_rows(&mut self) -> Option<ResultBatch> {
        let batch = self.terms.builder.take();
        self.batch_returned |= batch.is_some();
        batch
    }

    /// Reads the next tuple. Returns false if more input is needed.
    #[inline]
    fn read_tuple(&mut self, input: &mut Buffer) -> Result<bool, Failure> {
        let rest = input.rest();
        let (prefix, length) = if self.bare {
            // One byte above the limit suffices to detect a tuple that exceeds it.
            let window = usize::try_from(self.max).map_or(usize::MAX, |max| max + 1);
            (0, rest.len().min(window))
        } else {
            match self.find_frame(rest, input.finished)? {
                Some(frame) => frame,
                None => return Ok(false),
            }
        };
        let bytes = &rest[prefix..prefix + length];
        let consumed = match self.columns {
            None => self.read_variables(bytes),
            Some(columns) => {
                self.terms.builder.begin_message(input.offset());
                let read = if self.bare {
                    read_thrift_row(bytes, &mut self.terms, columns)
                } else {
                    read_protobuf_row(bytes, &mut self.terms, columns).map(|()| length)
                };
                if read.is_ok() {
                    self.terms.builder.end_message();
                }
                read
            }
        };
        match consumed {
            Ok(consumed) => {
                input.index += prefix + consumed;
                self.needed = 0;
                Ok(true)
            }
            Err(error) => match error.into_parts() {
                (ErrorClass::Truncated, _) if self.bare => {
                    self.wait_for_tuple(length, input.finished)?;
                    if self.terms.builder.is_open() {
                        self.terms.builder.discard_message();
                    }
                    Ok(false)
                }
                // The tuple is complete, so its own lengths are inconsistent.
                (ErrorClass::Truncated, reason) => Err((ErrorClass::Malformed, reason)),
                other => Err(other),
            },
        }
    }

    /// Returns the size of the next tuple's length prefix and of the tuple, or `None` if the tuple
    /// is incomplete.
    #[inline]
    fn find_frame(&self, rest: &[u8], finished: bool) -> Result<Option<(usize, usize)>, Failure> {
        let (length, prefix) = match read_long_varint(rest) {
            Varint::Value(length, prefix) => (length, prefix),
            Varint::Incomplete if !finished => return Ok(None),
            Varint::Incomplete => {
                return Err((
                    ErrorClass::Truncated,
                    "the log ends inside the length prefix of a tuple".into(),
                ));
            }
            Varint::TooLong => {
                return Err((
                    ErrorClass::Malformed,
                    "the length prefix of a tuple is longer than 10 bytes".into(),
                ));
            }
        };
        if length > self.max {
            return Err(self.too_large(&format!("a tuple of {length} bytes")));
        }
        let buffered = rest.len() - prefix;
        if buffered as u64 >= length {
            return Ok(Some((prefix, length as usize)));
        }
        if !finished {
            return Ok(None);
        }
        Err((
            ErrorClass::Truncated,
            format!("the log ends inside a tuple: {buffered} of its {length} bytes are present")
                .into(),
        ))
    }

    /// Handles an incomplete tuple of RDF Thrift. `buffered` is the number of its bytes in the
    /// buffer.
    #[cold]
    fn wait_for_tuple(&mut self, buffered: usize, finished: bool) -> Result<(), Failure> {
        if buffered as u64 > self.max {
            return Err(self.too_large("a tuple"));
        }
        if finished {
            return Err((ErrorClass::Truncated, "the log ends inside a tuple".into()));
        }
        self.needed = buffered + buffered / 2 + 1;
        Ok(())
    }

    #[cold]
    fn too_large(&self, unit: &str) -> Failure {
        let text = format!("{unit} is larger than {} bytes", self.max);
        (ErrorClass::Limit, Reason::limit(text, "max_message_bytes"))
    }

    /// Reads the tuple of variables, and returns its length.
    fn read_variables(&mut self, bytes: &[u8]) -> Checked<usize> {
        let mut variables = Variables::default();
        let consumed = if self.bare {
            read_thrift_variables(bytes, &mut variables)?
        } else {
            read_protobuf_variables(bytes, &mut variables)?;
            bytes.len()
        };
        self.columns = Some(variables.len());
        self.terms.builder.set_head(Arc::new(ResultHead {
            variables: variables.names(),
            ..ResultHead::default()
        }));
        Ok(consumed)
    }
}

impl Reader for ResultBinaryReader {
    type Record = TermId;

    fn builder_mut(&mut self) -> &mut ResultBuilder {
        &mut self.terms.builder
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.columns = None;
        self.needed = 0;
        self.batch_returned = false;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<ResultBatch>, ReadError> {
        self.read(input)
            .map_err(|(class, reason)| input.error(class, reason))
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason = "rows of a damaged log cannot be skipped, because nothing delimits them";
        Err(input.error(ErrorClass::Unsupported, reason))
    }
}

fn add_variable(variables: &mut Variables, name: &[u8]) -> Checked<()> {
    let name = check_utf8(name, "the name of a variable")?;
    variables.add(name).map_err(malformed_error)
}

/// Adds a cell to the open message.
#[inline]
fn add_cell<R: TripleTermReader>(
    terms: &mut BinaryTerms<TermId>,
    raw: &Raw<'_>,
    column: usize,
) -> Checked<()> {
    let id = match raw {
        Raw::Placeholder(Placeholder::Undef) => TermId::DEFAULT_GRAPH,
        Raw::Placeholder(open) => return Err(placeholder_error(*open)),
        raw => terms.add_term::<R>(raw, column, 0)?,
    };
    Ok(terms.builder.add(id)?)
}

#[cold]
fn placeholder_error(open: Placeholder) -> WireError {
    let name = open.name();
    malformed_error(format!(
        "expected a term or UNDEF in a result row, found {name}"
    ))
}

fn read_protobuf_variables(bytes: &[u8], variables: &mut Variables) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        if let (1, payload) = wire.read_field(0b10, "the tuple of variables")? {
            let name = protobuf::string(payload, "the variable")?;
            add_variable(variables, name)?;
        }
    }
    Ok(())
}

fn read_protobuf_row(bytes: &[u8], terms: &mut BinaryTerms<TermId>, columns: usize) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    let mut cells = 0;
    while !wire.is_done() {
        let (1, payload) = wire.read_field(0b10, "the tuple")? else {
            continue;
        };
        if cells < columns {
            add_cell::<Protobuf>(terms, &protobuf::read_term(payload)?, cells)?;
        }
        cells += 1;
    }
    check_length(cells, columns)
}

fn check_length(cells: usize, columns: usize) -> Checked<()> {
    if cells == columns {
        return Ok(());
    }
    Err(malformed_error(length_error(cells, columns)))
}

/// Reads the list in field 1 of a struct. Returns the number of elements and the size of the struct
/// in bytes.
#[inline]
fn read_thrift_list<'a>(
    bytes: &'a [u8],
    mut element: impl FnMut(&mut CompactReader<'a>, usize) -> Checked<()>,
) -> Checked<(usize, usize)> {
    let mut wire = CompactReader { rest: bytes };
    let mut element_count = None;
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        if field != 1 {
            wire.skip_unknown(field, kind)?;
            continue;
        }
        thrift::expect(kind, LIST, field, "the tuple")?;
        if element_count.is_some() {
            return Err(ambiguous_error("the tuple"));
        }
        let header = wire.read_byte()?;
        let count = match header >> 4 {
            15 => wire.read_size()?,
            count => usize::from(count),
        };
        if count > 0 && header & 0x0f != STRUCT {
            let kind = header & 0x0f;
            return Err(malformed_error(format!(
                "the elements of a tuple have type {kind}, expected {STRUCT}"
            )));
        }
        for index in 0..count {
            element(&mut wire, index)?;
        }
        element_count = Some(count);
    }
    Ok((element_count.unwrap_or(0), bytes.len() - wire.rest.len()))
}

fn read_thrift_variables(bytes: &[u8], variables: &mut Variables) -> Checked<usize> {
    let (_, consumed) = read_thrift_list(bytes, |wire, _| {
        let name = wire.read_string("the variable")?;
        add_variable(variables, name)
    })?;
    Ok(consumed)
}

fn read_thrift_row(
    bytes: &[u8],
    terms: &mut BinaryTerms<TermId>,
    columns: usize,
) -> Checked<usize> {
    let (cells, consumed) = read_thrift_list(bytes, |wire, index| {
        if index >= columns {
            // One term too many is enough for an error, so the rest of the list is not read.
            return Err(malformed_error(format!(
                "a row has more terms than there are variables ({columns})"
            )));
        }
        add_cell::<Thrift>(terms, &thrift::read_term(wire)?, index)
    })?;
    check_length(cells, columns)?;
    Ok(consumed)
}
