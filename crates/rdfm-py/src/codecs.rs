//! Decoders and encoders as Python classes, over the core's trait objects.
//!
//! - In: pieces of bytes, or batches. Out: batches, or bytes.
//! - Law: only one thread at a time can use a codec; others get a `RuntimeError`. After a caught
//!   panic, a codec always raises `InternalError`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyMappingProxy, PyMemoryView};
use pyo3_bytes::PyBytes as SharedBytes;
use rdfm_core::codec::batch::{Batch, BatchRef};
use rdfm_core::codec::chain;
use rdfm_core::codec::contexts::ContextLoader;
use rdfm_core::codec::sniff::Sniff;
use rdfm_core::codec::spec::FormatSpec;
use rdfm_core::codec::{
    self, Dialect, LogEnd, LogHeader, LogPosition, Observations, Opening, Parts, Split,
};
use rdfm_core::registry;

use crate::batch::MessageBatch;
use crate::contexts::PyLoader;
use crate::records::{PatchBatch, ResultBatch};
use crate::{errors, options};

/// A codec, or the reason why it can no longer be used.
enum CodecState<T: ?Sized> {
    Live(Box<T>),
    Broken(String),
}

/// Locks the codec for one call.
fn take<'a, T: ?Sized>(
    state: &'a Mutex<CodecState<T>>,
    expected: &str,
) -> PyResult<MutexGuard<'a, CodecState<T>>> {
    match state.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::WouldBlock) => Err(errors::in_use_error(expected)),
        Err(TryLockError::Poisoned(_)) => Err(errors::internal_error(format!(
            "this {expected} cannot be used after an internal error"
        ))),
    }
}

/// Runs native work on a codec without the GIL. A panic makes the codec unusable.
fn run<T: ?Sized + Send, R: Send>(
    py: Python<'_>,
    state: &mut CodecState<T>,
    work: impl FnOnce(&mut T) -> R + Send,
) -> PyResult<R> {
    let codec = match state {
        CodecState::Live(codec) => codec,
        CodecState::Broken(reason) => return Err(errors::internal_error(reason.clone())),
    };
    errors::run_guarded(py, || work(codec)).inspect_err(|error| {
        *state = CodecState::Broken(error.value(py).to_string());
    })
}

/// Converts bytes to batches.
///
/// Call `feed` with each piece, then `next_batch` until `next_batch` returns None. After the last
/// piece, call `finish`, then `next_batch` for the remaining batches.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Decoder {
    spec: &'static FormatSpec,
    state: Mutex<CodecState<dyn codec::Decoder>>,
    reported: Mutex<Option<ReportedHeader>>,
}

/// Header and notices that a decoder last reported, in Rust and in Python.
struct ReportedHeader {
    header: Arc<LogHeader>,
    observations: Observations,
    shown: Py<PyMappingProxy>,
}

