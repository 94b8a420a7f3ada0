"""What a mechanism is shown: the rows of a call, or data with a mask as one column."""

from contextlib import contextmanager
from unittest.mock import patch

import dpfast as dp
from dpfast.measurement.around import Around
from dpfast.measurement.statistic import mechanism_of
from dpfast.statistics.quantiles.ends import Between


def prepared(function, /, *args, **kwargs):
    """Return the mechanism of a call, and what it reads; nothing is spent or read."""
    release = dp.extend.prepare(function, *args, **kwargs)
    return release.mechanism, release.source


def quoted(function, /, *args, relation=None, **kwargs):
    """Return the mechanism that a call would run with a budget of a relation, if it has one."""
    if relation is not None:
        kwargs["budget"] = dp.Budget(epsilon=1, neighbors=relation)
    return prepared(function, *args, **kwargs)[0]


def innermost(mechanism):
    """Return the mechanism that others are around; of a point and its ends that of both."""
    while isinstance(mechanism, Around) and not isinstance(mechanism, Between):
        mechanism = mechanism.inner
    return mechanism


@contextmanager
def replaced(place, name, by):
    """Replace a name by another thing, for mechanisms that are made from now on until the end."""
    mechanism_of.cache_clear()
    with patch.object(place, name, by):
        yield
    mechanism_of.cache_clear()
