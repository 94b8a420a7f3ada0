"""Sample and aggregate: any statistic made private, by way of its values on random blocks."""

from __future__ import annotations

import logging
import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _check, privacy
from ._aggregators import AGGREGATORS, Aggregator, make
from ._aggregators import default as default_aggregator
from ._aggregators.vector import VectorAggregator, make_vector
from ._blocks import ContiguousLabels, KeyedLabels, RandomLabels
from ._blocks.labels import secret
from ._blocks.partition import Partition
from .budget import Budget
from .estimators import resolve
from .estimators._base import Bound, Job
from .privacy import ZCDP, Approx, Loss, Pure
from .release import release
from .rng import Generator
from .sources.table import RowSource, as_rows

__all__ = ["sample_and_aggregate"]

PARTITIONS = ("auto", "contiguous", "random", "key")

log = logging.getLogger("dpfast")


@dataclass(frozen=True, slots=True)
class SampleAndAggregate:
    """The mechanism: labels, block outputs, one private aggregate."""

    bound: Bound
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

    def reduce(self, source: RowSource) -> RowSource:
        """Nothing yet: the blocks are random, and randomness belongs to `finish`."""
        return source

    def finish(self, source: RowSource, generator: Generator) -> Any:
        z = self.outputs(source, generator)
        if self.is_vector:
            return self.aggregator.release(z, generator)
        return self.aggregator.release(np.ascontiguousarray(z[:, 0]), generator)

    def outputs(self, source: RowSource, generator: Generator) -> NDArray[np.float64]:
        """NOT PRIVATE. The output of each block within the bounds, shape (blocks, d)."""
        z = self.bound.outputs(source, self.split(source, generator), self.job)
        z[np.isnan(z).any(axis=1)] = self.default
        lo, hi = np.array(self.bounds).T
        return np.clip(z, lo, hi, out=z)

    def split(self, source: RowSource, generator: Generator) -> Partition:
        """A fresh partition of the rows."""
        if self.partition == "contiguous":
            return Partition(ContiguousLabels(self.blocks, rows_of(source)), self.drop)
        key = secret(generator.stream())
        if self.partition == "key":
            return Partition(KeyedLabels(self.blocks, key), self.drop)
        return Partition(RandomLabels(self.blocks, key), self.drop)


def sample_and_aggregate(
    data: Any,
    estimator: Any,
    *,
    blocks: int,
    bounds: Any,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    aggregator: str = "mean",
    partition: str = "auto",
    neighbors: str = "replace",
    default: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
    workers: int | None = None,
    progress: Any = None,
    ids: Any = None,
    nan: str = "keep",
    executor: str = "auto",
    time_limit: float | None = None,
    centres: Any = None,
    spill: str | None = None,
) -> Any:
    """Release any statistic by way of its values on blocks of the data."""
    loss = privacy.loss(epsilon, delta, rho)
    _check.whole("blocks", blocks, 1)
    _check.neighbors(neighbors)
    kind = chosen(partition, neighbors, ids)
    pairs, is_vector = _pairs(bounds)
    fallback = _default(default, pairs, is_vector)
    _check.choice("nan", nan, ("keep", "drop"))
    if workers is not None:
        _check.whole("workers", workers, 1)
    found = resolve(estimator, executor, time_limit)
    source = as_rows(data, ids if kind == "key" else None, workers)
    if neighbors == "replace" and source.length is not None and blocks > source.length:
        _check.fail("blocks", f"at most the number of rows, {source.length}", blocks)
    each = _one_block(loss) if kind == "key" and neighbors == "replace" else loss
    wide = len(pairs) if is_vector else None
    what = aggregator_name(aggregator, blocks, each)
    made: Aggregator | VectorAggregator
    if is_vector:
        made = make_vector(what, blocks, pairs, each, centres)
    else:
        made = make(what, blocks, *pairs[0], each)
    bound = found.bind(source, wide)
    name = f"{what} of {bound.name} on {blocks} {kind} blocks"
    mechanism = SampleAndAggregate(
        bound=bound,
        aggregator=made,
        partition=kind,
        blocks=blocks,
        bounds=pairs,
        is_vector=is_vector,
        default=fallback,
        drop=nan == "drop",
        neighbors=neighbors,
        loss=loss if each is loss else _two_blocks(made.loss),
        name=name,
        job=Job(workers, None, spill),
    )
    log.info("%s", name)
    return release(source, mechanism, budget=budget, rng=rng, prepare=lambda rows: rows)


def chosen(partition: str, neighbors: str, ids: Any) -> str:
    """The partition, by a rule that knows arguments only."""
    _check.choice("partition", partition, PARTITIONS)
    if partition == "auto":
        partition = "random" if ids is None else "key"
    if partition == "contiguous" and neighbors != "replace":
        _check.fail(
            "partition",
            "'random' or 'key' under add-remove (one row that comes or goes moves all rows after "
            "it to other places, and so changes every contiguous block)",
            partition,
        )
    if (partition == "key") != (ids is not None):
        _check.fail("ids", "given for partition='key', and for no other", ids)
    return partition


def aggregator_name(name: str, blocks: int, loss: Loss) -> str:
    """The aggregator that is meant."""
    _check.choice("aggregator", name, AGGREGATORS)
    return default_aggregator(blocks, loss) if name == "auto" else name


def _pairs(bounds: Any) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Bounds of each coordinate, and whether the answer is a vector."""
    try:
        nested = len(bounds) > 0 and not np.isscalar(bounds[0]) and len(bounds[0]) == 2
    except (TypeError, LookupError):
        nested = False
    if not nested:
        return (_check.bounds(bounds),), False
    return tuple(_check.bounds(pair) for pair in bounds), True


def _default(
    value: Any, pairs: tuple[tuple[float, float], ...], is_vector: bool
) -> NDArray[np.float64]:
    lo, hi = np.array(pairs).T
    if value is None:
        middle: NDArray[np.float64] = lo + (hi - lo) / 2
        return middle
    rule = "within the bounds, one number for each of their pairs"
    values = list(value) if is_vector and np.ndim(value) == 1 else [value] * len(pairs)
    if len(values) != len(pairs):
        _check.fail("default", rule, value)
    found = np.array([_check.number("default", one) for one in values])
    if not ((lo <= found) & (found <= hi)).all():
        _check.fail("default", rule, value)
    return found


def _one_block(loss: Loss) -> Loss:
    """A loss such that two blocks that change together cost `loss`."""
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho / 4)
    half = loss.epsilon / 2
    if isinstance(loss, Approx):
        grown = 1 + Fraction(math.exp(float(half))) * (1 + Fraction(1, 2**40))
        return Approx(half, loss.delta / grown)
    return Pure(half)


def _two_blocks(loss: Loss) -> Loss:
    """What it costs when two blocks change: a group of two."""
    found = privacy.convert(loss, "add-remove", "replace")
    assert found is not None
    return found


def rows_of(source: RowSource) -> int:
    """The number of rows, by a pass if need be."""
    if source.length is not None:
        return source.length
    rows: int = source.reduce(lambda chunk: len(chunk.rows), operator.add)
    return rows
