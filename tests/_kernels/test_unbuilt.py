"""What a checkout says that has not been built."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpfast

PACKAGE = Path(dpfast.__file__).parent


@pytest.mark.full
@pytest.mark.parametrize("built", [False, True])
def test_an_unbuilt_checkout_says_how_to_build_it_and_a_broken_kernel_does_not(tmp_path, built):
    ignore = None if built else shutil.ignore_patterns("*.so", "*.pyd")
    shutil.copytree(PACKAGE, tmp_path / "dpfast", ignore=ignore)
    for kernel in (tmp_path / "dpfast" / "_kernels").glob("rng.*.*") if built else ():
        kernel.write_bytes(b"")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import dpfast"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    how = "dpfast is not built: run pip install -e . where its setup.py is"
    assert done.returncode == 1 and (how in done.stderr) is not built
    if not built:
        assert done.stderr.splitlines()[-1] == f"ImportError: {how}"
        assert "During handling" not in done.stderr and "direct cause" not in done.stderr
