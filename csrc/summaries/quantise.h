/* Values clamped to public bounds, put on a public grid, and summed as exact integers: no order of
 * the rows, no cut into chunks and no number of workers changes a bit.
 *
 * A value x counts as the cell u = rint(min(max(x, lo), hi) / grid) - first, ties to even, a number
 * from 0 to `span`; lo and hi are multiples of the grid, so clamping reaches nothing else. An
 * integer beyond 2^53 counts as the float64 nearest to it. u never falls as x grows. A NaN is
 * counted, and is cell 0 everywhere else, so that it adds nothing to a sum.
 *
 * Its slow twin is tests/reference/summaries/quantise.py.
 */
#ifndef DPF_QUANTISE_H
#define DPF_QUANTISE_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

#define DPF_QUANTISE_SPAN ((int64_t)1 << 41)        /* most cells of a sum */
#define DPF_QUANTISE_SQUARES ((int64_t)UINT32_MAX)  /* most cells of sums of products */
#define DPF_QUANTISE_REACH ((int64_t)1 << 51)       /* most of |lo| / grid and |hi| / grid */
#define DPF_QUANTISE_BLOCK 1024

typedef struct {
    double lo, hi; /* multiples of the grid */
    double scale;  /* 1 / grid, a power of two */
    int64_t first; /* lo / grid */
} dpf_quantise_cells;

/* Two's complement with 128 bits. */
typedef struct {
    uint64_t low, high;
} dpf_quantise_whole;

typedef struct {
    uint64_t nan;
    dpf_quantise_whole sum, squares; /* of cells */
} dpf_quantise_totals;

/* Adds n values to *totals, their squares too if asked for. -1 when there is no such kind or
 * path. */
int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells, int squares,
                     dpf_quantise_totals *totals);
/* The cell of each of n values, and where `missing` is given, 1 for each NaN. Returns as above. */
int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                      uint32_t *out, uint8_t *missing);
/* Adds the products of n pairs to *whole. -1 when there is no such path. */
int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n, dpf_quantise_whole *whole);
/* n values from row `from` on as float64, where they lie or in the buffer; integers beyond 2^53 are
 * rounded to nearest. The kind is one that dpf_can_read(). */
const double *dpf_quantise_floats(int kind, const void *x, size_t from, size_t n, double *buffer);

#endif
