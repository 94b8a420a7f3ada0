"""The reader of job files: the releases, their data, and their privacy loss together.

    [data]      path; quotes (false: in text a quote is a letter); rows (a public guess, for error
                bars); version (other data have another one)
    [budget]    epsilon, with delta, or rho, of the whole job; neighbors (by default those of the
                ledger, else "add-remove"); ids and max_rows, if the limit is about people; path (a
                ledger); name
    [output]    path (.json, .csv, .parquet or .html)
    [defaults]  arguments of every release that takes them, where, and column or columns
    [[release]] statistic, column or columns, name, weight, where, and arguments of the public
                function; or by, for a statistic of groups, with keys, ids, max_groups, max_rows and
                arguments of that method of `group_by`; of several, [release.agg.NAME] with
                statistic, column and arguments

Every error of the file itself is found here. What an argument of a release may be is known to its
function alone.
"""

from __future__ import annotations

import difflib
import inspect
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ... import STATISTICS, estimators, stat
from ...errors import ArgumentError, DpfastError, SourceError, printable
from ...extend import Files, Neighbors, checks, relation_of
from ...privacy import Loss
from ...privacy import loss as make_loss
from ..files import KeyTexts, existing, read_keys
from ..functions import BY_GROUP, OF_ROWS
from ..words import where_of

#: Whatever takes data and a budget, by the word of jobs.
IN_JOBS = {word: function for word, function in OF_ROWS.items() if STATISTICS[word].in_jobs}

