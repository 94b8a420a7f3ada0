"""The stubs are what `tools/stubs.py` writes, and dpfast has what they say."""

import runpy

import pytest

import dpfast as dp
from dpfast.statistics import trimmed
from dpfast.statistics.table import TABLE, Entry

from .support.pages import ROOT

TOOL = ROOT / "tools" / "stubs.py"
if not TOOL.exists():
    pytest.skip("the tools are not here", allow_module_level=True)


@pytest.fixture(scope="module")
def tool():
    """The program, which reads declarations with Cython's compiler."""
    return runpy.run_path(str(TOOL))


@pytest.mark.full
def test_the_stubs_are_what_would_be_written(tool):
    assert list(tool["stale"]()) == []


@pytest.mark.full
def test_the_stubs_of_another_table_are_stale(tool, monkeypatch):
    planted = Entry("trimmed_sum", "statistics.trimmed", "TrimmedMean", "a sum")
    monkeypatch.setitem(tool["methods"].__globals__, "TABLE", [*TABLE[1:], planted])
    monkeypatch.setattr(tool["Methods"], "trimmed_sum", tool["Methods"].mean, raising=False)
    monkeypatch.setattr(trimmed, "trimmed_sum", dp.trimmed_mean, raising=False)
    monkeypatch.setitem(dp._HOMES, "trimmed_sum", "statistics.trimmed")
    monkeypatch.setattr(dp, "trimmed_sum", dp.trimmed_mean, raising=False)
    monkeypatch.setattr(dp, "__all__", [*dp.__all__, "trimmed_sum"])
    monkeypatch.setattr(dp.stat, "trimmed_sum", dp.TrimmedMean, raising=False)
    monkeypatch.setattr(dp.stat, "__all__", [*dp.stat.__all__, "trimmed_sum"])
    found = [path.parent.name for path in tool["stale"]()]
    assert found == ["dpfast", "groups", "groups", "app"]


def test_a_kernel_has_the_types_of_its_declaration(tool, tmp_path):
    kernel = tmp_path / "kernel.pyx"
    kernel.write_text(
        "LIMIT, NAME = DPF_LIMIT, DPF_NAME\n"
        "cdef int hidden(int x): return x\n"
        "cdef class Sums:\n"
        "    cdef int hidden\n"
        "    cdef readonly size_t width\n"
        "    def __cinit__(self, const double[:, ::1] rows not None, bint squares=False): pass\n"
        "    @property\n"
        "    def used(self) -> int: return 1\n"
        "def add(uint8_t[::1] out, const real[::1] x not None, stream not None: BitStream): pass\n"
    )
    lines, classes = tool["declared"](kernel)
    assert classes == {"Sums"}
    assert lines == [
        "LIMIT: int",
        "NAME: int",
        "class Sums():",
        "    width: int",
        "    def __init__(self, rows: NDArray[np.float64], squares: bool = ...) -> None: ...",
        "    @property",
        "    def used(self) -> int: ...",
        "def add(out: NDArray[np.uint8] | None, x: NDArray[Any], stream: BitStream) -> None: ...",
    ]


@pytest.mark.parametrize("text", ["def f(x): pass", "def f(int x): return x"])
def test_a_kernel_that_does_not_say_its_types_is_refused(tool, tmp_path, text):
    (tmp_path / "kernel.pyx").write_text(f"{text}\n")
    with pytest.raises(ValueError, match="must"):
        tool["declared"](tmp_path / "kernel.pyx")
