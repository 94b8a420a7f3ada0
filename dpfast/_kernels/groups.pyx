"""Codes of keys, exact sums by group, and exact draws of a quantile by group (see csrc/groups)."""

from libc.math cimport INFINITY
from libc.stddef cimport size_t
from libc.stdint cimport (
    INT64_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
)
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from .core cimport check_status, integer
from .noise cimport check, dpf_words, source
from .tables cimport Key, dpf_keys_key
from .statistics cimport (
    DPF_DRAW_DONE, divide_room, dpf_draw, dpf_draw_found, dpf_draw_room, dpf_draw_runs, take_base, told
)
from .summaries cimport kind_of

cnp.import_array()


# --- codes ----------------------------------------------------------------------------------------

cdef extern from "groups/codes.h" nogil:
    enum:
        DPF_CODES_BITS, DPF_CODES_NEAR
    uint32_t DPF_CODES_MOST
    ctypedef struct dpf_codes_slot:
        uint64_t low
        uint32_t next
    ctypedef struct dpf_codes:
        dpf_keys_key key
        dpf_codes_slot *slots
        dpf_codes_slot *near
        uint64_t *high
        unsigned bits
        int wide
        uint32_t count
    void dpf_codes_find(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                        const uint8_t *present, size_t n, int32_t *out)
    size_t dpf_codes_add(dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                         const uint8_t *present, size_t n, int32_t *out, int64_t first,
                         int64_t *fresh, size_t *news)
    void dpf_codes_move(const dpf_codes *codes, dpf_codes_slot *slots)
    void dpf_codes_pair(const int32_t *a, const int32_t *b, size_t n, uint64_t *low,
                        uint8_t *present)


cdef size_t _of_one_length(const uint64_t[::1] low, const uint64_t[::1] high,
                           const uint8_t[::1] present, const int32_t[::1] out) except? 0:
    if (low.shape[0] != out.shape[0] or (high is not None and high.shape[0] != out.shape[0])
            or (present is not None and present.shape[0] != out.shape[0])):
        raise ValueError("words and codes must be of one length")
    return out.shape[0]


cdef const uint8_t[::1] _mask(present):
    return None if present is None else np.asarray(present, np.bool_).view(np.uint8)


