//! Decoders and encoders as Python classes, over the core's trait objects.
//!
//! - In: pieces of bytes, or batches. Out: batches, or bytes.
//! - Law: a codec is used by one thread at a time (another gets a RuntimeError); after a caught panic
//!   it only raises `InternalError`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMappingProxy, PyMemoryView};
use rdfm_core::codec::batch::{Batch, BatchRef};
use rdfm_core::codec::contexts::ContextLoader;
use rdfm_core::codec::sniff::Sniff;
use rdfm_core::codec::spec::FormatSpec;
use rdfm_core::codec::{self, Dialect, LogHeader, Noticed, Opening, Parts, Split};
use rdfm_core::registry;

use crate::batch::MessageBatch;
use crate::contexts::PyLoader;
use crate::records::{PatchBatch, ResultBatch};
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
#[pyclass(frozen, module = "rdfm._core")]
pub struct Decoder {
    spec: &'static FormatSpec,
    state: Mutex<State<dyn codec::Decoder>>,
    said: Mutex<Option<Said>>,
}

/// What a decoder said last, in Rust and in Python.
struct Said {
    header: Arc<LogHeader>,
    noticed: Noticed,
    shown: Py<PyMappingProxy>,
}

impl Decoder {
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
    /// Takes the format's name, and its options by name.
    ///
    /// Args:
    ///     format: A native format's name.
    ///     options: See `format_spec`.
    ///     parts: Which messages may come in parts: "never", those of many "frames", or "always".
    ///     split: Start, stop (or None) and dialect of the part of the log to read.
    ///     first_index: The index of the first message, where that is known.
    ///     context_loader: Takes a URL and gives `(document, final URL)`, or None where it has none.
    /// Raises:
    ///     OptionError: There is no such option, or its value does not fit.
    ///     UnknownFormatError: No native format has that name.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, parts="never", split=None, first_index=None, context_loader=None))]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        parts: &str,
        split: Option<(u64, Option<u64>, String)>,
        first_index: Option<u64>,
        context_loader: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::values(spec.reads(), options)?;
        let opening = opening(parts, split, first_index, context_loader)?;
        let decoder = registry::decoder(spec, &values, &opening).map_err(errors::option)?;
        Ok(Self {
            spec,
            state: Mutex::new(State::Live(decoder)),
            said: Mutex::default(),
        })
    }

    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.spec.name
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
    ///         error, and again on later calls.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut state = take(&self.state, "decoder")?;
        let batch = run(py, &mut state, codec::Decoder::next_batch)?
            .map_err(|error| errors::decode(py, &error))?;
        batch.map(|batch| python_batch(py, batch)).transpose()
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
    /// Args:
    ///     log: The log.
    ///     stop_bytes: Stop after batches that take more bytes of memory than this.
    ///
    /// Returns:
    ///     Its batches, and whether that is all; if not, `next_batch` goes on: it raises the error that follows them,
    ///     or returns the next batch after a stop.
    #[pyo3(signature = (log, /, stop_bytes = None))]
    fn decode_log(
        &self,
        py: Python<'_>,
        log: &Bound<'_, PyBytes>,
        stop_bytes: Option<usize>,
    ) -> PyResult<(Vec<Py<PyAny>>, bool)> {
        let bytes = log.as_bytes();
        let mut state = take(&self.state, "decoder")?;
        let (batches, whole) = run(py, &mut state, |decoder| {
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
        let batches = batches.into_iter().map(|batch| python_batch(py, batch));
        Ok((batches.collect::<PyResult<_>>()?, whole))
    }

    /// Go to the start of another log, with the same options: what was fed and met before is forgotten.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        run(py, &mut *take(&self.state, "decoder")?, |decoder| {
            decoder.reset();
        })
    }

    /// What the log says about itself, complete once a batch was yielded: `dialect` (of the first
    /// message; `changes_dialect` is True if a later one has another), `version_label`, `options` (its
    /// stream options, by the names of the options of the same format's encoder), `frames` (what they mean: "message" or
    /// "flat"), `dropped_metadata` (entries so far that the message of flat frames leaves out),
    /// `dropped_keys` (JSON-LD keys so far that no context maps to an IRI) and `dropped_key` (the first of
    /// them, quoted), `look_alikes` (comments that look like delimiters and are none) and
    /// `look_alike_offsets` (where the first of them begin), `notes` (what whoever reads the log should know).
    /// Absent keys are unknown. It cannot be changed; it is the same object until there is more to say.
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let mut state = take(&self.state, "decoder")?;
        let (header, noticed) = run(py, &mut state, |decoder| {
            (decoder.header(), decoder.noticed())
        })?;
        // Never waited for: the decoder above is held.
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(said) = &*said
            && Arc::ptr_eq(&said.header, &header)
            && said.noticed == noticed
        {
            return Ok(said.shown.bind(py).clone());
        }
        let shown = PyMappingProxy::new(py, header_dict(py, &header, &noticed)?.as_mapping());
        *said = Some(Said {
            header,
            noticed,
            shown: shown.clone().unbind(),
        });
        Ok(shown)
    }
}