SECTIONS = {
    "data": ("path", "quotes", "rows", "version"),
    "budget": ("epsilon", "delta", "rho", "neighbors", "ids", "max_rows", "path", "name"),
    "output": ("path",),
    "defaults": None,
    "release": None,
}
#: Keys of a release that are no arguments of its function.
OWN = ("statistic", "column", "columns", "name", "weight", "where", "by", "agg")
#: Those of them that [defaults] may have.
SHARED = ("where", "column", "columns")
NONE = type(None)
#: Arguments that no release may have, and why.
NOT_HERE = {
    name: f"left out: {why}"
    for names, why in (
        ("epsilon delta rho", "the job's budget is divided by weight"),
        ("neighbors budget", "[budget] says it for the whole job"),
        ("data", "[data] says it for the whole job"),
        ("rng", "a job is private"),
        ("progress", "the job has a bar of its own"),
    )
    for name in names.split()
}
ENDINGS = (".json", ".csv", ".parquet", ".html")
#: What several statistics of the same groups are made of, and all arguments of these.
OF_GROUPS: dict[str, Callable[..., Any]] = {name: getattr(stat, name) for name in stat.__all__}
OF_STATISTICS = frozenset(
    key for function in OF_GROUPS.values() for key in inspect.signature(function).parameters
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One release that is asked for. `written` is what the file says, for its key."""

    name: str
    statistic: str
    columns: tuple[str, ...]
    is_table: bool
    by: tuple[str, ...]
    where: Any
    weight: Fraction
    function: Callable[..., Any]
    takes: Collection[str]
    arguments: Mapping[str, Any]
    written: Mapping[str, Any]

    def data(self, files: Files) -> Any:
        """Return its columns of some files."""
        return files.data(self.columns, by=self.by, where=self.where, table=self.is_table)

    @property
    def files(self) -> list[Path]:
        """The file of its public keys, if there is one."""
        keys = self.arguments.get("keys")
        return [keys.file] if isinstance(keys, KeyTexts) and keys.file else []

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it reads, as far as the job names them one by one."""
        return (*self.by, *self.columns, *(condition.column for condition in self.where))


@dataclass(frozen=True, slots=True)
class Job:
    """A job file without errors. Paths are relative to the directory of the file."""

    path: Path
    data: str
    quotes: bool
    version: str
    rows: int | None
    loss: Loss
    neighbors: Neighbors
    ids: str | None
    max_rows: int | None
    ledger: Path | None
    name: str
    outputs: Mapping[str, Path]
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """Its name, or that of its file, which need not be text."""
        return self.name or printable(self.path.name)


def read(path: Any) -> Job:
    """Return the job of a file.

    Raises
    ------
    SourceError
        If there is no such file.
    ArgumentError, ArgumentTypeError
        If it is not TOML, or says what no job can say.
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
    except ValueError as error:  # also of an integer of thousands of digits
        raise ArgumentError(f"job file {file.name} must be TOML: {error}") from None
    except RecursionError:
        raise ArgumentError(f"job file {file.name} must be TOML that is not so deep") from None
    _check_keys("", document, SECTIONS)
    data, budget, output, defaults = (
        _table(name, document) for name in ("data", "budget", "output", "defaults")
    )
    for key, value in defaults.items():
        if (key in NOT_HERE or key in OWN) and key not in SHARED:
            checks.fail(f"defaults.{key}", NOT_HERE.get(key, "left to each release"), value)
    folder = file.absolute().parent
    amounts = {
        kind: _amount(f"budget.{kind}", budget[kind])
        for kind in ("epsilon", "delta", "rho")
        if kind in budget
    }
    rows, ledger, out = data.get("rows"), budget.get("path"), output.get("path")
    ids, max_rows = budget.get("ids"), budget.get("max_rows")
    if max_rows is not None and ids is None:
        checks.fail("budget.max_rows", "left out without budget.ids", max_rows)
    place = None if ledger is None else folder / _file("budget.path", ledger)
    releases = document.get("release", [])
    tables = isinstance(releases, list) and all(isinstance(table, dict) for table in releases)
    if not tables or not releases:
        checks.fail("release", "at least one [[release]]", releases)
    return Job(
        path=file,
        data=str(folder / _file("data.path", data.get("path"))),
        quotes=checks.flag("data.quotes", data.get("quotes", True)),
        version=checks.text("data.version", data.get("version", "")),
        rows=None if rows is None else checks.whole("data.rows", rows, 1),
        loss=make_loss(amounts.get("epsilon"), amounts.get("delta", 0), amounts.get("rho")),
        neighbors=_relation(budget.get("neighbors"), place),
        ids=None if ids is None else _text("budget.ids", ids),
        max_rows=None if max_rows is None else checks.rows_each(max_rows, "budget.max_rows"),
        ledger=place,
        name=checks.text("budget.name", budget.get("name", "")),
        outputs={} if out is None else written_to("output.path", out, folder),
        entries=_entries(releases, defaults, folder),
    )


def _relation(neighbors: Any, ledger: Path | None) -> Neighbors:
    """Return the neighboring relation: what is said, else that of the ledger if it is there."""
    known = None if neighbors is not None or ledger is None else existing(ledger)
    return relation_of(neighbors, known)


def _hint(name: str, names: Collection[str]) -> str:
    """Return the end of a message that offers the nearest of some names."""
    near = difflib.get_close_matches(name, names, 1, 0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _check_keys(place: str, given: Collection[str], names: Collection[str]) -> None:
    for key in given:
        if key not in names:
            checks.fail(f"{place}{key}", f"one of {', '.join(names)}{_hint(key, names)}", key)


def _table(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section of the file; the keys of some sections are known beforehand."""
    table, keys = document.get(name, {}), SECTIONS[name]
    if not isinstance(table, dict):
        checks.fail_type(name, f"a table, [{name}]", table)
    if keys is not None:
        _check_keys(f"{name}.", table, keys)
    return table


def _text(name: str, value: Any) -> str:
    if value is None or value == "":
        checks.fail(name, "given", value)
    return checks.text(name, value)


def _file(name: str, value: Any) -> str:
    if "\0" in (path := _text(name, value)):
        checks.fail(name, "the name of a file", value)
    return path


def _amount(name: str, value: Any) -> Any:
    """Return a number, or the ratio of a text such as "1/3" that no decimal can write."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"[0-9]{1,400}(/[0-9]{1,400})?|[0-9]{0,400}\.[0-9]{1,400}", value):
        with suppress(ZeroDivisionError):
            return Fraction(value)
    checks.fail(name, 'a number, or a ratio such as "1/3"', value)


def written_to(
    name: str, path: Any, folder: Path, endings: Sequence[str] = ENDINGS
) -> dict[str, Path]:
    """Return the file that answers are written to, by the name of what says so."""
    file = folder / _file(name, path)
    if file.suffix.lower() not in endings:
        checks.fail(name, f"a name that ends in one of {', '.join(endings)}", path)
    return {name: file}


def _entries(
    releases: list[dict[str, Any]], defaults: dict[str, Any], folder: Path
) -> tuple[Entry, ...]:
    entries: dict[str, Entry] = {}
    for number, table in enumerate(releases, 1):
        entry = _entry(number, table, defaults, folder)
        if entry.name in entries:
            checks.fail(f"release {number}: name", "another one than those before", entry.name)
        entries[entry.name] = entry
    for key, value in defaults.items():
        if key not in SHARED and not any(_used(key, value, one) for one in entries.values()):
            checks.fail(f"defaults.{key}", "an argument of one of the releases", value)
    return tuple(entries.values())


def _entry(number: int, table: dict[str, Any], defaults: dict[str, Any], folder: Path) -> Entry:
    where = f"release {number}"
    by = _by(where, table)
    if "agg" not in table and not {"column", "columns"} & table.keys():
        known = (BY_GROUP if by else IN_JOBS).get(str(table.get("statistic")))
        names = [key for key in ("column", "columns") if not by or key in _takes(known)]
        table = {key: defaults[key] for key in names if key in defaults} | table
    asked = table.get("statistic", "agg" if "agg" in table else None)
    statistic = _text(f"{where}: statistic", asked)
    statistics = BY_GROUP if by else IN_JOBS
    columns, is_table = ((), False) if by else _columns(where, table)
    if by and table.get("column") is not None:
        columns = (_text(f"{where}: column", table["column"]),)
    title = f"{statistic} of {', '.join(columns)}" if columns else statistic
    name = _text(
        f"{where}: name", table.get("name", f"{title} by {', '.join(by)}" if by else title)
    )
    where = f"release {name!r}"
    if statistic not in statistics:
        rule = f"one of {', '.join(sorted(statistics))}{_hint(statistic, statistics)}"
        checks.fail(f"{where}: statistic", rule, statistic)
    if ("agg" in table) != (statistic == "agg"):
        checks.fail(f"{where}: agg", "tables [release.agg.NAME] of statistic 'agg'", statistic)
    function = statistics[statistic]
    takes = _takes(function)
    allowed = {key: takes[key] for key in takes if key not in NOT_HERE and key != "where"}
    shared = {key: defaults[key] for key in allowed if key in defaults}
    given = _fitting(OF_GROUPS.get(statistic, function) if by else function, shared)
    given |= {key: value for key, value in table.items() if key not in OWN}
    if by:
        given |= {"by": by[0] if isinstance(table["by"], str) else list(by)}
        given |= {key: table[key] for key in ("column", "columns") if key in table}
    if "agg" in table:
        given["statistics"] = _of_defaults(table["agg"], defaults)
    for key in given:
        if key in NOT_HERE:
            checks.fail(f"{where}: {key}", NOT_HERE[key], given[key])
    _check_arguments(f"{where}: ", statistic, allowed, given)
    arguments = dict(given)
    if "estimator" in arguments:
        arguments["estimator"] = _estimator(f"{where}: estimator", arguments["estimator"])
    if "statistics" in arguments:
        arguments["statistics"] = _several(f"{where}: agg", arguments["statistics"])
        columns = _columns_of(arguments["statistics"])
    if isinstance(arguments.get("keys"), str):
        given["keys"] = arguments["keys"] = _keys(f"{where}: keys", given["keys"], folder, by)
    for key in ("ids",) if by else ("weights", "ids"):
        if key in arguments:
            _text(f"{where}: {key}", arguments[key])  # the name of another column
    written = {"statistic": statistic, "columns": columns, "table": is_table, "arguments": given}
    rows = table.get("where", defaults.get("where", []))
    if rows:
        written["where"] = rows
    weight_name = f"{where}: weight"
    weight = checks.fraction(weight_name, _amount(weight_name, table.get("weight", 1)))
    if weight <= 0:
        checks.fail(weight_name, "greater than 0", table["weight"])
    return Entry(
        name=name,
        statistic=statistic,
        columns=columns,
        is_table=is_table,
        by=by,
        where=where_of(rows, f"{where}: where"),
        weight=weight,
        function=function,
        takes={*takes, *(OF_STATISTICS if "agg" in table else ())},
        arguments=arguments,
        written=written,
    )


def _takes(function: Callable[..., Any] | None) -> Mapping[str, inspect.Parameter]:
    return {} if function is None else inspect.signature(function).parameters


def _fitting(function: Callable[..., Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults that a function may take: of declared words, only these words.

    A default of ``nan = "lower"`` is none for a count, whose `nan` is "keep" or "drop".
    """
    return {key: value for key, value in defaults.items() if _fits(function, key, value)}


def _used(key: str, value: Any, entry: Entry) -> bool:
    """Tell whether a release may take a default."""
    if key not in entry.takes:
        return False
    if not entry.by:
        return _fits(entry.function, key, value)
    several = OF_GROUPS.values() if entry.statistic == "agg" else [OF_GROUPS.get(entry.statistic)]
    return any(function is None or _fits(function, key, value) for function in several)


def _fits(function: Callable[..., Any], name: str, value: Any) -> bool:
    kinds = _kinds(get_type_hints(function).get(name, Any))
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    others = [kind for kind in kinds if get_origin(kind) is not Literal]
    if not words or value in words:
        return True
    return bool({Any, str} & {*others}) or not (isinstance(value, str) or others in ([], [NONE]))


def _kinds(hint: Any) -> list[Any]:
    """Return the members of a union, and of those in it."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for one in get_args(hint) for kind in _kinds(one)]
    return [hint]


def _by(where: str, table: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the columns of keys; none of a release that has no groups."""
    if "by" not in table:
        if "agg" in table:
            checks.fail(f"{where}: by", "given, for agg is of groups", None)
        return ()
    by = [table["by"]] if isinstance(table["by"], str) else table["by"]
    if not isinstance(by, list) or not by:
        checks.fail(f"{where}: by", "the name of a column, or a list of names", table["by"])
    return tuple(_text(f"{where}: by[{i}]", name) for i, name in enumerate(by))


def _keys(where: str, value: str, folder: Path, by: tuple[str, ...]) -> KeyTexts:
    """Return the public keys of the file of a text such as "@keys.txt"."""
    if not value.startswith("@"):
        checks.fail(where, 'a list of keys, or a file of them such as "@keys.txt"', value)
    try:
        return read_keys(folder / _file(where, value[1:]), by)
    except DpfastError as error:
        raise type(error)(f"{where}: {error}") from None


def _of_defaults(tables: Any, defaults: Mapping[str, Any]) -> Any:
    """Return the tables of several statistics, with the defaults that each of them takes."""
    if not isinstance(tables, dict):
        return tables
    found = dict(tables)
    for name, table in tables.items():
        if isinstance(table, dict) and str(table.get("statistic")) in OF_GROUPS:
            function = OF_GROUPS[str(table["statistic"])]
            shared = {key: defaults[key] for key in _takes(function) if key in defaults}
            found[name] = _fitting(function, shared) | table
    return found


def _several(where: str, tables: Any) -> dict[str, Any]:
    """Return what `dpfast.stat` makes of the tables of several statistics."""
    if not isinstance(tables, dict) or not tables:
        checks.fail_type(where, "tables of statistics, [release.agg.NAME]", tables)
    found = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            checks.fail_type(f"{where}.{name}", f"a table, [release.agg.{name}]", table)
        found[name] = _called(f"{where}.{name}", "statistic", table, OF_GROUPS)
    return found


def _columns_of(statistics: Mapping[str, Any]) -> tuple[str, ...]:
    columns = (statistic.column for statistic in statistics.values())
    return tuple(dict.fromkeys(column for column in columns if column is not None))


def _check_arguments(
    place: str, name: str, takes: Mapping[str, inspect.Parameter], given: Mapping[str, Any]
) -> None:
    """Refuse arguments that `name` does not have, and a call without one that it needs."""
    for key, value in given.items():
        if key not in takes:
            hint = _hint(key, takes)
            rule = f"an argument of {name}{hint}, which are {', '.join(takes)}"
            checks.fail(f"{place}{key}", rule, value)
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in given:
            checks.fail(f"{place}{key}", f"given: {name} needs it", None)


def _columns(where: str, table: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether there may be several."""
    if ("column" in table) == ("columns" in table):
        checks.fail(f"{where}: column", "given, or columns instead", table.get("column"))
    if "column" in table:
        return (_text(f"{where}: column", table["column"]),), False
    columns = table["columns"]
    if not isinstance(columns, list) or not columns:
        checks.fail(f"{where}: columns", "a list of at least one name", columns)
    names = tuple(_text(f"{where}: columns[{i}]", name) for i, name in enumerate(columns))
    if len(set(names)) < len(names):
        checks.fail(f"{where}: columns", "different names", columns)
    return names, True


def _estimator(where: str, value: Any) -> Any:
    """Return a name, or the estimator of a table such as {class = "Quantile", q = 0.9}."""
    if not isinstance(value, dict):
        return checks.text(where, value)
    kinds = {name: getattr(estimators, name) for name in estimators.__all__}
    return _called(where, "class", value, kinds)


def _called(where: str, key: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Return what one of some functions makes of a table, whose `key` names the function."""
    given = dict(table)
    name = checks.choice(f"{where}.{key}", given.pop(key, None), kinds)
    _check_arguments(f"{where}.", name, inspect.signature(kinds[name]).parameters, given)
    try:
        return kinds[name](**given)
    except ArgumentError as error:
        raise type(error)(f"{where}: {error}") from None
