//! Rows to operations: the state of a log of patches being read, row by row.
//!
//! - In: the payload of one row ([`Rows::row`]), and the ends of patches.
//! - Out: operations in the builder; a patch is opened by its first operation, unless it is open.
//! - Law: what the specification calls an error is one. What it lets a consumer pass over is one unless `lenient`:
//!   transactions that do not match, and graphs where statements have none.

use super::super::frames::{self, EMPTY_ROW, row_field};
use super::super::lookup::FrameStart;
use super::super::options::Reading;
use super::super::term_reader::{GRAPH, QUAD_FIELDS, Slot, TRIPLE_FIELDS, TermReader, skip_all};
use super::options::{MAX_VERSION, PatchOptions, StatementType, StreamType};
use crate::model::error::{ErrorClass, quote};
use crate::model::record::{Operation, OperationCode};
use crate::model::term::{Quad, TermId, TermKind};
use crate::syntax::text::scan;
use crate::syntax::wire::{Checked, VARINT, Wire, WireError, invalid_utf8, malformed};

/// Names of the row's fields, by number.
const ROWS: [&str; 16] = [
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
/// Their numbers as a set.
const ROW_FIELDS: u32 = 0b1111_1001_1111_1110;
/// The fields of a graph in a quad.
const GRAPH_FIELDS: u32 = QUAD_FIELDS & !TRIPLE_FIELDS;

/// The state of a log.
pub(super) struct Rows {
    pub terms: TermReader<Operation>,
    pub options: Option<PatchOptions>,
    /// What the options say, once they are there.
    pub stream_type: StreamType,
    statement_type: StatementType,
    lenient: bool,
    in_transaction: bool,
    /// IRIs of deleted prefixes, which say nothing.
    pub deleted_iris: u64,
}

impl Rows {
    pub fn new(options: &Reading) -> Self {
        Self {
            terms: TermReader::new(options),
            options: None,
            stream_type: StreamType::Frame,
            statement_type: StatementType::Triples,
            lenient: options.lenient,
            in_transaction: false,
            deleted_iris: 0,
        }
    }

    /// Goes to the start of another log, where the builder is already.
    pub fn reset(&mut self) {
        self.terms.reset();
        self.options = None;
        self.stream_type = StreamType::Frame;
        self.statement_type = StatementType::Triples;
        self.in_transaction = false;
        self.deleted_iris = 0;
    }

    /// Whether a transaction is open that the log must end.
    pub fn lacks_end(&self) -> bool {
        self.in_transaction && !self.lenient
    }

    /// Ends what the log says is a patch.
    pub fn end_patch(&mut self) -> Checked<()> {
        if self.lacks_end() {
            return Err(malformed(
                "the patch ends inside a transaction, expected a commit or an abort before",
            ));
        }
        self.in_transaction = false;
        Ok(())
    }

    /// Takes a row that begins at a byte of the log; true where it is the mark that ends a patch.
    #[inline]
    pub fn row(&mut self, bytes: &[u8], position: u64) -> Checked<bool> {
        let mut wire = Wire::new(bytes);
        // Nearly always the row is one field.
        if let Ok((field, payload)) = wire.field(ROW_FIELDS, "the row")
            && wire.is_done()
        {
            return self.typed_row(field, payload, position);
        }
        self.odd_row(bytes, position)
    }

    /// Takes the start of a frame: one that repeats the stream options may begin another stream.
    #[inline]
    pub fn begin_frame(&mut self, bytes: &[u8], at: FrameStart) {
        if self.options.is_some() && frames::begins_with_options(bytes, ROW_FIELDS) {
            self.terms.repeat_options(at);
        }
    }

    #[cold]
    fn odd_row(&mut self, bytes: &[u8], position: u64) -> Checked<bool> {
        let (row, payload) = row_field(bytes, ROW_FIELDS)?;
        self.typed_row(row, &payload, position)
    }

    #[inline]
    fn typed_row(&mut self, field: usize, payload: &[u8], position: u64) -> Checked<bool> {
        if self.options.is_none() && field != 1 {
            return Err(before_options(field));
        }
        match field {
            2 => self.statement(OperationCode::Add, payload, position)?,
            3 => self.statement(OperationCode::Delete, payload, position)?,
            11 => self.terms.name_entry(payload)?,
            12 => self.terms.prefix_entry(payload)?,
            13 => self.terms.datatype_entry(payload)?,
            _ => return self.rare_row(field, payload, position),
        }
        Ok(false)
    }

    #[inline(never)]
    fn rare_row(&mut self, field: usize, payload: &[u8], position: u64) -> Checked<bool> {
        match field {
            1 => self.patch_options(payload)?,
            4 => self.namespace(OperationCode::AddPrefix, payload, position)?,
            5 => self.namespace(OperationCode::DeletePrefix, payload, position)?,
            6 => self.transaction(OperationCode::Begin, payload, position)?,
            7 => self.transaction(OperationCode::Commit, payload, position)?,
            8 => self.transaction(OperationCode::Abort, payload, position)?,
            14 => self.header(payload, position)?,
            15 if self.stream_type == StreamType::Punctuated => {
                skip_all(payload)?;
                self.end_patch()?;
                self.open(position);
                return Ok(true);
            }
            15 => {
                return Err(malformed(format!(
                    "a punctuation row in a log of stream type {}",
                    self.stream_type.name()
                )));
            }
            _ => return Err(malformed(EMPTY_ROW)),
        }
        Ok(false)
    }

    /// Opens a patch, unless one is open.
    #[inline]
    fn open(&mut self, position: u64) {
        if !self.terms.builder.is_open() {
            self.terms.builder.begin_message(position);
        }
    }

    #[inline]
    fn add(&mut self, operation: Operation, position: u64) -> Checked<()> {
        self.open(position);
        Ok(self.terms.builder.add(operation)?)
    }

    fn patch_options(&mut self, bytes: &[u8]) -> Checked<()> {
        let options = parse_options(bytes)?;
        if let Some(first) = &self.options {
            if *first == options {
                return Ok(());
            }
            return Err(malformed(
                "the patch stream options differ from those at the start of the log",
            ));
        }
        if options.version == 0 {
            return Err(malformed("the version is 0 or missing, expected 1"));
        }
        if options.version > MAX_VERSION {
            return Err(WireError::new(
                ErrorClass::Unsupported,
                format!(
                    "version {} is newer than {MAX_VERSION}, the newest that rdfm reads",
                    options.version
                ),
            ));
        }
        self.stream_type = StreamType::from_number(options.stream_type).ok_or_else(|| {
            malformed(format!(
                "stream type {} is not allowed, expected 1 (FRAME), 2 (FLAT) or 3 (PUNCTUATED)",
                options.stream_type
            ))
        })?;
        self.statement_type =
            StatementType::from_number(options.statement_type).ok_or_else(|| {
                malformed(format!(
                    "statement type {} is not allowed, expected 1 (TRIPLES) or 2 (QUADS)",
                    options.statement_type
                ))
            })?;
        self.terms.open(
            options.tables(),
            options.rdf_star,
            self.statement_type == StatementType::Quads,
        )?;
        self.options = Some(options);
        Ok(())
    }

    #[inline]
    fn statement(&mut self, code: OperationCode, bytes: &[u8], position: u64) -> Checked<()> {
        let ids = if self.statement_type == StatementType::Quads {
            self.terms.statement(bytes, QUAD_FIELDS)?
        } else if let Some(ids) = self.terms.usual_statement(bytes, TRIPLE_FIELDS) {
            ids
        } else {
            self.odd_triple(bytes)?
        };
        let quad = Quad {
            subject: ids[0],
            predicate: ids[1],
            object: ids[2],
            graph: ids[GRAPH],
        };
        self.add(Operation::of(code, quad), position)
    }

    /// A triple whose fields stand in an unusual order, or that has a graph.
    #[cold]
    fn odd_triple(&mut self, bytes: &[u8]) -> Checked<[TermId; 4]> {
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            if wire.field(GRAPH_FIELDS, "the statement")?.0 != 0 {
                self.refuse_graph("statement")?;
            }
        }
        self.terms.odd_statement(bytes, TRIPLE_FIELDS)
    }

    /// A graph where there is none.
    fn refuse_graph(&self, what: &str) -> Checked<()> {
        if self.lenient {
            return Ok(());
        }
        Err(malformed(format!(
            "a {what} with a graph in a log of statement type TRIPLES"
        )))
    }

    fn transaction(&mut self, code: OperationCode, bytes: &[u8], position: u64) -> Checked<()> {
        skip_all(bytes)?;
        let begins = code == OperationCode::Begin;
        if begins == self.in_transaction && !self.lenient {
            return Err(malformed(match code {
                OperationCode::Begin => "a transaction starts inside another transaction",
                OperationCode::Commit => "a commit outside a transaction",
                _ => "an abort outside a transaction",
            }));
        }
        self.in_transaction = begins;
        self.add(Operation::bare(code), position)
    }

    fn header(&mut self, bytes: &[u8], position: u64) -> Checked<()> {
        let fields = Fields::of(bytes, 0b11_1100, "the header")?;
        if fields.term.field == 0 {
            return Err(malformed(format!(
                "the header {} has no value",
                quote(fields.name)
            )));
        }
        let name = self.literal(fields.name, "a header's key")?;
        // The fields of a header's value stand one behind those of a subject.
        let slot = Slot {
            field: fields.term.field - 1,
            bytes: &fields.term.bytes,
        };
        let object = self.terms.term(slot, 0)?;
        let header = Operation {
            name,
            object,
            ..Operation::bare(OperationCode::Header)
        };
        self.add(header, position)
    }

    fn namespace(&mut self, code: OperationCode, bytes: &[u8], position: u64) -> Checked<()> {
        let fields = Fields::of(bytes, 0b111_1000, "the namespace")?;
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
                return Err(malformed(format!(
                    "the namespace {} is added without an IRI",
                    quote(fields.name)
                )));
            }
            None => {}
        }
        if self.statement_type == StatementType::Triples {
            if fields.term.field != 0 {
                self.refuse_graph("namespace")?;
            }
        } else if fields.term.field == 0 {
            // Jelly-JVM leaves out the graph of a namespace before the first graph.
            operation.graph = self.terms.repeated_graph()?.unwrap_or_default();
        } else {
            // Its graph's fields stand ten before those of a quad's.
            operation.graph = self.terms.set_graph(Slot {
                field: fields.term.field + 10,
                bytes: &fields.term.bytes,
            })?;
        }
        self.add(operation, position)
    }

    fn literal(&mut self, text: &[u8], what: &'static str) -> Checked<TermId> {
        let flags = scan::lexical(text).ok_or_else(|| invalid_utf8(text, what))?;
        Ok(self
            .terms
            .builder
            .add_simple(TermKind::Literal, text, flags)?)
    }
}

