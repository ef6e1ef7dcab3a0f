//! Decodes rows into operations, and stores the state of a patch log between rows.
//!
//! - In: the payload of one row ([`RowHandler::row`]), and the ends of patches.
//! - Out: operations in the builder. The first operation of a patch opens it, unless it is already
//!   open.
//! - Law: everything that the specification calls an error is an error. Deviations that it allows a
//!   consumer to ignore are errors unless `lenient`: unbalanced transactions, and graphs in a
//!   triples log.

use super::super::decode::{MessageEnd, RowHandler};
use super::super::frames::{EMPTY_ROW, Frame};
use super::super::options::{FrameMeaning, OptionsRow, ReadSettings};
use super::super::term_reader::{
    GRAPH, QUAD_FIELDS, TRIPLE_FIELDS, TermField, TermReader, skip_all,
};
use super::super::usual_rows::RowTags;
use super::options::{MAX_VERSION, StatementType, StreamType, values};
use crate::codec::values::Value;
use crate::model::error::quote;
use crate::model::record::{Operation, OperationCode};
use crate::model::term::{Quad, TermId, TermKind};
use crate::syntax::text::scan;
use crate::syntax::wire::{Checked, Wire, invalid_utf8_error, malformed_error};

/// Names of the row's fields, by number.
const ROW_NAMES: [&str; 16] = [
    "",
    "options",
    "statement_add",
    "statement_delete",
    "namespace_add",
    "namespace_delete",
    "transaction_start",
    "transaction_commit",
    "transaction_abort",
    "",
    "",
    "name",
    "prefix",
    "datatype",
    "header",
    "punctuation",
];
/// Tags of the usual rows: added and deleted statements, and names.
const ROW_TAGS: RowTags = RowTags {
    statements: [0x12, 0x1a],
    name: 0x5a,
};
/// Fields of the graph in a quad, as a bit set.
const GRAPH_FIELDS: u32 = QUAD_FIELDS & !TRIPLE_FIELDS;

/// Decoding state of a log.
pub(in super::super) struct PatchRows {
    terms: TermReader<Operation>,
    stream_type: StreamType,
    statement_type: StatementType,
    lenient: bool,
    in_transaction: bool,
    /// Byte offset of the current row in the log.
    position: u64,
    /// Whether the previous row was a mark.
    marked: bool,
    /// Number of deleted prefixes with an IRI; the IRI has no effect.
    deleted_iris: u64,
}

impl RowHandler for PatchRows {
    type Record = Operation;

    const FILE: &'static str = "a Jelly-Patch file";
    const OPTIONS: &'static str = "the patch stream options";
    const OPTION_NUMBERS: u32 = 0b1000_1110_0001_1110;
    const VERSIONS: (u32, &'static str) = (MAX_VERSION, "1");
    const FRAME_FIELDS: u32 = 1 << 1;
    const NAMES: &'static [&'static str] = &ROW_NAMES;
    const FIELDS: u32 = 0b1111_1001_1111_1110;
    const FLAT_TYPE: Option<fn(&OptionsRow) -> String> = None;

    fn new(reading: &ReadSettings) -> Self {
        Self {
            terms: TermReader::new(reading),
            stream_type: StreamType::Frame,
            statement_type: StatementType::Triples,
            lenient: reading.lenient,
            in_transaction: false,
            position: 0,
            marked: false,
            deleted_iris: 0,
        }
    }

    fn reset(&mut self) {
        self.stream_type = StreamType::Frame;
        self.statement_type = StatementType::Triples;
        self.in_transaction = false;
        self.marked = false;
        self.deleted_iris = 0;
    }

    #[inline]
    fn terms(&mut self) -> &mut TermReader<Operation> {
        &mut self.terms
    }

    #[inline]
    fn terms_read(&self) -> &TermReader<Operation> {
        &self.terms
    }

    fn ends(options: Option<&OptionsRow>, reading: &ReadSettings) -> MessageEnd {
        let found = options.and_then(|options| StreamType::from_number(options.physical_type));
        match (found, reading.frames) {
            (Some(StreamType::Punctuated), _) => MessageEnd::Mark,
            (_, Some(FrameMeaning::Flat)) | (Some(StreamType::Flat), None) => MessageEnd::Log,
            _ => MessageEnd::Frame,
        }
    }

    fn values(options: &OptionsRow) -> Vec<(&'static str, Value)> {
        values(options)
    }