impl Decoder {
    /// Runs `work` on the decoder without the GIL, and resets the decoder afterwards.
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
    /// Create a decoder for a format.
    ///
    /// Args:
    ///     format: Name of a native format.
    ///     options: Options by name; see `format_spec`.
    ///     parts: Which messages may be returned in parts: none ("never"), only those that consist
    ///         of many frames ("frames"), or all ("always").
    ///     split: Start, stop (or None) and dialect (or None) of the split to read.
    ///     first_message_index: Index of the first message, if known.
    ///     checks_marks: Whether to check the restart marks.
    ///     context_loader: Function that takes a URL and returns `(document, final URL)`, or None
    ///         if it has no document for that URL.
    ///     skip_lines: Whether to skip lines that are not statements and keep the rest of their
    ///         message.
    /// Raises:
    ///     OptionError: If an option is unknown, or its value is invalid.
    ///     UnknownFormatError: If no native format has that name.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, parts="never", split=None, first_message_index=None, checks_marks=false, context_loader=None, skip_lines=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        parts: &str,
        split: Option<SplitTuple>,
        first_message_index: Option<u64>,
        checks_marks: bool,
        context_loader: Option<Py<PyAny>>,
        skip_lines: bool,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::parse_values(spec.reads(), options)?;
        let mut opening = parse_opening(
            parts,
            split,
            first_message_index,
            checks_marks,
            context_loader,
        )?;
        opening.skip_lines = skip_lines;
        let decoder = registry::new_decoder(spec, &values, &opening).map_err(errors::option)?;
        Ok(Self {
            spec,
            state: Mutex::new(CodecState::Live(decoder)),
            reported: Mutex::default(),
        })
    }

    /// Name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.spec.name
    }

    /// Add a piece of the log, cut anywhere. Nothing is decoded yet.
    ///
    /// Args:
    ///     piece: Any contiguous buffer; it is copied.
    /// Raises:
    ///     TypeError: If `piece` is not a buffer.
    ///     BufferError: If `piece` is not contiguous.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = to_contiguous(piece)?;
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

    /// Return the next batch of complete messages. None means that more input is needed or, after
    /// `finish`, that the log is complete.
    ///
    /// Raises:
    ///     DecodeError: If the log is invalid. Raised after the messages before the error have been
    ///         returned, and again on later calls.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut state = take(&self.state, "decoder")?;
        let batch = run(py, &mut state, codec::Decoder::next_batch)?
            .map_err(|error| errors::decode(py, &error))?;
        batch.map(|batch| to_python_batch(py, batch)).transpose()
    }

    /// Skip to the next delimiter after an error.
    ///
    /// Returns:
    ///     The skipped bytes, limited to the first MiB. None means that more input is needed before
    ///     another call.
    /// Raises:
    ///     DecodeError: The same error again, if the format cannot resume after it.
    fn skip_message<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, codec::Decoder::skip_message)?
            .map(|skipped| skipped.map(|bytes| PyBytes::new(py, &bytes)))
            .map_err(|error| errors::decode(py, &error))
    }

    /// Whether bytes are missing in the last result of `skip_message` (N-Triples and N-Quads).
    #[getter]
    fn skip_cut(&self, py: Python<'_>) -> PyResult<bool> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, |decoder| decoder.is_skip_cut())
    }

    /// Return the lines skipped since the last call, each with its error, without their line ends.
    ///
    /// If there are any, `next_batch` may have returned None because of them: call it again before
    /// `feed`.
    fn take_skipped_lines<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyBytes>)>> {
        let mut state = take(&self.state, "decoder")?;
        let lines = run(py, &mut state, codec::Decoder::take_skipped_lines)?.into_iter();
        let convert = |(error, text): (_, Vec<u8>)| {
            let error = errors::decode(py, &error).into_value(py);
            (error.into_bound(py).into_any(), PyBytes::new(py, &text))
        };
        Ok(lines.map(convert).collect())
    }

    /// Whether all further input belongs to other splits, so reading can stop.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        let mut state = take(&self.state, "decoder")?;
        run(py, &mut state, |decoder| decoder.is_done())
    }

    /// Decode another complete log with the same options.
    ///
    /// Args:
    ///     log: The log.
    ///     stop_bytes: Stop when the batches use more memory than this, in bytes.
    ///
    /// Returns:
    ///     The batches, and whether they are complete. If not, `next_batch` continues: it raises
    ///     the error that follows them, or returns the next batch after a stop.
    #[pyo3(signature = (log, /, stop_bytes = None))]
    fn decode_log(
        &self,
        py: Python<'_>,
        log: &Bound<'_, PyBytes>,
        stop_bytes: Option<usize>,
    ) -> PyResult<(Vec<Py<PyAny>>, bool)> {
        let bytes = log.as_bytes();
        let mut state = take(&self.state, "decoder")?;
        let (batches, is_complete) = run(py, &mut state, |decoder| {
            decoder.reset();
            decoder.feed(bytes);
            decoder.finish();
            let mut batches = Vec::new();
            let mut left = stop_bytes.unwrap_or(usize::MAX);
            loop {
                match decoder.next_batch() {
                    Ok(Some(batch)) => {
                        let size = batch.memory_bytes();
                        batches.push(batch);
                        if size > left {
                            return (batches, false);
                        }
                        left -= size;
                    }
                    Ok(None) => return (batches, true),
                    Err(_) => return (batches, false),
                }
            }
        })?;
        let batches = batches.into_iter().map(|batch| to_python_batch(py, batch));
        Ok((batches.collect::<PyResult<_>>()?, is_complete))
    }

    /// Return how the log ends: four values, each of which may be None.
    ///
    /// 1. The end, after the last batch of a log with delimiters: "start" (before the first
    ///    message), "content", "delimiter" or "inside" (a transaction).
    /// 2. Why no message can be appended, after the first batch.
    /// 3. Offset after the last message that is certainly complete, if the last message may be
    ///    incomplete: because of an error that may be due to truncation, or for the next reason.
    /// 4. Why the last message may be incomplete, although it is valid.
    fn ending(&self, py: Python<'_>) -> PyResult<EndingTuple> {
        let mut state = take(&self.state, "decoder")?;
        let observations = run(py, &mut state, |decoder| decoder.observations())?;
        let end = observations.end.map(LogEnd::name);
        Ok((
            end,
            observations.closed,
            observations.complete,
            observations.incomplete,
        ))
    }

    /// Discard all input and start another log with the same options.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.reset();
        })
    }

    /// Return the properties of the log. They are complete once a batch has been returned.
    ///
    /// The mapping is read-only. It remains the same object until there is more to report. Unknown
    /// properties are absent. The keys are:
    ///
    /// - `dialect`: the dialect of the first message; `changes_dialect` is True if a later message
    ///   has a different one.
    /// - `version_label`.
    /// - `options`: the stream options, by the names of the encoder options of the same format.
    /// - `frames`: the meaning of the frames, "message" or "flat".
    /// - `restarts`: True if the first frame has a restart mark, so the log can be read in splits.
    /// - `dropped_metadata`: number of metadata entries so far that are omitted because flat frames
    ///   form a single message.
    /// - `column_bytes`: in Jelly 1.2, the size in bytes of each column so far, and of the lookup
    ///   entries.
    /// - `trailing_namespaces`: number of namespaces declared after the last message.
    /// - `dropped_keys`: number of JSON-LD keys so far that no context maps to an IRI;
    ///   `dropped_key` is the first of them, quoted.
    /// - `look_alikes`: number of comments that look like delimiters but are not;
    ///   `look_alike_offsets` are the offsets of the first ones.
    /// - `warnings`: legal but suspicious data so far: for each rule of `validate` its name, the
    ///   number of findings, and the offset, frame index and text of each of the first ones.
    /// - `notes`: notes for readers of the log.
    /// - `joined`: a note, if Jelly logs may have been joined into one message.
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let mut state = take(&self.state, "decoder")?;
        let (header, observations) = run(py, &mut state, |decoder| {
            (decoder.header(), decoder.observations())
        })?;
        // The decoder's lock is held, so this lock is never contended.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reported) = &*reported
            && Arc::ptr_eq(&reported.header, &header)
            && reported.observations == observations
        {
            return Ok(reported.shown.bind(py).clone());
        }
        let shown =
            PyMappingProxy::new(py, to_header_dict(py, &header, &observations)?.as_mapping());
        *reported = Some(ReportedHeader {
            header,
            observations,
            shown: shown.clone().unbind(),
        });
        Ok(shown)
    }
}

