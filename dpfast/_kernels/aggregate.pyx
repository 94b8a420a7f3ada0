"""Kernels of sample and aggregate: labels of rows, exact sums, sorting rows into blocks, estimators
of each block (see csrc/aggregate)."""

from libc.stddef cimport size_t
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
)
from libc.stdlib cimport free, malloc

cimport numpy as cnp

from .core cimport check_status, integer
from .rng cimport dpf_wipe
from .tables cimport Key, dpf_keys_key

cnp.import_array()

cdef extern from "aggregate/labels.h" nogil:
    uint32_t DPF_LABELS_MOST
    void dpf_labels_random(const uint32_t *key, uint32_t blocks, uint64_t start, size_t n, uint32_t *out)
    void dpf_labels_keyed(const dpf_keys_key *key, uint32_t blocks, const uint64_t *low,
                          const uint64_t *high, size_t n, uint32_t *out)
    int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks)

cdef extern from "aggregate/sums.h" nogil:
    enum:
        DPF_SUMS_PLANES, DPF_SUMS_NAN, DPF_SUMS_PLUS, DPF_SUMS_MINUS
    ctypedef struct dpf_sums_cell:
        uint64_t low
        uint64_t high
    ctypedef struct dpf_sums:
        size_t blocks
        dpf_sums_cell *planes
        uint8_t *used
        uint8_t *seen
        double *near
        size_t rows
        int e
    size_t DPF_SUMS_NEAR
    void dpf_sums_settle(dpf_sums *sums)
    void dpf_sums_add(dpf_sums *sums, const uint32_t *labels, const double *x, size_t n)
    int dpf_sums_add_run(const dpf_sums *sums, size_t block, const double *x, size_t n)
    int dpf_sums_add_runs(const dpf_sums *sums, size_t first, size_t runs, const int64_t *cuts,
                          const double *x)
    void dpf_sums_merge(const dpf_sums *sums, const dpf_sums *more)
    void dpf_sums_round(const dpf_sums *sums, double *fraction, int32_t *exponent)

cdef extern from "aggregate/scatter.h" nogil:
    void dpf_scatter_count(const uint32_t *labels, size_t n, unsigned shift, int64_t *counts)
    size_t dpf_scatter_place(const uint32_t *labels, size_t n, unsigned shift, const void *rows,
                             size_t width, int64_t *at, void *out, void *low, size_t low_width,
                             int64_t total)
    int dpf_scatter_refine(const void *low, size_t low_width, unsigned shift, const void *rows,
                           size_t width, const int64_t *cuts, size_t groups, size_t blocks,
                           int64_t *offsets, void *out)
    size_t dpf_scatter_runs(const int64_t *cuts, size_t runs, const void *rows, size_t width,
                            int64_t *at, void *out, int64_t total)
    void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                              double *most, uint8_t *seen)

PLANES = DPF_SUMS_PLANES
NEAR = DPF_SUMS_NEAR
NAN = DPF_SUMS_NAN
PLUS = DPF_SUMS_PLUS
MINUS = DPF_SUMS_MINUS
MOST_BLOCKS = DPF_LABELS_MOST

CHANGED = "rows have no place: they are not those that were counted"

ctypedef fused real:
    double
    float
    integer

# Labels of so many rows are computed and used at a time, in the first-level cache.
cdef enum:
    TILE = 2048


cdef uint32_t _blocks(Py_ssize_t blocks) except 0:
    if not 1 <= blocks <= <Py_ssize_t>DPF_LABELS_MOST:
        raise ValueError(f"blocks must be from 1 to {DPF_LABELS_MOST}, got {blocks}")
    return <uint32_t>blocks


cdef int _same(Py_ssize_t n, Py_ssize_t m) except -1:
    if n != m:
        raise ValueError(f"lengths must agree, got {n} and {m}")
    return 0


