"""What the page on C and Cython shows is compiled against the files that are installed, and run."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import dpfast as dp

from ..support.pages import DOCS

PAGE = (DOCS / "guide" / "native.md").read_text(encoding="utf-8")
ROOT = DOCS.parent
pytestmark = pytest.mark.full
FILES = {"c": "from_c.c", "cython": "from_cython.pyx", "python": "setup.py"}
SETUP = "from setuptools import setup; setup()"

USE = """
import numpy as np, dpfast as dp, from_c, from_cython as cy
from dpfast.noise import choice, samplers
from dpfast.rng import InsecureGenerator as R
from fractions import Fraction

# The samples that float64 leaves open are decided by Python, at the place of the caller.
decide, open_samples = samplers.decide, []
samplers.decide = lambda *args: open_samples.append(args) or decide(*args)
for law in "laplace", "gaussian":
    cy.on_grid(R(1), law, 3.0, 2.0**-48, 500)
assert open_samples
samplers.decide = decide

assert np.array_equal(cy.words(R(5), 9), R(5).random_raw(9))
assert not np.array_equal(cy.words(None, 9), cy.words(None, 9))
for n in 0, 1, 500, 300_000:
    for law in "laplace", "gaussian":
        for grid in (2.0**-20, 2.0**-48) if n < 1000 else (0.25,):
            want = getattr(dp.noise, law)(3.0, n, granularity=grid, rng=R(n))
            assert np.array_equal(cy.on_grid(R(n), law, 3.0, grid, n), want)
        want = getattr(dp.noise, law)(3.0, n, rng=R(n))
        assert np.array_equal(cy.on_grid(R(n), law, 3.0, 0, n), want)
        want = getattr(dp.noise, "discrete_" + law)(3.3, n, rng=R(n))
        assert np.array_equal(cy.integers(R(n), law, 3.3, n), want)
noise = dp.noise.laplace(3.0, granularity=2.0**-20, rng=R(2))
assert from_c.add_noise(10.0, 3.0, R(2)) == 10 + noise

far, many = np.array([0.0, 1.5, -1.0, 4.0]), np.array([1, 5, 9, 40])
for count in None, many:
    want = choice.Weights(far, 0.7, count).draw(2000, lambda b: Fraction(far[b]), R(3).stream())
    got = cy.chosen(R(3), far, count, 0.7, 2000)
    assert np.array_equal(got, want) and set(got.tolist()) == {0, 1, 3}

x = R(4).random_raw(5000).view(np.int64)
for values, part in (x, cy.middle_whole), (x / 7, cy.middle):
    before = values.copy()
    assert np.array_equal(part(values, 2000, 2050), np.sort(values)[2000:2050])
    assert np.array_equal(values, before) and len(part(values, 5, 5)) == 0

def refused(call, *args):
    try:
        call(*args)
    except (dp.errors.ArgumentError, dp.errors.ArgumentTypeError):
        return True
    return False

for args in (1.0, -1.0, None), (1.0, float("nan"), None), (1.0, 1e-300, None), (1.0, 1.0, 7):
    assert refused(from_c.add_noise, *args), args
assert refused(cy.words, "seed", 3) and refused(cy.integers, None, "laplace", 0.0, 3)
assert refused(cy.on_grid, None, "gaussian", 1.0, 0.3, 3)
assert refused(cy.on_grid, None, "gaussian", 1.0, 0.5, -3)
for d, c in (-1.0, 1.0), (float("nan"), 1.0), (float("inf"), 1.0), (0.0, 0.0), (0.0, -1.0):
    assert refused(cy.chosen, None, np.array([d]), None, c, 1), (d, c)
assert refused(cy.chosen, None, far, many * 0, 1.0, 1)
assert refused(cy.middle, np.array([1.0, float("nan")]), 0, 1)
for window in (-1, 1), (2, 1), (0, 6000):
    assert refused(cy.middle_whole, x, *window)
print(dp.get_include())
"""


TABLE = """
import numpy as np, dpfast as dp, table
from dpfast.noise import choice
from dpfast.rng import InsecureGenerator as R
from fractions import Fraction

N = 500
assert table.bits(R(5), 0, 0, 8 * N, None) == R(5).bytes(8 * N)
for law in "laplace", "gaussian":
    for grid in 0.0, 0.25:
        want = getattr(dp.noise, law)(3.0, N, granularity=grid or None, rng=R(1))
        assert getattr(table, law)(R(1), 3.0, grid, N, None) == want.tobytes()
    whole = "discrete_" + law
    want = getattr(dp.noise, whole)(3.3, N, rng=R(1))
    assert getattr(table, whole)(R(1), 3.3, 0, N, None) == want.tobytes()