/// Returns a batch as a Python object of its kind.
pub fn to_python_batch(py: Python<'_>, batch: Batch) -> PyResult<Py<PyAny>> {
    Ok(match batch {
        Batch::Messages(batch) => Py::new(py, MessageBatch::new(batch))?.into_any(),
        Batch::Patches(batch) => Py::new(py, PatchBatch::new(batch))?.into_any(),
        Batch::Results(batch) => Py::new(py, ResultBatch::new(batch))?.into_any(),
    })
}

/// Returns the core batch of a Python object of any kind.
pub fn to_core_batch<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<BatchRef<'a>> {
    if let Ok(batch) = object.cast::<MessageBatch>() {
        return Ok(batch.get().inner().into());
    }
    if let Ok(batch) = object.cast::<PatchBatch>() {
        return Ok(batch.get().inner().into());
    }
    Ok(object.cast::<ResultBatch>()?.get().inner().into())
}

/// Returns the bytes of a contiguous buffer, without a copy if it is a `bytes` object.
pub fn to_contiguous<'py>(piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
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

/// Start, stop and dialect of a split.
type SplitTuple = (u64, Option<u64>, Option<String>);

fn parse_opening(
    parts: &str,
    split: Option<SplitTuple>,
    first_message_index: Option<u64>,
    checks_marks: bool,
    context_loader: Option<Py<PyAny>>,
) -> PyResult<Opening> {
    let parts = match parts {
        "never" => Parts::Never,
        "frames" => Parts::Frames,
        "always" => Parts::Always,
        _ => {
            return Err(errors::option(
                "parts must be 'never', 'frames' or 'always'",
            ));
        }
    };
    let split = split.map(|(start, stop, dialect)| {
        let dialect = dialect.map(|name| {
            Dialect::from_name(&name).ok_or_else(|| {
                errors::option(
                    "split must be a tuple of start, stop (or None) and dialect (or None)",
                )
            })
        });
        Ok::<_, PyErr>(Split {
            start,
            stop: stop.unwrap_or(u64::MAX),
            dialect: dialect.transpose()?,
        })
    });
    Ok(Opening {
        parts,
        split: split.transpose()?,
        first_message_index,
        checks_marks,
        skip_lines: false,
        contexts: context_loader
            .map(|load| Arc::new(PyLoader::new(load)) as Arc<dyn ContextLoader>),
    })
}

