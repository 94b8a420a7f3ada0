"""Releases of files, read from dicts of options: a statistic, columns, rows and arguments.

A job file consists of such dicts (`job.job_file` lists their keys), and the options of a command
make one dict. So the same code reads jobs and commands. It finds every error of a dict, except a
wrong value of an argument, which the function of the release refuses.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .. import STATISTICS, Quantile, Release, estimators, stat
from ..errors import ArgumentError, DpfastError
from ..extend import Files, Prepared, checks
from .files import KeyTexts, read_keys
from .functions import BY_GROUP, CONFIDENCE, OF_ROWS
from .words import where_of

#: Keys of a table that are not arguments of its function. [defaults] may contain them.
SHARED = ("where", "column", "columns", "interval")
#: All keys of a table that are not arguments of its function.
NOT_ARGUMENTS = (*SHARED, "statistic", "name", "weight", "by", "agg")
#: Statistics that `interval` makes a quantile interval, by their quantile where that is fixed.
WITH_ENDS: dict[str, Any] = {"median": 0.5, "minimum": 0, "maximum": 1}
WITH_ENDS |= dict.fromkeys(("quantile", "quantiles", "percentile"))
NONE = type(None)
#: Arguments that no table may have, and the reason for each.
NOT_HERE = {
    name: f"left out, because {why}"
    for names, why in (
        ("epsilon delta rho", "the loss of the job is divided by weight"),
        ("neighbors budget", "[budget] sets it for the whole job"),
        ("data", "[data] sets it for the whole job"),
        ("rng", "a job always uses the secure generator"),
        ("progress", "the job has its own progress bar"),
    )
    for name in names.split()
}
#: Arguments of groups, which few functions of all rows have.
OF_BY = ("keys", "other_key", "max_groups", "rows_limit")
#: The functions of `dpfast.stat`, by name. They describe the statistics of one grouping.
OF_GROUPS: dict[str, Callable[..., Any]] = {name: getattr(stat, name) for name in stat.__all__}


@dataclass(frozen=True, slots=True)
class Entry:
    """One release as described by its dict; the release's key is a digest of `written`."""

    name: str
    statistic: str
    columns: tuple[str | None, ...]
    is_table: bool
    by: tuple[str, ...]
    where: Any
    weight: Fraction
    function: Callable[..., Any]
    takes: Collection[str]
    arguments: Mapping[str, Any]
    written: Mapping[str, Any]

    def data(self, files: Files) -> Any:
        """Return the columns of files that the release reads; the rows alone if it reads none."""
        if not (self.by or self.columns):
            first = files.first(self.arguments.get("ids"))
            return files.data((), by=(first,), where=self.where)
        return files.data(self.columns, by=self.by, where=self.where, table=self.is_table)

    def call(self, files: Files, **call: Any) -> dict[str, Any]:
        """Return the arguments of the release's function, with keys in their columns' types."""
        arguments = {**self.arguments, **call}
        if isinstance(keys := arguments.get("keys"), KeyTexts):
            arguments["keys"] = keys.of(files, self.by)
        if isinstance(other := arguments.get("other_key"), KeyTexts):
            labels = tuple(label for (label,) in other.of(files, self.by).values())
            arguments["other_key"] = labels if len(labels) > 1 else labels[0]
        return arguments

    def release(self, prepared: Prepared[Release[Any]]) -> Release[Any]:
        """Run a prepared release; return its answer with the error bar, or an interval's ends."""
        confidence = float(self.arguments.get("coverage", CONFIDENCE))
        # By group, the ends are columns of the answer.
        has_ends = self.statistic == "quantile_interval" and not self.by
        return replace(prepared, confidence=confidence, has_ends=has_ends).run()

    @property
    def files(self) -> list[Path]:
        """The file of the release's public group keys, as a list of one or none."""
        keys = self.arguments.get("keys")
        return [keys.file] if isinstance(keys, KeyTexts) and keys.file else []

    @property
    def reads(self) -> tuple[str | None, ...]:
        """The columns that the release reads: of group keys, of values, and of conditions."""
        return (*self.by, *self.columns, *(condition.column for condition in self.where))


