"""Every command of the command line is a function of the package with the same name."""

import inspect
import types

import click

import rdfm
from rdfm.cli.app import app

# Commands without a function, and the reason.
EXCEPTIONS = {
    "cat": "prints; open_log reads messages",
    "head": "prints; open_log reads messages",
    "tail": "prints; open_log reads messages",
    "formats": "prints the registry, which is the module rdfm.formats",
    "completion": "concerns the shell",
    "help": "concerns the command line",
}


def commands(group, path=()):
    """Yields the commands of a group with the names that lead to them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def test_every_command_is_a_public_function_of_the_same_name():
    found = [path for path in commands(app) if path[0] not in EXCEPTIONS]
    assert len(found) > 15
    for path in found:
        value = rdfm
        for name in path:
            word = name.replace("-", "_")
            if isinstance(value, types.ModuleType):
                assert word in dir(value), f"rdfm.{'.'.join(path)}"
            value = getattr(value, word)
        assert inspect.isfunction(value), f"rdfm.{'.'.join(path)} is not a function"
        assert value.__name__ == path[-1].replace("-", "_")
        assert value.__doc__


def test_exceptions_are_commands():
    assert set(EXCEPTIONS) <= {path[0] for path in commands(app)}