fn to_header_dict<'py>(
    py: Python<'py>,
    header: &LogHeader,
    observations: &Observations,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(dialect) = header.dialect {
        dict.set_item("dialect", dialect.name())?;
    }
    if header.changes_dialect {
        dict.set_item("changes_dialect", true)?;
    }
    if let Some(label) = &header.version_label {
        dict.set_item("version_label", label)?;
    }
    if !header.options.is_empty() {
        dict.set_item("options", options::to_values_dict(py, &header.options)?)?;
    }
    if let Some(flat) = header.flat {
        dict.set_item("frames", if flat { "flat" } else { "message" })?;
    }
    if header.restarts {
        dict.set_item("restarts", true)?;
    }
    if observations.dropped_metadata > 0 {
        dict.set_item("dropped_metadata", observations.dropped_metadata)?;
    }
    if !observations.column_bytes.is_empty() {
        let sizes = observations.column_bytes.iter().copied();
        dict.set_item("column_bytes", sizes.into_py_dict(py)?)?;
    }
    if observations.trailing_namespaces > 0 {
        dict.set_item("trailing_namespaces", observations.trailing_namespaces)?;
    }
    if observations.dropped_keys > 0 {
        dict.set_item("dropped_keys", observations.dropped_keys)?;
        dict.set_item("dropped_key", &observations.dropped_key)?;
    }
    if observations.look_alikes > 0 {
        dict.set_item("look_alikes", observations.look_alikes)?;
        dict.set_item("look_alike_offsets", &observations.look_alike_offsets)?;
    }
    let warnings = observations.warnings.0.iter().map(|warning| {
        let first = warning.first.iter();
        let first: Vec<_> = first
            .map(|data| (data.byte_offset, data.frame, data.text.as_str()))
            .collect();
        (warning.rule, warning.count, first)
    });
    if warnings.len() > 0 {
        dict.set_item("warnings", warnings.collect::<Vec<_>>())?;
    }
    let notes = observations.joined.iter().chain(&observations.notes);
    let notes = notes.map(|note| errors::note(py, note));
    let notes = notes.collect::<PyResult<Vec<_>>>()?;
    if observations.joined.is_some() {
        dict.set_item("joined", &notes[0])?;
    }
    if !notes.is_empty() {
        dict.set_item("notes", notes)?;
    }
    Ok(dict)
}

/// Counts the delimiters in a split without decoding it, or the messages if the log consists of
/// frames.
///
/// Call `feed` with the same pieces as for a decoder of the split until `done` is True, or call
/// `finish` at the end of the log.
#[pyclass(frozen, module = "rdfm._core")]
pub struct DelimiterCounter {
    state: Mutex<CodecState<dyn codec::DelimiterCounter>>,
}

#[pymethods]
impl DelimiterCounter {
    /// Create a counter. The arguments are those of `Decoder`.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, split=None, first_message_index=None))]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        split: Option<SplitTuple>,
        first_message_index: Option<u64>,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::parse_values(spec.reads(), options)?;
        let opening = parse_opening("never", split, first_message_index, false, None)?;
        let counter = registry::new_counter(spec, &values, &opening).map_err(errors::option)?;
        Ok(Self {
            state: Mutex::new(CodecState::Live(counter)),
        })
    }

    /// Count the delimiters in the next piece of the log.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = to_contiguous(piece)?;
        let bytes = bytes.as_bytes();
        self.with(py, |counter| counter.feed(bytes))
    }

    /// Mark the end of the log.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |counter| counter.finish())
    }

    /// Whether no more input is needed.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.is_done())
    }

    /// Number of delimiters whose lines begin in the split, or of messages if the log consists of
    /// frames.
    #[getter]
    fn delimiters(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |counter| counter.delimiters())
    }

    /// Whether a message begins before the split's first delimiter, if that delimiter is also the
    /// first one in the log.
    #[getter]
    fn content_first(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.is_content_first())
    }

    /// Whether the log cannot be read in splits, because its dialect changes after its head or its
    /// frames are damaged.
    #[getter]
    fn indivisible(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |counter| counter.is_indivisible())
    }
}

