"""Generators of random bits: secure ones for releases, a seeded one for tests.

Every bit is ChaCha20 output (RFC 8439 block function, layout in ``csrc/rng/rng.h``). A generator
hands each thread a stream of its own, so nothing here needs a lock and kernels run without the GIL.
A stream is asked for at the start of an operation and not kept::

    stream = generator.stream()
"""

from __future__ import annotations

import builtins
import itertools
import os
import threading
from abc import ABC, abstractmethod
from typing import ClassVar, overload

import numpy as np
import numpy.typing as npt

from ._core import checks
from ._kernels.rng import BitStream, wipe
from .errors import EntropyError

__all__ = ["Generator", "InsecureGenerator", "SecureGenerator", "check", "default_generator"]


class Generator(ABC):
    """What every ``rng=`` argument accepts: a maker of bit streams.

    Attributes
    ----------
    private : bool
        Whether noise drawn from it may be released. A budget refuses a generator where it is false.
    """

    __slots__ = ()
    private: ClassVar[bool] = False

    @abstractmethod
    def stream(self) -> BitStream:
        """Return the stream of this thread in this process, ready to use.

        Returns
        -------
        BitStream
            To be used by the calling thread, for one operation.
        """

    def bytes(self, n: int) -> builtins.bytes:
        """Return random bytes.

        NOT PRIVATE by itself: raw randomness, no mechanism.

        Parameters
        ----------
        n : int
            How many bytes.

        Returns
        -------
        bytes
            Uniform and independent.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `n` is no non-negative integer.
        EntropyError
            If the operating system gives no key.

        Notes
        -----
        About 0.15 ns a byte with AVX-512; from some megabytes on, fresh memory costs more.

        Examples
        --------
        >>> InsecureGenerator(1).bytes(4).hex()
        '5608836e'
        """
        return self.stream().take(checks.whole("n", n))

    @overload
    def random_raw(self, size: None = None) -> int: ...
    @overload
    def random_raw(self, size: int | tuple[int, ...]) -> npt.NDArray[np.uint64]: ...
    def random_raw(self, size: int | tuple[int, ...] | None = None) -> int | npt.NDArray[np.uint64]:
        """Return uniform 64-bit integers, as the method of that name of NumPy's bit generators.

        NOT PRIVATE by itself: raw randomness, no mechanism.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape of the result; a single ``int`` is returned when it is not given.

        Returns
        -------
        int or ndarray of uint64
            Eight bytes of the stream each, low byte first.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `size` is no shape.
        EntropyError
            If the operating system gives no key.

        Notes
        -----
        About 1.3 ns a number with AVX-512.

        Examples
        --------
        >>> InsecureGenerator(1).random_raw(2)
        array([10727542346809018454,  2495912885483689308], dtype=uint64)
        """
        if size is None:
            return self.stream().word()
        shape = size if isinstance(size, tuple) else (size,)
        made = np.empty(tuple(checks.whole("size", length) for length in shape), "<u8")
        self.stream().fill(made.reshape(-1).view(np.uint8))
        return made.astype(np.uint64, copy=False)


def _key_from_system() -> bytes:
    try:
        key = os.urandom(32)
    except (OSError, NotImplementedError) as error:
        raise EntropyError(
            f"the operating system gave no random bytes ({error}); nothing was released"
        ) from error
    # A sound source repeats one byte 32 times with probability 2**-248.
    if len(key) != 32 or key.count(key[:1]) == 32:
        raise EntropyError(
            f"the operating system gave {len(key)} random bytes instead of 32 or a constant; "
            "nothing was released"
        )
    return key


class _Own(threading.local):
    """The stream of one thread."""

    stream: BitStream | None = None


