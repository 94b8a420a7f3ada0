"""`Mechanism`: the interface of the mechanisms that `release` charges and runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from .._core.error_bars import UNKNOWN, ErrorBar, unknown
from ..privacy import Loss
from ..rng import Generator

Value = TypeVar("Value", covariant=True)


class MechanismLike(Protocol[Value]):
    """The members that `dpfast.extend.release` needs of a mechanism; see `Mechanism`."""

    @property
    def loss(self) -> Loss:
        """The loss that a call spends."""

    @property
    def neighbors(self) -> str:
        """The neighboring relation that the loss is for: "add-remove" or "replace"."""

    @property
    def name(self) -> str:
        """The name in the ledger."""

    def reduce(self, source: Any) -> Any:
        """Read the rows of a `source` and return a summary without noise. It draws no bits.

        Parameters
        ----------
        source : Source
            The rows.

        Returns
        -------
        Any
            The argument of `finish`. It is not private and must not be shown to anyone.
        """

    def finish(self, summary: Any, generator: Generator) -> Value:
        """Return the answer for a `summary`, with noise from a `generator`. It reads no rows.

        Parameters
        ----------
        summary : Any
            The result of `reduce`.
        generator : Generator
            The source of the noise.

        Returns
        -------
        Any
            The answer, which may be published.
        """


class Mechanism(ABC, Generic[Value]):
    """Base class of mechanisms, which `dpfast.extend.release` charges and runs.

    A subclass defines `loss`, `neighbors`, `name`, `reduce` and `finish`. All other members have a
    default. A mechanism is immutable, and its constructor checks every argument.

    Attributes
    ----------
    loss : Loss
        The loss that a call spends.
    neighbors : {"add-remove", "replace"}
        The neighboring relation that the loss is for.
    name : str
        The name in the ledger.
    ids : str, optional
        The name of the column of ids if the privacy unit is a person; "" if the ids have no name.
        None, the default, means that the privacy unit is a row.
    has_public_rows : bool
        Whether the mechanism uses all rows of a column and their number is public. False by
        default.
    of_parts : bool
        Whether the argument `rows` of `error` is the number of rows of each group, which is
        private, and not of all data. False by default.
    passes : int, optional
        How many times the mechanism reads the rows: 1 by default, None if that is not known before.
    of_ranks : bool
        Whether the mechanism reads order statistics (ranks). They take one more pass, which finds
        pivots, unless a sample provides these. False by default.
    missing : str or float, or dict of these, optional
        How missing values are treated, as the value of the argument `nan`; a dict by name for
        several statistics. None, the default, if the mechanism has no such argument.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import dpfast as dp
    >>> @dataclass(frozen=True)
    ... class Rows(dp.extend.Mechanism[int]):
    ...     loss: dp.privacy.Loss
    ...     neighbors: str = "add-remove"
    ...     name: str = "rows"
    ...
    ...     def reduce(self, source):
    ...         return source.reduce(lambda chunk: len(chunk.values), int.__add__)
    ...
    ...     def finish(self, summary, generator):
    ...         return dp.extend.integer_noise(self.loss).add([summary], generator)[0]
    >>> rows = Rows(dp.privacy.Pure(1))
    >>> rows.parts, rows.error(100, 0.95).note
    ({'rows': Pure(epsilon=1)}, 'no bound from public numbers is known')
    >>> abs(dp.extend.release([1, 2, 3], rows, budget=dp.Budget(epsilon=1)) - 3) < 40
    True
    >>> abs(rows.finish(3, dp.rng.default_generator()) - 3) < 40  # without a budget
    True
    """

    __slots__ = ()

    #: Why the error bar is unknown, for mechanisms that have none for any rows.
    _no_bar: ClassVar[str] = UNKNOWN

    # Declared as properties for type checkers: a subclass may use a field or a constant instead.
    if TYPE_CHECKING:

        @property
        @abstractmethod
        def loss(self) -> Loss: ...
        @property
        @abstractmethod
        def neighbors(self) -> str: ...
        @property
        @abstractmethod
        def name(self) -> str: ...
        @property
        def ids(self) -> str | None: ...
        @property
        def has_public_rows(self) -> bool:
            return False

        @property
        def of_parts(self) -> bool:
            return False

        @property
        def passes(self) -> int | None: ...
        @property
        def of_ranks(self) -> bool:
            return False

        @property
        def missing(self) -> Any: ...

    else:  # real properties would become the defaults of dataclass fields, so these are constants
        ids, has_public_rows, of_parts, passes, of_ranks = None, False, False, 1, False
        missing = None

    @abstractmethod
    def reduce(self, source: Any) -> Any:
        """Read the rows of a `source` and return a summary without noise. It draws no bits.

        Parameters
        ----------
        source : Source
            The rows.

        Returns
        -------
        Any
            The argument of `finish`. It is not private and must not be shown to anyone.
        """

    @abstractmethod
    def finish(self, summary: Any, generator: Generator) -> Value:
        """Return the answer for a `summary`, with noise from a `generator`. It reads no rows.

        Parameters
        ----------
        summary : Any
            The result of `reduce`.
        generator : Generator
            The source of the noise.

        Returns
        -------
        Any
            The answer, which may be published.
        """

    def answered(
        self, summary: Any, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Value, ErrorBar]:
        """Return the answer of `finish` with its error bar.

        By default the error bar is computed from public numbers. A mechanism may also compute it
        from the noisy numbers of its answer, which is post-processing.

        Parameters
        ----------
        summary : Any
            The result of `reduce`.
        generator : Generator
        rows : int or None
            The number of rows, if it is public.
        confidence : float

        Returns
        -------
        (object, ErrorBar)

        Examples
        --------
        >>> import dpfast as dp
        >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
        >>> summary = mean.reduce(mean.prepare([23, 35, 41] * 400).source)
        >>> generator = dp.rng.default_generator()
        >>> answer, bar = mean.answered(summary, generator, None, 0.95)  # by noisy sums
        >>> 0.2 < bar.half_width < 0.5
        True
        """
        return self.finish(summary, generator), expected(self, rows, confidence)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the answer, from public numbers alone. By default it is unknown.

        Parameters
        ----------
        rows : int or None
            The number of rows, at least 1; None if it is unknown.
        confidence : float
            The probability that the error is within the bar.

        Returns
        -------
        ErrorBar
        """
        return unknown(confidence, self._no_bar)

    @property
    def what(self) -> str:
        """The description of a call in the ledger: the name, and how missing rows are treated.

        Returns
        -------
        str
        """
        missing = self.missing
        return self.name if missing is None else f"{self.name}, nan={missing}"

    @property
    def algorithm(self) -> str:
        """The name of the algorithm behind the answer; by default the name of its class.

        Returns
        -------
        str
        """
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters by name: by default the fields of its dataclass.

        Returns
        -------
        dict
        """
        if not is_dataclass(self):
            return {}
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def parts(self) -> dict[str, Loss]:
        """The parts of the loss by name: by default one part, with the name of the mechanism.

        Returns
        -------
        dict
        """
        return {self.name: self.loss}

    @property
    def integer_noise(self) -> Any:
        """The integer noise that the mechanism adds; None if it adds no single `IntegerNoise`.

        Returns
        -------
        IntegerNoise or None
        """
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the columns that the mechanism reads by name; empty if there are none."""
        return ()

    @property
    def noise_parameters(self) -> dict[str, Any]:
        """The public numbers of the noise, as `dpfast.mechanism.calibration` has them.

        Returns
        -------
        dict
            By default the numbers of `integer_noise`. Empty if the noise depends on the number of
            rows.
        """
        noise = self.integer_noise
        return {} if noise is None else {"noise": noise.distribution, "deviation": noise.deviation}


def expected(mechanism: Mechanism[Any], rows: int | None, confidence: float) -> ErrorBar:
    """Return the error bar for a number of rows; 0 rows count as one row."""
    return mechanism.error(None if rows is None else max(1, rows), confidence)
