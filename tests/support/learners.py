"""What learners ask for, without noise, and rounds of their own."""

from unittest.mock import patch

from dpfast.learn import kmeans
from dpfast.rng import InsecureGenerator
from dpfast.sulq import parts as round_parts
from dpfast.sulq import rounds

from ..sulq.test_noisy_sums import Recorder


def recorded(kind, X, y=None, recorder=None, **kw):
    """Return each part's calibration, its integers, and the fitted object, without noise."""
    recorder = recorder or Recorder()
    silent = patch.object(kmeans, "_noise", lambda *_: 0.0)  # which asks of what noise will be
    joint = patch.object(round_parts, "choose_noise", recorder.of_moves)
    with patch.object(round_parts, "integer_noise", recorder), joint, silent:
        made = kind(**{"rho": 1, **kw}).fit(X, y)
    return recorder.used, recorder.values, made


def rounds_of(loss, relation="add-remove", count=2):
    """Return so many rounds about no source."""
    return rounds.Rounds(
        None, loss=loss, neighbors=relation, rounds=count, name="", budget=None,
        rng=InsecureGenerator(3),
    )  # fmt: skip