cdef int _below(const uint32_t[::1] labels, Py_ssize_t blocks) except -1:
    cdef int good = 1
    cdef size_t n = labels.shape[0]
    if n:
        with nogil:
            good = dpf_labels_below(&labels[0], n, <uint32_t>blocks)
    if not good:
        raise ValueError(f"labels must be below {blocks}")
    return 0


# --- labels ---------------------------------------------------------------------------------------


def random_labels(Key key not None, Py_ssize_t blocks, int64_t start, uint32_t[::1] out not None):
    """Write uniform labels of rows `start`, `start` + 1, ... to `out`."""
    cdef uint32_t k = _blocks(blocks)
    cdef size_t n = out.shape[0]
    if start < 0 or start > (<int64_t>1 << 62):
        raise ValueError(f"start must be from 0 to 2**62, got {start}")
    if n:
        with nogil:
            dpf_labels_random(key.words, k, <uint64_t>start, n, &out[0])


def keyed_labels(Key key not None, Py_ssize_t blocks, const uint64_t[::1] low not None,
                 const uint64_t[::1] high, uint32_t[::1] out not None):
    """Write the labels of ids from their words (csrc/tables/keys.h); a `high` of None is zeros."""
    cdef uint32_t k = _blocks(blocks)
    cdef size_t n = out.shape[0]
    cdef const uint64_t *more = NULL
    _same(low.shape[0], n)
    if high is not None:
        _same(high.shape[0], n)
        more = &high[0] if n else NULL
    if n:
        with nogil:
            dpf_labels_keyed(&key.sip, k, &low[0], more, n, &out[0])


# --- sums -----------------------------------------------------------------------------------------


