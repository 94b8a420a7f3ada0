"""Sample and aggregate: release any statistic through its values on random blocks."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import privacy
from .._core import checks
from .._core.error_bars import NOISE, ErrorBar, unknown
from .._core.progress import check as check_progress
from .._core.progress import reporter
from .._core.types import BoundsEach, Neighbors, Number
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, paid, relation_of, releases
from ..noise.additive import amount
from ..privacy import Loss
from ..rng import Generator
from ..tables.base import RowSource
from ..tables.columns import TableRows
from ..tables.data import as_rows, once
from ..tables.engine import of_engine
from ..tables.ids import id_name
from ..tables.key_words import secret
from ..tables.row_files import directory
from .aggregators import AggregatorName, choose, make
from .aggregators.mean import Mean, VectorMean
from .aggregators.output_grid import Aggregator
from .aggregators.vector import VectorAggregator, make_vector, share
from .blocks.distributed import outputs
from .blocks.partition import ContiguousLabels, KeyedLabels, Partition, RandomLabels
from .estimators import EstimatorName, resolve
from .estimators.base import Bound, Estimator, Job
from .estimators.functions import Executor

PartitionName: TypeAlias = Literal["auto", "contiguous", "random", "key"]
PARTITIONS: tuple[str, ...] = get_args(PartitionName)
Progress: TypeAlias = bool | Callable[[int, int | None], object] | None

log = logging.getLogger("dpfast")


@dataclass(frozen=True, slots=True)
class SampleAndAggregate(Mechanism[float | NDArray[np.float64]]):
    """The mechanism of sample and aggregate: split rows into blocks, and release one aggregate."""

    bound: Bound
    estimator: Estimator
    aggregator: Aggregator | VectorAggregator
    partition: str
    blocks: int
    bounds: tuple[tuple[float, float], ...]
    is_vector: bool
    default: NDArray[np.float64]
    drop: bool
    neighbors: str
    loss: Loss
    name: str
    job: Job
    progress: Progress = None
    #: The name of the column of ids, or "" for an array of ids; None if the privacy unit is a row.
    ids: str | None = None

    passes: ClassVar[None] = None
    _no_bar: ClassVar[str] = (
        "noise is scaled to the outputs of blocks, which are secret, as is how far these are off"
    )

    @property
    def missing(self) -> str:
        return "drop" if self.drop else "keep"

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        if not isinstance(self.aggregator, Mean | VectorMean):
            return unknown(confidence, self._no_bar)
        note = f"{NOISE}; how far blocks are from all rows is not in it"
        return ErrorBar(confidence, self.aggregator.half_width(1 - confidence), note=note)

    def reduce(self, source: RowSource) -> RowSource:
        """Return the source unread: blocks are random, and `finish` has the random generator."""
        return source

    def finish(self, source: RowSource, generator: Generator) -> float | NDArray[np.float64]:
        z = self.outputs(source, generator)
        return self.aggregator.release(
            z if self.is_vector else np.ascontiguousarray(z[:, 0]), generator
        )

    def outputs(self, source: RowSource, generator: Generator) -> NDArray[np.float64]:
        """NOT PRIVATE. Return the output of each block within the bounds, shape (blocks, d)."""
        # With the NumPy settings of the caller, errors or warnings could depend on the data.
        with np.errstate(all="ignore"), paid(), reporter(self.progress, self.blocks) as tick:
            if isinstance(source, TableRows) and of_engine(source):
                z = self.engine_outputs(source, generator)
            else:
                split = self.split(source, generator)
                z = self.bound.outputs(source, split, replace(self.job, tick=tick))
        z[np.isnan(z).any(axis=1)] = self.default
        lo, hi = np.array(self.bounds).T
        return np.clip(z, lo, hi, out=z)

    def engine_outputs(self, source: TableRows, generator: Generator) -> NDArray[np.float64]:
        """NOT PRIVATE. Return the output of each block, computed by the workers of an engine."""
        key, by_id = bytes(generator.stream().take(32)), self.partition == "key"
        wide = len(self.bounds) if self.is_vector else None
        bind = partial(self.estimator.bind, width=wide)
        return outputs(source, self.blocks, key, by_id, bind, self.drop, wide or 1)

    def split(self, source: RowSource, generator: Generator) -> Partition:
        """Return a fresh partition of the rows into blocks."""
        if self.partition == "contiguous":
            rows = source.length
            if rows is None:
                rows = source.reduce(lambda chunk: len(chunk.rows), operator.add)
            return Partition(ContiguousLabels(self.blocks, rows), self.drop)
        labels = KeyedLabels if self.partition == "key" else RandomLabels
        return Partition(labels(self.blocks, secret(generator.stream())), self.drop)


@releases
def sample_and_aggregate(
    data: Any,
    estimator: EstimatorName | Estimator | Callable[[Any], object],
    *,
    blocks: int,
    bounds: BoundsEach,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    aggregator: AggregatorName = "mean",
    partition: PartitionName = "auto",
    ids: ArrayLike | str | None = None,
    nan: Literal["keep", "drop"] = "keep",
    default: Number | Sequence[Number] | NDArray[Any] | None = None,
    centres: ArrayLike | None = None,
    workers: int | None = None,
    executor: Executor = "auto",
    time_limit: Number | None = None,
    spill: str | PathLike[str] | None = None,
    progress: Progress = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[float | NDArray[np.float64]]:
    """Release any statistic through its values on random blocks of the rows.

    The rows are split into exactly `blocks` blocks. The `estimator` is computed on each block, and
    its answers are clamped to `bounds`. The `aggregator` combines these answers into one private
    answer.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. With
    ``partition="key"`` they differ in all rows of one person. The call satisfies the requested
    loss, pure `epsilon`, (`epsilon`, `delta`), or `rho`-zCDP, for any estimator (Nissim,
    Raskhodnikova and Smith, STOC 2007, section 4). The proof has two parts.

    *One row changes one block.* The block of a row is a function of a secret key and of the row's
    number (or of its id), and never of its values. The key is drawn afresh after the spend.
    Different row numbers have independent uniform blocks. So the partitions of two neighbors can be
    coupled: all other rows keep their blocks and their order, and the partitions differ in one
    block. Contiguous blocks are a function of the number of rows, so for them this holds only if
    rows are replaced.

    Under "replace" with ``partition="key"`` two blocks may change: if an id changes into another
    id, its rows move from one block to another. Then the aggregator gets a share of the loss such
    that two changed blocks cost the requested loss.

    *The aggregator hides one changed block.* It is a mechanism on exactly `blocks` numbers within
    the bounds, private for neighbors in which one number is replaced. The table lists the
    aggregators, with the source of each privacy proof:

    ==================== ======================================================== ==================
    aggregator           what it is                                               source
    ==================== ======================================================== ==================
    "mean"               average, Laplace or Gaussian noise for                   TCC 2006,
                         ``(hi - lo) / blocks``                                   ICML 2018
    "smooth-median"      lower median, noise scaled to its smooth sensitivity     STOC 2007
    "exponential-median" a point between the bounds, by the exponential mechanism FOCS 2007
    "trimmed-mean"       mean of the middle, noise scaled to smooth sensitivity   STOC 2007
    "winsorized-mean"    mean clipped to a widened private interquartile range    STOC 2011
    "attention"          center of the smallest ball that holds a majority        STOC 2007
    ==================== ======================================================== ==================

    A block has no answer if it is empty, or if the estimator raises an error, is late, dies, or
    returns NaN or another shape. Such a block counts as the public `default`, so no error depends
    on the data. The estimator must be a function of its block alone. The first part does not hold
    for an estimator that remembers other blocks (in global variables, in files, by a clock). The
    estimator never sees the generator or the budget.

    Parameters
    ----------
    data : array_like, shape (n,) or (n, columns), structured array, table, or source
        The rows. The estimator gets a block of them as a 1-D or 2-D array of the same dtype, or as
        a structured array, such as ``block["age"]``. Tables (pandas, Polars, Arrow, a dict of
        columns, `dpfast.scan` with a list of columns) become structured arrays of float64, in which
        null is NaN.
    estimator : str, estimator or callable
        The statistic that is computed on each block. By name: "mean", "var", "std", "min", "max",
        "correlation", "least-squares", "median", "mode", "trimmed-mean", "logistic-regression".
        With parameters: the classes of `dpfast.estimators`, such as
        ``dp.estimators.Quantile(0.9)``. Or a function of a block that returns a real number, or a
        1-D array of real numbers. A function made by ``numba.njit`` runs inside a compiled loop,
        any other function is called block by block.
    blocks : int
        The public number of blocks, at most 2**24, and under "replace" at most n. `suggest_blocks`
        computes a good number.
    bounds : (float, float) or sequence of d such pairs
        Public limits of the estimator's answers, in its units. Answers outside are clamped. One
        pair for a number, d pairs for a vector of length d. The bounds must not come from the data.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. For a vector it is the
        loss of all coordinates together. "mean", and "attention" with `centres`, make one joint
        release. The other aggregators release each coordinate for an equal share: ``1 / d`` of
        `epsilon` and `delta`, or of `rho`. With `delta`, the share is taken of the zCDP loss that
        implies `epsilon` and `delta`, if that gives more.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". For ids,
        "add-remove" means that one person is added, removed, or replaced by a person with a new id.
        "replace" means that the rows of one id become any rows of any one id, also of the id of
        another person. Then two blocks may change, and the loss has to pay for both.
    aggregator : str, default "mean"
        An aggregator of the table above, or "auto". "auto" is "trimmed-mean" if `blocks` and
        ``blocks * epsilon`` are both at least 16 (for `rho`, epsilon is ``sqrt(2 rho)``), and
        "mean" otherwise.
    partition : {"auto", "random", "contiguous", "key"}, default "auto"
        How rows are assigned to blocks. "random": an independent random block for each row.
        "contiguous": consecutive ranges of rows, for "replace" only. This moves no row, but blocks
        differ systematically if the rows are sorted. "key": all rows of one id are in one block.
        "auto" is "key" if there are `ids`, else "random". The ledger entry and a log message
        (`logging`, "dpfast", level INFO) name the choice of "auto".
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id. The estimator does not see that column.
    nan : {"keep", "drop"}, default "keep"
        "keep": rows with a NaN stay in their block. The answer of this block is then usually NaN,
        which counts as the `default`. "drop": rows with a NaN are left out. All other rows stay in
        the same blocks.
    default : float or sequence of d floats, optional
        The value of a block without an answer, within the bounds; by default the middle of the
        bounds.
    centres : array_like, shape (c, d), optional
        For the aggregator "attention" of vectors: public candidates for the center.
    workers : int, optional
        The number of threads or processes. It does not change the answer. By default the number of
        `dpfast.threads` for estimators by name, one for each core for compiled functions and for
        processes, and 1 for other functions in threads.
    executor : {"auto", "threads", "processes"}, default "auto"
        Whether a function runs in threads or in processes. If a process dies, one block has no
        answer. "auto" is "processes" if there is a `time_limit`, else "threads". Estimators of
        dpfast run in threads only.
    time_limit : float, optional
        The number of seconds that a block may take, in processes only. Choose it generously,
        because the time of a block depends on the load of the machine too.
    spill : str, optional
        A directory for the blocks of data that do not fit in memory, by default the directory of
        `tempfile`. The file in it has no name, if the system allows this, and is deleted when the
        call ends.
    progress : bool or callable, optional
        True for a progress bar on the standard error stream (needs Rich), or a function
        ``progress(done, total)``. The speed of the progress depends on the data, so it is not
        private.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float or float64 array of shape (d,)
        The private answer, within the bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError, MissingExtraError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError, SourceError
        For a table with cells that are not numbers, or a file that cannot be read to its end. This
        shows only when the data are read, and the spent budget is not refunded.

    See Also
    --------
    dpfast.group_by : Sums, means and quantiles of groups or of people, with far less noise.

    Notes
    -----
    Cost: for extremes and functions of sums ("mean", "var", "std", "correlation", "least-squares"),
    one or two passes over the data and O(blocks) memory. For other estimators the rows are sorted
    by block in O(n), with one copy of the data, on disk for files that do not fit in memory.
    Contiguous blocks of an array in C order need no copy. A Python function costs some microseconds
    for each block, in addition to its run time.

    The answer is nearly as good as the estimator on all rows if the estimator is asymptotically
    normal, and `blocks` grows more slowly than the square root of n (Smith, STOC 2011).

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis",
    STOC 2007. Smith, "Privacy-preserving statistical estimation with optimal convergence rates",
    STOC 2011.

    Examples
    --------
    The mean age, which is 40, from 600 blocks:

    >>> import numpy as np, dpfast as dp
    >>> ages = np.tile(np.arange(20.0, 61.0), 700)
    >>> 37 < dp.sample_and_aggregate(ages, "mean", blocks=600, bounds=(20, 80), epsilon=1.0) < 43
    True

    The estimator may be any function of a block, and may return a vector, here two quartiles:

    >>> def middle_half(block):
    ...     return np.quantile(block, [0.25, 0.75])
    >>> quartiles = dp.sample_and_aggregate(
    ...     ages, middle_half, blocks=300, bounds=[(0, 120)] * 2, rho=0.5, aggregator="auto"
    ... )
    >>> bool(abs(quartiles - [30, 50]).max() < 3)
    True
    """
    loss = privacy.loss(epsilon, delta, rho)
    blocks = checks.whole("blocks", blocks, 1)
    relation = relation_of(neighbors, budget)
    kind = choose_partition(partition, relation, ids)
    pairs, is_vector = checks.pairs(bounds)
    fallback = _default(default, pairs, is_vector)
    checks.choice("nan", nan, ("keep", "drop"))
    if workers is not None:
        workers = checks.whole("workers", workers, 1)
    check_progress(progress)
    folder = None if spill is None else directory(spill)
    resolved = resolve(estimator, executor, time_limit)
    labels = ids if kind == "key" else None
    source = as_rows(
        once(data, (labels,), "add-remove" if kind == "key" else relation), labels, workers
    )
    if of_engine(source):
        _refuse_for_engine(kind, executor, time_limit, spill)
    # The number of rows is public only under "replace", and not with ids.
    public = source.length if relation == "replace" and kind != "key" else None
    if public is not None and blocks > public:
        checks.fail("blocks", f"at most the number of rows, {public}", blocks)
    amount(loss)
    two_blocks = kind == "key" and relation == "replace"
    share = privacy.group_within(loss, 2) if two_blocks else loss
    chosen, calibrated = _aggregator(aggregator, blocks, pairs, is_vector, share, centres)
    bound = resolved.bind(source, len(pairs) if is_vector else None)
    name = f"{chosen} of {bound.name} on {blocks} {kind} blocks"
    mechanism = SampleAndAggregate(
        bound=bound,
        estimator=resolved,
        aggregator=calibrated,
        partition=kind,
        blocks=blocks,
        bounds=pairs,
        is_vector=is_vector,
        default=fallback,
        drop=nan == "drop",
        neighbors=relation,
        loss=privacy.group(calibrated.loss, 2) if two_blocks else calibrated.loss,
        name=name,
        job=Job(workers, None, folder),
        progress=progress,
        ids=None if ids is None else id_name(ids),
    )
    log.info("%s", name)
    return Prepared(mechanism, source, budget, rng)


def _refuse_for_engine(kind: str, executor: Any, time_limit: Any, spill: Any) -> None:
    """Refuse arguments that need an order of rows, which data of a query engine do not have."""
    if kind == "contiguous":
        checks.fail("partition", "'random' or 'key' for data of a query engine", kind)
    for name, value in (("time_limit", time_limit), ("spill", spill)):
        if value is not None:
            rule = "left out, because the query engine computes blocks by its own workers"
            checks.fail(name, rule, value)
    if executor == "processes":
        checks.fail("executor", "'auto' or 'threads' for data of a query engine", executor)


def choose_partition(partition: str, neighbors: str, ids: Any) -> str:
    """Return the checked kind of partition, with "auto" resolved from arguments alone."""
    checks.choice("partition", partition, PARTITIONS)
    if partition == "auto":
        partition = "random" if ids is None else "key"
    if partition == "contiguous" and neighbors != "replace":
        rule = "'random' or 'key' unless neighbors='replace'"
        why = ": one added row would shift all later rows, and so change many contiguous blocks"
        checks.fail("partition", rule, partition, why)
    if partition == "key" and ids is None:
        checks.fail("ids", "given with partition='key'", ids)
    if partition != "key" and ids is not None:
        checks.fail_kind("ids", f"left out with partition={partition!r}", ids)
    return partition


def _default(
    value: Any, pairs: tuple[tuple[float, float], ...], is_vector: bool
) -> NDArray[np.float64]:
    lo, hi = np.array(pairs).T
    if value is None:
        return np.asarray(lo + (hi - lo) / 2)
    rule = "one number within each pair of bounds"
    values = list(value) if is_vector and np.ndim(value) == 1 else [value] * len(pairs)
    if len(values) != len(pairs):
        checks.fail("default", rule, value)
    default = np.array([checks.number("default", number) for number in values])
    if not ((lo <= default) & (default <= hi)).all():
        checks.fail("default", rule, value)
    return default


def _aggregator(
    name: str,
    blocks: int,
    pairs: tuple[tuple[float, float], ...],
    is_vector: bool,
    loss: Loss,
    centres: Any,
) -> tuple[str, Aggregator | VectorAggregator]:
    """Return the checked name of the aggregator, with "auto" resolved, and the aggregator."""
    if is_vector:
        name = choose(name, blocks, share(name, pairs, loss))
        return name, make_vector(name, blocks, pairs, loss, centres)
    if centres is not None:
        checks.fail("centres", "left out, because the answer is one number", centres)
    name = choose(name, blocks, loss)
    return name, make(name, blocks, *pairs[0], loss)
