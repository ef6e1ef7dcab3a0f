"""Statuses: the codes and sentences with which calls end."""

from pathlib import Path

import grpc
import pytest

from rdfm.errors import DecodeError, EncodeError, LimitError, OptionError, Remedy
from rdfm.live.following import ReplacedError
from rdfm.live.memory import MemoryLimitError
from rdfm.live.status import StatusError, create_status

PATH = Path("/srv/logs/birds.jelly")
REMEDIES = [Remedy("read", "max_message_bytes", None, "")]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DecodeError(f"{PATH} is invalid", source=str(PATH), remedies=REMEDIES), "DATA_LOSS"),
        (LimitError(f"{PATH} is large", source=str(PATH), remedies=REMEDIES), "RESOURCE_EXHAUSTED"),
        (EncodeError(f"{PATH} has no graphs", remedies=REMEDIES), "FAILED_PRECONDITION"),
        (OptionError(f"{PATH}.append is in use"), "FAILED_PRECONDITION"),
        (OptionError("/srv/logs/.birds.tmp is in use"), "FAILED_PRECONDITION"),
        (ReplacedError(f"{PATH} was replaced"), "ABORTED"),
        (MemoryLimitError("too many bytes"), "RESOURCE_EXHAUSTED"),
        (PermissionError(13, "Permission denied", str(PATH)), "UNAVAILABLE"),
        (OSError(f"cannot read {PATH}"), "UNAVAILABLE"),
        (RuntimeError(f"a bug at {PATH}"), "INTERNAL"),
        (StatusError(grpc.StatusCode.ABORTED, f"{PATH} is gone"), "ABORTED"),
    ],
)
def test_statuses_contain_neither_paths_nor_options(error, code):
    status = create_status(error, PATH, "birds")
    assert status.code.name == code
    assert "/srv" not in status.reason
    assert "max_message_bytes" not in status.reason


def test_paths_are_replaced_by_the_topic(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    path = tmp_path / "link/birds.jelly"
    for found in (path, path.resolve()):
        error = ReplacedError(f"{found} was replaced")
        assert create_status(error, path, "birds").reason == "birds was replaced"