cdef class Sums:
    """Exact sums of float64 values, one for each block (csrc/aggregate/sums.h).

    The arrays belong to the caller and are zero at first: `planes` of shape (PLANES, blocks, 2),
    `used` (PLANES,), `seen` (blocks,), and `near` (blocks, 2), or None for more than NEAR blocks.
    """

    cdef dpf_sums sums
    cdef readonly object planes, used, seen, near

    def __cinit__(self, uint64_t[:, :, ::1] planes not None, uint8_t[::1] used not None,
                  uint8_t[::1] seen not None, double[:, ::1] near=None):
        cdef Py_ssize_t blocks = seen.shape[0]
        _blocks(blocks)
        if (planes.shape[0] != DPF_SUMS_PLANES or planes.shape[1] != blocks or planes.shape[2] != 2
                or used.shape[0] != DPF_SUMS_PLANES):
            raise ValueError("planes, used and seen must belong together")
        if near is not None and (near.shape[0] != blocks or near.shape[1] != 2):
            raise ValueError("near must have two numbers for each block")
        self.planes, self.used, self.seen = planes.base, used.base, seen.base
        self.sums.blocks = blocks
        self.sums.planes = <dpf_sums_cell *>&planes[0, 0, 0]
        self.sums.used = &used[0]
        self.sums.seen = &seen[0]
        self.sums.near = NULL
        if near is not None:
            self.near = near.base
            self.sums.near = &near[0, 0]
        self.sums.rows, self.sums.e = 0, 0

    def add(self, const uint32_t[::1] labels not None, const double[::1] values not None):
        """Add each value to the block of its label."""
        cdef size_t n = values.shape[0]
        _same(labels.shape[0], n)
        _below(labels, self.sums.blocks)
        if n:
            with nogil:
                dpf_sums_add(&self.sums, &labels[0], &values[0], n)

    def add_run(self, Py_ssize_t block, const double[::1] values not None):
        """Add all values to one block."""
        cdef size_t n = values.shape[0]
        cdef int failed = 0
        if not 0 <= block < <Py_ssize_t>self.sums.blocks:
            raise ValueError(f"block must be from 0 to {self.sums.blocks - 1}, got {block}")
        if n:
            with nogil:
                failed = dpf_sums_add_run(&self.sums, block, &values[0], n)
        check_status(failed)

    def add_runs(self, Py_ssize_t first, const int64_t[::1] cuts not None,
                 const double[::1] values not None):
        """Add ``values[cuts[j]:cuts[j + 1]]`` to block `first` + j."""
        cdef Py_ssize_t j, runs = cuts.shape[0] - 1
        cdef int failed = 0
        if not 0 <= first <= first + runs <= <Py_ssize_t>self.sums.blocks or runs < 0:
            raise ValueError("there must be a block for each run")
        for j in range(runs):
            if cuts[j] > cuts[j + 1]:
                raise ValueError("cuts must not fall")
        if cuts[0] < 0 or cuts[runs] > values.shape[0]:
            raise ValueError("cuts must stay inside values")
        if runs and values.shape[0]:
            with nogil:
                failed = dpf_sums_add_runs(&self.sums, first, runs, &cuts[0], &values[0])
        check_status(failed)

    def add_random(self, Key key not None, int64_t start, const real[::1] values not None,
                   int64_t[::1] counts not None, const double[::1] shift=None, Sums squares=None):
        """Add values to the blocks that `random_labels` gives to rows from `start` on; count rows.

        `shift` has a number for each block, which is subtracted from its values. `squares` gets the
        squares of the differences.
        """
        cdef uint32_t labels[TILE]
        cdef double terms[TILE]
        cdef const double *x
        cdef size_t i, at = 0, here, n = values.shape[0]
        cdef bint shifted = shift is not None, squared = squares is not None
        if start < 0 or start > (<int64_t>1 << 62):
            raise ValueError(f"start must be from 0 to 2**62, got {start}")
        _same(counts.shape[0], self.sums.blocks)
        if shifted:
            _same(shift.shape[0], self.sums.blocks)
        if squared:
            _same(squares.sums.blocks, self.sums.blocks)
        with nogil:
            while at < n:
                here = min(<size_t>TILE, n - at)
                dpf_labels_random(key.words, <uint32_t>self.sums.blocks, start + at, here, labels)
                dpf_scatter_count(labels, here, 0, &counts[0])
                x = terms
                if real is double and not shifted:
                    x = &values[at]
                elif shifted:
                    for i in range(here):
                        terms[i] = <double>values[at + i] - shift[labels[i]]
                else:
                    for i in range(here):
                        terms[i] = <double>values[at + i]
                dpf_sums_add(&self.sums, labels, x, here)
                if squared:
                    for i in range(here):
                        terms[i] = x[i] * x[i]
                    dpf_sums_add(&squares.sums, labels, terms, here)
                at += here
            dpf_wipe(labels, sizeof(labels))

    def merge(self, Sums more not None):
        """Add other sums, of as many blocks."""
        _same(more.sums.blocks, self.sums.blocks)
        with nogil:
            dpf_sums_settle(&more.sums)
            dpf_sums_merge(&self.sums, &more.sums)

    def rounded(self, double[::1] fraction not None, int32_t[::1] exponent not None):
        """Write the sums, rounded once, as ``fraction * 2**exponent``. Flags are ignored."""
        _same(fraction.shape[0], self.sums.blocks)
        _same(exponent.shape[0], self.sums.blocks)
        with nogil:
            dpf_sums_settle(&self.sums)
            dpf_sums_round(&self.sums, &fraction[0], &exponent[0])


def extremes(const uint32_t[::1] labels not None, const double[::1] values not None,
             double[::1] least not None, double[::1] most not None, uint8_t[::1] seen not None):
    """Update the extremes of each block; `seen` becomes 1 if a NaN was ignored."""
    cdef size_t n = values.shape[0]
    _same(labels.shape[0], n)
    _same(most.shape[0], least.shape[0])
    _same(seen.shape[0], least.shape[0])
    _below(labels, least.shape[0])
    if n:
        with nogil:
            dpf_scatter_extremes(&labels[0], &values[0], n, &least[0], &most[0], &seen[0])


