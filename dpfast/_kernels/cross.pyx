"""Rows of small codes: where they end in a tree, and joint counts (see csrc/sulq/cross.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from ..errors import NativeError

cdef extern from "sulq/cross.h" nogil:
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

#: The number of a slot, or a key, that is none.
NONE = UINT32_MAX
#: Most keys, and most cells of all attributes.
MOST_KEYS, MOST_CELLS = 0x7fffffff, 0x3fffffff


cdef class Tree:
    """Nodes of which the first is the root.

    Node i sends a row to ``child[i]`` plus its code in the attribute ``split[i]``, or to
    ``child[i] + last[i]`` if the code is beyond that; a leaf is its own child, with last 0.
    """

    cdef dpf_cross_node *nodes
    cdef readonly size_t size, width

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

    def __dealloc__(self):
        free(self.nodes)

    def walk(self, const uint32_t[:, ::1] codes not None, size_t steps,
             uint32_t[::1] node not None):
        """Write the node where each row is so many steps from the root.

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
        """Write ``slot[node] * classes + label``, or NONE, for each row; `slot` is for each node."""
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
    """Write the code of each number: its distance from the first value, if it is one of them.

    Those of column j are the integers ``first[:, j] .. first[:, j] + values[:, j] - 1``, at most
    2**31 of them; any other number has the code ``values[:, j]``. The limits of a row stand there
    once or several times, so that one loop runs over as many rows.
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
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")


def cells(const uint32_t[::1] values not None, uint32_t keys):
    """Where the counts of each attribute begin, and how many there are in all."""
    sizes = (np.asarray(values, np.int64) + 1) * (<int64_t>keys + 1)
    ends = np.cumsum(sizes)
    return ends - sizes, int(sizes.sum())


def count(const uint32_t[:, ::1] codes not None, const uint32_t[::1] key not None, uint32_t keys,
          const uint32_t[::1] values not None, int64_t[::1] counts not None):
    """Add each row to its cell of each attribute.

    The cells of an attribute are a table of shape (values + 1, keys + 1), whose last row and column
    are for codes and keys that are none; they lie one after the other.
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
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
