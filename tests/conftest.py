"""Settings shared by all tests."""

import atexit
import gc
import os
import shutil
import tempfile

from hypothesis import settings

# A busy machine is no failure: no test asserts a time.
settings.register_profile("dpfast", deadline=None)
settings.load_profile("dpfast")

# Hundreds of tests start a program of their own. Where an environment keeps no bytecode, each of
# them would compile the whole package; so it is kept, but not beside the sources and not for long.
# (Worker processes of xdist inherit the place and share it.)
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="dpfast-bytecode-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

# Where there is a worker process of xdist for each core, more threads only wait for one
# another. (Alone, by night and in the benchmarks they are as many as elsewhere.)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DPFAST_NUM_THREADS", "1")

# Twenty-six thousand tests are collected, and all of them stay: looking through them for garbage
# again and again took half of the time of collecting, and more with every test that runs.
gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()
