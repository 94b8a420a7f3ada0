"""Domains, metrics and measures of OpenDP as dtypes, neighboring relations and losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.extend import Neighbors, checks, extra
from dpfast.privacy import ZCDP, Approx, Loss, Pure

PURPOSE = "the adapter dpfast.adapters.opendp"
theirs: Any = extra("opendp.prelude", PURPOSE)
mod: Any = extra("opendp.mod", PURPOSE)

#: The metrics between datasets, with the neighboring relation of distance 1.
RELATIONS: dict[str, Neighbors] = {
    "SymmetricDistance": "add-remove",
    "InsertDeleteDistance": "add-remove",
    "ChangeOneDistance": "replace",
    "HammingDistance": "replace",
}
#: The types of numbers in vectors, with the names of NumPy.
DTYPES = {f"{kind[0]}{size}": f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32)}
DTYPES |= {"i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64"}
_COLUMN = "dpfast column of "


@dataclass(frozen=True, slots=True)
class Numbers:
    """The data of an OpenDP domain: numbers of a dtype, in rows of a width, with NaN or without.

    Parameters
    ----------
    dtype : numpy.dtype
    width : int or None
        None for one column.
    nan : bool
    """

    dtype: np.dtype[Any]
    width: int | None
    nan: bool

    def read(self, data: Any) -> NDArray[Any]:
        """Return data from OpenDP as an array of the declared dtype."""
        return np.asarray(data, self.dtype)


def array_domain(dtype: Any = "float64") -> Any:
    """Return a domain of one-dimensional NumPy arrays without NaN, which are never copied.

    Parameters
    ----------
    dtype : str or numpy.dtype, default "float64"
        The type of the numbers in the arrays.

    Returns
    -------
    opendp.mod.Domain
        A domain for the ``make_`` functions of this adapter. Transformations of OpenDP need a
        vector domain of OpenDP instead, which copies each column to a Python list.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `dtype` is not a type of numbers.

    Notes
    -----
    OpenDP does not always check whether data are in their domain. So if a column may have NaN, pass
    the argument ``nan`` of the statistic.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import array_domain
    >>> theirs.enable_features("contrib", "honest-but-curious")
    >>> array_domain("int64")
    dpfast column of int64
    """
    rule = f"one of {', '.join(DTYPES.values())}"
    try:
        name = np.dtype(dtype).name
    except Exception:  # an object may raise any error here
        checks.fail("dtype", rule, dtype)
    checks.choice("dtype", name, tuple(DTYPES.values()))

    def member(data: Any) -> bool:
        if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype != name:
            return False
        return data.dtype.kind != "f" or not np.isnan(data).any()

    return theirs.user_domain(_COLUMN + name, member)


def numbers_of(
    domain: Any, what: str = "a vector domain, array_domain(), or array2_domain(), of numbers"
) -> Numbers:
    """Return the dtype, width and NaN of an OpenDP domain of rows of numbers."""
    if isinstance(domain, mod.VectorDomain) and isinstance(domain.element_domain, mod.AtomDomain):
        return Numbers(_dtype(domain, what), None, domain.element_domain.nan)
    if isinstance(domain, mod.ExtrinsicDomain):
        name = repr(domain)
        if name.startswith(_COLUMN):
            return Numbers(np.dtype(name.removeprefix(_COLUMN)), None, False)
        rows: Any = getattr(domain, "descriptor", None)
        if type(rows).__name__ == "NPArray2Domain" and rows.num_columns is not None:
            return Numbers(np.dtype(DTYPES.get(str(rows.T), "float64")), rows.num_columns, rows.nan)
    checks.fail_kind("input_domain", what, domain)


def atoms_of(domain: Any) -> tuple[Numbers, bool]:
    """Return the dtype of a domain of one number or of a vector, and whether it is one number."""
    rule = "an atom domain or a vector domain, of numbers without NaN"
    if isinstance(domain, mod.AtomDomain):
        numbers, is_number = Numbers(_dtype(domain, rule), None, domain.nan), True
    else:
        numbers, is_number = numbers_of(domain, rule), False
    if numbers.nan or numbers.width is not None:
        checks.fail("input_domain", rule, domain)
    return numbers, is_number


def _dtype(domain: Any, what: str) -> np.dtype[Any]:
    carrier = str(domain.carrier_type).removeprefix("Vec<").removesuffix(">")
    if carrier not in DTYPES:
        checks.fail("input_domain", what, domain)
    return np.dtype(DTYPES[carrier])


def kind_of(name: str, thing: Any, kind: str) -> str:
    """Check that a value is an OpenDP metric or measure, and return the name of its type."""
    if not isinstance(thing, getattr(mod, kind)):
        checks.fail_kind(name, f"a {kind.lower()} of OpenDP", thing)
    return str(thing.type)


def relation_of_metric(metric: Any) -> Neighbors:
    """Return the neighboring relation of datasets at distance 1 in an OpenDP metric."""
    kind = kind_of("input_metric", metric, "Metric")
    if kind not in RELATIONS:
        checks.fail("input_metric", "one of " + ", ".join(RELATIONS), kind)
    return RELATIONS[kind]


def measure_of(loss: Loss) -> Any:
    """Return the OpenDP measure for the kind of a loss."""
    if isinstance(loss, ZCDP):
        return theirs.zero_concentrated_divergence()
    pure = theirs.max_divergence()
    return theirs.approximate(pure) if isinstance(loss, Approx) else pure


def distance_of(loss: Loss, kind: str) -> Any:
    """Return a loss as a distance in an OpenDP measure, rounded up to floats."""
    if isinstance(loss, Pure) and kind == "ZeroConcentratedDivergence":
        return float(ZCDP.of_pure(loss))
    if isinstance(loss, ZCDP) or (isinstance(loss, Pure) and kind == "MaxDivergence"):
        return float(loss)
    delta = float(Pure(loss.delta)) if isinstance(loss, Approx) else 0.0
    return float(Pure(loss.epsilon)), delta


def nothing(kind: str) -> Any:
    """Return the distance 0 in an OpenDP measure."""
    return (0.0, 0.0) if kind.startswith("Approximate") else 0.0


def loss_of_distance(kind: str, distance: Any) -> Loss:
    """Return the loss of a distance from an OpenDP privacy map, exactly."""
    both = distance if isinstance(distance, tuple) else (distance, 0.0)
    if not all(isinstance(x, float) and math.isfinite(x) for x in both) or not both[0] > 0:
        checks.fail("d_in", "a distance for which the map has a finite loss above 0", distance)
    size, delta = (Fraction(x) for x in both)
    if kind == "ZeroConcentratedDivergence":
        return ZCDP(size)
    if kind in ("MaxDivergence", "Approximate<MaxDivergence>"):
        return Approx(size, delta) if delta else Pure(size)
    rule = "measured by MaxDivergence, Approximate(MaxDivergence) or ZeroConcentratedDivergence"
    checks.fail("measurement", rule, kind)
