"""Noise on a grid, and exact choice among weighted runs (see csrc/noise)."""

from cpython.long cimport PyLong_FromUnsignedLongLong
from libc.math cimport remainder
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport numpy as cnp

from .rng cimport BitStream, dpf_rng

cnp.import_array()

# --- noise ----------------------------------------------------------------------------------------

cdef extern from "core/isa.h" nogil:
    int dpf_isa()

cdef extern from "noise/grid.h" nogil:
    enum:
        DPF_GRID_SPLIT
        DPF_GRID_OCTAVE
        DPF_GRID_WIDTH
        DPF_GRID_ROWS
        DPF_GRID_BLOCK
    ctypedef struct dpf_grid_table:
        const double *rows
        double knee
    ctypedef struct dpf_grid_input:
        const double *ratio
        const double *grid
        const double *frac
        const double *whole
        int ratio_stride, grid_stride, frac_stride, whole_stride
    size_t dpf_grid_fill(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                         const dpf_grid_input *inputs, double *out, size_t start, size_t n,
                         int64_t *lane, uint64_t *word, size_t room, size_t *found)
    size_t dpf_grid_integers(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                             double ratio, double frac, int64_t *out, size_t start, size_t n,
                             int64_t *lane, uint64_t *word, size_t room, size_t *found)

    size_t dpf_grid_accept(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                           const int64_t *y, double centre, double half_precision,
                           uint64_t *drawn, uint8_t *keep, size_t n)

SPLIT = DPF_GRID_SPLIT
OCTAVE = DPF_GRID_OCTAVE
WIDTH = DPF_GRID_WIDTH
ROWS = DPF_GRID_ROWS
BLOCK = DPF_GRID_BLOCK


cdef class Table:
    """A distribution's rows, copied to 64-byte alignment."""
    cdef dpf_grid_table c
    cdef void *memory

    def __cinit__(self, const double[:, ::1] rows not None, double knee):
        if rows.shape[0] != DPF_GRID_ROWS or rows.shape[1] != DPF_GRID_WIDTH:
            raise ValueError(f"rows must be {DPF_GRID_ROWS} by {DPF_GRID_WIDTH}")
        if dpf_isa() < 0:
            raise RuntimeError("DPFAST_ISA names an instruction set that this processor lacks")
        cdef size_t size = DPF_GRID_ROWS * DPF_GRID_WIDTH * sizeof(double)
        self.memory = malloc(size + 63)
        if self.memory == NULL:
            raise MemoryError()
        self.c.rows = <double *>((<uintptr_t>self.memory + 63) & ~<uintptr_t>63)
        memcpy(<void *>self.c.rows, &rows[0, 0], size)
        self.c.knee = knee

    def __dealloc__(self):
        free(self.memory)

    def __reduce__(self):
        raise TypeError("a native table cannot be pickled")


cdef int _stride(const double[::1] values, Py_ssize_t n, str name) except -1:
    if values.shape[0] == n:
        return n != 1
    if values.shape[0] == 1:
        return 0
    raise ValueError(f"{name} must have 1 or {n} values")


cdef const uint64_t *_words(BitStream stream, const uint64_t[::1] given, size_t n,
                            dpf_rng **rng) except? NULL:
    """Return the `given` words for n samples; or NULL, with the generator of a stream in `rng`."""
    if stream is not None:
        rng[0] = stream.state
        return NULL
    if given is None or <size_t>given.shape[0] != n:
        raise ValueError("given must have one word per sample")
    return &given[0] if n else NULL


cdef int _check_room(const int64_t[::1] lane, const uint64_t[::1] word, Py_ssize_t start) except -1:
    """Refuse arrays for undecided samples that are smaller than a block."""
    if lane.shape[0] < DPF_GRID_BLOCK or word.shape[0] < lane.shape[0] or start < 0:
        raise ValueError(f"lane and word must have at least {DPF_GRID_BLOCK} places")
    return 0


