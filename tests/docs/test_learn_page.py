"""The pages on noisy sums and on learners name what there is and show what was measured."""

import pytest

from dpfast import learn, sulq
from dpfast.learn.estimator import Estimator

from ..support.pages import GUIDE, figures, program, quick_run

learned = program("learned")
quick = quick_run(learned)


def test_the_pages_name_what_there_is():
    of_learn, of_sulq = (
        (GUIDE / f"{page}.md").read_text(encoding="utf-8").split("## What there is")[1]
        for page in ("learn", "sulq")
    )
    kinds = [n for n, x in vars(learn).items() if isinstance(x, type) and issubclass(x, Estimator)]
    assert len(kinds) >= 7
    for name in kinds:
        assert f"| `dp.learn.{name}` |" in of_learn.split("\n## ")[0], name
    for name in sulq.__all__:
        if name.startswith(("learn_", "implication_")) or name in (
            "NoisySums",
            "StatisticalQueryOracle",
        ):
            assert f"`dp.sulq.{name}`" in of_sulq.split("\n## ")[0], name


def learners(*folder):
    result = figures("learned", *folder)
    return result, {one["learner"]: one for one in result["learners"]}


@pytest.mark.full
def test_the_figures_of_the_page_are_those_of_the_library(quick):
    """The least of a few errors is within nine tenths of those kept, the largest above a tenth."""
    (few, again), (kept, shown) = learners(quick), learners()
    assert kept["epsilon"] == list(learned.EPSILONS) and few["delta"] == kept["delta"]
    assert set(few["epsilon"]) < set(kept["epsilon"])
    assert few["repeats"] == learned.QUICK and kept["repeats"] >= 60
    assert list(again) == list(shown)
    for name, one in shown.items():
        assert (again[name]["measure"], again[name]["exact"]) == (one["measure"], one["exact"])
        for kind in learned.LOSSES:
            for i, epsilon in enumerate(few["epsilon"]):
                j = kept["epsilon"].index(epsilon)
                assert again[name][kind]["q10"][i] <= one[kind]["q90"][j], (name, epsilon)
                assert again[name][kind]["q90"][i] >= one[kind]["q10"][j], (name, epsilon)
