"""Messages of logs: datasets and patches, as views of a batch or created in Python.

A view keeps its batch alive. It stores only two references until its quads or operations are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from rdfm import _core
from rdfm._core import Quad

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

    from rdfm._core import MessageBatch, PatchBatch, ResultBatch, Term

__all__ = ["AnyBatch", "Message", "Operation", "OperationParts", "OperationTuple", "Patch", "Row"]

AnyBatch: TypeAlias = "MessageBatch | PatchBatch | ResultBatch"
# A row of SPARQL results: a term for each variable, or None if the variable is unbound.
Row: TypeAlias = tuple["Term | None", ...]
OperationTuple: TypeAlias = tuple[
    str, str | None, "Term | None", "Term | None", "Term | None", "Term | None"
]
# Accepted forms of an operation. Trailing parts may be omitted.
OperationParts: TypeAlias = (
    OperationTuple
    | tuple[str]
    | tuple[str, str | None]
    | tuple[str, str | None, "Term | None"]
    | tuple[str, str | None, "Term | None", "Term | None"]
    | tuple[str, str | None, "Term | None", "Term | None", "Term | None"]
)

# Options to encode a batch that is pickled.
_PICKLED = {"physical_type": "quads", "namespaces": True, "generalized": True, "rdf_star": True}
# Options to decode a pickled batch: the largest values that are allowed.
_UNLIMITED = {
    "frames": "message",
    "batch_quads": 1 << 28,
    "batch_bytes": 512 << 20,
    "batch_messages": 1 << 28,
    "max_message_bytes": 3 << 30,
    "max_depth": 100,
}
OPERATIONS = ("H", "TX", "TC", "TA", "PA", "PD", "A", "D")
QUADS = "each item of a message must be a Quad"


class Message(Sequence[Quad]):
    """An RDF dataset with its own blank-node scope: quads in order, metadata and namespaces.

    It is a sequence of its quads; a slice is a list. Unlike a list, it is true even if it is empty.

    Args:
        quads: The quads; repetitions and order are kept.
        metadata: Jelly frame metadata: keys and bytes.
        namespaces: The IRIs of the current namespaces, by prefix (without colon).

    Raises:
        TypeError: If an argument or item has the wrong type.
    """

    __slots__ = ("_batch", "_index", "_metadata", "_namespaces", "_quads")

    _batch: MessageBatch | None
    _index: int
    _quads: list[Quad] | None
    _metadata: dict[str, bytes] | None
    _namespaces: dict[str, str] | None

    def __init__(
        self,
        quads: Iterable[Quad] = (),
        *,
        metadata: Mapping[str, bytes] | None = None,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        self._batch = None
        self._index = 0
        self._quads = _quad_list(quads)
        self._metadata = dict(metadata or {})
        self._namespaces = dict(namespaces or {})
        _check("metadata keys must be str", self._metadata, str)
        _check("metadata values must be bytes", self._metadata.values(), bytes)
        _check("namespace names must be str", self._namespaces, str)
        _check("namespace IRIs must be str", self._namespaces.values(), str)

    @property
    def quads(self) -> list[Quad]:
        """The quads, in order."""
        quads = self._quads
        if quads is None:
            assert self._batch is not None
            quads = self._quads = self._batch.quads(self._index)
        return quads

    @property
    def metadata(self) -> dict[str, bytes]:
        """Jelly frame metadata; empty if there is none."""
        if self._metadata is None:
            assert self._batch is not None
            self._metadata = self._batch.metadata(self._index)
        return self._metadata

    @property
    def namespaces(self) -> dict[str, str]:
        """The IRIs of the current namespaces, by prefix (without colon)."""
        if self._namespaces is None:
            assert self._batch is not None
            self._namespaces = self._batch.namespaces(self._index)
        return self._namespaces

    @property
    def message_index(self) -> int | None:
        """The index of the message in its log, from 0; None if it was created in Python."""
        return None if self._batch is None else self._batch.message_index(self._index)

    @property
    def byte_offset(self) -> int | None:
        """Offset of the message's first byte in the decompressed log, from 0.

        None if the message was created in Python or read from rows, such as Parquet and Arrow.
        """
        return None if self._batch is None else self._batch.byte_offset(self._index)

    @overload
    def __getitem__(self, index: int) -> Quad: ...
    @overload
    def __getitem__(self, index: slice) -> list[Quad]: ...
    def __getitem__(self, index: int | slice) -> Quad | list[Quad]:
        """A quad by its index, or a list of quads by a slice."""
        return self.quads[index]

    def __iter__(self) -> Iterator[Quad]:
        """The quads, in order."""
        return iter(self.quads)

    def __len__(self) -> int:
        """The number of quads."""
        if self._quads is None and self._batch is not None:
            return self._batch.quad_count_of(self._index)
        return len(self.quads)

    def __bool__(self) -> bool:
        """True, even for an empty message."""
        return True

    def __eq__(self, other: object) -> bool:
        """Whether both have the same quads in the same order, with the same labels.

        For equality up to labels and order, see `isomorphic`.
        """
        if not isinstance(other, Message):
            return NotImplemented
        return self.quads == other.quads

    __hash__ = None  # type: ignore[assignment]  # its quads can change

    def __repr__(self) -> str:
        """Text such as `<Message 3: 6 quads>`."""
        index = "" if self.message_index is None else f" {self.message_index}"
        count = len(self)
        return f"<Message{index}: {count} quad{'' if count == 1 else 's'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the content. The copy is not a view."""
        return _restore, (self.quads, self.metadata, self.namespaces)

    # The following methods are implemented in rdfm.interop, which is imported on first use.

    def to_rdflib(self) -> rdflib.Dataset:
        """The message as an rdflib dataset (extra: rdflib)."""
        from rdfm import interop

        return interop.to_rdflib(self)

    @classmethod
    def from_rdflib(cls, graph: rdflib.Graph) -> Message:
        """A message with the quads of an rdflib graph or dataset."""
        from rdfm import interop

        return interop.from_rdflib(graph)

    def to_oxigraph(self) -> pyoxigraph.Dataset:
        """The message as a pyoxigraph dataset (extra: oxigraph)."""
        from rdfm import interop

        return interop.to_oxigraph(self)

    @classmethod
    def from_oxigraph(cls, dataset: Iterable[pyoxigraph.Quad | pyoxigraph.Triple]) -> Message:
        """A message with pyoxigraph quads or triples."""
        from rdfm import interop

        return interop.from_oxigraph(dataset)

    def isomorphic(self, other: Message, *, max_steps: int | None = None) -> bool:
        """Whether both are the same dataset up to blank node labels.

        Args:
            other: Another message.
            max_steps: Maximum number of visited quads. Defaults to
                `rdfm.compare.isomorphism.MAX_STEPS`.

        Raises:
            LimitError: If the comparison needs more than `max_steps` steps.
        """
        from rdfm import interop

        return interop.isomorphic(self, other, max_steps=max_steps)

    def canonical(self, *, max_steps: int | None = None) -> str:
        """The dataset as canonical N-Quads (RDFC-1.0).

        Two messages are isomorphic if and only if these strings are equal.

        Args:
            max_steps: Maximum number of visited quads. Defaults to
                `rdfm.compare.canonical.MAX_STEPS`.

        Raises:
            EncodeError: If RDFC-1.0 does not support a quad.
            LimitError: If labelling the blank nodes needs more than `max_steps` steps.
        """
        from rdfm import interop

        return interop.canonical(self, max_steps=max_steps)

    def canonical_hash(self, *, max_steps: int | None = None) -> str:
        r"""The SHA-256 hash of `canonical()`, as 64 hexadecimal digits.

        Args:
            max_steps: Maximum number of visited quads, as in `canonical`.

        Raises:
            EncodeError, LimitError: As in `canonical`.

        Example:
            >>> Message([]).canonical_hash()[:16]
            'e3b0c44298fc1c14'
        """
        from rdfm import interop

        return interop.canonical_hash(self, max_steps=max_steps)

    def _repr_html_(self) -> str:
        """An HTML table for notebooks."""
        from rdfm import interop

        return interop.to_html(self)


