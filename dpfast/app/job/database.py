"""`[data.sql]`: a table or a query of a database, which the job opens with the owner's account."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit
from weakref import finalize

from ...errors import ArgumentError, DpfastError, MissingExtraError, SourceError
from ...extend import DatabaseTable, checks, extra, hide_error
from ..entry import hint, text

KEYS = ("connect", "table", "query")
#: Databases that are a file; its path is relative to the directory of the job.
EMBEDDED = ("duckdb", "sqlite")
URL = "data.sql.connect must be a URL such as duckdb://flights.db or postgres://${USER}@host/name"


@dataclass(frozen=True, slots=True)
class Sql:
    """A table or query of a database, from `[data.sql]`; no text that is shown has its password."""

    url: str = field(repr=False)
    parts: SplitResult = field(repr=False)
    file: Path | None
    table: str | None
    query: str | None

    @property
    def title(self) -> str:
        """The name of the data in reports: the database without user, password and options."""
        host = self.parts.netloc.rpartition("@")[2]
        where = self.file or f"{host}{self.parts.path}"
        return f"{self.parts.scheme}://{where}, {self.table or 'a query'}"

    def open(self) -> DatabaseTable:
        """Connect to the database, and return the table or the query's result as data.

        Raises
        ------
        SourceError
            If there is no such database or table; the database's message goes to the owner's log.
        MissingExtraError
            Without Ibis, or its extra for this database.
        """
        ibis, why, mend = extra("ibis", "[data.sql]"), "", ""
        try:
            connection = ibis.connect(self.url)
        except ImportError:
            kind = self.parts.scheme.replace("postgresql", "postgres")
            mend = f"data.sql.connect needs pip install 'ibis-framework[{kind}]'"
        except Exception as error:  # the message contains the URL
            why = hide_error(error)
        if mend:
            raise MissingExtraError(mend)
        if why:
            raise SourceError(f"data.sql.connect: the database cannot be opened: {why}")
        near = ""
        try:
            if self.query is None:
                near = hint(str(self.table), connection.list_tables())
                rows = connection.table(self.table)
            else:
                rows = connection.sql(self.query)
            opened = DatabaseTable(rows, f"{self.title}: {self.query}", self.file)
            finalize(opened, connection.disconnect)
            return opened
        except DpfastError:
            raise
        except Exception as error:
            why = hide_error(error)
        if self.query is None:
            raise SourceError(f"data.sql: the database has no table {self.table!r}{near}: {why}")
        raise SourceError(f"data.sql: the database cannot answer the query: {why}")


def read(table: Any, folder: Path) -> Sql:
    """Read and check the section `[data.sql]` of a job file, without connecting to the database.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If it is no URL and table or query, or names a file that is not there.
    """
    if not isinstance(table, Mapping):
        raise ArgumentError("data.sql must be a table, [data.sql], with connect and table or query")
    for key in table:
        if key not in KEYS:
            checks.fail(f"data.sql.{key}", f"one of {', '.join(KEYS)}{hint(key, KEYS)}", key)
    if ("table" in table) == ("query" in table):
        raise ArgumentError("data.sql must have either table or query, and not both")
    said = {key: text(f"data.sql.{key}", table[key]) for key in table if key != "connect"}
    url, parts = str(table.get("connect")), urlsplit("")
    with suppress(ValueError):  # the message may contain the password
        parts = urlsplit(url)
    if not url.startswith(f"{parts.scheme}://"):
        raise ArgumentError(URL)
    file = None
    path = f"{parts.netloc}{parts.path}"
    if parts.scheme in EMBEDDED and path and not path.startswith((":memory:", "md:")):
        file = folder / path
        if not file.is_file():  # otherwise the library would create an empty database
            raise SourceError(f"data.sql.connect: database {str(file)!r} does not exist")
        parts = parts._replace(netloc="", path=str(file))
        url = f"{parts.scheme}://{file}" + f"?{parts.query}" * bool(parts.query)
    return Sql(url, parts, file, said.get("table"), said.get("query"))
