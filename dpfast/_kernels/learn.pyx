"""Sums of clamped rows: by class, cell, side of a hyperplane, or center (see csrc/learn)."""

from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from .core cimport check_status


# --- box ------------------------------------------------------------------------------------------

cdef extern from "learn/box.h" nogil:
    ctypedef struct dpf_box_limits:
        double scale
        size_t rows
        const double *lo
        const double *hi
        const double *middle
    int dpf_box(const double *x, size_t n, size_t width, const dpf_box_limits *limits, double *out,
                size_t *nan)


def box_whole(const double[:, ::1] rows not None, double scale, const double[:, ::1] lo not None,
          const double[:, ::1] hi not None, const double[:, ::1] middle not None,
          double[:, ::1] out not None) -> int:
    """Write the integers of some rows to `out`; return how many numbers are NaN.

    `lo`, `hi` and `middle`, in cells, are the limits of the columns. They are repeated for several rows,
    so that a loop over them is long.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], found = 0
    cdef dpf_box_limits limits
    cdef int status
    if not (lo.shape[0] == hi.shape[0] == middle.shape[0] and lo.shape[0] > 0):
        raise ValueError("as many rows of each limit, and at least one")
    if not (rows.shape[1] == lo.shape[1] == hi.shape[1] == middle.shape[1] == out.shape[1]
            and width > 0) or out.shape[0] < rows.shape[0]:
        raise ValueError("out and the limits must have as many columns as the rows")
    if n == 0:
        return 0
    limits = dpf_box_limits(scale, lo.shape[0], &lo[0, 0], &hi[0, 0], &middle[0, 0])
    with nogil:
        status = dpf_box(&rows[0, 0], n, width, &limits, &out[0, 0], &found)
    check_status(status)
    return found


# --- classes --------------------------------------------------------------------------------------

cdef extern from "learn/classes.h" nogil:
    size_t DPF_CLASSES_ROWS
    int64_t DPF_CLASSES_REACH
    ctypedef struct dpf_classes_limits:
        const double *scale
        const double *lo
        const double *hi
        const double *middle
    int dpf_classes(const double *x, size_t n, size_t width, const dpf_classes_limits *limits,
                    const uint32_t *key, uint32_t keys, double *sums, size_t *nan)

#: The most rows in a call, and the largest distance of a cell from the middle.
CLASSES_MOST_ROWS, CLASSES_REACH = DPF_CLASSES_ROWS, DPF_CLASSES_REACH


def class_totals(const double[:, ::1] rows not None, const double[:, ::1] limits not None,
           const uint32_t[::1] key not None, double[:, :, ::1] sums not None) -> int:
    """Add each row to the sums of its key; return how many numbers are NaN.

    The rows of `limits` are scales, first cells, last cells and middles. `sums` has the shape (keys + 1,
    2, columns): sums of cells, and of squared cells; the last ones are for all other keys.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], found = 0
    cdef size_t keys = sums.shape[0] - 1
    cdef dpf_classes_limits own
    cdef int status
    cdef Py_ssize_t j
    if sums.shape[0] < 1 or keys >= 0xffffffff or <size_t>key.shape[0] != n or sums.shape[1] != 2 \
            or limits.shape[0] != 4 or width < 1 or \
            not (width == <size_t>limits.shape[1] == <size_t>sums.shape[2]):
        raise ValueError("there must be a key a row, and limits and sums for each column")
    if n > DPF_CLASSES_ROWS:
        raise ValueError("too many rows at a time")
    for j in range(limits.shape[1]):
        if not (limits[1, j] >= limits[3, j] - CLASSES_REACH and limits[2, j] <= limits[3, j] + CLASSES_REACH):
            raise ValueError("cells must not be too far from the middle")
    if n == 0:
        return 0
    own = dpf_classes_limits(&limits[0, 0], &limits[1, 0], &limits[2, 0], &limits[3, 0])
    with nogil:
        status = dpf_classes(&rows[0, 0], n, width, &own, &key[0], <uint32_t>keys,
                             &sums[0, 0, 0], &found)
    check_status(status)
    return found


