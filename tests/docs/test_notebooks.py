"""The notebooks run, and what is kept in them is what they show, but for the noise."""

import copy
import importlib.util
import json
import runpy
import subprocess
import sys

import pytest

from ..support.pages import DOCS

BUILD = DOCS / "notebooks" / "build.py"
NOTEBOOKS = sorted(BUILD.parent.glob("*.ipynb"))
tool = runpy.run_path(str(BUILD))


def cells(*outputs):
    return {"cells": [{"outputs": list(outputs)}, {}]}


def test_numbers_may_differ_and_nothing_else():
    def table(header, number, kind="text/html"):
        return cells({"output_type": "display_data", "data": {kind: [f"<b>{header}</b> {number}"]}})

    first = tool["outline"](table("age", 41.5))
    assert first == tool["outline"](table("age", "-3e-05")) == [[("text/html", "<b>age</b> #")], []]
    for other in (table("age ranks", 41.5), table("age", 1, "text/plain"), cells()):
        assert tool["outline"](other) != first


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_file_is_as_it_is_written(path):
    """So a run changes what has changed, and no other line."""
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert tool["written"](notebook) == text and len(text) < 100_000
    assert sum(map(len, tool["outline"](notebook))) >= 4


def check(path):
    for name in tool["NEEDS"]:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"needs {name}")
    return subprocess.run(
        [sys.executable, BUILD, "--check", path], capture_output=True, text=True, timeout=300
    )


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_kept_in_it(path):
    done = check(path)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.full
def test_a_notebook_that_shows_something_else_is_named_and_left_alone(tmp_path):
    """Planted: an output of an older version; and one that fails."""
    notebook = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))
    old = copy.deepcopy(notebook) | {"cells": notebook["cells"][1:2]}
    old["cells"][0]["source"] = ["print('left', 2)"]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(old), encoding="utf-8")
    done = check(path)
    assert done.returncode == 1 and "old.ipynb shows other things than before" in done.stderr
    assert json.loads(path.read_text(encoding="utf-8")) == old
    old["cells"][0]["source"] = ["raise KeyError('gone')"]
    path.write_text(json.dumps(old), encoding="utf-8")
    done = check(path)
    assert done.returncode == 1 and "'gone'" in done.stderr
