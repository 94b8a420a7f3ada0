"""`dpfast audit`: test the privacy claim of a function of any module."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Annotated, Any

import typer

from ...errors import ArgumentError
from .shared import Delta, Epsilon, Json, Rho, named, number, print_pairs

#: The exit code if the claim is refuted.
REFUTED = 6

Target = Annotated[
    str,
    named(
        "MODULE:FUNCTION",
        "A function of the data, or of the data and a number of answers, in an importable module.",
    ),
]


def _pair(text: str) -> Any:
    """Read bounds such as "0,120" as two numbers."""
    try:
        lo, hi = map(number, text.split(","))
    except ValueError:
        raise typer.BadParameter(f"'--bounds' must be two numbers, got {text!r}") from None
    return lo, hi


Bounds = Annotated[
    Any,
    typer.Option(metavar="LO HI", parser=_pair, help="The data are made-up numbers from LO to HI."),
]
Relation = Annotated[
    str, typer.Option(metavar="add-remove|replace", help="How neighboring data differ.")
]
Samples = Annotated[
    int, typer.Option(metavar="N", help="The most answers for each of about 20 pairs of data.")
]
Nan = Annotated[bool, typer.Option("--nan", help="Also try data with a row that is NaN.")]


def audit(
    target: Target,
    epsilon: Epsilon = None,
    delta: Delta = "0",
    rho: Rho = None,
    bounds: Bounds = "0,1",
    neighbors: Relation = "add-remove",
    samples: Samples = 20_000,
    nan: Nan = False,
    as_json: Json = False,
) -> None:
    """Test a privacy claim: call a function on made-up neighboring data, and compare its answers.

    A true claim is refuted at most once in a million runs. A claim that is not refuted may still be
    false.
    """
    from ...audit import measure_pairs
    from ...audit import neighbors as pairs_of

    function = _function(target)
    pairs = pairs_of(bounds, neighbors=neighbors, nan=nan)  # type: ignore[arg-type]
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho}
    sure = 1 - 1e-6 / len(pairs)
    audits = measure_pairs(function, pairs, **amounts, samples=samples, confidence=sure)
    if not audits:
        raise ArgumentError(f"{target} must take an array of numbers, but fails on all test data")
    refuted = any(audit.refuted for _, audit in audits)
    name, worst = min(audits, key=lambda pair: (pair[1].p_value, -pair[1].epsilon))
    facts = {
        "target": target,
        **worst.to_dict(),
        "refuted": refuted,
        "p_value": min(1.0, worst.p_value * len(pairs)),
        "pair": name,
        "pairs": len(audits),
    }
    if as_json:
        print(json.dumps(facts))
    else:
        shown = {**facts, "refuted": "REFUTED" if refuted else "not refuted"}
        shown["epsilon"] = f"at least {worst.epsilon:.4g}"
        shown["rho"] = f"at least {worst.rho:.4g}"
        print_pairs([("verdict", shown.pop("refuted")), *shown.items()], bold=1)
    if refuted:
        raise typer.Exit(REFUTED)


def _function(target: str) -> Any:
    module, _, name = target.partition(":")
    rule = "MODULE:FUNCTION, such as mine.statistics:mean"
    if not module or not name or module.startswith("."):
        raise ArgumentError(f"target must be {rule}, got {target!r}")
    sys.path.insert(0, os.getcwd())
    try:
        function: Any = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError):
        raise ArgumentError(
            f"target must be {rule}, and its import must succeed, got {target!r}"
        ) from None
    finally:
        sys.path.remove(os.getcwd())
    # A test that was made by `claims` contains its mechanism.
    function = getattr(function, "mechanism", function)
    if not callable(function):
        raise ArgumentError(f"target must be {rule}, got {target!r}, which is not a function")
    return function
