"""What groups are made of beside twins: codes of keys, sums, windows, rows, draws of quantiles."""

import datetime as dt
import itertools
import math
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast._kernels import groups as kernel
from dpfast._kernels.noise import Script
from dpfast._kernels.tables import Key
from dpfast.groups import rows as module
from dpfast.groups.quantile import Others, draw_quantiles
from dpfast.groups.rows import NONE, Rows
from dpfast.noise.distributions.base import context
from dpfast.noise.grid import Base
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.draws import RANK
from dpfast.statistics.quantiles.exponential import aim_at
from dpfast.tables.base import Near
from dpfast.tables.key_words import KeyWords

from ..reference.groups import codes as twin
from ..reference.groups import quantile as quantile_twin
from ..reference.groups import sums as sums_twin
from ..support.pairwise import quick_rows

# ---- Codes of keys beside a dictionary, in every form and any cut into chunks. ----

KEY = Key(bytes(range(32)))
WORDS = KeyWords(KEY)
DAY = dt.datetime(2020, 1, 1)
#: Some keys of each kind, and the forms that they come in.
FORMS = {
    "integers": (
        [None, 0, 1, -1, 5, 2**62, *range(40)],
        [list, lambda k: pa.array(k, pa.int64()), lambda k: np.array(k, object)],
    ),
    "large integers": ([None, 2**63, 2**64 - 1, 7], [list, lambda k: pa.array(k, pa.uint64())]),
    "text": (
        [None, "", "a", "b", "UA", "日本", *map(str, range(40))],
        [list, pa.array, lambda k: pa.array(k).dictionary_encode(), np.array],
    ),
    "times": (  # of one low word, and many high ones
        [None, *(DAY + dt.timedelta(microseconds=i) for i in range(60)), DAY + dt.timedelta(1)],
        [list, lambda k: pa.array(k, pa.timestamp("us")), lambda k: np.array(k, "M8[ns]")],
    ),
    "mixed": ([None, 1, "1", b"1", dt.date(1970, 1, 1), 2**63], [list]),
}


def found(codes, piece):
    words = WORDS.of(piece)
    out = np.full(len(words.low), -7, np.int32)
    codes.find(*words, out)
    return out.tolist()


def added(codes, piece):
    words = WORDS.of(piece)
    out = np.full(len(words.low), -7, np.int32)
    fresh = codes.add(*words, out)
    return out.tolist(), fresh.tolist()


@quick_rows(5)
@pytest.mark.parametrize(
    "kind, i", [(k, i) for k, (_, own) in FORMS.items() for i in range(len(own))]
)
def test_codes_are_those_of_the_twin_in_every_form_and_cut(kind, i):
    keys, forms = FORMS[kind]
    rng, form = random.Random(i), forms[i]
    for size in (1, 17, 1000):
        codes, plain = kernel.Codes(KEY), twin.Codes()
        for _ in range(60 if size == 1 else 1000 // size):
            some = rng.choices(keys, k=size)
            if form is np.array and None in some:  # NumPy's text has no missing ones
                some = ["a" if one is None else one for one in some]
            assert found(codes, form(some)) == plain.find(some)
            assert added(codes, form(some)) == plain.add(some)
        assert len(codes) == len(plain.numbers)
        for other in forms[:2]:
            assert found(codes, other(keys)) == plain.find(keys)


def test_keys_that_share_a_shortcut():
    """Of the first keys only one a place has a shortcut; the others are found as without it."""
    odd = int.from_bytes(bytes(range(8)), "little") | 1
    everything = np.arange(1 << 19, dtype=np.uint64)
    places = (everything * np.uint64(odd)) >> np.uint64(52)
    crowd = everything[np.isin(places, [3, 77, 4095])].astype(np.int64)
    assert len(crowd) > 300
    keys = np.concatenate([crowd[:300], np.arange(10**9, 10**9 + 900)])  # shortcuts end at 1,024
    codes, plain = kernel.Codes(KEY), twin.Codes()
    rng = np.random.default_rng(3)
    for least in (1, 5, 290, 300, 1000, 1024, 1025, 1200):
        rows = rng.integers(0, least, 700)
        assert found(codes, keys[rows]) == plain.find(keys[rows].tolist())
        assert added(codes, keys[rows]) == plain.add(keys[rows].tolist())
        assert found(codes, crowd) == plain.find(crowd.tolist())
        some = [None if i % 3 else key for i, key in enumerate(keys[rows].tolist())]
        assert found(codes, some) == plain.find(some)


def test_large_integers_after_small_ones():
    n = 5000
    codes, low, out = kernel.Codes(KEY), np.arange(n, dtype=np.uint64), np.empty(n, np.int32)
    small, large, none = list(range(n)), list(range(n, 2 * n)), [-1] * n
    assert added(codes, np.arange(n)) == (small, small)
    assert found(codes, low + np.uint64(2**63)) == none
    high, other = np.ones(n, np.uint64), np.full(n, 2, np.uint64)
    codes.find(low, high, None, out)
    assert out.tolist() == none  # the same low words are those of small ones
    assert codes.add(low, high, None, out).tolist() == small and out.tolist() == large
    for words, due in ((None, small), (high, large), (other, none)):
        codes.find(low, words, None, out)
        assert out.tolist() == due


def test_many_threads_may_find_at_once():
    keys = np.random.default_rng(1).integers(0, 10**9, 20_000)
    codes = kernel.Codes(KEY)
    due, _ = added(codes, keys)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: found(codes, keys), range(8))) == [due] * 8