# --- cross ----------------------------------------------------------------------------------------

cdef extern from "learn/cross.h" nogil:
    ctypedef struct dpf_cross_limits:
        size_t rows
        const double *first
        const double *values
    int dpf_cross_codes(const double *x, size_t n, size_t width, const dpf_cross_limits *limits,
                        uint32_t *codes)
    ctypedef struct dpf_cross_node:
        uint32_t split, child, last
    void dpf_cross_walk(const uint32_t *codes, size_t width, size_t n,
                        const dpf_cross_node *nodes, size_t steps, uint32_t *node)
    void dpf_cross_keys(const uint32_t *node, const uint32_t *label, size_t n,
                        const uint32_t *slot, uint32_t classes, uint32_t *key)
    int dpf_cross_count(const uint32_t *codes, size_t width, size_t n, const uint32_t *key,
                        uint32_t keys, const uint32_t *values, int64_t *counts)

#: The number that means no slot, or no key.
NONE = UINT32_MAX
#: The most keys, and the most cells of all attributes together.
MOST_KEYS, MOST_CELLS = 0x7fffffff, 0x3fffffff


cdef class Tree:
    """The nodes of a tree; the first is the root.

    A row at node i goes to ``child[i]`` plus its code in the attribute ``split[i]``, but at most to
    ``child[i] + last[i]``. A leaf is its own child, with ``last[i] = 0``.
    """

    cdef dpf_cross_node *nodes
    cdef readonly size_t size, width
    cdef object given

    def __cinit__(self, const uint32_t[::1] split not None, const uint32_t[::1] child not None,
                  const uint32_t[::1] last not None, size_t width):
        cdef Py_ssize_t i, size = split.shape[0]
        if size < 1 or width < 1 or child.shape[0] != size or last.shape[0] != size:
            raise ValueError("there must be a root, an attribute, and as many numbers as nodes")
        for i in range(size):
            if split[i] >= width or <size_t>child[i] + last[i] >= <size_t>size:
                raise ValueError("every child must be a node, and every split an attribute")
        self.nodes = <dpf_cross_node *>calloc(size, sizeof(dpf_cross_node))
        if self.nodes == NULL:
            raise MemoryError
        self.size, self.width = size, width
        for i in range(size):
            self.nodes[i] = dpf_cross_node(split[i], child[i], last[i])
        self.given = split.base, child.base, last.base, width

    def __reduce__(self):
        return type(self), self.given

    def __dealloc__(self):
        free(self.nodes)

    def walk(self, const uint32_t[:, ::1] codes not None, size_t steps,
             uint32_t[::1] node not None):
        """Write the node that each row reaches from the root in `steps` steps.

        `codes` has shape (rows, width).
        """
        cdef size_t n = node.shape[0]
        if <size_t>codes.shape[1] != self.width or <size_t>codes.shape[0] != n:
            raise ValueError("there must be a code for each row and attribute")
        if n == 0:
            return
        with nogil:
            node[:] = 0
            dpf_cross_walk(&codes[0, 0], self.width, n, self.nodes, steps, &node[0])

    def keys(self, const uint32_t[::1] node not None, const uint32_t[::1] label not None,
             const uint32_t[::1] slot not None, uint32_t classes, uint32_t[::1] key not None):
        """Write ``slot[node] * classes + label``, or NONE, for each row; each node has a slot."""
        cdef size_t n = node.shape[0], i
        cdef uint32_t last = 0
        if <size_t>label.shape[0] != n or <size_t>key.shape[0] != n or \
                <size_t>slot.shape[0] != self.size:
            raise ValueError("there must be a label and a key a row, and a slot a node")
        for i in range(n):
            last = max(last, node[i])
        if last >= self.size:
            raise ValueError("every row must be at a node")
        for i in range(self.size):
            if slot[i] != UINT32_MAX and (<uint64_t>slot[i] + 1) * classes > MOST_KEYS:
                raise ValueError("there are too many keys")
        if n == 0:
            return
        with nogil:
            dpf_cross_keys(&node[0], &label[0], n, &slot[0], classes, &key[0])


