"""`Release`: what came of a measurement, with all that is public about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from .._core.error_bars import CONFIDENCE, Expected
from ..budget.ledger.text import exact, parts_of, plain
from ..budget.mechanism import Mechanism

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, slots=True)
class Release(Generic[Value]):
    """The answer of a measurement, and everything public about it, by `Measurement.release`.

    Attributes
    ----------
    value : float or ndarray, or what else the statistic answers with
    measurement : Measurement
        What was asked: its loss, its unit and its parameters.
    rows : int or None
        How many rows there are, where that is public.
    entry : int or None
        The number of the ledger's entry; None without a budget.
    time : str
        When it was released, in UTC (ISO 8601).
    engine : str
        What read the rows: "memory", "files", "dask", "spark", or the kind of a database.

    Examples
    --------
    >>> import dpfast as dp
    >>> count = dp.Count().measure(epsilon=1).release([23, 35, 41])
    >>> abs(float(count) - 3) < 40, count.error().half_width, count.measurement.loss
    (True, 3.0, Pure(epsilon=1))
    >>> sorted(count.to_dict())
    ['engine', 'entry', 'error', 'loss', 'neighbors', 'parameters', 'rows', 'time', 'value', 'what']
    """

    value: Value
    measurement: Mechanism[Value]
    rows: int | None
    entry: int | None
    time: str
    engine: str

    def error(self, rows: int | None = None, confidence: float = CONFIDENCE) -> Expected:
        """Return the error bar of the answer.

        Parameters
        ----------
        rows : int, optional
            For how many rows; by default as many as there are, where that is public.
        confidence : float, default 0.95

        Returns
        -------
        Expected
            As `dpfast.expected_error` has it.

        Examples
        --------
        >>> import dpfast as dp
        >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
        >>> round(mean.release([23, 35, 41] * 400).error(1000).half_width, 2)
        0.37
        """
        return self.measurement.error(self.rows if rows is None else rows, confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in the types of JSON.

        Returns
        -------
        dict
            Amounts of the loss are exact ratios, as text.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.Count().measure(epsilon=0.5).release([1, 2]).to_dict()["loss"]
        {'kind': 'Pure', 'epsilon': '1/2'}
        """
        measurement = self.measurement
        return {
            "what": measurement.name,
            "value": plain(self.value),
            "parameters": {name: str(one) for name, one in measurement.parameters.items()},
            "neighbors": measurement.neighbors,
            "loss": parts_of(measurement.loss, exact),
            "error": plain_bar(self.error()),
            "rows": self.rows,
            "entry": self.entry,
            "time": self.time,
            "engine": self.engine,
        }

    def __float__(self) -> float:
        return float(self.value)  # type: ignore[arg-type]  # a number, or Python says that it is none

    def __repr__(self) -> str:
        bar = self.error().half_width
        within = f" ± {bar:.3g} ({CONFIDENCE:.0%})" if isinstance(bar, float) else ""
        return f"Release({self.measurement.name}: {self.value}{within}; {self.measurement.loss})"


def plain_bar(bar: Expected) -> dict[str, Any]:
    """Return an error bar in the types of JSON."""
    return {name: None if one is None else plain(one) for name, one in asdict(bar).items()}
