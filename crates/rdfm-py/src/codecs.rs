//! Decoders and encoders as Python classes, over the core's trait objects.
//!
//! - In: pieces of bytes, or batches. Out: batches, or bytes.
//! - Law: a codec is used by one thread at a time (another gets a RuntimeError); after a caught panic
//!   it only raises `InternalError`.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView};
use rdfm_core::codec::format::{Format, TripleTerms};
use rdfm_core::codec::sniff::Sniff;
use rdfm_core::codec::{self, Dialect, Frames, LogHeader};
use rdfm_core::formats::nquads::count;

use crate::batch::MessageBatch;
use crate::{errors, options};

/// A codec, or why it cannot be used any more.
enum State<T: ?Sized> {
    Live(Box<T>),
    Broken(String),
}

/// Takes the codec for one call.
fn take<'a, T: ?Sized>(
    state: &'a Mutex<State<T>>,
    what: &str,
) -> PyResult<MutexGuard<'a, State<T>>> {
    match state.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::WouldBlock) => Err(errors::in_use(what)),
        Err(TryLockError::Poisoned(_)) => Err(errors::internal(format!(
            "this {what} met a bug before and cannot be used any more"
        ))),
    }
}

/// Runs native work on a codec without the GIL; a panic poisons it.
fn run<T: ?Sized + Send, R: Send>(
    py: Python<'_>,
    state: &mut State<T>,
    work: impl FnOnce(&mut T) -> R + Send,
) -> PyResult<R> {
    let codec = match state {
        State::Live(codec) => codec,
        State::Broken(reason) => return Err(errors::internal(reason.clone())),
    };
    errors::guarded(py, || work(codec)).inspect_err(|error| {
        *state = State::Broken(error.value(py).to_string());
    })
}

/// Bytes to batches: `feed` pieces, then take batches with `next_batch` until it gives None;
/// after the last piece call `finish` and take the rest.
#[pyclass(subclass, frozen, module = "rdfm._core")]
pub struct Decoder {
    kind: Format,
    state: Mutex<State<dyn codec::Decoder>>,
}

impl Decoder {
    fn open(kind: Format, given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options::decode(kind, given)?;
        let decoder = kind.decoder(&options).map_err(errors::option)?;
        Ok(Self {
            kind,
            state: Mutex::new(State::Live(decoder)),
        })
    }

    /// Works with the decoder at the start of a log, without the GIL, and leaves it at the start of one.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn codec::Decoder) -> R + Send,
    ) -> PyResult<R> {
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            let result = work(decoder);
            decoder.reset();
            result
        })
    }
}

#[pymethods]
impl Decoder {
    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.kind.name()
    }

    /// Take a piece of the log, cut anywhere. Decodes nothing.
    ///
    /// Args:
    ///     piece: Any contiguous buffer; it is copied.
    /// Raises:
    ///     TypeError: `piece` is no buffer.
    ///     BufferError: `piece` is not contiguous.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = contiguous(piece)?;
        let bytes = bytes.as_bytes();
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.feed(bytes);
        })
    }

    /// Mark the end of the log.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.finish();
        })
    }

    /// The next batch of completed messages; None means "feed me", and after `finish` "done".
    ///
    /// Raises:
    ///     DecodeError: The log breaks its format; raised after every message completed before the
    ///         fault, and again on later calls.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<MessageBatch>> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, codec::Decoder::next_batch)?
            .map(|batch| batch.map(MessageBatch::new))
            .map_err(|error| errors::decode(py, &error))
    }

    /// After an error: go to the next delimiter.
    ///
    /// Returns:
    ///     The bytes skipped, at most the first MiB of them; None means "feed me and call again".
    /// Raises:
    ///     DecodeError: The error itself, where the format offers no way to resume.
    fn skip_message<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, codec::Decoder::skip_message)?
            .map(|skipped| skipped.map(|bytes| PyBytes::new(py, &bytes)))
            .map_err(|error| errors::decode(py, &error))
    }

    /// Whether what is fed from now on belongs to other splits: nothing more need be read.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, |decoder| decoder.done())
    }

    /// Decode another log, of which all bytes are here, with the same options.
    ///
    /// Returns:
    ///     Its batches, and whether that is all; if not, `next_batch` raises the fault behind them.
    #[pyo3(signature = (log, /))]
    fn decode_log(
        &self,
        py: Python<'_>,
        log: &Bound<'_, PyBytes>,
    ) -> PyResult<(Vec<MessageBatch>, bool)> {
        let bytes = log.as_bytes();
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.reset();
            decoder.feed(bytes);
            decoder.finish();
            let mut batches = Vec::new();
            loop {
                match decoder.next_batch() {
                    Ok(Some(batch)) => batches.push(MessageBatch::new(batch)),
                    Ok(None) => return (batches, true),
                    Err(_) => return (batches, false),
                }
            }
        })
    }

    /// Go to the start of another log, with the same options: what was fed and met before is forgotten.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.reset();
        })
    }

    /// What the log says about itself, complete once a batch was yielded: `dialect` (of the first
    /// message; `changes_dialect` is True if a later one has another), `version_label`, `jelly` (its
    /// stream options, by the names that JellyEncoder takes), `frames` (what they mean: "message" or
    /// "flat"), `dropped_metadata` (entries so far that the message of flat frames leaves out),
    /// `dropped_keys` (JSON-LD keys so far that no context maps to an IRI) and `dropped_key` (the first of
    /// them, quoted), `notes` (what whoever reads the log should know).
    /// Absent keys are unknown.
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = take(&self.state, "decoder")?;
        let header = run(py, &mut state, |decoder| decoder.header())?;
        header_dict(py, &header)
    }
}