def entry_of(
    table: Mapping[str, Any],
    defaults: Mapping[str, Any],
    folder: Path | None = None,
    number: int | None = None,
) -> Entry:
    """Return the checked release of a table: of a command, or of a job's release `number`."""
    prefix = "" if number is None else f"release {number}: "
    table = as_called(prefix, table, defaults)
    by = _by(prefix, table)
    functions = BY_GROUP if by else OF_ROWS
    shared = _group_defaults(table, defaults) if by else defaults
    if "agg" not in table and not {"column", "columns"} & table.keys():
        named_function = functions.get(str(table.get("statistic")))
        names = [key for key in ("column", "columns") if not by or key in _takes(named_function)]
        table = {key: shared[key] for key in names if key in shared} | table
    statistic = text(
        f"{prefix}statistic", table.get("statistic", "agg" if "agg" in table else None)
    )
    columns, is_table = ((), False) if by else _columns(prefix, table)
    if by and table.get("column") is not None:
        columns = (text(f"{prefix}column", table["column"]),)
    named = [column for column in columns if column is not None]
    title = f"{statistic} of {', '.join(named)}" if named else statistic
    title = f"{title} by {', '.join(by)}" if by else title
    name = text(f"{prefix}name", table.get("name", title))
    prefix = "" if number is None else f"release {name!r}: "
    table = with_ends(prefix, {**table, "statistic": statistic}, defaults)
    statistic = table["statistic"]
    if statistic not in functions and statistic in BY_GROUP:
        checks.fail(f"{prefix}by", f"given, because {statistic} needs groups of rows", None)
    if statistic not in functions:
        rule = f"one of {', '.join(sorted(functions))}{hint(statistic, functions)}"
        checks.fail(f"{prefix}statistic", rule, statistic)
    if ("agg" in table) != (statistic == "agg"):
        rule = "left out, unless statistic is 'agg', which needs tables [release.agg.NAME]"
        checks.fail(f"{prefix}agg", rule, statistic)
    function = functions[statistic]
    takes = _takes(function)
    allowed = {key: takes[key] for key in takes if key not in NOT_HERE and key != "where"}
    shared = {key: shared[key] for key in allowed if key in shared}
    stated = _fitting(OF_GROUPS.get(statistic, function) if by else function, shared)
    stated |= {key: value for key, value in table.items() if key not in NOT_ARGUMENTS}
    if by:
        stated |= {"by": by[0] if isinstance(table["by"], str) else list(by)}
        stated |= {key: table[key] for key in ("column", "columns") if key in table}
    if "agg" in table:
        stated["statistics"] = _of_defaults(table["agg"], defaults)
    for key in stated:
        if key in NOT_HERE:
            checks.fail(f"{prefix}{key}", NOT_HERE[key], stated[key])
        if key in OF_BY and key not in allowed:
            rule = "left out, because the release has no groups (no `by`)"
            checks.fail(f"{prefix}{key}", rule, stated[key])
    _check_arguments(prefix, statistic, allowed, stated)
    arguments = dict(stated)
    if "estimator" in arguments:
        arguments["estimator"] = _estimator(f"{prefix}estimator", arguments["estimator"])
    if "statistics" in arguments:
        arguments["statistics"] = _several(f"{prefix}agg", arguments["statistics"])
        named_columns = (statistic.column for statistic in arguments["statistics"].values())
        columns = tuple(dict.fromkeys(name for name in named_columns if name is not None))
    if isinstance(arguments.get("keys"), str) and folder is not None:
        stated["keys"] = arguments["keys"] = _keys(f"{prefix}keys", stated["keys"], folder, by)
    for key in ("ids",) if by else ("weights", "ids"):
        if key in arguments:
            text(f"{prefix}{key}", arguments[key])  # raises if this is not a text
    written = {"statistic": statistic, "columns": columns, "table": is_table, "arguments": stated}
    rows = table.get("where", defaults.get("where", []))
    if rows:
        written["where"] = rows
    weight = checks.fraction(f"{prefix}weight", amount(f"{prefix}weight", table.get("weight", 1)))
    if weight <= 0:
        checks.fail(f"{prefix}weight", "greater than 0", table["weight"])
    return Entry(
        name=name,
        statistic=statistic,
        columns=columns,
        is_table=is_table,
        by=by,
        where=where_of(rows, f"{prefix}where"),
        weight=weight,
        function=function,
        takes={*takes},
        arguments=arguments,
        written=written,
    )


