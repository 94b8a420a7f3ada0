"""Every example of a public docstring runs, and every public thing has the docstring it owes."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import dpfast as dp

MODULES = [
    m.name
    for m in pkgutil.walk_packages(dp.__path__, "dpfast.")
    if "_native" not in m.name and not m.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["dpfast", *MODULES])
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


RELEASES = [dp.median, dp.quantile]


@pytest.mark.parametrize("function", RELEASES, ids=lambda f: f.__name__)
def test_a_release_states_its_privacy(function):
    text = inspect.getdoc(function)
    for section in ("Privacy\n", "Parameters\n", "Returns\n", "Raises\n", "Notes\n", "Examples\n"):
        assert section in text
    assert "Cost:" in text and "STOC" in text
    for name in inspect.signature(function).parameters:
        assert name in text


@pytest.mark.parametrize(
    "function",
    [getattr(dp.sensitivity, n) for n in dp.sensitivity.__all__] + [dp.order.window],
    ids=lambda f: f.__name__,
)
def test_what_is_not_private_says_so_first(function):
    assert inspect.getdoc(function).startswith("NOT PRIVATE")
