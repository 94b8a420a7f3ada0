"""Numbers of rows lost to bounding, up to a public limit, which let error bars include the bias.

Bounding keeps min(c, m) of the c rows of a person in a group. Let L be a public limit: no person
has more rows in a group than this. Then bounding leaves out min(c, L) - min(c, m) of them, which is
between 0 and L - m. So the number of lost rows by group is a sum over people of numbers within
these bounds (`summaries.units`), and gets noise for them. Without a limit nothing can be released,
because one person may have lost any number of rows.

*Error bars.* Let S be the statistic of all rows, T that of the rows that count, T + z the answer,
and U the true number of lost rows. A lost row changes a count, also the count of a bin, by 1, and a
sum by at most b: the larger absolute bound times the largest weight. So S and T differ by at most
b U. (The fraction that a person adds to a bin is rounded down to 2**-20 of a row, and of c rows in
several bins at most c - m - (c - m) / c are lost in one bin. So this holds for c up to 2**20, and
beyond it up to such a fraction of a row of each person.) Let y be the noise of the number of lost
rows. Then the answer is farther from S than h + b max(0, U + y + w) only if |z| exceeds h, or if -y
exceeds w. The first has three quarters of the failure probability, the second one quarter. If a
person has more rows than the limit, the loss is unchanged, but such a bar may not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core.error_bars import CONFIDENCE
from ..summaries.units import clamped_counts
from ..tables.base import Feature
from ..tables.sql.store import SqlRows
from .of_column import DatabaseSums, Integers
from .sums import Counted, Sums, bars_like

#: The name of the column in the answer, and of the share of the loss.
LOST = "rows lost"
#: The failure probabilities of a statistic's noise, and of the noise of the number of rows lost.
OF_NOISE, OF_LOST = 0.75 * (1 - CONFIDENCE), 0.25 * (1 - CONFIDENCE)


@dataclass(frozen=True)
class Lost(Counted):
    """Numbers of rows lost to bounding, by group: those of people with more than `most` rows.

    Privacy: neighbors are tables that differ in all rows of a person. Each number is a sum over
    people of integers from 0 to `limit` - `most`, so integer noise for the change by one person
    satisfies the loss (Ghosh, Roughgarden and Sundararajan, STOC 2009; Canonne, Kamath and Steinke,
    NeurIPS 2020).

    Parameters
    ----------
    most, limit : int
        How many rows of a person count in a group at most, and how many a person may have there.
    """

    adds_up: ClassVar[bool] = True

    most: int = 1
    limit: int = 2

    @property
    def unit_ends(self) -> tuple[int, int]:
        return 0, self.limit - self.most

    def clamped(self, counts: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return clamped_counts(counts, self.limit, None) - clamped_counts(counts, self.most, None)

    def integers(self, rows: SqlRows) -> Integers:
        row = 0 * self.counted(rows)
        return Integers([Feature(row, 0, 1, most) for most in (self.limit, self.most)])

    def gathered(self, answer: DatabaseSums) -> Any:
        whole, kept = answer.by_group().T.astype(np.uint64)
        return (whole - kept)[:, None]

    def widen(
        self,
        answer: dict[str, Any],
        statistics: Mapping[str, Any],
        error: Callable[[Any, float], Any],
    ) -> None:
        """Widen the error bars of counts and sums, or of their totals, by rows lost to bounding.

        `error` returns the half-width of noise for a failure probability. Noise of a sum over
        groups is symmetric as well, so the proof holds for totals, too.
        """
        most = np.maximum(answer[LOST] + error(self, 2 * OF_LOST), 0.0)
        for name, statistic in statistics.items():
            # A sum over groups is not given if counts are cut at 0.
            if f"{name} error" in answer and isinstance(statistic, Sums) and statistic.lost_of_row:
                width = error(statistic, OF_NOISE) + statistic.lost_of_row * most
                answer[f"{name} error"] = bars_like(answer[f"{name} error"], width, statistic.units)
