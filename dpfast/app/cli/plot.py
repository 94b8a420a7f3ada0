"""A plot of the spends of a ledger over time, with its limit."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from ... import Budget
from ...errors import SourceError
from ...extend import checks, extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(budget: Budget) -> Figure:
    """Return a figure of the spends over time, a panel for each amount that the ledger limits.

    If a clock was put back, an entry is drawn at the time of the entry before it, and no earlier.
    """
    dates, figures = (extra(f"matplotlib.{name}", "a plot") for name in ("dates", "figure"))
    entries = budget.history
    times = list(accumulate((datetime.fromisoformat(entry.time) for entry in entries), max))
    limited = {name: amount for name, amount in budget.limit.items() if amount}
    end = max([datetime.now(UTC), *times[-1:]])
    picture: Figure = figures.Figure(figsize=(8, 3 * len(limited)), layout="constrained")
    panels = picture.subplots(len(limited), squeeze=False, sharex=True)[:, 0]
    for panel, (name, limit) in zip(panels, limited.items(), strict=True):
        costs = (getattr(entry.counted, name) for entry in entries)
        sums = [float(total) for total in accumulate(costs, initial=Fraction(0))]
        x = [times[0] if times else end, *times, end]
        panel.step(x, [*sums, sums[-1]], where="post", label="spent")
        panel.plot(times, sums[1:], "o", color="C0", markersize=3)
        panel.axhline(float(limit), color="0.3", linestyle="--", label="limit")
        panel.set(ylabel=name, ylim=(0, 1.08 * float(limit)))
        panel.legend(loc="lower right")
    locator = dates.AutoDateLocator(minticks=2, maxticks=6)
    panels[-1].xaxis.set_major_locator(locator)
    panels[-1].xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    panels[-1].set_xlabel("time (UTC)")
    panels[0].set_title(budget.name.replace("$", r"\$"))
    return picture


def draw(budget: Budget, path: str) -> None:
    """Write the figure of a budget's spends to a file; the name's ending gives the format."""
    checks.text("plot", path)
    picture = figure(budget)
    try:
        with warnings.catch_warnings():
            # A name may have letters that the font lacks.
            warnings.filterwarnings("ignore", "Glyph")
            picture.savefig(path)
    except ValueError:
        endings = ", ".join(sorted(picture.canvas.get_supported_filetypes()))
        checks.fail("plot", f"a name that ends in one of {endings}", path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}") from None
