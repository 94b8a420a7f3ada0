"""A call that is refused, and costs nothing."""

import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError


def refused(call, words=None, error=(ArgumentError, ArgumentTypeError), budget=None, **asked):
    """Check that a call is refused by one line before anything is spent, and return the error."""
    budget = budget or dp.Budget(epsilon=9, delta=1e-3)
    with pytest.raises(error, match=words) as caught:
        call(budget=budget, **asked)
    told = caught.value
    assert "\n" not in str(told) and budget.history == ()
    assert told.__context__ is None or told.__suppress_context__  # no second error above it
    return told
