"""Exceptions: one tree, texts with a place, pickling."""

import inspect
import pickle

import pytest

from rdfm import errors

PLACED = errors.LimitError(
    "too large", format="jelly", offset=7, message_index=2, frame=2, row=0, source="a.jelly"
)


def test_the_tree_in_the_docstring_is_the_tree():
    classes = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert set(errors.__all__) == classes
    assert all(f" {name}" in errors.__doc__ for name in classes)


def test_texts_say_where():
    assert str(PLACED) == "a.jelly: jelly: too large (frame 2, row 0, byte 7, message 2)"
    error = errors.DecodeError("bad", format="nq", line=3, column=41, offset=127, message_index=1)
    assert str(error) == "nq: bad (line 3, column 41, byte 127, message 1)"
    assert str(errors.DecodeError("bad")) == "bad"
    assert str(errors.EncodeError("bad", format="ttl", message_index=4)) == "ttl: bad (message 4)"


@pytest.mark.parametrize(
    "error",
    [
        PLACED,
        errors.EncodeError("bad", format="ttl", message_index=4, completed=b"<a> <b> <c> .\n"),
        errors.OptionError("no such option"),
        errors.UnknownFormatError("no such format"),
        errors.MissingExtraError("pip install rdfm[arrow]"),
        errors.InternalError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_pickled_with_their_attributes(error):
    error.note = "set later"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert copy.args == error.args


def test_builtin_bases():
    assert issubclass(errors.DecodeError, ValueError)
    assert issubclass(errors.EncodeError, ValueError)
    assert issubclass(errors.OptionError, ValueError)
    assert issubclass(errors.UnknownFormatError, LookupError)
    assert issubclass(errors.MissingExtraError, ImportError)
    assert all(issubclass(getattr(errors, name), errors.RdfmError) for name in errors.__all__)
