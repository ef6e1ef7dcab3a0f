"""SenML (RFC 8428) as a format of rdfm: each line of JSON is a pack, and becomes one message.

Each record of a pack becomes a `sosa:Observation` with its sensor, time and value. Records with sums,
data values or extensions are errors, because this mapping would lose them.
"""

import datetime
import json
from collections.abc import Iterator
from typing import Any

from rdfm import BlankNode, DecodeError, Iri, LimitError, Literal, MessageBatch, Quad, formats
from rdfm.formats import Format, FormatSpec, OptionSpec

SOSA = "http://www.w3.org/ns/sosa/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
UNIT = Iri("https://schema.org/unitText")
NUMBER = (int, float)
FIELDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("bn", "bu", "n", "u", "vs"), str),
    **dict.fromkeys(("bt", "t", "v", "bver"), NUMBER),
    "vb": bool,
}


def observations(pack: Any, base: str) -> Iterator[Quad]:
    """Yield the quads of a pack.

    Raises:
        ValueError: If the pack is not valid, or has fields that would be lost.
    """
    if not isinstance(pack, list):
        raise ValueError("expected a list of records")
    base_name, base_time, base_unit = "", 0.0, None
    # isinstance does not tell pyright the types of items.
    records: list[Any] = pack  # pyright: ignore[reportUnknownVariableType]
    for index, item in enumerate(records):
        if not isinstance(item, dict):
            raise ValueError(f"record {index} is not an object")
        record: dict[str, Any] = item  # pyright: ignore[reportUnknownVariableType]
        for key, value in record.items():
            kinds = FIELDS.get(key, ())
            if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
                raise ValueError(f"record {index} has an unsupported '{key[:20]}'")
        base_name = record.get("bn", base_name)
        base_time = record.get("bt", base_time)
        base_unit = record.get("bu", base_unit)
        name, time = base_name + record.get("n", ""), base_time + record.get("t", 0)
        values = [key for key in ("v", "vs", "vb") if key in record]
        if not name or len(values) != 1:
            raise ValueError(f"record {index} needs a name and one value")
        node = BlankNode(f"o{index}")
        moment = datetime.datetime.fromtimestamp(time, datetime.UTC).isoformat()
        yield Quad(node, TYPE, Iri(f"{SOSA}Observation"))
        yield Quad(node, Iri(f"{SOSA}madeBySensor"), Iri(name if ":" in name else base + name))
        yield Quad(node, Iri(f"{SOSA}resultTime"), Literal(moment, datatype=f"{XSD}dateTime"))
        yield Quad(node, Iri(f"{SOSA}hasSimpleResult"), literal(record[values[0]]))
        if unit := record.get("u", base_unit):
            yield Quad(node, UNIT, Literal(unit))


def literal(value: float | bool | str) -> Literal:
    """Return a value as a literal."""
    if isinstance(value, bool):
        return Literal("true" if value else "false", datatype=f"{XSD}boolean")
    if isinstance(value, str):
        return Literal(value)
    return Literal(repr(float(value)), datatype=f"{XSD}double")


class Decoder(formats.Decoder):
    """Reads one message from each line."""

    format = "senml"

    def __init__(self, *, sensors: str = "urn:dev:", max_message_bytes: int = 64 << 20) -> None:
        """Set the options."""
        self._base = sensors
        self._max_bytes = max_message_bytes
        self.reset()

    def reset(self) -> None:
        """Prepare for another log."""
        self._rest = b""
        self._ended = False
        self._index = 0
        self._offset = 0
        self._error: DecodeError | None = None

    def feed(self, piece: bytes, /) -> None:
        """Add bytes."""
        self._rest += bytes(piece)

    def finish(self) -> None:
        """Mark the end; the last line needs no line end."""
        self._ended = True

    def next_batch(self) -> MessageBatch | None:
        """Return the messages of all complete lines, and raise an error after those before it."""
        messages: list[list[Quad]] = []
        while self._error is None and self._rest:
            end = self._rest.find(b"\n")
            if (len(self._rest) if end < 0 else end) > self._max_bytes:
                self._fail(LimitError, "a line is longer than max_message_bytes")
            elif end < 0 and not self._ended:
                break
            else:
                line = self._rest if end < 0 else self._rest[:end]
                try:
                    messages.append(list(observations(json.loads(line), self._base)))
                except (ValueError, OverflowError, RecursionError) as error:
                    self._fail(DecodeError, str(error))
                else:
                    self._rest = self._rest[len(line) + 1 :]
                    self._offset += len(line) + 1
                    self._index += 1
        if messages:
            return MessageBatch.from_messages(messages)
        if self._error is not None:
            raise self._error
        return None

    def _fail(self, kind: type[DecodeError], reason: str) -> None:
        self._error = kind(
            reason,
            format=self.format,
            byte_offset=self._offset,
            message_index=self._index,
            line=self._index + 1,
            column=1,
        )


SENML = Format(
    FormatSpec(
        name="senml",
        title="SenML",
        suffixes=(".senmll",),
        media_types=("application/senml+json",),
        sniff=lambda head, complete: None if len(head) < 2 and not complete else head[:2] == b"[{",
        carries={
            "graphs": False,
            "generalized": False,
            "triple_terms": "none",
            "directions": False,
            "boundaries": True,
            "order": True,
            "namespaces": False,
            "metadata": False,
        },
        reads=[
            OptionSpec(
                "sensors", "iri", "Prefix of sensors that are not IRIs.", default="urn:dev:"
            ),
            OptionSpec(
                "max_message_bytes",
                "bytes",
                "Largest line.",
                minimum=1,
                default=64 << 20,
                shared=True,
            ),
        ],
    ),
    Decoder,
    None,
)
