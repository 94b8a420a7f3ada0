"""A job file: which releases are asked of which data, and what they may cost together.

    [data]      path; rows (a public guess, for error bars)
    [budget]    epsilon, with delta, or rho, of the whole job; neighbors; path (a ledger); name
    [output]    path (.json, .csv or .parquet)
    [defaults]  arguments of every release that takes them
    [[release]] statistic, column or columns, name, weight, and arguments of the public function

Everything that can be wrong with the file itself is found here. What an argument of a release may
be is known to its function alone.
"""

from __future__ import annotations

import difflib
import inspect
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..._core import checks
from ..._core.types import Neighbors
from ...aggregate import estimators
from ...aggregate.api import sample_and_aggregate
from ...errors import ArgumentError, SourceError
from ...privacy import Loss
from ...privacy import loss as make_loss
from ...statistics import ptr
from ...statistics.covariance import covariance
from ...statistics.extremes import maximum, minimum
from ...statistics.histogram import histogram
from ...statistics.iqr import iqr
from ...statistics.quantiles.api import median, quantile, quantiles
from ...statistics.totals.api import count, mean, sum, variance
from ...statistics.trimmed import trimmed_mean, winsorized_mean

#: Whatever takes data and a budget, by its public name.
STATISTICS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(count, sum, mean, variance, covariance, histogram, median, quantile, quantiles),
        *(minimum, maximum, iqr, trimmed_mean, winsorized_mean, sample_and_aggregate),
    )
} | {f"ptr.{name}": getattr(ptr, name) for name in ("iqr", "mean", "quantile", "release")}

