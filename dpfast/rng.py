"""Generators of random bits: a secure one for releases and a seeded one for tests.

Every bit is output of ChaCha20 (the block function of RFC 8439; its use is described in
``csrc/rng/rng.h``). A generator gives each thread its own stream, so threads need no lock and
kernels need no GIL. Ask for the stream at the start of an operation, and do not store it::

    stream = generator.stream()
"""

from __future__ import annotations

import builtins
import itertools
import os
import threading
from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from ._core import checks
from ._kernels.rng import BitStream, wipe
from .errors import EntropyError

if TYPE_CHECKING:
    from ._kernels.bit_generator import ChaCha20

__all__ = [
    "Generator",
    "InsecureGenerator",
    "SecureBitGenerator",
    "SecureGenerator",
    "check",
    "default_generator",
]


class Generator(ABC):
    """Base class of the generators of random bits that every ``rng=`` argument accepts.

    Attributes
    ----------
    private : bool
        Whether its noise may be released. If it is False, a budget refuses the generator.

    Examples
    --------
    >>> isinstance(SecureGenerator(), Generator), isinstance(InsecureGenerator(1), Generator)
    (True, True)
    """

    __slots__ = ()
    private: ClassVar[bool] = False

    @abstractmethod
    def stream(self) -> BitStream:
        """Return the stream of random bits of this thread in this process, ready to use.

        Returns
        -------
        BitStream
            A stream for one operation of the calling thread.

        Examples
        --------
        >>> len(SecureGenerator().stream().take(16))
        16
        """

    def bytes(self, n: int) -> builtins.bytes:
        """Return random bytes.

        NOT PRIVATE by itself: these are random bits, and not noise for a release.

        Parameters
        ----------
        n : int
            The number of bytes.

        Returns
        -------
        bytes
            Uniform and independent bytes.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `n` is not a nonnegative integer.
        EntropyError
            If the operating system gives no key.

        Notes
        -----
        Cost: about 0.15 ns a byte with AVX-512, and more from some megabytes on, for fresh memory.

        Examples
        --------
        >>> InsecureGenerator(1).bytes(4).hex()
        '5608836e'
        """
        (number,) = checks.shape("n", checks.whole("n", n), "a number of bytes")
        return self.stream().take(number)

    @overload
    def random_raw(self, size: None = None) -> int: ...
    @overload
    def random_raw(self, size: int | tuple[int, ...]) -> npt.NDArray[np.uint64]: ...
    def random_raw(self, size: int | tuple[int, ...] | None = None) -> int | npt.NDArray[np.uint64]:
        """Return uniform 64-bit integers, like the method of NumPy's bit generators.

        NOT PRIVATE by itself: these are random bits, and not noise for a release.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape of the result. By default one ``int`` is returned.

        Returns
        -------
        int or ndarray of uint64
            Each integer is eight bytes of the stream, low byte first.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `size` is not a shape.
        EntropyError
            If the operating system gives no key.

        Notes
        -----
        Cost: about 1.3 ns a number with AVX-512.

        Examples
        --------
        >>> InsecureGenerator(1).random_raw(2)
        array([10727542346809018454,  2495912885483689308], dtype=uint64)
        """
        if size is None:
            return self.stream().word()
        words = np.empty(checks.shape("size", size, "an integer, or a tuple of them"), "<u8")
        self.stream().fill(words.reshape(-1).view(np.uint8))
        return words.astype(np.uint64, copy=False)


def _key_from_system() -> bytes:
    try:
        key = os.urandom(32)
    except (OSError, NotImplementedError) as error:
        raise EntropyError(
            f"the operating system gave no random bytes ({error}); nothing was released"
        ) from error
    # A working source returns 32 equal bytes with probability 2**-248.
    if len(key) != 32 or key.count(key[:1]) == 32:
        raise EntropyError(
            f"the operating system gave {len(key)} random bytes instead of 32 or a constant; "
            "nothing was released"
        )
    return key


class _ThreadStream(threading.local):
    """The stream of random bits of one thread."""

    stream: BitStream | None = None


class SecureGenerator(Generator):
    """Generator of random bits that nobody can predict: ChaCha20 keyed by the operating system.

    It takes no seed. Each thread has its own stream with its own key from ``os.urandom``. Each
    refill of the buffer replaces the key, and used bytes are wiped. So somebody who reads the
    memory later learns no past output. A forked child notices the fork and takes a new key before
    its first bit. (It notices by a mark of the kernel or by its process id, and by a count of
    forks, because an id may be reused.) A pickle or a copy has no state: it makes a new,
    independent generator.

    A process cannot notice that it was restored from an image (a snapshot of a virtual machine,
    CRIU). If an image is restored twice, both processes would draw the same bits: make a new
    generator after a restore.

    Notes
    -----
    Cost: 8 KB a thread, and about 0.1 microseconds for `stream`.

    Examples
    --------
    >>> rng = SecureGenerator()
    >>> rng.bytes(16) == rng.bytes(16)
    False
    """

    __slots__ = ("_local",)
    private = True

    def __init__(self) -> None:
        self._local = _ThreadStream()

    def stream(self) -> BitStream:
        stream = self._local.stream
        if stream is not None and stream.here():
            return stream
        key = _key_from_system()
        try:
            stream = self._local.stream = BitStream(key)
        finally:
            wipe(key)
        return stream

    def __reduce__(self) -> tuple[type[SecureGenerator], tuple[()]]:
        return type(self), ()

    def __repr__(self) -> str:
        return "SecureGenerator()"


