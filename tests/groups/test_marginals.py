"""`marginals`: plan, exact law, agreement, error bars, refusals."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import dpfast as dp
from dpfast.groups import marginals as shipped
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import ZCDP
from dpfast.rng import InsecureGenerator

from ..reference.groups import marginals as twin
from ..support.pairwise import quick_rows
from ..support.refused import refused

SHAPES = [(), (2,), (3,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 3, 3)]
BOTH = ["add-remove", "replace"]
#: What a test may exceed once in 1e7 runs, for each of a thousand numbers.
FAR = NormalDist().inv_cdf(1 - 1e-11)


def attributes(sizes):
    return {f"a{i}": list(range(size)) for i, size in enumerate(sizes)}


def table(sizes, rows, seed):
    rng = np.random.default_rng(seed)
    return {f"a{i}": rng.integers(0, size, rows) for i, size in enumerate(sizes)}


def exact(data, sizes, names):
    shape = [sizes[int(name[1:])] for name in names]
    cells = np.zeros(len(data["a0"]), int)
    for name, size in zip(names, shape, strict=True):
        cells = cells * size + data[name]
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def measured(sizes, ways=2, neighbors="add-remove", importance=None, **loss):
    of = dp.Marginals(ways=ways, categories=attributes(sizes), importance=importance)
    return of.measure(unit=neighbors, **(loss or {"rho": 0.5}))


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_moves_a_residual_by_integers_of_the_length_that_is_paid(shape, neighbors):
    matrix = twin.residual(shape)
    lengths = [int(((matrix @ move) ** 2).sum()) for move in twin.moves(shape, neighbors)]
    assert max(lengths) == shipped.squared_move(shape, neighbors)


def spent(residuals, neighbors):
    return sum(
        len(one.subsets) * Fraction(shipped.squared_move(one.shape, neighbors))
        / (2 * Fraction(one.noise.scale) ** 2)
        for one in residuals
    )  # fmt: skip


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("ways", [1, 2, 3, [("a0", "a2"), ("a1",)]], ids=str)
def test_parts_of_the_loss_add_up_to_it(ways, neighbors):
    residuals = measured((2, 3, 3, 5), ways, neighbors, rho=Fraction(1, 3)).inner.residuals
    total = spent(residuals, neighbors)
    assert Fraction(1, 3) * (1 - Fraction(1, 10**6)) < total <= Fraction(1, 3)
    # A residual whose charge is forgotten is found.
    forgotten = shipped.planned((2, 3), {(0,): 1.0}, ZCDP(1), neighbors)
    more = [*forgotten, *residuals]
    assert spent(more, neighbors) > Fraction(1, 3)


class Drawn:
    distribution = "gaussian"

    def __init__(self, values, scale, shift=0):
        self.values, self.scale, self.shift = values, scale, shift

    def draw(self, size, generator):
        assert size == len(self.values)
        return self.values


def law(counts, scale, reach):
    """The law of what `Residuals.noisy` returns of counts, by all noise that there may be."""
    sizes = np.arange(-reach, reach + 1)
    chance = np.exp(-((sizes / scale) ** 2) / 2)
    places = np.indices((len(sizes),) * counts.size).reshape(counts.size, -1).T
    weights = (chance / chance.sum())[places].prod(1)
    residuals = shipped.Residuals(counts.shape, (), Drawn(sizes[places].ravel(), scale))
    noisy = residuals.noisy(np.tile(counts.ravel(), len(places)), None).reshape(len(places), -1)
    found, which = np.unique(
        np.round(noisy * counts.size**2).astype(int), axis=0, return_inverse=True
    )
    return dict(zip(map(tuple, found.tolist()), np.bincount(which.ravel(), weights), strict=True))


def renyi(p, q, alpha):
    total = sum(chance**alpha * q[k] ** (1 - alpha) for k, chance in p.items() if k in q)
    return math.log(total) / (alpha - 1)


@quick_rows(2)
@pytest.mark.parametrize(
    "shape, scale, reach", [((2,), 2.2, 24), ((3,), 1.5, 11), ((2, 2), 1.2, 6)], ids=str
)
def test_the_law_of_the_answer_costs_no_more_than_continuous_noise(shape, scale, reach):
    """Enumerated on the shipped code, for a row that comes or goes and for one that is replaced."""
    start, matrix = np.full(shape, 3), twin.residual(shape)
    before, less = law(start, scale, reach), law(start, 0.8 * scale, reach)
    every = twin.moves(shape, "replace")
    for move in (every[0], every[start.size], every[-1])[: 3 if len(shape) == 1 else 1]:
        after = law(start + move.reshape(shape), scale, reach)
        rho = int(((matrix @ move) ** 2).sum()) / (2 * scale**2)
        for alpha in (1.5, 2):
            assert 0.8 * alpha * rho < renyi(before, after, alpha) < alpha * rho * 1.002
        # Less noise for the same loss is found.
        assert renyi(less, law(start + move.reshape(shape), 0.8 * scale, reach), 2) > 2 * rho


SMALL = (2, 3)


@pytest.mark.parametrize("neighbors", BOTH)
def test_all_exact_counts_of_neighbors_differ_by_what_is_paid(neighbors):
    """With rows outside and rows that a mask leaves out, on the shipped `reduce`."""
    made = measured(SMALL, neighbors=neighbors, rho=1).inner
    rows = [*itertools.product((0, 1), (0, 1, 2)), (0, 7), (math.nan, 1)]

    def counts(chosen):
        given = [[*row] for row in chosen]
        source = made.statistic.read(
            np.array(given or np.empty((0, 2)), float).reshape(-1, 2),
            relation=neighbors, axis=None, where=None, ids=None, weights=None,
        )  # fmt: skip
        return np.split(made.reduce(source), made._starts[1:-1])

    paid = 0
    known = {row: counts([rows[0], row]) for row in rows}
    pairs = itertools.combinations(rows, 2)
    neighboring = [(known[a], known[b]) for a, b in pairs]
    if neighbors == "add-remove":
        alone = counts([rows[0]])
        neighboring = [(known[row], alone) for row in rows]
    for some, others in neighboring:
        rho = 0
        for one, a, b in zip(made.residuals, some, others, strict=True):
            matrix = twin.residual(one.shape)
            moved = (a - b).reshape(len(one.subsets), -1) @ matrix
            rho += Fraction(int((moved**2).sum())) / (2 * Fraction(one.noise.scale) ** 2)
        assert rho <= 1
        paid = max(paid, rho)
    assert paid > (0.999999 if neighbors == "add-remove" else 0.6)  # there it is a bound


@pytest.mark.parametrize(
    "sizes, weights",
    [
        ((2, 3), {(0, 1): 1.0}),
        ((2, 3, 4), {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}),
        ((2, 3, 4), {(0, 1): 10.0, (2,): 0.25}),
        ((3, 1, 4), {(0, 1): 2.0, (1, 2): 1.0, (): 5.0}),
        ((2, 2, 2, 3), {(0, 1, 2): 1.0, (1, 2, 3): 3.0}),
    ],
    ids=str,
)
def test_the_sum_of_variances_is_the_least(sizes, weights):
    residuals = shipped.planned(sizes, weights, ZCDP(Fraction(1, 2)), "add-remove")
    total = 0.0
    known = {places: one for one in residuals for places in one.subsets}
    for marginal, weight in weights.items():
        cells = math.prod(sizes[i] for i in marginal)
        for places in shipped.subsets_of(marginal):
            one = known[places]
            kept = math.prod((size - 1) / size for size in one.shape)
            total += weight * cells * one.deviation**2 * kept * (one.cells / cells) ** 2
    assert total == pytest.approx(twin.least_variance(sizes, weights, 0.5), rel=1e-6)


def test_answers_agree_and_are_near():
    sizes, names = (2, 3, 4, 1), ("a0", "a1", "a2", "a3")
    data = table(sizes, 500, 3)
    answer = measured(sizes, 3, rho=400)(data, rng=InsecureGenerator(5))
    assert list(answer) == list(itertools.combinations(names, 3)) and len(answer) == 4
    for asked in answer:
        counts = answer.counts(*asked)
        for k in range(4):
            for part in itertools.combinations(asked, k):
                axes = tuple(i for i, name in enumerate(asked) if name not in part)
                assert np.allclose(counts.sum(axes), answer.counts(*part), rtol=0, atol=1e-9)
        assert abs(counts - exact(data, sizes, asked)).max() < 3
        turned = answer.counts(*asked[::-1])
        assert (turned == counts.transpose()).all()
    found = answer["a2", "a0"]
    assert list(found) == ["a2", "a0", "count", "error"]
    assert found["a2"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and found["a0"].tolist() == [0, 1] * 4
    assert (found["count"] == answer.counts("a2", "a0").ravel()).all()
    assert set(found["error"]) == {answer.error("a0", "a2")}
    assert "4 marginals of 4 attributes" in repr(answer) and "a0, a1, a3: 6 cells" in repr(answer)
    for absent in [("a0", "a0"), ("a9",), names, 3, ["a0", "a1"]]:
        with pytest.raises(KeyError, match="names must be attributes of one marginal") as error:
            answer[absent]
        assert len(str(error.value).split()) < 30


def related(made, runs):
    empty, generator = np.zeros(made._starts[-1], np.int64), InsecureGenerator(11)
    answers = [made.finish(empty, generator) for _ in range(runs)]
    values = [[value.ravel() for _, value in one._values.values()] for one in answers]
    owner = np.repeat(np.arange(len(values[0])), [len(one) for one in values[0]])
    relation = np.corrcoef(np.array([np.concatenate(one) for one in values]).T)
    return abs(relation[owner[:, None] != owner]).max() * math.sqrt(runs)


def test_no_two_residuals_share_noise(monkeypatch):
    made, right = measured((2, 3, 3), rho=0.5).inner, IntegerNoise.draw
    assert related(made, 150) < FAR

    def again(noise, size, generator):
        used = size // 2 if size == 6 else size  # residuals of two attributes
        return np.resize(right(noise, used, generator), size)

    monkeypatch.setattr(IntegerNoise, "draw", again)
    assert related(made, 150) > FAR  # which is found


@pytest.mark.parametrize("loss", [{"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}], ids=str)
def test_rows_are_counted_as_a_histogram_does(loss):
    data = {"x": [1.5, 2.0, math.nan, 9.0, 2.0], "y": ["a", "b", "a", "b", None]}
    own = {"bins": {"x": [1, 2, 3]}, "categories": {"y": ["a", "b"]}}
    answer = dp.marginals(data, **own, rho=400, rng=InsecureGenerator(1))
    assert abs(answer.counts("y", "x") - [[1, 0], [0, 1]]).max() < 0.5
    assert answer["x"]["x"].tolist() == [1, 2] and answer.edges["x"].tolist() == [1, 2, 3]
    some = dp.marginals(data, **own, where=[True] * 1 + [False] * 4, rho=400)
    assert abs(some.counts("y", "x") - [[1, 0], [0, 0]]).max() < 0.5
    people = dp.marginals(data, **own, ids=[1, 1, 1, 1, 1], max_rows=1, rho=400)
    assert abs(people.counts()) < 1.5
    assert dp.marginals(data, **own, **loss).error("x") > 0


def test_counts_are_those_of_each_row(monkeypatch):
    sizes, names = (2, 3, 40, 30), ("a0", "a1", "a2", "a3")
    made, data = measured(sizes, 3).inner, table(sizes, 9000, 4)
    source = made.statistic.read(
        data, relation="add-remove", axis=None, where=None, ids=None, weights=None
    )
    for pending in (1, 1 << 24):  # one batch at a time, and all together
        monkeypatch.setattr(shipped, "PENDING", pending)
        parts = np.split(made.reduce(source), made._starts[1:-1])
        for one, counts in zip(made.residuals, parts, strict=True):
            for places, own in zip(one.subsets, counts.reshape(-1, one.cells), strict=True):
                right = exact(data, sizes, [names[i] for i in places])
                assert (own.reshape(one.shape) == right).all()


def test_noise_beyond_the_samplers_is_of_coarser_counts():
    sizes = (40, 60)
    made = measured(sizes, rho=Fraction(1, 2**59)).inner
    widest = made.residuals[-1]
    assert widest.shape == sizes and widest.noise.shift > 0
    generator, cells = InsecureGenerator(3), np.full(2400, 1 << 40)
    noisy = widest.noisy(cells, generator)
    kept = math.prod((size - 1) / size for size in sizes)
    assert abs(noisy.std() / (widest.deviation * kept**0.5) - 1) < FAR / math.sqrt(2 * 2000)
    for axis in (1, 2):
        assert abs(noisy.mean(axis)).max() < 1e-9 * widest.deviation
    flat = measured(sizes, rho=Fraction(1, 2)).inner.residuals[-1].noisy(cells, generator)
    assert abs(flat).max() < 100  # and no count overflows


BOTH_WAYS = [("a0", "a1"), ("a1", "a0")]
WIDE = {f"a{i}": range(1 << 16) for i in range(2)}
BAD = [
    ({"ways": BOTH_WAYS}, "different marginals"),
    ({"categories": {"a0": [1, 1]}, "ways": 1}, "ascending order"),
    ({"categories": {"count": [0]}, "ways": 1}, "names other than 'count'"),
    ({"categories": None}, "categories must be given"),
    ({"bins": {"a0": 3}}, "or categories instead"),
    ({"bounds": {"a0": (0, 1)}}, "left out, or None, with categories"),
    ({"importance": {("a0",): 2}}, "marginals that ways has"),
    ({"importance": {("a0", "a1"): 1e99}}, "importance must be from 1e-6 to 1e6"),
    ({"categories": None, "ways": 1, "bins": {"z": 3}}, "bounds['z'] must be a pair"),
    ({"categories": None, "ways": 1, "bounds": {"z": (0, 1)}}, "bins['z'] must be given"),
    ({"categories": {"a0": [["x"], ["y"]]}, "ways": 1}, "categories['a0'] must be"),
    ({"where": [True] * 8, "neighbors": "replace"}, "where must be as long as the data"),
    ({"rho": None, "epsilon": 1}, "delta must be greater than 0 with epsilon, because"),
    ({"categories": WIDE}, f"cells in total, got '{1 << 32} cells'"),
]


@pytest.mark.parametrize("given, text", BAD, ids=str)
def test_bad_input_is_one_clear_error_that_costs_nothing(given, text):
    asked = {"data": table((2, 3), 9, 1), "categories": attributes((2, 3)), "rho": 1, **given}
    told = str(refused(dp.marginals, budget=dp.Budget(rho=9), **asked))
    assert text in told and len(told.split()) < 30


def test_the_error_of_a_measurement_is_the_longest_and_weights_shift_it():
    plain = measured((3, 4, 5), [("a0", "a2"), ("a1",)])
    more = measured((3, 4, 5), [("a0", "a2"), ("a1",)], importance={("a2", "a0"): 100})
    a, b = (one(table((3, 4, 5), 9, 1)) for one in (plain, more))
    longest = max(a.error(*names, confidence=0.9) for names in a)
    assert plain.inner.error(None, 0.9).half_width == longest
    assert b.error("a0", "a2") < a.error("a0", "a2") and b.error("a1") > a.error("a1")
