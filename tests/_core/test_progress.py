"""What is shown of the progress, and libraries that only some calls need."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from dpfast._core import progress as _progress
from dpfast._core.extras import extra
from dpfast._core.progress import check, reporter
from dpfast.errors import ArgumentTypeError, MissingExtraError


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_what_cannot_be_called(monkeypatch):
    for progress in (1, "yes", 0):
        with pytest.raises(ArgumentTypeError, match="must be True, False, None or a function"):
            check(progress)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match="needs rich: pip install rich"):
        check(True)


def test_a_function_is_called_twenty_times_a_second_and_at_the_end(clock):
    seen = []
    with reporter(lambda done, total: seen.append((done, total)), 1000) as tick:
        for _ in range(500):  # half a second
            tick(2)
            clock[0] += 0.001
    assert seen[-1] == (1000, 1000)
    assert 9 <= len(seen) <= 11 and seen == sorted(seen)


def test_what_the_function_raises_passes_on(clock):
    with (
        pytest.raises(LookupError, match="mine"),
        reporter(Mock(side_effect=LookupError("mine")), 3) as tick,
    ):
        clock[0] = 1.0
        tick(1)


def test_ticks_from_many_threads_add_up(clock):
    seen = []
    with reporter(lambda done, _: seen.append(done), 2001) as tick:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(tick, [1] * 2000))
        clock[0] = 1.0
        tick(1)
    assert seen == [2001, 2001]


def test_a_bar_on_stderr(capsys):
    check(True)
    with reporter(True, 12) as tick:
        tick(12)
    out, err = capsys.readouterr()
    assert out == "" and "blocks" in err and "12/12" in err


@pytest.mark.parametrize("name", ["dp_accounting", "dp_accounting.pld"])
def test_what_is_missing_can_be_installed_as_the_message_says(name, monkeypatch):
    assert extra("math", "a test") is math
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as caught:
        extra(name, "a loss distribution")
    line = "a loss distribution needs dp-accounting: pip install dp-accounting"
    assert str(caught.value) == line