far, many = np.array([0.0, 1.5, -1.0, 4.0]), np.array([1, 5, 9, 40])
for count in None, many:
    want = choice.Weights(far, 0.7, count).draw(N, lambda b: Fraction(far[b]), R(3).stream())
    counts = None if count is None else count.tobytes()
    assert table.choose(R(3), far.tobytes(), counts, 4, 0.7, N, None) == want.tobytes()
whole = R(4).random_raw(5000).view(np.int64)
for x in whole, whole / 7:
    want = np.sort(x)[2000:2050].tobytes()
    assert table.ranks(x.tobytes(), x.dtype.kind == "f", 5000, 2000, 2050, None) == want

def refused(call, *args):
    try:
        return call(*args) is None
    except (dp.errors.ArgumentError, dp.errors.ArgumentTypeError) as error:
        return "NULL" in str(error)

NULL = ...
draws = [getattr(table, name) for name in (
    "bits", "laplace", "gaussian", "discrete_laplace", "discrete_gaussian"
)]
for draw in draws:
    assert refused(draw, NULL, 3.0, 0.0, 9, None) and refused(draw, None, 3.0, 0.0, 9, NULL)
    assert draw(None, 3.0, 0.0, 0, NULL) == b""
    assert not refused(draw, None, 3.0, 0.0, 9, None)  # planted: nothing is wrong
assert refused(table.choose, NULL, far.tobytes(), None, 4, 1.0, 9, None)
assert refused(table.choose, None, None, None, 4, 1.0, 9, None)
assert refused(table.choose, None, far.tobytes(), None, 4, 1.0, 9, NULL)
for floats in False, True:
    assert refused(table.ranks, None, floats, 9, 1, 3, None)
    assert refused(table.ranks, far.tobytes(), floats, 4, 1, 3, NULL)
    assert table.ranks(None, floats, 0, 0, 0, NULL) == b""
"""
BUILD = """
import dpfast as dp
from setuptools import Extension, setup
setup(name="t", ext_modules=[Extension("table", ["table.c"], include_dirs=[dp.get_include()])])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with dpfast as a wheel has it: no more headers and declarations than it packs."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if not shutil.which(compiler) or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("there is no C compiler, or Python has no headers")
    home = tmp_path_factory.mktemp("installed")
    package = Path(dp.__file__).parent
    if package.parent != ROOT:
        shutil.copytree(package, home / "dpfast")
        return home
    run(ROOT, [sys.executable, "-c", SETUP, "build_py", "--build-lib", str(home)])
    for module in [*package.rglob("*.so"), *package.rglob("*.pyd")]:
        shutil.copy(module, home / module.relative_to(ROOT))
    return home


def run(where, command, *paths):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(home, where):
    """Compile the code of the page in a folder, with what is installed in another."""
    where.mkdir()
    for language, name in FILES.items():
        (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
        (where / name).write_text(code, encoding="utf-8")
    run(where, [sys.executable, "setup.py", "build_ext", "--inplace"], home)


def test_the_page_compiles_and_draws_the_bits_of_python(installed, tmp_path):
    build(installed, tmp_path / "example")
    said = run(tmp_path / "example", [sys.executable, "-c", USE], tmp_path / "example", installed)
    assert Path(said.strip()) == installed / "dpfast" / "include"


def test_each_function_is_called_from_c(installed, tmp_path):
    """The bits of Python, and NULL is an error of which the program hears."""
    shutil.copy(Path(__file__).with_name("table.c"), tmp_path)
    run(tmp_path, [sys.executable, "-c", BUILD, "build_ext", "--inplace"], installed)
    run(tmp_path, [sys.executable, "-c", TABLE], tmp_path, installed)


def test_another_version_is_refused(installed, tmp_path):
    """Planted: a module that was compiled with the header of a later dpfast."""
    from dpfast import native

    later = tmp_path / "later"
    shutil.copytree(installed, later)
    header = later / "dpfast" / "include" / "dpfast.h"
    text = header.read_text(encoding="utf-8")
    line = f"#define DPFAST_ABI_VERSION {native.ABI_VERSION}\n"
    assert text.count(line) == 1
    header.write_text(text.replace(line, "#define DPFAST_ABI_VERSION 99\n"), encoding="utf-8")
    build(later, tmp_path / "example")
    code = "try:\n import from_c\nexcept ImportError as error: print(error)"
    said = run(tmp_path / "example", [sys.executable, "-c", code], tmp_path / "example", installed)
    assert "version 99 " in said and f"has version {native.ABI_VERSION}:" in said
    run(tmp_path / "example", [sys.executable, "-c", "import from_cython"], installed)
