"""The kernels of quantiles do what `proofs/specification.v` says by definition, on small cases.

The specification goes over all candidates or pairs of ranks in whole numbers, and is made a program
(`proofs/check`). Weights exp(-c u) and random words are handed to both.
"""

import math
import subprocess
from bisect import bisect_left, bisect_right
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dpfast._kernels.noise import Runs, Script
from dpfast._kernels.sensitivity import DIVIDE, FORWARD, MIRRORED, Column
from dpfast._kernels.statistics import draw_node
from dpfast.noise.grid import Base
from dpfast.sensitivity.ranks import effective_floor, rank_rule, starts
from dpfast.statistics.quantiles.draws import PARTS, RANK, DrawParams, End
from dpfast.summaries.order import Ranks

check = pytest.importorskip("proofs.check", reason="the proofs are not beside the tests")
if check.missing():
    pytest.skip(f"not installed: {', '.join(check.missing())}", allow_module_level=True)

#: Nodes of a batch, draws from each, the words of a draw and how many of their bits are told.
BATCH, DRAWS, WORDS, WIDTH = 500, 4, 6, 60
#: Units of a rank, and the denominator of quantiles; whole numbers of the program have 62 bits.
UNIT, QUANTILE = 1 << 44, 1 << 8
#: A coin whose word is as near to its probability may be left open.
NEAR = 2.0**-30
SHARES, TIES = [0, 1 << 17, 1 << 18, 1 << 19, 123456], [0, 0, 1, 2, 5, 50]
RATES = [0.01, 0.1, 0.3, 1.0, 3.0, 20.0]
#: A large column of which nodes are small parts, near numbers that weigh more, and what rows
#: of those nodes are on.
LARGE, PLACES = (-(1 << 20), 1 << 20), [0, 1000, -1000, 5000, 1 << 19]


@contextmanager
def specification(program):
    """What the program says of a batch of lines."""
    with subprocess.Popen([program], stdin=-1, stdout=-1, text=True) as running:

        def ask(lines):
            running.stdin.write("\n".join([*lines, ".\n"]))
            running.stdin.flush()
            return [list(map(int, running.stdout.readline().split())) for _ in lines]

        yield ask
        running.stdin.close()


def line(letter, numbers, *lists):
    """A line for the program, where lists have their lengths before them."""
    for one in lists:
        numbers += [len(one), *one]
    return f"{letter} {' '.join(map(str, numbers))}"


@cache
def measure(first, last):
    return Base(first, last, 1.0 if last > 99 else None)


@cache
def masses(first, last, low, high):
    """What the cells of a node weigh by the base measure of its column."""
    cells = np.arange(low, high + 1)
    return measure(first, last).mass(cells, cells).tolist()