# --- counts and scatter ---------------------------------------------------------------------------


cdef size_t _groups(Py_ssize_t groups, unsigned shift) except 0:
    """Return the first label that is in none of `groups` groups of 2**shift blocks."""
    if shift > 16 or not 1 <= groups <= <Py_ssize_t>DPF_LABELS_MOST >> shift:
        raise ValueError(f"shift must be at most 16 and groups few, got {shift} and {groups}")
    return <size_t>groups << shift


def count(const uint32_t[::1] labels not None, int64_t[::1] counts not None, unsigned shift=0):
    """Add the number of rows of each label, or group of 2**shift labels, to `counts`."""
    cdef size_t n = labels.shape[0]
    _below(labels, _groups(counts.shape[0], shift))
    if n:
        with nogil:
            dpf_scatter_count(&labels[0], n, shift, &counts[0])


def count_random(Key key not None, Py_ssize_t blocks, int64_t start, Py_ssize_t rows,
                 int64_t[::1] counts not None, unsigned shift=0):
    """Call `count` for the labels of rows `start` .. `start` + `rows` - 1 (`random_labels`)."""
    cdef uint32_t labels[TILE]
    cdef uint32_t k = _blocks(blocks)
    cdef size_t at = 0, here, n = rows
    if start < 0 or rows < 0 or start > (<int64_t>1 << 62):
        raise ValueError("start and rows must be from 0 to 2**62")
    if _groups(counts.shape[0], shift) < k:
        raise ValueError("counts must have room for all blocks")
    with nogil:
        while at < n:
            here = min(<size_t>TILE, n - at)
            dpf_labels_random(key.words, k, start + at, here, labels)
            dpf_scatter_count(labels, here, shift, &counts[0])
            at += here
        dpf_wipe(labels, sizeof(labels))


