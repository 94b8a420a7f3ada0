"""Settings shared by all tests."""

import contextlib
import gc
import importlib
import math
import os
import sys
import time
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from _pytest.runner import runtestprotocol
from hypothesis import settings

from dpfast import rng

HERE = Path(__file__).parent

# A busy machine is no failure: no test asserts a time. Quick tests have fewer examples.
settings.register_profile("dpfast", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=30)
settings.load_profile("dpfast")

# Hundreds of tests start a program of their own. Where an environment keeps no bytecode, each of
# them would compile the whole package, and pytest would rewrite every assertion of every test
# again, which is two thirds of collecting. So all of them keep it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Where there is a worker process of xdist for each core, more threads only wait for one
# another. (Alone, by night and in the benchmarks they are as many as elsewhere.)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DPFAST_NUM_THREADS", "1")

# Tens of thousands of tests are collected, and all of them stay: looking through them for garbage
# again and again took half of the time of collecting, and more with every test that runs. Tests
# make much that is soon let go, so it is looked through for circles more seldom than elsewhere.
gc.disable()
gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Have each worker process of xdist compile its share of the tests before it collects all."""
    if hasattr(session.config, "workerinput") and session.config.args == ["tests"]:
        given = session.config.workerinput
        own = int(given["workerid"].removeprefix("gw"))
        for path in sorted(HERE.rglob("test_*.py"))[own :: given["workercount"]]:
            name = ".".join(path.relative_to(HERE.parent).with_suffix("").parts)
            with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting tells of them
                importlib.import_module(name)


def pytest_cmdline_main(config):
    """Keep each file of the full tier in one process of xdist. What its tests share is dear: a
    site, a browser, a build of C, mypy, Spark."""
    is_full = config.option.markexpr == "full and not slow"
    if is_full and getattr(config.option, "dist", None) == "load":
        config.option.dist, config.option.loadscopereorder = "loadfile", False


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Make no item of the rows that `-m` leaves out, which are most. (Without any row pytest
    would call the test without arguments, so one stays, and is left out later.)"""
    yield
    config, calls = metafunc.config, metafunc._calls
    if calls and config.option.markexpr and not any("::" in path for path in config.args):
        chosen = Expression.compile(config.option.markexpr)
        of_test = {mark.name for mark in metafunc.definition.iter_markers()}
        named = ((call, of_test.union(mark.name for mark in call.marks)) for call in calls)
        kept = [call for call, names in named if chosen.evaluate(names.__contains__)]
        metafunc._calls = kept or calls[:1]


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


@pytest.fixture
def in_one_round(monkeypatch):
    """Private keys of people in memory by the rule that databases have."""
    from dpfast._core.once import forget
    from dpfast.groups import grouping

    forget()
    monkeypatch.setattr(grouping, "choose_rounds", grouping.choose_rule)
    yield
    forget()


@pytest.fixture
def same_pivots(monkeypatch):
    """Pivots of order statistics that are the same in each run."""
    from dpfast.summaries import floyd_rivest

    monkeypatch.setattr(floyd_rivest, "random_words", rng.InsecureGenerator(1).random_raw)


def pytest_addoption(parser):
    words = "run each test that draws from the system's entropy so many times"
    parser.addoption("--repeat-noise", type=int, default=1, metavar="N", help=words)
    words = "start no further run of a test after so many seconds of computing"
    parser.addoption("--repeat-seconds", type=float, default=math.inf, metavar="S", help=words)


class Drawn:
    """Counts the draws from the system's entropy, by which a test can fail by chance."""

    def __init__(self, times, seconds):
        self.times, self.seconds, self.draws = times, seconds, 0
        for place, name in ((rng.SecureGenerator, "stream"), (rng, "_key_from_system")):
            setattr(place, name, self.counted(getattr(place, name)))

    def counted(self, function):
        def called(*args):
            self.draws += 1
            return function(*args)

        return called

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        start = time.process_time()
        for run in range(1, self.times + 1):  # noqa: B007
            before = self.draws
            reports = runtestprotocol(item, nextitem=item.parent, log=False)
            if self.draws == before or not all(report.passed for report in reports):
                break
            if time.process_time() - start >= self.seconds:
                break
        for report in reports:
            if report.failed:
                report.sections.append(("repeated", f"it failed in run {run} of {self.times}"))
            item.ihook.pytest_runtest_logreport(report=report)
        item.session._setupstate.teardown_exact(nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config):
    if "not full" in config.option.markexpr and config.getoption("--repeat-noise") == 1:
        settings.load_profile("quick")
    if config.getoption("--repeat-noise") > 1:
        given = map(config.getoption, ("--repeat-noise", "--repeat-seconds"))
        config.pluginmanager.register(Drawn(*given))
