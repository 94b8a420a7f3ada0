"""The choice of instruction set: every path gives the same bits, a wrong wish is an error."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from dpfast._kernels.rng import isa_paths

from ..support import paths
from ..support.pairwise import quick_rows
from ..support.paths import on_every_path, run

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "reference" / "vectors"

# Run on one forced path: keystream blocks taken out of the interleaved order, hashes of streams.
PROBE = """
import hashlib, json, sys
import numpy as np
from dpfast._kernels.rng import chacha_group, isa
from dpfast.rng import InsecureGenerator

def keystream(key, counter, nonce):
    out = np.zeros(1024, np.uint8)
    words = lambda text: np.frombuffer(bytes.fromhex(text), "<u4").astype(np.uint32)
    chacha_group(words(key), counter, words(nonce), out)
    return out.view("<u4").reshape(16, 16).T.tobytes().hex()

requests = json.load(sys.stdin)
print(json.dumps({
    "isa": isa(),
    "keystreams": [keystream(*request) for request in requests["keystreams"]],
    "streams": [hashlib.sha256(InsecureGenerator(int(seed, 16)).bytes(n)).hexdigest()
                for seed, n in requests["streams"]],
}))
"""


@cache
def rfc() -> dict:
    return json.loads((VECTORS / "rfc8439_chacha20.json").read_text(encoding="utf-8"))


@cache
def stored_streams() -> list[dict]:
    every = json.loads((VECTORS / "insecure_stream.json").read_text(encoding="utf-8"))
    return [v for v in every if v["thread"] == 0]


@cache
def probe(path: str) -> dict:
    cases = [*rfc()["blocks"], rfc()["encryption"]]
    requests = {
        "keystreams": [(c["key"], c["counter"], c["nonce"]) for c in cases],
        "streams": [(v["seed"], v["bytes"]) for v in stored_streams()],
    }
    done = run(PROBE, path, json.dumps(requests))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@quick_rows(1)
@pytest.mark.parametrize("path", isa_paths())
def test_a_path_can_be_forced(path):
    assert probe(path)["isa"] == path
    for unasked in (None, ""):
        done = run("from dpfast._kernels.rng import isa; print(isa())", unasked)
        assert done.stdout.strip() == isa_paths()[-1]


@quick_rows(2)
@pytest.mark.parametrize("path", ["sse9", "AVX2", "avx2 ", "-1"])
def test_an_impossible_path_is_one_clear_error(path):
    code = (
        "try:\n    import dpfast\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    done = run(code, path)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("NativeError DPFAST_ISA must be")
    assert repr(path) in line
    assert ", ".join(isa_paths()) in line


@pytest.mark.parametrize("path", isa_paths())
def test_rfc8439_and_stored_streams(path):
    done = probe(path)
    for case, got in zip(rfc()["blocks"], done["keystreams"], strict=False):
        assert got[:128] == case["keystream"], case["section"]
    case = rfc()["encryption"]
    keystream = bytes.fromhex(done["keystreams"][-1])
    text = case["plaintext"].encode()
    assert len(text) == 114
    assert bytes(a ^ b for a, b in zip(text, keystream, strict=False)).hex() == case["ciphertext"]
    assert done["streams"] == [v["sha256"] for v in stored_streams()]


@pytest.mark.full
def test_the_comparison_of_paths_catches_what_depends_on_them(monkeypatch):
    """And a wish that is not followed: all paths would be one."""
    assert on_every_path("print(6 * 7)") == "42"
    if len(isa_paths()) > 1:
        with pytest.raises(ValueError, match="too many values"):
            on_every_path("from dpfast._kernels.rng import isa; print(isa())")
        monkeypatch.setattr(paths, "run", lambda code, path: run(code, None))
        with pytest.raises(AssertionError):
            on_every_path("print(6 * 7)")
