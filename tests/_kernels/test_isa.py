"""The choice of instruction set: every path gives the same bits; what an unbuilt checkout says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import dpfast
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
@pytest.mark.parametrize("path", isa_paths()[::-1])
def test_rfc8439_and_stored_streams(path):
    done = probe(path)
    assert done["isa"] == path
    for case, got in zip(rfc()["blocks"], done["keystreams"], strict=False):
        assert got[:128] == case["keystream"], case["section"]
    case = rfc()["encryption"]
    keystream, text = bytes.fromhex(done["keystreams"][-1]), case["plaintext"].encode()
    assert len(text) == 114
    assert bytes(a ^ b for a, b in zip(text, keystream, strict=False)).hex() == case["ciphertext"]
    assert done["streams"] == [v["sha256"] for v in stored_streams()]


@pytest.mark.full
@pytest.mark.parametrize("path", [None, "", "sse9", "AVX2", "avx2 ", "-1"])
def test_an_impossible_path_is_one_clear_error_and_none_is_the_best(path):
    code = """if True:
        try:
            from dpfast._kernels.rng import isa; print(isa())
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = run(code, path)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    if path:
        assert line.startswith("NativeError DPFAST_ISA must be")
        assert repr(path) in line and ", ".join(isa_paths()) in line
    else:
        assert line == isa_paths()[-1]


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


PACKAGE = Path(dpfast.__file__).parent


@pytest.mark.full
@pytest.mark.parametrize("built", [False, True])
def test_an_unbuilt_checkout_says_how_to_build_it_and_a_broken_kernel_does_not(tmp_path, built):
    ignore = None if built else shutil.ignore_patterns("*.so", "*.pyd")
    shutil.copytree(PACKAGE, tmp_path / "dpfast", ignore=ignore)
    for kernel in (tmp_path / "dpfast" / "_kernels").glob("rng.*.*") if built else ():
        kernel.write_bytes(b"")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import dpfast"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    how = "dpfast is not built: run pip install -e . where its setup.py is"
    assert done.returncode == 1 and (how in done.stderr) is not built
    if not built:
        assert done.stderr.splitlines()[-1] == f"ImportError: {how}"
        assert "During handling" not in done.stderr and "direct cause" not in done.stderr
