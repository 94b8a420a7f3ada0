"""The reader of job files: the releases, their data, and their privacy loss together.

    [data]      path: a path or a list of paths; the options of `dpfast.scan` for text files; rows:
                a public guess, for error bars; version: a name that changes with the data. For a
                database: [data.sql] with connect (a URL), and table or query.
    [budget]    epsilon, epsilon with delta, or rho: the loss of the whole job; neighbors: by
                default as in the ledger, else "add-remove"; ids and max_rows, if the limit protects
                people; period: "month" renews the limit of a new ledger each month; path: a ledger;
                name.
    [output]    path: a file that ends in .json, .csv, .parquet or .html.
    [defaults]  arguments of every release that takes them, where, interval, and column or columns.
    [[release]] statistic, column or columns, name, weight, where, and arguments of the public
                function; interval = true gives a quantile two ends. For groups: by, keys,
                other_key, ids, max_groups, max_rows, rows_limit, and arguments of the method of
                `group_by`. For several statistics of groups: [release.agg.NAME] with statistic,
                column and arguments.

In texts of [data], [budget] and [output], ``${NAME}`` is an environment variable, and ``$${`` is
``${``. Every error of the file itself is found here. The function of a release checks its
arguments.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ArgumentError, SourceError, printable
from ...extend import Files, Neighbors, checks, relation_of
from ...privacy import Loss
from ...privacy import loss as make_loss
from ..entry import (
    NOT_ARGUMENTS,
    NOT_HERE,
    SHARED,
    Entry,
    amount,
    entry_of,
    file_name,
    has,
    hint,
    text,
)
from ..files import existing
from .database import Sql
from .database import read as read_sql

SECTIONS = {
    "data": ("path", *Files.options, "sql", "rows", "version"),
    "budget": ("epsilon", "delta", "rho", "neighbors", "ids", "max_rows", "period", "path", "name"),
    "output": ("path",),
    "defaults": None,
    "release": None,
}
ENDINGS = (".json", ".csv", ".parquet", ".html")
#: An environment variable, or "$${", which stands for a literal "${".
VARIABLE = re.compile(r"\$\$\{|\$\{(?P<name>[^}]*)\}")


@dataclass(frozen=True, slots=True)
class Job:
    """A job file without errors. Paths are relative to the directory of the file."""

    path: Path
    data: str | list[str]
    sql: Sql | None
    text: dict[str, Any]
    version: str
    rows: int | None
    loss: Loss
    neighbors: Neighbors
    ids: str | None
    max_rows: int | None
    period: Any
    ledger: Path | None
    name: str
    outputs: Mapping[str, Path]
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """The name of the job, or else the name of its file, in printable characters."""
        return self.name or printable(self.path.name)


def read(path: Any) -> Job:
    """Read a job file (TOML), and check everything but the arguments' values.

    Raises
    ------
    SourceError
        If there is no such file.
    ArgumentError, ArgumentTypeError
        If it is not TOML, or has an entry that no job can have.
    LedgerError
        If its ledger is there and cannot be used.
    """
    try:
        file = Path(path)
        content = file.read_bytes()
    except OSError as error:
        raise SourceError(f"job file {str(path)!r} cannot be read: {error.strerror}") from None
    except (TypeError, ValueError):
        checks.fail_type("path", "the path of a job file", path)
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ArgumentError(f"job file {file.name} must be TOML in UTF-8") from None
    except ValueError as error:  # also raised for an integer with thousands of digits
        raise ArgumentError(f"job file {file.name} must be TOML: {error}") from None
    except RecursionError:
        raise ArgumentError(f"job file {file.name} must be TOML with fewer nested levels") from None
    _check_keys("", document, SECTIONS)
    data, budget, output, defaults = (
        _table(name, document) for name in ("data", "budget", "output", "defaults")
    )
    for key, value in defaults.items():
        if (key in NOT_HERE or key in NOT_ARGUMENTS) and key not in SHARED:
            rule = NOT_HERE.get(key, "left out, because each release has its own")
            checks.fail(f"defaults.{key}", rule, value)
    folder = file.absolute().parent
    amounts = {
        kind: amount(f"budget.{kind}", budget[kind])
        for kind in ("epsilon", "delta", "rho")
        if kind in budget
    }
    sql = None if "sql" not in data else read_sql(data["sql"], folder)
    for key in ("path", *Files.options):
        if sql is not None and key in data:
            checks.fail(f"data.{key}", "left out, because [data.sql] is given", data[key])
    rows, ledger, out = data.get("rows"), budget.get("path"), output.get("path")
    ids, max_rows = budget.get("ids"), budget.get("max_rows")
    if max_rows is not None and ids is None:
        checks.fail("budget.max_rows", "left out, because budget.ids is not given", max_rows)
    ledger_path = None if ledger is None else folder / file_name("budget.path", ledger)
    releases = document.get("release", [])
    tables = isinstance(releases, list) and all(isinstance(table, dict) for table in releases)
    if not tables or not releases:
        checks.fail("release", "at least one [[release]]", releases)
    return Job(
        path=file,
        data=_data(data.get("path"), folder) if sql is None else sql.title,
        sql=sql,
        text={name: data[name] for name in Files.options if name in data},
        version=checks.text("data.version", data.get("version", "")),
        rows=None if rows is None else checks.whole("data.rows", rows, 1),
        loss=make_loss(amounts.get("epsilon"), amounts.get("delta", 0), amounts.get("rho")),
        neighbors=_relation(budget.get("neighbors"), ledger_path),
        ids=None if ids is None else text("budget.ids", ids),
        max_rows=None if max_rows is None else checks.rows_each(max_rows, "budget.max_rows"),
        period=budget.get("period"),
        ledger=ledger_path,
        name=checks.text("budget.name", budget.get("name", "")),
        outputs={} if out is None else written_to("output.path", out, folder),
        entries=_entries(releases, defaults, folder),
    )


def _relation(neighbors: Any, ledger: Path | None) -> Neighbors:
    """Return the relation of the job; else of an existing ledger; else "add-remove".

    The relation of a budget of an enclosing ``with`` block does not count: the job's budget pays.
    """
    budget = None if neighbors is not None or ledger is None else existing(ledger)
    return relation_of("add-remove" if budget is neighbors is None else neighbors, budget)


def _check_keys(prefix: str, keys: Collection[str], names: Collection[str]) -> None:
    for key in keys:
        if key not in names:
            checks.fail(f"{prefix}{key}", f"one of {', '.join(names)}{hint(key, names)}", key)


def _table(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section of the job file with variables filled in; refuse unknown keys."""
    table, keys = document.get(name, {}), SECTIONS[name]
    if not isinstance(table, dict):
        checks.fail_type(name, f"a table, [{name}]", table)
    if keys is None:
        return table
    _check_keys(f"{name}.", table, keys)
    return {key: _filled(f"{name}.{key}", value) for key, value in table.items()}


