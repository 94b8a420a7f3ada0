"""Black-box lower bounds on the loss of extremes, ranges and trimmed means.

Data and their neighbors are those between which the most is lost; see `test_median_audit` for the
method.
"""

import numpy as np
import pytest

import dpfast as dp

from ..support.pairwise import quick_rows
from .kit import lower_bound

RELEASES = {
    "minimum": dp.minimum,
    "maximum": dp.maximum,
    "iqr": dp.iqr,
    "trimmed": dp.trimmed_mean,
    "winsorized": dp.winsorized_mean,
}
METHODS = {
    "minimum": ["exponential", "smooth"],
    "maximum": ["exponential", "smooth"],
    "iqr": ["recursive", "joint", "smooth"],
    "trimmed": [None],
    "winsorized": [None],
}
CASES = [(name, method) for name, methods in METHODS.items() for method in methods]
#: Two quartiles take the audit long, and their distributions are enumerated in
#: `tests/statistics/test_exponential_quantiles.py` and `tests/statistics/test_joint_quantiles.py`;
#: their difference adds nothing.
QUICK = [case for case in CASES if case not in (("iqr", "recursive"), ("iqr", "joint"))]
#: Rows and their neighbor's; a NaN is a row that `where` leaves out.
PAIRS = {
    "replace": ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    "add-remove": ([0.0, 1.0], [0.0, 1.0, 1.0]),
    "some": ([0.0, 1.0, np.nan], [0.0, 1.0, 1.0]),
}
QUARTILES = {
    "replace": ([0.4, 0.4, 0.4, 0.6], [0.4, 0.4, 0.6, 0.6]),
    "add-remove": ([0.4, 0.4, 0.6], [0.4, 0.4, 0.6, 0.6]),
    "some": ([0.4, 0.4, np.nan, 0.6], [0.4, 0.4, 0.6, 0.6]),
}


def rows_of(name, method, relation):
    if name == "iqr":
        return QUARTILES[relation]
    # The exponential mechanism loses most beside the row that it is after.
    mirrored = (name, method) == ("maximum", "exponential")
    return [1 - np.array(rows) if mirrored else rows for rows in PAIRS[relation]]


def samples(name, method, relation, size, epsilon):
    given = {} if method is None else {"method": method}
    neighbors = "replace" if relation == "some" else relation
    kw = dict(bounds=(0, 1), epsilon=epsilon, neighbors=neighbors, **given)
    found = []
    for rows in rows_of(name, method, relation):
        x = np.array(rows)
        where = ~np.isnan(x) if relation == "some" else None
        found.append(np.array([RELEASES[name](x, where=where, **kw) for _ in range(size)]))
    return found


def audit(*case):
    found = samples(*case)
    if case[1] == "exponential":
        # Most is lost in the last tenth of the range, beyond all rows of one side.
        found = [1.0 * (x > 0.9 if case[0] == "minimum" else x < 0.1) for x in found]
    return lower_bound(*found)


@quick_rows(1)
@pytest.mark.parametrize(("name", "method"), QUICK)
def test_a_quick_audit(name, method):
    for relation in PAIRS:
        assert audit(name, method, relation, 300, 1.0) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("relation", list(PAIRS))
@pytest.mark.parametrize(("name", "method"), CASES)
def test_no_event_exceeds_epsilon(name, method, relation):
    assert audit(name, method, relation, 20_000, 2.0) <= 2.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(("name", "method"), QUICK)
def test_the_audit_catches_a_release_that_costs_more(name, method):
    """The planted fault: a mechanism that claims 1/10 and spends 2 or 3."""
    size, spent = (6000, 2.0) if method == "exponential" else (1500, 3.0)
    assert audit(name, method, "replace", size, spent) > 0.1