impl DelimiterCounter {
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn codec::DelimiterCounter) -> R + Send,
    ) -> PyResult<R> {
        run(py, &mut *take(&self.state, "counter")?, |counter| {
            work(counter)
        })
    }
}

/// See `Decoder.ending`.
type EndingTuple = (
    Option<&'static str>,
    Option<&'static str>,
    Option<u64>,
    Option<&'static str>,
);

/// Number of messages before a place in a log, whether the last of these messages continues, and
/// whether that message is empty.
type PlaceTuple = (u64, bool, bool);

/// Converts batches to bytes: `encode` each batch, then call `finish`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Encoder {
    spec: &'static FormatSpec,
    state: Mutex<CodecState<dyn codec::Encoder>>,
    /// Encoded size of the last batch in bytes: an estimate of the capacity that the next one
    /// needs.
    last_size: AtomicUsize,
}

impl Encoder {
    fn from_encoder(spec: &'static FormatSpec, encoder: Box<dyn codec::Encoder>) -> Self {
        Self {
            spec,
            state: Mutex::new(CodecState::Live(encoder)),
            last_size: AtomicUsize::new(0),
        }
    }

    /// Runs `work` on the encoder without the GIL, and resets the encoder afterwards.
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

    /// Runs an encoder step and returns its bytes. An error contains the bytes written before it.
    fn step(
        &self,
        py: Python<'_>,
        capacity: usize,
        work: impl FnOnce(
            &mut dyn codec::Encoder,
            &mut Vec<u8>,
        ) -> Result<(), rdfm_core::model::error::EncodeError>
        + Send,
    ) -> PyResult<Vec<u8>> {
        let mut state = take(&self.state, "encoder")?;
        let (result, out) = run(py, &mut state, |encoder| {
            let mut out = Vec::with_capacity(capacity);
            (work(encoder, &mut out), out)
        })?;
        match result {
            Ok(()) => Ok(out),
            Err(error) => Err(errors::encode(py, &error, &out)),
        }
    }

    /// Encodes the messages of a batch.
    fn encode_batch(
        &self,
        batch: &Bound<'_, PyAny>,
        place: Option<PlaceTuple>,
        capacity: usize,
    ) -> PyResult<Vec<u8>> {
        let py = batch.py();
        let batch = to_core_batch(batch)?;
        self.step(py, capacity, |encoder, out| {
            if let Some((messages, open, empty)) = place {
                encoder.go_to(LogPosition {
                    messages,
                    open,
                    empty,
                });
            }
            encoder.encode(batch, out)
        })
    }
}