/// The bytes of a contiguous buffer, without a copy where it is a bytes object.
pub fn contiguous<'py>(piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = piece.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let view = PyMemoryView::from(piece).map_err(|error| {
        if error.is_instance_of::<PyTypeError>(piece.py()) {
            PyTypeError::new_err(format!(
                "feed takes bytes or another contiguous buffer, not {}",
                piece
                    .get_type()
                    .name()
                    .map_or_else(|_| "this object".to_owned(), |name| name.to_string())
            ))
        } else {
            error
        }
    })?;
    if !view.getattr("c_contiguous")?.is_truthy()? {
        return Err(PyBufferError::new_err(
            "feed takes a contiguous buffer; this one has gaps: pass bytes(piece)",
        ));
    }
    Ok(view.call_method0("tobytes")?.cast_into()?)
}

fn header_dict<'py>(py: Python<'py>, header: &LogHeader) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(dialect) = header.dialect {
        let name = match dialect {
            Dialect::Comment => "comment",
            Dialect::Directive => "directive",
            Dialect::Plain => "plain",
        };
        dict.set_item("dialect", name)?;
    }
    if header.changes_dialect {
        dict.set_item("changes_dialect", true)?;
    }
    if let Some(label) = &header.version_label {
        dict.set_item("version_label", label)?;
    }
    if let Some(jelly) = &header.jelly {
        dict.set_item("jelly", options::jelly_dict(py, jelly)?)?;
    }
    if let Some(frames) = header.frames {
        let name = match frames {
            Frames::Message => "message",
            Frames::Flat => "flat",
        };
        dict.set_item("frames", name)?;
    }
    if header.dropped_metadata > 0 {
        dict.set_item("dropped_metadata", header.dropped_metadata)?;
    }
    if header.trailing_namespaces > 0 {
        dict.set_item("trailing_namespaces", header.trailing_namespaces)?;
    }
    if header.dropped_keys > 0 {
        dict.set_item("dropped_keys", header.dropped_keys)?;
        dict.set_item("dropped_key", &header.dropped_key)?;
    }
    if !header.notes.is_empty() {
        dict.set_item("notes", &header.notes)?;
    }
    Ok(dict)
}

/// Counts the delimiters of a split without decoding: `feed` pieces as to a decoder of the split, until
/// it is `done`, or call `finish`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct DelimiterCounter {
    state: Mutex<State<count::DelimiterCounter>>,
}

#[pymethods]
impl DelimiterCounter {
    /// Takes the options that the decoder takes.
    #[new]
    #[pyo3(signature = (format, **options))]
    fn new(format: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let kind = by_name(format)?;
        if !kind.splittable() {
            return Err(errors::option(format!("{format} logs have no splits")));
        }
        let options = options::decode(kind, options)?;
        let counter = count::DelimiterCounter::new(&options);
        Ok(Self {
            state: Mutex::new(State::Live(Box::new(counter))),
        })
    }

    /// Take a piece of the log and count.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = contiguous(piece)?;
        let bytes = bytes.as_bytes();
        self.with(py, |counter| counter.feed(bytes))
    }

    /// Mark the end of the log.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, count::DelimiterCounter::finish)
    }

    /// Whether nothing more need be fed.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.done())
    }

    /// Delimiters whose lines begin in the split.
    #[getter]
    fn delimiters(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |counter| counter.delimiters())
    }

    /// Whether a message begins before the first of them, if that is the log's first delimiter.
    #[getter]
    fn content_first(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.content_first())
    }

    /// Whether the log changes its dialect behind its head, so that it cannot be read in splits.
    #[getter]
    fn strayed(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.strayed())
    }
}

