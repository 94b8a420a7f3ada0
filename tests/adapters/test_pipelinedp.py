"""PipelineDP with the mechanisms of dpfast: what they are, and that they are put back."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import dpfast as dp
from dpfast.adapters import pipelinedp as ours
from dpfast.adapters.pipelinedp.install import Whole
from dpfast.adapters.pipelinedp.mechanisms import noise_of_gaussian, noise_of_laplace
from dpfast.adapters.pipelinedp.partitions import Threshold
from dpfast.adapters.pipelinedp.percentiles import accumulated, merged, of_partition
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.privacy import Approx
from dpfast.privacy.conversions import rho_within
from dpfast.rng import InsecureGenerator
from dpfast.selection.key_selection import choose_rule

from ..noise.test_generator import raised_by
from ..support.lazy import stats

full = pytest.mark.full


def seeded(own, seed=1):
    own.rng = InsecureGenerator(seed)
    return own


def test_noise_is_added_before_it_is_rounded():
    mechanism = seeded(ours.LaplaceMechanism(2.0, 4.5))
    assert (mechanism.diversity, mechanism.epsilon, mechanism.sensitivity) == (2.25, 2.0, 4.5)
    grid = mechanism._noise.grid
    found = mechanism.add_noise(0.1 + grid / 3)
    assert type(found) is float and found % grid == 0
    several = mechanism.add_noise(np.full((3, 4), 7))
    assert several.shape == (3, 4) and not np.any(several % grid)


@full
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_has_its_distribution(law):
    make = {
        "laplace": lambda: ours.LaplaceMechanism(0.5, 3.0),
        "gaussian": lambda: ours.GaussianMechanism(0.5, 1e-5, 3.0),
    }[law]
    mechanism = seeded(make(), 3)
    scale = mechanism._noise.scale
    exact = stats.laplace(20, scale) if law == "laplace" else stats.norm(20, scale)
    one_by_one = np.array([mechanism.add_noise(20) for _ in range(4000)])
    for found in (one_by_one, mechanism.add_noise(np.full(40_000, 20.0))):
        assert stats.kstest(found, exact.cdf).pvalue > 1e-4
        planted = 20 + (found - 20) * 1.1
        assert len(found) < 10_000 or stats.kstest(planted, exact.cdf).pvalue < 1e-4


@full
def test_scales_are_never_too_small():
    rng = np.random.default_rng(2)
    for epsilon, size in 10 ** rng.uniform(-4, 5, (300, 2)):
        with mp.workprec(200):
            exact = mp.mpf(size) / mp.mpf(epsilon)
            found = noise_of_laplace(size, epsilon).scale
            assert exact <= found <= exact * (1 + mp.mpf(2) ** -51)
    for epsilon, slack in ((1e-3, 1e-6), (1.0, 1e-6), (500.0, 1e-6), (501.0, 0.03), (1e5, 0.03)):
        sigma = noise_of_gaussian(2.0, epsilon, 1e-7).scale / 2
        assert _delta(1 / sigma, epsilon) <= mp.mpf("1e-7")
        assert _delta((1 + slack) / sigma, epsilon) > mp.mpf("1e-7")  # planted: a smaller scale


def _delta(s, epsilon):
    """The least delta of Gaussian noise of standard deviation 1 / s for a sensitivity of 1."""
    with mp.workdps(60):
        s, own = mp.mpf(s), mp.mpf(epsilon)
        below = mp.exp(own) * mp.erfc((s / 2 + own / s) / mp.sqrt(2)) / 2
        return mp.ncdf(s / 2 - own / s) - below


def test_numbers_out_of_range_are_clamped_and_not_refused():
    for mechanism in (ours.LaplaceMechanism(1.0), ours.GaussianMechanism(1.0, 1e-6)):
        assert raised_by(mechanism.add_noise) == []
        assert raised_by(lambda x, own=mechanism: own.add_noise(np.array([x, 1.0]))[:1]) == []
        assert raised_by(lambda x, own=mechanism: own.add_noise(Whole([x, 1])._vector)[:1]) == []
        with pytest.raises(ArgumentTypeError, match="value must be a number"):
            mechanism.add_noise("1")
    for law in ("laplace", "truncated_geometric"):
        keep = ours.create_partition_strategy(law, 1.0, 1e-5, 1).should_keep
        assert raised_by(lambda x, keep=keep: 0 * keep(x)) == []
    assert raised_by(lambda x: 0 * len(accumulated([x, 1.0])[0])) == []
    assert abs(ours.LaplaceMechanism(1e9).add_noise(1e280) / 1e280 - 1) < 1e-9


def test_arguments_break_their_rules():
    for make in (
        ours.LaplaceMechanism,
        lambda bad: ours.GaussianMechanism(1.0, bad),
        ours.GaussianMechanism.create_from_standard_deviation,
        lambda bad: ours.create_partition_strategy("laplace", 1.0, 1e-6, bad),
        lambda bad: ours.create_partition_strategy(bad, 1.0, 1e-6, 1),
    ):
        for bad in (None, object(), "1", math.nan, -1.0, 0, np.ones(2)):
            with pytest.raises((ArgumentError, ArgumentTypeError)):
                make(bad)


@full
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("groups", [1, 7])
@pytest.mark.parametrize("epsilon, delta", [(0.1, 1e-12), (3.0, 0.9), (50.0, 1e-3)])
def test_keys_of_one_person_are_shown_at_most_with_their_probability(law, groups, epsilon, delta):
    own = Threshold.of(law, Approx(epsilon, delta), groups)
    alone = seeded(ours.create_partition_strategy(law, epsilon, delta, groups, 10))
    assert not any(alone.should_keep(n) for n in range(10))  # fewer than the number before
    with mp.workdps(60):
        share = mp.mpf(repr(delta)) if law == "laplace" else mp.mpf(delta) / 2
        part = 1 - (1 - share) ** (mp.one / groups)

        def shown(least):
            far = (mp.mpf(least) - own.noise.grid / 2 - 1) / mp.mpf(own.noise.scale)
            if law == "gaussian":
                return mp.ncdf(-far)
            return mp.exp(-far) / 2 if far > 0 else 1 - mp.exp(far) / 2

        assert shown(own.least) <= part
        slack = 8 * own.noise.grid + 1e-9 * own.noise.scale
        assert shown(own.least - slack * 10) > part  # planted: too low a threshold


@full
def test_coins_are_those_of_private_keys():
    own = seeded(ours.create_partition_strategy("truncated_geometric", 0.5, 1e-3, 3), 5)
    rule = choose_rule(Approx(0.5, 1e-3), 3, "add-remove")
    people = rule.half
    probability = rule.probability(people)
    assert own.probability_of_keep(people) == probability
    kept = sum(own.should_keep(people) for _ in range(5000))
    assert stats.binomtest(kept, 5000, probability).pvalue > 1e-4
    assert stats.binomtest(kept, 5000, rule.probability(people + 2)).pvalue < 1e-4  # planted


@full
def test_accumulators_merge_to_all_values():
    rng = np.random.default_rng(1)
    pieces, every = (), []
    for _ in range(2000):
        values = rng.normal(size=rng.integers(0, 4)).tolist()
        before = pieces
        pieces = merged(pieces, accumulated(values))
        every += values
        assert len(pieces) <= 14 and sum(map(len, before)) + len(values) == len(every)
    assert sorted(np.concatenate(pieces)) == sorted(every)


@full
def test_percentiles_cost_no_more_than_their_part():
    """A row of one person weighs as in a draw of epsilon / (L k)."""
    values = np.random.default_rng(1).uniform(0, 100, 5001)
    asked = {"bounds": (0.0, 100.0), "groups": 3, "rows": 4}
    for epsilon, delta in ((1.0, 0.0), (1.0, 1e-6), (1e5, 0.0)):
        rng = InsecureGenerator(2)
        size = min(epsilon, 500)
        found = of_partition(values, [0.5], epsilon=size, delta=delta, rng=rng, **asked)
        own = {"epsilon": Fraction(size) / 12}
        if delta:
            own = {"rho": rho_within(Fraction(1), Fraction("1e-6")) / 48}
        rng = InsecureGenerator(2)
        known = dp.quantiles(values, [0.5], bounds=(0, 100), neighbors="add-remove", rng=rng, **own)
        assert found == list(known)


@pytest.fixture(scope="module")
def pipeline():
    return pytest.importorskip("pipeline_dp", reason="needs pipeline-dp")


def state(pipeline):
    own, combiner = pipeline.dp_computations, pipeline.combiners.QuantileCombiner
    return (
        *[own.dp_mechanisms, own.add_noise_vector, own.AdditiveMechanism.add_noise],
        *[own.ExponentialMechanism.apply, pipeline.partition_selection.partition_selection],
        *[combiner.create_accumulator, combiner.merge_accumulators, combiner.compute_metrics],
    )


@full
def test_everything_is_put_back(pipeline):
    before = state(pipeline)
    with ours.installed():
        assert not set(map(id, before)) & set(map(id, state(pipeline)))
    assert state(pipeline) == before
    with pytest.raises(ZeroDivisionError), ours.installed():
        raise ZeroDivisionError
    assert state(pipeline) == before
    with pytest.raises(ArgumentTypeError), ours.installed(rng=3):
        pass


WITHOUT = """
import sys
sys.modules["pydp"] = None  # as if it were not installed
from dpfast.adapters.pipelinedp import installed
with installed():
    import pipeline_dp as pdp
    from pipeline_dp import dp_computations, partition_selection
    print(pdp.dp_computations.apply_laplace_mechanism(5, 1e6, 1.0))
    strategy = pdp.PartitionSelectionStrategy.TRUNCATED_GEOMETRIC
    own = partition_selection.create_partition_selection_strategy(strategy, 1.0, 1e-6, 1)
    print(own.should_keep(1000), sys.modules["pydp"].__doc__)