def fill(BitStream stream, const uint64_t[::1] given, Table table not None,
         const double[::1] ratio not None, const double[::1] grid not None,
         const double[::1] frac not None, const double[::1] whole not None,
         double[::1] out not None, Py_ssize_t start, int64_t[::1] lane not None,
         uint64_t[::1] word not None) -> tuple[int, int]:
    """Draw `out` from index `start` on; return (next index, number of undecided samples).

    Bits are from `stream`, or if that is None, from `given`: one word for each sample, for tests.
    """
    cdef dpf_grid_input inputs
    cdef size_t n = out.shape[0], done = start, found = 0, room = lane.shape[0]
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = _words(stream, given, n, &rng)
    _check_room(lane, word, start)
    inputs.ratio_stride = _stride(ratio, n, "ratio")
    inputs.grid_stride = _stride(grid, n, "grid")
    inputs.frac_stride = _stride(frac, n, "frac")
    inputs.whole_stride = _stride(whole, n, "whole")
    if done >= n:
        return n, 0
    inputs.ratio = &ratio[0]
    inputs.grid = &grid[0]
    inputs.frac = &frac[0]
    inputs.whole = &whole[0]
    with nogil:
        done = dpf_grid_fill(rng, words, &table.c, &inputs, &out[0], done, n, &lane[0], &word[0], room,
                             &found)
    return done, found


def integers(BitStream stream, const uint64_t[::1] given, Table table not None, double ratio,
             double frac, int64_t[::1] out not None, Py_ssize_t start, int64_t[::1] lane not None,
             uint64_t[::1] word not None) -> tuple[int, int]:
    """The same for sign * max(0, nearest integer of ratio * quantile + frac)."""
    cdef size_t n = out.shape[0], done = start, found = 0, room = lane.shape[0]
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = _words(stream, given, n, &rng)
    _check_room(lane, word, start)
    if done >= n:
        return n, 0
    with nogil:
        done = dpf_grid_integers(rng, words, &table.c, ratio, frac, &out[0], done, n, &lane[0], &word[0],
                                 room, &found)
    return done, found


def few_integers(BitStream stream not None, Table table not None, double ratio, double frac,
                 Py_ssize_t n) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """Return at most `BLOCK` samples of `integers`, and the indices and words of undecided ones."""
    cdef int64_t lane[DPF_GRID_BLOCK]
    cdef uint64_t word[DPF_GRID_BLOCK]
    cdef size_t found = 0, i
    if not 0 <= n <= DPF_GRID_BLOCK:
        raise ValueError(f"n must lie between 0 and {DPF_GRID_BLOCK}")
    cdef cnp.npy_intp size = n
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT64, 0)
    if n:
        dpf_grid_integers(stream.state, NULL, &table.c, ratio, frac, <int64_t *>cnp.PyArray_DATA(out),
                          0, n, lane, word, DPF_GRID_BLOCK, &found)
    return out, [(lane[i], word[i]) for i in range(found)]


def accept(BitStream stream, const uint64_t[::1] given, Table table not None,
           const int64_t[::1] y not None, double centre, double half_precision,
           uint64_t[::1] drawn not None, uint8_t[::1] keep not None) -> int:
    """Decide about candidates: 1 (keep), 0 (reject), 2 (undecided); return how many are 2."""
    cdef size_t n = y.shape[0], undecided = 0
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = _words(stream, given, n, &rng)
    if <size_t>drawn.shape[0] < n or <size_t>keep.shape[0] < n:
        raise ValueError("drawn and keep must have a place for every candidate")
    if n == 0:
        return 0
    with nogil:
        undecided = dpf_grid_accept(rng, words, &table.c, &y[0], centre, half_precision, &drawn[0],
                                    &keep[0], n)
    return undecided


def one(BitStream stream not None, Table table not None, double value, double scale,
        double granularity) -> float | int:
    """Return one sample as a float, or its 64 bits as an int if they do not decide it."""
    cdef dpf_grid_input inputs
    cdef double ratio = scale / granularity, frac, whole, out, place = value / granularity
    cdef int64_t lane[DPF_GRID_BLOCK]
    cdef uint64_t word[DPF_GRID_BLOCK]
    cdef size_t found = 0
    frac = remainder(place, 1.0)
    whole = place - frac
    inputs.ratio = &ratio
    inputs.grid = &granularity
    inputs.frac = &frac
    inputs.whole = &whole
    inputs.ratio_stride = inputs.grid_stride = inputs.frac_stride = inputs.whole_stride = 0
    dpf_grid_fill(stream.state, NULL, &table.c, &inputs, &out, 0, 1, lane, word, DPF_GRID_BLOCK, &found)
    if found:
        return PyLong_FromUnsignedLongLong(word[0])
    return out


