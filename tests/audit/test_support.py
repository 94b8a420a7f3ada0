"""`support`, `neighbors`, `replay` and `one_run`: what is sound passes, and each fault is told."""

import math
import warnings

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit.once import chance
from dpfast.audit.replayed import same
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator

from ..support.lazy import binom
from ..support.pairwise import quick_rows


def on_grid(step):
    generator = InsecureGenerator(2)
    return lambda data, size: step(data) * dp.noise.discrete_laplace(300, size, rng=generator)


@quick_rows(1)
@pytest.mark.parametrize(
    "mechanism, words",
    [
        (on_grid(lambda data: data[0]), "the answer is"),
        (on_grid(lambda data: 0.5), None),  # a public grid is no difference
        (on_grid(lambda data: 1 / 3 if data[0] == 3 else 0.5), "lowest bit"),
        (lambda data: None if data[0] == 3 else 1, "the kind"),
        (lambda data: math.nan if data[0] == 3 else 1.0, "NaN"),
    ],
)
def test_a_difference_is_told(mechanism, words):
    found = dp.audit.support(mechanism, [3], [7], epsilon=1, samples=20_000)
    assert found.same == (found.differences == ()) == (words is None)
    assert any(words in one for one in found.differences) if words else found.samples == 20_000


CARRIERS = ["UA", "AA"]
SCHEMAS = [(0, 120), (-1e308, 1e307), (3, 3), CARRIERS, {"age": (0, 120), "carrier": CARRIERS}]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_pairs_are_neighbors(schema, relation):
    pairs = dp.audit.neighbors(schema, neighbors=relation, rows=5)
    assert len({pair.name for pair in pairs}) == len(pairs) > 4
    for _, x, x2 in pairs:
        tables = [list(zip(*t.values(), strict=True)) if isinstance(t, dict) else t.tolist()
                  for t in (x, x2)]  # fmt: skip
        if relation == "replace":
            assert len(tables[0]) == len(tables[1])
            differ = sum(not same(a, b) for a, b in zip(*tables, strict=True))
            assert differ <= 1
        else:
            assert len(tables[1]) == len(tables[0]) - 1
            without = [tables[0][:i] + tables[0][i + 1 :] for i in range(len(tables[0]))]
            assert any(same(tables[1], one) for one in without)
    assert len(pairs[-1].x2) == 0 or relation == "replace" or isinstance(schema, dict)


@pytest.mark.parametrize("bad", [{}, 3, (1, 0), [], {"a": None}, "x"])
def test_a_schema_that_is_none(bad):
    with pytest.raises(ArgumentError):
        dp.audit.neighbors(bad)


X = np.array([0.0, 1.0, 2.0, 5.0])
X2 = X[:-1]


def picked(x, change=1.0):
    scores = np.array([np.count_nonzero(x == v) for v in range(6)], float)
    return dp.selection.exponential(scores, sensitivity=change, epsilon=1)


def budgeted(x):
    budget = dp.Budget(epsilon=2, neighbors="add-remove")
    return dp.count(x, epsilon=1, budget=budget), budget.remaining


FIVE = {"bounds": (0, 5), "epsilon": 1}
SOUND = [
    lambda x: (dp.mean(x, **FIVE), dp.median(x, **FIVE)),
    *[picked, budgeted, lambda x: dp.histogram(x, bins=3, **FIVE)],
]


@quick_rows(1)
@pytest.mark.parametrize("program", SOUND)
def test_a_sound_program_is_clean(program):
    found = dp.audit.replay(program, X, X2)
    assert found.clean and found.leaks == () and found.releases >= 1 and not found.unchecked
    share = {"bounds": (0, 1), "sensitivity": 1 / len(X), "epsilon": 1}  # which is enough
    program = lambda x: dp.bounded_release(np.mean(x > 1), **share)  # noqa: E731
    assert dp.audit.replay(program, X, np.append(X[:-1], 0.0), neighbors="replace").clean


LEAKS = {
    "the result": (lambda x: (dp.count(x, epsilon=1), len(x)), "the result differs"),
    "the output": (lambda x: (print(len(x)), dp.count(x, epsilon=1)), "the output differs"),
    "a warning": (
        lambda x: (warnings.warn(f"{x.max()}", stacklevel=1), dp.count(x, epsilon=1)),
        "the warnings differs",
    ),
    "an error": (lambda x: 1 / (len(x) - 3), "the error differs"),
    "a branch": (lambda x: dp.count(x, epsilon=1) if len(x) > 3 else None, "1 releases on x"),
    "one more": (lambda x: dp.count(x, epsilon=1) if len(x) < 4 else None, "on x2 only"),
    "another": (lambda x: (dp.mean if len(x) > 3 else dp.sum)(x, **FIVE), "is of mean on x"),
    "bounds": (lambda x: dp.sum(x, bounds=(0, x.max()), epsilon=1), "is not the same"),
    "the loss": (lambda x: dp.sum(x, bounds=(0, 5), epsilon=len(x)), "loss is not the same"),
    "every row": (lambda x: dp.sum(x - x.mean(), bounds=(-9, 9), epsilon=1), "rows differ"),
    "scores": (lambda x: picked(x, 0.2), "the scores differ by 2.5"),
    "a value": (
        lambda x: dp.bounded_release(x.sum(), bounds=(0, 9), sensitivity=1, epsilon=1),
        "the value moved by 5",
    ),
}


@quick_rows(3)
@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_told(name):
    program, words = LEAKS[name]
    found = dp.audit.replay(program, X, X2)
    assert not found.clean and any(words in leak for leak in found.leaks), found


