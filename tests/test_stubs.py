"""The stubs are what `tools/stubs.py` writes, and dpfast has what they say."""

import runpy

import pytest

import dpfast as dp
from dpfast.statistics.table import TABLE, Entry

from .support.pages import ROOT

tool = runpy.run_path(str(ROOT / "tools" / "stubs.py"))


def test_the_stubs_are_what_would_be_written():
    assert list(tool["stale"]()) == []


@pytest.mark.parametrize("what", ["package", "of_groups", "methods"])
def test_a_stub_of_another_table_is_stale(monkeypatch, what):
    (path,) = [path for path, made in tool["STUBS"].items() if made.__name__ == what]
    planted = Entry("trimmed_sum", "statistics.trimmed", "TrimmedMean", "a sum")
    monkeypatch.setitem(tool["methods"].__globals__, "TABLE", [*TABLE[1:], planted])
    monkeypatch.setattr(tool["Methods"], "trimmed_sum", tool["Methods"].mean, raising=False)
    monkeypatch.setattr(dp, "trimmed_sum", dp.trimmed_mean, raising=False)
    monkeypatch.setattr(dp, "__all__", [*dp.__all__, "trimmed_sum"])
    monkeypatch.setattr(dp.stat, "trimmed_sum", dp.TrimmedMean, raising=False)
    monkeypatch.setattr(dp.stat, "__all__", [*dp.stat.__all__, "trimmed_sum"])
    assert path in tool["stale"]()
