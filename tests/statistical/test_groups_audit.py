"""Black-box lower bounds on the loss of calls by group: keys, several statistics, private bounds.

The bound is that of the kit. One person is in a group or is not, and what is seen is whether the
group is shown, one of its statistics, or all of them together. The faults are a call for several
times the loss that it claims, and bounds for the loss of one row of somebody who has many.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.groups import automatic_bounds
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound, repeated

DELTA = 0.02
ASKED = {
    "n": dp.stat.count(),
    "mean": dp.stat.mean("x", bounds=(0, 1)),
    "median": dp.stat.median("x", bounds=(0, 1)),
}
#: What is seen of a group that is shown; one that is not is a point beyond all answers.
NOWHERE = -1e9
SEEN = {
    "shown": lambda n, mean, median: 0.0,
    "count": lambda n, mean, median: n,
    "mean": lambda n, mean, median: mean,
    "median": lambda n, mean, median: median,
    "all": lambda n, mean, median: n + 2 * mean + 2 * (median > 0.5),
}


def audit(seen, relation, people, size, epsilon):
    """Of a table in which somebody has rows in the first group, and its neighbor."""
    rows = 2 if people else 1
    keys, x, ids = [1, 1, 1, 2, 2], [0.0, 0.0, 1.0, 0.5, 0.5], [1, 2, 3, 4, 5]
    one = {"k": keys + [1] * rows, "x": x + [1.0] * rows, "id": ids + [9] * rows}
    other = {**one, "k": keys + [2] * rows, "x": x + [0.0] * rows}
    if relation == "add-remove":
        other = {"k": keys, "x": x, "id": ids}
    given = {"ids": "id", "max_groups": 1, "max_rows": 2} if people else {}
    kw = {"epsilon": epsilon, "delta": DELTA, "rng": InsecureGenerator(11)}

    def number(answer):
        at = np.flatnonzero(answer["k"] == 1)
        return float(SEEN[seen](*(answer[n][at[0]] for n in ASKED))) if len(at) else NOWHERE

    def numbers(table):
        groups = dp.group_by(table, "k", neighbors=relation, **given)
        return np.array([*map(number, repeated(lambda: groups.agg(ASKED, **kw), size))])

    return lower_bound(numbers(one), numbers(other), delta=DELTA)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("seen", list(SEEN))
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_quick_audit(seen, relation, people):
    assert audit(seen, relation, people, 600, 1.0) <= 1.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("seen", ["count", "shown", "all"])
@pytest.mark.parametrize("people", [False, True])
def test_a_call_that_costs_more_is_caught(seen, people):
    """The planted fault: a call that claims 1/4 and spends 8."""
    assert audit(seen, "add-remove", people, 900, 8.0) > 0.25


#: The end of the bounds that is looked at, and two neighbors; the last with twelve rows of one.
PAIRS = {
    "a row of many": (1, [5.0] * 5, [5.0] * 6),
    "the other side": (0, [-5.0] * 100 + [1.0], [-5.0] * 100),
    "hardly a row": (1, [2.0**-39], []),
    "twelve rows of a person": (1, [5.0] * 60, [5.0] * 60 + [6.0] * 12),
}


def audit_of_bounds(name):
    """Of bounds that groups share, for a quarter of the loss, by the names of bins."""
    end, *pair = PAIRS[name]
    given = {"ids": "who", "max_groups": 3, "max_rows": 4} if "person" in name else {}
    kw = {"bins": 2, "bounds": "auto", "epsilon": 4, "rng": InsecureGenerator(9)}
    found = []
    for rows in pair:
        at = np.arange(len(rows))
        added = np.maximum(at - min(map(len, pair)), -1) + 1
        keys, who = np.where(added > 0, added, at) % 3, np.where(added > 0, 1000, at)
        table = {"k": keys, "x": np.array(rows, float), "who": who}
        groups = dp.group_by(table, "k", keys=[0, 1, 2], **given)
        answers = repeated(lambda groups=groups: groups.histogram("x", **kw), 600)
        edges = [[float(bin.split()[1]) for bin in list(one)[1:3]] for one in answers]
        found.append(np.array([(low, 2 * middle - low)[end] for low, middle in edges]))
    return lower_bound(*found)


@pytest.mark.full
@pytest.mark.parametrize("name", list(PAIRS))
def test_bounds_of_groups_cost_no_more_than_a_quarter(name):
    assert audit_of_bounds(name) <= 1.0


@pytest.mark.full
def test_rows_of_a_person_in_groups_that_are_counted_as_one_are_caught(monkeypatch):
    forget()
    monkeypatch.setattr(automatic_bounds, "one_row", lambda loss, neighbors, rows: loss)
    assert audit_of_bounds("twelve rows of a person") > 1.0
    forget()
