"""Estimators that need a block side by side (csrc/aggregate/select.h, aggregate/logistic.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t

from ..errors import NativeError

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


cdef int _same(Py_ssize_t n, Py_ssize_t m) except -1:
    if n != m:
        raise ValueError(f"lengths must agree, got {n} and {m}")
    return 0


cdef int64_t _largest(const int64_t[::1] offsets, Py_ssize_t rows) except -1:
    """The size of the largest block, if blocks lie inside the rows."""
    cdef Py_ssize_t j
    cdef int64_t most = 0
    if offsets.shape[0] < 1 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > rows:
        raise ValueError("offsets must stay inside rows")
    for j in range(offsets.shape[0] - 1):
        if offsets[j + 1] < offsets[j]:
            raise ValueError("offsets must not fall")
        most = max(most, offsets[j + 1] - offsets[j])
    return most


cdef int _status(int status) except -1:
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return 0


def pairs(const double[::1] rows not None, const int64_t[::1] offsets not None,
          const int64_t[::1] ranks not None, double[::1] scratch not None,
          double[::1] lower not None, double[::1] upper not None,
          size_t effort=DPF_SELECT_EFFORT):
    """Values of rank ``ranks[j]`` and the next of block j, into `lower` and `upper`.

    `scratch` has as many values as the largest block and `SPARE` more.
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
    _status(status)


def trimmed(const double[::1] rows not None, const int64_t[::1] offsets not None,
            const int64_t[::1] cuts not None, double[::1] scratch not None,
            double[::1] out not None, size_t effort=DPF_SELECT_EFFORT):
    """The values of block j without the ``cuts[j]`` smallest and largest, block after block.

    `scratch` as in `pairs`; `out` has room for what is left, exactly or more.
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
    _status(status)


def modes(const double[::1] rows not None, const int64_t[::1] offsets not None,
          uint64_t[::1] keys not None, double[::1] out not None):
    """The most frequent value of each block. `keys` has twice the size of the largest."""
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
    """Coefficients of block j in row j of `out`, the intercept first; NaN for no answer.

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
    _status(status)


def logistic_work(Py_ssize_t width):
    """Values of work space for rows of `width` columns."""
    return DPF_LOGISTIC_WORK(width)