# --- choice ---------------------------------------------------------------------------------------

cdef extern from "noise/choice_words.h" nogil:
    uint64_t dpf_words_one(dpf_words *words)
    uint64_t dpf_words_below(dpf_words *words, uint64_t n)

cdef extern from "noise/choice.h" nogil:
    enum:
        DPF_CHOICE_NO
        DPF_CHOICE_YES
        DPF_CHOICE_OPEN
    ctypedef struct dpf_choice_runs:
        const double *distance
        const int64_t *count
        uint64_t *total
        size_t n
        double c, slack
        int64_t lift
        int shift
    int dpf_choice_bounds(dpf_choice_runs *runs)
    void dpf_choice_propose(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t n)
    size_t dpf_choice_keep(const dpf_choice_runs *runs, dpf_words *words, const int64_t *run,
                           const double *distance, double slack, uint8_t *kept, size_t start,
                           size_t n, uint64_t *word)
    size_t dpf_choice_draw(const dpf_choice_runs *runs, dpf_words *words, int64_t *out,
                           size_t start, size_t n, uint64_t *word)
    void dpf_choice_below(dpf_words *words, const int64_t *limit, int limit_stride, int64_t *out,
                          size_t n)
    void dpf_choice_order(dpf_words *words, int64_t *out, size_t n, size_t k)

cdef extern from "noise/choice_rows.h" nogil:
    enum:
        DPF_CHOICE_ROWS_SHIFT
    size_t DPF_CHOICE_EMPTY
    ctypedef struct dpf_choice_matrix:
        const double *values
        const double *best
        size_t rows, n
        double c, slack
    size_t dpf_choice_rows(const dpf_choice_matrix *matrix, dpf_words *words, size_t draws,
                           uint64_t *scratch, int64_t *out, size_t start, uint64_t *bound,
                           uint64_t *word)
    void dpf_choice_row_sums(const dpf_choice_matrix *matrix, uint64_t *total)
    size_t dpf_choice_subset(const dpf_choice_matrix *matrix, dpf_words *words, uint64_t *drawn,
                             uint8_t *heads, int settled, int64_t *out, size_t start)

OPEN = DPF_CHOICE_OPEN
ROWS_SHIFT = DPF_CHOICE_ROWS_SHIFT


cdef class Script:
    """Words to be drawn instead of those of a bit stream, for tests. NOT PRIVATE."""

    def __cinit__(self, words: Iterable[Any]):
        made = [int(word) for word in words]
        self.words.rng = NULL
        self.words.given = <uint64_t *>malloc(8 * len(made) + 8)
        if self.words.given == NULL:
            raise MemoryError()
        for i, word in enumerate(made):
            (<uint64_t *>self.words.given)[<Py_ssize_t>i] = word
        self.words.at, self.words.end, self.words.short_of = 0, len(made), 0

    def __dealloc__(self):
        free(<void *>self.words.given)

    def word(self) -> int:
        """The next word."""
        cdef uint64_t word = dpf_words_one(&self.words)
        check(&self.words)
        return word

    @property
    def used(self) -> int:
        """How many words have been drawn."""
        return self.words.at


cdef dpf_words *source(object stream, dpf_words *own) except NULL:
    """Return the words of `stream`; `own` is memory of the caller for those of a bit stream."""
    if isinstance(stream, Script):
        return &(<Script>stream).words
    if not isinstance(stream, BitStream):
        raise TypeError("stream must be a BitStream")
    own.rng = (<BitStream>stream).state
    own.short_of = 0
    return own


cdef int check(dpf_words *words) except -1:
    if words.short_of:
        raise EOFError("the script has no more words")
    return 0