def codes(const double[:, ::1] rows not None, const double[:, ::1] first not None,
          const double[:, ::1] values not None, uint32_t[:, ::1] out not None):
    """Write the code of each number: its distance from the first value of its column.

    The values of column j are the integers ``first[:, j] .. first[:, j] + values[:, j] - 1``, at most
    2**31 of them. Any other number has the code ``values[:, j]``. The limits may be repeated for several
    rows, so that one loop runs over as many rows.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1]
    cdef dpf_cross_limits limits
    cdef int status
    cdef Py_ssize_t i, j
    if first.shape[0] < 1 or first.shape[0] != values.shape[0] or width < 1:
        raise ValueError("there must be a column, and limits")
    if not (width == <size_t>first.shape[1] == <size_t>values.shape[1] == <size_t>out.shape[1]) or \
            n != <size_t>out.shape[0]:
        raise ValueError("there must be limits for each column, and a code for each number")
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if not 0 <= values[i, j] < 2147483648.0:
                raise ValueError("there are too many values")
    if n == 0:
        return
    limits = dpf_cross_limits(first.shape[0], &first[0, 0], &values[0, 0])
    with nogil:
        status = dpf_cross_codes(&rows[0, 0], n, width, &limits, &out[0, 0])
    check_status(status)


def cells(const uint32_t[::1] values not None, uint32_t keys) -> tuple[NDArray[np.int64], int]:
    """Return where the counts of each attribute begin, and the number of all counts."""
    sizes = (np.asarray(values, np.int64) + 1) * (<int64_t>keys + 1)
    ends = np.cumsum(sizes)
    return ends - sizes, int(sizes.sum())


def count(const uint32_t[:, ::1] codes not None, const uint32_t[::1] key not None, uint32_t keys,
          const uint32_t[::1] values not None, int64_t[::1] counts not None):
    """Add each row to its cell of each attribute.

    The cells of an attribute are a table of shape (values + 1, keys + 1); its last row and its last
    column are for all other codes and keys. The tables follow one another.
    """
    cdef size_t n = key.shape[0], width = values.shape[0]
    cdef uint64_t size = 0
    cdef int status
    cdef Py_ssize_t a
    if width < 1 or <size_t>codes.shape[1] != width or <size_t>codes.shape[0] != n:
        raise ValueError("there must be a code for each row and attribute")
    if keys > MOST_KEYS:
        raise ValueError("there are too many keys")
    for a in range(values.shape[0]):
        size += (<uint64_t>values[a] + 1) * (<uint64_t>keys + 1)
        if size > MOST_CELLS:
            raise ValueError("there are too many cells")
    if <uint64_t>counts.shape[0] != size:
        raise ValueError("counts must have a number for each cell")
    if n == 0:
        return
    with nogil:
        status = dpf_cross_count(&codes[0, 0], width, n, &key[0], keys, &values[0], &counts[0])
    check_status(status)


# --- gram -----------------------------------------------------------------------------------------

cdef extern from "learn/gram.h" nogil:
    int64_t DPF_GRAM_REACH
    size_t DPF_GRAM_ROWS, DPF_GRAM_CALL, DPF_GRAM_WIDTH
    size_t DPF_GRAM_SCRATCH(size_t width)
    int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
                 int64_t *sums, int64_t *products, double *scratch, size_t *done)

#: The rows of a block, the most rows in a call, and the most columns.
GRAM_STRETCH, GRAM_MOST_ROWS, GRAM_MOST_COLUMNS = DPF_GRAM_ROWS, DPF_GRAM_CALL, DPF_GRAM_WIDTH


def gram_add(const double[:, ::1] rows not None, double scale, const double[:, ::1] lo not None,
        const double[:, ::1] hi not None, const double[:, ::1] middle not None,
        int64_t[::1] sums not None, int64_t[:, ::1] products not None) -> int:
    """Add the sums of all columns to `sums`, and those of ``z_i z_j``, i <= j, to `products`.

    Stop before the first block of rows that has a NaN, and return how many rows were added. z and the
    limits are those of `box_whole`.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], done = 0
    cdef dpf_box_limits limits
    cdef double[::1] scratch
    cdef Py_ssize_t i, j
    cdef int status
    if not (lo.shape[0] == hi.shape[0] == middle.shape[0] and lo.shape[0] > 0):
        raise ValueError("as many rows of each limit, and at least one")
    if not (rows.shape[1] == lo.shape[1] == hi.shape[1] == middle.shape[1] == sums.shape[0]
            == products.shape[0] == products.shape[1] and 0 < width <= DPF_GRAM_WIDTH):
        raise ValueError("limits and sums must have as many columns as the rows, and not too many")
    for i in range(lo.shape[0]):
        for j in range(lo.shape[1]):
            if not (middle[i, j] - DPF_GRAM_REACH <= lo[i, j] <= hi[i, j]
                    <= middle[i, j] + DPF_GRAM_REACH):
                raise ValueError("limits must be in order, and near their middle")
    if n > DPF_GRAM_CALL:
        raise ValueError("too many rows at a time")
    if n == 0:
        return 0
    scratch = np.empty(DPF_GRAM_SCRATCH(width))
    limits = dpf_box_limits(scale, lo.shape[0], &lo[0, 0], &hi[0, 0], &middle[0, 0])
    with nogil:
        status = dpf_gram(&rows[0, 0], n, width, &limits, &sums[0], &products[0, 0], &scratch[0],
                          &done)
    check_status(status)
    return done