TABLE = {
    "k": np.array(["a", "a", "b", "b", "b"]),
    "v": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    "id": np.array([1, 2, 3, 4, 4]),
}
#: Without the last person, who has two rows.
FEWER = {name: column[:3] for name, column in TABLE.items()}
WHOSE = {"ids": "id", "max_groups": 1, "max_rows": 2}


def by_group(rows, keys=("a", "b"), high=5, **given):
    groups = dp.group_by(rows, "k", keys=keys, **given)
    return groups.sum("v", bounds=(0, high), epsilon=1)["sum"]


def centred(rows):
    return {**rows, "v": rows["v"] - rows["v"].mean()}


PEOPLE = {
    "by group": lambda rows: by_group(rows, **WHOSE),
    "private keys": lambda rows: dp.select_keys(
        rows["k"], ids=rows["id"], max_groups=1, epsilon=1, delta=1e-6
    ),
    "distinct": lambda rows: dp.count_distinct(rows["k"], ids=rows["id"], max_groups=1, epsilon=1),
    "a sum": lambda rows: dp.sum(rows["v"], ids=rows["id"], max_rows=2, **FIVE),
}  # fmt: skip


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_may_have_many_rows(name):
    found = dp.audit.replay(PEOPLE[name], TABLE, FEWER)
    assert found == dp.audit.Replay((), 1)
    less = {column: rows[1:] for column, rows in FEWER.items()}  # and one more is missing
    leaks = dp.audit.replay(PEOPLE[name], TABLE, less).leaks
    assert any("2 people differ" in leak for leak in leaks)


GROUPS = {
    "rows": (lambda rows: by_group(rows), "2 rows differ"),
    "every row": (lambda rows: by_group(centred(rows), **WHOSE), "people differ"),
    "public keys": (lambda rows: by_group(rows, keys=list(set(rows["v"].astype(str))), **WHOSE),
                    "keys is not the same"),
    "bounds": (lambda rows: by_group(rows, high=rows["v"].max(), **WHOSE), "statistics is not"),
}  # fmt: skip


@pytest.mark.parametrize("name", GROUPS)
def test_leaks_of_groups_and_people_are_told(name):
    program, words = GROUPS[name]
    found = dp.audit.replay(program, TABLE, FEWER)
    assert any(words in leak for leak in found.leaks), found


@pytest.mark.parametrize("norm, most", [("l1", 4), ("l2", 4 / math.sqrt(2))])
def test_numbers_move_by_their_sensitivity_in_its_norm(norm, most):
    def program(sensitivity):
        return lambda x: dp.additive_release(
            [x.sum(), -x.sum()], sensitivity=sensitivity, norm=norm, rho=1
        )

    x, x2 = np.array([2.0, 2.0]), np.array([2.0])
    assert dp.audit.replay(program(most), x, x2) == dp.audit.Replay((), 1)
    (leak,) = dp.audit.replay(program(most / 2), x, x2).leaks
    assert leak.endswith("the numbers moved by 2 times their sensitivity")


def test_randomized_response_answers_row_by_row():
    x, x2 = np.array([0, 1, 1]), np.array([1, 1, 1])
    sound = dp.audit.replay(lambda b: dp.response.binary(b, epsilon=1), x, x2)
    assert sound == dp.audit.Replay((), 1)
    parity = dp.audit.replay(lambda b: dp.response.binary(b ^ (b.sum() & 1), epsilon=1), x, x2)
    assert any("rows differ" in leak for leak in parity.leaks)


def test_nothing_is_recorded_after_a_replay():
    """An error of the program leaves no tape behind, which would freeze later answers."""
    found = dp.audit.replay(lambda x: 1 / 0, X, X2)
    assert found.leaks == () and not found.clean
    assert found.unchecked == ("what comes after ZeroDivisionError: division by zero",)
    # One answer in 12 is a bound: nine are alike by chance less than 1e-9 of the time.
    assert len({dp.mean(X, **FIVE) for _ in range(9)}) > 1
    with pytest.raises(ArgumentError, match="answer several times"):
        dp.audit.replay(
            lambda x: dp.online.SparseVector(positives=1, epsilon=1).answer(len(x)), X, X2
        )


def test_the_chance_of_right_guesses_is_the_binomial_one():
    assert chance(70, 100, 100, 0.0, 0.0) == pytest.approx(binom.sf(69, 100, 0.5))
    q = 1 / (1 + math.exp(-1))
    most = max((binom.sf(59 - i, 100, q) - binom.sf(59, 100, q)) / i for i in range(1, 61))
    expected = binom.sf(59, 100, q) + 2 * 200 * 1e-4 * most
    assert chance(60, 100, 200, 1.0, 1e-4) == pytest.approx(min(1, expected))


def response(epsilon, seed=1):
    """Randomized response of each canary: it spends epsilon, and no more."""
    rng = np.random.default_rng(seed)
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda included: included ^ (rng.random(len(included)) >= truth)


@pytest.mark.full
@pytest.mark.parametrize("spent, refuted", [(1, False), (2, True)])
def test_one_run(spent, refuted):
    rng = InsecureGenerator(4)
    found = dp.audit.one_run(response(spent), 5_000, epsilon=1, rng=rng)
    assert found.refuted == refuted and 0.7 * spent < found.epsilon <= spent
    with_delta = dp.audit.one_run(response(spent), 5_000, epsilon=1, delta=1e-9, rng=rng)
    assert with_delta.refuted == refuted


def test_scores_that_are_none():
    for bad in (lambda included: 3, lambda included: ["x"] * len(included)):
        with pytest.raises(ArgumentTypeError, match="canaries"):
            dp.audit.one_run(bad, 9, epsilon=1)
    with pytest.raises(ArgumentError, match="guesses"):
        dp.audit.one_run(response(1), 9, guesses=10, epsilon=1)
