"""`with budget:` pays for the calls of a block: in threads, tasks, generators and forks."""

import asyncio
import contextvars
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget import release

from ..support.forked import error_in_a_fork

AGES = np.repeat(np.arange(18, 91), 40)


def count(epsilon=1, **more):
    return dp.count(AGES, epsilon=epsilon, **more)


def budgets(number=2):
    return [dp.Budget(epsilon=9, neighbors="add-remove") for _ in range(number)]


def spent(*some):
    return [int(budget.spent["epsilon"]) for budget in some]


@pytest.fixture
def advice(monkeypatch):
    monkeypatch.setattr(release, "_warns_unpaid", True)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield heard


def test_the_inner_block_pays_and_a_budget_that_is_passed_comes_first():
    a, b = budgets()
    with a as entered:
        count()
        with b:
            count()
            with a:
                count(2)
            count(budget=a)
        prepared = dp.extend.prepare(dp.count, AGES, epsilon=1)
    with b:
        prepared.run()  # which pays where it is run
    assert entered is a and spent(a, b) == [4, 2]
    with pytest.raises(ZeroDivisionError), a:
        raise ZeroDivisionError
    count()
    assert spent(a, b) == [4, 2]


def test_rounds_of_a_learner_and_runs_of_best_of_are_paid_for_once():
    x = np.linspace(0, 10, 300)[:, None]
    y = (x[:, 0] > 5).astype(int)
    with dp.Budget(epsilon=9) as budget:
        model = dp.learn.LogisticRegression(bounds="auto", classes=[0, 1], epsilon=1).fit(x, y)
        model.score(x, y, epsilon=1)
        fixed = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1])
        dp.learn.cross_validate(fixed, x, y, epsilon=1, cv=2)
        dp.selection.best_of(lambda: (count(0.1), 0), run_loss=dp.privacy.Pure(0.1), gamma=0.3)
        dp.sulq.NoisySums(x, queries=2, epsilon=1).sum("count")
        assert len(budget.history) == 5


def test_what_a_release_runs_is_paid_for_and_says_nothing(advice):
    """How many runs there are is secret."""
    blocks = {"blocks": 4, "bounds": (0, 9), "epsilon": 1, "workers": 2}
    for call in (
        lambda: dp.selection.best_of(
            lambda: (count(30), 0), run_loss=dp.privacy.Pure(3), gamma=0.2
        ),
        lambda: dp.sample_and_aggregate(np.arange(100.0), lambda block: count(1), **blocks),
    ):
        with budgets(1)[0] as budget:
            call()
        assert len(budget.history) == 1 and not advice


def test_tasks_have_blocks_of_their_own():
    a, b = budgets()

    async def task(budget, times):
        with budget:
            for _ in range(times):
                await asyncio.sleep(0)
                count()

    async def main():
        await asyncio.gather(task(a, 2), task(b, 3))
        with a:
            await asyncio.gather(asyncio.create_task(task(b, 1)), asyncio.to_thread(count))
        count()

    asyncio.run(main())
    assert spent(a, b) == [3, 4]


def test_a_thread_has_the_block_of_a_context_that_is_copied(advice):
    (budget,) = budgets(1)

    def run(work):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    with budget:
        context = contextvars.copy_context()
        run(lambda: context.run(count))
        assert spent(budget) == [1] and not advice
        run(count)  # a new thread starts without a block, and is told so
    assert spent(budget) == [1]
    (said,) = advice
    assert "in each thread" in str(said.message)


def test_generators_begin_and_end_blocks_in_any_order():
    a, b = budgets()

    def study():
        with a:
            yield

    with contextmanager(study)():
        count()
    waiting = study()
    next(waiting)
    with b:
        waiting.close()  # the block that began before ends within this one
        count()
    count()
    assert spent(a, b) == [1, 1]
    assert release.BLOCKS.get() == (None,)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_refused_by_the_block():
    with budgets(1)[0] as budget:
        assert "this process is a fork" in error_in_a_fork(count)
        count()
    assert spent(budget) == [1]


def test_the_first_call_without_a_budget_says_so_once(advice):
    dp.expected_error(dp.count, AGES, epsilon=1)
    count(rng=dp.rng.InsecureGenerator(1))
    (budget,) = budgets(1)
    count(budget=budget)
    assert not advice
    count()
    count()
    (said,) = advice
    assert said.category is dp.PrivacyAdvice and said.filename == __file__
    assert str(said.message) == release.UNPAID and len(release.UNPAID.split()) < 30


def test_advice_as_an_error_comes_before_the_spend(advice):
    warnings.simplefilter("error", dp.PrivacyAdvice)
    (budget,) = budgets(1)
    for paid, epsilon, said in (None, 1, "no budget pays"), (budget, 20, "epsilon=20 is above 10"):
        with pytest.raises(dp.PrivacyAdvice, match=said):
            count(epsilon, budget=paid)
    assert not budget.history
