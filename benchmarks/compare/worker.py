"""Answer one workload with one system, in the environment of that system.

    python -P benchmarks/compare/worker.py SYSTEM [WORKLOAD RELATION]
        [--rows N] [--seconds S --runs R]
    python -P benchmarks/compare/worker.py SYSTEM WORKLOAD RELATION
        --answers FILE --seconds S [--needed N --longest S]
    python -P benchmarks/compare/worker.py SYSTEM --fault NAME [--control] --answers FILE

Without a workload it says what the system offers. Without --seconds it answers once, for whoever
holds the clock. With it, it measures warm calls and the errors of `runs` answers on fewer rows.
With --answers it keeps answers on neighbors in FILE, for an audit: as many as there are seconds
for, or those that are needed, if these take no more than the longest time; it ends at once if all
that would be too few for any audit. With --fault it keeps those of a fault, or of its clean
control, and says what is claimed. The last line that is printed is JSON.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import inspect
import io
import json
import sys
import time
import tokenize
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
#: Rows of the data that errors are measured on.
ERROR_ROWS = 10_000
#: The most answers that are kept of each of the neighbors of a question; the fewest on a pair of
#: them that an audit can say something about; how many first ones say how long one takes.
MOST, FEWEST, FIRST = 100_000, 1024, 5


def load(path: Path, name: str) -> ModuleType:
    """A module of this folder. The folders have the names of libraries, so none is a package."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shared() -> ModuleType:
    """Load the modules that systems import, and return the workloads."""
    ask, _ = [load(HERE / f"{name}.py", name) for name in ("workloads", "in_duckdb")]
    return ask


def lines(function: Callable[..., Any]) -> int:
    """The logical lines of a function without its head: one that is wrapped is one."""
    tokens = tokenize.generate_tokens(io.StringIO(inspect.getsource(function)).readline)
    return sum(token.type == tokenize.NEWLINE for token in tokens) - 1


def repeats(call: Callable[[], Any], seconds: float, most: int) -> Iterator[tuple[Any, float]]:
    """Answers and the time of each, as many as there is time for and at least one."""
    end = time.perf_counter() + seconds
    for _ in range(most):
        start = time.perf_counter()
        found = call()
        stop = time.perf_counter()
        yield found, stop - start
        if stop > end:
            return


def number(call: Callable[[], Any], ask: ModuleType) -> Any:
    """An answer for an audit, by group those of all groups; an error or no answer is one too."""
    import numpy as np

    try:
        answer = call()
    except Exception:
        return None
    if isinstance(answer, dict):
        return np.array([answer.get(key, np.nan) for key in ask.KEYS], float)
    return answer if answer is None or isinstance(answer, (int, float)) else np.asarray(answer)


def pool(answers: list[Any]) -> Any:
    """An array of answers, those that are none as NaN."""
    import numpy as np

    some = next((np.asarray(one) for one in answers if one is not None), np.array(0.0))
    nothing = np.full(some.shape, np.nan)
    return np.array([nothing if one is None else one for one in answers])


def version(system: ModuleType) -> str:
    """The version of a system: of its distribution, and what it says of more."""
    more = getattr(system, "MORE", None)
    return importlib.metadata.version(system.DISTRIBUTION) + (f", {more()}" if more else "")


def warm(call: Callable[[], Any], seconds: float) -> dict[str, Any]:
    call()
    times = sorted(t for _, t in repeats(call, seconds, 25))
    return {"seconds": times[len(times) // 2], "best": times[0], "calls": len(times)}


def on_neighbors(
    pairs: list[list[Callable[[], Any]]],
    ask: ModuleType,
    seconds: float,
    needed: int,
    longest: float,
) -> tuple[dict[str, Any], float]:
    """Answers on each of the neighbors, by name of an array, and the seconds that one takes."""
    calls = [call for pair in pairs for call in pair]
    kept: list[list[Any]] = [[] for _ in calls]

    def each() -> None:
        for call, answers in zip(calls, kept, strict=True):
            answers.append(number(call, ask))

    each()  # what is loaded by a first call takes no time of the others
    first = sorted(time for _, time in repeats(each, longest, FIRST))
    taken = first[len(first) // 2]
    due = taken * needed / len(calls)
    if seconds < due <= longest:
        seconds = due
    if seconds >= taken * FEWEST / 2:
        for _ in repeats(each, seconds, MOST // len(pairs)):
            pass
    names = [f"{name}{i}" for i in range(len(pairs)) for name in ("x", "y")]
    return dict(zip(names, map(pool, kept), strict=True)), taken / len(calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system")
    parser.add_argument("workload", nargs="?")
    parser.add_argument("relation", nargs="?")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--needed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=0)
    parser.add_argument("--fault")
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    ask = shared()
    if given.fault:
        import numpy as np

        faults = load(HERE / given.system / "faults.py", "faults")
        claim, x, x2 = getattr(faults, given.fault)(given.control)
        np.savez(given.answers, x=x, x2=x2)
        release = f"{faults.NAME} {importlib.metadata.version(faults.DISTRIBUTION)}"
        print(json.dumps({"claim": claim, "release": release}))
        return
    system = load(HERE / given.system / "system.py", "system")
    if given.workload is None:
        named = {"name": system.NAME, "version": version(system)}
        named |= {"absent": system.ABSENT, "hides": getattr(system, "HIDES", {})}
        claim = {"delta": getattr(system, "DELTA", 0.0)}
        print(json.dumps({**named, **claim, "offers": system.OFFERS}))
        return
    workload, answer = ask.WORKLOADS[given.workload], getattr(system, given.workload)

    def asking(data: dict[str, Any]) -> Callable[[], Any]:
        return answer(system.prepare(data, given.workload), given.relation)

    if given.answers:
        import numpy as np

        pairs = [[asking(data) for data in pair] for pair in workload.pairs[given.relation]]
        kept, each = on_neighbors(pairs, ask, given.seconds, given.needed, given.longest)
        np.savez(given.answers, **kept)
        print(json.dumps({"answers": sum(map(len, kept.values())), "each": each}))
        return
    call = asking(workload.data(int(given.rows)))
    if not given.seconds:
        call()
        return
    found: dict[str, Any] = {"lines": lines(answer), "warm": warm(call, given.seconds / 4)}
    print(json.dumps(found), flush=True)
    if workload.error:
        data = workload.data(workload.error_rows or ERROR_ROWS)
        call = asking(data)
        errors = [
            workload.error(one, data) for one, _ in repeats(call, given.seconds / 2, given.runs)
        ]
        found["errors"] = errors
    print(json.dumps(found))


if __name__ == "__main__":
    main()
