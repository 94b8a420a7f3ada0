"""Private scaling: noisy means and variances of all columns, from one round.

*Sensitivity.* Let t be a number, measured from the middle of its bounds in units of half of their
width: from -1 to 1. The number of rows is released, and for each column the sums of t and of 1 -
t^2, all with noise of one scale. An added or removed row changes the count by 1. It changes the
sums of a column by t^2 + (1 - t^2)^2 <= 1 in squared L2 norm, and by |t| + 1 - t^2 <= 5 / 4 in L1
norm. For all d columns this is d and 5 d / 4. A replaced row changes no count. It changes a column
by (t - t')^2 (1 + (t + t')^2) <= 4 in squared L2 norm, and by twice 5 / 4 in L1 norm
(`class_sums`). The sum of t changes by at most 1, or by at most 2 if the row is replaced. The sum
of 1 - t^2 changes by at most 1.

*Rounding.* The number 1 is the integer `REACH` here. 1 - t^2 is rounded down, so a difference of
two such numbers is larger by less than one unit. So instead of 4 the bound is 4 times the square of
1 plus one unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Auto, BoundsEach, NanPolicy
from ..privacy import Loss
from ..sulq.parts import Part
from ..sulq.rounds import Rounds
from .columns import Floats, columns_of
from .design import REACH, ROWS, Design
from .estimator import Training, as_fitted
from .rows import Rows
from .transformer import Invertible

#: The least variance, in units of the squared half width of the bounds.
LEAST = 2.0**-40


@dataclass(eq=False, repr=False, kw_only=True)
class StandardScaler(Invertible):
    """Scale columns to mean 0 and standard deviation 1, from one noisy release of moments.

    Privacy
    -------
    Neighbors are datasets that differ in one row: added or removed, or replaced (`neighbors`). One
    round of noisy sums (Blum, Dwork, McSherry and Nissim, PODS 2005) has the number of rows, and
    the sum and the sum of squares of each column. The noise is for their joint sensitivity
    (``dpfast/learn/standard_scaler.py`` has the proof). The round satisfies the requested loss, and
    all attributes are computed from it.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column
        Public limits of the values, as in `KMeans`.
    with_mean, with_std : bool, default True
        Whether to subtract the mean, and whether to divide by the standard deviation.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN is treated: "raise" is an error after the spend, "lower" and "upper" replace NaN by
        that bound, a number replaces NaN by that number, and "drop" leaves out the whole row.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    mean_, var_ : float64 array of shape (d,)
        The mean and the variance (divided by n) of each column, with noise. The means are within
        the bounds.
    scale_ : float64 array of shape (d,)
        The standard deviation of each column, or 1 for a column whose bounds are equal.
    n_rows_ : float
        The number of rows. It has noise if it is private.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data. A variance is at least the standard deviation of its noise, and at
    most the square of half the width of the bounds.

    The noise grows with the number of columns, or with a delta or a rho with the square root of
    this number. Learners of dpfast need no scaling, because their bounds scale the columns.

    Examples
    --------
    Two columns with the means 3 and 0:

    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.linspace(0, 6, 20_001), np.linspace(-10, 10, 20_001)], axis=1)
    >>> scaler = dp.learn.StandardScaler(bounds=[(0, 10), (-10, 10)], rho=0.5).fit(x)
    >>> scaler.mean_.round(1) + 0.0
    array([3., 0.])
    >>> scaler.transform([[3.0, 0.0]]).round(1) + 0.0
    array([[0., 0.]])
    >>> (scaler.inverse_transform([[0.0, 0.0]])[0] - scaler.mean_).round(9) + 0.0
    array([0., 0.])
    >>> scaler.get_feature_names_out()
    array(['x0', 'x1'], dtype=object)
    """

    _estimator_type, _name = "transformer", "scaling"

    bounds: BoundsEach | Auto = field()
    with_mean: bool = True
    with_std: bool = True
    nan: NanPolicy = "raise"

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        checks.flag("with_mean", self.with_mean)
        checks.flag("with_std", self.with_std)
        missing_rule = checks.nan_policy(self.nan, relation)
        design = Design(columns_of(self._bounds, None).for_width(rows.width), missing_rule)
        parts = _parts(rows.width, relation)

        def learn(rounds: Rounds) -> None:
            deviation = rounds.deviations(parts[-1])[-1] / REACH
            noisy = rounds.ask(lambda rows: _totals(rows, design, missing_rule), parts)
            self._learn(np.array(noisy, np.float64) / REACH, design, deviation)

        return Training(1, parts, learn)

    def _learn(self, noisy: Floats, design: Design, deviation: float) -> None:
        """Set all learned attributes from released numbers."""
        self.n_rows_ = float(noisy[0])
        rows = max(self.n_rows_, 1.0)
        sums, squares_left = np.split(noisy[1:] / rows, 2)
        live = design.scale > 0
        half = 1.0 / np.where(live, design.scale, 1.0)
        mean = np.where(live, np.clip(sums, -1.0, 1.0), 0.0)
        least = min(max(deviation / rows, LEAST), 1.0)
        spread = np.where(live, np.clip(1.0 - squares_left - mean**2, least, 1.0), 0.0)
        self.mean_ = design.middle + mean * half
        self.var_ = spread * half**2
        self.scale_ = np.where(live, np.sqrt(spread) * half, 1.0)

    def _transformed(self) -> tuple[int, Callable[[Floats], Floats]]:
        mean, scale = self._used()
        return len(mean), lambda rows: (rows - mean) / scale

    def _inverted(self) -> tuple[int, Callable[[Floats], Floats]]:
        mean, scale = self._used()
        return len(mean), lambda scaled: scaled * scale + mean

    @as_fitted
    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the columns, or x0, x1 and so on for columns without names.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns that the scaler learned from. If these columns had names, the
            argument is only compared with them.

        Returns
        -------
        array of str
            The names.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the names differ from the names of the columns that the scaler learned from.
        """
        super().get_feature_names_out(input_features)
        names = vars(self).get("feature_names_in_", input_features)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.array(list(names), object)

    def _used(self) -> tuple[Floats, Floats]:
        """Return the numbers to subtract and to divide by, for `with_mean` and `with_std`."""
        mean = self.mean_ if self.with_mean else np.zeros_like(self.mean_)
        return mean, self.scale_ if self.with_std else np.ones_like(self.scale_)