"""


@full
def test_pipelinedp_runs_without_pydp(pipeline):
    found = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    number, rest = found.stdout.splitlines()
    assert abs(float(number) - 5) < 1e-3 and rest.startswith("True Stands for")
    direct = "import sys\nsys.modules['pydp'] = None\nimport pipeline_dp"  # without the adapter
    assert subprocess.run([sys.executable, "-c", direct], capture_output=True).returncode != 0


def aggregated(pipeline, noise, public=None, **more):
    own = pipeline.Metrics
    rows = [(u, u % 3, float(u % 10)) for u in range(3000) for _ in range(2)]
    rows += [(9999, "alone", 1.0)]
    accountant = pipeline.NaiveBudgetAccountant(50, 1e-6)
    asked = {"max_partitions_contributed": 1, "max_contributions_per_partition": 2}
    asked |= {"noise_kind": noise, "min_value": 0, "max_value": 10, **more}
    metrics = [own.COUNT, own.SUM, own.MEAN, own.PRIVACY_ID_COUNT, own.PERCENTILE(90)]
    extractors = pipeline.DataExtractors(*(lambda row, i=i: row[i] for i in range(3)))
    engine = pipeline.DPEngine(accountant, pipeline.LocalBackend())
    params = pipeline.AggregateParams(metrics=metrics, **asked)
    result = engine.aggregate(rows, params, extractors, public)
    accountant.compute_budgets()
    return dict(result)


@full
@pytest.mark.parametrize("kind", ["LAPLACE", "GAUSSIAN"])
@pytest.mark.parametrize(
    "strategy", ["TRUNCATED_GEOMETRIC", "LAPLACE_THRESHOLDING", "GAUSSIAN_THRESHOLDING"]
)
def test_an_aggregation_runs_over_our_mechanisms(pipeline, kind, strategy):
    noise = getattr(pipeline.NoiseKind, kind)
    chosen = getattr(pipeline.PartitionSelectionStrategy, strategy)
    first, again, other = [], [], []
    for seed, out in ((1, first), (1, again), (2, other)):
        with ours.installed(rng=InsecureGenerator(seed)):
            out.append(aggregated(pipeline, noise, partition_selection_strategy=chosen))
    assert first == again != other  # every random bit of an answer is ours
    assert set(first[0]) == {0, 1, 2}
    for found in first[0].values():
        assert abs(found.count - 2000) < 20 and abs(found.privacy_id_count - 1000) < 20
        assert abs(found.mean - 4.5) < 0.2 and 7 < found.percentile_90 < 9.5


@full
@pytest.mark.parametrize("kind", ["LAPLACE", "GAUSSIAN"])
def test_standard_deviations_of_the_accountant_are_drawn(pipeline, kind):
    """Under the PLD accountant a mechanism has a standard deviation, and no epsilon."""
    pytest.importorskip("dp_accounting", reason="needs dp-accounting")
    own = pipeline.dp_computations
    spec = pipeline.budget_accounting.MechanismSpec(
        getattr(pipeline.aggregate_params.MechanismType, kind), _noise_standard_deviation=3.0
    )
    sizes = own.Sensitivities(l1=2.0, l2=2.0)
    with ours.installed(rng=InsecureGenerator(1)):
        mechanism = own.create_additive_mechanism(spec, sizes)
        found = mechanism.add_noise(np.zeros(40_000))
    assert mechanism.std == pytest.approx(6.0) and found.std() == pytest.approx(6.0, rel=0.03)
    assert "=" in mechanism.describe()


@full
def test_weights_of_partitions_are_taken(pipeline):
    """Weighted Gaussian selection sums up 1/sqrt(k) of a privacy id with k partitions."""
    rows = [(u, v) for u in range(900) for v in (0, 1, 2)] + [(1000, 9)]
    strategy = pipeline.PartitionSelectionStrategy.WEIGHTED_GAUSSIAN_THRESHOLDING
    params = pipeline.SelectPartitionsParams(
        max_partitions_contributed=3, partition_selection_strategy=strategy
    )
    extractors = pipeline.DataExtractors(lambda row: row[0], lambda row: row[1])
    accountant = pipeline.NaiveBudgetAccountant(1, 1e-6)
    engine = pipeline.DPEngine(accountant, pipeline.LocalBackend())
    with ours.installed(rng=InsecureGenerator(1)):
        result = engine.select_partitions(rows, params, extractors)
        accountant.compute_budgets()
        assert sorted(result) == [0, 1, 2]


@full
def test_vectors_get_noise_at_once(pipeline):
    own = pipeline.dp_computations
    for noise, norm in (("LAPLACE", "L1"), ("GAUSSIAN", "L2"), ("LAPLACE", "Linf")):
        norm_kind = getattr(pipeline.aggregate_params.NormKind, norm)
        noise_kind = getattr(pipeline.NoiseKind, noise)
        params = own.AdditiveVectorNoiseParams(1.0, 1e-6, 2.0, 3, None, norm_kind, noise_kind)
        with ours.installed(rng=InsecureGenerator(1)):
            found = own.add_noise_vector(np.zeros(2000), params)
        size = {"L1": 6.0, "L2": 2 * math.sqrt(3), "Linf": 2.0 * 2000 * 3}[norm]
        scale = noise_of_laplace(size, 1.0).scale
        deviation = scale * math.sqrt(2)
        if noise == "GAUSSIAN":
            deviation = noise_of_gaussian(size, 1.0, 1e-6).scale
        assert found.shape == (2000,) and abs(found.std() / deviation - 1) < 0.15
    assert [len(x) for x in Whole([1, 2, 3])] == [3]


@full
def test_the_exponential_mechanism_is_ours(pipeline):
    own = pipeline.dp_computations.ExponentialMechanism

    class Score(own.ScoringFunction):
        global_sensitivity, is_monotonic = 1.0, False

        def score(self, k):
            return k

    with ours.installed(rng=InsecureGenerator(1)):
        drawn = [own(Score()).apply(2.0, [0, 1, 2]) for _ in range(2000)]
    exact = np.exp([0.0, 1.0, 2.0])
    exact *= 2000 / exact.sum()
    counts = np.bincount(drawn, minlength=3)
    assert stats.chisquare(counts, exact).pvalue > 1e-4
    assert stats.chisquare(counts, exact[::-1]).pvalue < 1e-4  # planted
