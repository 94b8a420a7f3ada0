"""`installed`: a ``with`` block in which OpenDP draws its noise by dpfast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from dpfast.extend import checks

from .measurements import ANSWER, make_gaussian, make_geometric, make_laplace, make_top_k
from .spaces import atoms_of, theirs


@contextmanager
def installed() -> Iterator[None]:
    """Let OpenDP draw additive noise, noisy maximum and noisy top-k by dpfast in a ``with`` block.

    Inside the block, functions of this adapter replace `make_laplace`, `make_gaussian`,
    `make_geometric`, `make_noisy_max` and `make_noisy_top_k` of OpenDP, their ``then_`` variants,
    and their names in the Context. OpenDP's functions are restored at the end. A measurement that
    was made inside keeps working outside. As in OpenDP, it answers in the type of its domain: a
    list for a vector, and integers clamped to the range of their type. Options that dpfast does not
    support are refused: a granularity `k`, `bounds`, `negate`, and another measure.

    Privacy
    -------
    As `make_laplace`, `make_gaussian`, `make_geometric` and `make_top_k` of this adapter (Durfee
    and Rogers, NeurIPS 2019, for the top k). OpenDP's accountant pays.

    Yields
    ------
    None

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import installed
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.symmetric_distance()
    >>> with installed():
    ...     count = space >> theirs.t.then_count() >> theirs.m.then_laplace(scale=4.0)
    >>> count.map(1), isinstance(count([1, 2, 3]), int)
    (0.25, True)
    """
    with ExitStack() as stack:
        for make in (laplace, gaussian, geometric, noisy_max, noisy_top_k):
            stack.enter_context(patch.object(theirs.m, f"make_{make.__name__}", make))
        yield


def laplace(
    input_domain: Any, input_metric: Any, scale: Any, k: Any = None, MO: Any = "MaxDivergence"
) -> Any:
    _left(k=k)
    checks.choice("MO", str(MO), ("MaxDivergence",))
    return _typed(make_laplace(input_domain, input_metric, scale))


def gaussian(
    input_domain: Any,
    input_metric: Any,
    scale: Any,
    k: Any = None,
    MO: Any = "ZeroConcentratedDivergence",
) -> Any:
    _left(k=k)
    checks.choice("MO", str(MO), ("ZeroConcentratedDivergence",))
    return _typed(make_gaussian(input_domain, input_metric, scale))


def geometric(
    input_domain: Any, input_metric: Any, scale: Any, bounds: Any = None, MO: Any = "MaxDivergence"
) -> Any:
    _left(bounds=bounds)
    checks.choice("MO", str(MO), ("MaxDivergence",))
    return _typed(make_geometric(input_domain, input_metric, scale))


def noisy_max(
    input_domain: Any, input_metric: Any, output_measure: Any, scale: Any, negate: bool = False
) -> Any:
    top = noisy_top_k(input_domain, input_metric, output_measure, 1, scale, negate)
    return top >> theirs.new_function(lambda drawn: drawn[0], TO="usize")


def noisy_top_k(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any,
    k: Any,
    scale: Any,
    negate: bool = False,
) -> Any:
    _left(negate=negate)
    return make_top_k(input_domain, input_metric, output_measure, k, scale)


def _typed(noisy: Any) -> Any:
    """Return a measurement whose answers are converted to the carrier type of its input domain."""
    domain = noisy.input_domain
    dtype, carrier = atoms_of(domain)[0].dtype, str(domain.carrier_type)

    def answer(numbers: Any) -> Any:
        if dtype.kind != "f":
            ends = np.iinfo(dtype)
            numbers = np.clip(numbers, ends.min, min(ends.max, np.iinfo(np.int64).max))
        return np.asarray(numbers).tolist()

    return noisy if carrier == ANSWER else noisy >> theirs.new_function(answer, TO=carrier)


def _left(**options: Any) -> None:
    """Refuse options of OpenDP that dpfast does not support."""
    for name, value in options.items():
        if value not in (None, False):
            checks.fail(name, "left out, because dpfast does not support it", value)
