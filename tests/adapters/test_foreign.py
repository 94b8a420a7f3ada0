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
ONE, GAUSSIAN = {"what": Pure(1)}, dp_accounting.GaussianDpEvent(1.0)
CALLS = {
    "from_dp_event": (events, {"event": GAUSSIAN, "neighbors": "replace"}),
    "to_dp_event": (events, ONE),
    "total": (events, {**ONE, "delta": 0.01, "neighbors": "replace"}),
    "measure": (mbi, {"counts": [1], "loss": Pure(1), **MBI}),
    "measure_all": (mbi, {"marginals": [[1]], "loss": Pure(1)}),
    "deviation": (mbi, {"loss": Pure(1), "neighbors": "replace", "marginals": 2}),
    "exponential_mechanism": (mbi, {**QUALITIES, "monotonic": False, **MBI}),
    "exponential_mechanism of names": (
        lambda base_measure: mbi.exponential_mechanism({"a": 1.0}, 1, base_measure=base_measure),
        {"base_measure": {"a": 1.0}},
    ),
    "array_domain": (ours, {"dtype": "float64"}),
    "from_opendp": (
        ours,
        {"measurement": COUNT >> theirs.m.then_laplace(1.0), "d_in": 1, "neighbors": None},
    ),
    "make_laplace": (
        ours, {**FLOAT_VECTOR, "input_metric": theirs.l1_distance(T=float), "scale": 1}
    ),
    "make_top_k": (ours, {**SCORES, "output_measure": theirs.max_divergence(), "k": 1, "scale": 1}),
    "make_release": (ours, {**ROWS, "function": dp.count, **LOSS}),
    "make_median": (ours, {**ROWS, "bounds": (0, 1), "nan": "raise", **LOSS}),
    "make_quantiles": (ours, {**ROWS, "qs": [0.5], "bounds": (0, 1), **LOSS}),
    "make_histogram": (ours, {**ROWS, "bins": 2, "bounds": (0, 1), "delta": 0, **LOSS}),
    "make_kmeans": (ours, {**ROWS, "input_domain": TWO, "n_clusters": 2, "bounds": (0, 1), **LOSS}),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_foreign_values_are_one_clear_error(name):
    module, given = CALLS[name]
    function = getattr(module, name, module)
    assert unclear(function, given) is None
    for parameter in given:
        for value, make in VALUES.items():
            what = unclear(function, {**given, parameter: make()})
            assert what is None, (parameter, value, what)


def test_a_foreign_error_is_caught():
    """Planted: a function that takes whatever it is given."""
    assert unclear(np.sqrt, {"x": "x"}) is not None
    assert unclear(lambda x: x + 1, {"x": None}).startswith("is TypeError")
