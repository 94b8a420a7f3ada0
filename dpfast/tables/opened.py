"""`Files`: files that are opened once, any columns of which can be data of releases."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

from .._core import checks
from .columns import Columns
from .files import Reader
from .filtered import Condition, filtered
from .key_words import key_kind
from .pick import distinct
from .scan import ScanOptions, reader
from .scan import columns as columns_of
from .text import TextReader
from .text_check import check_text
from .text_format import CHECKS


class Files:
    """One or more open files with the same columns, any of which can be data of a release.

    The headers of the files are read now. Rows are read only by a release.

    Parameters
    ----------
    path : str or path-like, or a list of these
        As in `dpfast.scan`.
    **options
        The format of a text file and options for remote files, as in `dpfast.scan`.

    Attributes
    ----------
    options : tuple of str
        The names of all options that `path` can have, such as "delimiter".

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError, MissingExtraError
        As of `dpfast.scan`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> path = os.path.join(tempfile.mkdtemp(), "ages.npy")
    >>> np.save(path, np.repeat(np.arange(18, 91), 400))
    >>> files = dp.extend.Files(path)
    >>> files.length, files.find(), files.first(), files.holds_text("0"), files.key_kind("0")
    (29200, '0', '0', False, 'integers')
    >>> len(files.paths), len(files.identity()), files.has_sample(public=True)
    (1, 1, True)
    >>> 40 < dp.median(files.data(["0"]), bounds=(0, 120), epsilon=1) < 70
    True
    """

    #: The names of all options.
    options: ClassVar[tuple[str, ...]] = (*CHECKS, "storage_options")

    def __init__(self, path: Any, **options: Unpack[ScanOptions]) -> None:
        self._reader = reader(path, **options)

    def _read_by(self, reader: Reader) -> Self:
        """Return these files, read by another reader."""
        some = copy(self)
        some._reader = reader
        return some

    @property
    def engine(self) -> str:
        """The kind of engine that reads the rows: "files", or the kind of a database."""
        return "files"

    @property
    def length(self) -> int | None:
        """The number of rows, or None if no header states it. NOT PRIVATE under add-remove."""
        return self._reader.length

    @property
    def paths(self) -> list[Path]:
        """The paths of the files, in the order of their rows."""
        return self._reader.paths

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._reader.names)

    def identity(self) -> list[tuple[str, int, int]]:
        """Return the path, the size and the time of change of each file.

        Returns
        -------
        list of (str, int, int)
        """
        return self._reader.identity()

    def find(self, column: str | None = None) -> str:
        """Return the name of a column, or raise an error if the files do not have the column.

        Parameters
        ----------
        column : str, optional
            May be left out for files of one column.

        Returns
        -------
        str
        """
        return self._reader.find(column)

    def first(self, other_than: str | None = None) -> str:
        """Return the name of the first column.

        Parameters
        ----------
        other_than : str, optional
            A column to leave out, because it is not part of the data.

        Returns
        -------
        str
        """
        others = [name for name in self.names if name != other_than]
        return self.find(others[0] if others else None)

    def holds_text(self, column: str | None) -> bool:
        """Tell whether a column holds text, by its type.

        Parameters
        ----------
        column : str, optional

        Returns
        -------
        bool
        """
        return self._reader.holds_text(self.find(column))

    def key_kind(self, column: str) -> str:
        """Return the kind of a column as a group key, by its type.

        Parameters
        ----------
        column : str

        Returns
        -------
        str
            For example "integers", "times", "text" or "bytes".
        """
        return key_kind(self._reader.typed(self.find(column), True), f"column {column!r}")

    def check(self, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """Report which cells of text files would be errors, for the owner of the data.

        NOT PRIVATE: the check reads all rows and shows cells unchanged. Nothing is spent.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns that must hold numbers, or dates if the option ``dates`` names them. By default
            all columns, except that a column whose first ten cells are words is taken for text.

        Returns
        -------
        dict
            ``rows`` is the number of rows. ``columns`` has the kind of each column ("numbers",
            "dates" or "text") and the number of its missing cells. ``faults`` lists the first ten
            faults of each column, and of rows with a wrong number of cells. Each fault has a file,
            a line, a cell and a reason.

        Raises
        ------
        ArgumentError
            If the files are not text. Other formats declare the types of their columns.

        Examples
        --------
        >>> import os, tempfile
        >>> import dpfast as dp
        >>> path = os.path.join(tempfile.mkdtemp(), "pay.csv")
        >>> with open(path, "w") as file:
        ...     _ = file.write("town,pay\\nUlm,1\\nBonn,2 EUR\\n")
        >>> [(one["line"], one["column"]) for one in dp.extend.Files(path).check()["faults"]]
        [(3, 'pay')]
        """
        reader = self._reader
        if not isinstance(reader, TextReader):
            rule = "a text file, because other files declare the types of their columns"
            checks.fail("path", rule, str(self.paths[0]))
        names = None if columns is None else [self.find(name) for name in columns]
        return check_text(reader, reader.names if names is None else names, names is not None)

    def has_sample(self, *, public: bool) -> bool:
        """Tell whether a sample can give the pivots of order statistics, which saves a pass.

        Parameters
        ----------
        public : bool
            Whether the number of rows is public. If not, the answer depends on the format alone.

        Returns
        -------
        bool
        """
        return self._reader.samples if public else type(self._reader).samples

    def data(
        self,
        columns: Sequence[str | None],
        *,
        by: Sequence[str] = (),
        where: Sequence[Condition] = (),
        table: bool = False,
    ) -> Any:
        """Return some columns of the files as data of a release.

        Parameters
        ----------
        columns : sequence of str or None
            The names of the columns. None stands for the only column.
        by : sequence of str
            The columns of group keys, in place of `columns`. Statistics by group can then name
            every column of the files.
        where : sequence of Condition
            The conditions that rows must pass, as `dpfast.extend.conditions` returns them.
        table : bool, default False
            Whether a single column is returned as a table.

        Returns
        -------
        Source or Table
        """
        rows = filtered(self._reader, where)
        if by:
            return Columns(rows, [rows.find(name) for name in by])
        names = [rows.find(name) for name in columns]
        return columns_of(rows, distinct(names) if table else names[0])
