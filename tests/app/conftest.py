"""What the tests of the command line share."""

import json

import pytest


@pytest.fixture
def shell(capfd):
    """Run the command line; return its exit code and what it printed on either output."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
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