@pytest.mark.parametrize("dtype", "bhiqBHIQ")
def test_dense_codes_are_those_of_the_twin(dtype):
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, 0, 1, 2, 7, 99, 100, 101, info.max - 1, info.max]
    values = np.array([v for v in edges if info.min <= v <= info.max], dtype)
    present, out = np.arange(len(values)) % 3 > 0, np.empty(len(values), np.int32)
    some = [v if here else None for v, here in zip(values.tolist(), present, strict=True)]
    firsts = (-(2**63), -200, -5, 0, 2, 99, 2**62, 2**63 - 1 - 101)
    for first, count in [*itertools.product(firsts, (0, 1, 101)), (0, 2**31 - 1)]:
        for mask, due in ((None, values.tolist()), (present, some)):
            kernel.dense(values, first, count, out, mask)
            assert out.tolist() == twin.dense(due, first, count)


def test_pairs_of_codes():
    a, b = (x.ravel().astype(np.int32) for x in np.meshgrid([-1, 0, 1, 2**31 - 1], [-1, 0, 1, 5]))
    low, present, out = np.empty(16, np.uint64), np.empty(16, bool), np.empty(16, np.int32)
    codes, plain = kernel.Codes(KEY), twin.Codes()

    def keys(*both):
        kernel.pair(*both, low, present)
        return [None if -1 in one else one for one in zip(*(x.tolist() for x in both), strict=True)]

    some = keys(a, b)
    fresh = codes.add(low, None, present, out)
    assert (out.tolist(), fresh.tolist()) == plain.add(some)
    some = keys(b, a)
    codes.find(low, None, present, out)
    assert out.tolist() == plain.find(some)


def test_what_kernels_refuse():
    codes, out, low = kernel.Codes(KEY), np.empty(3, np.int32), np.zeros(3, np.uint64)
    lengths = [(low[:2], None, None), (low, low[:2], None), (low, None, np.ones(2, bool))]
    cells, limits = np.zeros(3, np.int8), r"offsets|limits"
    rows, one = np.zeros((2, 1), np.int32)
    stream, base = InsecureGenerator(1).stream(), Base(0, 9)
    good = [rows, np.array([0, 1]), 0, 0, 0, False, 1.0, 1, base, 3, one, 0, stream]
    wrong = [(1, np.array([0, 2])), (1, np.array([1, 0])), (2, -1), (2, 2**32 + 1), (6, 0.0)]
    wrong += [(7, -1), (9, 0), (4, -1), (8, Base(3, 3))]
    kernel.quantiles(*good)
    for match, call, *given in [
        *(("one length", act, *words, out) for act in (codes.find, codes.add) for words in lengths),
        ("one length", kernel.dense, cells[:2], 0, 5, out),
        ("one length", kernel.pair, out, out, low[:2], np.ones(3, bool)),
        *(
            ("first and count", kernel.dense, cells, *of, out)
            for of in ((0, -1), (0, 2**31), (2**63 - 1, 1))
        ),
        *((limits, kernel.quantiles, *good[:i], x, *good[i + 1 :]) for i, x in wrong),
    ]:
        with pytest.raises(ValueError, match=match):
            call(*given)
    assert added(codes, []) == ([], []) and found(codes, []) == [] and len(codes) == 0


