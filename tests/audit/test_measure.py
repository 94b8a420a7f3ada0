"""`measure`, `claims`, `exact_epsilon`: sound claims stand, planted faults fall."""

import itertools
import json
import math
import sys
import warnings
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit import answers, binomial, measured
from dpfast.audit.answers import ALONE, CHUNK, Answers, last_bits, lowest_bit
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.rng import InsecureGenerator

from ..support.lazy import binom, norm
from ..support.pairwise import quick_rows

X, X2 = [1, 0, 1], [1, 0, 0]


def exact(scale, seed=1):
    """The sum with exact integer noise: a sound mechanism of loss 1 / scale."""
    generator = InsecureGenerator(seed)
    return lambda data, size: sum(data) + dp.noise.discrete_laplace(scale, size, rng=generator)


def plain(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("size, hits", [(1, 0), (1, 1), (40, 0), (40, 3), (40, 40), (2000, 7)])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_limits_are_those_of_the_binomial_law(size, hits, alpha):
    low, high = binomial.at_least(hits, size, alpha), binomial.at_most(hits, size, alpha)
    assert low <= hits / size <= high
    if hits:
        assert binom.sf(hits - 1, size, low) <= alpha
        assert binom.sf(hits - 1, size, low * (1 + 1e-6)) > alpha
    if hits < size:
        assert binom.cdf(hits, size, high) <= alpha
        assert binom.cdf(hits, size, high * (1 - 1e-6)) > alpha


def test_a_pair_of_probabilities_bounds_the_losses():
    assert binomial.epsilon_between(0.5, 0.25, 0) == pytest.approx(math.log(2))
    assert binomial.epsilon_between(0.5, 0.25, 0.25) == 0
    assert binomial.epsilon_between(0.5, 0.0, 0.1) == math.inf
    e = math.e
    assert binomial.rho_between(e / (1 + e), 1 / (1 + e)) <= float(dp.privacy.ZCDP.of_pure(
        dp.privacy.Pure(1)
    ).rho)  # fmt: skip
    assert binomial.rho_between(0.2, 0.3) == 0


def renyi(p, q, order):
    p, q = Fraction(p), Fraction(q)
    total = p**order / q ** (order - 1) + (1 - p) ** order / (1 - q) ** (order - 1)
    return (math.log(total.numerator) - math.log(total.denominator)) / (order - 1) / order


@pytest.mark.parametrize("p, q", [(0.6, 0.3), (1e-6, 1e-9), (1.0, 1e-12), (0.999, 1e-300)])
def test_rho_is_the_largest_divergence_over_its_order(p, q):
    """Also where powers of probabilities underflow."""
    orders = [int(order) for order in binomial.ORDERS if order == int(order) > 1]
    found = float(binomial.rho_between(p, q))
    assert math.isfinite(found)
    assert max(renyi(p, q, order) for order in orders) <= found * (1 + 1e-12)
    kl = p * math.log(p / q) + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0)
    assert kl <= found * (1 + 1e-12)


@pytest.mark.parametrize("rho", [0.005, 0.5, 8.0])
def test_no_tail_of_a_gaussian_shows_more_than_its_rho(rho):
    move = math.sqrt(2 * rho)
    cuts = np.linspace(-12, 12, 97)
    shown = binomial.rho_between(norm.sf(cuts - move), norm.sf(cuts))
    assert 0.5 * rho < shown.max() <= rho * (1 + 1e-9)
    far = binomial.rho_between(norm.sf(cuts - 2 * move), norm.sf(cuts))
    assert far.max() > rho  # planted: twice as far


def test_the_p_value_is_the_level_of_the_refutation():
    args = (900, 200, 1000)
    p = binomial.Claim(1.0).p_value(*args)
    for level, refuted in ((p * 1.01, True), (p * 0.99, False)):
        low = binomial.at_least(900, 1000, level / 2)
        high = binomial.at_most(200, 1000, level / 2)
        assert (low > math.e * high) == refuted
    assert binomial.Claim(1.0).p_value(500, 500, 1000) == 1


@quick_rows(1)
@pytest.mark.parametrize("scale", [1, 3])
def test_exact_noise_stands(scale):
    found = dp.audit.measure(exact(scale), X, X2, epsilon=Fraction(1, scale), samples=40_000)
    assert not found.refuted and found.p_value == 1 and found.samples == 40_000
    assert 0.5 / scale < found.epsilon <= 1 / scale
    assert found.rho <= float(dp.privacy.ZCDP.of_pure(found.claim).rho)