class Node:
    """A random node: of all cells of a column, or between ends on which rows are divided."""

    def __init__(self, r, divides):
        r = iter(r)
        pick = lambda n: next(r) % n  # noqa: E731
        n, kind = pick(9), pick(5)
        first, size, tied = pick(7) - 5, 1 + pick(12), 1 + pick(13)
        outer_low, outer_high = kind in (0, 1), kind in (0, 2)
        low = first if outer_low else first + pick(size)
        high = first + size if outer_high else low + 1 + pick(first + size - low)
        rows = sorted(first + pick(size + 1) % tied for _ in range(n))
        column = first, first + size
        if kind == 4:
            place, column = PLACES[pick(len(PLACES))], LARGE
            low, high, rows = low + place, high + place, [x + place for x in rows]
        # Half of the parts are all or none.
        low_part, high_part = (min(max(0, pick(2 * PARTS) - PARTS // 2), PARTS) for _ in range(2))
        low_part, high_part = 0 if outer_low else low_part, PARTS if outer_high else high_part
        q, shift = pick(QUANTILE + 1), pick(UNIT + 1) - UNIT // 2
        share, ties = SHARES[pick(5)], 0 if divides else TIES[pick(6)]
        # Blocks of fractions are cells for a small rate.
        self.c, self.divides = RATES[pick(2 if divides else 6)], divides
        ends = [End(low, *counts(rows, low), low_part), End(high, *counts(rows, high), high_part)]
        if outer_low:
            ends[0] = ends[0]._replace(leq=-1)
        if outer_high:
            ends[1] = ends[1]._replace(less=-1)
        fraction = q * (PARTS // QUANTILE)
        aim = DrawParams(fraction, shift * (RANK // UNIT), 2 * self.c, share, ties)
        self.target = aim.target(*ends)
        whole, skip, stop, margin = self.target // RANK, 0, n, ties + pick(3)
        if n and not divides and pick(3):
            skip, stop = max(0, whole - 1 - margin), min(n, whole + 2 + margin)
        window = np.array(rows[skip:stop], np.int64), skip, n
        self.rows, self.base = rows, measure(*column)
        self.given = (*window, *ends, whole, self.target % RANK, self.c, share, divides, self.base)
        self.more = False, -1, -1, 0 if divides else fraction, ties, not divides
        numbers = [PARTS, UNIT, low, low_part, high, high_part, q, QUANTILE, shift, share, ties]
        numbers += [int(divides), int(not outer_low), int(not outer_high)]
        lists = rows[:skip], rows[skip:stop], rows[stop:], masses(*column, low, high)
        self.line = line("n", numbers, *lists)


def bounds(node, runs):
    """The bounds that the kernel of random choice has for runs, and the power of two in them."""
    distance = np.array([u * 2 / UNIT for u in runs[1::2]])
    weighted = Runs(distance, node.c, np.array(runs[::2]), 0.0)
    totals = np.empty(len(distance), np.uint64)
    weighted.total(totals)
    totals = [0, *totals.tolist()]
    return [after - before for before, after in pairwise(totals)], weighted.shift


def due(node, proposals, words, power, total, least):
    """What is drawn by definition: the first proposal that is kept; None where a coin is open."""
    for tries in range(len(proposals) // 7):
        cell, part, far, weight, bound, coin, left = proposals[7 * tries : 7 * tries + 7]
        if coin >= 0:
            word = words[WORDS - left - 1]
            assert word >> 64 - WIDTH == coin
            chance = weight * math.exp(-2 * node.c * far / UNIT) / bound
            edge = math.ldexp(chance, power + 64)
            if abs(word - edge) <= edge * NEAR + 64:
                return None
            if word > edge:
                continue
        if node.divides:
            return cell, WORDS - left, part, *counts(node.rows, cell)
        far = far * (RANK // UNIT) if coin >= 0 else (weight, bound)
        return cell, WORDS - left, tries + 1, total, least * (RANK // UNIT), far
    return "no more words"


def counts(rows, cell):
    return bisect_left(rows, cell), bisect_right(rows, cell)


def drawn(node, words):
    """The same of the kernel."""
    script = Script(words)
    try:
        cell, part, less, leq, coins, undecided = draw_node(*node.given, script, *node.more)
    except EOFError:
        return "no more words"
    if node.divides:
        return cell, script.used, part, less, leq
    tries, total, _, least, far = coins
    if undecided is not None and undecided[4] is None:  # outside of the window
        far = undecided[0], undecided[2]
    return cell, script.used, tries, total, least, far


def draws(ask, count, seed, divides, fault=lambda runs: None):
    """Pairs of what is due and what is drawn."""
    rng = np.random.default_rng(seed)
    for _ in range(count // BATCH // DRAWS):
        nodes = [Node(r, divides) for r in rng.integers(0, 1 << 40, (BATCH, 30)).tolist()]
        scripts = rng.integers(0, 1 << 64, (BATCH, DRAWS, WORDS), np.uint64)
        leading = (scripts >> np.uint64(64 - WIDTH)).tolist()
        answers, requests, public = ask([node.line for node in nodes]), [], []
        for at, (node, (target, least, *runs)) in enumerate(zip(nodes, answers, strict=True)):
            fault(runs)
            assert target * (RANK // UNIT) == node.target
            weights, power = bounds(node, runs)
            head = line("d", [at, WORDS // 2, WIDTH], weights)
            requests += [f"{head} {line(WORDS, words)}" for words in leading[at]]
            public.append((power, sum(weights), least))
        proposals = iter(ask(requests))
        for node, node_scripts, numbers in zip(nodes, scripts.tolist(), public, strict=True):
            for words in node_scripts:
                yield due(node, next(proposals), words, *numbers), drawn(node, words)


QUANTILES = [Fraction(q) for q in ("0", "1/10", "1/4", "1/3", "1/2", "1/2", "2/3", "9/10", "1")]
BETAS = [math.log(2), math.log(2), 0.01, 0.3, 2.0]
METHODS = [0, FORWARD, MIRRORED, DIVIDE | FORWARD, DIVIDE | MIRRORED]
#: Pairs of at most eight rows are nearer than this; weights are in units of 2**-BITS.
FARTHEST, BITS = 24, 40


@cache
def levels(q, n):
    window = Ranks(np.zeros(n)).window(rank_rule(q), n)
    return starts(q, window, n + 2)


@cache
def falling(beta):
    """e^(-beta k) in whole numbers; powers of two where beta is ln 2."""
    if beta == BETAS[0]:
        return [1 << BITS - k for k in range(FARTHEST)]
    return [math.floor(math.ldexp(math.exp(-beta * k), BITS)) for k in range(FARTHEST)]


def sensitivities(ask, count, seed, replaced):
    """What the program says of sensitivities, and what the kernel, with what S* may be off by."""
    rng = np.random.default_rng(seed)
    for _ in range(count // BATCH):
        lines, computed = [], []
        for r in rng.integers(0, 1 << 30, (BATCH, 18)).tolist():
            n, beta, q, k = r[0] % 8 + replaced, BETAS[r[1] % 5], QUANTILES[r[2] % 9], r[3] % 9
            size = 1 + r[4] % 1000
            values = sorted(x % size for x in r[9 : 9 + n])
            lo, hi = r[5] % 30 - 20, size + r[6] % 30 - 20
            hi = max(hi, lo + 1)
            column, m = Column(np.array(values, float), 1, n, lo, hi), rank_rule(q)(n)
            # A local sensitivity counts all pairs at a distance up to k alike.
            is_local, smooth = r[7] % 2, (beta, effective_floor(0.0, lo, hi))
            weights = [1] * (k + 1) if is_local else falling(beta)
            head = [m, lo, hi] if replaced else [q.numerator, q.denominator, lo, hi]
            lines.append(line("r" if replaced else "a", head, weights, values))
            kind = "replace" if replaced else "median" if 2 * q == 1 else "quantile"
            public = {"replace": (m,), "median": (), "quantile": levels(q, n)}[kind]
            if is_local:
                value = getattr(column, f"local_{kind}")(*public, k)
            else:
                method = (METHODS[r[8] % 5],) if replaced else ()
                value = getattr(column, f"smooth_{kind}")(*public, *smooth, *method) * weights[0]
            computed.append((value, is_local, 0 if beta == BETAS[0] else hi - lo))
        for (due,), numbers in zip(ask(lines), computed, strict=True):
            yield due, *numbers


def is_right(due, value, is_local, error):
    """Whether a kernel's sensitivity is that of the definition, and where it is smooth, to the
    error that csrc/sensitivity/envelope.h states."""
    if is_local:
        return due == value
    return due * (1 - 2.0**-48) <= value <= (due + error) * (1 + 2.0**-41) * (1 + 2.0**-48)


def cases(ask, count, seed, fault=lambda runs: None):
    """The kind of each case, and whether the kernel does what the specification says."""
    for divides, share in (False, 6), (True, 2):
        for due, drawn in draws(ask, count * share // 10, seed, divides, fault):
            is_outside = due is not None and isinstance(due[-1], tuple)
            kind = "open" if due is None else "outside" if is_outside else "draw"
            yield kind, due in (None, drawn)
    for replaced in (True, False):
        for numbers in sensitivities(ask, count // 10, seed, replaced):
            yield "sensitivity", is_right(*numbers)


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_kernels_do_what_the_specification_says(count):
    with specification(check.program()) as ask:
        tally = Counter(cases(ask, count, count))
    assert tally.total() == count and all(is_same for _, is_same in tally)
    assert tally["outside", True] > count / 500 and tally["open", True] < count / 10_000


def test_a_position_moved_by_half_a_rank_is_caught():
    def move(runs):
        runs[1] += UNIT // 2  # the least distance of the first run

    with specification(check.program()) as ask:
        assert not all(is_same for _, is_same in cases(ask, 20_000, 1, move))


FAULTS = [
    ("then -1 else if after", "then 0 else if after"),
    ("below n o + half_rank n + lacks", "below n o + lacks"),
    ("(rows_on n o - 1) * part", "rows_on n o * part"),
    ("rank n * rows_below n o +", "rank n * rows_up_to n o +"),
    ("if k <=? ties n then", "if k <? ties n then"),
    ("if point <? weight", "if point <=? weight"),
    ("j - i - 1) weights", "j - i) weights"),
    ("(0 <? L' + U')", "(0 <=? L' + U')"),
]


@pytest.mark.full
@pytest.mark.parametrize("old, new", FAULTS)
def test_a_fault_in_the_specification_is_caught(old, new):
    with specification(check.program(old, new)) as ask:
        assert not all(is_same for _, is_same in cases(ask, 20_000, 1))