class SecureGenerator(Generator):
    """Random bits that nobody can predict or repeat: ChaCha20 keyed by the operating system.

    It takes no seed. Each thread has its own stream with its own key from ``os.urandom``; the key
    is replaced at every refill and used bytes are wiped, so a later look at the memory gives no
    past output. A forked child notices that it is one (the kernel marks it, or its process id does,
    and a count of forks does again, so a reused id does not deceive it) and takes a new key before
    its first bit. Pickles and copies carry no state: what comes back is a new generator,
    independent of this one.

    A process image that is restored twice from outside (a virtual machine snapshot, CRIU) cannot be
    noticed from inside; make a new generator after a restore.

    Notes
    -----
    The streams hold 8 KB a thread. `stream` costs about 0.1 microseconds.

    Examples
    --------
    >>> rng = SecureGenerator()
    >>> rng.bytes(16) == rng.bytes(16)
    False
    """

    __slots__ = ("_own",)
    private = True

    def __init__(self) -> None:
        self._own = _Own()

    def stream(self) -> BitStream:
        stream = self._own.stream
        if stream is not None and stream.here():
            return stream
        key = _key_from_system()
        try:
            stream = self._own.stream = BitStream(key)
        finally:
            wipe(key)
        return stream

    def __reduce__(self) -> tuple[type[SecureGenerator], tuple[()]]:
        return type(self), ()

    def __repr__(self) -> str:
        return "SecureGenerator()"


class InsecureGenerator(Generator):
    """Reproducible bits from a seed: NOT PRIVATE, for tests and teaching.

    Who knows or guesses the seed subtracts the noise. A budget refuses this generator.

    The k-th thread that draws (k = 0, 1, ...) gets the ChaCha20 stream with the key
    ``SHA-256(b"dpfast insecure stream" + k as 8 bytes + seed)``, k low byte first, the seed high
    byte first in as few bytes as hold it. The bits are the same on every platform and instruction
    set. With several threads they depend on which draws first; with one they depend on nothing.

    A pickle or a copy holds the seed alone and starts again at the beginning. A forked child goes
    on where its parent stood, and both draw the same bits from there.

    Parameters
    ----------
    seed : int
        A non-negative integer of any size.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `seed` is no non-negative integer.

    Examples
    --------
    >>> InsecureGenerator(7).random_raw() == InsecureGenerator(7).random_raw()
    True
    >>> InsecureGenerator(7)
    InsecureGenerator(seed=7, not private)
    """

    __slots__ = ("_own", "_seed", "_threads")
    private = False

    def __init__(self, seed: int) -> None:
        self._seed = checks.whole("seed", seed)
        self._threads = itertools.count()
        self._own = _Own()

    def stream(self) -> BitStream:
        stream = self._own.stream
        if stream is None:
            import hashlib  # seldom needed, and slow to load

            seed, k = self._seed, next(self._threads)
            text = b"dpfast insecure stream" + k.to_bytes(8, "little")
            text += seed.to_bytes((seed.bit_length() + 7) // 8, "big")
            stream = self._own.stream = BitStream(hashlib.sha256(text).digest())
        return stream

    def __reduce__(self) -> tuple[type[InsecureGenerator], tuple[int]]:
        return type(self), (self._seed,)

    def __repr__(self) -> str:
        bits = self._seed.bit_length()
        seed = str(self._seed) if bits <= 256 else f"<{bits} bits>"
        return f"InsecureGenerator(seed={seed}, not private)"


_default = SecureGenerator()


def default_generator() -> SecureGenerator:
    """Return the secure generator that every call without ``rng`` draws from.

    Examples
    --------
    >>> default_generator().private
    True
    """
    return _default


def check(rng: object) -> Generator:
    """Return the generator that an ``rng`` argument stands for; None means the default.

    Raises
    ------
    ArgumentTypeError
        If it is neither None nor a `Generator`; a seed or a NumPy generator is not one.
    """
    if rng is None:
        return _default
    if not isinstance(rng, Generator):
        rule = "None, a dpfast.rng.SecureGenerator or a dpfast.rng.InsecureGenerator"
        checks.fail_type("rng", rule, rng)
    return rng
