"""What the tests of the command line share."""

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
