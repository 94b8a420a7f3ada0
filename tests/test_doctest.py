"""Every example of a public docstring runs; what is paid for says its cost, all else what it is.
Sections and arguments of docstrings are held by `tests/docs/test_reference.py`."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import dpfast as dp

from .support.battery import NO_RELEASES, public
from .support.pairwise import quick_rows

PACKAGE = Path(dp.__file__).parent
#: The modules that have examples, by their text: some import libraries that take long.
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@quick_rows(7)
@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0 < tried


#: Found by their signatures, so that none is left out.
RELEASES = [function for name, function in public() if name not in NO_RELEASES]
RELEASES += [dp.selection.best_of]
TOLD = {dp.online.Answer, dp.online.Finding, dp.online.Findings, dp.online.Total}
STREAMS = [one for one in map(vars(dp.online).get, dp.online.__all__) if one not in TOLD]
LEARNERS = [one for one in map(vars(dp.learn).get, dp.learn.__all__) if hasattr(one, "fit")]
LEARNERS += [dp.sulq.NoisySums, dp.sulq.StatisticalQueryOracle]
#: Where a mechanism was published.
PUBLISHED = r"\b(STOC|FOCS|ICML|TCC|NeurIPS|ALT|PODS)\s20\d\d"


@pytest.mark.parametrize("thing", [*RELEASES, *STREAMS, *LEARNERS], ids=lambda f: f.__name__)
def test_what_is_paid_for_states_neighbors_cost_and_source(thing):
    text = inspect.getdoc(thing)
    assert "Privacy\n-------\n" in text and "Notes\n-----\n" in text
    if "Privacy\n-------\nAs in `" not in text:  # what is said of another learner
        assert "Cost:" in text and re.search("neighbou?r", text, re.I)
        assert re.search(rf"{PUBLISHED}|As in `", text)


VERBS = [dp.sensitivity.global_, dp.sensitivity.local, dp.sensitivity.smooth, dp.order.window]
EXPECTATIONS = [dp.selection.probabilities, dp.selection.expected_error, dp.sulq.ExactOracle]
ESTIMATORS = [getattr(dp.estimators, n) for n in dp.estimators.__all__]


@pytest.mark.parametrize("thing", [*VERBS, *EXPECTATIONS, *ESTIMATORS], ids=lambda f: f.__name__)
def test_what_is_not_private_says_so(thing):
    text = inspect.getdoc(thing)
    assert text.startswith("NOT PRIVATE") or "NOT PRIVATE by itself: an estimator for" in text


def test_estimators_aggregators_and_noise_are_known_by_the_names_that_are_documented():
    from dpfast.aggregate.aggregators import AGGREGATORS
    from dpfast.aggregate.estimators import _NAMES, resolve
    from dpfast.noise.smooth import NOISES

    text = inspect.getdoc(dp.sample_and_aggregate)
    for name in sorted(set(_NAMES) - {"quantile"}):  # which is nothing without its number
        own = " ".join(inspect.getdoc(type(resolve(name))).split())
        assert f'"{name}"' in text and f'under the name "{name}"' in own
    assert all(f'"{name}"' in text for name in AGGREGATORS)
    assert all(f'"{name}"' in inspect.getdoc(dp.quantile) for name in NOISES)