class InsecureGenerator(Generator):
    """Generator of reproducible bits from a seed: NOT PRIVATE, for tests and teaching.

    Anyone who knows or guesses the seed can subtract the noise. A budget refuses this generator.

    The bits are the same on every platform and instruction set. With several threads they depend on
    the order in which the threads first draw. Thread k (k = 0, 1, ... in this order) gets the
    ChaCha20 stream with the key ``SHA-256(b"dpfast insecure stream" + k + seed)``, where k has 8
    bytes, low byte first, and the seed as few bytes as it needs, high byte first.

    A pickle or a copy has only the seed, and starts from the beginning. A forked child and its
    parent continue from the same point, and draw the same bits.

    Parameters
    ----------
    seed : int
        A nonnegative integer of any size.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `seed` is not a nonnegative integer.

    Examples
    --------
    >>> InsecureGenerator(7).random_raw() == InsecureGenerator(7).random_raw()
    True
    >>> InsecureGenerator(7)
    InsecureGenerator(seed=7, not private)
    """

    __slots__ = ("_local", "_seed", "_threads")
    private = False

    def __init__(self, seed: int) -> None:
        self._seed = checks.whole("seed", seed)
        self._threads = itertools.count()
        self._local = _ThreadStream()

    def stream(self) -> BitStream:
        stream = self._local.stream
        if stream is None:
            import hashlib  # imported here: rarely needed, and slow to load

            seed, k = self._seed, next(self._threads)
            text = b"dpfast insecure stream" + k.to_bytes(8, "little")
            text += seed.to_bytes((seed.bit_length() + 7) // 8, "big")
            stream = self._local.stream = BitStream(hashlib.sha256(text).digest())
        return stream

    def __reduce__(self) -> tuple[type[InsecureGenerator], tuple[int]]:
        return type(self), (self._seed,)

    def __repr__(self) -> str:
        bits = self._seed.bit_length()
        seed = str(self._seed) if bits <= 256 else f"<{bits} bits>"
        return f"InsecureGenerator(seed={seed}, not private)"


def SecureBitGenerator() -> ChaCha20:
    """Return a bit generator for NumPy's own `Generator`, with bits that nobody can predict.

    Use it for simulations and samples, and not for noise. NOT PRIVATE: the distributions of NumPy
    are NOT EXACT. The low bits of their Laplace or normal numbers reveal the number that the noise
    was added to (Mironov, CCS 2012). For noise, use `generator` or a release of dpfast.

    It takes no seed, shows no state, and cannot be pickled or copied. ``spawn`` does not work. Its
    key is from ``os.urandom``, and each refill of the buffer replaces it. A forked child takes a
    new key before its first bit, and ends if there is none.

    Returns
    -------
    BitGenerator
        A bit generator of NumPy. Threads that share it wait for one another, as with NumPy's own.

    Raises
    ------
    EntropyError
        If the operating system gives no key.

    Notes
    -----
    Cost: about 10 ns a uniform number, four times PCG64; a normal number takes a third more than
    with PCG64.

    Examples
    --------
    >>> SecureBitGenerator().random_raw(3).shape
    (3,)
    """
    # Imported here, because it loads NumPy's generators.
    from ._kernels.bit_generator import ChaCha20

    return ChaCha20(_key_from_system)


def branch(stream: BitStream) -> BitStream:
    """Return a new stream of random bits, whose key is drawn from another stream.

    With such streams, parts of a release can be drawn in any order and by any threads, with the
    same bits.

    Parameters
    ----------
    stream : BitStream

    Returns
    -------
    BitStream
        Only one thread at a time may use it.
    """
    key = stream.take(32)
    try:
        return BitStream(key)
    finally:
        wipe(key)


#: Names of other modules that can also be imported from this module.
above = {"generator": "dpfast.noise"}


def __getattr__(name: str) -> Any:
    if name not in above:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(above[name]), name)


_default = SecureGenerator()


def default_generator() -> SecureGenerator:
    """Return the secure generator that is used where `rng` is None.

    Returns
    -------
    SecureGenerator
        The same object at each call.

    Examples
    --------
    >>> default_generator().private
    True
    """
    return _default


def check(rng: object) -> Generator:
    """Return the generator for an ``rng`` argument. None means the default.

    Parameters
    ----------
    rng : Generator, optional

    Returns
    -------
    Generator
        `rng`, or the return value of `default_generator` if it is None.

    Raises
    ------
    ArgumentTypeError
        If `rng` is neither None nor a `Generator`. Seeds and NumPy generators are refused.

    Examples
    --------
    >>> check(None) is default_generator()
    True
    """
    if rng is None:
        return _default
    if not isinstance(rng, Generator):
        rule = "None, a dpfast.rng.SecureGenerator or a dpfast.rng.InsecureGenerator"
        checks.fail_type("rng", rule, rng)
    return rng
