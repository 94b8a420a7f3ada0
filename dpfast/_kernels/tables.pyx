"""Rows that a mask keeps, common bits of sets, ends of records in text, and words of keys (see
csrc/tables and csrc/core/both.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

cimport numpy as cnp

from .core cimport check_status
from .rng cimport dpf_wipe

cnp.import_array()

cdef extern from "tables/pick.h" nogil:
    size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out)

cdef extern from "tables/records.h" nogil:
    size_t dpf_records(const uint8_t *x, size_t n, uint8_t delimiter, int quotes, int empty, int last,
                       size_t *rows)

cdef extern from "core/both.h" nogil:
    int dpf_both(const uint64_t *words, size_t sets, size_t stride, const uint64_t *bits, size_t n,
                 int64_t *counts)


def lies_in_place(cnp.ndarray values not None) -> bool:
    """Return whether kernels can read an array without a copy, as a column of numbers."""
    return kind_in_place(values) >= 0


def pick(cnp.ndarray values not None, const uint8_t[::1] keep not None,
         cnp.ndarray out not None) -> int:
    """Write the values whose `keep` is not 0 to the beginning of `out` and return how many.

    Both are contiguous, of one dtype of 1, 2, 4 or 8 bytes; `out` has room for all values.
    """
    cdef size_t size = values.itemsize, n = keep.shape[0], found
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef void *y = cnp.PyArray_DATA(out)
    if values.ndim != 1 or out.ndim != 1 or values.dtype != out.dtype or values.dtype.hasobject:
        raise ValueError("values and out must be one-dimensional and of one dtype")
    if size not in (1, 2, 4, 8) or not (
            values.flags.c_contiguous and values.flags.aligned and out.flags.carray):
        raise ValueError("values and out must be contiguous, of 1, 2, 4 or 8 bytes each")
    if <size_t>values.shape[0] != n or <size_t>out.shape[0] < n:
        raise ValueError("keep must be as long as values, and out no shorter")
    if n == 0:
        return 0
    with nogil:
        found = dpf_pick(size, x, &keep[0], n, y)
    return found


def both(const uint64_t[:, ::1] words not None, size_t first, const uint64_t[::1] bits not None,
         int64_t[::1] counts not None):
    """Write how many bits each row of `words`, from word `first` on, has in common with `bits`."""
    cdef size_t sets = words.shape[0], stride = words.shape[1], n = bits.shape[0]
    cdef int status
    if first > stride or n > stride - first or <size_t>counts.shape[0] != sets:
        raise ValueError("there must be words for all bits, and a count for each row")
    if sets == 0 or n == 0:
        counts[:] = 0
        return
    with nogil:
        status = dpf_both(&words[0, first], sets, stride, &bits[0], n, &counts[0])
    check_status(status)


def records(const uint8_t[::1] data not None: Buffer, uint8_t delimiter, bint quotes, bint empty,
            bint last) -> tuple[int, int]:
    """Return how many bytes of text are whole records, and the number of these records.

    Empty lines count only with `empty`. `last` says that the text ends here: then all of it is whole
    records, unless a quote is open.
    """
    cdef size_t n = data.shape[0], rows = 0, end
    if n == 0:
        return 0, 0
    with nogil:
        end = dpf_records(&data[0], n, delimiter, quotes, empty, last, &rows)
    return end, rows


# --- words of keys --------------------------------------------------------------------------------

TEXT = DPF_KEY_TEXT
BYTES = DPF_KEY_BYTES


cdef class Key:
    """32 secret bytes, on which labels, words of text and hashes depend. Overwritten at the end."""

    def __cinit__(self, const uint8_t[::1] key not None: Buffer):
        cdef int i
        if key.shape[0] != 32:
            raise ValueError(f"key must have 32 bytes, got {key.shape[0]}")
        for i in range(8):
            self.words[i] = (key[4 * i] | <uint32_t>key[4 * i + 1] << 8
                             | <uint32_t>key[4 * i + 2] << 16 | <uint32_t>key[4 * i + 3] << 24)
        self.sip.k0 = self.words[0] | <uint64_t>self.words[1] << 32
        self.sip.k1 = self.words[2] | <uint64_t>self.words[3] << 32

    def __dealloc__(self):
        dpf_wipe(self.words, sizeof(self.words))
        dpf_wipe(&self.sip, sizeof(self.sip))

    def __reduce__(self):
        raise TypeError("a key can be neither pickled nor copied: it is a secret")


cdef size_t _rows(const uint64_t[::1] low, const uint64_t[::1] high) except? 0:
    if low.shape[0] != high.shape[0]:
        raise ValueError("low and high must be of one length")
    return low.shape[0]


def byte_words(Key key not None, const uint8_t[::1] data not None: Buffer,
               const int64_t[::1] first not None, unsigned kind, uint64_t[::1] low not None,
               uint64_t[::1] high not None):
    """Write the words of ``data[first[i]:first[i + 1]]``; `kind` is `TEXT` or `BYTES`."""
    cdef size_t i, n = _rows(low, high)
    cdef uint8_t none = 0
    cdef const uint8_t *bytes_ = &data[0] if data.shape[0] else &none
    cdef bint good
    if <size_t>first.shape[0] != n + 1:
        raise ValueError("first must have one place more than words")
    good = first[0] >= 0 and first[n] <= data.shape[0]
    with nogil:
        for i in range(n):
            good &= first[i] <= first[i + 1]
        if good and n:
            dpf_keys_bytes(&key.sip, bytes_, &first[0], kind, n, &low[0], &high[0])
    if not good:
        raise ValueError("first must not fall, and stay inside data")


def view_words(Key key not None, const uint8_t[::1] views not None: Buffer,
               const uint64_t[::1] addresses not None, const int64_t[::1] sizes not None,
               const uint8_t[::1] present, unsigned kind, uint64_t[::1] low not None,
               uint64_t[::1] high not None):
    """Write the words of Arrow's views of 16 bytes; longer texts are in `buffers`.

    A `present` of None means that all rows are present. The view of any other row is not read.
    """
    cdef size_t n = _rows(low, high), count = sizes.shape[0]
    cdef bint good
    cdef const uint64_t *at = NULL
    cdef const int64_t *most = NULL
    cdef const uint8_t *mask = NULL
    if <size_t>views.shape[0] != 16 * n or <size_t>addresses.shape[0] != count or (
            present is not None and <size_t>present.shape[0] != n):
        raise ValueError("views and present must be those of the words, addresses those of sizes")
    if n == 0:
        return
    if count:
        at, most = &addresses[0], &sizes[0]
    if present is not None:
        mask = &present[0]
    with nogil:
        good = dpf_keys_views(&key.sip, &views[0], <const uint8_t *const *>at, most, count, mask, kind, n,
                              &low[0], &high[0])
    if not good:
        raise ValueError("views must stay inside their buffers")


def padded_words(Key key not None, const uint8_t[::1] data not None, Py_ssize_t width,
                 uint64_t[::1] low not None, uint64_t[::1] high not None):
    """Write the words of byte strings of `width` bytes, padded with zeros (NumPy's ``S``)."""
    cdef size_t n = _rows(low, high)
    if width < 1 or <size_t>data.shape[0] != n * <size_t>width:
        raise ValueError("data must have width bytes for each word")
    if n:
        with nogil:
            dpf_keys_padded(&key.sip, &data[0], width, n, &low[0], &high[0])


def text_words(Key key not None, const uint32_t[::1] codes not None, Py_ssize_t width,
               uint64_t[::1] low not None, uint64_t[::1] high not None):
    """Write the words of texts of `width` code points, padded with zeros (NumPy's ``U``)."""
    cdef size_t n = _rows(low, high)
    if width < 1 or <size_t>codes.shape[0] != n * <size_t>width:
        raise ValueError("codes must have width points for each word")
    if n == 0:
        return
    cdef uint8_t *scratch = <uint8_t *>malloc(4 * width)
    if scratch == NULL:
        raise MemoryError()
    with nogil:
        dpf_keys_text(&key.sip, &codes[0], width, scratch, n, &low[0], &high[0])
        dpf_wipe(scratch, 4 * width)
        free(scratch)


def hashes(Key key not None, const uint64_t[::1] low not None, const uint64_t[::1] high,
           uint64_t[::1] out not None):
    """Write SipHash-2-4 of the 16 bytes of each two words; a `high` of None is zeros."""
    cdef size_t n = _rows(low, out)
    cdef const uint64_t *more = NULL
    if high is not None:
        _rows(low, high)
        more = &high[0] if n else NULL
    if n:
        with nogil:
            dpf_keys_hash(&key.sip, &low[0], more, n, &out[0])


def siphash(Key key not None,
            const uint8_t[::1] message not None: Buffer) -> tuple[int, tuple[int, int]]:
    """Return SipHash-2-4 of a message, with 64 bits and with 128, low word first (for tests)."""
    cdef uint64_t high, low
    if message.shape[0] == 0:
        raise ValueError("message must have at least one byte")
    low = dpf_siphash(&key.sip, &message[0], message.shape[0], &high)
    return dpf_siphash(&key.sip, &message[0], message.shape[0], NULL), (low, high)
