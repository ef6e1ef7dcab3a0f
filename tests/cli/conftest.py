"""Runs commands in this process and captures the exit code, standard output and errors."""

from dataclasses import dataclass

import pytest

from rdfm.cli import main


@dataclass
class Run:
    """Result of a command."""

    code: int
    out: str
    err: str

    @property
    def error(self):
        """Text of the error, which must be the only line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("rdfm: error: "), self.err
        assert "Traceback" not in self.err
        return lines[0].removeprefix("rdfm: error: ")


@pytest.fixture
def rdfm(capfd, tmp_path, monkeypatch):
    """Returns a function that runs a command in a temporary folder with a few logs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.nq").write_text(
        "<http://e/s> <http://e/p> <http://e/o> .\n# @message\n"
        '<http://e/s> <http://e/p> "2" <http://e/g> .\n# @message\n_:x <http://e/p> _:x .\n'
    )
    (tmp_path / "b.nq").write_text("<http://e/b> <http://e/p> <http://e/o> .\n")
    (tmp_path / "bad.nq").write_text(
        "<http://e/1> <http://e/p> <http://e/o> .\n# @message\n"
        "<http://e/2> <http://e/p> oops .\n# @message\n"
        "<http://e/3> <http://e/p> <http://e/o> .\n"
    )

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Run(exit.value.code or 0, captured.out, captured.err)

    return run
