"""Random bits: the stream against its plain twin, key erasure, no state that is used twice."""

import copy
import functools
import hashlib
import json
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpfast import rng as rng_module
from dpfast._kernels import rng as native
from dpfast._kernels.rng import BitStream, chacha_group, inspect
from dpfast.errors import ArgumentError, ArgumentTypeError, EntropyError
from dpfast.rng import InsecureGenerator, SecureGenerator, check, default_generator

from .reference import rng as chacha20
from .support.faulty_rng import ProcessGlobal
from .support.lazy import stats
from .support.names import shown
from .support.paths import program

ROOT = Path(__file__).parents[1]
KEY = bytes(range(32))
REFILL = 64 * chacha20.REFILL_BLOCKS - 32
EXPECTED = b"".join(islice(chacha20.stream(KEY), 5))

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.mark.parametrize("counter", [0, 1, 2**32 - 20, 2**32 - 5])
def test_group_equals_the_plain_twin(counter):
    nonce, out = bytes(range(100, 112)), np.zeros(1024, np.uint8)
    key, words = (np.frombuffer(one, "<u4").astype(np.uint32) for one in (KEY, nonce))
    chacha_group(key, counter, words, out)
    blocks = out.view("<u4").reshape(16, 16).T
    for b in range(16):
        assert blocks[b].tobytes() == chacha20.block(KEY, (counter + b) % 2**32, nonce)


SIZES = st.integers(0, 40) | st.integers(0, 3 * REFILL) | st.sampled_from([REFILL, REFILL + 1])


@given(st.lists(SIZES, max_size=12), st.integers(0, 7))
@example([3 * REFILL, 8192, 8192], 0)
def test_the_stream_equals_the_plain_twin_however_requests_are_cut(sizes, offset):
    stream, at = BitStream(KEY), 0
    for i, size in enumerate(sizes):
        size = min(size, len(EXPECTED) - at)
        if i % 2:
            got = stream.take(size)
        else:
            room = np.full(offset + size + 8, 7, np.uint8)
            stream.fill(room[offset : offset + size])
            assert (room[:offset] == 7).all() and (room[offset + size :] == 7).all()
            got = room[offset : offset + size].tobytes()
        assert got == EXPECTED[at : at + size]
        at += size
    words = BitStream(KEY)
    assert all(words.word() == int.from_bytes(EXPECTED[i : i + 8], "little") for i in (0, 8, 16))


def test_used_keys_and_used_bytes_are_gone():
    stream, key = BitStream(KEY), KEY
    for _ in range(3):
        following, out = chacha20.refill(key)
        assert stream.take(1000) == out[:1000]
        held, at, buffer = inspect(stream)
        assert held == following != key and at == 32 + 1000
        assert buffer[:at] == bytes(at), "the next key and the used bytes must be wiped"
        assert buffer[at:] == out[1000:] and key not in buffer and held not in buffer
        assert stream.take(REFILL - 1000) == out[1000:]
        assert inspect(stream)[2] == bytes(REFILL + 32)
        key = following


def test_the_key_from_the_system_is_wiped(monkeypatch):
    given_out = []

    def urandom(n):
        given_out.append(hashlib.shake_256(b"test").digest(n))
        return given_out[-1]

    monkeypatch.setattr(os, "urandom", urandom)
    expected = next(chacha20.stream(hashlib.shake_256(b"test").digest(32)))
    assert SecureGenerator().bytes(100) == expected[:100] and [bytes(32)] == given_out


# Primes a generator, forks three children, and prints what all five draws gave.
FORK = """
import ctypes, json, os
from dpfast._kernels.rng import witnesses
from dpfast.rng import InsecureGenerator, SecureGenerator, default_generator
from tests.support.faulty_rng import ProcessGlobal

rng = {make}
draws, seen = [rng.bytes(16).hex()], [witnesses()]
for _ in range(3):
    back, to = os.pipe()
    child = {fork}
    if child == 0:
        os.write(to, json.dumps([rng.bytes(16).hex(), witnesses()]).encode())
        os._exit(0)
    os.close(to)
    with os.fdopen(back) as pipe:
        draw, witness = json.load(pipe)
    os.waitpid(child, 0)
    draws.append(draw)
    seen.append(witness)
print(json.dumps([[*draws, rng.bytes(16).hex()], seen]))
"""
PLAIN, PAST_HOOKS = "os.fork()", "ctypes.PyDLL(None).fork()"


@functools.cache
def run(code):
    """A process of its own, because a fork of a test runner with threads is a warning."""
    done = program(code)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_fork
@pytest.mark.parametrize("make, fork, different", [
    ("SecureGenerator()", PLAIN, 5), ("SecureGenerator()", PAST_HOOKS, 5),
    pytest.param("default_generator()", PLAIN, 5, marks=pytest.mark.full),
    pytest.param("default_generator()", PAST_HOOKS, 5, marks=pytest.mark.full),
    ("ProcessGlobal()", PLAIN, 2),  # planted
])  # fmt: skip
def test_forked_children_draw_other_bits(make, fork, different):
    assert len({*run(FORK.format(make=make, fork=fork))[0]}) == different


