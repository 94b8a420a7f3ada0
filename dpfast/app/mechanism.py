"""`mechanism`: a release without its data, as an object.

The object holds the public name of a function and the public arguments of a call, and nothing else.
The call itself states the loss and the expected error (`budget.release.prepare`), for data of no
rows. So there is one source of losses, and a mechanism cannot promise more than the call.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np

from .. import STATISTICS, Budget, Statistic, expected_error, select_keys
from ..extend import (
    ErrorBar,
    IntegerNoise,
    Mechanism,
    Neighbors,
    Prepared,
    Preparing,
    checks,
    exact,
    html,
    prepare,
)
from ..privacy import Loss
from ..rng import Generator

#: The functions whose loss and noise can be computed without rows, by their public names.
RELEASES: dict[str, Callable[..., Any]] = {
    word: entry.function
    for word, entry in STATISTICS.items()
    if word not in ("ptr.release", "sample_and_aggregate", "difference", "describe")
} | {"select_keys": select_keys}
#: The version of `mechanism.to_dict`.
VERSION = 1
#: Arguments of a call that come with the rows.
OF_CALLS = ("data", "column", "where", "weights", "ids", "budget", "rng")
#: For each argument that needs another one with the rows: which one.
NEEDS = dict.fromkeys(("max_rows", "max_groups", "per_unit"), "ids") | {"weight_bounds": "weights"}
#: The key of a number, as exact text, in `mechanism.to_dict`.
NUMBER = "number"
RULE = "a number, a text, True, False, None, or a list of these"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class mechanism(Preparing[Any]):
    """A release without its data, whose loss and expected error are known before it is run.

    Parameters
    ----------
    function : callable
        A release of one column or table, such as ``dp.median``.
    columns : int, optional
        The number of columns of the data. If left out, the data are one column.
    dtype : str, default "float64"
        The type of the columns, for example "int64", or "str" for text.
    **arguments
        Public arguments of the function, as numbers, texts and lists. Leave out `budget`, `rng`,
        and the arguments that hold rows (`where`, `weights`, `ids`): these are passed when the
        mechanism is called.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the function.

    See Also
    --------
    dpfast.Budget.cost, dpfast.expected_error : Take a mechanism in the place of a function.

    Notes
    -----
    To call the mechanism is to call the function with these arguments: the checks, loss, random
    bits and answer are the same. With `where` the noise may be another one, for no more than the
    requested loss.

    A mechanism cannot be changed, and can be pickled. Two mechanisms of the same function and
    arguments are equal.

    Examples
    --------
    >>> import dpfast as dp
    >>> median = dp.mechanism(dp.median, bounds=(0, 120), epsilon=1)
    >>> median
    mechanism(median, bounds=(0, 120), epsilon=1, nan='drop')
    >>> median.loss, median.neighbors, round(median.expected_error().ranks)
    (Draws(epsilon=1, draws=1, bounded_range=True), 'add-remove', 33)
    >>> ages, budget = [23, 35, 41, 58, 62] * 200, dp.Budget(epsilon=1)
    >>> 35 <= median(ages, budget=budget) <= 58
    True
    >>> dp.mechanism.from_dict(median.to_dict()) == median
    True
    """

    name: str
    columns: int | None
    dtype: str
    _items: tuple[tuple[str, Any], ...]

    def __init__(
        self,
        function: Callable[..., Any],
        /,
        *,
        columns: int | None = None,
        dtype: str = "float64",
        **arguments: Any,
    ) -> None:
        names = [name for name, release in RELEASES.items() if release is function]
        if not names:
            rule = "a release of one column or table, such as dpfast.median"
            checks.fail("function", rule, function)
        takes = inspect.signature(function).parameters
        for name, value in arguments.items():
            if name in OF_CALLS:
                checks.fail(name, "left out, because it is passed with the data", value)
            if name not in takes:
                checks.fail("arguments", f"names of arguments of {names[0]}", name)
        items = tuple((name, _kept(name, value)) for name, value in arguments.items())
        most = Statistic.most_columns
        width = None if columns is None else checks.whole("columns", columns, 1, most)
        fields = {"name": names[0], "columns": width, "dtype": _dtype(dtype)}
        for name, value in {**fields, "_items": tuple(sorted(items))}.items():
            object.__setattr__(self, name, value)
        self._prepared()

    def __repr__(self) -> str:
        more: dict[str, Any] = {} if self.columns is None else {"columns": self.columns}
        more |= {} if self.dtype == "float64" else {"dtype": self.dtype}
        more |= self.arguments
        if (missing := self._prepared().missing) is not None:
            more.setdefault("nan", missing)
        shown = [f"{name}={value!r}" for name, value in more.items()]
        return f"mechanism({', '.join([self.name, *shown])})"

    def _repr_html_(self) -> str:
        """Return the mechanism's loss, error and privacy theorem as HTML for notebooks."""
        bar = self.expected_error()
        about = {"loss": self.loss, "neighbors": self.neighbors, **self.calibration}
        about |= {f"error ({bar.confidence:.0%})": str(bar)}
        why = f"<details><summary>theorem</summary><pre>{escape(self.theorem)}</pre></details>"
        return html.facts(repr(self), about, why)

    def __call__(
        self, data: Any, *, budget: Budget | None = None, rng: Generator | None = None, **rows: Any
    ) -> Any:
        """Release the answer about data, as a call of the function would.

        Parameters
        ----------
        data : array_like, table, file or source
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.
        **rows
            The arguments with an entry for each row: `where`, `weights`, `ids`.

        Returns
        -------
        The answer of the function.
        """
        return self.prepare(data, **rows, budget=budget, rng=rng).run()

    def prepare(self, data: Any, **rows: Any) -> Prepared[Any]:
        """Check the arguments of a call and return it ready to run; see `dpfast.extend.prepare`.

        Parameters
        ----------
        data : array_like, table, file or source
        **rows
            As for a call.

        Returns
        -------
        Prepared

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.mechanism(dp.count, epsilon=1).prepare([1, 2, 3]).mechanism.loss
        Pure(epsilon=1)
        """
        arguments = self.arguments
        for name in arguments.keys() & rows.keys():
            checks.fail(name, "left out, because the mechanism already has it", rows[name])
        return prepare(RELEASES[self.name], data, **arguments, **rows)

    @property
    def arguments(self) -> dict[str, Any]:
        """The public arguments of the mechanism, by name."""
        return dict(self._items)

    @property
    def loss(self) -> Loss:
        """The loss of a call under `neighbors`; `Budget.cost` has the loss that a budget counts."""
        return self._prepared().loss

    @property
    def neighbors(self) -> Neighbors:
        """The neighboring relation of a call, unless the budget of the call has another."""
        return checks.neighbors(self._prepared().neighbors)

    @property
    def theorem(self) -> str:
        """The privacy theorem behind `loss`: the section Privacy of the function's docstring."""
        text = inspect.getdoc(RELEASES[self.name]) or ""
        match = re.search(r"^Privacy\n-+\n(.*?)\n\n[^\n]+\n-+\n", text, re.M | re.S)
        return match[1] if match else ""

    @property
    def noise(self) -> IntegerNoise | None:
        """The noise that the mechanism adds to integers, or None. It may use a part of `loss`."""
        noise = self._prepared().integer_noise
        return noise if isinstance(noise, IntegerNoise) else None

    @property
    def calibration(self) -> dict[str, Any]:
        """The public parameters of the noise, by name.

        Noise that is added has ``noise``, the name of its distribution, and ``deviation``, its
        standard deviation in units of the data (a list if there are several columns). A draw of the
        exponential mechanism has ``rate``, the factor in its weights exp(-rate ranks). Noise for a
        smooth sensitivity S has ``alpha`` and ``beta``: its scale is S / alpha, and is secret.

        The dict is empty if the noise depends on the number of rows or of columns. For such noise
        see `expected_error`, which covers all cases.
        """
        return self._prepared().noise_parameters

    def expected_error(self, *, rows: int | None = None, confidence: float = 0.95) -> ErrorBar:
        """Return the error bar that holds for a share `confidence` of all answers.

        Parameters
        ----------
        rows : int, optional
            The number of rows of the data. The error of some answers, such as means, depends on it.
        confidence : float, default 0.95

        Returns
        -------
        ErrorBar
            As `dpfast.expected_error`.
        """
        return expected_error(self._prepared(), rows=rows, confidence=confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism as a dict of JSON's types, in which numbers are exact texts.

        Returns
        -------
        dict
        """
        return {
            "mechanism": VERSION,
            "function": self.name,
            "columns": self.columns,
            "dtype": self.dtype,
            "arguments": {name: _written(value) for name, value in self._items},
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> mechanism:
        """Return the mechanism that a dict made by `to_dict` describes.

        Parameters
        ----------
        written : mapping

        Returns
        -------
        mechanism

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `to_dict` of this version did not write the dict, or an argument breaks a rule.
        """
        rule = f"a dict that mechanism.to_dict of version {VERSION} has written"
        if not isinstance(written, Mapping) or written.get("mechanism") != VERSION:
            checks.fail_kind("written", rule, written)
        function, arguments = written.get("function"), written.get("arguments")
        if not isinstance(arguments, Mapping) or not all(
            isinstance(argument, str) for argument in arguments
        ):
            checks.fail_kind("arguments", "a mapping of argument names to values", arguments)
        if not isinstance(function, str) or function not in RELEASES:
            checks.fail("function", "the name of a release, such as 'median'", function)
        values = {name: _read(name, value) for name, value in arguments.items()}
        shape = {name: written[name] for name in ("columns", "dtype") if name in written}
        return cls(RELEASES[function], **shape, **values)

    def _prepared(self) -> Mechanism[Any]:
        """Return the `Mechanism` of a call with data of no rows, which states loss and error."""
        shape = 0 if self.columns is None else (0, self.columns)
        arguments = self.arguments
        columns: Any = {
            there: np.empty(0, int) for name, there in NEEDS.items() if arguments.get(name)
        }
        return prepare(
            RELEASES[self.name], np.empty(shape, self.dtype), **arguments, **columns
        ).mechanism


def _dtype(value: Any) -> str:
    """Check a dtype of numbers or words, and return its name."""
    rule = "the name of a type of numbers, or 'str'"
    try:
        kind = np.dtype(value) if isinstance(value, str) else None
    except (TypeError, ValueError):
        kind = None
    if kind is None or kind.kind not in "biufU":
        checks.fail("dtype", rule, value)
    return "str" if kind.kind == "U" else kind.name


def _kept(name: str, value: Any, depth: int = 8) -> Any:
    """Return a public value as an immutable object: lists as tuples, decimals as fractions."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    # Lists are read to a limited depth, because a list can contain itself.
    if isinstance(value, (list, tuple)) and depth:
        return tuple(_kept(f"{name}[{i}]", item, depth - 1) for i, item in enumerate(value))
    if value is None or type(value) in (bool, int, str, float, Fraction):
        return value
    if isinstance(value, float) and (number := checks.real(value)) is not None:  # a float of NumPy
        return number
    if isinstance(value, Decimal):
        return checks.fraction(name, value)
    checks.fail_type(name, RULE, value)


def _written(value: Any) -> Any:
    """Return a public value in the types of JSON, with exact numbers as text."""
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {NUMBER: exact(Fraction(value)).partition("/")[0]}
    return {NUMBER: exact(value) if isinstance(value, Fraction) else repr(value)}


def _read(name: str, value: Any) -> Any:
    """Return the public value that `_written` has converted to the types of JSON."""
    if isinstance(value, (list, tuple)):
        return tuple(_read(f"{name}[{i}]", item) for i, item in enumerate(value))
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping) and isinstance(text := value.get(NUMBER), str) and len(value) < 2:
        for kind in (_ratio, float) if "/" in text else (_whole, float):
            try:
                return kind(text)
            except (ValueError, ZeroDivisionError):
                continue
    checks.fail_kind(name, f"a text, True, False, None, {{{NUMBER!r}: text}}, or a list", value)


def _whole(text: str) -> int:
    return int(text, 0)


def _ratio(text: str) -> Fraction:
    above, below = map(_whole, text.split("/"))
    return Fraction(above, below)
