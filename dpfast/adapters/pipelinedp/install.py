"""`installed`: a ``with`` block in which PipelineDP draws by dpfast."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import dpfast as dp
from dpfast.extend import extra
from dpfast.rng import Generator, check

from ..scaled_noise import finite
from .mechanisms import MOST, GaussianMechanism, LaplaceMechanism
from .partitions import PartitionSelection, create_partition_strategy
from .percentiles import Blocks, accumulated, computed, merged

#: The modules of PyDP that PipelineDP imports.
OF_PYDP = (
    "pydp",
    "pydp.algorithms",
    "pydp.algorithms.numerical_mechanisms",
    "pydp.algorithms.partition_selection",
    "pydp.algorithms.quantile_tree",
)


class Whole:
    """A vector that iterates as one entry, so that PipelineDP's loop adds noise to it at once."""

    def __init__(self, vector: Any) -> None:
        self._vector = np.asarray(vector)
        self.size = self._vector.size

    def __iter__(self) -> Iterator[Any]:
        yield self._vector


@contextmanager
def installed(rng: Generator | None = None) -> Iterator[None]:
    """Let PipelineDP draw noise, percentiles, partitions and candidates by dpfast in a block.

    Inside the block, functions of dpfast replace the functions of PyDP that PipelineDP calls, in
    the whole process. At the end, the functions of PyDP are restored. Results of PipelineDP are
    lazy: noise is drawn when they are read. So read them inside the block. PyDP need not be
    installed; without it, PipelineDP can draw noise only by dpfast.

    Privacy
    -------
    A mechanism keeps the loss that PipelineDP's accountant assigns to it, under the bounds that
    PipelineDP puts on the rows of a privacy id. PipelineDP still sums floats, and still chooses
    which rows of a privacy id are kept. Percentiles are draws of exponential mechanisms (McSherry
    and Talwar, FOCS 2007).

    Parameters
    ----------
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests.

    Yields
    ------
    None

    Raises
    ------
    MissingExtraError
        If PipelineDP is not installed.
    ArgumentTypeError
        If `rng` is not a generator of dpfast.

    Examples
    --------
    >>> from dpfast.adapters.pipelinedp import installed
    >>> with installed():  # doctest: +SKIP
    ...     result = dict(engine.aggregate(rows, params, extractors))
    """
    if rng is not None:
        check(rng)
    pipeline = imported()
    computations, combiners = pipeline.dp_computations, pipeline.combiners
    numerical = SimpleNamespace(
        LaplaceMechanism=_with(LaplaceMechanism, rng),
        GaussianMechanism=_with(GaussianMechanism, rng),
    )
    selections = SimpleNamespace(create_partition_strategy=partial(_strategy, rng))
    combiner = combiners.QuantileCombiner
    vectors = computations.add_noise_vector
    replaced: list[tuple[Any, str, Any]] = [
        (computations, "dp_mechanisms", numerical),
        (computations, "add_noise_vector", lambda vec, noise: vectors(Whole(vec), noise)[0]),
        (computations.AdditiveMechanism, "add_noise", lambda self, x: self._mechanism.add_noise(x)),
        (computations.ExponentialMechanism, "apply", partial_method(_apply, rng)),
        (pipeline.partition_selection, "partition_selection", selections),
        (combiner, "create_accumulator", lambda self, values: accumulated(values)),
        (combiner, "merge_accumulators", lambda self, first, other: merged(first, other)),
        (combiner, "compute_metrics", partial_method(_percentiles, rng)),
    ]
    with ExitStack() as stack:
        for where, name, new in replaced:
            stack.enter_context(patch.object(where, name, new))
        yield


def imported() -> Any:
    """Import and return PipelineDP; where PyDP is not installed, import PipelineDP without PyDP."""
    if "pipeline_dp" not in sys.modules:
        try:
            import_module("pydp")
        except ImportError:
            for name in OF_PYDP:
                sys.modules[name] = _stand_in(name)
    extra("pipeline_dp.dp_computations", "this adapter")
    return extra("pipeline_dp", "this adapter")


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name, "Stands for a part of PyDP, which is not installed.")
    if name.endswith("numerical_mechanisms"):
        vars(module).update(LaplaceMechanism=LaplaceMechanism, GaussianMechanism=GaussianMechanism)
    elif name.endswith("partition_selection"):
        vars(module).update(create_partition_strategy=create_partition_strategy)
    elif name.endswith("quantile_tree"):
        vars(module).update(QuantileTree=None)
    home, _, attribute = name.rpartition(".")
    if home:
        setattr(sys.modules[home], attribute, module)
    return module


def partial_method(function: Any, rng: Generator | None) -> Any:
    """Return a method that calls a function with a generator before the other arguments."""
    return lambda self, *arguments, **named: function(rng, self, *arguments, **named)


def _with(kind: Any, rng: Generator | None) -> Any:
    """Return a mechanism class that draws from `rng`; `kind` itself if `rng` is None."""
    return kind if rng is None else type(kind.__name__, (kind,), {"rng": rng})


def _strategy(rng: Generator | None, *arguments: Any, **named: Any) -> PartitionSelection:
    selection = create_partition_strategy(*arguments, **named)
    if rng is not None:
        selection.rng = rng  # type: ignore[misc]
    return selection


def _apply(rng: Generator | None, self: Any, eps: float, inputs_to_score_col: Sequence[Any]) -> Any:
    scoring = self._scoring_function
    index = dp.selection.exponential(
        [finite(scoring.score(candidate)) for candidate in inputs_to_score_col],
        sensitivity=scoring.global_sensitivity,
        epsilon=min(eps, MOST),
        monotone=bool(scoring.is_monotonic),
        neighbors="add-remove",
        rng=rng,
    )
    return inputs_to_score_col[int(index)]


def _percentiles(rng: Generator | None, self: Any, accumulator: Blocks) -> dict[str, float]:
    return dict(zip(self.metrics_names(), computed(self, accumulator, rng), strict=True))
