"""Every example of a public docstring runs, and every public thing has the docstring it owes."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import dpfast as dp

from .support.battery import NO_RELEASES, public
from .support.pairwise import quick_rows

MODULES = [
    m.name
    for m in pkgutil.walk_packages(dp.__path__, "dpfast.")
    if "_native" not in m.name and not m.name.endswith("__main__")
]


@quick_rows(7)
@pytest.mark.parametrize("name", ["dpfast", *MODULES])
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


#: What draws can be paid for; the rest of `dp.selection` tells what to expect.
SELECTIONS = [
    f
    for f in (getattr(dp.selection, n) for n in dp.selection.__all__)
    if "budget" in inspect.signature(f).parameters
]
EXPECTATIONS = [dp.selection.probabilities, dp.selection.expected_error, dp.selection.utility_bound]
ESTIMATES = [dp.response.estimate_binary, dp.response.estimate_kary, dp.response.estimate_unary]
#: Found by their signatures, so that none is left out.
RELEASES = [function for name, function in public() if name not in NO_RELEASES]
RELEASES += [dp.selection.best_of]
#: Where a mechanism was published.
PUBLISHED = r"\b(STOC|FOCS|ICML|TCC|NeurIPS|ALT|PODS)\s20\d\d"


@pytest.mark.parametrize("function", RELEASES, ids=lambda f: f.__name__)
def test_a_release_states_its_privacy(function):
    text = inspect.getdoc(function)
    for section in ("Privacy\n", "Parameters\n", "Returns\n", "Raises\n", "Notes\n", "Examples\n"):
        assert section in text
    assert "Cost:" in text and re.search("neighbou?r", text, re.I)
    assert re.search(PUBLISHED, text), "the theorem's source"
    for name in inspect.signature(function).parameters:
        assert name in text


LEARNERS = [dp.sulq.NoisySums, dp.learn.KMeans, dp.learn.PCA]
LEARNERS += [dp.learn.Perceptron, dp.learn.LinearRegression]
LEARNERS += [dp.sulq.StatisticalQueryOracle]
LEARNERS += [dp.learn.ID3Classifier, dp.learn.NaiveBayes, dp.learn.LogisticRegression]
LEARNERS += [dp.learn.AdditiveBoostingClassifier, dp.learn.RandomForestClassifier]
LEARNERS += [dp.learn.StandardScaler]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda c: c.__name__)
def test_what_learns_from_sums_states_its_privacy(learner):
    text = inspect.getdoc(learner)
    for section in ("Privacy", "Parameters", "Attributes", "Raises", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in text, section
    assert "Cost:" in text and re.search("Neighbou?rs are", text) and re.search(PUBLISHED, text)
    for name in inspect.signature(learner).parameters:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* ?(:|$)", text, re.M), name


VERBS = [dp.sensitivity.global_, dp.sensitivity.local, dp.sensitivity.smooth]


@pytest.mark.parametrize(
    "function",
    [
        *VERBS,
        dp.order.window,
        dp.selection.probabilities,
        dp.selection.expected_error,
        dp.sulq.ExactOracle,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_not_private_says_so_first(function):
    assert inspect.getdoc(function).startswith("NOT PRIVATE")


PUBLIC = (
    [getattr(dp.noise, n) for n in dp.noise.__all__ if not n.startswith("draw")]
    + VERBS
    + [*EXPECTATIONS, *RELEASES, *ESTIMATES]
    + [dp.order.window, dp.scan, dp.stream, dp.spark, dp.threads, dp.suggest_blocks, dp.smooth_beta]
    + [dp.consistent]
    + [f for f in map(vars(dp.audit).get, dp.audit.__all__) if inspect.isfunction(f)]
    + [dp.job.run, dp.job.explain, dp.job.report]
    + [f for f in map(vars(dp.privacy).get, dp.privacy.__all__) if inspect.isfunction(f)]
    + [dp.sulq.implication_strength, dp.sulq.implication_test, dp.sulq.serve]
    + [dp.sulq.oracle_cost, dp.sulq.conjunction_needs, dp.sulq.halfspace_needs]
    + [dp.sulq.learn_conjunction, dp.sulq.learn_halfspace]
)


def test_every_selection_is_held_to_these_rules():
    assert len(SELECTIONS) == 5
    assert {f.__name__ for f in SELECTIONS + EXPECTATIONS} == set(dp.selection.__all__)


@pytest.mark.parametrize("function", PUBLIC, ids=lambda f: f.__name__)
def test_a_docstring_has_every_section_and_every_argument(function):
    text = inspect.getdoc(function)
    for section in ("Parameters", "Returns", "Raises", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in text, section
    for name in inspect.signature(function).parameters:
        assert re.search(rf"^(\*?\w+, )*\*{{0,2}}{name}(, \w+)* ?(:|$)", text, re.M), name


ESTIMATORS = [getattr(dp.estimators, n) for n in dp.estimators.__all__]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda c: c.__name__)
def test_an_estimator_says_what_it_is_and_what_it_takes(estimator):
    text = inspect.getdoc(estimator)
    assert "NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`" in text
    parameters = inspect.signature(estimator).parameters
    for section in ("Notes", "Examples", *(["Parameters", "Raises"] if parameters else [])):
        assert f"{section}\n{'-' * len(section)}\n" in text, section
    for name in parameters:
        assert re.search(rf"^{name} :", text, re.M), name
    assert ">>>" in text and "sample_and_aggregate(" in text.split("Examples\n")[1]


def test_estimators_and_aggregators_are_known_by_the_names_that_are_documented():
    from dpfast.aggregate.aggregators import AGGREGATORS
    from dpfast.aggregate.estimators import _NAMES, resolve

    text = inspect.getdoc(dp.sample_and_aggregate)
    for name in sorted(set(_NAMES) - {"quantile"}):  # which is nothing without its number
        assert f'"{name}"' in text
        own = " ".join(inspect.getdoc(type(resolve(name))).split())
        assert f'under the name "{name}"' in own
    for name in AGGREGATORS:
        assert f'"{name}"' in text


def test_every_noise_law_is_named_where_it_is_chosen():
    from dpfast.noise.smooth import NOISES

    for name in NOISES:
        assert f'"{name}"' in inspect.getdoc(dp.quantile)


STREAMS = [
    dp.online.AboveThreshold,
    dp.online.MedianMechanism,
    dp.online.MWEM,
    dp.online.PrivateMultiplicativeWeights,
    dp.online.RunningCount,
    dp.online.SparseVector,
]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda c: c.__name__)
def test_a_stream_states_its_privacy_and_every_argument(stream):
    text = inspect.getdoc(stream)
    for section in ("Privacy", "Parameters", "Raises", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in text, section
    assert "Cost:" in text and re.search("neighbou?r", text, re.I) and re.search(PUBLISHED, text)
    for name in inspect.signature(stream).parameters:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* ?(:|$)", text, re.M), name


def test_every_stream_is_held_to_these_rules():
    classes = {getattr(dp.online, n) for n in dp.online.__all__}
    told = {dp.online.Answer, dp.online.Finding, dp.online.Findings, dp.online.Total}
    assert classes - told == {*STREAMS}