def _filled(name: str, value: Any) -> Any:
    """Return a value with environment variables, ``${NAME}``, filled in."""
    if isinstance(value, list):
        return [_filled(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _filled(f"{name}.{key}", item) for key, item in value.items()}

    def variable(match: re.Match[str]) -> str:
        key = match["name"]
        if key is None:
            return "${"
        if key not in os.environ:
            # Only the name is shown: the rest of the text may be a password.
            checks.fail(name, "a text whose environment variables are set", match[0])
        return os.environ[key]

    return VARIABLE.sub(variable, value) if isinstance(value, str) else value


def _data(path: Any, folder: Path) -> str | list[str]:
    """Return the path of the data, or a list of paths, relative to the folder of the job file."""
    if isinstance(path, list) and path:
        return [_located(f"data.path[{i}]", item, folder) for i, item in enumerate(path)]
    return _located("data.path", path, folder)


def _located(name: str, path: Any, folder: Path) -> str:
    """Return a path relative to `folder`; a URI as it is."""
    located = file_name(name, path)
    return located if "://" in located else str(folder / located)


def written_to(
    name: str, path: Any, folder: Path, endings: Sequence[str] = ENDINGS
) -> dict[str, Path]:
    """Return the output file as {name: path}, where `name` is the argument or key that names it."""
    file = folder / file_name(name, path)
    if file.suffix.lower() not in endings:
        checks.fail(name, f"a name that ends in one of {', '.join(endings)}", path)
    return {name: file}


def _entries(
    releases: list[dict[str, Any]], defaults: dict[str, Any], folder: Path
) -> tuple[Entry, ...]:
    entries: dict[str, Entry] = {}
    for number, table in enumerate(releases, 1):
        entry = entry_of(table, defaults, folder, number)
        if entry.name in entries:
            checks.fail(f"release {number}: name", "different from the names before it", entry.name)
        entries[entry.name] = entry
    for key, value in defaults.items():
        if key not in SHARED and not any(has(key, entry) for entry in entries.values()):
            checks.fail(f"defaults.{key}", "an argument of one of the releases", value)
    return tuple(entries.values())