def below(uint64_t n, stream not None: BitStream | Script) -> int:
    """Draw a uniform integer of 0 .. n - 1."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    if n == 0:
        raise ValueError("n must be at least 1")
    cdef uint64_t k = dpf_words_below(words, n)
    check(words)
    return k


def slots(const int64_t[::1] limit not None, int64_t[::1] out not None,
          stream not None: BitStream | Script):
    """Fill `out` with uniform integers below their limits; one limit may serve for all."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = out.shape[0]
    cdef Py_ssize_t i
    if limit.shape[0] != out.shape[0] and limit.shape[0] != 1:
        raise ValueError(f"limit must have 1 or {n} values")
    for i in range(limit.shape[0]):
        if limit[i] < 1:
            raise ValueError("limits must be at least 1")
    if n == 0:
        return
    with nogil:
        dpf_choice_below(words, &limit[0], limit.shape[0] != 1, &out[0], n)
    check(words)


def orders(int64_t[:, ::1] out not None, size_t k, stream not None: BitStream | Script):
    """Fill each row with 0 .. n - 1; its first `k` entries are in random order."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef Py_ssize_t row
    cdef size_t n = out.shape[1]
    if k > n:
        raise ValueError(f"k must be at most {n}")
    if n == 0:
        return
    with nogil:
        for row in range(out.shape[0]):
            dpf_choice_order(words, &out[row, 0], n, k)
    check(words)


cdef class Runs:
    """Draws of runs with weights ``count exp(-c D)``, from running sums of their upper bounds."""
    cdef dpf_choice_runs runs
    cdef const double[::1] distance
    cdef const int64_t[::1] count

    def __cinit__(self, const double[::1] distance not None, double c, const int64_t[::1] count,
                  double slack):
        cdef int status
        self.distance = distance
        self.count = count
        if not (c > 0 and c < float("inf") and slack >= 0):
            raise ValueError("c must be positive and finite, slack not negative")
        self.runs.n = distance.shape[0]
        self.runs.c = c
        self.runs.slack = slack
        if self.runs.n == 0:
            raise ValueError("there must be a run")
        self.runs.distance = &distance[0]
        if count is not None:
            if count.shape[0] != distance.shape[0]:
                raise ValueError("count must have a value for each run")
            self.runs.count = &count[0]
        self.runs.total = <uint64_t *>malloc(8 * self.runs.n)
        if self.runs.total == NULL:
            raise MemoryError()
        with nogil:
            status = dpf_choice_bounds(&self.runs)
        if status == -1:
            raise ValueError("every run is excluded")
        if status == -2:
            raise ValueError("the nearest run is too far away: give distances from near it")

    def __dealloc__(self):
        free(self.runs.total)

    def __reduce__(self):
        raise TypeError("bounds cannot be pickled")

    @property
    def shift(self) -> int:
        """S; bounds are those of weights times 2**S."""
        return self.runs.lift + self.runs.shift

    def total(self, uint64_t[::1] out not None):
        """Copy the running sums of the bounds."""
        if <size_t>out.shape[0] != self.runs.n:
            raise ValueError("out must have a place for each run")
        memcpy(&out[0], self.runs.total, 8 * self.runs.n)

    def bound(self, size_t run) -> int:
        """The bound of one run."""
        if run >= self.runs.n:
            raise IndexError("no such run")
        return self.runs.total[run] - (self.runs.total[run - 1] if run else 0)

    def propose(self, int64_t[::1] out not None, stream not None: BitStream | Script):
        """Fill `out` with runs, each with probability proportional to its bound."""
        cdef dpf_words own
        cdef dpf_words *words = source(stream, &own)
        cdef size_t n = out.shape[0]
        if n == 0:
            return
        with nogil:
            dpf_choice_propose(&self.runs, words, &out[0], n)
        check(words)

    def keep(self, const int64_t[::1] run not None, const double[::1] distance not None,
             double slack, uint8_t[::1] kept not None, Py_ssize_t start,
             stream not None: BitStream | Script) -> tuple[int, int]:
        """Flip coins from `start` on; return (index, word) of an undecided one, or index n."""
        cdef dpf_words own
        cdef dpf_words *words = source(stream, &own)
        cdef size_t n = run.shape[0], at = start
        cdef uint64_t word = 0
        cdef Py_ssize_t i
        if distance.shape[0] != run.shape[0] or kept.shape[0] != run.shape[0] or start < 0:
            raise ValueError("run, distance and kept must have the same length")
        for i in range(run.shape[0]):
            if <uint64_t>run[i] >= self.runs.n:
                raise IndexError("no such run")
        if at >= n:
            return n, 0
        with nogil:
            at = dpf_choice_keep(&self.runs, words, &run[0], &distance[0], slack, &kept[0], at, n,
                                 &word)
        check(words)
        return at, word

    def draw(self, int64_t[::1] out not None, Py_ssize_t start,
             stream not None: BitStream | Script) -> tuple[int, int]:
        """Draw from `start` on; return (index, word) of an undecided draw, or index n."""
        cdef dpf_words own
        cdef dpf_words *words = source(stream, &own)
        cdef size_t n = out.shape[0], at = start
        cdef uint64_t word = 0
        if start < 0:
            raise ValueError("start must not be negative")
        if at >= n:
            return n, 0
        with nogil:
            at = dpf_choice_draw(&self.runs, words, &out[0], at, n, &word)
        check(words)
        return at, word


cdef dpf_choice_matrix _matrix(const double[:, ::1] values, const double[::1] best, double c,
                               double slack) except *:
    cdef dpf_choice_matrix made
    if best.shape[0] != values.shape[0] or values.shape[1] == 0:
        raise ValueError("values must have columns, and best a value for each row")
    if not (c > 0 and c < float("inf") and slack >= 0):
        raise ValueError("c must be positive and finite, slack not negative")
    made.rows, made.n = values.shape[0], values.shape[1]
    made.values = &values[0, 0] if made.rows else NULL
    made.best = &best[0] if made.rows else NULL
    made.c, made.slack = c, slack
    return made


def rows(const double[:, ::1] values not None, const double[::1] best not None, double c,
         double slack, uint64_t[::1] scratch not None, int64_t[:, ::1] out not None,
         Py_ssize_t start, stream not None: BitStream | Script) -> tuple[int, int, int]:
    """Draw from `start` on; return (index, bound, word) of an undecided draw, or index out.size."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef dpf_choice_matrix matrix = _matrix(values, best, c, slack)
    cdef size_t draws = out.shape[1], at = start
    cdef uint64_t bound = 0, word = 0
    if <size_t>scratch.shape[0] < matrix.n or <size_t>out.shape[0] != matrix.rows or start < 0:
        raise ValueError("scratch must have a place for each column, out a row for each row")
    if at >= matrix.rows * draws:
        return matrix.rows * draws, 0, 0
    with nogil:
        at = dpf_choice_rows(&matrix, words, draws, &scratch[0], &out[0, 0], at, &bound, &word)
    check(words)
    if at == DPF_CHOICE_EMPTY:
        raise ValueError("every candidate of a row is excluded")
    return at, bound, word