class Operation(NamedTuple):
    """An operation of a patch, with the codes of RDF Patch.

    Attributes:
        op: "H" for a header; "TX", "TC" or "TA" to begin, commit or abort a transaction; "PA" or
            "PD" to add or delete a prefix; "A" or "D" to add or delete a quad.
        name: The key of a header, or a prefix without its colon.
        subject: The subject of a quad.
        predicate: The predicate of a quad.
        object: The object of a quad, the value of a header, or the IRI of an added prefix.
        graph: The graph of a quad or prefix; None is the default graph.

    Example:
        >>> from rdfm import Iri
        >>> Operation("PA", "ex", object=Iri("http://example.org/"))
        Operation(op='PA', name='ex', subject=None, predicate=None, object=Iri('http://example.org/'), graph=None)
    """

    op: str
    name: str | None = None
    subject: Term | None = None
    predicate: Term | None = None
    object: Term | None = None
    graph: Term | None = None


class Patch(Sequence[Operation]):
    """Changes to a dataset, as operations in order.

    It is a sequence of its operations; a slice is a list. Unlike a list, it is true even if it is
    empty.

    Blank node labels identify nodes of the changed dataset, and apply to the entire log.

    Args:
        operations: The operations, or tuples of their parts. Trailing parts may be omitted.

    Raises:
        TypeError: If an argument or item has the wrong type.
        ValueError: If the `op` of an operation is not one of the eight codes. Required parts are
            only checked when the operation is written.

    Example:
        >>> from rdfm import Iri, Literal, Quad
        >>> iri = Iri("http://example.org/s")
        >>> patch = Patch([Operation("TX"), Operation("A", None, iri, iri, Literal("o")), Operation("TC")])
        >>> patch.adds == [Quad(iri, iri, Literal("o"))], patch.deletes
        (True, [])
    """

    __slots__ = ("_batch", "_index", "_operations")

    _batch: PatchBatch | None
    _index: int
    _operations: list[Operation] | None

    def __init__(self, operations: Iterable[OperationParts] = ()) -> None:
        self._batch = None
        self._index = 0
        try:
            operations = iter(operations)
        except TypeError:
            kind = type(operations).__name__
            raise TypeError(f"expected an iterable of Operation, not {kind}") from None
        self._operations = [_operation(operation) for operation in operations]

    @property
    def operations(self) -> list[Operation]:
        """The operations, in order."""
        operations = self._operations
        if operations is None:
            assert self._batch is not None
            tuples = self._batch.operations(self._index)
            operations = self._operations = [Operation._make(operation) for operation in tuples]
        return operations

    @property
    def header(self) -> dict[str, list[Term]]:
        """The values of each key of the header, in order."""
        header: dict[str, list[Term]] = {}
        for operation in self.operations:
            if operation.op == "H" and operation.name is not None and operation.object is not None:
                header.setdefault(operation.name, []).append(operation.object)
        return header

    @property
    def id(self) -> Term | None:
        """The id of the patch (the header `id`, in upper or lower case)."""
        return self._header_value("id")

    @property
    def previous(self) -> Term | None:
        """The id of the patch that this one follows (the header `prev`, in upper or lower case)."""
        return self._header_value("prev")

    def _header_value(self, key: str) -> Term | None:
        """The first value of a key of the header."""
        for operation in self.operations:
            if operation.op == "H" and operation.name is not None and operation.name.lower() == key:
                return operation.object
        return None

    @property
    def adds(self) -> list[Quad]:
        """The quads that are added, whether or not their transaction is committed."""
        return self._quads("A")

    @property
    def deletes(self) -> list[Quad]:
        """The quads that are deleted, whether or not their transaction is committed."""
        return self._quads("D")

    def _quads(self, op: str) -> list[Quad]:
        quads = (operation for operation in self.operations if operation.op == op)
        return [Quad(*operation[2:]) for operation in quads]  # type: ignore[arg-type]  # all terms are given

    @property
    def message_index(self) -> int | None:
        """The index of the patch in its log, from 0; None if it was created in Python."""
        return None if self._batch is None else self._batch.message_index(self._index)

    @property
    def byte_offset(self) -> int | None:
        """Offset of the patch's first byte in the decompressed log, from 0.

        None if the patch was created in Python or read from rows, such as Parquet and Arrow.
        """
        return None if self._batch is None else self._batch.byte_offset(self._index)

    @overload
    def __getitem__(self, index: int) -> Operation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Operation]: ...
    def __getitem__(self, index: int | slice) -> Operation | list[Operation]:
        """An operation by its index, or a list of operations by a slice."""
        return self.operations[index]

    def __iter__(self) -> Iterator[Operation]:
        """The operations, in order."""
        return iter(self.operations)

    def __len__(self) -> int:
        """The number of operations."""
        if self._operations is None and self._batch is not None:
            return self._batch.operation_count_of(self._index)
        return len(self.operations)

    def __bool__(self) -> bool:
        """True, even for an empty patch."""
        return True

    def __eq__(self, other: object) -> bool:
        """Whether both have the same operations in the same order, with the same labels."""
        if not isinstance(other, Patch):
            return NotImplemented
        return self.operations == other.operations

    __hash__ = None  # type: ignore[assignment]  # its operations can change

    def __repr__(self) -> str:
        """Text such as `<Patch 3: 6 operations>`."""
        index = "" if self.message_index is None else f" {self.message_index}"
        count = len(self)
        return f"<Patch{index}: {count} operation{'' if count == 1 else 's'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the content. The copy is not a view."""
        return Patch, (self.operations,)


