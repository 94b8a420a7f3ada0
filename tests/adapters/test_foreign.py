"""Whatever is passed to whatever argument of an adapter: an answer, or one error of dpfast."""

import itertools

import numpy as np
import pytest

import dpfast as dp
from dpfast.privacy import Pure

from ..support.lazy import Lazy
from ..support.surface import VALUES, unclear

ADAPTERS = [f"dpfast.adapters.{name}" for name in ("dp_accounting", "mbi", "opendp")]


def calls():
    theirs, events, mbi, ours = map(Lazy, ("opendp.prelude", *ADAPTERS))
    theirs.enable_features("contrib", "honest-but-curious")
    floats = theirs.vector_domain(theirs.atom_domain(T=float, nan=False))
    rows = {"input_domain": floats, "input_metric": theirs.symmetric_distance()}
    two = theirs.numpy.array2_domain(num_columns=2, nan=False, T=float)
    loss = {"epsilon": 1, "rho": None}
    count = (floats, theirs.symmetric_distance()) >> theirs.t.then_count()
    float_vector = {"input_domain": floats}
    scores = {**float_vector, "input_metric": theirs.linf_distance(T=float)}
    paid = {"neighbors": "replace", "budget": None, "rng": None}
    qualities = {"qualities": [1.0], "epsilon": 1, "sensitivity": 1, "base_measure": None}
    pure, gaussian = {"what": Pure(1)}, Lazy("dp_accounting").GaussianDpEvent(1.0)
    return {
        "from_dp_event": (events, {"event": gaussian, "neighbors": "replace"}),
        "to_dp_event": (events, pure),
        "total": (events, {**pure, "delta": 0.01, "neighbors": "replace"}),
        "measure": (mbi, {"counts": [1], "loss": Pure(1), **paid}),
        "measure_all": (mbi, {"marginals": [[1]], "loss": Pure(1)}),
        "deviation": (mbi, {"loss": Pure(1), "neighbors": "replace", "marginals": 2}),
        "exponential_mechanism": (mbi, {**qualities, "monotonic": False, **paid}),
        "exponential_mechanism of names": (
            lambda base_measure: mbi.exponential_mechanism(
                {"a": 1.0}, 1, base_measure=base_measure
            ),
            {"base_measure": {"a": 1.0}},
        ),
        "array_domain": (ours, {"dtype": "float64"}),
        "from_opendp": (
            ours,
            {"measurement": count >> theirs.m.then_laplace(1.0), "d_in": 1, "neighbors": None},
        ),
        "make_laplace": (
            ours,
            {**float_vector, "input_metric": theirs.l1_distance(T=float), "scale": 1},
        ),
        "make_top_k": (
            ours,
            {**scores, "output_measure": theirs.max_divergence(), "k": 1, "scale": 1},
        ),
        "make_release": (ours, {**rows, "function": dp.count, **loss}),
        "make_median": (ours, {**rows, "bounds": (0, 1), "nan": "raise", **loss}),
        "make_quantiles": (ours, {**rows, "qs": [0.5], "bounds": (0, 1), **loss}),
        "make_histogram": (ours, {**rows, "bins": 2, "bounds": (0, 1), "delta": 0, **loss}),
        "make_kmeans": (
            ours,
            {**rows, "input_domain": two, "n_clusters": 2, "bounds": (0, 1), **loss},
        ),
    }


@pytest.mark.full
def test_foreign_values_are_one_clear_error():
    for name, (module, given) in calls().items():
        function = getattr(module, name, module)
        assert unclear(function, given) is None, name
        for parameter, (value, make) in itertools.product(given, VALUES.items()):
            what = unclear(function, {**given, parameter: make()})
            assert what is None, (name, parameter, value, what)


def test_a_foreign_error_is_caught():
    """Planted: a function that takes whatever it is given."""
    assert unclear(np.sqrt, {"x": "x"}) is not None
    assert unclear(lambda x: x + 1, {"x": None}).startswith("is TypeError")