# ---- Sums by group. ----

GRID = 2.0**-10
DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


def summed(values, codes, groups, first, span, filler=-1, squares=True):
    out = np.zeros((groups + 1, 4 if squares else 2), np.uint64)
    nan = kernel.add(values, codes, 1 / GRID, first, span, filler, out)
    columns = [out[:-1, 0].tolist(), out[:-1, 1].tolist()]
    if squares:
        columns.append([int(low) + (int(high) << 32) for low, high in out[:-1, 2:]])
    return [list(group) for group in zip(*columns, strict=True)], nan


def sample(dtype, n, seed):
    rng = np.random.default_rng(seed)
    if dtype[0] != "f":
        return rng.integers(-9, 9, n).astype(dtype), rng.integers(-3, 9, n).astype(np.int32)
    values = rng.normal(0, 2, n).astype(dtype)
    values[rng.random(n) < 0.1], values[rng.random(n) < 0.01] = math.nan, math.inf
    return values, rng.integers(-3, 9, n).astype(np.int32)


@quick_rows(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("filler", [-1, 0, 700])
def test_sums_are_those_of_the_twin_and_cells_are_those_of_the_sums(dtype, filler):
    given = -1024, 4096, filler
    for n in (0, 1, 1023, 2500):
        values, codes = sample(dtype, n, n)
        due, missing = sums_twin.totals(
            values.tolist(), codes.tolist(), 7, GRID, *given[:2], filler
        )
        assert summed(values, codes, 7, *given) == (due, missing)
        sums = [group[:2] for group in due]
        assert summed(values, codes, 7, *given, squares=False) == (sums, missing)
        own, out = codes.copy(), np.empty(n, np.int32)
        assert kernel.cells(values, own, 7, 1 / GRID, *given, out) == missing
        assert sums == [[int(out[own == g].sum()), int((own == g).sum())] for g in range(7)]
        assert not n or (own.min() >= 0 and own.max() <= 7)
    with pytest.raises(ValueError, match="codes"):
        kernel.cells(values, own[1:], 7, 1 / GRID, *given, out)


def test_sums_beyond_64_bits_carry():
    n, half = 1 << 20, 1 << 40
    rows, codes, out = np.full(n, 1e9), np.zeros(n, np.int32), np.zeros((2, 2), np.uint64)
    for _ in range(20):
        kernel.add(rows, codes, 1.0, -half, 2 * half, -1, out)
    n *= 20
    exact, found = n * (half + 10**9), np.empty(1, np.int64)
    assert exact >= 1 << 64 and int(out[0, 1]) >> 40 == exact >> 64
    for a, b, shift in [(1, 0, 10), (1, -half, 0), (-1, 2 * half, 7), (0, 1, 0)]:
        kernel.combine(out, a, b, 0, shift, found)
        assert found[0] == (a * exact + b * n) >> shift
    kernel.combine(out, 1, 0, 0, 0, found)
    assert found[0] == 1 << 62  # cut


# ---- Rows by group: the same in memory, in files, in any cut and under other codes. ----


def made(codes, cells, cuts=()):
    rows = Rows()
    for start, stop in itertools.pairwise([0, *cuts, len(codes)]):
        rows.add(codes[start:stop].copy(), cells[start:stop].copy())
    return rows


def by_group(rows, groups, final=None):
    found = []
    with closing(rows.by_group(groups, final)) as parts:
        for part in range(len(parts)):
            first, stop = parts.ends(part)
            cells, offsets = parts.rows(part)
            assert len(offsets) == stop - first + 1 and offsets[0] == 0 and first == len(found)
            pairs = itertools.pairwise(offsets.tolist())
            found += [sorted(cells[start:end].tolist()) for start, end in pairs]
    return found


def by_definition(codes, cells, groups):
    found = [[] for _ in range(groups)]
    for code, cell in zip(codes.tolist(), cells.tolist(), strict=True):
        if code < groups:
            found[code].append(cell)
    return list(map(sorted, found))


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


@pytest.fixture(params=["memory", "files"])
def place(request, monkeypatch):
    if request.param == "files":
        monkeypatch.setattr(module, "share", lambda: 0)
        monkeypatch.setattr(module, "STEP", 1)
    return request.param


@pytest.mark.parametrize("groups", [400, *(full(n) for n in (1, 7, 255, 256, 3000, 70_000))])
def test_rows_are_those_of_their_groups(place, groups):
    """Of several threads, in any cut; and under final codes, which fewer groups have."""
    rng = np.random.default_rng(groups)
    codes = rng.integers(0, groups + 1, 5000).astype(np.int32)
    cells = rng.integers(-(2**31), 2**31, 5000).astype(np.int32)
    for most, final in ((groups, None), (-(-3 * groups // 4), np.empty(groups, np.int32))):
        due = codes
        if final is not None:
            codes[codes == groups] = NONE
            final[...] = np.minimum(rng.permutation(groups), most)
            due = np.append(final, most)[np.minimum(codes, groups)]
        rows = made(codes[:3000], cells[:3000], [10, 10, 1000])
        rows.merge(made(codes[3000:], cells[3000:], [700]))
        assert bool(rows.blocks) == (place == "files")
        assert by_group(rows, most, final) == by_definition(due, cells, most)


@pytest.mark.parametrize("private", [False, True])
def test_the_limit_of_memory_changes_no_bit(monkeypatch, private):
    rng = np.random.default_rng(2)
    table = {"k": rng.integers(0, 300, 20_000), "x": rng.normal(0, 1, 20_000)}
    groups = dp.group_by(table, "k", keys=None if private else np.arange(300))
    own = dp.stat.quantiles("x", [0.5, 0.1], bounds=(-4, 4))
    loss, answers = {"epsilon": 2.0, "delta": 1e-6 if private else 0}, []
    for share in (module.share, lambda: 0):
        monkeypatch.setattr(module, "share", share)
        found = groups.agg({"q": own}, **loss, rng=InsecureGenerator(3))
        answers.append({name: column.tolist() for name, column in found.items()})
        monkeypatch.setattr(module, "STEP", 1)
    assert answers[0] == answers[1] and len(answers[0]["k"]) > (100 if private else 299)


# ---- Draws of quantiles. ----


def chi_square(out, law, first):
    counts = np.bincount(out - first, minlength=len(law))
    due = np.array([float(p) for p in law]) * len(out)
    assert not counts[due == 0].any()
    return float(((counts - due) ** 2 / due).sum())


def worst_of(change=lambda c: c, draws=20_000, inside=0, share=1 << 18):
    """The largest chi-square, of 11 degrees of freedom, over small groups, reaches and rates."""
    rng, worst = np.random.default_rng(0), 0.0
    stream = InsecureGenerator(1).stream()
    for trial in range(24):
        rows = rng.integers(-3, 9, trial % 9)
        q, rate = Fraction(int(rng.integers(0, 11)), 10), [0.3, 1.0, 2.5][trial % 3]
        reach = [1, 2, 50][trial // 3 % 3]  # few ranks: lumps are proposed often
        offsets = np.arange(draws + 1) * len(rows)
        if inside:
            q = Fraction(trial % 2)
        tiled = np.tile((rows + 3).astype(np.int32), draws)
        aim = aim_at(q, change(rate))._replace(share=1 << 18)
        aim = aim._replace(ties=[0, 1, 4][trial % 3] if not inside else 0)
        out = draw_quantiles(tiled, offsets, aim, Base(-3, 8), reach, stream, inside)
        terms = q, rate, share, -3, 8, inside, None, aim.ties
        law = quantile_twin.probabilities(rows.tolist(), *terms)
        worst = max(worst, chi_square(out, law, 0))
    return worst


@pytest.mark.parametrize("inside", [pytest.param(0, marks=pytest.mark.full), 2])
def test_draws_have_the_law_of_the_twin(inside):
    assert worst_of(inside=inside, draws=8000) < 44  # 1 in 1e5 for each


@pytest.mark.full
@pytest.mark.parametrize("fault", [{"change": lambda rate: 1.1 * rate}, {"share": 1 << 19}])
def test_a_fault_would_be_caught(fault):
    """A rate a tenth too large, and another share of a gap."""
    assert worst_of(**fault) > 70


def test_draws_of_groups_have_the_base():
    """Cells that stand for round numbers, and those near 0, weigh more."""
    base, rows = Base(-40, 8_200, 1.0), [300, 301, 1000]
    assert base.above and len(base.round_steps)
    offsets = np.arange(20_001) * len(rows)
    tiled = np.tile((np.array(rows) + 40).astype(np.int32), 20_000)
    aim = aim_at(Fraction(1, 2), 0.7)
    out = draw_quantiles(tiled, offsets, aim, base, 50, InsecureGenerator(2).stream())
    weights = [base.weight(cell, cell) for cell in range(-40, 8_201)]
    bins = np.searchsorted([299, 300, 301, 302, 500, 1000, 1001], np.arange(-40, 8_201), "right")
    for own, fits in ((weights, True), (None, False)):
        law = quantile_twin.probabilities(
            rows, aim.fraction / 2**32, 0.7, aim.share, -40, 8_200, 0, own
        )
        due = np.bincount(bins, law)
        assert (chi_square(bins[out], due, 0) < 35) == fits


ROW, ONE, AIM = np.array([5], np.int32), np.array([0, 1]), aim_at(Fraction(1, 2), 1.0)


def proposed(word):
    """What one row makes of the word of a coin: True, False, or what is open."""
    out, script = np.zeros(1, np.int32), Script([0, word])
    try:
        given = AIM.fraction, AIM.shift // 2, 0, True, 0.5, AIM.share, Base(0, 9), 5
        found = kernel.quantiles(ROW, ONE, *given, out, 0, script)[1]
    except EOFError:  # not kept, so another proposal is asked for
        return False
    return True if found is None else found


def test_open_coins_are_decided_by_the_exact_probability():
    low, high = 0, 2**64 - 1
    assert proposed(low) is True and proposed(high) is False
    while isinstance(found := proposed((low + high) // 2), bool):
        low, high = ((low + high) // 2, high) if found else (low, (low + high) // 2)
    cell, mass, scale, bound, far, _ = found
    assert (cell, mass, far) == (0, 1, RANK // 2)
    mp = context(300)
    edge = int(mp.floor(mass * mp.exp(-0.5) * mp.ldexp(1, scale + 64) / bound))
    for word, kept in [(edge - 1, True), (edge + 1, False)]:
        assert not isinstance(proposed(word), bool)
        script = Script([0, word, 0, 0, 0])
        out = draw_quantiles(ROW, ONE, AIM, Base(0, 9), 5, script)
        assert out.tolist() == [0] and script.used == (2 if kept else 4)


@quick_rows(2)
@pytest.mark.parametrize("reach", [50, 1])
@pytest.mark.parametrize("inside", [0, 2])
def test_rows_near_the_rank_are_as_good_as_all(reach, inside):
    """Rows that are left out are told by their number, and of a lump by a call."""
    rng, base = np.random.default_rng(4), Base(0, 999)
    groups = [np.sort(rng.integers(0, 1000, size)).astype(np.int32) for size in (0, 1, 7, 300, 999)]
    aim = aim_at(Fraction(1) if inside else Fraction(7, 10), 0.5)
    ends = [Near(aim.fraction / 2**32, 60).ends(np.array([len(rows)])) for rows in groups]
    own = [rows[int(a[0]) : int(b[0])] for rows, (a, b) in zip(groups, ends, strict=True)]

    def offsets(some):
        return np.cumsum([0, *map(len, some)])

    before = np.array([a[0] for a, _ in ends])
    others = Others(before, np.array([*map(len, groups)]), lambda group: groups[group])
    for seed in range(3):
        whole, near = (InsecureGenerator(seed).stream() for _ in range(2))
        a = draw_quantiles(np.concatenate(groups), offsets(groups), aim, base, reach, whole, inside)
        b = draw_quantiles(
            np.concatenate(own), offsets(own), aim, base, reach, near, inside, others
        )
        assert a.tolist() == b.tolist() and whole.take(8) == near.take(8)