/// A batch as the object of its kind.
pub fn python_batch(py: Python<'_>, batch: Batch) -> PyResult<Py<PyAny>> {
    Ok(match batch {
        Batch::Messages(batch) => Py::new(py, MessageBatch::new(batch))?.into_any(),
        Batch::Patches(batch) => Py::new(py, PatchBatch::new(batch))?.into_any(),
        Batch::Results(batch) => Py::new(py, ResultBatch::new(batch))?.into_any(),
    })
}

/// The batch of an object of any kind.
pub fn core_batch<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<BatchRef<'a>> {
    if let Ok(batch) = object.cast::<MessageBatch>() {
        return Ok(batch.get().inner().into());
    }
    if let Ok(batch) = object.cast::<PatchBatch>() {
        return Ok(batch.get().inner().into());
    }
    Ok(object.cast::<ResultBatch>()?.get().inner().into())
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

fn opening(
    parts: &str,
    split: Option<(u64, Option<u64>, String)>,
    first_index: Option<u64>,
    context_loader: Option<Py<PyAny>>,
) -> PyResult<Opening> {
    let parts = match parts {
        "never" => Parts::Never,
        "frames" => Parts::Frames,
        "always" => Parts::Always,
        _ => return Err(errors::option("parts is 'never', 'frames' or 'always'")),
    };
    let split = split.map(|(start, stop, dialect)| {
        let dialect = Dialect::named(&dialect).ok_or_else(|| {
            errors::option("a split is a tuple of start, stop (or None) and dialect")
        })?;
        Ok::<_, PyErr>(Split {
            start,
            stop: stop.unwrap_or(u64::MAX),
            dialect,
        })
    });
    Ok(Opening {
        parts,
        split: split.transpose()?,
        first_index,
        contexts: context_loader
            .map(|load| Arc::new(PyLoader::new(load)) as Arc<dyn ContextLoader>),
    })
}

fn header_dict<'py>(
    py: Python<'py>,
    header: &LogHeader,
    noticed: &Noticed,
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
        dict.set_item("options", options::values_dict(py, &header.options)?)?;
    }
    if let Some(flat) = header.flat {
        dict.set_item("frames", if flat { "flat" } else { "message" })?;
    }
    if noticed.dropped_metadata > 0 {
        dict.set_item("dropped_metadata", noticed.dropped_metadata)?;
    }
    if noticed.trailing_namespaces > 0 {
        dict.set_item("trailing_namespaces", noticed.trailing_namespaces)?;
    }
    if noticed.dropped_keys > 0 {
        dict.set_item("dropped_keys", noticed.dropped_keys)?;
        dict.set_item("dropped_key", &noticed.dropped_key)?;
    }
    if noticed.look_alikes > 0 {
        dict.set_item("look_alikes", noticed.look_alikes)?;
        dict.set_item("look_alike_offsets", &noticed.look_alike_offsets)?;
    }
    if !noticed.notes.is_empty() {
        dict.set_item("notes", &noticed.notes)?;
    }
    Ok(dict)
}