def noisy(noise):
    return lambda data, size: sum(data) + noise(size)


#: Sound mechanisms of a generator, and the claim that they keep with no slack.
SOUND = {
    "integers": (lambda g: noisy(lambda n: dp.noise.discrete_laplace(1, n, rng=g)), {"epsilon": 1}),
    "floats": (lambda g: noisy(lambda n: dp.noise.laplace(1, n, rng=g)), {"epsilon": 1}),
    "a vector": (
        lambda g: lambda data, size: np.array(data) + dp.noise.laplace(1, (size, 3), rng=g),
        {"epsilon": 1},
    ),
    "rho": (lambda g: noisy(lambda n: dp.noise.discrete_gaussian(1, n, rng=g)), {"rho": 0.5}),
    "delta": (
        lambda g: noisy(lambda n: dp.noise.gaussian(1, n, rng=g)),
        {"epsilon": 1, "delta": NormalDist().cdf(-0.5) - math.e * NormalDist().cdf(-1.5)},
    ),
    "randomized response": (
        lambda g: lambda data, size: dp.response.binary(np.full(size, data[-1]), epsilon=1, rng=g),
        {"epsilon": 1},
    ),
    "a selection": (
        lambda g: (
            lambda data, size: dp.selection.permute_and_flip(
                [data[-1], 1 - data[-1], 0], sensitivity=1, epsilon=1, size=size, rng=g
            )
        ),
        {"epsilon": 1},
    ),
    "a release": (lambda g: lambda data: dp.count_nonzero(data, epsilon=1, rng=g), {"epsilon": 1}),
}


def samples(name):
    return 1_100 if name == "a release" else 20_000


@pytest.mark.slow
def test_no_sound_run_of_a_thousand_is_refuted():
    """A false alarm is one in a million runs, so one in a thousand of a thousand."""
    for seed in range(1000):
        name = [*SOUND][seed % len(SOUND)]
        make, claim = SOUND[name]
        run = {**claim, "samples": samples(name)}
        found = dp.audit.measure(make(InsecureGenerator(seed)), X, X2, **run)
        shown = found.rho if "rho" in claim else found.epsilon
        assert not found.refuted and shown <= claim.get("rho", claim.get("epsilon"))


@pytest.mark.full
@pytest.mark.parametrize("name", SOUND)
def test_the_same_runs_find_three_times_the_loss(name):
    """The control of the thousand runs: of a claim of a third, which is false."""
    make, claim = SOUND[name]
    less = {**claim, **{key: claim[key] / 3 for key in claim if key != "delta"}}
    found = dp.audit.measure(make(InsecureGenerator(1)), X, X2, **less, samples=4 * samples(name))
    assert found.refuted


FAULTS = {
    "half of the noise": exact(0.5),
    "float noise": noisy(lambda size: plain().laplace(0, 1, size)),
    "a seed for each call": lambda data: sum(data) + plain(0).laplace(),
    "no noise": sum,
    "all numbers of a vector": noisy(lambda n: dp.noise.discrete_laplace(2, (n, 9))),
    "the type": lambda data: 1 if data[-1] else 1.0,
    "an error": lambda data: 1 / data[-1],
    "NaN": lambda data: math.nan if data[-1] else 0.0,
    "minus zero": lambda data: -0.0 if data[-1] else 0.0,
    "text": lambda data: f"{data}",
    "the length": lambda data: np.zeros(1 + data[-1]),
    "a field": lambda data: {"n": 3, "sum": sum(data)},
}


@quick_rows(2)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name):
    found = dp.audit.measure(FAULTS[name], X, X2, epsilon=1, samples=200_000)
    assert found.refuted and found.p_value <= 1e-6 and found.epsilon > 1
    assert found.samples < 200_000  # it stopped early
    assert "of the answers on x" in found.witness
    if name == "the type":  # a slow import
        pytest.importorskip("matplotlib")
        assert len(found.plot().axes[0].lines) == 2


def test_low_bits():
    v = np.array([1.0, 3.0, 0.5, 6.0, 2.0**-1074, 1 + 2.0**-52, 0.0, np.inf, np.nan])
    assert lowest_bit(v).tolist() == [0, 0, -1, 1, -1074, -52, 2000, 2000, 2000]
    assert last_bits(v[:6]).tolist() == [0, 0, 0, 0, 1, 1]