cdef class Codes:
    """Codes 0, 1, ... of keys, by their words, in the order in which they were first seen.

    A `high` of None is zeros; a `present` of None means that all rows have a key. Several threads may
    call `find` at once, as long as none calls `add`.
    """

    cdef dpf_codes table
    cdef object slots, high, near

    def __cinit__(self, Key key not None):
        cdef uint64_t[:, ::1] near = np.zeros((1 << DPF_CODES_NEAR, 2), np.uint64)
        self.table.key = key.sip
        self.near, self.table.near = near.base, <dpf_codes_slot *>&near[0, 0]
        self.table.count = self.table.wide = 0
        self._make(10)

    def __len__(self) -> int:
        return self.table.count

    cdef int _make(self, unsigned bits) except -1:
        """Create a table for ``2**(bits - 1)`` codes, and copy the present codes to it."""
        cdef size_t size = <size_t>1 << bits
        cdef uint64_t[:, ::1] slots = np.zeros((size, 2), np.uint64)
        cdef uint64_t[::1] high = np.zeros(size >> 1, np.uint64)
        cdef uint64_t[::1] old
        if self.table.count:
            with nogil:
                dpf_codes_move(&self.table, <dpf_codes_slot *>&slots[0, 0])
            if self.table.wide:
                old = self.high
                high[:old.shape[0]] = old
        self.slots, self.high, self.table.bits = slots.base, high.base, bits
        self.table.slots, self.table.high = <dpf_codes_slot *>&slots[0, 0], &high[0]
        return 0

    def words(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the low and the high word of each code."""
        cdef uint64_t[::1] low = np.empty(self.table.count, np.uint64)
        cdef size_t i
        with nogil:
            for i in range(<size_t>1 << self.table.bits):
                if self.table.slots[i].next:
                    low[self.table.slots[i].next - 1] = self.table.slots[i].low
        return low.base, self.high[:self.table.count].copy()

    def find(self, const uint64_t[::1] low not None, const uint64_t[::1] high,
             present: NDArray[np.bool_] | None, int32_t[::1] out not None):
        """Write the code of each row, or -1 if its key is unknown or missing."""
        cdef const uint8_t[::1] mask = _mask(present)
        cdef size_t n = _of_one_length(low, high, mask, out)
        if n == 0:
            return
        cdef const uint64_t *more = NULL
        cdef const uint8_t *here = NULL
        if high is not None:
            more = &high[0]
        if mask is not None:
            here = &mask[0]
        with nogil:
            dpf_codes_find(&self.table, &low[0], more, here, n, &out[0])

    def add(self, const uint64_t[::1] low not None, const uint64_t[::1] high,
            present: NDArray[np.bool_] | None, int32_t[::1] out not None) -> NDArray[np.int64]:
        """Like `find`, but new keys get the next codes. Return the rows of new keys, in order."""
        cdef const uint8_t[::1] mask = _mask(present)
        cdef size_t n = _of_one_length(low, high, mask, out), at = 0, news = 0
        if n == 0:
            return np.empty(0, np.int64)
        cdef int64_t[::1] fresh = np.empty(n, np.int64)
        cdef const uint64_t *more = NULL
        cdef const uint8_t *here = NULL
        while True:
            if high is not None:
                more = &high[at]
            if mask is not None:
                here = &mask[at]
            with nogil:
                at += dpf_codes_add(&self.table, &low[at], more, here, n - at, &out[at], at,
                                    &fresh[0], &news)
            if at == n:
                return fresh.base[:news].copy()
            if self.table.bits == DPF_CODES_BITS:
                raise OverflowError("there are more keys than codes")
            self._make(self.table.bits + 1)


def dense(const integer[::1] values not None, int64_t first, int64_t count,
          int32_t[::1] out not None, present: NDArray[np.bool_] | None = None):
    """Write ``value - first`` for each value from `first` to ``first + count - 1``, else -1."""
    cdef const uint8_t[::1] mask = _mask(present)
    cdef size_t i, n = out.shape[0]
    cdef uint64_t d
    if not 0 <= count <= DPF_CODES_MOST or first > INT64_MAX - count:
        raise ValueError("first and count must be codes of int64 numbers")
    if <size_t>values.shape[0] != n or (mask is not None and <size_t>mask.shape[0] != n):
        raise ValueError("values and codes must be of one length")
    with nogil:
        for i in range(n):
            d = <uint64_t>(<int64_t>values[i]) - <uint64_t>first
            if integer is uint64_t:
                out[i] = <int32_t>d if d < <uint64_t>count and values[i] <= <uint64_t>INT64_MAX else -1
            else:
                out[i] = <int32_t>d if d < <uint64_t>count else -1
        if mask is not None:
            for i in range(n):
                out[i] = out[i] if mask[i] else -1


def pair(const int32_t[::1] a not None, const int32_t[::1] b not None, uint64_t[::1] low not None,
         present not None: NDArray[np.bool_]):
    """Write the words of pairs of codes to `low`, and to `present` where neither is -1."""
    cdef uint8_t[::1] mask = present.view(np.uint8)
    cdef size_t n = a.shape[0]
    if <size_t>b.shape[0] != n or <size_t>low.shape[0] != n or <size_t>mask.shape[0] != n:
        raise ValueError("codes and words must be of one length")
    if n:
        with nogil:
            dpf_codes_pair(&a[0], &b[0], n, &low[0], &mask[0])


# --- bounding -------------------------------------------------------------------------------------

cdef extern from "groups/bound.h" nogil:
    enum:
        DPF_BOUND_PARTS, DPF_BOUND_NARROW, DPF_BOUND_WIDE
    ctypedef struct dpf_bound_run:
        const uint64_t *records
        size_t n, words
    ctypedef struct dpf_bound:
        dpf_keys_key key
        uint64_t groups, rows, mask
        const int32_t *names
        uint64_t named
    void dpf_bound_count(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high,
                         const uint8_t *present, const int32_t *codes, size_t n, uint16_t *part,
                         uint32_t *counts)
    void dpf_bound_place(const uint16_t *part, const uint64_t *low, const uint64_t *high,
                         const int32_t *codes, uint64_t start, size_t n, uint32_t *at,
                         uint64_t *out)
    int dpf_bound_within(const dpf_bound_run *runs, size_t count, uint64_t rows)
    int dpf_bound_mark(const dpf_bound *bound, const dpf_bound_run *runs, size_t count,
                       uint8_t *marks)

PARTS = DPF_BOUND_PARTS


def split(Key key not None, const uint64_t[::1] low not None, const uint64_t[::1] high,
          present: NDArray[np.bool_] | None, const int32_t[::1] codes not None,
          int64_t start) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the records of rows, whose numbers begin at `start`, by part; and offsets of parts.

    Rows whose code is negative, or whose `present` is False, are left out.
    """
    cdef const uint8_t[::1] mask = _mask(present)
    cdef size_t n = _of_one_length(low, high, mask, codes)
    cdef int p
    cdef const uint64_t *more = NULL
    cdef const uint8_t *here = NULL
    cdef uint32_t[::1] cuts = np.zeros(DPF_BOUND_PARTS + 1, np.uint32)
    cdef uint32_t[::1] at
    cdef uint16_t[::1] part
    cdef uint64_t[:, ::1] out
    if start < 0 or n >= <size_t>1 << 32:
        raise ValueError("start must not be negative, and rows must be fewer than 2**32")
    if n:
        if high is not None:
            more = &high[0]
        if mask is not None:
            here = &mask[0]
        part = np.empty(n, np.uint16)
        with nogil:
            dpf_bound_count(&key.sip, &low[0], more, here, &codes[0], n, &part[0], &cuts[1])
            for p in range(DPF_BOUND_PARTS):
                cuts[p + 1] += cuts[p]
        at = cuts.base.copy()
    out = np.empty((cuts[DPF_BOUND_PARTS], DPF_BOUND_NARROW if high is None else DPF_BOUND_WIDE),
                   np.uint64)
    if out.shape[0]:
        with nogil:
            dpf_bound_place(&part[0], &low[0], more, &codes[0], start, n, &at[0], &out[0, 0])
    return out.base, cuts.base


cdef class Blocks:
    """Blocks of records, each of which `split` has divided into parts."""

    cdef dpf_bound_run *runs
    cdef const uint32_t **cuts
    cdef size_t count, room
    cdef list kept

    def __cinit__(self):
        self.kept = []

    def __dealloc__(self):
        free(self.runs)
        free(<void *>self.cuts)

    def add(self, const uint64_t[:, ::1] records not None, const uint32_t[::1] cuts not None):
        """Append a block, as `split` returns it."""
        cdef size_t room = max(<size_t>16, 2 * self.room)
        cdef int p
        cdef void *more
        if (records.shape[1] not in (DPF_BOUND_NARROW, DPF_BOUND_WIDE) or cuts[0]
                or cuts.shape[0] != DPF_BOUND_PARTS + 1 or cuts[DPF_BOUND_PARTS] != records.shape[0]):
            raise ValueError("records and cuts must belong together")
        for p in range(DPF_BOUND_PARTS):
            if cuts[p] > cuts[p + 1]:
                raise ValueError("cuts must not fall")
        if self.count == self.room:
            more = realloc(self.runs, room * sizeof(dpf_bound_run))
            if more == NULL:
                raise MemoryError()
            self.runs = <dpf_bound_run *>more
            more = realloc(<void *>self.cuts, room * sizeof(void *))
            if more == NULL:
                raise MemoryError()
            self.cuts = <const uint32_t **>more
            self.room = room
        if records.shape[0]:
            self.runs[self.count] = dpf_bound_run(&records[0, 0], 0, records.shape[1])
            self.cuts[self.count] = &cuts[0]
            self.kept.append((records.base, cuts.base))
            self.count += 1

    cdef size_t _slices(self, size_t first, size_t stop, dpf_bound_run *out) noexcept nogil:
        """Write the arrays of parts ``first .. stop - 1`` of all blocks; return their number."""
        cdef size_t i, rows = 0
        for i in range(self.count):
            out[i].words = self.runs[i].words
            out[i].records = self.runs[i].records + self.cuts[i][first] * self.runs[i].words
            out[i].n = self.cuts[i][stop] - self.cuts[i][first]
            rows += out[i].n
        return rows

    def joined(self, size_t first, size_t stop,
               size_t words) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the records with `words` words of some parts, by part; and the sizes of parts."""
        cdef size_t p, i, n, rows = 0
        if not first <= stop <= DPF_BOUND_PARTS:
            raise ValueError("parts must be those that there are")
        cdef int64_t[::1] sizes = np.zeros(stop - first + 1, np.int64)
        for i in range(self.count):
            if self.runs[i].words == words:
                rows += self.cuts[i][stop] - self.cuts[i][first]
        cdef uint64_t[:, ::1] out = np.empty((rows, words), np.uint64)
        if rows == 0:
            return out.base, sizes.base[:stop - first]
        cdef uint64_t *to = &out[0, 0]
        with nogil:
            for p in range(first, stop):
                for i in range(self.count):
                    if self.runs[i].words == words:
                        n = self.cuts[i][p + 1] - self.cuts[i][p]
                        memcpy(to, self.runs[i].records + self.cuts[i][p] * words, 8 * n * words)
                        to += n * words
                        sizes[p - first] += n
        return out.base, sizes.base[:stop - first]

    def mark(self, Key key not None, size_t first, size_t stop, uint64_t groups, uint64_t rows,
             more: Sequence[NDArray[np.uint64]], uint8_t[::1] marks not None,
             uint64_t mask=0xffffffffffffffff, const int32_t[::1] names=None):
        """Write 1 to `marks` for all rows that count, of the parts ``first .. stop - 1``.

        Of a person at most `groups` groups count, and `rows` rows in each. `more` are further arrays of
        records of these parts. All row numbers are below the length of `marks`. If there are `names`,
        they are hashed instead of the codes.
        """
        cdef dpf_bound bound
        cdef size_t count = self.count, i
        cdef const uint64_t[:, ::1] own
        cdef int status
        if not first <= stop <= DPF_BOUND_PARTS or groups < 1 or rows < 1:
            raise ValueError("parts must be those that there are, groups and rows at least 1")
        bound.key, bound.groups, bound.rows, bound.mask = key.sip, groups, rows, mask
        bound.names, bound.named = NULL, 0
        if names is not None and names.shape[0]:
            bound.names, bound.named = &names[0], names.shape[0]
        cdef dpf_bound_run *runs = <dpf_bound_run *>malloc(
            (count + len(more) + 1) * sizeof(dpf_bound_run))
        if runs == NULL:
            raise MemoryError()
        try:
            for each in more:
                own = each
                if own.shape[1] not in (DPF_BOUND_NARROW, DPF_BOUND_WIDE):
                    raise ValueError("records must have 3 or 4 words")
                if own.shape[0]:
                    runs[count] = dpf_bound_run(&own[0, 0], own.shape[0], own.shape[1])
                    count += 1
            with nogil:
                self._slices(first, stop, runs)
                status = dpf_bound_within(runs, count, marks.shape[0])
                if status == 0:
                    status = dpf_bound_mark(&bound, runs, count, &marks[0])
        finally:
            free(runs)
        if status == 1:
            raise ValueError("there must be a mark for each row")
        if status:
            raise MemoryError()


# --- sums -----------------------------------------------------------------------------------------

cdef extern from "groups/sums.h" nogil:
    int64_t DPF_QUANTISE_SPAN, DPF_QUANTISE_SQUARES, DPF_QUANTISE_REACH
    ctypedef struct dpf_quantise_cells:
        double lo, hi, scale
        int64_t first
    ctypedef struct dpf_groups_total:
        uint64_t sum, rows
    ctypedef struct dpf_groups_moments:
        uint64_t sum, rows, low, high
    int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                       const dpf_quantise_cells *cells, int64_t filler, dpf_groups_total *out,
                       uint64_t *nan)
    int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                          const dpf_quantise_cells *cells, int64_t filler, dpf_groups_moments *out,
                          uint64_t *nan)
    void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts)
    int dpf_groups_cells(int kind, const void *x, size_t n, int32_t *codes, uint32_t groups,
                         const dpf_quantise_cells *cells, int64_t filler, int32_t *out,
                         uint64_t *nan)
    ctypedef struct dpf_groups_form:
        int64_t a, b, c
    void dpf_groups_combine(const uint64_t *totals, size_t groups, size_t columns,
                            dpf_groups_form form, unsigned shift, int64_t *out)
    void dpf_groups_columns(const uint32_t *x, size_t n, size_t columns, const int32_t *codes,
                            uint32_t groups, dpf_groups_total *out)
    void dpf_groups_bound(const uint64_t *totals, size_t n, size_t columns, int squares,
                          const uint64_t *factors, uint64_t most, const uint64_t *ends,
                          const uint64_t *whole, const int32_t *codes, uint64_t *out)


cdef dpf_quantise_cells cells_of(double scale, int64_t first, int64_t span, int64_t filler,
                                 bint squares) except *:
    cdef dpf_quantise_cells cells
    if not 0 <= span <= (DPF_QUANTISE_SQUARES if squares else DPF_QUANTISE_SPAN) or filler > span:
        raise ValueError("span and filler must be within the limits of cells")
    if first < -DPF_QUANTISE_REACH or first + span > DPF_QUANTISE_REACH:
        raise ValueError("cells must lie between -2**51 and 2**51")
    cells.scale, cells.first = scale, first
    cells.lo, cells.hi = first / scale, (first + span) / scale
    return cells


def add(cnp.ndarray values not None, const int32_t[::1] codes not None, double scale,
        int64_t first, int64_t span, int64_t filler, uint64_t[:, ::1] out not None) -> int:
    """Add the cells of `values` to the sums of their groups; return how many are NaN.

    `out` has a row for each group, and a last one for rows in no group. Its columns are the sum of
    cells, counted from `first`, and the number of rows. With four columns there are also the sums of
    the lower and of the upper halves of squared cells. A number of rows has 40 bits; above them are the
    carries of the sum. A NaN is the cell `filler`, or if that is negative, its row does not count.
    """
    cdef int kind = kind_of(values), status
    cdef size_t n = values.shape[0]
    cdef uint64_t nan = 0
    cdef bint squares = out.shape[1] == 4
    cdef dpf_quantise_cells cells = cells_of(scale, first, span, filler, squares)
    if <size_t>codes.shape[0] != n:
        raise ValueError("there must be as many codes as values")
    if out.shape[0] < 1 or out.shape[1] not in (2, 4):
        raise ValueError("out must have a row more than groups, and 2 or 4 columns")
    if n == 0:
        return 0
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef uint32_t groups = <uint32_t>(out.shape[0] - 1)
    with nogil:
        if squares:
            status = dpf_groups_square(kind, x, n, &codes[0], groups, &cells, filler,
                                       <dpf_groups_moments *>&out[0, 0], &nan)
        else:
            status = dpf_groups_sum(kind, x, n, &codes[0], groups, &cells, filler,
                                    <dpf_groups_total *>&out[0, 0], &nan)
    check_status(status)
    return nan


def cells(cnp.ndarray values not None, int32_t[::1] codes not None, uint32_t groups, double scale,
          int64_t first, int64_t span, int64_t filler, int32_t[::1] out not None) -> int:
    """Write the cells of `values`, counted from the first; return how many values are NaN.

    The code of a row in no group becomes `groups`. A NaN is the cell `filler`, or if that is negative,
    its row is in no group.
    """
    cdef int kind = kind_of(values), status
    cdef size_t n = values.shape[0]
    cdef uint64_t nan = 0
    cdef dpf_quantise_cells own = cells_of(scale, first, span, filler, False)
    if span >= <int64_t>1 << 31:
        raise ValueError("span and filler must be within the limits of cells")
    if <size_t>codes.shape[0] != n or <size_t>out.shape[0] != n or groups >= 1 << 31:
        raise ValueError("there must be as many codes and places as values")
    if n == 0:
        return 0
    cdef const void *x = cnp.PyArray_DATA(values)
    with nogil:
        status = dpf_groups_cells(kind, x, n, &codes[0], groups, &own, filler, &out[0], &nan)
    check_status(status)
    return nan


def combine(const uint64_t[:, ::1] totals not None, int64_t a, int64_t b, int64_t c,
            unsigned shift, int64_t[::1] out not None):
    """Write the floor of ``(a sum + b rows + c squares) / 2**shift`` of each group.

    `totals` are those of `add`, without the last row. A result is clamped to 2**62 in size.
    """
    if totals.shape[0] < out.shape[0] or totals.shape[1] not in (2, 4) or shift > 100:
        raise ValueError("there must be totals for each group, of 2 or 4 columns")
    if out.shape[0]:
        with nogil:
            dpf_groups_combine(&totals[0, 0], out.shape[0], totals.shape[1],
                               dpf_groups_form(a, b, c), shift, &out[0])


def add_columns(const uint32_t[:, ::1] columns not None, const int32_t[::1] codes not None,
                uint64_t[:, ::1] out not None):
    """Add rows of several columns to the sums of their groups.

    `out` has a row for each group, and a last one for rows in no group. It has two numbers for each
    column, the sum and the number of rows, as in `add`.
    """
    cdef size_t n = columns.shape[1], kinds = columns.shape[0]
    if <size_t>codes.shape[0] != n:
        raise ValueError("there must be as many codes as rows")
    if out.shape[0] < 1 or kinds < 1 or <size_t>out.shape[1] != 2 * kinds:
        raise ValueError("out must have a row more than groups, and 2 columns for each of a row")
    cdef uint32_t groups = <uint32_t>(out.shape[0] - 1)
    if n:
        with nogil:
            dpf_groups_columns(&columns[0, 0], n, kinds, &codes[0], groups,
                               <dpf_groups_total *>&out[0, 0])


def bound(const uint64_t[:, ::1] totals not None, bint squares,
          const uint64_t[:, ::1] factors not None, uint64_t most, const uint64_t[:, ::1] ends,
          const int32_t[::1] codes, uint64_t[:, ::1] out not None,
          const uint64_t[::1] whole=None):
    """Bound what each unit adds, and add it to `out`, in 128 bits.

    `totals` has a row for each unit, as in `add`: two columns for each of its sums, or four with
    `squares`. The total of a unit is a sum of these times `factors` of 128 bits: one for each sum, or
    one for the sum and one for the sum of squares, and a last one for the number of rows. A unit of c
    rows counts ``min(c, most) / c`` of its total, rounded towards zero and clamped to the two `ends`, if
    any. This is added to row ``codes[i]`` of `out`, or to the first row without `codes`. If a unit has
    several rows of `totals`, `whole` has its c for each of them.
    """
    cdef size_t n = totals.shape[0], columns = totals.shape[1], i
    cdef const int32_t *groups = NULL
    cdef const uint64_t *limits = NULL
    cdef const uint64_t *every = NULL
    if whole is not None:
        if <size_t>whole.shape[0] != n:
            raise ValueError("there must be a number of rows for each of totals")
        every = &whole[0] if n else NULL
    if ends is not None:
        if ends.shape[0] != 2 or ends.shape[1] != 2:
            raise ValueError("ends must be two integers of two words")
        limits = &ends[0, 0]
    if (columns < 2 or columns % 2 or (squares and columns != 4) or most < 1 or out.shape[1] != 2
            or factors.shape[1] != 2 or <size_t>factors.shape[0] != columns // 2 + 1):
        raise ValueError("there must be a factor for each sum and for rows, of two words")
    if codes is None:
        if out.shape[0] < 1:
            raise ValueError("out must have a row")
    else:
        if <size_t>codes.shape[0] != n:
            raise ValueError("there must be as many codes as units")
        for i in range(n):
            if codes[i] >= out.shape[0]:
                raise ValueError("out must have a row for each code")
        if n:
            groups = &codes[0]
    if n:
        with nogil:
            dpf_groups_bound(&totals[0, 0], n, columns, squares, &factors[0, 0], most, limits,
                             every, groups, &out[0, 0])


def count(const int32_t[::1] codes not None, uint64_t[::1] out not None):
    """Add the number of rows of each group to `out`; its last number is for rows in no group."""
    cdef size_t n = codes.shape[0]
    if out.shape[0] < 1:
        raise ValueError("out must have a place more than groups")
    if n:
        with nogil:
            dpf_groups_count(&codes[0], n, <uint32_t>(out.shape[0] - 1), &out[0])


# --- quantile -------------------------------------------------------------------------------------

cdef extern from "groups/quantile.h" nogil:
    ctypedef struct dpf_groups_quantile:
        dpf_draw node
        int64_t place, shift, inside
        int high
        int64_t first
        size_t reach
        const int64_t *before
        const int64_t *sizes
    size_t dpf_groups_window(size_t rows, size_t reach)
    int dpf_groups_quantiles(const dpf_groups_quantile *given, int32_t *rows,
                             const int64_t *offsets, size_t groups, dpf_words *words,
                             int64_t *window, const dpf_draw_room *room, int32_t *out, size_t *at,
                             dpf_draw_found *found)


def quantiles(int32_t[::1] rows not None, const int64_t[::1] offsets not None, int64_t place,
              int64_t shift, int64_t inside, bint high, double c, int64_t share, base not None: Any,
              size_t reach, int32_t[::1] out not None, size_t at,
              stream not None: BitStream | Script, const int64_t[::1] before=None,
              const int64_t[::1] sizes=None, int64_t ties=0) -> tuple[
                  int, tuple[int, int, int, int, int | None, int | None] | None]:
    """Draw a cell for each group from `at` on, by the exponential mechanism; `rows` are reordered.

    Rows are numbers of cells, minus the first cell of the base measure. The target is computed from
    ``(place, shift)``, or if `inside` is not 0, it is that many ranks from an end, the upper one if
    `high` (csrc/groups/quantile.h). c is the rate of half a rank. If `rows` has only a part of a group's
    rows, `before` is the number of rows that come before, and `sizes` the number of all. `ties` is that
    of csrc/statistics/draw.h.

    Return ``(at, None)`` if all groups are drawn. Otherwise the caller has to decide about group `at`,
    and the second item is ``(cell, mass, scale, bound, far, word)``, as in `statistics.draw_node`.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef dpf_groups_quantile given
    cdef dpf_draw_found found
    cdef dpf_draw_room room
    cdef size_t groups = out.shape[0], most = 0, runs, i
    cdef int status
    if <size_t>offsets.shape[0] != groups + 1 or offsets[0] < 0 or offsets[groups] > rows.shape[0]:
        raise ValueError("offsets must be one more than the groups, and within the rows")
    for i in range(groups):
        if offsets[i + 1] < offsets[i]:
            raise ValueError("offsets must ascend")
        most = max(most, <size_t>(offsets[i + 1] - offsets[i]))
    given.before = given.sizes = NULL
    if before is not None:
        if sizes is None or <size_t>before.shape[0] != groups or <size_t>sizes.shape[0] != groups:
            raise ValueError("there must be as many sizes, and rows before, as groups")
        for i in range(groups):
            if before[i] < 0 or sizes[i] - before[i] < offsets[i + 1] - offsets[i]:
                raise ValueError("the rows of a group must be of those that it has")
        if groups:
            given.before, given.sizes = &before[0], &sizes[0]
    if not (0 <= place <= <int64_t>1 << 32 and 0 <= inside <= <int64_t>1 << 53 and 0 < c < INFINITY
            and 0 <= share <= 1 << 19 and 0 <= ties <= <int64_t>1 << 53 and reach >= 1
            and base.first < base.last):
        raise ValueError("the place, rate, reach or cells are outside their limits")
    if at >= groups:
        return groups, None
    given.place, given.shift, given.inside, given.high = place, shift, inside, high
    given.first, given.reach = base.first, reach
    given.node.low.cell, given.node.low.less, given.node.low.leq, given.node.low.part = base.first, 0, -1, 0
    given.node.high.cell, given.node.high.less, given.node.high.part = base.last, -1, <int64_t>1 << 32
    given.node.under = given.node.over = -1
    given.node.c, given.node.share, given.node.divides = c, share, False
    given.node.flips = False
    given.node.place, given.node.ties = place, ties
    take_base(&given.node, base)
    most = dpf_groups_window(most, reach)
    runs = dpf_draw_runs(most, False)
    cdef int64_t *memory = <int64_t *>malloc(8 * (9 * runs + most))
    if memory == NULL:
        raise MemoryError()
    divide_room(&room, memory, runs)
    cdef int32_t nothing = 0
    cdef int32_t *x = &rows[0] if rows.shape[0] else &nothing
    with nogil:
        status = dpf_groups_quantiles(&given, x, &offsets[0], groups, words, memory + 9 * runs, &room,
                                      &out[0], &at, &found)
    free(memory)
    check(words)
    if status == DPF_DRAW_DONE:
        return groups, None
    if status < 0:
        raise ValueError("the rows must be cells from first to last")
    return at, (found.cell, *told(&found, status))
