"""What is run in this project, each as a session of nox.

    nox -l              # lists the sessions
    nox -s lint tests   # runs two of them

They install nothing. Each runs in `.venv-test`, which the README's test command makes, or, where
there is none, in the environment of nox itself. What stands after ``--`` goes to pytest in the
place of all tests: ``nox -s tests -- tests/noise -x``.
"""

import shutil
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "tests"]

ROOT = Path(__file__).parent
IN_VENV = [ROOT / ".venv-test" / "bin" / "python", ROOT / ".venv-test" / "Scripts" / "python.exe"]
PYTHON = next((str(path) for path in IN_VENV if path.exists()), sys.executable)
PARALLEL = ["-q", "-n", "auto", "--maxprocesses", "8"]


def python(session, *arguments, **options):
    """Run Python with arguments."""
    session.run(PYTHON, *arguments, external=True, **options)


@nox.session
def tests(session):
    """Run the quick tests: every public function, every kernel, every planted fault."""
    python(session, "-m", "pytest", *(session.posargs or PARALLEL))


@nox.session
def full(session):
    """Run the full tests, those that the quick ones leave out. The session `proofs` has its own."""
    arguments = session.posargs or [*PARALLEL, "--ignore=tests/proofs"]
    python(session, "-m", "pytest", "-m", "full and not slow", *arguments)


@nox.session
def lint(session):
    """Check style, types, spelling, and what the tools in `tools/` write."""
    python(session, "-m", "ruff", "check", ".")
    python(session, "-m", "ruff", "format", "--check", ".")
    python(session, "-m", "mypy")
    python(session, "-m", "codespell_lib")
    for tool in sorted((ROOT / "tools").glob("*.py")):
        if '"--check"' in tool.read_text(encoding="utf-8"):
            python(session, str(tool), "--check")


@nox.session
def docs(session):
    """Build the site of all pages and docstrings in `build/site`; a warning is an error."""
    python(session, "docs/site/build.py", *session.posargs)


@nox.session
def bench(session):
    """Try every benchmark on few rows; nothing is timed."""
    arguments = session.posargs or [*PARALLEL, "benchmarks"]
    smoke = {"DPFAST_BENCH_SMOKE": "1"}
    python(session, "-m", "pytest", *arguments, "--benchmark-disable", env=smoke)


@nox.session
def proofs(session):
    """Check the proofs in `proofs/`, with Coq as Debian has it, which is installed if need be."""
    python(session, "-m", "proofs", "--install")
    if not shutil.which("coqc"):
        session.skip("proofs were not checked: there is no Coq")
    # The specification is compared with the kernels, and planted faults must not compile.
    python(session, "-m", "pytest", "-m", "not slow", *PARALLEL, "tests/proofs")


@nox.session
def fuzz(session):
    """Fuzz what reads bytes that others wrote, then plant faults, which must be found."""
    seconds = session.posargs or ["--seconds", "60"]
    python(session, "-m", "tests.fuzz", *seconds)
    python(session, "-m", "tests.fuzz", "--planted", *seconds)


@nox.session
def coverage(session):
    """Write which lines and branches the quick tests run, to `build/coverage`."""
    tests = session.posargs or PARALLEL
    reports = ["html:build/coverage", "xml:build/coverage/coverage.xml", "term:skip-covered"]
    written = [f"--cov-report={report}" for report in reports]
    python(session, "-m", "pytest", "--cov", *written, *tests)


@nox.session
def nightly(session):
    """Run the long tests, what draws noise again and again, and the kernels under sanitizers."""
    python(session, "-m", "pytest", "-m", "slow", *PARALLEL)
    # A quick test that fails by chance is seen here before it is on a pull request.
    python(session, "-m", "pytest", *PARALLEL, "--repeat-noise", "50")
    # Examples are cheap, and most have one bound: they run as often as seconds allow.
    examples = ["tests/test_doctest.py", "tests/docs/test_gallery.py", "-m", "not slow"]
    often = ["--repeat-noise", "2000", "--repeat-seconds", "20"]
    python(session, "-m", "pytest", *PARALLEL, *examples, *often)
    session.run(".ci/sanitize", external=True)
