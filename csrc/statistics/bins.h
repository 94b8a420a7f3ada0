/* Rows to numbered bins with public edges, and how many rows are in each.
 *
 * Bin k holds v with edges[k] <= v < edges[k + 1], within lo <= v <= hi. A row outside, or a NaN,
 * is in none. With `exact`, a bin holds its lower edge alone. An integer beyond 2^53 counts as the
 * float64 nearest to it.
 *
 * Where to look is read from a table: v is in cell t = (int)((v - lo) * scale), and so is each
 * edge. The map never falls, in float64 too, so an edge of an earlier cell is below v and one of a
 * later cell above it: v is in bin first[t], or in one of the next `near`, and comparisons decide.
 *
 * Its slow twin is tests/reference/statistics/histogram.py.
 */
#ifndef DPF_BINS_H
#define DPF_BINS_H

#include <stddef.h>
#include <stdint.h>

#define DPF_BINS_OUTSIDE 0x80000000u
/* Cells of all axes together: places of rows that are outside stay below 2^31 too. */
#define DPF_BINS_MOST 0x3fffffffu

typedef struct {
    double lo, hi, scale;
    const double *edges;   /* the lower edge of each bin, ascending; near + 1 infinities behind them */
    const uint32_t *first; /* how many edges but the first one lie in earlier cells */
    uint32_t bins;
    uint32_t near;         /* most edges in one cell, without the first one */
    int exact;
} dpf_bins_axis;

/* Adds stride times the bin of x[i] to the cell of row i, or marks it DPF_BINS_OUTSIDE. `kind`
 * is that of summaries/quantise.h. -1 when there is no such kind or path. */
int dpf_bins_place(int kind, const void *x, size_t n, const dpf_bins_axis *axis, uint32_t stride,
                   uint32_t *place);
/* Adds 1 to the count of the cell of each row, to counts[cells] if it is outside. */
void dpf_bins_tally(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts);
/* Adds 1 to a cell of each of `many` marginals of `of` columns for each of n rows. Column j of
 * codes begins at j stride; its numbers are below the size of that column. Marginal i is that of
 * the columns subset[i of], ..., which have the sizes size[0], ... in each, and its counts begin at
 * i cells. */
void dpf_bins_marginals(const uint32_t *codes, size_t n, size_t stride, const uint32_t *subset,
                        size_t many, size_t of, const uint32_t *size, size_t cells,
                        int64_t *counts);
/* Both at once for one axis; counts has bins + 1 numbers. */
int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                       int64_t *counts);

#endif
