"""Black-box lower bounds on the loss of private bounds, with a planted fault.

The bound is that of the kit, the fault a group of rows for the loss of one.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.groups import automatic_bounds
from dpfast.rng import InsecureGenerator

from .kit import lower_bound, repeated


def upper(pair):
    return pair[1]


def lower(pair):
    return pair[0]


#: name: the number that is looked at, and two neighbors.
PAIRS = {
    "a row of many": (upper, [5.0] * 5, [5.0] * 6),
    "the other side": (lower, [-5.0] * 100 + [1.0], [-5.0] * 100),
    "hardly a row": (upper, [2.0**-39], []),
}


#: The planted fault: rows of somebody who has twelve, for a loss of one row.
FAULT = (upper, [5.0] * 60, [5.0] * 60 + [6.0] * 12)


def audit_by_group(case, epsilon, size, people):
    """The same of bounds that groups share, for a quarter of the loss, by the names of bins."""
    number, *pair = case
    given = {"ids": "who", "max_groups": 3, "max_rows": 4} if people else {}
    generator = InsecureGenerator(9)

    def answers(rows):
        added = np.maximum(np.arange(len(rows)) - min(map(len, pair)), -1) + 1
        keys = np.where(added > 0, added % 3, np.arange(len(rows)) % 3)
        who = np.where(added > 0, 1000, np.arange(len(rows)))
        table = {"k": keys, "x": np.array(rows, float), "who": who}
        groups = dp.group_by(table, "k", keys=[0, 1, 2], **given)
        found = repeated(
            lambda: groups.histogram(
                "x", bins=2, bounds="auto", epsilon=4 * epsilon, rng=generator
            ),
            size,
        )
        edges = [[float(name.split()[1]) for name in list(one)[1:3]] for one in found]
        return np.array([number((low, 2 * middle - low)) for low, middle in edges])

    return lower_bound(*map(answers, pair))


@pytest.mark.full
@pytest.mark.parametrize("name", [*PAIRS, "twelve rows of a person"])
def test_bounds_of_groups_cost_no_more_than_a_quarter(name):
    is_people = name not in PAIRS
    assert audit_by_group(FAULT if is_people else PAIRS[name], 1, 600, is_people) <= 1.0


@pytest.mark.full
def test_rows_of_a_person_in_groups_that_are_counted_as_one_are_caught(monkeypatch):
    forget()
    monkeypatch.setattr(automatic_bounds, "one_row", lambda loss, neighbors, rows: loss)
    assert audit_by_group(FAULT, 1, 600, True) > 1.0
    forget()