/// The fields of a header or a namespace.
struct Fields<'a> {
    name: &'a [u8],
    value: Option<Vec<u8>>,
    term: Field,
}

/// The field that is set of several; 0 is none.
#[derive(Default)]
struct Field {
    field: usize,
    bytes: Vec<u8>,
}

impl<'a> Fields<'a> {
    /// Field 1 is the name, `terms` are those of which one is set; a message in field 2 that is none of them is an
    /// IRI. The last one counts, equal ones in a row are merged where they are messages.
    fn of(bytes: &'a [u8], terms: u32, what: &'static str) -> Checked<Self> {
        let mut found = Self {
            name: &[],
            value: None,
            term: Field::default(),
        };
        // The label of a blank node is the second of the terms' fields.
        let label = terms.trailing_zeros() as usize + 1;
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, payload) = wire.field(terms | 0b110, what)?;
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

#[cold]
fn before_options(field: usize) -> WireError {
    if field == 0 {
        return malformed(EMPTY_ROW);
    }
    malformed(format!(
        "the log begins with a {} row, expected the patch stream options",
        ROWS[field]
    ))
}

fn parse_options(bytes: &[u8]) -> Checked<PatchOptions> {
    let mut options = PatchOptions {
        statement_type: 0,
        stream_type: 0,
        generalized: false,
        rdf_star: false,
        name_table: 0,
        prefix_table: 0,
        datatype_table: 0,
        version: 0,
    };
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        if !matches!(field, 1..=4 | 9..=11 | 15) {
            wire.skip(field, kind)?;
            continue;
        }
        Wire::expect(kind, VARINT, field, "the patch stream options")?;
        match field {
            1 => options.statement_type = wire.varint32()?,
            2 => options.stream_type = wire.varint32()?,
            3 => options.generalized = wire.varint()? != 0,
            4 => options.rdf_star = wire.varint()? != 0,
            9 => options.name_table = wire.varint32()?,
            10 => options.prefix_table = wire.varint32()?,
            11 => options.datatype_table = wire.varint32()?,
            _ => options.version = wire.varint32()?,
        }
    }
    Ok(options)
}

/// What delimits patches, by the options at the start of a frame; None where the frame has no row. Where
/// another row stands there, or bytes that are none, reading it tells the error.
pub(super) fn first_stream_type(frame: &[u8]) -> Option<StreamType> {
    let options = match frames::first_row(frame, ROW_FIELDS) {
        frames::FirstRow::None => return None,
        frames::FirstRow::Row(1, payload) => parse_options(&payload).ok(),
        _ => None,
    };
    let number = options.map_or(0, |options| options.stream_type);
    Some(StreamType::from_number(number).unwrap_or(StreamType::Frame))
}