    fn open(&mut self, options: &OptionsRow) -> Checked<()> {
        let number = options.physical_type;
        self.stream_type = StreamType::from_number(number).ok_or_else(|| {
            malformed_error(format!(
                "stream type {number} is not allowed, expected 1 (FRAME), 2 (FLAT) or 3 (PUNCTUATED)"
            ))
        })?;
        let number = options.statement_type;
        self.statement_type = StatementType::from_number(number).ok_or_else(|| {
            malformed_error(format!(
                "statement type {number} is not allowed, expected 1 (TRIPLES) or 2 (QUADS)"
            ))
        })?;
        let graphs = self.statement_type == StatementType::Quads;
        self.terms.open(options, graphs)
    }

    #[inline]
    fn begin_row(&mut self, position: u64) {
        self.position = position;
    }

    #[inline(never)]
    fn usual_rows(&mut self, bytes: &[u8], frame: &mut Frame, parts: bool) -> Checked<bool> {
        let terms = &mut self.terms;
        let record = |tag, ids| {
            let code = if tag == ROW_TAGS.statements[0] {
                OperationCode::Add
            } else {
                OperationCode::Delete
            };
            operation(code, ids)
        };
        match self.statement_type {
            StatementType::Quads => {
                terms.usual_rows::<true>(&ROW_TAGS, bytes, frame, parts, record)
            }
            StatementType::Triples => {
                terms.usual_rows::<false>(&ROW_TAGS, bytes, frame, parts, record)
            }
        }
    }

    #[inline]
    fn row(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        match field {
            2 => self.statement(OperationCode::Add, payload),
            3 => self.statement(OperationCode::Delete, payload),
            11 => self.terms.name_entry(payload),
            12 => self.terms.prefix_entry(payload),
            13 => self.terms.datatype_entry(payload),
            _ => self.rare_row(field, payload),
        }
    }

    #[inline]
    fn take_mark(&mut self) -> bool {
        std::mem::take(&mut self.marked)
    }

    fn begin_stream(&mut self) {
        self.in_transaction = false;
    }

    fn end_frame(&mut self) -> Checked<()> {
        if self.stream_type == StreamType::Frame {
            self.end_patch()?;
        }
        Ok(())
    }

    fn unfinished(&self) -> Option<&'static str> {
        self.lacks_end()
            .then_some("the log ends inside a transaction, expected a commit or an abort")
    }

    fn note(&self) -> Option<String> {
        let count = self.deleted_iris;
        (count > 0).then(|| format!("IRIs of deleted prefixes are omitted: {count}"))
    }
}

#[inline]
fn operation(code: OperationCode, ids: [TermId; 4]) -> Operation {
    let quad = Quad {
        subject: ids[0],
        predicate: ids[1],
        object: ids[2],
        graph: ids[GRAPH],
    };
    Operation::new(code, quad)
}

impl PatchRows {
    /// Whether a patch or log cannot end here because a transaction is open.
    fn lacks_end(&self) -> bool {
        self.in_transaction && !self.lenient
    }

    /// Ends the current patch.
    fn end_patch(&mut self) -> Checked<()> {
        if self.lacks_end() {
            return Err(malformed_error(
                "the patch ends inside a transaction, expected a commit or an abort",
            ));
        }
        self.in_transaction = false;
        Ok(())
    }

    #[inline(never)]
    fn rare_row(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        match field {
            1 => self.options(payload),
            4 => self.namespace(OperationCode::AddPrefix, payload),
            5 => self.namespace(OperationCode::DeletePrefix, payload),
            6 => self.transaction(OperationCode::Begin, payload),
            7 => self.transaction(OperationCode::Commit, payload),
            8 => self.transaction(OperationCode::Abort, payload),
            14 => self.header(payload),
            15 if self.stream_type == StreamType::Punctuated => {
                skip_all(payload)?;
                self.end_patch()?;
                self.open_patch();
                self.marked = true;
                Ok(())
            }
            15 => Err(malformed_error(format!(
                "a punctuation row in a log of stream type {}",
                self.stream_type.name()
            ))),
            _ => Err(malformed_error(EMPTY_ROW)),
        }
    }

    /// Opens a patch, unless one is already open.
    #[inline]
    fn open_patch(&mut self) {
        if !self.terms.builder.is_open() {
            self.terms.builder.begin_message(self.position);
        }
    }

    #[inline]
    fn add(&mut self, operation: Operation) -> Checked<()> {
        self.open_patch();
        Ok(self.terms.builder.add(operation)?)
    }

    #[inline]
    fn statement(&mut self, code: OperationCode, bytes: &[u8]) -> Checked<()> {
        let ids = if self.statement_type == StatementType::Quads {
            self.terms.statement(bytes, QUAD_FIELDS)?
        } else {
            self.triple(bytes)?
        };
        self.add(operation(code, ids))
    }

