"""`marginals`: all k-way marginals of a table for one loss, by noise on their residuals.

Attribute i has d_i categories. For a set A of attributes, x_A are the exact counts of the cells of
their table, and N is the number of these cells. H = prod_A (I - J / d_i) subtracts the mean along
each axis, where J is all ones. The residual H x_A is the part of A's table that does not follow
from the tables of fewer attributes. So it is orthogonal to all other residuals:

    x_B, along the axes of B, = sum over A in B of H x_A, spread evenly over the axes of B not in A.

ResidualPlanner (Xiao, He, Zhang and Kifer, NeurIPS 2023) draws independent noise for each residual.

*Loss under add-remove.* A row that is added or removed changes x_A by a unit vector e, and H x_A by
H e, whose squared length is prod (d_i - 1) / d_i. The numbers N H x_A are integers. They change by
N H e, whose squared length is m = prod d_i (d_i - 1). The released numbers are y = N H x_A + z,
with independent integers z:

* Discrete Gaussian noise of parameter s. Its rho is m / (2 s^2), as for continuous noise on the
  residual (Canonne, Kamath and Steinke, NeurIPS 2020).
* Rounded Gaussian noise, so that y is a rounded sum (Balle and Wang, ICML 2018). The sum of all m /
  s^2 determines the loss.

The answer is computed from H y, so it is post-processing of y: H removes the part of z that is in
no residual. Because N H e is a vector of integers, discrete noise has exactly the loss of
continuous noise. (Noise on x_A would cost more, because the part that H subtracts changes, too.)

*Loss under replace.* A replaced row changes H x_A by H e - H e', of squared length 2 (prod (d_i -
1) / d_i - c). Here c is a product over A: its factor is (d_i - 1) / d_i if e and e' agree along i,
and otherwise -1 / d_i. The length is largest if they differ only along the axis with the least d.
It is then 2 m d / (d - 1), which is at least m, the value for a row that enters or leaves. The
total, A = {}, changes by at most 1.

Exact counts are clamped to a public number, at which nothing overflows. A row still changes a
single cell, by 1 or 0.

*The plan.* A cell of B has the variance sum over A in B of (s / N)^2 prod_A (d_i - 1) / d_i prod_(B
- A) 1 / d_i^2. With weights w_B, the sum over all cells is the sum over A of v s^2 / N^2, where v =
prod_A d_i (d_i - 1) sum over B with A in B of w_B / N_B. A part p of the loss gives s^2 in
proportion to m / p. So the sum is least for p in proportion to sqrt(v m) / N (Cauchy and Schwarz).
No other Gaussian noise has a smaller sum under add-remove (their theorem 4).

*Error bars.* Let F be the density of a Gaussian number g of deviation s.

1. A discrete Gaussian number is k with a probability of at most F(k), because F sums to 1 or more
   over all integers (Poisson summation).
2. g is rounded to k with a probability of at least F(k) (1 - 1 / (24 s^2)). The factor is a bound
   of the mean of exp(-t^2 / (2 s^2)) cosh(k t / s^2) over t from -1/2 to 1/2.
3. So any event of n discrete Gaussian numbers has at most (1 - 1 / (24 s^2))^-n times the
   probability that it has for rounded Gaussian ones.
4. A weighted sum of rounded Gaussian numbers differs from a Gaussian number by at most half of its
   weights.

If s is too small for this, a discrete Gaussian number is still subgaussian.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, combinations, pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import CONFIDENCE, NOISE, RAREST, ErrorBar, normal, symmetric_sum
from .._core.threads import run_in_threads, threads
from .._core.types import Floats, Number
from .._kernels import statistics as _native
from .._kernels.statistics import MOST_CELLS
from ..budget.mechanism import Mechanism
from ..errors import printable
from ..measurement.columns_by_name import SHOWN, Answer, Noted
from ..measurement.functions import function_of
from ..measurement.statistic import Statistic, Terms
from ..noise.additive import of_gaussian
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Approx, Loss, Pure
from ..rng import Generator
from ..statistics.histogram import MOST, MOST_OF_SQL, Bins, as_tuples, axis_of
from ..summaries.side_by_side import flat, stretches
from ..tables.base import RowChunk, Term
from ..tables.columns import Columns
from ..tables.data import form_of
from ..tables.intake import Chosen, RowArguments, View, read, whole_rows
from ..tables.masked import refuse_mask
from ..tables.public_values import listed
from ..tables.sql.store import SqlRows
from ..tables.table import RULE

#: The names of attributes.
Names: TypeAlias = tuple[str, ...]
#: The indices of attributes, in the order of `in_order`.
Indices: TypeAlias = tuple[int, ...]
#: The significant bits of the weights by which the loss is divided among residuals.
BITS = 24
#: The number of cells that get noise in one call.
BLOCK = 1 << 20
#: The most bins of rows that are kept before they are counted; marginals of one shape that a thread
#: counts in one pass.
PENDING, TOGETHER = 1 << 24, 1 << 10
#: The columns of an answer that are not attributes.
COUNT, ERROR = "count", "error"


class Residuals(NamedTuple):
    """Residuals of one shape that get the same noise.

    Attributes
    ----------
    shape : tuple of int
        How many categories each attribute has.
    subsets : tuple of tuple of int
        The attributes of each residual.
    noise : IntegerNoise
        The standard deviation of a cell's noise, times the number of cells.
    """

    shape: tuple[int, ...]
    subsets: tuple[Indices, ...]
    noise: IntegerNoise

    @property
    def cells(self) -> int:
        """The number of cells of one residual."""
        return math.prod(self.shape)

    @property
    def deviation(self) -> float:
        """The noise scale of a cell, before the noise is projected onto the residual."""
        return math.ldexp(float(self.noise.scale), self.noise.shift) / self.cells

    def weights_in(self, cells: int) -> tuple[Floats, Floats]:
        """Return the weights of the noise in a cell of a marginal, and how often each counts."""
        weights, times = np.ones(1), np.ones(1)
        for size in self.shape:
            weights = np.multiply.outer(weights, [(size - 1) / size, 1 / size]).ravel()
            times = np.multiply.outer(times, [1, size - 1]).ravel()
        unit = math.ldexp(1 / cells, self.noise.shift)
        return weights * unit, times

    def noisy(self, counts: NDArray[np.int64], generator: Generator) -> Floats:
        """Return private residuals from exact counts, an array of `shape` for each subset."""
        most = (1 << 62) // max(1, math.prod(2 * (size - 1) for size in self.shape))
        noisy = np.empty((counts.size // self.cells, *self.shape))
        step = max(1, BLOCK // self.cells)
        for i in range(0, len(noisy), step):
            part = noisy[i : i + step]
            exact = np.minimum(counts[i * self.cells :][: part.size], most).reshape(part.shape)
            for axis, size in enumerate(self.shape, 1):
                exact = size * exact - exact.sum(axis, keepdims=True)
            exact >>= self.noise.shift
            exact += self.noise.draw(part.size, generator).reshape(part.shape)
            part[...] = exact
            for axis in range(1, part.ndim):
                part -= part.mean(axis, keepdims=True)
            part *= 2.0**self.noise.shift / self.cells
        return noisy


def in_order(attributes: Iterable[int], sizes: Sequence[int]) -> Indices:
    """Return attributes with the fewest categories first, for few shapes of residuals."""
    return tuple(sorted(attributes, key=lambda i: (sizes[i], i)))


def subsets_of(attributes: Indices) -> Iterator[Indices]:
    """Yield all subsets of some attributes, the empty subset first."""
    return chain.from_iterable(combinations(attributes, k) for k in range(len(attributes) + 1))


def squared_move(shape: Sequence[int], neighbors: str) -> int:
    """Return the squared L2 sensitivity of N times a residual, which has N cells."""
    square = math.prod(size * (size - 1) for size in shape)
    if neighbors == "add-remove" or not square or not shape:
        return square
    least = min(shape)
    return 2 * square // (least - 1) * least


def planned(
    sizes: Sequence[int], weights: Mapping[Indices, float], loss: Loss, neighbors: str
) -> tuple[Residuals, ...]:
    """Return the residuals of weighted marginals, with noise of the least weighted variance.

    Parameters
    ----------
    sizes : sequence of int
        How many categories each attribute has.
    weights : mapping of tuples of indices to float
        The weight of the variance of a cell of each marginal.
    loss : ZCDP or Approx
    neighbors : {"add-remove", "replace"}

    Returns
    -------
    tuple of Residuals
        The residuals, whose noise has the loss, all together.
    """
    above: defaultdict[Indices, float] = defaultdict(float)
    for marginal, weight in weights.items():
        weight /= math.prod(sizes[i] for i in marginal)
        for attributes in subsets_of(marginal):
            above[attributes] += weight
    alike: defaultdict[tuple[tuple[int, ...], float], list[Indices]] = defaultdict(list)
    for attributes, weight in above.items():
        shape = tuple(sizes[i] for i in attributes)
        variance = weight * math.prod(size * (size - 1) for size in shape)
        move = squared_move(shape, neighbors)
        # If the same weights are added in another order, the sum may differ in the last bit.
        mantissa, exponent = math.frexp(math.sqrt(variance * move) / math.prod(shape))
        alike[shape, math.ldexp(round(mantissa * 2**BITS), exponent - BITS)].append(attributes)
    whole = sum(len(subsets) * Fraction(part) for (_, part), subsets in alike.items())
    family = "rounded-gaussian" if isinstance(loss, Approx) else "gaussian"
    residuals = []
    for (shape, part), subsets in alike.items():
        # Differences are integers, so the L1 norm is at most the squared L2 norm.
        square = squared_move(shape, neighbors)
        moves = Sensitivity(math.prod(shape), square, square)
        if part:  # otherwise an attribute has a single category, so the residual is 0
            moves = moves.divided(Fraction(part) / whole)
        residuals.append(Residuals(shape, tuple(subsets), integer_noise(loss, moves, family)))
    return tuple(residuals)


def half_width(parts: Sequence[Residuals], failure: float) -> float:
    """Return the half-width of the noise of a cell of a marginal, for a failure probability.

    Parameters
    ----------
    parts : sequence of Residuals
        The half-widths of all parts of the marginal, the marginal itself last.
    failure : float
    """
    cells, variance, slack, rounding, growth = parts[-1].cells, 0.0, 0.0, 0.0, 0.0
    for residuals in parts:
        noise, shares = residuals.noise, [(size - 1) / size for size in residuals.shape]
        variance += (residuals.deviation * residuals.cells / cells) ** 2 * math.prod(shares)
        weight = 2.0**noise.shift / cells * math.prod(2 * share for share in shares)
        slack, rounding = slack + weight / 2, rounding + (weight if noise.shift else 0.0)
        if noise.distribution == "gaussian":
            growth -= residuals.cells * math.log1p(-min(1 / (24 * float(noise.scale) ** 2), 0.75))
    deviation = math.sqrt(variance)
    if growth < 1:  # this also means that 1 / (24 s^2) is below 0.75 for every s
        width = normal(failure * math.exp(-growth)) * deviation + slack
    else:
        width = deviation * math.sqrt(2 * math.log(2 / failure))
    if failure > RAREST and slack > deviation / 16:  # such small noise is far from Gaussian
        distributions = [(part.noise.waves, *part.weights_in(cells)) for part in parts]
        largest = max(float(weights.max()) for _, weights, _ in distributions)
        width = symmetric_sum(distributions, max(deviation, largest), failure, width)
    return width + rounding


class MarginalTables(Mapping[Names, Answer], Noted):
    """The answer of `dpfast.marginals`: a table of counts for each marginal, all from one release.

    ``answer["sex", "age"]`` is the table of a marginal. The names may be in any order, and some may
    be left out: ``answer["sex"]`` is a table, too, at no cost. The tables are consistent. If a
    table is summed over an attribute, the result is the table without this attribute.

    Attributes
    ----------
    edges : dict of str to ndarray
        The edges of the bins of each attribute, or its categories.
    requested : tuple of tuple of str
        The marginals that the call requested, as the names of their attributes.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"sex": ["f", "m"] * 500, "smokes": [True, False, False, False] * 250}
    >>> categories = {"sex": ["f", "m"], "smokes": [False, True]}
    >>> answer = dp.marginals(table, categories=categories, rho=1.0)
    >>> list(answer), list(answer["sex", "smokes"])
    ([('sex', 'smokes')], ['sex', 'smokes', 'count', 'error'])
    >>> answer.counts("sex", "smokes").shape
    (2, 2)
    >>> bool(abs(answer.counts("sex", "smokes").sum(1) - answer["sex"]["count"]).max() < 1e-9)
    True
    >>> answer.error("smokes", confidence=0.5) < answer.error("smokes") < 9
    True
    >>> list(answer.to_dict())
    ['sex, smokes']
    """

    def __init__(
        self,
        axes: Mapping[str, Bins],
        requested: tuple[Names, ...],
        residuals: Sequence[Residuals],
        values: Sequence[Floats],
    ) -> None:
        self.edges = {name: axis.edges.copy() for name, axis in axes.items()}
        self.requested = requested
        self._index = {name: i for i, name in enumerate(axes)}
        self._sizes = [axis.native.bins for axis in axes.values()]
        self._values = {
            attributes: (alike, value[i])
            for alike, value in zip(residuals, values, strict=True)
            for i, attributes in enumerate(alike.subsets)
        }

    def __getitem__(self, names: Any) -> Answer:
        listed = names if isinstance(names, tuple) else (names,)
        counts = self.counts(*listed)
        grid = np.indices(counts.shape).reshape(len(listed), -1)
        columns = {name: self.edges[name][cells] for name, cells in zip(listed, grid, strict=True)}
        error = np.full(counts.size, self.error(*listed))
        answer = Answer({**columns, COUNT: counts.ravel(), ERROR: error})
        answer.note, answer.by = self.note, tuple(listed)
        return answer

    def __iter__(self) -> Iterator[Names]:
        return iter(self.requested)

    def __len__(self) -> int:
        return len(self.requested)

    def counts(self, *names: str) -> Floats:
        """Return the counts of a marginal, with an axis for each attribute.

        Parameters
        ----------
        *names : str
            The attributes of a requested marginal, or some of them. Without names, the result is
            the number of rows.

        Returns
        -------
        ndarray of float64
        """
        parts = self._parts(names)
        cells = parts[-1][0].cells
        return np.asarray(sum(values * (part.cells / cells) for part, values in parts))

    def error(self, *names: str, confidence: Number = CONFIDENCE) -> float:
        """Return the half-width of the error bar of a cell of a marginal.

        Parameters
        ----------
        *names : str
            As in `counts`.
        confidence : float, default 0.95

        Returns
        -------
        float
            A number of rows. It depends on public numbers only.
        """
        share = checks.share("confidence", confidence)
        return half_width([part for part, _ in self._parts(names)], 1 - share)

    def to_dict(self) -> dict[str, dict[str, list[Any]]]:
        """Return the tables as a dict of JSON types, by the attribute names joined with commas.

        Returns
        -------
        dict
        """
        return {", ".join(names): table.to_dict() for names, table in self.items()}

    def _parts(self, names: Sequence[Any]) -> list[tuple[Residuals, Floats]]:
        """Return the residuals of all subsets of a marginal, with an axis for each of the names."""
        positions = [self._index.get(name, -1) if isinstance(name, str) else -1 for name in names]
        whole, parts = in_order(positions, self._sizes), []
        if whole not in self._values:
            rule = "attributes of one marginal of the request, which `requested` lists"
            raise KeyError(f"names must be {rule}, got {printable(repr(names), 80)}")
        for subset in subsets_of(whole):
            residuals, values = self._values[subset]
            order = [subset.index(i) for i in positions if i in subset]
            shape = [self._sizes[i] if i in subset else 1 for i in positions]
            parts.append((residuals, values.transpose(order).reshape(shape)))
        return parts

    def __repr__(self) -> str:
        lines = [
            f"{', '.join(names) or '()'}: {self.counts(*names).size:,} cells, "
            f"each within {self.error(*names):.3g}"
            for names in self.requested[:SHOWN]
        ]
        more = len(self.requested) - SHOWN
        lines += [f"... ({more:,} more)"] if more > 0 else []
        marginals = f"{len(self.requested):,} marginal{'' if len(self.requested) == 1 else 's'}"
        note = f"; {self.note}" if self.note else ""
        return "\n".join([f"{marginals} of {len(self._sizes)} attributes{note}", *lines])


@dataclass(frozen=True, kw_only=True)
class Marginals(Statistic[MarginalTables]):
    """Counts of the cells of several marginals of a table, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        Must be left out, because marginals are of several columns.
    ways : int or sequence of sequences of str, default 2
    categories : mapping of str to sequence of str, float or bool, optional
    bins : mapping of str to int or sequence of float, optional
    bounds : mapping of str to (float, float), optional
    importance : mapping of tuples of str to float, optional
        This and the parameters above are as in `dpfast.marginals`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.marginals`.

    Examples
    --------
    >>> import dpfast as dp
    >>> marginals = dp.Marginals(ways=1, categories={"sex": ["f", "m"]})
    >>> marginals.measure(rho=1).name
    'marginals'
    """

    ways: Any = 2
    categories: Any = None
    bins: Any = None
    bounds: Any = None
    importance: Any = None

    name: ClassVar[str] = "marginals"
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)
    only_adds: ClassVar[bool] = True
    subtracts: ClassVar[bool] = False
    #: The bins of each attribute.
    axes: dict[str, Bins] = field(init=False, repr=False, compare=False)
    #: The requested marginals.
    requested: tuple[Names, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.column is not None:
            checks.fail("column", "left out, because marginals are of several columns", self.column)
        names = "categories", "bins", "bounds"
        checks.assign(self, **{name: listed(name, getattr(self, name)) for name in names})
        axes = attributes_of(self.categories, self.bins, self.bounds)
        requested = marginals_of(self.ways, {name: axis.native.bins for name, axis in axes.items()})
        arguments = {name: as_tuples(getattr(self, name)) for name in names}
        arguments["ways"] = int(self.ways) if checks.is_whole(self.ways) else requested
        arguments["importance"] = weights_of(self.importance, requested) or None
        checks.assign(self, axes=axes, requested=requested, **arguments)

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        view = read(data, attributes, self.axes, **rows)
        if view.adds and max(self.sizes) > MOST_OF_SQL:
            rule = f"at most {MOST_OF_SQL} for each column in a database"
            checks.fail("categories", rule, max(self.sizes))
        return view

    @property
    def sizes(self) -> list[int]:
        """The number of categories of each attribute."""
        return [axis.native.bins for axis in self.axes.values()]

    @property
    def weights(self) -> dict[Indices, float]:
        """The weight of a cell's variance in the sum to minimize, by the marginal's attributes."""
        index_of = {name: i for i, name in enumerate(self.axes)}
        sizes, weights = self.sizes, dict(self.importance or ())
        return {
            in_order((index_of[name] for name in names), sizes): weights.get(names, 1.0)
            for names in self.requested
        }

    def mechanism(self, terms: Terms) -> MarginalCounts:
        if isinstance(terms.loss, Pure):
            rule = "greater than 0 with epsilon, because the noise is Gaussian (or pass rho)"
            checks.fail("delta", rule, 0)
        residuals = planned(self.sizes, self.weights, terms.loss, terms.neighbors)
        return MarginalCounts(self, of_gaussian(terms.loss), terms.neighbors, residuals)


class Coded(NamedTuple):
    """Bins of rows yet to be counted, counts of other rows, and the number of rows read."""

    kept: list[NDArray[np.uint32]]
    counts: Any
    read: int


@dataclass(frozen=True)
class MarginalCounts(Mechanism[MarginalTables]):
    """The mechanism that counts the cells of all residuals, and adds noise to the counts."""

    statistic: Marginals
    loss: Loss
    neighbors: str
    residuals: tuple[Residuals, ...]

    name: ClassVar[str] = "marginals"

    def reduce(self, source: View) -> NDArray[np.int64]:
        """Count the rows in each cell of each residual's marginal."""
        if source.adds:
            return self._added(source.source)
        coded: Coded = source.source.reduce(partial(self._rows, source.where), self._merge)
        if source.where is not None and coded.read != len(source.where):
            refuse_mask()
        return self._counted(coded)

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> MarginalTables:
        parts = np.split(summary, self._starts[1:-1])
        pairs = zip(self.residuals, parts, strict=True)
        noisy = [residuals.noisy(counts, generator) for residuals, counts in pairs]
        return MarginalTables(self.statistic.axes, self.statistic.requested, self.residuals, noisy)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the longest error bar of a cell of any marginal."""
        owner = {attributes: alike for alike in self.residuals for attributes in alike.subsets}
        parts = ([owner[part] for part in subsets_of(names)] for names in self.statistic.weights)
        kinds = {tuple(map(id, residuals)): residuals for residuals in parts}
        width = max(half_width(residuals, 1 - confidence) for residuals in kinds.values())
        return ErrorBar(confidence, width, note=NOISE)

    @cached_property
    def _starts(self) -> list[int]:
        """The index where the counts of each of the `residuals` start, and the last ones stop."""
        cells = [len(alike.subsets) * alike.cells for alike in self.residuals]
        return [0, *np.cumsum(cells).tolist()]

    def _added(self, rows: SqlRows) -> NDArray[np.int64]:
        """Return the counts of all cells from a database, by one statement for each residual."""
        bins = [axis.of_row(rows, i) for i, axis in enumerate(self.statistic.axes.values())]
        present = [Term(rows.present(*bins), 1)]
        counts = []
        for residuals in self.residuals:
            for subset in residuals.subsets:
                cell_counts = np.zeros(residuals.shape, np.int64)
                by = [bins[i] for i in subset] or [0 * bins[0]]
                for cell, (number,) in rows.sums_by(by, present).items():
                    cell_counts[cell if subset else ()] = min(number, MOST)
                counts.append(cell_counts.ravel())
        return np.concatenate(counts)

    def _rows(self, where: NDArray[np.bool_] | None, chunk: RowChunk) -> Coded:
        """Return the bins of the rows of a chunk that have a bin of every attribute."""
        axes, kept, read = [axis.native for axis in self.statistic.axes.values()], [], 0
        for columns, rows in stretches(chunk, where):
            bin_codes = np.zeros((len(axes), len(columns[0])), np.uint32)
            inside = np.ones(bin_codes.shape[1], np.bool_)
            for axis, column, codes in zip(axes, columns, bin_codes, strict=True):
                axis.place(flat(column), 1, codes)
                inside &= codes < axis.bins
            kept.append(bin_codes[:, inside])
            read += rows
        return Coded(kept, 0, read)

    def _merge(self, a: Coded, b: Coded) -> Coded:
        both = Coded([*a.kept, *b.kept], a.counts + b.counts, a.read + b.read)
        if sum(codes.size for codes in both.kept) < PENDING:
            return both
        return Coded([], self._counted(both), both.read)

    def _counted(self, coded: Coded) -> NDArray[np.int64]:
        """Return the counts of the cells of all residuals, residual by residual."""
        counts, jobs = np.zeros(self._starts[-1], np.int64), []
        counts += coded.counts
        if coded.kept:
            codes = np.ascontiguousarray(np.concatenate(coded.kept, axis=1))
            rooms = np.split(counts, self._starts[1:-1])
            for alike, room in zip(self.residuals, rooms, strict=True):
                room, shape = room.reshape(-1, alike.cells), np.array(alike.shape, np.uint32)
                subsets = np.array(alike.subsets, np.uint32).reshape(len(room), len(shape))
                for i in range(0, len(room), TOGETHER):
                    j = i + TOGETHER
                    jobs.append((codes, subsets[i:j], shape, room[i:j]))
        run_in_threads(lambda job: _native.marginals(*job), jobs, threads())
        return counts


def attributes(data: Any, per_row: RowArguments, axes: Mapping[str, Bins]) -> Chosen:
    """Choose the columns of the attributes in a table, or take all columns of a matrix."""
    table = form_of(data, "data", RULE)
    if isinstance(table, Columns):
        table = table.store.table([table.store.name_of(name, "categories") for name in axes])
    words = [axis.words for axis in axes.values()]
    numbers = [axis.numbers for axis in axes.values()]
    return whole_rows(table, per_row, "categories", len(axes), words, False, numbers)


def attributes_of(categories: Any, bins: Any, bounds: Any) -> dict[str, Bins]:
    """Return the public bins of each attribute, by name."""
    arguments = {"categories": categories, "bins": bins, "bounds": bounds}
    listed, edges, limits = (checks.mapping(*argument) for argument in arguments.items())
    axes = {}
    for name in dict.fromkeys([*listed, *edges, *limits]):
        if checks.text("categories", name) in (COUNT, ERROR):
            rule = f"for names other than {name!r}, which is a column of the answer"
            checks.fail("categories", rule, name)
        axis = edges.get(name), limits.get(name), listed.get(name)
        axes[name] = axis_of(*axis, f"[{name!r}]")
    if not axes:
        rule = "given, or bins, because each attribute needs public values"
        checks.fail("categories", rule, categories)
    return axes


def marginals_of(ways: Any, sizes: Mapping[str, int]) -> tuple[Names, ...]:
    """Return the requested marginals as tuples of names, or refuse too many cells."""
    names = tuple(sizes)
    requested: Iterable[Names]
    if checks.is_whole(ways):
        k = checks.whole("ways", ways, 1)
        if k > len(names):
            checks.fail("ways", f"at most {len(names)}, the number of attributes", ways)
        # sums[k] counts the cells of all k-way marginals of the attributes so far.
        sums = [1] + [0] * k
        for size in sizes.values():
            sums[1:] = [more + size * less for less, more in pairwise(sums)]
        requested, cells = combinations(names, k), sums[k]
    else:
        if not isinstance(ways, (tuple, list)) or not ways:
            checks.fail_type("ways", "a whole number, or a list of marginals", ways)
        requested = [_names("ways", marginal, names) for marginal in ways]
        if len(set(map(frozenset, requested))) < len(ways):
            checks.fail("ways", "a list of different marginals", ways)
        cells = sum(math.prod(map(sizes.__getitem__, marginal)) for marginal in requested)
    if cells > MOST_CELLS:
        checks.fail("ways", f"marginals of at most {MOST_CELLS} cells in total", f"{cells} cells")
    return tuple(requested)


def weights_of(importance: Any, requested: Iterable[Names]) -> tuple[tuple[Names, float], ...]:
    """Return the weights of marginals that `importance` gives, for variances of their cells."""
    requested_names, weights = {frozenset(names): names for names in requested}, {}
    names_of_all = sorted(frozenset().union(*requested_names))
    for names, weight in checks.mapping("importance", importance).items():
        marginal = requested_names.get(frozenset(_names("importance", names, names_of_all)))
        if marginal is None:
            checks.fail("importance", "for marginals that ways has", names)
        weights[marginal] = checks.number("importance", weight)
        if not 1e-6 <= weights[marginal] <= 1e6:
            checks.fail("importance", "from 1e-6 to 1e6", weight)
    return tuple(weights.items())


def _names(argument: str, value: Any, declared: Sequence[str]) -> Names:
    """Return the names of a marginal, or refuse unknown or repeated names."""
    listed = (value,) if isinstance(value, str) else value
    is_listed = isinstance(listed, (tuple, list))
    if not is_listed or not all(isinstance(name, str) and name in declared for name in listed):
        checks.fail(argument, "names of columns that have categories or bins", value)
    if len({*listed}) < len(listed):
        checks.fail(argument, "names of different attributes", value)
    return tuple(listed)


@function_of(Marginals)
def marginals(data: Any, **arguments: Any) -> Any:
    """Release all k-way marginals of a table as consistent counts of least total variance.

    A marginal counts the rows for each combination of values of some attributes, which are columns
    with public categories or bins. The 2-way marginals of ten attributes are 45 tables of counts.
    These tables share totals and counts of single attributes. So noise is added to the residual of
    each table only, which is the part that does not follow from tables of fewer attributes.

    Privacy
    -------
    Neighbors are datasets that differ in one row, which is added or removed (`n` is private), or
    replaced (`n` is public). The call satisfies the requested loss, for all marginals together. A
    row that is added or removed changes the residual of attributes with d_i categories by at most
    prod (d_i - 1) / d_i in squared L2 norm. For a replaced row, each residual has another bound.
    Counts are exact. Noise is discrete Gaussian on a lattice that contains these changes, or
    rounded Gaussian for `delta`. The losses of the residuals add up to the requested loss (Canonne,
    Kamath and Steinke, NeurIPS 2020; Xiao, He, Zhang and Kifer, NeurIPS 2023). Categories and bins
    must not come from the data.

    Parameters
    ----------
    data : table, matrix, file or source
        A table with named columns, of which only the attributes are read. Or a matrix with a column
        for each attribute, where attributes with categories come first.
    ways : int or sequence of sequences of str, default 2
        The number of attributes of each marginal, or a list of marginals: ``[("sex", "age"),
        "race"]``.
    categories : mapping of str to sequence of str, float or bool, optional
        The public values of each attribute that has categories, as in `histogram`.
    bins : mapping of str to int or sequence of float, optional
        The bins of each attribute that holds numbers, as in `histogram`: a number of bins, or their
        edges.
    bounds : mapping of str to (float, float), optional
        Public limits of each attribute whose `bins` are a number.
    importance : mapping of tuples of str to float, optional
        Weights of marginals, from 1e-6 to 1e6, by default 1: ``{("sex", "age"): 10}``. The noise
        minimizes the total variance of all cells, where each variance is multiplied by the weight
        of its marginal. So a marginal with a larger weight gets less noise.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. Noise is Gaussian, so
        `epsilon` alone is refused.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int, optional
        With `ids` only: the largest number of rows of a person that count.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    MarginalTables
        A mapping from the names of each marginal to a dict of arrays, which pandas and Polars
        accept. The dict has a column for each attribute (for bins, their lower edges), ``count``,
        and ``error``, the half-width of a 95 % error bar. ``answer.counts("sex", "age")`` is an
        array with an axis for each attribute. Counts are unbiased float64 numbers, so they may be
        negative. If an attribute of a row is missing, or in no bin or category, then no marginal
        counts the row.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `histogram`; also for `epsilon` alone, and for more than 2**30 cells in all marginals.

    See Also
    --------
    dpfast.histogram : All attributes at once, for any loss.

    Notes
    -----
    Cost: one read of the data. Each row adds 1 to one count of each marginal, and of each subset
    of its attributes. Each of these counts takes a noise sample.

    References
    ----------
    Xiao, He, Zhang and Kifer, "An optimal and scalable matrix mechanism for noisy marginals under
    convex loss functions", NeurIPS 2023.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {
    ...     "sex": ["Female", "Male"] * 14_600,
    ...     "age": [18 + i % 73 for i in range(29_200)],
    ...     "smokes": [i % 5 == 0 for i in range(29_200)],
    ... }
    >>> answer = dp.marginals(
    ...     table,
    ...     ways=2,
    ...     categories={"sex": ["Female", "Male"], "smokes": [False, True]},
    ...     bins={"age": [18, 65, 91]},
    ...     rho=0.1,
    ... )
    >>> list(answer)
    [('sex', 'smokes'), ('sex', 'age'), ('smokes', 'age')]
    >>> bool(abs(answer.counts("sex", "age") - [[9400, 5200], [9400, 5200]]).max() < 100)
    True
    """
