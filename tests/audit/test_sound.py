"""`python -m benchmarks.audited.sound`: sound claims stand, false ones of the same kinds fall."""

import json

import pytest

import dpfast as dp
from benchmarks.audited import sound

from ..support.pages import figures


def test_kept_figures_are_of_two_thousand_runs_of_which_none_was_refuted():
    kept = figures("audited")["sound"]
    assert set(kept["kinds"]) == set(sound.KINDS)
    assert kept["runs"] == sum(kind["runs"] for kind in kept["kinds"].values()) >= 2_000
    assert kept["refuted"] == 0 == sum(kind["refuted"] for kind in kept["kinds"].values())
    unseen = {name for name, kind in kept["kinds"].items() if not kind["false claim refuted"]}
    assert unseen == sound.UNSEEN


@pytest.mark.full
def test_a_sound_run_of_each_quick_kind_stands_and_its_false_claim_falls():
    for name in ("one run of canaries", "a replayed program", "stored text", "text"):
        run = sound.KINDS[name]
        assert not run(1, True), name
        assert run(1, False), name


def test_kinds_that_are_tried_again_replace_their_counts_alone(tmp_path, monkeypatch):
    quick = {name: sound.KINDS[name] for name in ("one run of canaries", "a replayed program")}
    monkeypatch.setattr(sound, "KINDS", quick)
    file = tmp_path / "audited.json"
    file.write_text('{"ours": 3}')
    sound.main(["--runs", "5", "--out", str(tmp_path)])
    sound.main(["--runs", "9", "--out", str(tmp_path), "a replayed program"])
    found = json.loads(file.read_text())
    assert found["ours"] == 3 and found["sound"]["refuted"] == 0
    assert [kind["runs"] for kind in found["sound"]["kinds"].values()] == [3, 4]
    assert found["sound"]["runs"] == 7


def test_a_refutation_of_a_sound_claim_is_counted(monkeypatch):
    monkeypatch.setattr(sound, "KINDS", {"no": lambda *_: False, "alarm": lambda *_: True})
    found = sound.merged({}, sound.audited(6, sound.KINDS))
    assert found["refuted"] == 3 == found["kinds"]["alarm"]["refuted"]


@pytest.mark.full
def test_a_histogram_for_one_row_more_or_less_is_refuted_where_one_is_replaced():
    """The claim of the other relation, which is half of the loss."""
    run = sound.by_calls(
        sound.released(dp.histogram, bins=[0, 0.5, 1], neighbors="add-remove"), samples=20_000
    )
    assert run(1, True)
