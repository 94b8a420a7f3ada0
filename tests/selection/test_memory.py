"""No selection allocates an array of the size of its scores."""

import numpy as np
import pytest

import dpfast as dp

from ..support.memory import peak
from ..support.pairwise import every_value

N = 4_000_000
LOSS = {"sensitivity": 1, "epsilon": 1.0}
FORMS = {
    "float64": lambda x: x,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "integers": lambda x: (x * 1000).astype(np.int64),
    "half excluded": lambda x: np.where(x > 0, x, -np.inf),
}
CALLS = {
    "exponential": lambda x: dp.selection.exponential(x, **LOSS),
    "permute_and_flip": lambda x: dp.selection.permute_and_flip(x, **LOSS),
    "noisy_max": lambda x: dp.selection.noisy_max(x, **LOSS),
    "top_k": lambda x: dp.selection.top_k(x, 100, **LOSS),
    "column": lambda x: dp.selection.exponential(x[:, None], axis=0, **LOSS),
}
#: The part of the scores that may be held. Top-k has shorter blocks, so more of them.
PART = dict.fromkeys(CALLS, 1 / 8) | {"top_k": 1 / 2}


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).standard_normal(N) * 10


def held(call, scores):
    """The most bytes that a call holds at one time."""
    call(scores[:10_000])  # what is loaded or remembered once is not counted
    return peak(lambda: call(scores))[0]


@every_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", CALLS)
def test_memory_is_a_small_part_of_the_scores(scores, form, call):
    made = FORMS[form](scores)
    assert held(CALLS[call], made) < made.nbytes * PART[call]


def test_a_copy_is_caught(scores):
    """Control: what a plain argmax with noise holds."""
    assert held(lambda x: int(np.argmax(x + 1)), scores) > scores.nbytes / 8
