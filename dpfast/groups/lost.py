"""Numbers of rows lost to bounding, up to a public limit, which let error bars include the bias.

Bounding keeps min(c, m) of the c rows of a person in a group. Let L be a public limit: no person
has more than L rows in a group. Then bounding loses min(c, L) - min(c, m) rows of the person, which
is a number from 0 to L - m. The number of lost rows of a group is the sum of these numbers over
people (`summaries.units`), and gets noise for one person's change. Without a limit the number
cannot be released, because one person may have lost any number of rows.

*Error bars.* Let S be the statistic of all rows, and T the statistic of the rows that count. The
answer is T + z, with noise z. Let U be the true number of lost rows. A lost row changes a count by
1 (also the count of a bin), and a sum by at most b, the larger absolute bound times the largest
weight. So S and T differ by at most b U.

This holds in bins, too, for c up to 2**20. The part that a person adds to a bin is rounded down to
2**-20 of a row, and of c rows in several bins at most c - m - (c - m) / c are lost in one bin. For
a larger c, it holds up to such a part of a row for each person.

Let y be the noise of the number of lost rows, and take h + b max(0, U + y + w) as the half-width.
The answer is farther from S than this only if |z| exceeds h, or if -y exceeds w. The first has
three quarters of the failure probability, the second has one quarter. If a person has more rows
than the limit, the loss is unchanged, but such an error bar may not hold.
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
    """Numbers of rows lost to bounding, by group; people with more than `most` rows lose some.

    Privacy: neighbors are tables that differ in all rows of one person. Each number is a sum over
    people of integers from 0 to `limit` - `most`. Integer noise for the change by one person
    satisfies the loss (Ghosh, Roughgarden and Sundararajan, STOC 2009; Canonne, Kamath and Steinke,
    NeurIPS 2020).

    Parameters
    ----------
    most, limit : int
        The largest number of rows of a person that count in a group, and that a person has there.
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

        `error` returns the half-width of noise for a failure probability. The noise of a sum over
        groups is symmetric, as the noise of a group is. So the proof holds for totals, too.
        """
        most = np.maximum(answer[LOST] + error(self, 2 * OF_LOST), 0.0)
        for name, statistic in statistics.items():
            # A sum over groups is not given if counts are cut at 0.
            if f"{name} error" in answer and isinstance(statistic, Sums) and statistic.lost_of_row:
                width = error(statistic, OF_NOISE) + statistic.lost_of_row * most
                answer[f"{name} error"] = bars_like(answer[f"{name} error"], width, statistic.units)
