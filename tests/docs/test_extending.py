"""The page on mechanisms and sources of one's own runs, by public names, with types that hold."""

import re

import pytest

import dpfast as dp

from ..support.pages import DOCS
from ..support.types import strict

PAGE = DOCS / "guide" / "extending.md"
CODE = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))


def test_it_imports_nothing_of_dpfast_but_its_name():
    assert re.findall(r"^ *(?:from|import) dpfast.*$", CODE, re.M) == ["import dpfast as dp"]
    assert not re.search(r"\bdp\.(\w+\.)*_", CODE)


@pytest.mark.full
def test_its_types_hold(tmp_path):
    """Planted: a `finish` that gives a text."""
    right, wrong = ".add([summary], generator)[0]", ".distribution"
    for name, code in ("page", CODE), ("planted", CODE.replace(right, wrong)):
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    said = strict(tmp_path / "page.py", tmp_path / "planted.py")
    assert [line for line in said if "page.py" in line] == []
    assert len(said) == 1 and "int" in said[0] and "str" in said[0]


class Three:
    """A mechanism that lacks nothing."""

    loss, neighbors, name = dp.privacy.Pure(1), "replace", "three"

    def reduce(self, source):
        return 3

    def finish(self, summary, generator):
        return summary


@pytest.mark.parametrize("name", ["loss", "neighbors", "name", "reduce", "finish"])
@pytest.mark.parametrize("value", [None, 7, object()], ids=["None", "7", "an object"])
def test_a_mechanism_that_lacks_something_costs_nothing(name, value):
    budget, wrong = dp.Budget(epsilon=5), type("Wrong", (Three,), {name: value})()
    with pytest.raises((ValueError, TypeError), match=name):
        dp.extend.release([1, 2], wrong, budget=budget)
    with pytest.raises(dp.errors.ArgumentTypeError, match="mechanism must be an object with loss"):
        dp.extend.release([1, 2], object(), budget=budget)
    assert not budget.history
    assert dp.extend.release([1, 2], Three(), budget=budget) == 3
    assert budget.remaining["epsilon"] == 4


@pytest.mark.parametrize(
    ("given", "named"),
    [({"l1": -1}, "l1"), ({"l1": 4, "l2": 5}, "l2"), ({"l1": 4, "l0": 5}, "l0"),
     ({"l1": 4, "l2": 1, "l0": 2}, "l2"), ({"l1": 4, "l0": 0}, "l0")],
)  # fmt: skip
def test_a_sensitivity_that_cannot_be_is_refused(given, named):
    with pytest.raises(dp.errors.ArgumentError, match=f"^{named} must"):
        dp.extend.integer_noise(dp.privacy.Pure(1), **given)


def test_what_is_left_out_of_a_sensitivity_is_the_most_it_can_be():
    rho = dp.privacy.ZCDP(0.5)

    def deviation(*given, loss=rho, **more):
        return dp.extend.integer_noise(loss, *given, **more).deviation

    for loss in (dp.privacy.Pure(1), rho, dp.privacy.Approx(1, 1e-6)):
        known, one = (deviation(9, loss=loss, **more) for more in ({"l2": 3, "l0": 9}, {"l0": 1}))
        assert max(known, one) <= deviation(9, loss=loss)
        assert deviation(loss=loss) == deviation(1, l0=1, l2=1, loss=loss)
    assert deviation(9, l2=3, l0=9) < deviation(9)
