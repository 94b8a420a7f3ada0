"""Known faults of released libraries: what was kept, the judge, and one that is drawn anew."""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compare import faults, worker
from benchmarks.compare.page import GUIDE

HERE = Path(worker.__file__).parent
KEPT = json.loads(faults.RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_a_function_and_an_environment(fault):
    tree = ast.parse((HERE / fault.system / "faults.py").read_text(encoding="utf-8"))
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    assert [one.arg for one in functions[fault.name].args.args] == ["control"]
    assert (HERE / fault.system / "requirements.txt").read_text().strip()


def test_all_faults_were_refuted_in_time_and_no_control_was():
    assert [one["name"] for one in KEPT["faults"]] == [
        f"{f.system}/{f.name}" for f in faults.FAULTS
    ]
    for one in KEPT["faults"]:
        fault, control = one["fault"], one["control"]
        assert fault["refuted"] and fault["p_value"] <= 1e-6, one["name"]
        assert not control["refuted"] and not control.get("differences"), one["name"]
        assert max(fault["seconds"], control["seconds"]) < 60, one["name"]


def test_the_guide_has_the_kept_figures():
    assert faults.lines(KEPT) in GUIDE.read_text(encoding="utf-8")


def test_rows_that_change_are_refuted_and_those_that_stay_are_not():
    rows = np.arange(6.0).reshape(3, 2)
    assert not faults.judge(rows, rows.copy(), None)["refuted"]
    found = faults.judge(rows, rows - rows.mean(0), None)
    assert found["refuted"] and found["witness"] == "6 of 6 numbers changed"


@pytest.mark.full
@pytest.mark.parametrize("control", [False, True])
def test_low_bits_of_numpy_are_refuted_and_noise_on_a_grid_is_not(control, tmp_path):
    fault = next(one for one in faults.FAULTS if one.name == "low_bits")
    found = faults.ask(Path(sys.executable), fault, control, tmp_path / "answers.npz")
    assert found["refuted"] != control
    assert bool(found["differences"]) != control
    assert (found["p_value"] <= 1e-6) != control
    assert found["release"] == f"NumPy {np.__version__}"
