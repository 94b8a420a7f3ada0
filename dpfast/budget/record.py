"""The record of a release: all public facts about it, in the types of JSON.

The ledger, the command line, jobs and notebooks show this dict. It is made before a row is read,
from public arguments, types and noise. So it does not depend on the rows, and it has no answer. Its
schema is `docs/schema/release.json`, in the version `SCHEMA`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType
from typing import Any, Protocol, cast

import numpy as np

from .._core import checks
from .._core.error_bars import CONFIDENCE, ErrorBar
from ..privacy import Loss
from ..tables.batches import Batches
from ..tables.intake import View
from .ledger.text import exact, parts_of
from .mechanism import Mechanism, expected

#: The version of the schema of records.
SCHEMA = 1
#: Fields of a mechanism that a record has elsewhere, so they are left out of its parameters.
SAID = ("loss", "neighbors", "name", "ids")
#: Types whose values are written as their text.
TEXTS = (float, dt.date, dt.timedelta, np.datetime64, np.timedelta64, Decimal)
#: A list with more values is written as its length and a digest.
LONGEST = 100

#: The version of the data that releases use, as `data_version` states it.
_VERSION: ContextVar[str] = ContextVar("dpfast data version", default="")


@contextmanager
def data_version(version: str) -> Iterator[None]:
    """Add a version of the data to the record of each release in a ``with`` block.

    The version holds for the context (`contextvars`): for this thread, or for this asyncio task.

    Parameters
    ----------
    version : str
        A public text, such as the date on which the data were extracted. It must not be computed
        from the rows. An empty text leaves the version of an outer block as it is.

    Returns
    -------
    context manager

    Raises
    ------
    ArgumentTypeError
        If `version` is not a string.

    Examples
    --------
    >>> import dpfast as dp
    >>> budget = dp.Budget(epsilon=1)
    >>> with dp.extend.data_version("June 2026"):
    ...     rows = dp.count([1, 2, 3], epsilon=1, budget=budget)
    >>> budget.history[0].record["data"]["version"]
    'June 2026'
    """
    token = _VERSION.set(checks.text("version", version) or _VERSION.get())
    try:
        yield
    finally:
        _VERSION.reset(token)


def source_of(source: Any, mechanism: Mechanism[Any]) -> dict[str, Any]:
    """Return the public facts about the data that a mechanism reads, for the record of a release.

    Parameters
    ----------
    source : View, Batches or object
    mechanism : Mechanism

    Returns
    -------
    dict
        ``engine``, ``columns``, ``where``, ``rows`` and ``version``, as in a record.
    """
    facts: dict[str, Any]
    facts = {"engine": "memory", "columns": (), "where": None, "rows": None}
    if isinstance(source, (View, Batches)):
        rows = source.length if mechanism.has_public_rows else None
        where = source.condition
        names = mechanism.reads if isinstance(source, Batches) else source.named
        facts = {"engine": source.engine, "columns": names, "where": where, "rows": rows}
    return {**facts, "version": _VERSION.get()}


class Question(Protocol):
    """The statistic of a release, and its public parameters."""

    @property
    def name(self) -> str:
        """The public name of the statistic."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters, by name."""

    def with_ends(self, confidence: float) -> Mechanism[Any] | None:
        """Return a mechanism that also releases two ends, or None if the error bar needs none."""


@dataclass(frozen=True, slots=True)
class Record(Mapping[str, Any]):
    """All public facts about a release, as a mapping in the types of JSON. It has no rows.

    Parameters
    ----------
    mechanism : Mechanism
    source : dict
        Facts about the data, as `source_of` returns them.
    loss : Loss
        The loss that the release spends.
    question : Question, optional
        The object with the name and the parameters of the statistic; by default the mechanism.
    """

    mechanism: Mechanism[Any]
    source: dict[str, Any]
    loss: Loss
    question: Question | None = None
    #: The facts of the record, kept after they are first computed.
    kept_facts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters in the types of JSON."""
        mechanism = self.mechanism
        public: Mapping[str, Any]
        if self.question is not None:
            public = self.question.parameters
        else:  # a mechanism may hold anything, so only plain fields are taken
            public = {name: value for name, value in mechanism.parameters.items() if plain(value)}
        return {
            name: short(described(value))
            for name, value in public.items()
            if value is not None and name not in SAID
        }

    def error(self, confidence: float = CONFIDENCE) -> ErrorBar:
        """Return the error bar from public numbers, which is known before the release.

        Parameters
        ----------
        confidence : float, default 0.95

        Returns
        -------
        ErrorBar
        """
        return expected(self.mechanism, self.source["rows"], confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the record in the types of JSON.

        Returns
        -------
        dict
        """
        mechanism, source = self.mechanism, self.source
        if self.kept_facts:
            return deepcopy(self.kept_facts)
        facts = {
            "schema": SCHEMA,
            "statistic": (self.question or mechanism).name,
            "mechanism": mechanism.algorithm,
            "parameters": self.parameters,
            "data": {**source, "columns": list(source["columns"])},
            "unit": {"neighbors": mechanism.neighbors, "ids": mechanism.ids},
            "loss": parts_of(self.loss, exact),
            "noise": short(described(mechanism.noise_parameters)),
            "error": short(described(asdict(self.error()))),
            "program": f"dpfast {sys.modules['dpfast'].__version__}",
        }
        self.kept_facts.update(facts)
        return deepcopy(self.kept_facts)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The name and the public parameters of a release that is not a statistic, as a `Question`."""

    name: str
    parameters: dict[str, Any]

    def with_ends(self, confidence: float) -> None:
        """Return None: no other mechanism releases an interval for this answer."""


def described(value: Any) -> Any:
    """Return a public value in the types of JSON.

    Parameters
    ----------
    value : object

    Returns
    -------
    None, bool, int, float, str, list or dict
        A fraction becomes a number if its shortest decimal is exact, and a text otherwise. Other
        numbers that JSON does not have become texts. A function becomes its name.
    """
    return checks.plain(value, _described)


def _described(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value) if Fraction(repr(float(value))) == value else str(value)
    if isinstance(value, tuple):  # a named tuple
        return described(cast(Any, value)._asdict())
    if isinstance(value, Mapping):
        return described({str(name): item for name, item in value.items()})
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        named = {name: item for name, item in values.items() if item is not None}
        return described({"kind": type(value).__name__, **named})
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, TEXTS):
        return str(value)
    if isinstance(value, (FunctionType, BuiltinFunctionType, type)):
        return value.__qualname__
    return type(value).__name__


def short(value: Any) -> Any:
    """Return a value in JSON types; a list longer than `LONGEST` becomes a length and a digest."""
    if isinstance(value, dict):
        return {name: short(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    every = [short(item) for item in value]
    if len(every) <= LONGEST:
        return every
    digest = hashlib.sha256(json.dumps(every).encode()).hexdigest()
    return {"length": len(every), "sha256": digest}


def plain(value: Any) -> bool:
    """Tell whether a value is a number, a text, or a tuple of these."""
    if isinstance(value, tuple):
        return all(map(plain, value))
    return isinstance(value, (bool, int, float, str, Fraction))