#[pymethods]
impl Encoder {
    /// Create an encoder for a format.
    ///
    /// Args:
    ///     format: Name of a native format.
    ///     options: Options by name; see `format_spec`.
    ///     source: Known properties of the log that the messages come from: `carries` (the
    ///         capabilities of its format), `dialect`, `options` (its stream options, if it has the
    ///         same format), `requested` (whether these options were requested), `namespaces`
    ///         (whether its first message declares any), `flat` (whether it is a single message of
    ///         many frames that is not regrouped). Properties that become known only after the
    ///         first message has been written are not included.
    /// Raises:
    ///     OptionError: If an option is unknown, or its value is invalid.
    ///     UnknownFormatError: If no native format has that name.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, source=None))]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        source: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::parse_values(spec.writes(), options)?;
        let source = source.map(options::parse_source).transpose()?;
        let encoder =
            registry::new_encoder(spec, &values, source.as_ref()).map_err(errors::option)?;
        Ok(Self::from_encoder(spec, encoder))
    }

    /// Name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.spec.name
    }

    /// Encode the messages of a batch.
    ///
    /// Args:
    ///     batch: The batch.
    ///     source: Name of the log that the messages come from; no native format stores it.
    ///     place: For a twin: the place in the log where the batch begins, as returned by `skip`.
    /// Raises:
    ///     EncodeError: If a message cannot be written. The exception's `completed` attribute
    ///         contains the bytes of the messages before it.
    #[pyo3(signature = (batch, /, source=None, *, place=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        source: Option<&str>,
        place: Option<PlaceTuple>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let _ = source; // no native format stores the source
        Ok(PyBytes::new(py, &self.encode_batch(batch, place, 0)?))
    }

    /// Encode the messages of a batch like `encode`, but return the bytes without a copy.
    #[pyo3(signature = (batch, /, source=None, *, place=None))]
    fn encode_view<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        source: Option<&str>,
        place: Option<PlaceTuple>,
    ) -> PyResult<Bound<'py, PyMemoryView>> {
        let _ = source; // no native format stores the source
        let last = self.last_size.load(Ordering::Relaxed);
        let out = self.encode_batch(batch, place, last + last / 8)?;
        self.last_size.store(out.len(), Ordering::Relaxed);
        let bytes = SharedBytes::from(out);
        PyMemoryView::from(Bound::new(py, bytes)?.as_any())
    }

    /// Move past a batch that a twin writes.
    ///
    /// Returns:
    ///     The place where the batch begins, for `encode`. None if this encoder must write the
    ///     batch itself.
    #[pyo3(signature = (batch, /))]
    fn skip(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<Option<PlaceTuple>> {
        let batch = to_core_batch(batch)?;
        let mut state = take(&self.state, "encoder")?;
        let place = run(py, &mut state, |encoder| encoder.skip(batch))?;
        Ok(place.map(|place| (place.messages, place.open, place.empty)))
    }

    /// Return an encoder for skipped batches. It is valid until this encoder writes a batch itself.
    ///
    /// Returns:
    ///     The encoder, which has its own counts of omitted data. None if batches of the format
    ///     depend on each other.
    fn twin(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let mut state = take(&self.state, "encoder")?;
        let twin = run(py, &mut state, |encoder| encoder.twin())?;
        Ok(twin.map(|encoder| Self::from_encoder(self.spec, encoder)))
    }

    /// Return the bytes that end a log.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let out = self.step(py, 0, |encoder, out| encoder.finish(out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Start after the content of an existing log. Call it before `encode`.
    ///
    /// Args:
    ///     end: How the log ends: "start" (before the first message), "content" or "delimiter".
    /// Raises:
    ///     OptionError: If the options do not allow messages to be added to the log.
    #[pyo3(signature = (end, /))]
    fn continue_log(&self, py: Python<'_>, end: &str) -> PyResult<()> {
        let end = LogEnd::from_name(end)
            .ok_or_else(|| errors::option("end must be 'start', 'content' or 'delimiter'"))?;
        run(py, &mut *take(&self.state, "encoder")?, |encoder| {
            encoder.continue_log(end)
        })?
        .map_err(errors::option)
    }

    /// Complete the log written so far, so that it can end here or be continued.
    ///
    /// Returns:
    ///     The bytes that complete the log, and how it then ends, for `continue_log`. The latter is
    ///     None inside a message.
    fn pause<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Option<&'static str>)> {
        let mut end = None;
        let out = self.step(py, 0, |encoder, out| {
            end = encoder.pause(out)?;
            Ok(())
        })?;
        Ok((PyBytes::new(py, &out), end.map(LogEnd::name)))
    }

    /// Start another log with the same options, and reset the counts of omitted data.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "encoder")?, |encoder| {
            encoder.reset();
        })
    }

    /// Return counts of the data omitted so far, by name: cosmetic details, and data dropped on
    /// request.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = take(&self.state, "encoder")?;
        let dropped = run(py, &mut state, |encoder| encoder.dropped_counts())?;
        let dict = PyDict::new(py);
        for (name, count) in dropped {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// Return notes for readers of the log, one sentence each.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut state = take(&self.state, "encoder")?;
        let notes = run(py, &mut state, |encoder| encoder.notes())?;
        notes.iter().map(|note| errors::note(py, note)).collect()
    }
}