SECTIONS = {
    "data": ("path", "rows"),
    "budget": ("epsilon", "delta", "rho", "neighbors", "path", "name"),
    "output": ("path",),
    "defaults": None,
    "release": None,
}
#: Keys of a release that are no arguments of its function.
OWN = ("statistic", "column", "columns", "name", "weight")
#: What the job says for all, or what no file can hold.
NOT_HERE = {
    "epsilon": "left out: the job's budget is divided by weight",
    "delta": "left out: the job's budget is divided by weight",
    "rho": "left out: the job's budget is divided by weight",
    "neighbors": "left out: [budget] says it for the whole job",
    "budget": "left out: [budget] says it for the whole job",
    "rng": "left out: a job is private",
    "data": "left out: [data] says it for the whole job",
    "progress": "left out: the job has a bar of its own",
    "where": "left out: a job has no column of booleans for it",
}
ENDINGS = (".json", ".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Entry:
    """One release that is asked for. `written` is what its file says, for a digest."""

    name: str
    statistic: str
    columns: tuple[str, ...]
    is_table: bool
    weight: Fraction
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    written: Mapping[str, Any]

    @property
    def takes(self) -> Collection[str]:
        """The parameters of the function."""
        return inspect.signature(self.function).parameters


@dataclass(frozen=True, slots=True)
class Job:
    """A job file that says nothing impossible. Paths are as seen from where the file is."""

    path: Path
    data: str
    rows: int | None
    loss: Loss
    neighbors: Neighbors
    ledger: Path | None
    name: str
    output: Path | None
    entries: tuple[Entry, ...]


def read(path: Any) -> Job:
    """The job of a file.

    Raises
    ------
    SourceError
        If there is no such file.
    ArgumentError, ArgumentTypeError
        If it is no TOML, or says what no job can say.
    """
    try:
        file = Path(path)
        content = file.read_bytes()
    except OSError as error:
        raise SourceError(f"job file {str(path)!r} cannot be read: {error.strerror}") from None
    except (TypeError, ValueError):
        checks.fail_type("path", "the path of a job file", path)
    try:
        found = tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise ArgumentError(f"job file {file.name} must be TOML in UTF-8") from None
    except ValueError as error:  # also of an integer of thousands of digits
        raise ArgumentError(f"job file {file.name} must be TOML: {error}") from None
    except RecursionError:
        raise ArgumentError(f"job file {file.name} must be TOML that is not so deep") from None
    _known("", found, SECTIONS)
    parts = {name: _table(name, found, keys) for name, keys in SECTIONS.items() if keys}
    data, budget, output = parts["data"], parts["budget"], parts["output"]
    here = file.absolute().parent
    kinds = [kind for kind in ("epsilon", "delta", "rho") if kind in budget]
    amounts = {kind: _amount(f"budget.{kind}", budget[kind]) for kind in kinds}
    rows = data.get("rows")
    ledger = budget.get("path")
    written = found.get("release", [])
    tables = isinstance(written, list) and all(isinstance(table, dict) for table in written)
    if not tables or not written:
        checks.fail("release", "at least one [[release]]", written)
    return Job(
        path=file,
        data=str(here / _file("data.path", data.get("path"))),
        rows=None if rows is None else checks.whole("data.rows", rows, 1),
        loss=make_loss(amounts.get("epsilon"), amounts.get("delta", 0), amounts.get("rho")),
        neighbors=checks.neighbors(budget.get("neighbors", "replace")),
        ledger=None if ledger is None else here / _file("budget.path", ledger),
        name=checks.text("budget.name", budget.get("name", "")),
        output=_output(here, output.get("path")),
        entries=_entries(written, _defaults(found)),
    )


def _known(place: str, given: Collection[str], names: Collection[str]) -> None:
    for key in given:
        if key not in names:
            near = difflib.get_close_matches(key, names, 1, 0.6)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            checks.fail(f"{place}{key}", f"one of {', '.join(names)}{hint}", key)


def _table(name: str, found: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        checks.fail_type(name, f"a table, [{name}]", table)
    _known(f"{name}.", table, keys)
    return table


def _text(name: str, value: Any) -> str:
    if value is None or value == "":
        checks.fail(name, "given", value)
    return checks.text(name, value)


def _file(name: str, value: Any) -> str:
    if "\0" in (found := _text(name, value)):
        checks.fail(name, "the name of a file", value)
    return found


def _amount(name: str, value: Any) -> Any:
    """A number, or a text such as "1/3" for one that no decimal can write."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[0-9]{1,400}(/[0-9]{1,400})?|[0-9]{0,400}\.[0-9]{1,400}", value):
        checks.fail(name, 'a number, or a ratio such as "1/3"', value)
    try:
        return Fraction(value)
    except ZeroDivisionError:
        checks.fail(name, 'a number, or a ratio such as "1/3"', value)


def _output(here: Path, path: Any) -> Path | None:
    if path is None:
        return None
    found = here / _file("output.path", path)
    if found.suffix.lower() not in ENDINGS:
        checks.fail("output.path", f"a name that ends in one of {', '.join(ENDINGS)}", path)
    return found


def _defaults(found: Mapping[str, Any]) -> dict[str, Any]:
    table = found.get("defaults", {})
    if not isinstance(table, dict):
        checks.fail_type("defaults", "a table, [defaults]", table)
    for key, value in table.items():
        if key in NOT_HERE or key in OWN:
            checks.fail(f"defaults.{key}", NOT_HERE.get(key, "left to each release"), value)
    return table


def _entries(written: list[dict[str, Any]], defaults: dict[str, Any]) -> tuple[Entry, ...]:
    made: list[Entry] = []
    for number, table in enumerate(written, 1):
        entry = _entry(number, table, defaults)
        if any(entry.name == other.name for other in made):
            checks.fail(f"release {number}: name", "another one than those before", entry.name)
        made.append(entry)
    for key, value in defaults.items():
        if not any(key in entry.takes for entry in made):
            checks.fail(f"defaults.{key}", "an argument of one of the releases", value)
    return tuple(made)


def _entry(number: int, table: dict[str, Any], defaults: dict[str, Any]) -> Entry:
    where = f"release {number}"
    statistic = _text(f"{where}: statistic", table.get("statistic"))
    columns, is_table = _columns(where, table)
    name = _text(f"{where}: name", table.get("name", f"{statistic} of {', '.join(columns)}"))
    where = f"release {name!r}"
    function = _function(f"{where}: statistic", statistic)
    parameters = inspect.signature(function).parameters
    given = {key: value for key, value in table.items() if key not in OWN}
    allowed = [key for key in parameters if key not in NOT_HERE]
    for key, value in given.items():
        if key in NOT_HERE:
            checks.fail(f"{where}: {key}", NOT_HERE[key], value)
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1, 0.6)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            rule = f"an argument of {statistic}{hint}, which are {', '.join(allowed)}"
            checks.fail(f"{where}: {key}", rule, value)
    given = {**{key: defaults[key] for key in allowed if key in defaults}, **given}
    for key in allowed:
        if parameters[key].default is inspect.Parameter.empty and key not in given:
            checks.fail(f"{where}: {key}", f"given: {statistic} needs it", None)
    arguments = dict(given)
    if "estimator" in arguments:
        arguments["estimator"] = _estimator(f"{where}: estimator", arguments["estimator"])
    written = {"statistic": statistic, "columns": columns, "table": is_table, "arguments": given}
    for key in ("weights", "ids"):
        if key in arguments:
            _text(f"{where}: {key}", arguments[key])  # a column beside
    weight = checks.fraction(
        f"{where}: weight", _amount(f"{where}: weight", table.get("weight", 1))
    )
    if weight <= 0:
        checks.fail(f"{where}: weight", "greater than 0", table["weight"])
    return Entry(name, statistic, columns, is_table, weight, function, arguments, written)


def _columns(where: str, table: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    if ("column" in table) == ("columns" in table):
        checks.fail(f"{where}: column", "given, or columns instead", table.get("column"))
    if "column" in table:
        return (_text(f"{where}: column", table["column"]),), False
    columns = table["columns"]
    if not isinstance(columns, list) or not columns:
        checks.fail(f"{where}: columns", "a list of at least one name", columns)
    found = tuple(_text(f"{where}: columns[{i}]", name) for i, name in enumerate(columns))
    if len(set(found)) < len(found):
        checks.fail(f"{where}: columns", "different names", columns)
    return found, True


def _function(where: str, statistic: str) -> Callable[..., Any]:
    """The public function of a name: whatever takes data and a budget."""
    if statistic not in STATISTICS:
        near = difflib.get_close_matches(statistic, STATISTICS, 1, 0.6)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        checks.fail(where, f"one of {', '.join(sorted(STATISTICS))}{hint}", statistic)
    return STATISTICS[statistic]


def _estimator(where: str, value: Any) -> Any:
    """A name, or a table such as {class = "Quantile", q = 0.9}."""
    if not isinstance(value, dict):
        return checks.text(where, value)
    given = dict(value)
    kind = checks.choice(f"{where}.class", given.pop("class", None), estimators.__all__)
    made = getattr(estimators, kind)
    takes = inspect.signature(made).parameters
    for key in given:
        if key not in takes:
            checks.fail(f"{where}.{key}", f"an argument of {kind}: {', '.join(takes)}", given[key])
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in given:
            checks.fail(f"{where}.{key}", f"given: {kind} needs it", None)
    try:
        return made(**given)
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error}") from None
