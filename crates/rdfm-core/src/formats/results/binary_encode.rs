//! Encoder for result sets in RDF Thrift and RDF Protobuf.
//!
//! - In: batches, divided anywhere between rows.
//! - Out: a tuple of variables, then one tuple of terms per row, with UNDEF for unbound cells.
//! - Cost: a term is encoded once per batch and then copied.
//! - Law: the bytes depend only on the rows. After an error nothing more is written.

use super::spec::{PROTOBUF, THRIFT};
use crate::codec::Encoder;
use crate::codec::messages::{Counts, Dropped, Head, MessageLoop, Writer};
use crate::codec::options::VALUES;
use crate::codec::result_head::{length_error, reject_boolean, reject_duplicate};
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::model::batch::ResultBatch;
use crate::model::error::ErrorClass;
use crate::model::term::TermId;
use crate::syntax::rdf_binary::encode::{
    BinaryTermWriter, EncodedTerms, MAX_BYTES, TermRange, too_long,
};
use crate::syntax::rdf_binary::protobuf::{
    ProtobufTerms, field_size, put_length, put_text, text_size,
};
use crate::syntax::rdf_binary::thrift::{ThriftTerms, put_binary};
use crate::syntax::wire::put_varint;

/// The representation of tuples in an encoding.
trait Tuples: Send + 'static {
    /// Encoder for the terms.
    type Terms: BinaryTermWriter;

    fn write_variables(names: &[Box<str>], out: &mut Vec<u8>);
    /// Appends a row; cells with an empty range are unbound.
    fn write_row(terms: &[u8], cells: &[TermRange], out: &mut Vec<u8>);
}

/// Creates an RDF Thrift encoder for a new log.
pub(super) fn thrift(values: &Values) -> Box<dyn Encoder> {
    let writer = TupleWriter::<ThriftTuples>::new(values.is_on(&VALUES));
    Box::new(MessageLoop::new(&THRIFT, values, writer))
}

/// Creates an RDF Protobuf encoder for a new log.
pub(super) fn protobuf(values: &Values) -> Box<dyn Encoder> {
    let writer = TupleWriter::<ProtobufTuples>::new(values.is_on(&VALUES));
    Box::new(MessageLoop::new(&PROTOBUF, values, writer))
}

/// Writes tuples.
struct TupleWriter<W> {
    terms: EncodedTerms,
    cells: Vec<TermRange>,
    columns: usize,
    /// Number of links that were omitted.
    links: u64,
    /// Start of the batch in the output.
    start: usize,
    tuples: std::marker::PhantomData<fn() -> W>,
}

impl<W: Tuples> TupleWriter<W> {
    fn new(values: bool) -> Self {
        Self {
            terms: EncodedTerms::new(values, false, false),
            cells: Vec::new(),
            columns: 0,
            links: 0,
            start: 0,
            tuples: std::marker::PhantomData,
        }
    }
}

impl<W: Tuples> Writer for TupleWriter<W> {
    type Record = TermId;

    fn write_message_head(&mut self, head: &Head<TermId>, out: &mut Vec<u8>) -> WriteResult<()> {
        reject_boolean(head)?;
        reject_duplicate(head)?;
        self.columns = head.variables.len();
        self.links = head.links.len() as u64;
        W::write_variables(&head.variables, out);
        Ok(())
    }

    fn begin_batch(&mut self, batch: &ResultBatch, out: &mut Vec<u8>) {
        self.start = out.len();
        self.terms.begin(batch.table().terms().len());
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    #[inline]
    fn write(&mut self, batch: &ResultBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        let row = batch.message(message);
        if row.len() != self.columns {
            let reason = length_error(row.len(), self.columns);
            return Err((ErrorClass::Unsupported, reason.into()));
        }
        self.cells.clear();
        for &id in row {
            self.cells.push(if id == TermId::DEFAULT_GRAPH {
                TermRange::default()
            } else {
                self.terms.encode_term::<W::Terms>(batch.table(), id)?
            });
        }
        W::write_row(&self.terms.bytes, &self.cells, out);
        if out.len() - self.start > MAX_BYTES {
            return Err(too_long());
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.links = 0;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("links", self.links),
            ("namespaces", dropped.namespaces),
            ("metadata", dropped.metadata),
        ]
    }
}

/// Tuples of RDF Thrift.
struct ThriftTuples;

/// Appends the header of the list that is a tuple's only field.
fn put_list(out: &mut Vec<u8>, length: usize) {
    out.push(0x19);
    if length < 15 {
        out.push((length as u8) << 4 | 0x0c);
    } else {
        out.push(0xfc);
        put_varint(out, length as u64);
    }
}

impl Tuples for ThriftTuples {
    type Terms = ThriftTerms;

    fn write_variables(names: &[Box<str>], out: &mut Vec<u8>) {
        put_list(out, names.len());
        for name in names {
            put_binary(out, 0x18, name.as_bytes());
            out.push(0);
        }
        out.push(0);
    }

    #[inline]
    fn write_row(terms: &[u8], cells: &[TermRange], out: &mut Vec<u8>) {
        // Jena omits an empty list.
        if !cells.is_empty() {
            put_list(out, cells.len());
        }
        for cell in cells {
            // A term is encoded as a field, which begins with a header; a list element has no
            // header.
            match terms[cell.range()].split_first() {
                Some((_, term)) => out.extend_from_slice(term),
                None => out.extend_from_slice(&[0x7c, 0, 0]),
            }
        }
        out.push(0);
    }
}

/// Tuples of RDF Protobuf.
struct ProtobufTuples;

/// The tag of an element.
const ELEMENT: u8 = 0x0a;
/// UNDEF, with its length prefix.
const UNDEF: &[u8] = &[2, 0x42, 0];

impl Tuples for ProtobufTuples {
    type Terms = ProtobufTerms;

    fn write_variables(names: &[Box<str>], out: &mut Vec<u8>) {
        let size = |name: &str| text_size(name.len());
        let length = names
            .iter()
            .map(|name| field_size(size(name)))
            .sum::<usize>();
        put_varint(out, length as u64);
        for name in names {
            put_length(out, ELEMENT, size(name));
            put_text(out, 0x0a, name.as_bytes());
        }
    }

    #[inline]
    fn write_row(terms: &[u8], cells: &[TermRange], out: &mut Vec<u8>) {
        let size = |cell: &TermRange| match cell.length() {
            0 => UNDEF.len(),
            length => length,
        };
        let length = cells.iter().map(|cell| 1 + size(cell)).sum::<usize>();
        put_varint(out, length as u64);
        for cell in cells {
            out.push(ELEMENT);
            match &terms[cell.range()] {
                [] => out.extend_from_slice(UNDEF),
                term => out.extend_from_slice(term),
            }
        }
    }
}