def test_chunks_are_as_long_as_asked_and_rows_as_wide_as_the_first():
    answers = Answers(lambda data, size: np.arange(size), 2)
    sizes = [len(rows) for rows in answers.chunks(None, 2 * CHUNK + 3)]
    assert sizes == [ALONE, CHUNK, CHUNK - ALONE + 3]
    one = Answers(lambda data: data, 1)
    assert one.rows([(1, 2.5), "a", (1, 2, 3), None]).shape == (4, 4)
    assert len(one.kinds) == 4 and one.rows([10**400]).shape == (1, 4)


def test_the_report():
    found = dp.audit.measure(exact(0.5), X, X2, epsilon=1, samples=8_000)
    assert "REFUTED" in repr(found) and "<td>refuted</td>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["refuted"] is True
    assert found.rounds[-1] == (found.samples, found.epsilon)


ZEROS = np.zeros(256)
BAD = {
    "samples": (exact(1), {"samples": 9}),
    "confidence": (exact(1), {"confidence": 1.0}),
    "epsilon": (exact(1), {"epsilon": -1}),
    "workers": (exact(1), {"workers": 0}),
    "mechanism": (3, {}),
    "mechanism must be a function that can be called with x": (lambda data: 1 / 0, {}),
    "mechanism must be a function that returns as": (lambda data, size: 3, {}),
    "answers": (ZEROS[1:], ZEROS[1:]),
    "answers ": (3.0, ZEROS),
    "answers2": (ZEROS, np.zeros(300)),
    "answers2 ": (np.zeros(300), "no"),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_arguments(said):
    one, other = BAD[said]
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{said.strip()}") as caught:
        if isinstance(other, dict):
            dp.audit.measure(one, X, X2, **{"epsilon": 1, **other})
        else:
            dp.audit.measure_answers(one, other, epsilon=1)
    assert " must be " in str(caught.value)


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtraError, match="pip install scipy"):
        dp.audit.measure(exact(1), X, X2, epsilon=1)


@quick_rows(2)
@pytest.mark.parametrize("claim", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-3}, {"rho": 0.5}])
@pytest.mark.parametrize("scale, refuted", [(1, False), (0.4, True)])
def test_answers_are_judged_by_their_second_half(claim, scale, refuted):
    drawn = [exact(scale, seed)(data, 20_001) for seed, data in enumerate((X, X2))]
    found = dp.audit.measure_answers(*drawn, **claim)
    assert found.refuted == refuted and found.samples == 40_002
    assert len(found.rounds) == 1
    if refuted:
        assert (found.rho > 0.5) if "rho" in claim else (1 < found.epsilon <= 2.5)


def test_answers_may_be_vectors_and_words():
    rng = plain()
    x = rng.normal(0, 1, (2000, 3))
    assert dp.audit.measure_answers(x, x[::-1] + 2, epsilon=1).refuted
    words = np.array(["yes", "no"])[(rng.random(2000) < 0.9) * 1]
    other = np.array(["yes", "no"])[(rng.random(2000) < 0.1) * 1]
    assert dp.audit.measure_answers(words, other, epsilon=1).refuted
    assert not dp.audit.measure_answers(words, words, epsilon=1).refuted


def told(way):
    """A mechanism that answers with 0, and says something of a row beside that."""

    def one(data):
        if data[-1]:
            way()
        return 0

    def many(data, size):
        one(data)
        return np.zeros(size)

    return one, many


SAID = {
    "warning": (lambda: warnings.warn("large", UserWarning, stacklevel=2), "the warning"),
    "output": (lambda: print("large"), "the output"),
    "error output": (lambda: print("large", file=sys.stderr), "the output"),
}


@quick_rows(2)
@pytest.mark.parametrize("way", SAID)
@pytest.mark.parametrize("many", [False, True])
def test_what_is_said_of_a_row_is_an_infinite_loss(way, many, capsys):
    speak, words = SAID[way]
    found = dp.audit.measure(told(speak)[many], X, X2, epsilon=1, samples=20_000)
    assert found.refuted and words in found.witness, found
    assert capsys.readouterr() == ("", "")
    with pytest.raises(AssertionError, match="epsilon >="):
        test = dp.audit.claims(epsilon=1, pairs=[("one", X, X2)], samples=20_000)
        test(told(speak)[many])()


