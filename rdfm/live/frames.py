"""The form of the messages that subscribers of a topic share: frames, one per message.

In: batches. Out: frames, encoded for all subscribers that accept the same form.
Law: the frames of an encoder that `restarts` can be read only from its first one on; any other frame
can be read without the frames before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import EncodeError, LimitError
from rdfm.live.following import MessageSource
from rdfm.storage.jelly_wire import cut_frames

__all__ = ["Form", "FrameEncoder", "FrameError", "JellyEncoder"]


class FrameEncoder(Protocol):
    """Encodes messages as frames."""

    def encode(self, batch: MessageBatch, source: MessageSource) -> list[bytes]:
        """Return the frames of messages.

        Raises:
            FrameError: If a message cannot be sent.
        """


class Form(Protocol):
    """The form that a subscriber accepts."""

    @property
    def key(self) -> Hashable:
        """What distinguishes the form from others."""

    @property
    def restarts(self) -> bool:
        """Whether a frame depends on the frames before it."""

    @property
    def base(self) -> str | None:
        """The URL that relative IRIs are relative to; None for that of the file."""

    def create_encoder(self) -> FrameEncoder:
        """Return an encoder. Its first frame depends on no other frame."""


class FrameError(Exception):
    """Raised if a message cannot be sent, with the frames of the messages before it."""

    def __init__(self, frames: list[bytes], error: Exception) -> None:
        super().__init__(str(error))
        self.frames = frames
        self.error = error


class JellyEncoder:
    """Encodes messages as Jelly frames."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Initialize with the options of a Jelly encoder."""
        self._encoder: Any = formats.find("jelly").encoder(options)

    def encode(self, batch: MessageBatch, _: MessageSource) -> list[bytes]:
        """Return the frames of messages.

        Raises:
            FrameError: If a message cannot be sent.
        """
        try:
            data = self._encoder.encode(batch)
        except EncodeError as error:
            raise FrameError(_split_frames(error.completed), error) from None
        return _split_frames(data)


def _split_frames(data: bytes) -> list[bytes]:
    """Return the frames in the output of an encoder.

    Raises:
        FrameError: If a frame is too large.
    """
    frames: list[bytes] = []
    end = 0
    try:
        while end < len(data):
            new_frames, end, _ = cut_frames(data, end)
            frames += new_frames
    except ValueError as error:
        raise FrameError(frames, LimitError(str(error), format="jelly")) from None
    return frames
