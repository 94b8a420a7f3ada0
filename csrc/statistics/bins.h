/* Rows to numbered bins with public edges, and counts of rows in each bin.
 *
 * Bin k has v with edges[k] <= v < edges[k + 1], within lo <= v <= hi. A row outside, or a NaN, is
 * in no bin. With `exact`, a bin has its lower edge alone. An integer beyond 2^53 counts as the
 * float64 nearest to it.
 *
 * A table says where to search. v is in cell t = (int)((v - lo) * scale), and each edge is in such
 * a cell, too. This map is non-decreasing, also in float64. So an edge of an earlier cell is below
 * v, and an edge of a later cell above it. So v is in bin first[t], or in one of the next `near`
 * bins, and comparisons decide.
 *
 * Its slow twin is tests/reference/statistics/histogram.py.
 */
#ifndef DPF_BINS_H
#define DPF_BINS_H

#include <stddef.h>
#include <stdint.h>

#define DPF_BINS_OUTSIDE 0x80000000u
/* The largest number of cells of all axes together. With it, sums for rows outside stay below 2^31,
 * so they do not change the bit DPF_BINS_OUTSIDE. */
#define DPF_BINS_MOST 0x3fffffffu

typedef struct {
    double lo, hi, scale;
    const double *edges;   /* the lower edge of each bin, ascending, and near + 1 infinities */
    const uint32_t *first; /* how many edges, without the first one, are in earlier cells */
    uint32_t bins;
    uint32_t near;         /* the most edges in one cell, without the first edge */
    int exact;
} dpf_bins_axis;

/* Adds stride times the bin of x[i] to the cell of row i, or sets its bit DPF_BINS_OUTSIDE. `kind`
 * is that of core/dtype.h. Returns 0, or -1 when the kind is unknown or dpf_isa() has no path. */
int dpf_bins_place(int kind, const void *x, size_t n, const dpf_bins_axis *axis, uint32_t stride,
                   uint32_t *place);
/* Adds 1 to the count of the cell of each row, or to counts[cells] if the row is outside. */
void dpf_bins_tally(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts);
/* For each of n rows, adds 1 to a cell of each of `many` marginals of `of` columns. Column j of
 * `codes` begins at j stride, and its numbers are below the size of the column. Marginal i has the
 * columns subset[i of], ..., whose sizes are size[0], ... in every marginal, and its counts begin
 * at i cells. */
void dpf_bins_marginals(const uint32_t *codes, size_t n, size_t stride, const uint32_t *subset,
                        size_t many, size_t of, const uint32_t *size, size_t cells,
                        int64_t *counts);
/* Adds 1 to the count of the bin of each row, for one axis; the last of bins + 1 counts is for rows
 * outside. */
int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                       int64_t *counts);

#endif
