"""The answer of a release by group: columns by name."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from .._core.html import table
from ..tables.key_words import shown_key

#: How many groups are shown, half of them from either end.
SHOWN = 20


class Noted:
    """An answer that says what counts of a person, if the loss is one of people."""

    note: str = ""


class Answer(dict[str, Any], Noted):
    """A dict of NumPy arrays of equal length: the columns of keys, and one or more a statistic.

    pandas, Polars and Arrow make a table of it as it is: ``pandas.DataFrame(answer)``,
    ``polars.DataFrame(answer)``, ``pyarrow.table(answer)``.

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

    #: What a row is about.
    unit: ClassVar[str] = "group"

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(next(iter(self.values()), ()))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of what JSON has: times and bytes as text, no infinity.

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

    def _rows(self) -> Iterator[list[str]]:
        """Yield the rows to be shown as text; dots for those that are left out."""
        groups, half = self.groups, SHOWN // 2
        for i in [*range(half), None, *range(-half, 0)] if groups > SHOWN else range(groups):
            yield ["..." if i is None else _shown(column[i]) for column in self.values()]

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
        """What stands below the columns."""
        groups = self.groups
        note = f"; {self.note}" if self.note else ""
        return f"{groups:,} {self.unit}{'' if groups == 1 else 's'}{note}"

    def _repr_html_(self) -> str:
        return f"{table(self, self._rows())}<p>{html.escape(self._about)}</p>"


def labels(numbers: Sequence[float]) -> list[str]:
    """Return numbers as text, short if that tells them apart."""
    short = [f"{number:g}" for number in numbers]
    return short if len(set(short)) == len(short) else list(map(repr, numbers))


def _plain(value: Any) -> Any:
    """Return a key or a number in the types of JSON."""
    if isinstance(value, np.generic) and value.dtype.kind not in "Mm":
        value = value.item()
    if isinstance(value, (str, bytes)):
        return shown_key(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float)) else str(value)


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:.6g}"
    return shown_key(value) if isinstance(value, str) else str(value)
