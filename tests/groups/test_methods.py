"""The methods of `GroupBy` are those of the table of statistics."""

import inspect

import pytest

import dpfast as dp
from dpfast.groups.api import GroupBy
from dpfast.groups.methods import OF_ROWS

LOSS = ["epsilon", "delta", "rho", "where", "budget", "rng"]


@pytest.mark.parametrize("name", dp.stat.__all__)
def test_a_method_says_what_it_takes(name):
    method, of = getattr(GroupBy, name), getattr(dp.stat, name)
    own = [one for one in inspect.signature(of).parameters if one not in OF_ROWS]
    if name == "count_distinct":  # of all columns
        own = []
    names = ["self", *own, *LOSS]
    parameters = inspect.signature(method).parameters
    assert list(parameters) == names
    described = inspect.getdoc(method).split("Returns")[0]
    assert all(one in described for one in names[1:])
    assert method.__name__ == name and method.__qualname__ == f"GroupBy.{name}"
    has_default = "column" in names and parameters["column"].default is None
    assert has_default == (name == "count")  # of all rows, or of those that are missing


def test_what_no_method_takes_is_refused():
    groups = dp.group_by({"k": [1, 2], "x": [1.0, 2.0]}, "k", keys=[1, 2])
    for wrong in ({"ddof": 1}, {"sigma": 1}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            groups.mean("x", bounds=(0, 1), epsilon=1, **wrong)
    for call in (groups.mean, lambda **kw: groups.agg({"x": dp.Mean(bounds=(0, 1))}, **kw)):
        with pytest.raises((TypeError, dp.errors.ArgumentError)):
            call(epsilon=1)
