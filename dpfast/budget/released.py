"""`Release`: an answer with its error bar, and the record of all that is public about it."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Generic, TypeVar

import numpy as np

from .._core import checks, html
from .._core.error_bars import CONFIDENCE, ErrorBar
from ..privacy import Loss
from .record import Record, described

Value = TypeVar("Value", covariant=True)

#: Statistics whose answers always lie within the bounds.
BOUNDED = ("mean", "quantile", "minimum", "maximum", "trimmed mean", "winsorized mean")
#: An error bar is shown with one digit if rounding up to this digit adds at most this fraction.
LOOSE = 0.1
#: The largest number of entries of an array that are shown, each with its error bar.
MANY = 100


@dataclass(frozen=True, slots=True)
class Release(Generic[Value]):
    """An answer with its error bar, and all public facts about it.

    `Measurement.release`, `dpfast.session` and `Prepared.release` return one.

    Attributes
    ----------
    value : float, ndarray or another type of answer
    bar : ErrorBar
        A bound on the error of the value, in its units. If the error is known only as a number of
        rows, the bound is in `ranks`. `note` states the assumptions. If public numbers are not
        enough, the bound is computed from noisy numbers, which is post-processing.
    record : Record
        Public facts about the statistic, the data, the privacy unit, the loss and the noise.
    entry : int or None
        The number of the entry in the ledger; None without a budget.
    time : str
        The time of the spend, before rows were read, in UTC (ISO 8601).
    ends : tuple or None
        For quantiles: two private quantiles around the value, which a part of the loss has paid
        for.

    Examples
    --------
    >>> import dpfast as dp
    >>> count = dp.Count().measure(epsilon=1).release([23, 35, 41])
    >>> abs(float(count) - 3) < 40, count.bar.half_width, count.loss
    (True, 3.0, Pure(epsilon=1))
    >>> sorted(count.to_dict())[:5]
    ['data', 'entry', 'error', 'is_noise', 'loss']
    """

    value: Value
    bar: ErrorBar
    record: Record
    entry: int | None
    time: str
    ends: tuple[Any, Any] | None = None

    @property
    def loss(self) -> Loss:
        """The loss that was spent, under the neighboring relation of the record."""
        return self.record.loss

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters of the statistic and the unit, by name."""
        return self.record.parameters

    @property
    def low(self) -> Any:
        """The lower end of the error bar, in the units of the value; None if it is not known."""
        return self._end(0, -1)

    @property
    def high(self) -> Any:
        """The upper end of the error bar, in the units of the value; None if it is not known."""
        return self._end(1, 1)

    @property
    def is_noise(self) -> Any:
        """Whether the answer may be only noise. For several numbers it is an array.

        A mean, quantile, minimum or maximum counts as noise if its half-width is at least half of
        the width of the bounds, because the middle of the bounds is as accurate without any data.
        Any other number counts as noise if 0 is within its error bar. Without an error bar the
        result is False. It is computed from the answer (post-processing), so it costs nothing.

        Examples
        --------
        >>> import dpfast as dp
        >>> count = dp.Count().measure(epsilon=1)
        >>> count.release([23, 35, 41] * 100).is_noise, count.release([]).error().half_width
        (False, 3.0)
        """
        if self.bar.half_width is None or isinstance(self.value, Mapping):
            return False
        value = np.asarray(self.value[0] if isinstance(self.value, tuple) else self.value)
        bounds, width = np.asarray(self.parameters.get("bounds", 0)), self.bar.half_width
        is_within = self.record.mechanism.name.startswith(BOUNDED)
        if {value.dtype.kind, bounds.dtype.kind if is_within else "i"} - {*"iuf"}:
            return False
        reach = np.ptp(bounds, -1) / 2 if is_within else np.abs(value)
        is_noise = (np.asarray(width) >= reach) & (np.asarray(width) > 0)
        return is_noise if np.ndim(is_noise) else bool(is_noise)

    def _end(self, index: int, sign: int) -> Any:
        if self.ends is not None:
            return self.ends[index]
        if self.bar.half_width is None or isinstance(self.value, Mapping):
            return None
        # A histogram is a tuple with its edges.
        counts = self.value[0] if isinstance(self.value, tuple) else self.value
        width, middle = np.asarray(self.bar.half_width), np.asarray(counts)
        if middle.dtype == object:  # times with a time zone are Python objects
            width = width.astype("m8[us]").astype(object)
        end = np.asarray(middle + sign * width)
        if end.ndim:
            return end
        return float(end) if end.dtype.kind in "fiu" else end[()]

    def error(self, rows: int | None = None, confidence: float = CONFIDENCE) -> ErrorBar:
        """Return the error bar, computed from public numbers alone.

        Parameters
        ----------
        rows : int, optional
            The number of rows; by default the actual number if it is public, and otherwise unknown.
        confidence : float, default 0.95

        Returns
        -------
        ErrorBar
            As for `dpfast.expected_error`.

        Examples
        --------
        >>> import dpfast as dp
        >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
        >>> round(mean.release([23, 35, 41] * 400).error(1000).half_width, 2)
        0.37
        """
        mechanism = self.record.mechanism
        public_rows = self.record.source["rows"] if rows is None else max(1, rows)
        return mechanism.error(public_rows, confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the record with the answer, in the types of JSON.

        Returns
        -------
        dict
            A dict in the format of the schema ``docs/schema/release.json``. Amounts of the loss are
            exact ratios, as text.

        Examples
        --------
        >>> import dpfast as dp
        >>> release = dp.Count().measure(epsilon=0.5).release([1, 2]).to_dict()
        >>> release["schema"], release["loss"], release["unit"]
        (1, {'kind': 'Pure', 'epsilon': '1/2'}, {'neighbors': 'add-remove', 'ids': None})
        """
        return {
            **self.record.to_dict(),
            "value": answer_of(self.value),
            "error": described({**asdict(self.bar), "low": self.low, "high": self.high}),
            "is_noise": described(self.is_noise),
            "entry": self.entry,
            "time": self.time,
        }

    def __float__(self) -> float:
        return float(self.value)  # type: ignore[arg-type]  # a number, or Python says that it is none

    def __repr__(self) -> str:
        confidence = f"({self.bar.confidence * 100:.4g} %)"
        confidence += ", noise" if self.is_noise is True else ""
        # The parts of the error that the bar does not cover.
        _, _, unknown = self.bar.note.partition("; ")
        confidence += f"; {unknown}" if unknown else ""
        value, width = self.value, self.bar.half_width
        if self.ends is not None:
            return f"{_texts(value, _between, *self.ends)} {confidence}"
        if isinstance(value, Mapping):  # a table shows its error bars in columns
            return repr(value)
        if width is None:
            why = f"no error bar: {self.bar.note}" if self.bar.ranks is None else self.bar
            return f"{_short(value)} ({why})"
        is_time = isinstance(value, np.timedelta64)  # NumPy registers it as a number
        if isinstance(value, numbers.Real) and isinstance(width, numbers.Real) and not is_time:
            return f"{bar_text(float(value), float(width))} {confidence}"
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.ndim == 1:
            return f"{_texts(value, bar_text, width)} {confidence}"
        bars = width if isinstance(width, (float, np.generic)) else np.asarray(width)
        return f"{_short(value)} ± {bars} {confidence}"

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the answer, and its record folded."""
        about = {name: item for name, item in self.record.to_dict().items() if item}
        shown = checks.attribute(self.value, "_repr_html_")
        answer = f"<p><b>{escape(repr(self))}</b></p>" if shown is None else shown()
        record = html.facts(self.record.mechanism.name, about)
        return f"{answer}<details><summary>record</summary>{record}</details>"


def answer_of(value: Any) -> Any:
    """Return an answer in the types of JSON, by its `to_dict` method if it has one."""
    to_dict = checks.attribute(value, "to_dict")
    return described(value if to_dict is None else to_dict())


def bar_text(value: float, half_width: float) -> str:
    """Return a number with its error bar as text, with no more digits than the bar allows.

    The bar is rounded up to one digit if that adds at most a tenth to it, and otherwise to two
    digits.
    """
    if not 0 < half_width < 1e15:  # a larger float64 does not have all digits
        return f"{value:.6g} ± {half_width:g}"
    decimals = -math.floor(math.log10(half_width))
    while True:
        unit = 10.0**-decimals
        bar = math.ceil(half_width / unit * (1 - 1e-12)) * unit
        if bar <= half_width * (1 + LOOSE):
            break
        decimals += 1
    shown = max(0, decimals)
    return f"{round(value, decimals):,.{shown}f} ± {bar:,.{shown}f}"


def _texts(value: Any, shown: Callable[..., str], *bars: Any) -> str:
    """Return a number, or each of the first `MANY` entries of an array, as text with its bar."""
    if not isinstance(value, np.ndarray):
        return shown(value, *bars)
    numbers = zip(*(array.ravel() for array in np.broadcast_arrays(value, *bars)), strict=True)
    texts = [shown(*number) for number in itertools.islice(numbers, MANY)]
    return f"[{'; '.join(texts)}{'; ...' if value.size > MANY else ''}]"


def _between(value: Any, low: Any, high: Any) -> str:
    return f"{_short(value)}, {_short(low)} to {_short(high)}"


def _short(value: Any) -> str:
    """Return a number with six digits, and any other answer as its repr."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return str(value) if isinstance(value, (int, np.generic, dt.date)) else repr(value)