# --- margin ---------------------------------------------------------------------------------------

cdef extern from "learn/margin.h" nogil:
    size_t DPF_MARGIN_ROWS
    double DPF_MARGIN_REACH
    ctypedef struct dpf_place:
        size_t width
        const double *lo
        const double *hi
        const double *middle
        const double *scale
        const double *fill
    ctypedef struct dpf_margin_model:
        dpf_place place
        const double *w
        double bias, length
        int skip
    ctypedef struct dpf_margin_found:
        size_t wrong, missing
        double labels
    size_t DPF_MARGIN_SCRATCH(size_t width)
    int dpf_margin(const double *rows, const double *labels, size_t n,
                   const dpf_margin_model *model, double *sums, double *scratch,
                   dpf_margin_found *found)

cdef extern from "learn/pairs.h" nogil:
    size_t DPF_PAIRS_CALL, DPF_PAIRS_ROWS
    double DPF_PAIRS_REACH
    size_t DPF_PAIRS_SCRATCH(size_t width)
    int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place,
                  int skip, int64_t *sums, int64_t *products, double *scratch, size_t *missing)

MARGIN_MOST_ROWS, PAIRS_MOST_ROWS, PAIRS_STRETCH = DPF_MARGIN_ROWS, DPF_PAIRS_CALL, DPF_PAIRS_ROWS
MARGIN_REACH, PAIRS_REACH = int(DPF_MARGIN_REACH), int(DPF_PAIRS_REACH)


cdef int _margin_columns(const double[:, ::1] columns, double reach) except -1:
    """Refuse limits that are not in order, or allow a coordinate above `reach`."""
    cdef Py_ssize_t j
    for j in range(columns.shape[1]):
        if not (columns[0, j] <= columns[1, j] and columns[3, j] >= 0
                and (columns[1, j] - columns[2, j]) * columns[3, j] <= reach + 0.25
                and (columns[2, j] - columns[0, j]) * columns[3, j] <= reach + 0.25
                and columns[4, j] == columns[4, j]):
            raise ValueError("limits must be in order, and no coordinate too large")
    return 0