def as_called(prefix: str, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a release's TOML table with `column`, `other` and `by` merged into `columns`.

    A statistic of two columns gets `column` and `other` as its `columns`. A statistic that compares
    two groups (`of` by one column, with two `keys`) gets the column of keys as the last of its
    `columns`; arguments that the comparison does not take are passed to the statistic that is
    computed in each group.
    """
    words = dict(table)
    line = STATISTICS.get(str(words.get("statistic")))
    of_groups = line is not None and line.data == "groups" and "by" in words
    if "other" in words and ("by" not in words or of_groups):
        first = text(f"{prefix}column", words.pop("column", defaults.get("column")))
        words["columns"] = [first, words.pop("other")]
    if line is None or not of_groups:
        return words
    keys = _by(prefix, words)
    if len(keys) > 1:
        rule = "one column, because two keys of this column are compared"
        checks.fail(f"{prefix}by", rule, words["by"])
    del words["by"]
    if "columns" not in words:
        words["columns"] = [words.pop("column", defaults.get("column"))]
    words["columns"] = [*words["columns"], *keys]
    if not isinstance(of := words.get("of"), str):
        return words
    takes, kind = _takes(line.function), STATISTICS[of].kind if of in STATISTICS else None
    names = [name for name in words if name not in takes and name not in NOT_ARGUMENTS]
    inner = {name: words.pop(name) for name in names}
    of_kind = [name for name in _takes(kind) if name not in NOT_ARGUMENTS]
    shared = {name: defaults[name] for name in of_kind if name in defaults}
    words["of"] = {"statistic": of, **(_fitting(kind, shared) if kind else {}), **inner}
    return words


def with_ends(prefix: str, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with ``interval = true`` replaced by the statistic `quantile_interval`."""
    words, statistic = dict(table), str(table.get("statistic"))
    usual = statistic in WITH_ENDS and defaults.get("interval", False)
    if not checks.flag(f"{prefix}interval", words.pop("interval", usual)):
        return words
    if statistic not in WITH_ENDS or None not in (words.get("q"), WITH_ENDS[statistic]):
        rule = f"left out for statistics other than {', '.join(WITH_ENDS)}"
        checks.fail(f"{prefix}interval", rule, True)
    q = words.pop("qs", defaults.get("qs")) if statistic == "quantiles" else WITH_ENDS[statistic]
    if statistic == "percentile":
        of = stat.percentile(q=words.get("q", defaults.get("q")), bounds=(0, 1))
        q = float(checks.fraction("q", of.q)) if isinstance(of, Quantile) else [*map(float, of.qs)]
    return words | {"statistic": "quantile_interval"} | ({} if q is None else {"q": q})


def hint(name: str, names: Collection[str]) -> str:
    """Return " (did you mean ...?)" with the name most like `name`, or nothing; ends a message."""
    near = difflib.get_close_matches(name, names, 1, 0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def text(name: str, value: Any) -> str:
    """Return a text that is not empty, or raise an error about the argument `name`."""
    if value is None or value == "":
        checks.fail(name, "given", value)
    return checks.text(name, value)


def file_name(name: str, value: Any) -> str:
    """Return a text that is valid as a file name, or raise an error."""
    if "\0" in (path := text(name, value)):
        checks.fail(name, "the name of a file", value)
    return path


def amount(name: str, value: Any) -> Any:
    """Return an amount of a loss: a number as it is, a text such as "1/3" as an exact fraction."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"[0-9]{1,400}(/[0-9]{1,400})?|[0-9]{0,400}\.[0-9]{1,400}", value):
        with suppress(ZeroDivisionError):
            return Fraction(value)
    checks.fail(name, 'a number, or a ratio such as "1/3"', value)


def _takes(function: Callable[..., Any] | None) -> Mapping[str, inspect.Parameter]:
    return {} if function is None else inspect.signature(function).parameters


def _fitting(function: Callable[..., Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults that suit a function; if it declares options, only these suit it.

    A default of ``nan = "lower"`` is ignored for a count, whose `nan` is "keep", "drop" or "only".
    """
    return {key: value for key, value in defaults.items() if _fits(function, key, value)}


def _group_defaults(table: Mapping[str, Any], defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the defaults of a statistic of groups, without `column` and `nan` if it counts rows.

    A count of groups has a column only if its own entry names one.
    """
    column = _takes(BY_GROUP.get(str(table.get("statistic")))).get("column")
    if "column" in table or (column is not None and column.default is column.empty):
        return defaults
    return {key: value for key, value in defaults.items() if key not in ("column", "nan")}


def has(key: str, entry: Entry) -> bool:
    """Return whether a release, or a statistic inside it, has the argument `key`."""
    arguments = entry.written["arguments"]
    inner = [arguments.get("of"), *arguments.get("statistics", {}).values()]
    return key in arguments or any(isinstance(table, dict) and key in table for table in inner)


def _fits(function: Callable[..., Any], name: str, value: Any) -> bool:
    kinds = _kinds(get_type_hints(function).get(name, Any))
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    others = [kind for kind in kinds if get_origin(kind) is not Literal]
    if not words or value in words:
        return True
    return bool({Any, str} & {*others}) or not (isinstance(value, str) or others in ([], [NONE]))


def _kinds(annotation: Any) -> list[Any]:
    """Return the member types of a union, with nested unions flattened."""
    if get_origin(annotation) in (Union, UnionType):
        return [kind for member in get_args(annotation) for kind in _kinds(member)]
    return [annotation]


def _by(prefix: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the columns of group keys; none for a release without groups."""
    if "by" not in table:
        if "agg" in table:
            checks.fail(f"{prefix}by", "given, because agg needs groups of rows", None)
        return ()
    by = [table["by"]] if isinstance(table["by"], str) else table["by"]
    if not isinstance(by, list) or not by:
        checks.fail(f"{prefix}by", "the name of a column, or a list of names", table["by"])
    return tuple(text(f"{prefix}by[{i}]", name) for i, name in enumerate(by))


def _keys(where: str, value: str, folder: Path, by: tuple[str, ...]) -> KeyTexts:
    """Return the public group keys of the file that a text such as "@keys.txt" names."""
    if not value.startswith("@"):
        checks.fail(where, 'a list of keys, or a file of keys such as "@keys.txt"', value)
    try:
        return read_keys(folder / file_name(where, value[1:]), by)
    except DpfastError as error:
        raise type(error)(f"{where}: {error}") from None


def _of_defaults(tables: Any, defaults: Mapping[str, Any]) -> Any:
    """Return the tables of several statistics, each completed by the defaults that it takes."""
    if not isinstance(tables, dict):
        return tables
    completed = dict(tables)
    for name, table in tables.items():
        if isinstance(table, dict) and str(table.get("statistic")) in OF_GROUPS:
            table = with_ends(f"agg.{name}.", table, defaults)
            function = OF_GROUPS[str(table["statistic"])]
            shared = _group_defaults(table, defaults)
            shared = {key: shared[key] for key in _takes(function) if key in shared}
            completed[name] = _fitting(function, shared) | table
    return completed


def _several(where: str, tables: Any) -> dict[str, Any]:
    """Return the `dpfast.stat` statistics that the tables of [release.agg] describe, by name."""
    if not isinstance(tables, dict) or not tables:
        checks.fail_type(where, "one or more tables [release.agg.NAME]", tables)
    statistics = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            checks.fail_type(f"{where}.{name}", f"a table, [release.agg.{name}]", table)
        statistics[name] = _called(f"{where}.{name}", "statistic", table, OF_GROUPS)
    return statistics


def _check_arguments(
    prefix: str, name: str, takes: Mapping[str, inspect.Parameter], arguments: Mapping[str, Any]
) -> None:
    """Refuse arguments that the function `name` does not take, and a missing one that it needs."""
    for key, value in arguments.items():
        if key not in takes:
            rule = f"one of the arguments of {name}{hint(key, takes)}: {', '.join(takes)}"
            checks.fail(f"{prefix}{key}", rule, value)
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in arguments:
            checks.fail(f"{prefix}{key}", f"given, because {name} needs it", None)


def _columns(prefix: str, table: Mapping[str, Any]) -> tuple[tuple[str | None, ...], bool]:
    """Return the names of a release's columns, and whether they were given as a list."""
    line, named = STATISTICS.get(str(table.get("statistic"))), {"column", "columns"} & table.keys()
    takes = _takes(line.kind) if line and line.kind else ("column",)
    if "column" not in takes and not named:  # the statistic reads no column
        return (), False
    if not named:
        checks.fail(f"{prefix}column", "given (or columns, for several columns)", None)
    if len(named) == 2:
        rule = "left out, because column is given, too"
        checks.fail(f"{prefix}columns", rule, table["columns"])
    if "column" in table:
        only = table["column"]  # the command line may leave out the column
        return (None if only is None else text(f"{prefix}column", only),), False
    columns = table["columns"]
    if not isinstance(columns, list) or not columns:
        checks.fail(f"{prefix}columns", "a list of at least one name", columns)
    names = tuple(text(f"{prefix}columns[{i}]", name) for i, name in enumerate(columns))
    if len(set(names)) < len(names):
        checks.fail(f"{prefix}columns", "a list of different names", columns)
    return names, True


def _estimator(where: str, value: Any) -> Any:
    """Return an estimator's name, or the estimator of a table {class = "Quantile", q = 0.9}."""
    if not isinstance(value, dict):
        return checks.text(where, value)
    kinds = {name: getattr(estimators, name) for name in estimators.__all__}
    return _called(where, "class", value, kinds)


def _called(where: str, key: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Call the function that a table names under `key`, with its other entries as arguments."""
    arguments = dict(table)
    name = checks.choice(f"{where}.{key}", arguments.pop(key, None), kinds)
    _check_arguments(f"{where}.", name, inspect.signature(kinds[name]).parameters, arguments)
    try:
        return kinds[name](**arguments)
    except ArgumentError as error:
        raise type(error)(f"{where}: {error}") from None
