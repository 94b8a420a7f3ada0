"""Maps agree with OpenDP's own and with the losses of dpfast; what is theirs pays here first."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.adapters.scaled_noise import ScaledNoise
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError

from ..support.lazy import Lazy

cases, theirs = Lazy("tests.adapters.opendp_cases"), Lazy("opendp.prelude")
ours, from_opendp = Lazy("dpfast.adapters.opendp"), Lazy("dpfast.adapters.opendp:from_opendp")

NOISE = ["laplace", "laplace one", "laplace whole", "geometric", "gaussian", "gaussian whole"]
AGES = np.tile([23.0, 35.0, 41.0, 58.0, 62.0], 200)


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("scale", [3.0, 0.1, 1e5])
def test_maps_of_noise_are_those_of_opendp(name, scale):
    """Never below what is exact, and hardly above it; theirs owes a little for rounding."""
    domain, metric, d_in = cases.NOISE[name]
    kind = name.split()[0]
    own = getattr(ours, f"make_{kind}")(domain, metric, scale)
    other = getattr(theirs.m, f"make_{kind}")(domain, metric, scale=scale)
    ratio = Fraction(d_in) / Fraction(scale)
    exact = ratio**2 / 2 if kind == "gaussian" else ratio
    assert exact <= Fraction(own.map(d_in)) <= exact * (1 + Fraction(1, 2**52))
    assert own.map(d_in) == pytest.approx(other.map(d_in), rel=1e-6)
    assert own.map(d_in) <= other.map(d_in)
    assert own.output_measure == other.output_measure and own.input_domain == other.input_domain
    assert own.map(0) == 0.0


def test_a_map_that_rounds_down_would_be_caught(monkeypatch):
    """Planted: a loss as the nearest float."""
    one = theirs.absolute_distance(T=theirs.i64)

    def low():
        make = partial(ours.make_laplace, cases.WHOLE, one)
        return [s for s in range(3, 60) if Fraction(make(s).map(1)) * s < 1]

    assert low() == []
    monkeypatch.setattr(
        ours.measurements.spaces, "distance_of", lambda loss, kind: float(loss.epsilon)
    )
    assert len(low()) > 9


@pytest.mark.full
@pytest.mark.parametrize("fault", [1.0, 1.05])
@pytest.mark.parametrize("name", NOISE)
def test_noise_has_its_scale(name, fault):
    """At six standard errors; a scale that is off by a twentieth, planted, is not."""
    domain, metric, _ = cases.NOISE[name]
    kind, scale, n = name.split()[0], 20.0, 200_000
    whole = "whole" in name or kind == "geometric"
    noise = ScaledNoise(kind.replace("geometric", "laplace"), scale * fault, whole)
    values = np.zeros(n, int if whole else float)
    drawn = noise.finish(noise.reduce(values), dp.rng.InsecureGenerator(7))
    q = math.exp(-1 / scale)
    known = {"laplace": scale * math.sqrt(2), "geometric": math.sqrt(2 * q) / (1 - q)}
    error = 6 * math.sqrt(5 if kind != "gaussian" else 2) / 2 / math.sqrt(n)
    spread = float(np.sqrt(np.mean(np.square(drawn))))
    assert (abs(spread / known.get(kind, scale) - 1) < error) == (fault == 1)
    one = getattr(ours, f"make_{kind}")(domain, metric, scale)
    answer = one([0] * 5 if "Vec" in str(domain.carrier_type) else 0)
    assert isinstance(answer, (np.ndarray, float, int))


@pytest.mark.full
def test_no_value_is_refused():
    laplace = ours.make_laplace(cases.FLOATS, theirs.l1_distance(T=float), 1.0)
    found = laplace(np.array([math.inf, -math.inf, 1e308, 0.0, 5e-324]))
    assert np.isfinite(found).all() and found[0] > 1e290 and abs(found[3]) < 99
    for kind in ("i32", "i64", "u64", "u32"):
        domain, ends = (
            theirs.vector_domain(theirs.atom_domain(T=kind)),
            np.iinfo(ours.spaces.DTYPES[kind]),
        )
        found = ours.make_geometric(domain, theirs.l1_distance(T=kind), 2.0)(
            [ends.min, 0, ends.max]
        )
        assert found[0] < found[2] and found[0] < 99
        assert found[2] >= min(ends.max, 1 << 62) - 99


@pytest.mark.full
def test_chains_with_transformations_and_postprocessing():
    space, clamped = (cases.FLOATS, cases.SYMMETRIC), theirs.t.then_clamp
    total = space >> clamped((0.0, 100.0)) >> theirs.t.then_sum() >> ours.then_laplace(400.0)
    assert total.map(1) == pytest.approx(0.25, rel=1e-6) and total.map(1) >= 0.25
    assert total(AGES.tolist()) == pytest.approx(AGES.sum(), abs=20_000)
    median = space >> clamped((0.0, 50.0)) >> ours.then_median((0, 120), rho=1)
    assert median(AGES.tolist()) <= 50.001


RANGE = (0, 120)
STATISTICS = {
    "median": lambda *space, **loss: ours.make_median(*space, RANGE, **loss),
    "quantiles": lambda *space, **loss: ours.make_quantiles(*space, [0.25, 0.75], RANGE, **loss),
    "histogram": lambda *space, **loss: ours.make_histogram(*space, 12, RANGE, **loss),
    "mean": lambda *space, **loss: ours.make_release(*space, dp.mean, bounds=RANGE, **loss),
    "kmeans": lambda _, metric, **loss: ours.make_kmeans(cases.ROWS, metric, 2, RANGE, **loss),
}


@pytest.mark.full
@pytest.mark.parametrize("metric", ["symmetric_distance", "change_one_distance"])
@pytest.mark.parametrize("name", STATISTICS)
def test_maps_of_statistics_are_the_losses_of_dpfast(name, metric):
    make, metric = STATISTICS[name], getattr(theirs, metric)()
    pure = make(ours.array_domain(), metric, epsilon=0.1)
    assert pure.map(1) == 0.1 and Fraction(pure.map(3)) >= Fraction(3, 10)
    assert pure.map(3) == pytest.approx(0.3) and pure.map(0) == 0.0
    rho = make(ours.array_domain(), metric, rho=0.1)
    assert 0.09 < rho.map(1) <= 0.1 and rho.map(2) <= 0.4
    assert repr(rho.output_measure) == "ZeroConcentratedDivergence"
    if name != "quantiles":
        both = make(ours.array_domain(), metric, epsilon=0.1, delta=1e-9)
        assert both.map(1)[0] >= 0.1 and both.map(1)[1] in (0.0, 1e-9)
        assert both.map(2)[1] == 0 or both.map(2)[1] > 2e-9
        assert repr(both.output_measure) == "Approximate(MaxDivergence)"
    assert pure.input_metric == metric
    data = AGES if name != "kmeans" else np.stack([AGES, 120 - AGES], axis=1)
    answer = make(ours.array_domain(), metric, epsilon=9)(data)
    if name == "histogram":
        assert answer[2] == pytest.approx(200, abs=9) and len(answer) == 12
    else:
        assert np.all((np.asarray(answer) > 15) & (np.asarray(answer) < 105))


def test_a_map_agrees_with_opendps_conversions():
    """Theirs turns a pure map into rho by theorem; ours knows the distribution, and is no more."""
    median = ours.make_median(cases.FLOATS, cases.SYMMETRIC, (0, 120), epsilon=0.5)
    as_rho = theirs.c.make_pureDP_to_zCDP(median)
    exact = ours.make_median(cases.FLOATS, cases.SYMMETRIC, (0, 120), rho=as_rho.map(1))
    assert exact.map(1) <= as_rho.map(1)
    assert float(dp.privacy.Pure(Fraction(0.5)).to_zcdp()) <= as_rho.map(1)
    histogram = ours.make_histogram(cases.FLOATS, cases.SYMMETRIC, 3, (0, 9), 0.25)
    both = theirs.c.make_composition([median, histogram])
    assert both.map(1) == 0.75 and len(both(AGES.tolist())) == 2


def test_what_a_call_costs_is_held_to_the_map(monkeypatch):
    """Planted: a quote that says less than the call spends."""
    honest = ours.make_median(ours.array_domain(), cases.SYMMETRIC, (0, 120), epsilon=0.5)
    assert 20 < honest(AGES) < 65
    monkeypatch.setattr(dp.mechanism, "loss", dp.privacy.Pure(0.25))
    wrong = ours.make_median(ours.array_domain(), cases.SYMMETRIC, (0, 120), epsilon=0.5)
    assert wrong.map(1) == 0.25
    with pytest.raises(Lazy("opendp.mod").OpenDPException, match="BudgetError"):
        wrong(AGES)


@pytest.mark.full
def test_contexts_compose_what_is_ours_and_what_is_theirs():
    ours.register()
    ours.register()
    context = theirs.Context.compositor(
        data=AGES.tolist(),
        privacy_unit=theirs.unit_of(contributions=1),
        privacy_loss=theirs.loss_of(epsilon=1.0),
        split_evenly_over=2,
        domain=cases.FLOATS,
    )
    assert 20 < context.query().dpfast_median(bounds=(0, 120), epsilon=0.5).release() < 65
    query = context.query().clamp((0.0, 100.0)).sum().dpfast_laplace()
    assert query.param() == pytest.approx(200, rel=1e-6)  # found for what is left
    assert query.release() == pytest.approx(AGES.sum(), abs=9000)
    with pytest.raises(ValueError, match="exhausted"):
        context.query().dpfast_median(bounds=(0, 120), epsilon=0.01).release()


@pytest.mark.full
@pytest.mark.parametrize("monotonic", [False, True])
def test_top_k(monotonic):
    space = cases.FLOATS, theirs.linf_distance(T=float, monotonic=monotonic)
    rho = theirs.zero_concentrated_divergence()
    for measure in (theirs.max_divergence(), rho):
        own = ours.make_top_k(*space, measure, k=3, scale=4.0)
        other = theirs.m.make_noisy_top_k(*space, measure, k=3, scale=4.0)
        assert own.map(1.0) <= other.map(1.0) * (1 + 1e-9)
        assert own.map(1.0) == pytest.approx(other.map(1.0), rel=0.02)
    found = space >> ours.then_top_k(rho, k=2, scale=0.5)
    assert found([0.0, 900.0, math.inf, 3.0, -math.inf]) == [2, 1]
    counts = np.zeros(2)
    draw = ours.make_top_k(*space, rho, k=1, scale=1.0)
    for _ in range(2000):
        counts[draw([0.0, 1.0])[0]] += 1
    assert abs(counts[1] / 2000 - math.e / (1 + math.e)) < 0.06  # and 0.62 at half of the rate


def test_bad_arguments_are_one_clear_error():
    for name, (function, given, more) in cases.BAD.items():
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            function(*given, **more)
        assert "\n" not in str(caught.value), name
        assert caught.value.__suppress_context__ or caught.value.__context__ is None, name


@pytest.mark.full
def test_nan_is_told_where_a_domain_has_it():
    domain = theirs.vector_domain(theirs.atom_domain(T=float))
    told = ours.make_median(domain, cases.SYMMETRIC, (0, 120), epsilon=9, nan="drop")
    assert 20 < told([math.nan, *AGES.tolist()]) < 65
    member = ours.array_domain().member
    assert member(AGES) and not member([1.0]) and not member(AGES.astype("f4"))
    assert not member(np.array([math.nan])) and not member(AGES.reshape(2, -1))


def test_a_measurement_of_opendp_pays_first():
    count = from_opendp(cases.COUNT)
    assert count.loss.epsilon == Fraction(0.1) > Fraction(1, 10)
    budget = dp.Budget(epsilon=0.15)
    assert abs(count([1, 2, 3], budget=budget) - 3) < 999
    assert budget.spent["epsilon"] == Fraction(0.1) and budget.neighbors == "add-remove"
    assert budget.history[0].what == "opendp SymmetricDistance"
    with pytest.raises(BudgetError):
        count(None, budget=budget)  # before the data are looked at
    with pytest.raises(BudgetError):  # a loss of one row more or less
        from_opendp(ours.make_median(cases.FLOATS, cases.CHANGE_ONE, (0, 9), epsilon=0.01))(
            [1.0], budget=budget
        )


@pytest.mark.full
def test_losses_are_those_of_the_map():
    assert from_opendp(cases.COUNT, d_in=2, neighbors="replace").loss.epsilon == Fraction(0.2)
    assert from_opendp(cases.NUMBER, d_in=5.0, neighbors="replace").neighbors == "replace"
    assert from_opendp(cases.NUMBER, d_in=5.0, neighbors="replace").loss.epsilon >= Fraction(1, 2)
    rho = theirs.m.make_gaussian(cases.WHOLE, theirs.absolute_distance(T=theirs.i64), scale=2.0)
    assert from_opendp(rho, neighbors="add-remove").loss == dp.privacy.ZCDP(0.125)
    both = theirs.c.make_fix_delta(theirs.c.make_zCDP_to_approxDP(rho), delta=1e-6)
    loss = from_opendp(both, neighbors="add-remove").loss
    exact = dp.privacy.ZCDP(0.125).to_approx(1e-6)
    assert loss.delta == Fraction(1e-6) and loss.epsilon >= exact.epsilon * Fraction(999, 1000)
    own = ours.make_median(cases.FLOATS, cases.CHANGE_ONE, (0, 120), epsilon=0.1)
    assert from_opendp(own).neighbors == "replace"
    assert from_opendp(own).loss.epsilon == Fraction(own.map(1)) >= Fraction(1, 10)
    profile = theirs.c.make_zCDP_to_approxDP(rho)
    with pytest.raises(ArgumentError, match="d_in must be a distance"):
        from_opendp(profile, neighbors="add-remove")


def test_words_of_opendp_about_rows_stay_inside():
    def fail(rows):
        raise ValueError(f"the row {rows}")

    space = cases.WHOLES, cases.SYMMETRIC, theirs.max_divergence()
    broken = theirs.m.make_user_measurement(*space, fail, float, TO="ExtrinsicObject")
    budget = dp.Budget(epsilon=2)
    for data in ([424242], ["424242"], object()):
        before = budget.spent["epsilon"]
        with pytest.raises((DataError, BudgetError)) as caught:
            from_opendp(broken)(data, budget=budget)
        assert "424242" not in str(caught.value)
        assert caught.value.__context__ is None and caught.value.__cause__ is None
        assert budget.spent["epsilon"] == min(before + 1, 2)


@pytest.mark.full
def test_opendp_draws_by_dpfast_within_installed():
    """Chains and choices, inside and then no more."""
    before = theirs.m.make_laplace, theirs.m.make_noisy_max
    scores = theirs.vector_domain(cases.WHOLE), theirs.linf_distance(T=theirs.i64)
    with ours.installed():
        total = (
            (cases.FLOATS, cases.SYMMETRIC)
            >> theirs.t.then_clamp((0.0, 100.0))
            >> theirs.t.then_sum()
        )
        noisy = total >> theirs.m.then_laplace(scale=400.0)
        best = scores >> theirs.m.then_noisy_max(theirs.max_divergence(), 1.0)
        whole = cases.WHOLE, theirs.absolute_distance(T=theirs.i64)
        count = whole >> theirs.m.then_geometric(scale=2.0)
        vector = theirs.m.make_gaussian(cases.FLOATS, theirs.l2_distance(T=float), 2.0)
    assert noisy(AGES.tolist()) == pytest.approx(AGES.sum(), abs=20_000)
    assert best([0, 3, 900, 4]) == 2 and best.map(1) == 2.0
    assert count.map(1) == 0.5 and isinstance(count(7), int)
    assert len(vector([1.0, 2.0])) == 2 and isinstance(vector([1.0, 2.0]), list)
    assert (theirs.m.make_laplace, theirs.m.make_noisy_max) == before


@pytest.mark.full
@pytest.mark.parametrize("kind", ["i32", "u64", "f32"])
def test_answers_within_installed_have_the_type_of_the_domain(kind):
    """A number and a vector, and what OpenDP does with them next; integers stay in range."""
    whole = kind[0] != "f"
    atom = theirs.atom_domain(T=kind) if whole else theirs.atom_domain(T=kind, nan=False)
    with ours.installed():
        one = (atom, theirs.absolute_distance(T=kind)) >> theirs.m.then_laplace(scale=50.0)
        many = theirs.m.make_laplace(theirs.vector_domain(atom), theirs.l1_distance(T=kind), 50.0)
    assert isinstance(one(3), int if whole else float)
    found = many([0, 1, 100] * 30)
    assert isinstance(found, list) and all(isinstance(x, int if whole else float) for x in found)
    if whole:
        ends = np.iinfo({"i": "int", "u": "uint"}[kind[0]] + kind[1:])
        assert ends.min <= min(found) and max(found) <= ends.max
        assert (min(found) == 0) == (kind[0] == "u")


@pytest.mark.full
@pytest.mark.parametrize("name", ["k", "bounds", "negate", "MO"])
def test_what_dpfast_has_not_is_refused_within_installed(name):
    kind, given, more = cases.LEFT[name]
    with ours.installed(), pytest.raises(ArgumentError, match=name):
        getattr(theirs.m, f"make_{kind}")(*given, **more)