@needs_fork
@pytest.mark.parametrize("fork, seen", [(PLAIN, 1), (PAST_HOOKS, 0)])
def test_each_witness_sees_a_fork_alone(fork, seen):
    """A fork that goes past Python's hooks is seen by the first witness only."""
    code = FORK.format(make="SecureGenerator()", fork=fork)
    _, ((process, forks), *children) = run(code)
    assert all(p != process and f == forks + seen for p, f in children)


def test_a_reused_process_id_does_not_deceive():
    """As in a child with the id of its dead grandparent: only the count of forks differs."""
    secure, seeded = SecureGenerator(), InsecureGenerator(1)
    before, seeded_before = secure.stream(), seeded.stream()
    assert secure.stream() is before and before.here()
    process, forks = native.witnesses()
    native.forked()
    assert native.witnesses() == (process, forks + 1) and not before.here()
    assert secure.stream() is not before and secure.stream().here()
    assert seeded.stream() is seeded_before


@needs_fork
def test_a_seeded_generator_repeats_in_children_as_documented():
    draws, _ = run(FORK.format(make="InsecureGenerator(5)", fork=PLAIN))
    twin = InsecureGenerator(5).bytes(32)
    assert draws == [twin[:16].hex(), *[twin[16:].hex()] * 4]


def draw_in_threads(rng, threads, size):
    barrier = threading.Barrier(threads)

    def work(_):
        barrier.wait()
        return b"".join(rng.bytes(size // 16) for _ in range(16))

    with ThreadPoolExecutor(threads) as team:
        return list(team.map(work, range(threads)))


def test_threads_draw_from_streams_of_their_own():
    assert len(set(draw_in_threads(SecureGenerator(), 6, 1600))) == 6


def test_threads_of_a_seeded_generator_get_the_documented_streams():
    size, keys = 16 * 600, [chacha20.insecure_key(9, k) for k in range(4)]
    expected = {b"".join(islice(chacha20.stream(key), 2))[:size] for key in keys}
    assert set(draw_in_threads(InsecureGenerator(9), 4, size)) == expected


def copies(rng):
    pickled = [pickle.loads(pickle.dumps(rng, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [copy.copy(rng), copy.deepcopy(rng), *pickled]


@pytest.mark.parametrize("kind, differ", [(SecureGenerator, True), (ProcessGlobal, False)])
def test_copies_and_pickles_are_independent_and_state_that_travels_is_caught(kind, differ):
    rng = kind()
    empty = pickle.dumps(rng)
    rng.bytes(8)
    draws = [g.bytes(16) for g in (rng, *copies(rng), *copies(rng))]
    assert (len(set(draws)) == len(draws)) is differ
    assert not differ or pickle.dumps(rng) == empty  # which holds no key


def test_copies_of_a_seeded_generator_start_again():
    rng = InsecureGenerator(3)
    first = rng.bytes(16)
    assert {g.bytes(16) for g in copies(rng)} == {first} and rng.bytes(16) != first


@pytest.mark.parametrize("attempt", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_bit_stream_cannot_be_copied(attempt):
    with pytest.raises(TypeError, match="neither pickled nor copied"):
        attempt(BitStream(KEY))


# The generator comes once by pickle and once as the module's own default.
POOL = """
import json, multiprocessing
from operator import methodcaller
from dpfast.rng import SecureGenerator, default_generator
from tests.support.faulty_rng import ProcessGlobal

rng = {make}
if __name__ == "__main__":
    default = "__import__('dpfast.rng').rng.default_generator().bytes(16)"
    draws = [rng.bytes(16), default_generator().bytes(16)]
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        draws += pool.map(methodcaller("bytes", 16), [rng] * 6, chunksize=1)
        draws += pool.map(eval, [default] * 6, chunksize=1)
    print(json.dumps([draw.hex() for draw in draws]))
"""


@pytest.mark.full
@pytest.mark.parametrize("make, differ", [("SecureGenerator()", True), ("ProcessGlobal()", False)])
@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=needs_fork)])
def test_pool_workers_draw_other_bits_and_state_that_travels_is_caught(make, differ, method):
    draws = run(POOL.format(make=make, method=method))
    assert len(draws) == 14 and (len(set(draws)) == 14) is differ


def no_entropy(n):
    raise OSError("no entropy")


def no_source(n):
    raise NotImplementedError("no source")


@pytest.mark.parametrize(
    "urandom",
    [no_entropy, no_source, lambda n: b"", lambda n: os.getrandom(n - 1), lambda n: b"\7" * n],
    ids=["error", "missing", "nothing", "short", "constant"],
)
def test_without_entropy_there_is_no_output(monkeypatch, urandom):
    if not hasattr(os, "getrandom"):
        monkeypatch.setattr(os, "getrandom", lambda n: KEY[:n], raising=False)
    fresh, used = SecureGenerator(), SecureGenerator()
    used.bytes(8)
    native.forked()
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", urandom)
        for rng in (fresh, used):
            for call in (rng.stream, rng.random_raw, lambda rng=rng: rng.bytes(8)):
                with pytest.raises(EntropyError, match="nothing was released"):
                    call()
    assert fresh.bytes(16) != used.bytes(16)


VECTORS = json.loads((ROOT / "tests/reference/vectors/insecure_stream.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['seed'][:10]}-{v['thread']}")
def test_seeded_streams_equal_the_stored_vectors(vector):
    rng = InsecureGenerator(int(vector["seed"], 16))
    for _ in range(vector["thread"]):
        draw_in_threads(rng, 1, 16)
    data = rng.bytes(vector["bytes"])
    assert data[:32].hex() == vector["first"]
    assert hashlib.sha256(data).hexdigest() == vector["sha256"]


@pytest.mark.full
def test_the_stored_vectors_come_from_their_program():
    from .reference.vectors.make_insecure_stream import vectors

    assert vectors() == VECTORS


def test_a_seeded_generator_says_that_it_is_not_private():
    assert "not private" in repr(InsecureGenerator(42))
    assert "42" in repr(InsecureGenerator(42))
    assert "20001 bits" in repr(InsecureGenerator(2**20000))
    assert InsecureGenerator(0).private is False
    assert SecureGenerator().private is True
    for rng in (InsecureGenerator(0), SecureGenerator()):
        with pytest.raises(AttributeError):
            rng.private = True


def test_bytes_and_random_raw_are_one_stream():
    rng, words = InsecureGenerator(11), np.frombuffer(InsecureGenerator(11).bytes(8 * 32), "<u8")
    assert rng.random_raw() == words[0]
    table = rng.random_raw((5, 6))
    assert table.dtype == np.uint64 and (table == words[1:31].reshape(5, 6)).all()
    assert rng.random_raw(1).tolist() == [int(words[31])]
    assert [rng.random_raw(empty).size for empty in (0, (0,), (3, 0))] == [0, 0, 0]
    assert rng.random_raw(()).shape == () and rng.bytes(0) == b""


RNG = SecureGenerator()
LEAST = "must be an integer of at least 0"


@pytest.mark.parametrize(
    "call, bad, kind, said",
    [
        *((InsecureGenerator, seed, ArgumentError, f"seed {LEAST}") for seed in (-1, np.int64(-7))),
        *((InsecureGenerator, seed, ArgumentTypeError, "seed must be an integer")
          for seed in (None, 1.0, "1", True, b"1")),
        *((RNG.random_raw, size, ArgumentError, f"size {LEAST}") for size in (-1, (2, -3))),
        (RNG.random_raw, 2.0, ArgumentTypeError, "size must be an integer"),
        (RNG.bytes, "8", ArgumentTypeError, "n must be an integer"),
        (RNG.bytes, -8, ArgumentError, f"n {LEAST}"),
        *((check, rng, ArgumentTypeError, "rng must be None, a dpfast")
          for rng in (42, np.random.default_rng(1), SecureGenerator, "secure", False)),
        (SecureGenerator, 1, TypeError, "argument"),
    ],
    ids=shown,
)  # fmt: skip
def test_bad_seeds_sizes_and_generators(call, bad, kind, said):
    with pytest.raises(kind, match=said):
        call(bad)


def test_check():
    rng = InsecureGenerator(1)
    assert check(None) is default_generator() is rng_module.default_generator()
    assert check(rng) is rng
    assert isinstance(default_generator(), SecureGenerator)


def p_of_bits(data):
    ones = int(np.unpackbits(data).sum())
    return float(2 * stats.norm.sf(abs(2 * ones - 8 * data.size) / (8 * data.size) ** 0.5))


def p_of_bytes(data):
    return float(stats.chisquare(np.bincount(data, minlength=256)).pvalue)


def p_of_pairs(data):
    """Bytes that are 1024 apart: lanes or groups that repeat one another."""
    equal = int((data[1024:] == data[:-1024]).sum())
    return float(stats.binomtest(equal, data.size - 1024, 1 / 256).pvalue)


def test_bits_look_uniform_and_small_faults_do_not():
    data = np.frombuffer(InsecureGenerator(12345).bytes(1 << 20), np.uint8)
    for p in (p_of_bits, p_of_bytes, p_of_pairs):
        assert p(data) > 1e-4
    where = np.arange(0, data.size, 40)
    high, zero, echo = data.copy(), data.copy(), data.copy()
    high[where] |= 1
    zero[where] = 0
    echo[1024 + where[:-26]] = echo[where[:-26]]
    assert p_of_bits(high) < 1e-4
    assert p_of_bytes(zero) < 1e-4
    assert p_of_pairs(echo) < 1e-4
