"""What the tests of the command line share."""

import functools
import json

import pytest


@pytest.fixture(autouse=True)
def _programs_are_not_advised(monkeypatch):
    """The losses of tests are far above 10, of which a program would be told."""
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:epsilon")


@pytest.fixture(scope="session")
def get_command():
    """Make the commands once: each call of the line makes them anew, which takes long."""
    return functools.cache(pytest.importorskip("typer.main").get_command)


@pytest.fixture
def shell(capfd, monkeypatch, get_command):
    """Run the command line; return its exit code and what it printed on either output."""
    pytest.importorskip("rich")
    monkeypatch.setattr("typer.main.get_command", get_command)
    from dpfast.app.cli import main

    def run(*arguments):
        code = main.run([*map(str, arguments)])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def told(shell):
    """Run a command that succeeds; return the one JSON object that it prints."""

    def run(*arguments):
        code, out, err = shell(*arguments, "--json")
        assert (code, err, out.count("\n")) == (0, "", 1)
        return json.loads(out)

    return run
