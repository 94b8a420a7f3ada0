"""Domains, metrics and measurements of OpenDP, which is long to import."""

import numpy as np
import opendp.prelude as theirs

import dpfast as dp
from dpfast.adapters import opendp as ours
from dpfast.adapters.opendp import from_opendp

theirs.enable_features("contrib", "honest-but-curious")
FLOAT, WHOLE = theirs.atom_domain(T=float, nan=False), theirs.atom_domain(T=theirs.i64)
FLOATS, WHOLES = theirs.vector_domain(FLOAT), theirs.vector_domain(WHOLE)
SYMMETRIC, CHANGE_ONE = theirs.symmetric_distance(), theirs.change_one_distance()
COUNT = (WHOLES, SYMMETRIC) >> theirs.t.then_count() >> theirs.m.then_laplace(scale=10.0)
NUMBER = theirs.m.make_laplace(FLOAT, theirs.absolute_distance(T=float), scale=10.0)
NOISE = {
    "laplace": (FLOATS, theirs.l1_distance(T=float), 1.0),
    "laplace one": (FLOAT, theirs.absolute_distance(T=float), 0.1),
    "laplace whole": (WHOLES, theirs.l1_distance(T=theirs.i64), 3),
    "geometric": (WHOLE, theirs.absolute_distance(T=theirs.i64), 2),
    "gaussian": (FLOATS, theirs.l2_distance(T=float), 0.7),
    "gaussian whole": (WHOLE, theirs.absolute_distance(T=theirs.i64), 5),
}
ROWS = theirs.numpy.array2_domain(num_columns=2, nan=False, T=float)
NEAR = theirs.absolute_distance(T=theirs.i64)
NAN, L1 = theirs.atom_domain(T=float), theirs.l1_distance(T=float)
MEDIAN = {"bounds": (0, 1), "epsilon": 1}
RELEASE = {"function": dp.count, "epsilon": 1}
BAD = {
    "domain": (ours.make_median, (None, SYMMETRIC), MEDIAN),
    "atom": (ours.make_median, (FLOAT, SYMMETRIC), MEDIAN),
    "metric": (ours.make_median, (FLOATS, L1), MEDIAN),
    "no loss": (ours.make_median, (FLOATS, SYMMETRIC, (0, 1)), {}),
    "nan": (ours.make_median, (theirs.vector_domain(NAN), SYMMETRIC), MEDIAN),
    "function": (ours.make_release, (FLOATS, SYMMETRIC), {**RELEASE, "function": np.median}),
    "budget": (ours.make_release, (FLOATS, SYMMETRIC), {**RELEASE, "budget": None}),
    "neighbors": (ours.make_release, (FLOATS, SYMMETRIC), {**RELEASE, "neighbors": "replace"}),
    "nan of noise": (ours.make_laplace, (NAN, theirs.absolute_distance(T=float), 1.0), {}),
    "norm": (ours.make_laplace, (FLOATS, theirs.l2_distance(T=float), 1.0), {}),
    "scale whole": (ours.make_geometric, (WHOLES, theirs.l1_distance(T=theirs.i64), 1e300), {}),
    "floats": (ours.make_geometric, (FLOATS, L1, 1.0), {}),
    "measure": (
        ours.make_top_k,
        (FLOATS, theirs.linf_distance(T=float), theirs.renyi_divergence(), 1, 1.0),
        {},
    ),
    "rows": (ours.make_kmeans, (FLOATS, SYMMETRIC, 2, (0, 1)), {"epsilon": 1}),
    "part of a row": (from_opendp, (COUNT,), {"d_in": 1.5}),
    "replaced": (from_opendp, (COUNT,), {"neighbors": "replace"}),
    "unsaid": (from_opendp, (NUMBER,), {}),
    "added": (
        from_opendp,
        (ours.make_median(FLOATS, CHANGE_ONE, (0, 1), epsilon=1),),
        {"neighbors": "add-remove"},
    ),
}
LEFT = {
    "k": ("laplace", (FLOATS, L1, 1.0), {"k": -9}),
    "bounds": (
        "geometric",
        (WHOLE, theirs.absolute_distance(T=theirs.i64), 1.0),
        {"bounds": (0, 9)},
    ),
    "negate": (
        "noisy_max",
        (WHOLES, theirs.linf_distance(T=theirs.i64), theirs.max_divergence(), 1.0),
        {"negate": True},
    ),
    "MO": ("gaussian", (FLOATS, theirs.l2_distance(T=float), 1.0), {"MO": "MaxDivergence"}),
}
