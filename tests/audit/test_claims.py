"""`claims` makes tests that pass for what is sound, and fail for faults and for blindness."""

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError


def noisy(scale):
    return lambda data, size: len(data) + dp.noise.discrete_laplace(scale, size)


@pytest.mark.full
@dp.audit.claims(epsilon=1, samples=4_000)
def test_it_is_collected(data, size):
    """A count with noise of scale 1."""
    return len(data) + dp.noise.discrete_laplace(1, size)


def test_the_test_has_the_name_of_the_function():
    assert test_it_is_collected.__name__ == "test_it_is_collected"
    assert test_it_is_collected.__doc__ == "A count with noise of scale 1."
    assert test_it_is_collected.claim == dp.privacy.Pure(1)
    assert len(test_it_is_collected.mechanism([1], 5)) == 5


@pytest.mark.full
def test_a_fault_fails_with_a_witness():
    test = dp.audit.claims(epsilon=1, samples=4_000)(noisy(0.3))
    with pytest.raises(AssertionError, match=r"all at the lower end.*REFUTED"):
        test()


@pytest.mark.full
def test_too_few_answers_to_find_anything_fail():
    with pytest.raises(AssertionError, match="too few"):
        dp.audit.claims(epsilon=9, samples=1_024)(noisy(1))()


@pytest.mark.full
def test_a_mechanism_that_only_fails_fails():
    with pytest.raises(AssertionError, match="fails on all pairs"):
        dp.audit.claims(epsilon=1, samples=1_024)(lambda data: 1 / 0)()


def test_pairs_of_the_caller():
    pairs = [("one", np.zeros(3), np.zeros(2))]
    sure = 1 - 1e-9  # it refutes what is sound no more often than that
    test = dp.audit.claims(epsilon=1, pairs=pairs, samples=4_000, confidence=sure)(noisy(1))
    test()
    assert 0 < test.refutable < 0.1
    for bad in ([], 3, [(1, 2)]):
        with pytest.raises(ArgumentError if bad == [] else ArgumentTypeError, match="pairs"):
            dp.audit.claims(epsilon=1, pairs=bad)
    with pytest.raises(ArgumentTypeError, match="mechanism"):
        dp.audit.claims(epsilon=1)(3)