def margin_wrong(const double[:, ::1] rows not None, const double[::1] labels not None,
          const double[:, ::1] columns not None, const double[::1] w not None, double bias,
          double length, bint skip, double[::1] sums not None) -> tuple[int, int, int]:
    """Return how many rows are on the wrong side, the sum of their labels, and how many have a NaN.

    The rows of `columns` are lo, hi, middle, scale and fill. No coordinate may be larger than
    `MARGIN_REACH`. The sums of the coordinates of the wrong rows are added to `sums`.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1]
    cdef double[::1] scratch
    cdef dpf_margin_model model
    cdef dpf_margin_found found
    cdef int status
    if not width or columns.shape[0] != 5 or not (
            columns.shape[1] == w.shape[0] == sums.shape[0] == rows.shape[1]):
        raise ValueError("five numbers of each column, and one of w and of sums")
    if labels.shape[0] != rows.shape[0]:
        raise ValueError("one label for each row")
    if n > DPF_MARGIN_ROWS:
        raise ValueError("too many rows at a time")
    _margin_columns(columns, DPF_MARGIN_REACH)
    if n == 0:
        return 0, 0, 0
    scratch = np.empty(DPF_MARGIN_SCRATCH(width))
    model = dpf_margin_model(
        dpf_place(width, &columns[0, 0], &columns[1, 0], &columns[2, 0], &columns[3, 0],
                  &columns[4, 0]), &w[0], bias, length, skip)
    found = dpf_margin_found(0, 0, 0)
    with nogil:
        status = dpf_margin(&rows[0, 0], &labels[0], n, &model, &sums[0], &scratch[0], &found)
    check_status(status)
    return found.wrong, int(found.labels), found.missing


def pairs_add(const double[:, ::1] rows not None, const double[::1] labels not None,
          const double[:, ::1] columns not None, bint skip, int64_t[::1] sums not None,
          int64_t[::1] products not None) -> int:
    """Add the sums of coordinates and of their products; return how many rows have a NaN.

    The labels are the last column. Products are those of an upper triangle, row by row. `columns` is as
    in `margin_wrong`, with one column more for the labels. No coordinate may be larger than
    `PAIRS_REACH`.
    """
    cdef size_t n = rows.shape[0], width = columns.shape[1], missing = 0
    cdef double[::1] scratch
    cdef dpf_place place
    cdef int status
    if columns.shape[0] != 5 or rows.shape[1] < 1 or not (
            columns.shape[1] == sums.shape[0] == rows.shape[1] + 1):
        raise ValueError("five numbers of each column and of the labels, and a sum for each")
    if <size_t>products.shape[0] != width * (width + 1) // 2:
        raise ValueError("one product of each two columns")
    if labels.shape[0] != rows.shape[0]:
        raise ValueError("one label for each row")
    if n > DPF_PAIRS_CALL:
        raise ValueError("too many rows at a time")
    _margin_columns(columns, DPF_PAIRS_REACH)
    if n == 0:
        return 0
    scratch = np.empty(DPF_PAIRS_SCRATCH(width))
    place = dpf_place(width, &columns[0, 0], &columns[1, 0], &columns[2, 0], &columns[3, 0],
                      &columns[4, 0])
    with nogil:
        status = dpf_pairs(&rows[0, 0], &labels[0], n, &place, skip, &sums[0], &products[0],
                           &scratch[0], &missing)
    check_status(status)
    return missing


# --- nearest --------------------------------------------------------------------------------------

cdef extern from "learn/nearest.h" nogil:
    int64_t DPF_NEAREST_SPAN, DPF_NEAREST_REACH
    size_t DPF_NEAREST_ROWS
    ctypedef struct dpf_nearest_column:
        double lo, hi, middle, fill, scale
        int64_t first
    ctypedef struct dpf_nearest_model:
        size_t width, centres
        double unit
        int skip
        const dpf_nearest_column *columns
        const double *at
        const double *half
    size_t DPF_NEAREST_SCRATCH(size_t width, size_t centres)
    int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                    uint64_t *counts, uint64_t *sums, uint64_t *scratch)

NEAREST_MOST_ROWS = DPF_NEAREST_ROWS


cdef class NearestColumns:
    """The public numbers of the columns: cells ``first .. first + span`` of width ``1 / scale``.

    The value of a row in column j is clamped to the first and the last cell. Its coordinate is its
    distance from ``middle[j]``, times `unit`. A NaN counts as ``fill[j]``, or its row has no centre.
    """

    cdef dpf_nearest_column *columns
    cdef readonly size_t width
    cdef double unit
    cdef int skip
    cdef object given

    def __cinit__(self, const double[::1] scale not None, const int64_t[::1] first not None,
                  const int64_t[::1] span not None, const double[::1] middle not None,
                  const double[::1] fill not None, double unit, bint skip):
        cdef Py_ssize_t j
        self.width = scale.shape[0]
        if not self.width or not (first.shape[0] == span.shape[0] == middle.shape[0]
                                  == fill.shape[0] == scale.shape[0]):
            raise ValueError("one number for each column, and at least one column")
        self.columns = <dpf_nearest_column *>calloc(self.width, sizeof(dpf_nearest_column))
        if self.columns == NULL:
            raise MemoryError
        self.unit, self.skip = unit, skip
        for j in range(scale.shape[0]):
            if not (0 <= span[j] <= DPF_NEAREST_SPAN and -DPF_NEAREST_REACH <= first[j]
                    and first[j] + span[j] <= DPF_NEAREST_REACH):
                raise ValueError("cells must be few enough and not too far from 0")
            if not scale[j] > 0 or fill[j] != fill[j]:
                raise ValueError("scale must be positive, and fill a number")
            self.columns[j] = dpf_nearest_column(
                first[j] / scale[j], (first[j] + span[j]) / scale[j], middle[j], fill[j], scale[j],
                first[j])
        self.given = scale.base, first.base, span.base, middle.base, fill.base, unit, skip

    def __reduce__(self):
        return type(self), self.given

    def __dealloc__(self):
        free(self.columns)

    cdef int run(self, const double[:, ::1] rows, const double[:, ::1] at, const double[::1] half,
                 int64_t *labels, uint64_t *counts, uint64_t *sums) except -1:
        cdef size_t n = rows.shape[0]
        cdef int status
        cdef dpf_nearest_model model
        cdef uint64_t[::1] scratch
        if not (<size_t>rows.shape[1] == <size_t>at.shape[1] == self.width) or \
                half.shape[0] != at.shape[0] or at.shape[0] < 1:
            raise ValueError("rows and centres must have as many columns")
        if n > DPF_NEAREST_ROWS:
            raise ValueError("too many rows at a time")
        if n == 0:
            return 0
        scratch = np.empty(DPF_NEAREST_SCRATCH(self.width, at.shape[0]), np.uint64)
        model = dpf_nearest_model(self.width, at.shape[0], self.unit, self.skip, self.columns,
                                  &at[0, 0], &half[0])
        with nogil:
            status = dpf_nearest(&rows[0, 0], n, &model, labels, counts, sums, &scratch[0])
        check_status(status)
        return 0

    def totals(self, const double[:, ::1] rows not None, const double[:, ::1] at not None,
               const double[::1] half not None, uint64_t[::1] counts not None,
               uint64_t[:, ::1] sums not None):
        """Add the number of rows of each centre, and the sums of their cells.

        The last entry of each is for rows without a centre; `half` is half of the squared length of
        each centre.
        """
        cdef Py_ssize_t k = at.shape[0]
        if counts.shape[0] != k + 1 or sums.shape[0] != k + 1 or \
                <size_t>sums.shape[1] != self.width:
            raise ValueError("counts and sums must have an entry for each centre and one more")
        self.run(rows, at, half, NULL, &counts[0], &sums[0, 0])

    def labels(self, const double[:, ::1] rows not None, const double[:, ::1] at not None,
               const double[::1] half not None, int64_t[::1] out not None):
        """Write the index of each row's nearest centre, or the number of centres if it has none."""
        if out.shape[0] != rows.shape[0]:
            raise ValueError("out must be as long as the rows")
        if out.shape[0]:
            self.run(rows, at, half, &out[0], NULL, NULL)
