"""What an installation says of itself."""

import json

import numpy as np

import dpfast as dp
from dpfast._kernels.rng import isa_paths


def test_it_says_what_is_here(capsys):
    found = dp.show_config(mode="dicts")
    assert json.loads(json.dumps(found)) == found
    assert found["dpfast"] == {"version": dp.__version__, "numpy": np.__version__}
    assert found["instruction set"]["used"] in isa_paths()
    with dp.threads(1):
        assert dp.show_config(mode="dicts")["threads"] == 1
    assert dp.show_config() is None
    text = capsys.readouterr().out
    assert dp.__version__ in text and "numba" in text and "entropy" not in text


def test_what_is_not_installed_is_said(monkeypatch, capsys):
    from dpfast.app import show_config

    monkeypatch.setattr(show_config, "OPTIONAL", {"io": ["no-such-library"]})
    assert dp.show_config(mode="dicts")["optional"]["io"] == {"no-such-library": None}
    dp.show_config()
    assert "no-such-library not installed" in capsys.readouterr().out
