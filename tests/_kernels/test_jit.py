"""The room of Numba: what is recognised, what is compiled, what it costs to remember."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from dpfast._kernels import jit
from dpfast.errors import ArgumentTypeError, MissingExtraError

from ..support.pairwise import quick_rows


def values(function, data, count):
    """The scores of all candidates."""
    loop = jit.Tiles(function, data, count)
    numbers = np.arange(-(-count // loop.tile))
    out = np.empty((len(numbers), loop.tile), loop.dtype)
    loop.fill(numbers, out)
    return out.reshape(-1)[:count]


@numba.njit
def plus(data, candidate):
    return data + candidate


@pytest.mark.full
def test_numba_is_imported_by_a_compiled_function_only():
    code = """if True:
        import sys, warnings, dpfast
        from dpfast.selection.scores.computed import Computed
        from dpfast._kernels import jit
        warnings.simplefilter('ignore')
        Computed(lambda d, c: c, None, 5).peaks(2)
        assert 'numba' not in sys.modules
        jit.load()
        assert 'numba' in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.full
def test_what_has_no_compiled_function_needs_no_numba():
    """Planted: what has one."""
    code = """if True:
        import sys
        sys.modules["numba"] = sys.modules["llvmlite"] = None
        import numpy as np, dpfast as dp
        x, loss = np.arange(1000) % 50, {"epsilon": 1.0}
        bounds = {"bounds": (0, 50)}
        dp.median(x, **bounds, **loss), dp.mean(x, **bounds, **loss)
        dp.sample_and_aggregate(x, "mean", blocks=20, **bounds, **loss)
        dp.sample_and_aggregate(x, lambda block: 3.0, blocks=20, **bounds, **loss)
        dp.selection.exponential(x, sensitivity=1, **loss)
        dp.selection.exponential(lambda d, c: d, candidates=4, sensitivity=1, data=3.0, **loss)
        dp.group_by({"k": x, "v": x}, "k", keys=list(range(50))).mean("v", **bounds, **loss)
        dp.learn.KMeans(2, bounds=[(0, 50)], **loss).fit(x[:, None])
        dp.online.AboveThreshold(**loss).answer(3)
    """
    command = [sys.executable, "-W", "ignore", "-c"]
    subprocess.run([*command, code], check=True)
    planted = code.replace(
        "import numpy", "from dpfast._kernels import jit; jit.load(); import numpy"
    )
    done = subprocess.run([*command, planted], capture_output=True, text=True)
    assert done.returncode and "pip install 'numba" in done.stderr


def test_without_numba_the_line_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match="pip install 'numba"):
        jit.load()


VALUES = [
    (np.float64, 2.5, lambda d, c: d + c), (np.float64, np.float32(0.1), lambda d, c: d),
    (np.uint64, np.uint64(2**64 - 1), lambda d, c: d), (np.int64, 7, lambda d, c: d * c),
    (np.int64, np.uint32(2**32 - 1), lambda d, c: d), (np.int64, np.int8(-128), lambda d, c: d),
    (np.int64, None, lambda d, c: c > 3),
]  # fmt: skip


@quick_rows(1)
@pytest.mark.parametrize("dtype, data, function", VALUES)
def test_results_keep_their_value_and_kind(dtype, data, function):
    got = values(numba.njit(function), data, 70)
    assert got.dtype == dtype
    assert got.tolist() == [function(data, c) for c in range(70)]


DATA = [
    (np.arange(50.0), lambda d, c: d[c % 50]),
    (np.arange(50.0)[::-2], lambda d, c: d[c % 25]),
    ((np.arange(3), np.ones(50, np.float32)), lambda d, c: d[0][1] + d[1][c % 50]),
    (np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]), lambda d, c: d[0]["a"] + d["b"][0] * c),
    ((), lambda d, c: c),
    ("abc", lambda d, c: len(d) - c),
]


@pytest.mark.full
@pytest.mark.parametrize("data, function", DATA, ids=range(len(DATA)))
def test_data_of_any_kind_that_the_function_takes(data, function):
    got = values(numba.njit(function), data, 100)
    assert got.tolist() == [function(data, c) for c in range(100)]


@pytest.mark.full
def test_every_candidate_once_and_none_beyond():
    @numba.njit
    def score(data, candidate):
        data[candidate] += 1
        return candidate

    for count in (1, 31, 32, 33, 64, 1000):
        seen = np.zeros(2000, np.int64)
        assert (values(score, seen, count) == np.arange(count)).all()
        assert seen.tolist() == [1] * count + [0] * (2000 - count)


@pytest.mark.parametrize("data", [{"a": 1}, object(), [1, 2.5], np.array([1.0], ">f8")], ids=type)
def test_data_that_numba_does_not_know(data):
    with pytest.raises(ArgumentTypeError, match=r"scores must be .* Numba can compile") as caught:
        jit.Tiles(plus, data, 3)
    assert caught.value.__cause__ is not None or caught.value.__context__ is not None


REFUSED = [
    *(("returns a real number", function) for function in (
        lambda d, c: (c, c), lambda d, c: 1j * c, lambda d, c: None,
        lambda d, c: c if c > 3 else None, lambda d, c: "text", lambda d, c: np.zeros(3))),
    ("scores must be", lambda d: 1.0), ("scores must be", lambda d, c: d.nothing),
]  # fmt: skip


@quick_rows(1)
@pytest.mark.parametrize("words, function", REFUSED)
def test_what_returns_no_real_number_or_does_not_compile_is_refused(words, function):
    with pytest.raises(ArgumentTypeError, match=words):
        jit.Tiles(numba.njit(function), 1.0, 3)


@pytest.mark.full
def test_a_candidate_has_the_same_score_in_every_call():
    """Where the compiler treats the end of a loop differently, and may reorder sums."""

    @numba.njit(fastmath=True)
    def score(data, candidate):
        total = 0.0
        for x in data:
            total += np.exp(np.sin(x * candidate)) / 3
        return total

    data = np.random.default_rng(3).random(7)
    whole = values(score, data, 1000)
    loop = jit.Tiles(score, data, 1000)
    for some in ([0], [31], [30, 31], [5, 2, 9], list(range(7, 20))):
        out = np.empty((len(some), loop.tile))
        loop.fill(np.array(some), out)
        for t, row in zip(some, out, strict=True):
            part = whole[t * loop.tile : (t + 1) * loop.tile]
            assert (part == row[: len(part)]).all()


@pytest.mark.full
def test_what_the_function_raises_passes():
    @numba.njit
    def score(data, candidate):
        if candidate == 57:
            raise KeyError("candidate 57")
        return 0.0

    assert (values(score, None, 57) == 0).all()
    with pytest.raises(KeyError, match="candidate 57"):
        values(score, None, 58)
