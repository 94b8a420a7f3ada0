"""What a checkout says that has not been built."""

import shutil
import subprocess
import sys
from pathlib import Path

import dpfast

PACKAGE = Path(dpfast.__file__).parent
COMPILED = ("*.so", "*.pyd")


def first_import(folder):
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import dpfast; print(dpfast.__file__)"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=folder
    )


def test_an_unbuilt_checkout_says_how_to_build_it(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "dpfast", ignore=shutil.ignore_patterns(*COMPILED))
    done = first_import(tmp_path)
    last = done.stderr.splitlines()[-1]
    how = "dpfast is not built: run pip install -e . where its setup.py is"
    assert (done.returncode, last) == (1, f"ImportError: {how}")
    assert "During handling" not in done.stderr and "direct cause" not in done.stderr


def test_a_kernel_that_cannot_be_loaded_is_another_error(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "dpfast")
    for kernel in (tmp_path / "dpfast" / "_kernels").glob("rng.*.*"):
        kernel.write_bytes(b"")
    done = first_import(tmp_path)
    assert done.returncode == 1 and "not built" not in done.stderr