    fn triple(&mut self, bytes: &[u8]) -> Checked<[TermId; 4]> {
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, _) = wire.read_field(QUAD_FIELDS, "the statement")?;
            if GRAPH_FIELDS >> field & 1 == 1 {
                self.reject_graph("statement")?;
            }
        }
        self.terms.statement(bytes, TRIPLE_FIELDS)
    }

    /// Rejects a graph in a triples log, unless `lenient`.
    fn reject_graph(&self, what: &str) -> Checked<()> {
        if self.lenient {
            return Ok(());
        }
        Err(malformed_error(format!(
            "a {what} with a graph in a log of statement type TRIPLES"
        )))
    }

    fn transaction(&mut self, code: OperationCode, bytes: &[u8]) -> Checked<()> {
        skip_all(bytes)?;
        let begins = code == OperationCode::Begin;
        if begins == self.in_transaction && !self.lenient {
            return Err(malformed_error(match code {
                OperationCode::Begin => "a transaction starts inside another transaction",
                OperationCode::Commit => "a commit outside a transaction",
                _ => "an abort outside a transaction",
            }));
        }
        self.in_transaction = begins;
        self.add(Operation::bare(code))
    }

    fn header(&mut self, bytes: &[u8]) -> Checked<()> {
        let fields = NamedFields::of(bytes, 0b11_1100, "the header")?;
        if fields.term.field == 0 {
            return Err(malformed_error(format!(
                "the header {} has no value",
                quote(fields.name)
            )));
        }
        let name = self.literal(fields.name, "a header's key")?;
        // The field numbers of header values are seven lower than those of objects.
        let slot = TermField {
            field: fields.term.field + 7,
            bytes: &fields.term.bytes,
        };
        let object = self.terms.term(slot, 0)?;
        let header = Operation {
            name,
            object,
            ..Operation::bare(OperationCode::Header)
        };
        self.add(header)
    }

    fn namespace(&mut self, code: OperationCode, bytes: &[u8]) -> Checked<()> {
        let fields = NamedFields::of(bytes, 0b111_1000, "the namespace")?;
        let mut operation = Operation::bare(code);
        operation.name = self.literal(fields.name, "a namespace's name")?;
        match &fields.value {
            Some(value) => {
                let iri = self.terms.iri(value)?;
                if code == OperationCode::AddPrefix {
                    operation.object = iri;
                } else {
                    self.deleted_iris += 1;
                }
            }
            None if code == OperationCode::AddPrefix => {
                return Err(malformed_error(format!(
                    "the namespace {} is added without an IRI",
                    quote(fields.name)
                )));
            }
            None => {}
        }
        if self.statement_type == StatementType::Triples {
            if fields.term.field != 0 {
                self.reject_graph("namespace")?;
            }
        } else if fields.term.field == 0 {
            // Jelly-JVM omits the graph of a namespace before the first graph.
            operation.graph = self.terms.repeated_graph()?.unwrap_or_default();
        } else {
            // The field numbers of a namespace's graph are ten lower than those of a quad's graph.
            operation.graph = self.terms.set_graph(TermField {
                field: fields.term.field + 10,
                bytes: &fields.term.bytes,
            })?;
        }
        self.add(operation)
    }

    fn literal(&mut self, text: &[u8], what: &'static str) -> Checked<TermId> {
        let flags = scan::lexical(text).ok_or_else(|| invalid_utf8_error(text, what))?;
        Ok(self
            .terms
            .builder
            .add_simple(TermKind::Literal, text, flags)?)
    }
}

/// The fields of a header or a namespace.
struct NamedFields<'a> {
    name: &'a [u8],
    value: Option<Vec<u8>>,
    term: MergedField,
}

/// The one field that is set among several alternatives. `field` is 0 if none is set.
#[derive(Default)]
struct MergedField {
    field: usize,
    bytes: Vec<u8>,
}

impl<'a> NamedFields<'a> {
    /// Reads the fields. Field 1 is the name, and `terms` is the bit set of the fields that may
    /// contain the term. If field 2 is not in the set, it contains an IRI message. If several of
    /// the term fields occur, the last one is used; consecutive messages in the same field are
    /// merged.
    fn of(bytes: &'a [u8], terms: u32, what: &'static str) -> Checked<Self> {
        let mut found = Self {
            name: &[],
            value: None,
            term: MergedField::default(),
        };
        // A blank node label is the second of the term fields.
        let label = terms.trailing_zeros() as usize + 1;
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, payload) = wire.read_field(terms | 0b110, what)?;
            match field {
                0 => {}
                1 => found.name = payload,
                2 if terms >> 2 & 1 == 0 => {
                    let value = found.value.get_or_insert_default();
                    value.extend_from_slice(payload);
                }
                _ => {
                    let term = &mut found.term;
                    if field != term.field || field == label {
                        term.bytes.clear();
                    }
                    term.field = field;
                    term.bytes.extend_from_slice(payload);
                }
            }
        }
        Ok(found)
    }
}
