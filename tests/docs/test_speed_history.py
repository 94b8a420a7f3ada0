"""The history of speed is kept by run, and the page shows all of it."""

import re

import pytest

from ..support.pages import GUIDE, program

history = program("history")
RUNS = [
    {"commit": "a", "date": "2026-11-26", "machine": "one", "rows": [["sum", 2.0, "np.sum", 1.0]]},
    {
        **{"commit": "b", "date": "2026-11-29", "machine": "two"},
        "rows": [["sum", 3.0, "np.sum", 1.0], ["mean", 1.0, "OpenDP 0.14.1", 4.0]],
    },
    {"commit": "c", "date": "2026-12-01", "machine": "one", "rows": [["mean", 1, "OpenDP 1.0", 8]]},
]


def test_the_page_shows_every_run():
    text = (GUIDE / "speed-history.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- history -->\n(.*?)<!-- /history -->", text, re.S)[1]
    kept = history.runs()
    assert shown.splitlines() == history.lines(kept)
    assert len(kept) > 1 and kept == sorted(kept, key=lambda run: run["date"])


def test_a_slower_row_is_shown_as_slower():
    none, slower, faster = history.changes(RUNS)
    assert none[0] == 0 and "np.sum" not in history.lines(RUNS[:1])[-1]
    assert slower == (1, pytest.approx(1.5), pytest.approx(1.5), "sum | np.sum")
    assert faster[1] == pytest.approx(0.5)  # beside another version of the same rival
    assert history.lines(RUNS)[3].endswith("| 1 | 1.50 | sum beside np.sum | 1.50 |")


def test_what_is_kept_is_read_again_and_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(history, "commit", lambda: "0123456789")
    path = tmp_path / "history.jsonl"
    for seconds in (0.012345, 0.02):
        history.keep([("sum", seconds, "np.sum", 0.01)], "a machine", path)
    first, second = history.runs(path)
    assert first["rows"] == [["sum", 0.0123, "np.sum", 0.01]]
    assert second["machine"] == "a machine" and second["commit"] == "0123456789"
    history.draw([first, second], tmp_path / "history.png")
    assert (tmp_path / "history.png").read_bytes().startswith(b"\x89PNG")