impl DelimiterCounter {
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut count::DelimiterCounter) -> R + Send,
    ) -> PyResult<R> {
        run(py, &mut *take(&self.state, "counter")?, work)
    }
}

/// Batches to bytes: `encode` each batch, then `finish`.
#[pyclass(subclass, frozen, module = "rdfm._core")]
pub struct Encoder {
    kind: Format,
    state: Mutex<State<dyn codec::Encoder>>,
}

impl Encoder {
    fn open(kind: Format, given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options::encode(kind, given)?;
        let encoder = kind.encoder(&options).map_err(errors::option)?;
        Ok(Self {
            kind,
            state: Mutex::new(State::Live(encoder)),
        })
    }

    /// Works with the encoder without the GIL, and leaves it at the start of a log.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn codec::Encoder) -> R + Send,
    ) -> PyResult<R> {
        run(py, &mut *take(&self.state, "encoder")?, |encoder| {
            let result = work(encoder);
            encoder.reset();
            result
        })
    }

    /// Runs an encoder step and gives its bytes, or the error with the bytes before it.
    fn step<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(
            &mut dyn codec::Encoder,
            &mut Vec<u8>,
        ) -> Result<(), rdfm_core::model::error::EncodeError>
        + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = take(&self.state, "encoder")?;
        let (result, out) = run(py, &mut state, |encoder| {
            let mut out = Vec::new();
            (work(encoder, &mut out), out)
        })?;
        match result {
            Ok(()) => Ok(PyBytes::new(py, &out)),
            Err(error) => Err(errors::encode(py, &error, &out)),
        }
    }
}

#[pymethods]
impl Encoder {
    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.kind.name()
    }

    /// The bytes of a batch's messages.
    ///
    /// Raises:
    ///     EncodeError: A message cannot be written; the exception's `completed` holds the bytes of
    ///         the messages before it.
    #[pyo3(signature = (batch, /))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, MessageBatch>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let batch = batch.get().inner();
        self.step(py, |encoder, out| encoder.encode(batch, out))
    }

    /// The bytes that stand at the end of a log.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |encoder, out| encoder.finish(out))
    }

    /// Go to the start of another log, with the same options. What was left out is counted anew.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "encoder")?, |encoder| {
            encoder.reset();
        })
    }

    /// What was left out so far, by name and count: cosmetic things, and losses asked for.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = take(&self.state, "encoder")?;
        let dropped = run(py, &mut state, |encoder| encoder.dropped())?;
        let dict = PyDict::new(py);
        for (name, count) in dropped {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// What whoever reads the log should know, a sentence each.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut state = take(&self.state, "encoder")?;
        run(py, &mut state, |encoder| encoder.notes())
    }
}

/// One format's classes: the base classes with the format fixed.
macro_rules! codecs {
    ($($format:ident $title:literal $decoder:ident $encoder:ident;)*) => {
        $(
            #[doc = concat!("Decodes ", $title, " logs; options as keywords, see `option_kinds`.")]
            #[pyclass(extends = Decoder, frozen, module = "rdfm._core")]
            pub struct $decoder;

            #[pymethods]
            impl $decoder {
                #[new]
                #[pyo3(signature = (**options))]
                fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<PyClassInitializer<Self>> {
                    let base = Decoder::open(Format::$format, options)?;
                    Ok(PyClassInitializer::from(base).add_subclass(Self))
                }
            }

            #[doc = concat!("Encodes ", $title, " logs; options as keywords, see `option_kinds`.")]
            #[pyclass(extends = Encoder, frozen, module = "rdfm._core")]
            pub struct $encoder;

            #[pymethods]
            impl $encoder {
                #[new]
                #[pyo3(signature = (**options))]
                fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<PyClassInitializer<Self>> {
                    let base = Encoder::open(Format::$format, options)?;
                    Ok(PyClassInitializer::from(base).add_subclass(Self))
                }
            }
        )*

        fn register_all(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(
                module.add_class::<$decoder>()?;
                module.add_class::<$encoder>()?;
            )*
            Ok(())
        }
    };
}