def _parts(width: int, relation: str) -> list[Part]:
    """Return the parts of the round: the number of rows, then sums of z and 1 - z^2."""
    size = 2 * width
    if relation == "replace":
        l1, l2_squared = 5 * width * REACH // 2, 4 * width * (REACH + 1) ** 2
        sizes = (2 * REACH,) * width + (REACH,) * width
        return [Part(1, 0, 0, 1), Part(size, l1, l2_squared, size, sizes=sizes)]
    l1, l2_squared = REACH + 5 * width * REACH // 4, (1 + width) * REACH**2
    return [Part(1 + size, l1, l2_squared, 1 + size, sizes=(REACH,) * (1 + size))]


def _totals(rows: Rows, design: Design, missing_rule: str | float) -> list[int]:
    """Return the exact integer sums of rows in the order of the parts."""

    def add(x: Floats, _: Any, sums: NDArray[np.int64]) -> int:
        vectors = design.vectors(x)
        absent = vectors.absent
        numbers = np.hstack([vectors.numbers, vectors.less_squares])
        if missing_rule in ("raise", "drop"):
            numbers = numbers[~absent]
        sums[0] += REACH * len(numbers)
        sums[1:] += numbers.sum(axis=0).astype(np.int64)
        return int(np.count_nonzero(absent))

    return rows.sums(1 + 2 * rows.width, add, missing_rule, ROWS)