def row_sums(const double[:, ::1] values not None, const double[::1] best not None, double c,
             double slack, uint64_t[:, ::1] out not None):
    """Write the running sums of the bounds of each row (for tests)."""
    cdef dpf_choice_matrix matrix = _matrix(values, best, c, slack)
    if out.shape[0] != values.shape[0] or out.shape[1] != values.shape[1]:
        raise ValueError("out must have the shape of values")
    if matrix.rows:
        dpf_choice_row_sums(&matrix, &out[0, 0])


def subset(const double[:, ::1] values not None, const double[::1] best not None, double c,
           uint64_t[::1] drawn not None, uint8_t[::1] heads not None, bint settled,
           int64_t[::1] out not None, Py_ssize_t start, stream not None: BitStream | Script) -> int:
    """Permute-and-flip by row from `start` on; return a row with undecided coins, which are OPEN in
    `heads`, or the number of rows."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef dpf_choice_matrix matrix = _matrix(values, best, c, 0.0)
    cdef size_t at = start
    if <size_t>drawn.shape[0] < matrix.n or <size_t>heads.shape[0] < matrix.n:
        raise ValueError("drawn and heads must have a place for each column")
    if <size_t>out.shape[0] != matrix.rows or start < 0:
        raise ValueError("out must have a place for each row")
    if at >= matrix.rows:
        return matrix.rows
    with nogil:
        at = dpf_choice_subset(&matrix, words, &drawn[0], &heads[0], settled, &out[0], at)
    check(words)
    if at == DPF_CHOICE_EMPTY:
        raise ValueError("every candidate of a row is excluded")
    return at
