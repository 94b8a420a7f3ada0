"""Measurements of OpenDP as mechanisms of dpfast: `release` pays for them, then runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dpfast as dp
from dpfast.errors import DataError
from dpfast.extend import Neighbors, checks
from dpfast.privacy import Loss
from dpfast.rng import Generator

from .spaces import RELATIONS, kind_of, loss_of_distance, mod


@dataclass(frozen=True, slots=True)
class Measured(dp.extend.Mechanism[Any], dp.extend.Preparing[Any]):
    """A measurement of OpenDP with the loss that its map promises; see `from_opendp`.

    Attributes
    ----------
    loss : Pure, Approx or ZCDP
        The loss of a call, under `neighbors`.
    neighbors : {"add-remove", "replace"}
    name : str
        The name in the ledger.

    Examples
    --------
    >>> import opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import from_opendp
    >>> theirs.enable_features("contrib")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.symmetric_distance()
    >>> from_opendp(space >> theirs.t.then_count() >> theirs.m.then_laplace(scale=4.0)).loss
    Pure(epsilon=0.25)
    """

    measurement: Any = field(repr=False, compare=False)
    loss: Loss
    neighbors: Neighbors
    name: str

    def __call__(self, data: Any, *, budget: dp.Budget | None = None) -> Any:
        """Spend the loss, then invoke the measurement.

        Parameters
        ----------
        data : object
            The argument of the measurement.
        budget : Budget, optional

        Returns
        -------
        object
            The answer of the measurement.
        """
        return self.prepare(data, budget=budget).run()

    def prepare(self, data: Any, *, budget: dp.Budget | None = None) -> dp.extend.Prepared[Any]:
        """Check the arguments of a call without spending anything; `Budget.cost` uses this.

        Parameters
        ----------
        data, budget
            The arguments of a call.

        Returns
        -------
        Prepared
        """
        return dp.extend.prepare(dp.extend.release, data, self, read=False, budget=budget)

    def reduce(self, source: Any) -> Any:
        """Return the data as they are: the measurement of OpenDP reads them in `finish`."""
        return source

    def finish(self, summary: Any, generator: Generator) -> Any:
        """Invoke the measurement of OpenDP, which draws its random bits itself."""
        try:
            return self.measurement.invoke(summary)
        except Exception as error:  # the message may show rows
            dp.extend.hide_error(error)
        raise DataError(f"{self.name}: OpenDP has no answer for these data")


def from_opendp(measurement: Any, *, d_in: Any = 1, neighbors: Neighbors | None = None) -> Measured:
    """Return a measurement of OpenDP as a mechanism that a budget of dpfast pays for.

    Privacy
    -------
    The loss is the value of the measurement's privacy map at `d_in`, without rounding. The loss
    holds if neighbors are at most `d_in` apart (Gaboardi, Hay and Vadhan, A Programming Framework
    for OpenDP, 2020). dpfast does not check the promise of OpenDP.

    Parameters
    ----------
    measurement : opendp.mod.Measurement
        A measurement of any domain. If it returns a queryable, the loss covers all queries.
    d_in : int or float, default 1
        The largest distance of neighbors in the metric of the measurement. For a metric of datasets
        this is a number of rows. For a metric of numbers it is the sensitivity of the argument,
        which you have to prove.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation. For a metric of datasets, the default is the relation of distance
        1 in this metric. For any other metric `neighbors` is required.

    Returns
    -------
    Measured
        A mechanism: ``mechanism(data, budget=budget)`` pays, then returns the answer.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `measurement` is not a measurement, dpfast has no loss for its measure, its map refuses
        `d_in`, or a replaced row changes the data by more than `d_in`.

    Examples
    --------
    >>> import dpfast as dp, opendp.prelude as theirs
    >>> from dpfast.adapters.opendp import from_opendp
    >>> theirs.enable_features("contrib")
    >>> space = theirs.vector_domain(theirs.atom_domain(T=int)), theirs.symmetric_distance()
    >>> count = from_opendp(space >> theirs.t.then_count() >> theirs.m.then_laplace(scale=4.0))
    >>> budget = dp.Budget(epsilon=1)
    >>> isinstance(count([1, 2, 3], budget=budget), int), budget.spent["epsilon"]
    (True, Fraction(1, 4))
    >>> budget.cost(count, [1, 2, 3])
    Pure(epsilon=0.25)
    """
    if not isinstance(measurement, mod.Measurement):
        checks.fail_kind("measurement", "a Measurement of OpenDP", measurement)
    metric = kind_of("metric", measurement.input_metric, "Metric")
    metric_relation = RELATIONS.get(metric)
    if metric_relation is None and neighbors is None:
        checks.fail("neighbors", f"given for a measurement of {metric}", neighbors)
    relation = metric_relation if neighbors is None else checks.neighbors(neighbors)
    assert relation is not None
    distance = checks.number("d_in", d_in)
    if metric_relation is not None:
        if metric_relation == "replace" and relation == "add-remove":
            checks.fail("neighbors", f"'replace' for a measurement of {metric}", relation)
        checks.whole("d_in", d_in, 2 if metric_relation != relation else 1)
    elif distance <= 0:
        checks.fail("d_in", "greater than 0", d_in)
    try:
        mapped = measurement.map(d_in)
    except Exception:
        mapped = None
    if mapped is None:
        checks.fail("d_in", f"a distance in {metric} that the privacy map accepts", d_in)
    kind = kind_of("measure", measurement.output_measure, "Measure")
    return Measured(measurement, loss_of_distance(kind, mapped), relation, f"opendp {metric}")
