"""Whatever is passed to whatever argument of an adapter: an answer, or one error of dpfast."""

import dp_accounting
import numpy as np
import opendp.prelude as theirs
import pytest

import dpfast as dp
from dpfast.adapters import dp_accounting as events
from dpfast.adapters import mbi
from dpfast.adapters import opendp as ours
from dpfast.privacy import Pure

from ..support.surface import VALUES, unclear

theirs.enable_features("contrib", "honest-but-curious")
FLOATS = theirs.vector_domain(theirs.atom_domain(T=float, nan=False))
ROWS = {"input_domain": FLOATS, "input_metric": theirs.symmetric_distance()}
TWO = theirs.numpy.array2_domain(num_columns=2, nan=False, T=float)
LOSS = {"epsilon": 1, "rho": None}
COUNT = (FLOATS, theirs.symmetric_distance()) >> theirs.t.then_count()
FLOAT_VECTOR = {"input_domain": FLOATS}
SCORES = {**FLOAT_VECTOR, "input_metric": theirs.linf_distance(T=float)}
MBI = {"neighbors": "replace", "budget": None, "rng": None}
QUALITIES = {"qualities": [1.0], "epsilon": 1, "sensitivity": 1, "base_measure": None}
CALLS = {
    "from_dp_event": (
        events.from_dp_event,
        {"event": dp_accounting.GaussianDpEvent(1.0), "neighbors": "replace"},
    ),
    "to_dp_event": (events.to_dp_event, {"what": Pure(1)}),
    "total": (events.total, {"what": Pure(1), "delta": 0.01, "neighbors": "replace"}),
    "measure": (mbi.measure, {"counts": [1], "loss": Pure(1), **MBI}),
    "measure_all": (mbi.measure_all, {"marginals": [[1]], "loss": Pure(1)}),
    "deviation": (mbi.deviation, {"loss": Pure(1), "neighbors": "replace", "marginals": 2}),
    "exponential_mechanism": (
        mbi.exponential_mechanism, {**QUALITIES, "monotonic": False, **MBI}
    ),
    "exponential_mechanism of names": (
        lambda base_measure: mbi.exponential_mechanism({"a": 1.0}, 1, base_measure=base_measure),
        {"base_measure": {"a": 1.0}},
    ),
    "array_domain": (ours.array_domain, {"dtype": "float64"}),
    "from_opendp": (
        ours.from_opendp,
        {"measurement": COUNT >> theirs.m.then_laplace(1.0), "d_in": 1, "neighbors": None},
    ),
    "make_laplace": (
        ours.make_laplace,
        {**FLOAT_VECTOR, "input_metric": theirs.l1_distance(T=float), "scale": 1},
    ),
    "make_top_k": (
        ours.make_top_k,
        {**SCORES, "output_measure": theirs.max_divergence(), "k": 1, "scale": 1},
    ),
    "make_release": (ours.make_release, {**ROWS, "function": dp.count, **LOSS}),
    "make_median": (ours.make_median, {**ROWS, "bounds": (0, 1), "nan": "raise", **LOSS}),
    "make_quantiles": (ours.make_quantiles, {**ROWS, "qs": [0.5], "bounds": (0, 1), **LOSS}),
    "make_histogram": (
        ours.make_histogram, {**ROWS, "bins": 2, "bounds": (0, 1), "delta": 0, **LOSS}
    ),
    "make_kmeans": (
        ours.make_kmeans, {**ROWS, "input_domain": TWO, "n_clusters": 2, "bounds": (0, 1), **LOSS}
    ),
}  # fmt: skip


def objections(name):
    function, given = CALLS[name]
    assert unclear(function, given) is None
    found = {
        (parameter, value): unclear(function, {**given, parameter: make()})
        for parameter in given
        for value, make in VALUES.items()
    }
    return {pair: what for pair, what in found.items() if what is not None}


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_foreign_values_are_one_clear_error(name):
    assert objections(name) == {}


def test_a_foreign_error_is_caught():
    """Planted: a function that takes whatever it is given."""
    assert unclear(np.sqrt, {"x": "x"}) is not None
    assert unclear(lambda x: x + 1, {"x": None}).startswith("is TypeError")