@pytest.mark.parametrize("many", [pytest.param(False, marks=pytest.mark.full), True])
def test_what_is_always_said_or_by_chance_is_no_loss(many):
    rng = InsecureGenerator(4)

    def sometimes():
        if rng.bytes(1) < b"\x80":
            print("tails")

    for way in (lambda: print("always"), sometimes):
        mechanism = told(way)[many]
        found = dp.audit.measure(mechanism, X, [1, 1, 3], epsilon=0.1, samples=20_000)
        assert not found.refuted, found


@pytest.mark.full
def test_answers_without_what_is_said_are_caught(monkeypatch):
    """Planted: an audit that listens to answers alone."""
    monkeypatch.setattr(answers, "_text", lambda said: "")
    assert not dp.audit.measure(told(lambda: print("large"))[0], X, X2, epsilon=1).refuted


@quick_rows(1)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"epsilon": 1, "delta": 0.01}, {"rho": 0.5}])
def test_the_least_probability_is_where_refutations_begin(loss):
    found = dp.audit.measure(exact(1), X, X2, samples=20_000, **loss)
    claim, size = found.claim, found.rounds[-1][0] // 2 - found.rounds[-2][0] // 2
    tests = measured.EVENTS * len(found.rounds)
    hits = round(found.refutable * size)

    def level(hits):
        return binomial.Claim.of(claim).p_value(hits, 0, size) * tests

    assert level(hits) <= 1e-6 * (1 + 1e-9) < level(hits - 1)
    assert found.to_dict()["smallest"] == found.refutable
    shown = f"{found.refutable:.2g}"
    assert shown in repr(found) and shown in found._repr_html_()


@pytest.mark.full
def test_what_is_rarer_than_that_is_not_refuted():
    """A row is shown with a chance that so many answers do not see, and one that they do."""

    def shown(chance):
        rng = plain(3)
        mechanism = lambda data, size: data[-1] * (rng.random(size) < chance)  # noqa: E731
        return dp.audit.measure(mechanism, X, X2, epsilon=1, samples=20_000)

    least = shown(0).refutable
    assert not shown(least / 4).refuted and shown(least * 4).refuted
    found = dp.audit.measure(exact(1), X, X2, epsilon=30, samples=1024)
    assert found.refutable is None and "nothing could have" in repr(found)


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"epsilon": 1, "delta": 0.01}, {"rho": 0.5}])
def test_the_largest_loss_is_what_disjoint_answers_show(loss):
    """Of data that the answers tell apart; and no answers show more."""
    pair = [("apart", [1], [])]
    ((_, found),) = dp.audit.measure_pairs(
        lambda data, size: np.full(size, len(data)), pair, **loss
    )
    shown = found.rho if "rho" in loss else found.epsilon
    assert math.isclose(shown, found.largest, rel_tol=1e-9)
    few = dp.audit.measure(exact(1), X, X2, samples=2_000, **loss)
    many = dp.audit.measure(exact(1), X, X2, samples=20_000, **loss)
    assert few.largest < many.largest and f"{few.largest:.3g} could be shown" in repr(few)


def counted(scale):
    return lambda data, size: len(data) + dp.noise.discrete_laplace(scale, size)


@pytest.mark.full
@dp.audit.claims(epsilon=1, samples=4_000, confidence=1 - 1e-9)
def test_it_is_collected(data, size):
    """A count with noise of scale 1."""
    return len(data) + dp.noise.discrete_laplace(1, size)


def test_the_test_has_the_name_of_the_function():
    assert test_it_is_collected.__name__ == "test_it_is_collected"
    assert test_it_is_collected.__doc__ == "A count with noise of scale 1."
    assert test_it_is_collected.claim == dp.privacy.Pure(1)
    assert len(test_it_is_collected.mechanism([1], 5)) == 5


@pytest.mark.full
@pytest.mark.parametrize(
    "mechanism, claim, said",
    [
        (counted(0.3), {"epsilon": 1, "samples": 4_000}, r"all at the lower end.*REFUTED"),
        (counted(1), {"epsilon": 9, "samples": 1_024}, "too few"),  # to find anything
        (lambda data: 1 / 0, {"epsilon": 1, "samples": 1_024}, "fails on all pairs"),
    ],
    ids=["fault", "few", "error"],
)
def test_a_fault_fails_with_a_witness(mechanism, claim, said):
    with pytest.raises(AssertionError, match=said):
        dp.audit.claims(**claim)(mechanism)()


