"""A plain column takes a short road, with the same bits, errors and prices as the long one."""

import threading
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import PLAIN
from dpfast._kernels.calls import public_part
from dpfast._kernels.noise import BLOCK
from dpfast.measurement import statistic
from dpfast.noise.distributions.discrete import FewLaplace, laplace_noise
from dpfast.rng import InsecureGenerator

ROWS = np.arange(1, 41)
BOUNDS = {"bounds": (0, 50)}


def measured(kind):
    def call(data, *, epsilon, rng, **public):
        return kind(**public).measure(epsilon=epsilon)(data, rng=rng)

    return call


CALLS = {
    "count": (dp.count, {}),
    "count of numbers": (dp.count, {"nan": "drop"}),
    "count of what is not 0": (dp.count_nonzero, {}),
    "proportion": (measured(dp.Proportion), {"equal": 7}),
    "proportion of a word": (measured(dp.Proportion), {"equal": "7"}),
    "mean, measured": (measured(dp.Mean), BOUNDS),
    "sum": (dp.sum, BOUNDS),
    "mean": (dp.mean, BOUNDS | {"neighbors": "replace"}),
    "dropped": (dp.mean, BOUNDS | {"nan": "drop"}),
    "variance": (dp.variance, BOUNDS | {"nan": 3.0}),
    "std": (dp.std, {"bounds": "auto"}),
    "median": (dp.median, BOUNDS),
    "quantiles": (dp.quantiles, BOUNDS | {"qs": (0.25, 0.75), "neighbors": "replace"}),
    "minimum": (dp.minimum, BOUNDS | {"nan": "upper"}),
    "iqr": (dp.iqr, BOUNDS),
    "trimmed mean": (dp.trimmed_mean, BOUNDS | {"proportion": 0.1}),
    "outer bounds": (dp.bounds, {}),
    "histogram": (dp.histogram, {"bins": 5} | BOUNDS),
    "categories": (dp.histogram, {"categories": (1.0, 2.0, 3.0)}),
}
KINDS = {
    "doubles": ROWS.astype(float),
    "a missing number": np.where(ROWS == 7, np.nan, ROWS),
    **{letter: ROWS.astype(letter) for letter in ("f4", "f2", "i8", "i2", "u1", ">f8", ">i4", "?")},
    "a stride": np.repeat(ROWS, 2)[::2],
    "backwards": ROWS[::-1],
    "not aligned": np.frombuffer(b"x" + ROWS.astype(float).tobytes(), "u1")[1:].view("f8"),
    "read only": np.frombuffer(ROWS.astype(float).tobytes()),
    "a mask": np.ma.array(ROWS.astype(float), mask=ROWS == 3),
    "a subclass": ROWS.astype(float).view(np.recarray),
    "no rows": np.zeros(0),
    "a matrix": np.ones((3, 2)),
    "no dimension": np.array(1.0),
    "long doubles": ROWS.astype(np.longdouble),
    "complex numbers": ROWS.astype(complex),
    "text": ROWS.astype(str),
    "days": ROWS.astype("m8[D]"),
    "a list": ROWS.tolist(),
    "nothing": None,
}


def outcome(function, data, call):
    try:
        return repr(function(data, epsilon=1, rng=InsecureGenerator(3), **call))
    except dp.errors.DpfastError as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_both_roads_have_the_same_bits_and_errors(name, kind, monkeypatch):
    function, call = CALLS[name]
    short = [outcome(function, KINDS[kind], call) for _ in range(2)]
    monkeypatch.setattr(statistic, "plain", lambda data: None)
    monkeypatch.setattr(statistic, "public_part", lambda *given: None)
    assert short == [outcome(function, KINDS[kind], call)] * 2


def test_a_column_where_it_lies_takes_the_short_road(monkeypatch):
    monkeypatch.setattr(dp.Mean, "read", None)
    assert dp.mean(KINDS["doubles"], **BOUNDS, epsilon=1) >= 0
    with pytest.raises(TypeError):
        dp.mean(KINDS["a stride"], **BOUNDS, epsilon=1)


def test_a_class_with_a_way_to_read_of_its_own_is_asked_to_read():
    class Half(dp.Mean):
        def read(self, data, **rows):
            return super().read(data[: len(data) // 2], **rows)

    measured = Half(bounds=(0, 50), nan="raise").measure(epsilon=400)
    assert measured(np.repeat([10.0, 40.0], 1000)) == pytest.approx(10, abs=1)


@pytest.mark.parametrize(
    "change",
    [
        {"bounds": (0, True)},
        {"bounds": ("0", 50)},
        {"nan": True},
        {"epsilon": True},
        {"delta": None},
    ],
    ids=str,
)
def test_what_equals_plain_arguments_is_still_checked(change):
    data = KINDS["doubles"]
    dp.mean(data, **BOUNDS, epsilon=1)
    dp.mean(data, bounds=(0, 1), nan=1.0, epsilon=1)
    with pytest.raises(dp.errors.DpfastError):
        dp.mean(data, **{"bounds": (0, 1), "epsilon": 1} | change)


def test_the_relation_of_a_budget_is_asked_at_each_call():
    data = KINDS["doubles"]
    for relation in ("add-remove", "replace", "add-remove"):
        budget = dp.Budget(epsilon=1, neighbors=relation)
        dp.mean(data, **BOUNDS, epsilon=1, budget=budget)
        assert budget.history[0].neighbors == relation
        with pytest.raises(dp.errors.BudgetError):
            dp.mean(data, **BOUNDS, epsilon=1, budget=budget)


def test_no_rows_are_in_what_is_remembered():
    rest = statistic.PAID, PLAIN
    public = public_part((KINDS["doubles"], 2), {"where": None, "rng": object()}, *rest)
    assert public == ((2,), ("where",), (None,), (int, type(None)))
    for given in ({"where": KINDS["doubles"]}, {"bounds": (0, [1])}, {"q": np.float64(1)}):
        assert public_part((None,), given, *rest) is None


def test_threads_share_what_is_remembered():
    data, found = KINDS["doubles"], []

    def work():
        for i in range(200):
            found.append(0 <= dp.mean(data, bounds=(0, 1 + i % 50), epsilon=1) <= 50)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [True] * 800


@pytest.mark.parametrize("scale", [Fraction(10**6, 7), Fraction(2**41 - 1, 2)], ids=str)
@pytest.mark.parametrize("size", [0, 1, 3, BLOCK])
def test_a_few_numbers_are_those_of_many(size, scale):
    few, out = FewLaplace(scale), np.empty(size, np.int64)
    a, b = InsecureGenerator(5).stream(), InsecureGenerator(5).stream()
    for _ in range(8):  # of the large ones some are undecided
        laplace_noise(out, scale, b)
        assert few.draw(size, a).tolist() == out.tolist()
    assert a.word() == b.word()
