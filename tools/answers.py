"""Record or compare digests of what every public release answers under scripted randomness.

    PYTHONPATH=. python tools/answers.py record answers.json
    PYTHONPATH=. python tools/answers.py check answers.json

Every case of the test battery is called for each loss, relation and three scripts of random bytes,
and for many rows; every other public call of the tests' list once for each script.
A digest covers type, shape and all bits of an answer, and the public attributes of an object.
"""

import dataclasses
import hashlib
import json
import os
import struct
import sys
import types
import warnings
from enum import Enum
from fractions import Fraction

import numpy as np

import dpfast as dp

try:
    from tests.support.battery import CASES
    from tests.support.surface import CALLS, RNG
except ImportError:
    from tests.support.battery import CASES
    from tests.support.surface import CALLS, RNG


class Script:
    """Bytes of a seeded hash in place of the system's entropy."""

    def __init__(self):
        self.seed, self.count = 0, 0

    def __call__(self, n):
        self.count += 1
        return hashlib.shake_128(f"{self.seed} {self.count}".encode()).digest(n)


SCRIPT = Script()
SKIPPED = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, type)


def plain(value, depth=0):
    """Bytes that say all of a value, and nothing of where its class is defined."""
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return repr(value).encode()
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    if isinstance(value, np.generic):
        return f"n{value.dtype}".encode() + value.tobytes()
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return b"o" + plain(value.tolist(), depth + 1)
        return f"a{value.dtype}{value.shape}".encode() + value.tobytes()
    if isinstance(value, (Fraction, complex)):
        return repr(value).encode()
    if isinstance(value, Enum):
        return value.name.encode()
    if isinstance(value, dict):
        parts = [plain(k, depth + 1) + b":" + plain(v, depth + 1) for k, v in value.items()]
        return b"{" + b",".join(sorted(parts)) + b"}"
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [plain(v, depth + 1) for v in value]
        if isinstance(value, (set, frozenset)):
            parts.sort()
        return b"(" + b",".join(parts) + b")"
    if isinstance(value, SKIPPED):
        return b"-"
    if depth > 4:
        return b"..."
    names = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    if not names or hasattr(value, "fit"):  # a learner keeps more than its fields
        names = sorted(getattr(value, "__dict__", {})) + sorted(
            n for c in type(value).__mro__ for n, m in vars(c).items() if isinstance(m, property)
        )
    out = [type(value).__name__.encode()]
    for name in names:
        if not name.startswith("_"):
            try:
                own = getattr(value, name)
            except Exception as error:
                own = type(error).__name__
            out.append(name.encode() + b"=" + plain(own, depth + 1))
    return b"<" + b";".join(out) + b">"


def answered(call, *args, **kw):
    """Digest of an answer, or the kind of the error."""
    try:
        found = call(*args, **kw)
    except dp.errors.DpfastError as error:
        return type(error).__name__
    return hashlib.sha256(plain(found)).hexdigest()[:16]


def fresh(seed):
    SCRIPT.seed, SCRIPT.count = seed, 0
    dp.rng.default_generator()._local.stream = None
    RNG._local.stream = dp.rng.InsecureGenerator(seed).stream()


def table():
    out = {}
    for name, case in CASES.items():
        for loss in case.losses:
            for relation in case.relations:
                kw = {"neighbors": relation} if "neighbors" in case.parameters else {}
                for seed in (1, 2, 3):
                    fresh(seed)
                    key = f"{name} | {sorted(loss.items())} | {relation} | {seed}"
                    out[key] = answered(
                        case, case.data, loss, rng=dp.rng.InsecureGenerator(seed), **kw
                    )
    for name, case in CASES.items():
        if case.form in ("column", "table", "array"):
            data = np.tile(case.data, (97,) + (1,) * (case.data.ndim - 1))
            rows = {extra: np.tile(case.kw[extra], 97) for extra in case.rows}
            for loss in case.losses:
                key = f"{name} | {sorted(loss.items())} | many rows"
                fresh(4)
                out[key] = answered(case, data, loss, rng=dp.rng.InsecureGenerator(4), **rows)
    for name, one in CALLS.items():
        if name in CASES or name == "dp.Budget":  # which has a time
            continue
        for seed in (1, 2, 3):
            fresh(seed)
            given = one.make()
            if isinstance(given.get("rng"), dp.rng.Generator):
                given["rng"] = RNG
            out[f"{name} | {seed}"] = answered(one.function, **given)
    return out


def main(verb, path):
    warnings.simplefilter("ignore")
    os.urandom = SCRIPT
    found = table()
    if verb == "record":
        with open(path, "w", encoding="utf-8") as out:
            json.dump(found, out, indent=0, sort_keys=True)
        print(len(found), "answers recorded")
        return 0
    with open(path, encoding="utf-8") as given:
        before = json.load(given)
    moved = [k for k in before if found.get(k) != before[k]]
    for key in moved:
        print("differs:", key, before[key], found.get(key))
    print(
        len(before) - len(moved),
        "of",
        len(before),
        "answers are the same;",
        len(set(found) - set(before)),
        "are new",
    )
    return bool(moved)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
