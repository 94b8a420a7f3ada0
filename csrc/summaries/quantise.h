/* Values clamped to public bounds, put on a public grid, and summed as exact integers. Neither the
 * order of the rows, nor their division into chunks, nor the number of workers changes a bit.
 *
 * A value x becomes the cell u = rint(min(max(x, lo), hi) / grid) - first, ties to even, an integer
 * from 0 to `span`. lo and hi are multiples of the grid, so they are cells, too. An integer beyond
 * 2^53 counts as the float64 nearest to it. u is non-decreasing in x. A NaN is counted; apart from
 * that it is cell 0, so it adds nothing to a sum.
 *
 * Its slow twin is tests/reference/summaries/quantise.py.
 */
#ifndef DPF_QUANTISE_H
#define DPF_QUANTISE_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

#define DPF_QUANTISE_SPAN ((int64_t)1 << 41)       /* the largest span for a sum */
#define DPF_QUANTISE_SQUARES ((int64_t)UINT32_MAX) /* the largest span for sums of products */
#define DPF_QUANTISE_REACH ((int64_t)1 << 51)      /* the largest |lo| / grid and |hi| / grid */
#define DPF_QUANTISE_BLOCK 1024

typedef struct {
    double lo, hi; /* multiples of the grid */
    double scale;  /* 1 / grid, a power of two */
    int64_t first; /* lo / grid */
} dpf_quantise_cells;

/* An integer of 128 bits, in two's complement. */
typedef struct {
    uint64_t low, high;
} dpf_quantise_whole;

typedef struct {
    uint64_t nan;
    dpf_quantise_whole sum, squares; /* the sum of cells, and of squared cells */
} dpf_quantise_totals;

/* Adds n values to *totals, and with `squares` their squares. Returns 0, or -1 when the kind is
 * unknown or dpf_isa() has no path. */
int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells, int squares,
                     dpf_quantise_totals *totals);
/* Writes the cell of each of n values, and to `missing`, unless it is NULL, 1 for a NaN and 0
 * otherwise. Returns as dpf_quantise_sum. */
int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                      uint32_t *out, uint8_t *missing);
/* Adds the products of n pairs to *whole. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n, dpf_quantise_whole *whole);
/* Returns n values from row `from` on as float64: x itself, or converted in the buffer. Integers
 * beyond 2^53 are rounded to nearest. dpf_can_read() must be true for the kind. */
const double *dpf_quantise_floats(int kind, const void *x, size_t from, size_t n, double *buffer);

#endif