def test_pairs_of_the_caller():
    pairs = [("one", np.zeros(3), np.zeros(2))]
    sure = 1 - 1e-9  # it refutes what is sound no more often than that
    test = dp.audit.claims(epsilon=1, pairs=pairs, samples=4_000, confidence=sure)(counted(1))
    test()
    assert 0 < test.refutable < 0.1
    assert 3 < test.largest < 8
    for bad in ([], 3, [(1, 2)]):
        with pytest.raises(ArgumentError if bad == [] else ArgumentTypeError, match="pairs"):
            dp.audit.claims(epsilon=1, pairs=bad)
    with pytest.raises(ArgumentTypeError, match="mechanism"):
        dp.audit.claims(epsilon=1)(3)


TAIL = np.arange(-60.0, 61)


def laplace(scale, center=0):
    found = np.exp(-np.abs(TAIL - center) / scale)
    return found / found.sum()


@quick_rows(2)
@pytest.mark.parametrize("delta", [0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_no_event_shows_more_and_one_shows_as_much(seed, delta):
    p, q = np.random.default_rng(seed).dirichlet(np.full(7, 0.5), 2)
    most = 0.0  # the largest ln((P - delta) / Q) of any set of answers
    for chosen in itertools.product([False, True], repeat=len(p)):
        for a, b in ((p, q), (q, p)):
            likely, rare = a[list(chosen)].sum() - delta, b[list(chosen)].sum()
            if likely > 1e-12:
                most = max(most, math.log(likely / rare) if rare else math.inf)
    assert dp.audit.exact_epsilon(p, q, delta=delta) == pytest.approx(most)


def test_closed_forms():
    assert dp.audit.exact_epsilon(laplace(2), laplace(2, 1)) == pytest.approx(0.5)
    p, q, some = laplace(1), laplace(1, 1), TAIL >= 0
    assert dp.audit.exact_epsilon(p, q) == pytest.approx(1)  # half of the noise
    assert dp.audit.exact_epsilon(p[some], q[some]) <= dp.audit.exact_epsilon(p, q)
    z = np.linspace(-12, 13, 5001)
    p, q = np.diff(norm.cdf(z)), np.diff(norm.cdf(z - 1))
    delta = norm.cdf(0.5 - 1) - math.e * norm.cdf(-0.5 - 1)  # Balle and Wang, ICML 2018
    assert dp.audit.exact_epsilon(p, q, delta=delta) == pytest.approx(1, rel=1e-5)
    z = np.arange(-12, 13, 1 / 64)
    weights = [np.exp(-((z - move) ** 2) / 2) for move in (0, 1, 2)]
    first, second, far = (one / one.sum() for one in weights)
    assert dp.audit.exact_rho(first, second) == pytest.approx(0.5)
    assert dp.audit.exact_rho(first, far) > 1.5  # planted: twice as far
    same, apart = ([0.5, 0.5], [0.5, 0.5]), ([1, 0], [0.5, 0.5])
    assert dp.audit.exact_epsilon(*same) == 0
    assert dp.audit.exact_rho(*same) == pytest.approx(0, abs=1e-12)
    for delta, due in (0, math.inf), (0.25, math.inf), (0.5, 0):
        assert dp.audit.exact_epsilon(*apart, delta=delta) == due
    assert dp.audit.exact_rho(*apart) == math.inf


def test_bad_probabilities():
    p, q, some = laplace(1), laplace(1, 1), TAIL >= 0
    with pytest.raises(ArgumentError, match="p must be probabilities with a sum of 1, got"):
        dp.audit.exact_rho(p[some], q[some])
    for function in (dp.audit.exact_epsilon, dp.audit.exact_rho):
        for bad in ([0.9, 0.9], [-0.1, 1], [0, 0], [math.nan, 1], []):
            with pytest.raises(ArgumentError, match="p must be probabilities"):
                function(bad, [0.5, 0.5])
        with pytest.raises(ArgumentError, match="q must be an array of the same shape"):
            function([0.5, 0.5], [1.0])
    for delta in (-0.1, 1, math.nan):
        with pytest.raises(ArgumentError, match="delta"):
            dp.audit.exact_epsilon([1], [1], delta=delta)