codecs! {
    Nt "N-Triples" NTriplesDecoder NTriplesEncoder;
    Nq "N-Quads" NQuadsDecoder NQuadsEncoder;
    Ttl "Turtle" TurtleDecoder TurtleEncoder;
    Trig "TriG" TriGDecoder TriGEncoder;
    Jelly "Jelly-RDF" JellyDecoder JellyEncoder;
    Ndjsonld "NDJSON-LD" NdjsonLdDecoder NdjsonLdEncoder;
    Jsonld "JSON-LD" JsonLdDecoder JsonLdEncoder;
    RdfProtobuf "RDF Protobuf" RdfProtobufDecoder RdfProtobufEncoder;
    RdfThrift "RDF Thrift" RdfThriftDecoder RdfThriftEncoder;
    Yamlld "YAML-LD" YamlLdDecoder YamlLdEncoder;
    RdfXml "RDF/XML" RdfXmlDecoder RdfXmlEncoder;
}

fn by_name(name: &str) -> PyResult<Format> {
    Format::by_name(name).ok_or_else(|| {
        let known = Format::ALL.map(Format::name).join(", ");
        errors::unknown_format(format!(
            "no native format is named '{name}'; known: {known}"
        ))
    })
}

/// What a native format can hold, by name: `graphs`, `generalized`, `triple_terms` ("no", "object",
/// "anywhere"), `directions`, `boundaries`, `order`, `namespaces`, `metadata`, `any_text` (any character
/// in a text, and any IRI as a predicate).
#[pyfunction]
fn carries<'py>(py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyDict>> {
    let carries = by_name(format)?.carries();
    let triple_terms = match carries.triple_terms {
        TripleTerms::No => "no",
        TripleTerms::Object => "object",
        TripleTerms::Anywhere => "anywhere",
    };
    let dict = PyDict::new(py);
    dict.set_item("graphs", carries.graphs)?;
    dict.set_item("generalized", carries.generalized)?;
    dict.set_item("triple_terms", triple_terms)?;
    dict.set_item("directions", carries.directions)?;
    dict.set_item("boundaries", carries.boundaries)?;
    dict.set_item("order", carries.order)?;
    dict.set_item("namespaces", carries.namespaces)?;
    dict.set_item("metadata", carries.metadata)?;
    dict.set_item("any_text", carries.any_text)?;
    Ok(dict)
}

/// How a native format can be read: `resumable` after a fault, `splittable` at a byte offset.
#[pyfunction]
fn traits<'py>(py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyDict>> {
    let format = by_name(format)?;
    let dict = PyDict::new(py);
    dict.set_item("resumable", format.resumable())?;
    dict.set_item("splittable", format.splittable())?;
    Ok(dict)
}

/// Whether a log's first bytes (decompressed, up to 4 KiB) show that it is of a format: True or False, or None if
/// more of them are needed. False for a format that is not told by them.
///
/// Args:
///     format: The format's name.
///     head: The bytes.
///     complete: Whether they are all that is to be looked at: 4 KiB, or the whole log.
#[pyfunction]
fn sniff(format: &str, head: &[u8], complete: bool) -> Option<bool> {
    let sniff = Format::by_name(format).and_then(Format::sniff);
    match sniff.map_or(Sniff::No, |sniff| sniff(head, complete)) {
        Sniff::Yes => Some(true),
        Sniff::No => Some(false),
        Sniff::More => None,
    }
}

/// The options that a native format's codec takes: name and kind ("switch", "number", "text", "pairs").
///
/// Args:
///     format: The format's name.
///     codec: "decoder" or "encoder".
#[pyfunction]
fn option_kinds<'py>(py: Python<'py>, format: &str, codec: &str) -> PyResult<Bound<'py, PyDict>> {
    let format = by_name(format)?;
    let kinds = match codec {
        "decoder" => options::decode_kinds(format),
        "encoder" => options::encode_kinds(format),
        _ => {
            return Err(errors::option(format!(
                "codec is 'decoder' or 'encoder', not '{codec}'"
            )));
        }
    };
    let dict = PyDict::new(py);
    for (name, kind) in kinds {
        dict.set_item(name, kind.name())?;
    }
    Ok(dict)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Decoder>()?;
    module.add_class::<Encoder>()?;
    module.add_class::<DelimiterCounter>()?;
    register_all(module)?;
    module.add_function(wrap_pyfunction!(carries, module)?)?;
    module.add_function(wrap_pyfunction!(traits, module)?)?;
    module.add_function(wrap_pyfunction!(sniff, module)?)?;
    module.add_function(wrap_pyfunction!(option_kinds, module)?)
}