cdef size_t _width(cnp.ndarray rows, cnp.ndarray out) except 0:
    """Return the number of bytes of a row."""
    if not (rows.flags.c_contiguous and out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("rows and out must be C-contiguous, and out writeable")
    if rows.ndim < 1 or rows.dtype != out.dtype or rows.dtype.hasobject:
        raise ValueError("rows and out must have one dtype, which holds no objects")
    if (<object>rows).shape[1:] != (<object>out).shape[1:]:
        raise ValueError("rows of rows and out must have one shape")
    cdef size_t width = rows.itemsize
    for length in (<object>rows).shape[1:]:
        width *= length
    if width == 0:
        raise ValueError("a row must have at least one byte")
    return width


cdef size_t _low(object low, unsigned shift, Py_ssize_t rows) except? 3:
    """Return the number of bytes for the low bits of a label; 0 if there are none."""
    if shift == 0:
        if low is not None:
            raise ValueError("there are low bits only where shift is above 0")
        return 0
    if not (isinstance(low, cnp.ndarray) and low.ndim == 1 and low.dtype.kind == "u"
            and low.itemsize == (1 if shift <= 8 else 2) and low.flags.c_contiguous
            and low.flags.writeable and low.shape[0] == rows):
        raise ValueError(f"low must be {rows} unsigned integers that just hold {shift} bits")
    return low.itemsize


def place(const uint32_t[::1] labels not None, cnp.ndarray rows not None, int64_t[::1] at not None,
          cnp.ndarray out not None, unsigned shift=0, low: NDArray[Any] | None = None):
    """Copy each row to row ``at[label >> shift]++`` of `out`, and its label's low bits to `low`.

    If a row would be beyond the end, the data are not those that were counted: a `RuntimeError`.
    """
    cdef size_t width = _width(rows, out), n = rows.shape[0], done = n
    cdef size_t low_width = _low(low, shift, out.shape[0])
    cdef int64_t total = out.shape[0]
    cdef const void *source = cnp.PyArray_DATA(rows)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef void *bits = cnp.PyArray_DATA(low) if low_width else NULL
    _same(labels.shape[0], n)
    _below(labels, _groups(at.shape[0], shift))
    if n:
        with nogil:
            done = dpf_scatter_place(&labels[0], n, shift, source, width, &at[0], to, bits,
                                     low_width, total)
    if done != n:
        raise RuntimeError(CHANGED)


def place_random(Key key not None, Py_ssize_t blocks, int64_t start, cnp.ndarray rows not None,
                 int64_t[::1] at not None, cnp.ndarray out not None, unsigned shift=0,
                 low: NDArray[Any] | None = None):
    """The same as `place` with the labels of rows from `start` on (`random_labels`)."""
    cdef uint32_t labels[TILE]
    cdef uint32_t k = _blocks(blocks)
    cdef size_t width = _width(rows, out), n = rows.shape[0], first = 0, here, done
    cdef size_t low_width = _low(low, shift, out.shape[0])
    cdef int64_t total = out.shape[0]
    cdef const uint8_t *source = <const uint8_t *>cnp.PyArray_DATA(rows)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef void *bits = cnp.PyArray_DATA(low) if low_width else NULL
    if start < 0 or start > (<int64_t>1 << 62):
        raise ValueError(f"start must be from 0 to 2**62, got {start}")
    if _groups(at.shape[0], shift) < k:
        raise ValueError("there must be a cursor for each group")
    with nogil:
        while first < n:
            here = min(<size_t>TILE, n - first)
            dpf_labels_random(key.words, k, start + first, here, labels)
            done = dpf_scatter_place(labels, here, shift, source + first * width, width, &at[0], to,
                                     bits, low_width, total)
            if done != here:
                break
            first += here
        dpf_wipe(labels, sizeof(labels))
    if first < n:
        raise RuntimeError(CHANGED)


cdef int _cuts(const int64_t[::1] cuts, Py_ssize_t rows) except -1:
    """Refuse cuts that are not ascending or do not span `rows` rows."""
    cdef Py_ssize_t g
    cdef bint good = cuts.shape[0] > 0
    for g in range(cuts.shape[0] - 1):
        good &= cuts[g] <= cuts[g + 1]
    if not good or cuts[cuts.shape[0] - 1] - cuts[0] != rows:
        raise ValueError(f"cuts must not fall, and span {rows} rows")
    return 0


def refine(low not None: NDArray[Any], unsigned shift, cnp.ndarray rows not None,
           const int64_t[::1] cuts not None, int64_t[::1] offsets not None,
           cnp.ndarray out not None):
    """Sort groups of blocks into blocks: ``rows[cuts[g]:cuts[g + 1]]`` from ``cuts[0]`` on.

    Block b becomes ``out[offsets[b]:offsets[b + 1]]``. The length of `offsets` is the number of
    blocks plus 1.
    """
    cdef size_t width = _width(rows, out)
    cdef size_t low_width = _low(low, shift, rows.shape[0])
    cdef size_t groups = cuts.shape[0] - 1
    cdef Py_ssize_t blocks = offsets.shape[0] - 1
    cdef const void *bits = cnp.PyArray_DATA(low) if low_width else NULL
    cdef const void *source = cnp.PyArray_DATA(rows)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef int good = 1
    _cuts(cuts, rows.shape[0])
    _same(out.shape[0], rows.shape[0])
    if low_width == 0 or source == to or blocks < 1 or ((blocks - 1) >> shift) + 1 != <Py_ssize_t>groups:
        raise ValueError("groups must be those of the blocks, and out another array")
    offsets[0] = 0
    with nogil:
        good = dpf_scatter_refine(bits, low_width, shift, source, width, &cuts[0], groups, blocks,
                                  &offsets[0], to)
    if not good:
        raise RuntimeError(CHANGED)


def place_runs(const int64_t[::1] cuts not None, cnp.ndarray rows not None,
               int64_t[::1] at not None, cnp.ndarray out not None):
    """Copy ``rows[cuts[g]:cuts[g + 1]]``, from ``cuts[0]`` on, to `out` from row ``at[g]`` on."""
    cdef size_t width = _width(rows, out), runs = cuts.shape[0] - 1, done = runs
    cdef int64_t total = out.shape[0]
    cdef const void *source = cnp.PyArray_DATA(rows)
    cdef void *to = cnp.PyArray_DATA(out)
    _cuts(cuts, rows.shape[0])
    _same(at.shape[0], runs)
    if runs:
        with nogil:
            done = dpf_scatter_runs(&cuts[0], runs, source, width, &at[0], to, total)
    if done != runs:
        raise RuntimeError(CHANGED)


# --- estimators -----------------------------------------------------------------------------------

cdef extern from "summaries/window.h" nogil:
    void dpf_window_init()

cdef extern from "aggregate/select.h" nogil:
    enum:
        DPF_SELECT_SPARE, DPF_SELECT_EFFORT
    int dpf_select_pairs(const double *rows, const int64_t *offsets, size_t blocks,
                         const int64_t *ranks, size_t effort, double *scratch, double *lower,
                         double *upper)
    int dpf_select_trimmed(const double *rows, const int64_t *offsets, size_t blocks,
                           const int64_t *cuts, size_t effort, double *scratch, double *out)
    void dpf_select_modes(const double *rows, const int64_t *offsets, size_t blocks,
                          uint64_t *keys, double *out)

cdef extern from "aggregate/logistic.h" nogil:
    ctypedef struct dpf_logistic_model:
        size_t width, target
        int intercept
        double penalty
        size_t iterations
        double tolerance
    size_t DPF_LOGISTIC_WORK(size_t width)
    int dpf_logistic(const double *rows, const int64_t *offsets, size_t blocks,
                     const dpf_logistic_model *model, double *work, double *out)

dpf_window_init()

SPARE = DPF_SELECT_SPARE
EFFORT = DPF_SELECT_EFFORT


cdef int64_t _largest(const int64_t[::1] offsets, Py_ssize_t rows) except -1:
    """Return the size of the largest block; refuse blocks that are not inside the rows."""
    cdef Py_ssize_t j
    cdef int64_t most = 0
    if offsets.shape[0] < 1 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > rows:
        raise ValueError("offsets must stay inside rows")
    for j in range(offsets.shape[0] - 1):
        if offsets[j + 1] < offsets[j]:
            raise ValueError("offsets must not fall")
        most = max(most, offsets[j + 1] - offsets[j])
    return most


def pairs(const double[::1] rows not None, const int64_t[::1] offsets not None,
          const int64_t[::1] ranks not None, double[::1] scratch not None,
          double[::1] lower not None, double[::1] upper not None,
          size_t effort=DPF_SELECT_EFFORT):
    """Write the values of rank ``ranks[j]`` and the next rank of block j to `lower` and `upper`.

    `scratch` has room for the largest block and `SPARE` more values.
    """
    cdef int64_t most = _largest(offsets, rows.shape[0])
    cdef Py_ssize_t j, blocks = offsets.shape[0] - 1
    cdef int status
    cdef double none = 0
    cdef const double *x = &rows[0] if rows.shape[0] else &none
    _same(ranks.shape[0], blocks)
    _same(lower.shape[0], blocks)
    _same(upper.shape[0], blocks)
    if scratch.shape[0] < most + DPF_SELECT_SPARE:
        raise ValueError(f"scratch must have {most + DPF_SELECT_SPARE} values")
    for j in range(blocks):
        if ranks[j] < 0 or ranks[j] >= max(<int64_t>1, offsets[j + 1] - offsets[j]):
            raise ValueError("ranks must be below the sizes of blocks")
    if blocks == 0:
        return
    with nogil:
        status = dpf_select_pairs(x, &offsets[0], blocks, &ranks[0], effort, &scratch[0],
                                  &lower[0], &upper[0])
    check_status(status)


def trimmed(const double[::1] rows not None, const int64_t[::1] offsets not None,
            const int64_t[::1] cuts not None, double[::1] scratch not None,
            double[::1] out not None, size_t effort=DPF_SELECT_EFFORT):
    """Write the values of block j without the ``cuts[j]`` smallest and largest, block after block.

    `scratch` is as in `pairs`; `out` has room for all written values.
    """
    cdef int64_t most = _largest(offsets, rows.shape[0])
    cdef Py_ssize_t j, blocks = offsets.shape[0] - 1
    cdef int64_t size, room = 0
    cdef int status
    _same(cuts.shape[0], blocks)
    if scratch.shape[0] < most + DPF_SELECT_SPARE:
        raise ValueError(f"scratch must have {most + DPF_SELECT_SPARE} values")
    for j in range(blocks):
        size = offsets[j + 1] - offsets[j]
        if size:
            if cuts[j] < 0 or cuts[j] > (size - 1) // 2:
                raise ValueError("cuts must leave a value of each block")
            room += size - 2 * cuts[j]
    if out.shape[0] < room:
        raise ValueError(f"out must have {room} values")
    if room == 0:
        return
    with nogil:
        status = dpf_select_trimmed(&rows[0], &offsets[0], blocks, &cuts[0], effort, &scratch[0],
                                    &out[0])
    check_status(status)


def modes(const double[::1] rows not None, const int64_t[::1] offsets not None,
          uint64_t[::1] keys not None, double[::1] out not None):
    """Write the most frequent value of each block. `keys` is twice as large as any block."""
    cdef int64_t most = _largest(offsets, rows.shape[0])
    cdef Py_ssize_t blocks = offsets.shape[0] - 1
    cdef double none = 0
    cdef uint64_t no_key = 0
    cdef const double *x = &rows[0] if rows.shape[0] else &none
    cdef uint64_t *k = &keys[0] if keys.shape[0] else &no_key
    _same(out.shape[0], blocks)
    if keys.shape[0] < 2 * most:
        raise ValueError(f"keys must have {2 * most} values")
    if blocks == 0:
        return
    with nogil:
        dpf_select_modes(x, &offsets[0], blocks, k, &out[0])


def logistic(const double[:, ::1] rows not None, const int64_t[::1] offsets not None,
             Py_ssize_t target, bint intercept, double penalty, Py_ssize_t iterations,
             double tolerance, double[::1] work not None, double[:, ::1] out not None):
    """Write the coefficients of block j to row j of `out`, the intercept first; NaN for no answer.

    `work` has `logistic_work(columns)` values.
    """
    cdef dpf_logistic_model model
    cdef Py_ssize_t blocks = offsets.shape[0] - 1, width = rows.shape[1]
    cdef int status
    _largest(offsets, rows.shape[0])
    if width < 2 or not 0 <= target < width:
        raise ValueError("target must be one of two columns or more")
    if not (penalty > 0 and tolerance > 0 and iterations > 0):
        raise ValueError("penalty, tolerance and iterations must be positive")
    _same(out.shape[0], blocks)
    _same(out.shape[1], width - 1 + intercept)
    if work.shape[0] < logistic_work(width):
        raise ValueError(f"work must have {logistic_work(width)} values")
    cdef double none = 0
    cdef const double *x = &rows[0, 0] if rows.shape[0] else &none
    model.width, model.target, model.intercept = width, target, intercept
    model.penalty, model.iterations, model.tolerance = penalty, iterations, tolerance
    if blocks == 0:
        return
    with nogil:
        status = dpf_logistic(x, &offsets[0], blocks, &model, &work[0], &out[0, 0])
    check_status(status)


def logistic_work(Py_ssize_t width) -> int:
    """Return the size of `work` for rows of `width` columns."""
    return DPF_LOGISTIC_WORK(width)