/// Runs native work on several encoders without the GIL; a panic makes all of them unusable.
pub fn with_all<R: Send>(
    py: Python<'_>,
    encoders: &[Option<Bound<'_, Encoder>>],
    work: impl FnOnce(&mut [Option<&mut Box<dyn codec::Encoder>>]) -> R + Send,
) -> PyResult<R> {
    let taken = encoders.iter().map(|encoder| {
        let encoder = encoder.as_ref().map(|encoder| &encoder.get().state);
        encoder.map(|state| take(state, "encoder")).transpose()
    });
    let mut states: Vec<_> = taken.collect::<PyResult<_>>()?;
    let mut codecs = Vec::with_capacity(states.len());
    for state in &mut states {
        codecs.push(match state.as_deref_mut() {
            None => None,
            Some(CodecState::Live(codec)) => Some(codec),
            Some(CodecState::Broken(reason)) => return Err(errors::internal_error(reason.clone())),
        });
    }
    let result = errors::run_guarded(py, || work(&mut codecs));
    if let Err(error) = &result {
        let reason = error.value(py).to_string();
        for state in states.iter_mut().flatten() {
            **state = CodecState::Broken(reason.clone());
        }
    }
    result
}

/// Follows the length prefixes of the messages in a log.
#[pyclass(frozen, module = "rdfm._core")]
pub struct LengthChain {
    chain: Mutex<chain::LengthChain>,
}

#[pymethods]
impl LengthChain {
    /// Create a chain that starts at this offset in the log, which must be the end of a message.
    #[new]
    #[pyo3(signature = (offset=0, /))]
    fn new(offset: u64) -> Self {
        Self {
            chain: Mutex::new(chain::LengthChain::at(offset)),
        }
    }

    /// Follow the length prefixes in a piece that starts at the offset `next`.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyBytes>) {
        let bytes = piece.as_bytes();
        py.detach(|| {
            let mut chain = self.lock_chain();
            let next = chain.next();
            chain.skip_to(next);
            chain.feed(bytes);
        });
    }

    /// Offset after the last complete message.
    #[getter]
    fn end(&self) -> u64 {
        self.lock_chain().end()
    }

    /// Number of complete messages.
    #[getter]
    fn messages(&self) -> u64 {
        self.lock_chain().messages()
    }

    /// Offset of the byte that `feed` needs next.
    #[getter]
    fn next(&self) -> u64 {
        self.lock_chain().next()
    }

    /// Whether a length prefix has more than ten bytes.
    #[getter]
    fn is_malformed(&self) -> bool {
        self.lock_chain().is_malformed()
    }
}

impl LengthChain {
    fn lock_chain(&self) -> MutexGuard<'_, chain::LengthChain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find(name: &str) -> PyResult<&'static FormatSpec> {
    registry::find(name).ok_or_else(|| {
        let known = registry::FORMATS.map(|spec| spec.name).join(", ");
        errors::unknown_format_error(format!(
            "no native format is named '{name}'; known: {known}"
        ))
    })
}

/// Return the names of the native formats, in detection and display order.
#[pyfunction]
fn format_names() -> Vec<&'static str> {
    registry::FORMATS.map(|spec| spec.name).to_vec()
}

/// Check whether the first bytes of a log are those of a format.
///
/// Args:
///     format: Name of the format.
///     head: The first bytes, decompressed, up to 4 KiB.
///     complete: Whether no more bytes will follow, because `head` has 4 KiB or is the entire log.
/// Returns:
///     True, False, or None if more bytes are needed. Always False for a format that cannot be
///     detected by its first bytes.
#[pyfunction]
fn sniff(format: &str, head: &[u8], complete: bool) -> PyResult<Option<bool>> {
    let answer = find(format)?
        .sniff
        .map_or(Sniff::No, |sniff| sniff(head, complete));
    Ok(match answer {
        Sniff::Yes => Some(true),
        Sniff::No => Some(false),
        Sniff::More => None,
    })
}

/// Return the specification of a native format: the fields of `rdfm.formats.FormatSpec`.
#[pyfunction]
fn format_spec<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    options::to_spec_dict(py, find(name)?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Decoder>()?;
    module.add_class::<Encoder>()?;
    module.add_class::<DelimiterCounter>()?;
    module.add_class::<LengthChain>()?;
    module.add_function(wrap_pyfunction!(sniff, module)?)?;
    module.add_function(wrap_pyfunction!(format_names, module)?)?;
    module.add_function(wrap_pyfunction!(format_spec, module)?)?;
    module.add_function(wrap_pyfunction!(options::option_value, module)?)
}
