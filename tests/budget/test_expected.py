"""`expected_error` says what the mechanism of a call says, spends nothing and reads no row."""

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.error_bars import ROWS, SECRET, UNKNOWN, ErrorBar

from ..support.battery import CASES
from ..support.views import quoted

X = np.linspace(0, 100, 400)
BOUNDS = {"bounds": (0, 100)}
MEAN = {**BOUNDS, "epsilon": 1}


def says_enough(found):
    """Whether there is an error bar and what it rests on, or a reason of its own for none."""
    return (
        isinstance(found, ErrorBar) and found.note != UNKNOWN and bool(found.note or has_bar(found))
    )


def has_bar(found):
    return found.half_width is not None or found.ranks is not None


@pytest.mark.parametrize("name", CASES)
def test_every_release_has_a_bar_or_a_reason(name):
    case = CASES[name]
    for loss in case.losses:
        asked = {**case.kw, **loss}
        found = dp.expected_error(case.call, case.data, **asked)
        assert says_enough(found)
        mechanism = quoted(case.call, case.data, **asked)
        if not getattr(mechanism, "known", False):  # of a secret number of rows, none is told
            assert found == mechanism.error(None, 0.95)
        elif not has_bar(found):
            assert not has_bar(dp.expected_error(case.call, case.data, rows=99, **asked))


class Silent:
    loss, neighbors, name = dp.privacy.Pure(1), "replace", "silent"

    def reduce(self, source): ...

    def finish(self, summary, generator): ...


def test_a_release_that_says_nothing_of_its_error_is_caught():
    silent = dp.extend.prepare(dp.extend.release, [1], Silent()).mechanism
    assert not says_enough(silent.error(9, 0.95))
    assert not says_enough(ErrorBar(0.95))


def test_the_number_of_rows_is_that_of_the_data_where_it_is_public():
    public = {**MEAN, "neighbors": "replace"}
    mechanism = quoted(dp.mean, X, **public)
    for data, asked, rows in (X, {}, 400), (X, {"rows": 100}, 100), (X[:0], {}, 1):
        assert dp.expected_error(dp.mean, data, **public, **asked) == mechanism.error(rows, 0.95)
    for private in (
        {"neighbors": "add-remove"},
        {"neighbors": "replace", "where": X > 50},
        {"neighbors": "replace", "ids": np.arange(400), "max_rows": 2},
    ):
        found = dp.expected_error(dp.mean, X, **MEAN, **private)
        assert found.half_width is None and found.note == ROWS
        assert dp.expected_error(dp.mean, X, **MEAN, **private, rows=400).half_width > 0


def test_what_is_said_where_there_is_none():
    assert dp.expected_error(dp.median, X, **MEAN, method="smooth").note == SECRET
    assert "bounds" in dp.expected_error(dp.mean, X, bounds="auto", epsilon=1).note
    drawn = {"sensitivity": 1, "epsilon": 1}
    based = dp.expected_error(dp.selection.exponential, [1, 2], base=[0, 1], **drawn)
    assert not has_bar(based) and "base" in based.note
    runs = dp.expected_error(dp.selection.best_of, len, run_loss=dp.privacy.Pure(1), gamma=0.1)
    later = dp.expected_error(dp.online.RunningCount, 9, epsilon=1)
    assert says_enough(runs) and says_enough(later) and not has_bar(runs) and not has_bar(later)
    ranks = dp.expected_error(dp.quantiles, X, [0.2, 0.5], **MEAN)
    assert ranks.half_width is None and len(ranks.ranks) == 2 and "ranks" in ranks.note
