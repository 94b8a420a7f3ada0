"""The answer of a release by group: columns by name."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import fill
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import CONFIDENCE, ErrorBar
from .._core.extras import extra
from .._core.html import table
from ..budget.released import bar_text
from ..tables.key_words import shown_key

#: How many groups are shown, half of them from each end. In HTML the others unfold.
SHOWN = 20
#: The most lines of labels in a plot; the height of a line, and that of the rest of the plot, in
#: inches.
LABELLED, LINE, AROUND = 200, 0.22, 1.2
#: The note on an error bar of a quantile.
IN_RANKS = "ranks are rows in order: quantile_interval has ends in units of the data"
#: Longer lines of a label are broken.
LONGEST = 30


class Noted:
    """An answer with a note on how many rows of a unit count, if units have ids."""

    note: str = ""
    #: The names of the key columns.
    by: Sequence[str] = ()
    #: The function that sums counts and sums over groups; None if error bars of totals are not
    #: known.
    sum_groups: Callable[[Any], Any] | None = None


class Answer(dict[str, Any], Noted):
    """A dict of NumPy arrays of equal length: columns of group keys, and of each statistic.

    To make a table of the answer, call ``pandas.DataFrame(answer)``, ``polars.DataFrame(answer)``
    or ``pyarrow.table(answer)``.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfast.measurement.columns_by_name import Answer
    >>> Answer(carrier=np.array(["AA", "UA"]), count=np.array([32, 58]))
    carrier  count
    AA          32
    UA          58
    (2 groups)
    """

    #: What a row of the table describes.
    unit: ClassVar[str] = "group"

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(next(iter(self.values()), ()))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of JSON's types: times and bytes are text, infinity is None.

        Returns
        -------
        dict

        Examples
        --------
        >>> import numpy as np
        >>> from dpfast.measurement.columns_by_name import Answer
        >>> Answer(carrier=np.array([b"AA"]), count=np.array([32])).to_dict()
        {'carrier': ['AA'], 'count': [32]}
        """
        return {name: [_plain(value) for value in column] for name, column in self.items()}

    def totals(self) -> Answer:
        """Return the sums over groups of counts and of sums, with their error bars.

        Totals are computed from the answer. This is post-processing, so it costs nothing, and
        totals agree with the groups. With private group keys, they are sums over the groups that
        are shown. A total that is released by itself has less noise; `dpfast.consistent` makes the
        groups agree with such a total.

        Returns
        -------
        Answer
            One row without keys, with the columns of `dpfast.stat.count`, `count_distinct`, `sum`
            and `histogram`. Its note names the statistics without a total: means, quantiles, and
            counts with ``nonnegative=True``, whose sum is too large. An answer that was pickled has
            no totals.

        Notes
        -----
        The error bar of a total over G groups is about sqrt(G) times as long as the error bar of
        one group, because their noise is independent. If groups share noise, it is G times as long.
        The error bar is computed from the distribution of the sum of the noise (`total_within` in
        ``dpfast/groups/sums.py`` has the proof). With `rows_limit` it includes the rows that
        contribution bounding drops in all groups.

        Examples
        --------
        >>> import dpfast as dp
        >>> groups = dp.group_by({"k": [1, 2, 2] * 100}, "k", keys=[1, 2, 3])
        >>> answer = groups.count(epsilon=400.0)
        >>> answer.totals().to_dict()
        {'count': [300], 'count error': [0.0]}
        """
        return Answer() if self.sum_groups is None else self.sum_groups(self)

    def __reduce__(self) -> Any:
        """Pickle the public columns and the note, without the mechanism that `totals` needs."""
        return type(self), (dict(self),), {"note": self.note, "by": self.by}

    @property
    def is_noise(self) -> dict[str, NDArray[np.bool_]]:
        """For each column of counts, a mask of the entries whose error bar contains 0.

        It is computed from the answer. This is post-processing, so it costs nothing.

        Examples
        --------
        >>> import dpfast as dp
        >>> groups = dp.group_by({"k": [1, 2, 2] * 100}, "k", keys=[1, 2, 3])
        >>> groups.count(epsilon=4.0).is_noise["count"].tolist()[:2]
        [False, False]
        """
        return {
            name: (np.abs(self[name]) <= self[bars]) & (self[bars] > 0)
            for name, bars in self._bars().items()
            if self[name].dtype.kind in "iu" and bars.endswith(" error")
        }

    def to_pandas(self) -> Any:
        """Return the columns as a table of pandas, which can write CSV and Excel files.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingExtraError
            pandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from dpfast.measurement.columns_by_name import Answer
        >>> Answer(carrier=np.array(["AA"]), count=np.array([32])).to_pandas().to_csv(index=False)
        'carrier,count\\nAA,32\\n'
        """
        return extra("pandas", "a table of pandas").DataFrame(dict(self))

    def plot(self, *statistics: str, ax: Any = None) -> Any:
        """Draw statistics of groups with their error bars, side by side.

        Each statistic has its own axes, and each group a line in the order of the answer. No
        setting of matplotlib is changed.

        Parameters
        ----------
        *statistics : str
            The names of columns; by default all columns except keys and error bars.
        ax : matplotlib Axes, optional
            The axes for a single statistic. By default they are made in a new figure.

        Returns
        -------
        matplotlib Axes, or an array of them
            One for each statistic, as in pandas.

        Raises
        ------
        ArgumentError
            For a name that is not a column, or for several statistics with `ax`.
        MissingExtraError
            matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from dpfast.measurement.columns_by_name import Answer
        >>> answer = Answer(carrier=np.array(["AA", "UA"]), count=np.array([32, 58]))
        >>> axes = answer.plot()
        >>> axes.get_title(), [label.get_text() for label in axes.get_yticklabels()]
        ('count', ['AA', 'UA'])
        """
        keys, bars = list(self.by) or list(self)[:1], self._bars()
        numbers = tuple(name for name in self if name not in (*keys, *bars.values()))
        names = [checks.choice("statistics", name, numbers) for name in statistics or numbers]
        if not names or (ax is not None and len(names) > 1):
            checks.fail("statistics", "at least one statistic, and exactly one with ax", names)
        keys_of_groups = zip(*(self[name] for name in keys), strict=True)
        labels = [fill(", ".join(map(_shown, key)), LONGEST) for key in keys_of_groups]
        lines, axes = sum(label.count("\n") + 1 for label in labels), [ax]
        if ax is None:
            size = 2 + 4 * len(names), AROUND + LINE * min(lines, LABELLED)
            layout = {"figsize": size, "layout": "constrained", "sharey": True, "squeeze": False}
            axes = extra("matplotlib.pyplot", "a plot").subplots(1, len(names), **layout)[1][0]
        indices, step = np.arange(self.groups), -(-lines // LABELLED) or 1
        for axis, name in zip(axes, names, strict=True):
            width = self[bars[name]] if bars.get(name, "").endswith("error") else None
            axis.errorbar(self[name], indices, xerr=width, fmt="o", capsize=3)
            axis.set_title(name)
            axis.grid(axis="x", color="0.85")
            axis.tick_params("x", rotation=45)  # dates are long, so turn them
        axes[0].set_yticks(indices[::step], labels[::step])
        axes[0].set_ylim(self.groups - 0.5, -0.5)
        return axes[0] if len(names) == 1 else axes

    def _bars(self) -> dict[str, str]:
        """Return the name of the column of error bars for each column of numbers that has one."""
        bars_of: dict[str, str] = {}
        for bars in sorted(self, key=len):
            owner, _, kind = bars.removesuffix(" in ranks").rpartition(" ")
            if kind == "error" and f"{bars} error" not in self:
                start = f"{owner} " if owner else ""
                names = (name for name in self if f"{name} ".startswith(start))
                numbers = (name for name in names if name != bars and name not in self.by)
                bars_of |= dict.fromkeys(numbers, bars)
        return bars_of

    def _rows(self) -> Iterator[list[str]]:
        """Yield the rows of the printed table as lists of text, dots in place of omitted rows."""
        groups, half = self.groups, SHOWN // 2
        every = self.items()
        columns = [np.ceil(some) if name.endswith(" ranks") else some for name, some in every]
        for i in [*range(half), None, *range(-half, 0)] if groups > SHOWN else range(groups):
            yield ["..." if i is None else _shown(column[i]) for column in columns]

    def __repr__(self) -> str:
        lines = [list(self), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        left = [column.dtype.kind not in "iuf" for column in self.values()]
        text = [
            "  ".join(
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(line, widths, left, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*text, f"({self._about})"])

    @property
    def _about(self) -> str:
        """The text below the printed columns: the number of groups, and notes."""
        groups = self.groups
        notes = [f"{groups:,} {self.unit}{'' if groups == 1 else 's'}"]
        near = {name: int(column.sum()) for name, column in self.is_noise.items()}
        notes += [f"of {name!r} {n:,} cannot be told from 0" for name, n in near.items() if n]
        notes += [IN_RANKS] * any(name.endswith(" error in ranks") for name in self)
        return "; ".join([*notes, self.note] if self.note else notes)

    def _repr_html_(self) -> str:
        """Return a foldable HTML table, in which each number is followed by its error bar."""
        bars = self._bars()
        behind = {bar: name for name, bar in bars.items() if bar.startswith(f"{name} error")}
        names = [name for name in self if name not in behind]
        texts = {name: map(_shown, self[name]) for name in names}
        for column, name in behind.items():
            texts[name] = map(partial(_with_bar, column), self[name], self[column])
        wide = 'style="overflow-x: auto; overflow-wrap: break-word"'
        text = table(names, zip(*texts.values(), strict=True), SHOWN)
        return f"<div {wide}>{text}</div><p>{html.escape(self._about)}</p>"


def _with_bar(column: str, value: Any, bar: Any) -> str:
    """Return a value and its error bar as text, in one line."""
    if column.endswith(" in ranks"):
        text = f"{_shown(value)} ({ErrorBar(CONFIDENCE, ranks=float(bar))})"
    elif isinstance(bar, np.timedelta64):
        text = f"{_shown(value)} ± {_shown(bar)}"
    else:
        text = bar_text(float(value), float(bar))
    return text.replace(" ", "\xa0")


def labels(numbers: Sequence[float]) -> list[str]:
    """Return numbers as text, with six digits if these distinguish them, else with all digits."""
    short = [f"{number:g}" for number in numbers]
    return short if len(set(short)) == len(short) else list(map(repr, numbers))


def _plain(value: Any) -> Any:
    """Return a key or a number in the types of JSON."""
    if isinstance(value, (str, bytes)):
        return shown_key(value)
    return checks.plain(value, lambda item: None if isinstance(item, float) else str(item))


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:.6g}"
    return shown_key(value) if isinstance(value, str) else str(value)
