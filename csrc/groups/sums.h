/* Exact sums of clamped values by group: cells as in summaries/quantise.h, added to the group that
 * each row is of. No order of the rows and no cut into chunks changes a bit.
 *
 * A row whose code is not 0 .. groups - 1 is of no group, and adds to nothing.
 */
#ifndef DPF_GROUPS_SUMS_H
#define DPF_GROUPS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "summaries/quantise.h"

/* Most rows of one call: so many cells of the widest span stay below 2^63. */
#define DPF_GROUPS_ROWS ((size_t)1 << 22)

typedef struct {
    uint64_t sum, rows;
} dpf_groups_total;

typedef struct {
    uint64_t sum, rows, low, high; /* the lower and the upper halves of squares */
} dpf_groups_moments;

/* Adds n rows to the groups; `out` has room for one group more, which is what rows of no group are
 * added to. A NaN counts as `filler`, or if that is negative, as no row. *nan counts those of a
 * group. -1 when there is no such kind or path, or n is too large. */
int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                   const dpf_quantise_cells *cells, int64_t filler, dpf_groups_total *out,
                   uint64_t *nan);

/* The same with squares, for cells of at most DPF_QUANTISE_SQUARES. */
int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                      const dpf_quantise_cells *cells, int64_t filler, dpf_groups_moments *out,
                      uint64_t *nan);

/* Adds the number of rows of each group to counts[0 .. groups], the last for rows of none. */
void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts);

#endif
