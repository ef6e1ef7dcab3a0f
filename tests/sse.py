"""Server-Sent Events as the WHATWG HTML standard describes them (section 9.2.6), step by step."""

from typing import NamedTuple


class Event(NamedTuple):
    type: str
    data: str
    id: str


class Parser:
    """Interprets an event stream.

    Attributes:
        events: The events so far.
        retry: The reconnection time in ms, if one was received.
        last_id: The last event id.
    """

    def __init__(self):
        self.events = []
        self.retry = None
        self.last_id = ""
        self._bytes = b""
        self._is_first = True
        self._data = self._type = ""
        self._id_buffer = ""

    def feed(self, data, *, ended=False):
        """Interprets bytes. An event that is not complete at the end is discarded."""
        self._bytes += data
        while (cut := self._line_end(ended)) is not None:
            line, self._bytes = self._bytes[: cut[0]], self._bytes[cut[1] :]
            text = line.decode("utf-8", "replace")
            if self._is_first:
                text, self._is_first = text.removeprefix("\ufeff"), False
            self._process(text)
        return self

    def _line_end(self, ended):
        for index, byte in enumerate(self._bytes):
            if byte == 0x0A:
                return index, index + 1
            if byte == 0x0D:
                if index + 1 == len(self._bytes) and not ended:
                    return None  # a line feed may follow
                return index, index + 1 + (self._bytes[index + 1 : index + 2] == b"\n")
        return None

    def _process(self, line):
        if line == "":
            self._dispatch()
        elif line.startswith(":"):
            pass
        else:
            name, _, value = line.partition(":")
            self._process_field(name, value.removeprefix(" "))

    def _process_field(self, name, value):
        if name == "event":
            self._type = value
        elif name == "data":
            self._data += value + "\n"
        elif name == "id":
            if "\0" not in value:
                self._id_buffer = value
        elif name == "retry" and value and all(digit in "0123456789" for digit in value):
            self.retry = int(value)

    def _dispatch(self):
        self.last_id = self._id_buffer
        if self._data == "":
            self._type = ""
            return
        event = Event(self._type or "message", self._data.removesuffix("\n"), self.last_id)
        self._data = self._type = ""
        self.events.append(event)


def parse(data):
    """Returns the events of a complete stream."""
    return Parser().feed(data, ended=True).events


def encode_event(data, id=None, type="rdf-message", end="\n"):
    """Returns an event. Without a type it has the default one."""
    lines = [f"event: {type}"] if type else []
    lines += [] if id is None else [f"id: {id}"]
    lines += [f"data: {line}" for line in data.split("\n")]
    return (end.join(lines) + end * 2).encode()