def _operation(operation: Any) -> Operation:
    """Convert a tuple of parts to an operation.

    Raises:
        TypeError: If the argument is neither an `Operation` nor a tuple of parts.
        ValueError: If the `op` is not one of the eight codes.
    """
    if isinstance(operation, Operation):
        result = operation
    else:
        if not isinstance(operation, tuple) or not 1 <= len(operation) <= len(Operation._fields):
            hint = "; ('A', None, *quad) adds a quad" if isinstance(operation, Quad) else ""
            raise TypeError(
                f"expected an Operation or a tuple of its parts, not {repr(operation)[:40]}{hint}"
            )
        result = Operation(*operation)
    if result.op not in OPERATIONS:
        raise ValueError(
            f"{result.op!r} is not an operation; expected one of {', '.join(OPERATIONS)}"
        )
    return result


def patch_views(batch: PatchBatch) -> Iterator[Patch]:
    """The patches of a batch, as views of it."""
    new = Patch.__new__
    for index in range(len(batch)):
        patch = new(Patch)
        patch._batch = batch
        patch._index = index
        patch._operations = None
        yield patch


def views(batch: MessageBatch) -> Iterator[Message]:
    """The messages of a batch, as views of it."""
    new = Message.__new__
    for index in range(len(batch)):
        message = new(Message)
        message._batch = batch
        message._index = index
        message._quads = message._metadata = message._namespaces = None
        yield message