/// Counts the delimiters of a split without decoding: `feed` pieces as to a decoder of the split, until
/// it is `done`, or call `finish`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct DelimiterCounter {
    state: Mutex<State<dyn codec::DelimiterCounter>>,
}

#[pymethods]
impl DelimiterCounter {
    /// Takes what the decoder takes.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, split=None, first_index=None))]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        split: Option<(u64, Option<u64>, String)>,
        first_index: Option<u64>,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::values(spec.reads(), options)?;
        let opening = opening("never", split, first_index, None)?;
        let counter = registry::counter(spec, &values, &opening).map_err(errors::option)?;
        Ok(Self {
            state: Mutex::new(State::Live(counter)),
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
        self.with(py, |counter| counter.finish())
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
        work: impl FnOnce(&mut dyn codec::DelimiterCounter) -> R + Send,
    ) -> PyResult<R> {
        run(py, &mut *take(&self.state, "counter")?, |counter| {
            work(counter)
        })
    }
}

/// Batches to bytes: `encode` each batch, then `finish`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Encoder {
    spec: &'static FormatSpec,
    state: Mutex<State<dyn codec::Encoder>>,
}

impl Encoder {
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
    /// Takes the format's name, its options by name, and where the messages come from.
    ///
    /// Args:
    ///     format: A native format's name.
    ///     options: See `format_spec`.
    ///     source: What is known about the log that the messages come from, when the first is written:
    ///         `carries` (of its format), `dialect`, `options` (its stream options, where it is of this format),
    ///         `asked` (whether these were asked for), `namespaces` (whether its first message declares some),
    ///         `flat` (whether it is one message of many frames that stays so).
    /// Raises:
    ///     OptionError: There is no such option, or its value does not fit.
    ///     UnknownFormatError: No native format has that name.
    #[new]
    #[pyo3(signature = (format, options=None, /, *, source=None))]
    fn new(
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
        source: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let spec = find(format)?;
        let values = options::values(spec.writes(), options)?;
        let source = source.map(options::source).transpose()?;
        let encoder = registry::encoder(spec, &values, source.as_ref()).map_err(errors::option)?;
        Ok(Self {
            spec,
            state: Mutex::new(State::Live(encoder)),
        })
    }

    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.spec.name
    }

    /// The bytes of a batch's messages; `source` is the name of the log that they are of, which no native format
    /// holds.
    ///
    /// Raises:
    ///     EncodeError: A message cannot be written; the exception's `completed` holds the bytes of
    ///         the messages before it.
    #[pyo3(signature = (batch, /, source=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        source: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let _ = source; // no native format holds it
        let batch = core_batch(batch)?;
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

fn find(name: &str) -> PyResult<&'static FormatSpec> {
    registry::find(name).ok_or_else(|| {
        let known = registry::FORMATS.map(|spec| spec.name).join(", ");
        errors::unknown_format(format!(
            "no native format is named '{name}'; known: {known}"
        ))
    })
}

/// The names of the native formats, in the order in which they are asked and listed.
#[pyfunction]
fn format_names() -> Vec<&'static str> {
    registry::FORMATS.map(|spec| spec.name).to_vec()
}

/// Whether a log's first bytes (decompressed, up to 4 KiB) show that it is of a format: True or False, or None if
/// more of them are needed. False for a format that is not told by them.
///
/// Args:
///     format: The format's name.
///     head: The bytes.
///     complete: Whether they are all that is to be looked at: 4 KiB, or the whole log.
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

/// What is declared about a native format, as plain values: the fields of `rdfm.formats.FormatSpec`.
#[pyfunction]
fn format_spec<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    options::spec_dict(py, find(name)?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Decoder>()?;
    module.add_class::<Encoder>()?;
    module.add_class::<DelimiterCounter>()?;
    module.add_function(wrap_pyfunction!(sniff, module)?)?;
    module.add_function(wrap_pyfunction!(format_names, module)?)?;
    module.add_function(wrap_pyfunction!(format_spec, module)?)?;
    module.add_function(wrap_pyfunction!(options::option_value, module)?)
}
