"""`show_config`: versions and settings of this installation, for reports of faults."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, overload

import numpy as np

from .. import threads
from ..extend import checks, instruction_sets

#: Libraries that only some calls need, by the extra of dpfast that installs them.
OPTIONAL = {
    "io": ["pyarrow"],
    "compiled": ["numba"],
    "cli": ["typer", "rich"],
    "processes": ["cloudpickle"],
    "dask": ["dask", "distributed"],
    "spark": ["pyspark"],
    "remote": ["fsspec"],
    "plot": ["matplotlib"],
    "accounting": ["dp-accounting"],
    "graphs": ["scipy"],
}
#: For each engine, a function that returns the address at which it runs.
ENGINES: dict[str, Callable[[Any], Any]] = {
    "distributed": lambda library: library.default_client().scheduler_info()["address"],
    "pyspark.sql": lambda library: library.SparkSession.active().conf.get("spark.master"),
}


@overload
def show_config(mode: Literal["stdout"] = ...) -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, Any] | None:
    """Print versions, instruction set, threads, engines and libraries of this installation.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, default "stdout"
        With "dicts" the information is returned as dicts of JSON types, and not printed.

    Returns
    -------
    dict or None

    Raises
    ------
    ArgumentError
        If `mode` is anything else.

    Notes
    -----
    The instruction set is chosen when dpfast is imported. Answers do not depend on it.

    Examples
    --------
    >>> import dpfast as dp
    >>> sorted(dp.show_config(mode="dicts"))
    ['dpfast', 'engines', 'instruction set', 'optional', 'python', 'randomness', 'threads']
    """
    checks.choice("mode", mode, ("stdout", "dicts"))
    facts: dict[str, Any] = {
        "dpfast": {"version": _version("dpfast"), "numpy": np.__version__},
        "python": {
            "version": platform.python_version(),
            "implementation": sys.implementation.name,
            "platform": platform.platform(),
        },
        "instruction set": instruction_sets(),
        "threads": threads(),
        "engines": {name: _running(name) for name in ENGINES},
        "randomness": "ChaCha20 with fast key erasure, keyed by the operating system",
        "optional": {
            extra: {name: _version(name) for name in names} for extra, names in OPTIONAL.items()
        },
    }
    if mode == "dicts":
        return facts
    print("\n".join(_lines(facts)))
    return None


def _version(name: str) -> str | None:
    """Return the version of an installed package without importing it; None if not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _running(name: str) -> str | None:
    """Return the address of this process's Dask client or Spark session; None without one."""
    try:
        return str(ENGINES[name](sys.modules[name]))
    except Exception:  # there is none, or the library raised an error
        return None


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in facts.items():
        if not isinstance(value, dict):
            lines.append(f"{name}: {value}")
            continue
        lines.append(f"{name}:")
        for key, inner in value.items():
            if isinstance(inner, dict):
                inner = ", ".join(f"{n} {v or 'not installed'}" for n, v in inner.items())
            elif isinstance(inner, list):
                inner = ", ".join(inner)
            lines.append(f"  {key}: {inner}")
    return lines
