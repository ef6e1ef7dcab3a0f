"""Options that arrive as text: from configurations, command lines and engines that know no other type.

In: a format, and names and values as people write them. Out: keywords of its codec.
Law: a name is compared without case and underscores; what does not fit is an `OptionError`. Bounds
are the codec's to check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from rdfm.errors import OptionError
from rdfm.formats._base import Format
from rdfm.storage.contexts import context_text

__all__ = ["from_text", "key", "size"]

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}


def from_text(
    format: Format, codec: Literal["decoder", "encoder"], given: Mapping[str, str]
) -> dict[str, Any]:
    """Convert options to the keywords of a format's codec.

    Args:
        format: Whose `decode_options` or `encode_options` say what is known and of which kind.
        codec: Which of the two.
        given: Such as `{"maxMessageBytes": "64M", "lenient": "true"}`.

    Raises:
        OptionError: The codec has no such option, has it twice, or takes no such value.

    Example:
        >>> from rdfm import formats
        >>> from_text(formats.find("nq").FORMAT, "decoder", {"maxmessagebytes": "64K", "lenient": "True"})
        {'max_message_bytes': 65536, 'lenient': True}
    """
    kinds = format.decode_options if codec == "decoder" else format.encode_options
    names = {key(name): name for name in kinds}
    options: dict[str, Any] = {}
    for written, text in given.items():
        name = names.get(key(written))
        if name is None:
            known = ", ".join(sorted(kinds)) or "none"
            raise OptionError(
                f"the {format.name} {codec} has no option '{written[:40]}'; known: {known}"
            )
        if name in options:
            raise OptionError(f"{name} is given twice, once as {written[:40]}; leave one out")
        options[name] = _value(name, kinds[name], text)
    return options


def key(name: str) -> str:
    """Give an option's name as it is compared.

    Example:
        >>> key("maxMessageBytes") == key("max_message_bytes")
        True
    """
    return name.replace("_", "").lower()


def size(text: str) -> int:
    """Give the number that a text says: `1000`, `64K`, `64M`, `2G` (powers of 1024).

    Raises:
        ValueError: It says none.

    Example:
        >>> size("64K")
        65536
    """
    match = re.fullmatch(r"([0-9]{1,18})\s*([kmg]?)(?:i?b)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"'{text[:40]}' is no size")
    return int(match[1]) << _UNITS[match[2].lower()]


def _value(name: str, kind: str, text: str) -> Any:
    """The value of an option of that kind."""
    if kind == "switch":
        if text.strip().lower() in ("true", "false"):
            return text.strip().lower() == "true"
        expected = "true or false"
    elif kind == "number":
        try:
            return size(text)
        except ValueError:
            expected = "a number, such as 1000, 64K or 64M (powers of 1024)"
    elif kind == "pairs":
        try:
            pairs = json.loads(text)
        except ValueError:
            pairs = None
        if isinstance(pairs, dict) and all(isinstance(value, str) for value in pairs.values()):
            return pairs
        expected = 'a JSON object of names and IRIs, such as {"ex": "http://example.org/"}'
    elif kind == "context":
        return context_text(text, name)  # here, since the codec may work where the file is not
    else:
        return text
    raise OptionError(f"{name} is {expected}, not '{text[:60]}'")
