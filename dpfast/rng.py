"""Generators of random bits: a secure one for releases and a seeded one for tests.

Every bit is ChaCha20 output (RFC 8439 block function, layout in ``csrc/rng/rng.h``). A generator
gives each thread its own stream, so no lock is needed and kernels run without the GIL. Request a
stream at the start of an operation, and do not keep it::

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
        Whether its noise may be released. A budget refuses a generator where this is False.

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
            It is for one operation of the calling thread.

        Examples
        --------
        >>> len(SecureGenerator().stream().take(16))
        16
        """

    def bytes(self, n: int) -> builtins.bytes:
        """Return random bytes.

        NOT PRIVATE by itself: raw randomness, no mechanism.

        Parameters
        ----------
        n : int
            The number of bytes.

        Returns
        -------
        bytes
            Uniform and independent.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `n` is not a nonnegative integer.
        EntropyError
            If the operating system gives no key.

        Notes
        -----
        Cost: about 0.15 ns a byte with AVX-512. From some megabytes on, fresh memory costs more.

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

        NOT PRIVATE by itself: raw randomness, no mechanism.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape of the result. By default one ``int`` is returned.

        Returns
        -------
        int or ndarray of uint64
            Eight bytes of the stream each, low byte first.

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

    It takes no seed. Each thread has its own stream with its own key from ``os.urandom``. The key
    is replaced at every refill and used bytes are wiped, so memory that is read later gives no past
    output. A forked child notices the fork (by a mark of the kernel or by its process id, and by a
    count of forks, so a reused id does not deceive it) and takes a new key before its first bit.
    Pickles and copies carry no state: unpickling makes a new, independent generator.

    A process image that is restored twice from outside (a virtual machine snapshot, CRIU) cannot be
    noticed from inside. Make a new generator after a restore.

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

    Whoever knows or guesses the seed can subtract the noise. A budget refuses this generator.

    The k-th thread that draws (k = 0, 1, ...) gets the ChaCha20 stream with the key
    ``SHA-256(b"dpfast insecure stream" + k as 8 bytes + seed)``, k low byte first, the seed high
    byte first in as few bytes as hold it. The bits are the same on every platform and instruction
    set. With several threads they depend on which thread draws first.

    A pickle or a copy holds the seed alone and starts from the beginning. A forked child continues
    where its parent was, and both draw the same bits from there.

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

    NOT PRIVATE by itself, and NumPy's distributions on it are NOT EXACT: the low bits of its
    Laplace or normal numbers reveal the numbers that they were added to (Mironov, CCS 2012). Use it
    for simulations and samples; noise for a release comes from `generator` or a release of dpfast.

    It takes no seed, shows no state, and can be neither pickled, copied nor spawned from. Its key
    is from ``os.urandom`` and replaced at every refill. A forked child takes a new key before its
    first bit, and ends if there is none.

    Returns
    -------
    BitGenerator
        A bit generator of NumPy; threads that share it wait for one another, as for NumPy's.

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
    """Return a stream of random bits with a key from another stream, independent of its bits.

    So parts of a release can be drawn in any order, by any threads, with the same bits.

    Parameters
    ----------
    stream : BitStream

    Returns
    -------
    BitStream
        It must be used by one thread at a time.
    """
    key = stream.take(32)
    try:
        return BitStream(key)
    finally:
        wipe(key)


#: Names that users may look for in this module, and the module that has them.
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
        It returns the same object at each call.

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
        The given generator, or the return value of `default_generator`.

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
