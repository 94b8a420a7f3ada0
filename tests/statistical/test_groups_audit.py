"""Black-box lower bounds on the loss of a call by group: private keys and several statistics.

The bound is that of the kit. One person is in a group or is not, and what is seen is
whether the group is shown, one of its statistics, or all of them together. The fault is a call for
several times the loss that it claims.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound, repeated

DELTA = 0.02
#: A group that is not shown is a point beyond all answers.
NOWHERE = -1e9
ASKED = {
    "n": dp.stat.count(),
    "mean": dp.stat.mean("x", bounds=(0, 1)),
    "median": dp.stat.median("x", bounds=(0, 1)),
}
#: What is seen of a group that is shown.
SEEN = {
    "shown": lambda n, mean, median: 0.0,
    "count": lambda n, mean, median: n,
    "mean": lambda n, mean, median: mean,
    "median": lambda n, mean, median: median,
    "all": lambda n, mean, median: n + 2 * mean + 2 * (median > 0.5),
}


def rows_of(relation, people):
    """A table in which somebody has rows in the first group, and its neighbor."""
    size = 2 if people else 1
    keys, x, ids = [1, 1, 1, 2, 2], [0.0, 0.0, 1.0, 0.5, 0.5], [1, 2, 3, 4, 5]
    one = {"k": keys + [1] * size, "x": x + [1.0] * size, "id": ids + [9] * size}
    if relation == "add-remove":
        return one, {"k": keys, "x": x, "id": ids}
    return one, {**one, "k": keys + [2] * size, "x": x + [0.0] * size}


def samples(seen, relation, people, size, epsilon):
    given = {"ids": "id", "max_groups": 1, "max_rows": 2} if people else {}
    generator = InsecureGenerator(11)

    def answers(table):
        groups = dp.group_by(table, "k", neighbors=relation, **given)
        found = repeated(
            lambda: groups.agg(ASKED, epsilon=epsilon, delta=DELTA, rng=generator), size
        )
        return np.array([number(one) for one in found])

    def number(answer):
        at = np.flatnonzero(answer["k"] == 1)
        if not len(at):
            return NOWHERE
        return float(SEEN[seen](*(answer[name][at[0]] for name in ASKED)))

    return [answers(table) for table in rows_of(relation, people)]


def audit(seen, relation, people, size, epsilon):
    return lower_bound(*samples(seen, relation, people, size, epsilon), delta=DELTA)


CASES = [(seen, r, p) for p in (False, True) for seen in SEEN for r in ("add-remove", "replace")]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(("seen", "relation", "people"), CASES)
def test_a_quick_audit(seen, relation, people):
    assert audit(seen, relation, people, 600, 1.0) <= 1.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("seen", ["count", "shown", "all"])
@pytest.mark.parametrize("people", [False, True])
def test_a_call_that_costs_more_is_caught(seen, people):
    """The planted fault: a call that claims 1/4 and spends 8."""
    assert audit(seen, "add-remove", people, 900, 8.0) > 0.25