def reduce_batch(batch: AnyBatch) -> tuple[Any, ...]:
    """Pickle a batch: its content, with the places of its messages.

    Messages are pickled as Jelly, after an empty message that declares the namespaces in scope at
    the start. Patches and results are pickled as terms.
    """
    first, count = batch.first_message_index, len(batch)
    indexes = [batch.message_index(message) for message in range(count)]
    if indexes == list(range(first, first + count)):
        indexes = []
    byte_offsets = [batch.byte_offset(message) for message in range(count)]
    places = (first, indexes, byte_offsets, (batch.continued, batch.continues))
    if isinstance(batch, _core.PatchBatch):
        return _restore_patches, ([batch.operations(patch) for patch in range(count)], places)
    if isinstance(batch, _core.ResultBatch):
        head = (list(batch.variables), batch.boolean, list(batch.links))
        return _restore_rows, (batch.rows(), *head, places)
    start = _core.MessageBatch.from_messages([()], after=batch.slice(0, 0))
    encoder = _core.Encoder("jelly", _PICKLED)
    complete = batch._with_places(first, [], byte_offsets, (False, False))
    data = encoder.encode(start) + encoder.encode(complete) + encoder.finish()
    return _restore_batch, (data, places)


def _restore_batch(data: bytes, positions: Any) -> MessageBatch:
    decoder = _core.Decoder("jelly", _UNLIMITED)
    batches: Any
    batches, is_complete = decoder.decode_log(data)
    if not is_complete:
        decoder.next_batch()
    batch: MessageBatch = batches[0]
    if len(batches) > 1:  # the batch is larger than the largest batch of a decoder
        batch = _core.MessageBatch.from_messages(chain.from_iterable(batches))
    return batch.slice(1, len(batch))._with_places(*positions)


def _restore_patches(patches: list[list[OperationTuple]], positions: Any) -> PatchBatch:
    return _core.PatchBatch.from_patches(patches)._with_places(*positions)


def _restore_rows(
    rows: list[Row], variables: list[str], boolean: bool | None, links: list[str], positions: Any
) -> ResultBatch:
    batch = _core.ResultBatch.from_rows(rows, variables, boolean=boolean, links=links)
    return batch._with_places(*positions)


def check_message(message: Message | Iterable[Quad]) -> Message | list[Quad]:
    """Return the message unchanged, or the quads as a list.

    Raises:
        TypeError: If the argument is neither a message nor an iterable of quads.
    """
    if not isinstance(message, Message):
        return _quad_list(message)
    if message._quads is not None:
        _check(QUADS, message._quads, Quad)
    return message


def _quad_list(quads: Iterable[Quad]) -> list[Quad]:
    if isinstance(quads, Quad):  # an iterable of terms
        raise TypeError("expected an iterable of Quad, not a Quad; put it in a list")
    try:
        quads = iter(quads)
    except TypeError:
        kind = type(quads).__name__
        raise TypeError(f"expected a Message or an iterable of Quad, not {kind}") from None
    result = list(quads)
    _check(QUADS, result, Quad)
    return result


def _check(requirement: str, values: Collection[object], kind: type) -> None:
    if set(map(type, values)) <= {kind}:
        return
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{requirement}, not {type(value).__name__}")


def _restore(quads: list[Quad], metadata: dict[str, bytes], namespaces: dict[str, str]) -> Message:
    return Message(quads, metadata=metadata, namespaces=namespaces)
