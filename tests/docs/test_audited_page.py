"""The figures of the page on audits: no mechanism exceeds its claim, each fault is found."""

import pytest

import dpfast as dp

from ..support.pages import figures, program, quick_run

audited = program("audited")
quick = quick_run(audited)
KEPT = figures("audited")


def test_kept_figures_are_of_all_mechanisms_and_faults():
    assert set(KEPT["ours"]) == set(audited.OURS) and set(KEPT["faults"]) == set(audited.FAULTS)
    assert not KEPT["quick"]
    assert all(0.3 < row["ratio"] <= 1 and not row["refuted"] for row in KEPT["ours"].values())
    assert all(row["refuted"] and row["p_value"] <= 1e-6 for row in KEPT["faults"].values())


@pytest.mark.full
def test_a_quick_run_says_the_same(quick):
    again = figures("audited", quick)
    for part in ("ours", "faults"):
        for name, row in again[part].items():
            assert row["refuted"] == KEPT[part][name]["refuted"]
            assert part == "faults" or row["ratio"] <= 1
    assert audited.table(again).count("\n") == 3 + len(audited.OURS) + len(audited.FAULTS) + 1


@pytest.mark.full
def test_the_right_threshold_stands():
    claim = {"epsilon": 1, "delta": audited.DELTA}
    right = audited.keys(audited.THRESHOLD)
    assert not dp.audit.measure(right, *audited.ALONE, **claim, samples=2_000_000).refuted
