/* Exact sums of clamped values by group: cells as in summaries/quantise.h, added to the group that
 * each row is of. No order of the rows and no cut into chunks changes a bit.
 *
 * A row whose code is not 0 .. groups - 1 is of no group, and adds to nothing.
 *
 * Its slow twin is tests/reference/groups/sums.py.
 */
#ifndef DPF_GROUPS_SUMS_H
#define DPF_GROUPS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "summaries/quantise.h"

typedef struct {
    uint64_t sum, rows; /* rows in the lower 40 bits, and above them the carries of `sum` */
} dpf_groups_total;

typedef struct {
    uint64_t sum, rows, low, high; /* the lower and the upper halves of squares */
} dpf_groups_moments;

#define DPF_GROUPS_CARRY ((uint64_t)1 << 40)

/* Adds n rows to the groups; `out` has room for one group more, which is what rows of no group are
 * added to. A NaN counts as `nan_cell`, or if that is negative, as no row. *nan counts those of a
 * group. -1 when there is no such kind or path. A group has less than 2^40 rows, and in moments
 * less than 2^32. */
int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                   const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_total *out,
                   uint64_t *nan);

/* The same with squares, for cells of at most DPF_QUANTISE_SQUARES. */
int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                      const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_moments *out,
                      uint64_t *nan);

/* Adds the number of rows of each group to counts[0 .. groups], the last for rows of none. */
void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts);

/* The cell of each of n values, counted from the first, of which there are at most 2^31; that of a
 * NaN is `nan_cell`. The code of a row of no group becomes `groups`, also that of a NaN if
 * `nan_cell` is negative. Returns and counts as above. */
int dpf_groups_cells(int kind, const void *x, size_t n, int32_t *codes, uint32_t groups,
                     const dpf_quantise_cells *cells, int64_t nan_cell, int32_t *out,
                     uint64_t *nan);

/* A sum of what was added up: a sum + b rows + c squares. */
typedef struct {
    int64_t a, b, c;
} dpf_groups_form;

/* out[g] = floor(form / 2^shift) of each group, or the number of int64 nearest to it that is at
 * most 2^62 in size. `columns` is 2 for totals and 4 for moments. */
void dpf_groups_combine(const uint64_t *totals, size_t groups, size_t columns, dpf_groups_form form,
                        unsigned shift, int64_t *out);

/* Adds n rows to the groups, each of them a number in each of some columns of n: `out` has a sum
 * for each, side by side, and for rows of no group as above. */
void dpf_groups_columns(const uint32_t *x, size_t n, size_t columns, const int32_t *codes,
                        uint32_t groups, dpf_groups_total *out);

/* What units count for: of each of n, whose rows and sums were added up side by side, `columns`
 * words in all, the integer T = sum of factors times sums. The factors are of 128 bits, low word
 * first: one for each sum, or with `squares` (then there are 4 words) of the sum and of squares,
 * and then that of rows. A unit of c rows counts T min(c, most) / c, rounded towards zero, or
 * unless `ends` is NULL, the number between two of 128 bits that is nearest to that; nothing if c
 * is 0. Unless `whole` is NULL, a unit has several of the n, and `whole` says its number of rows
 * for each. It is added to out[codes[i]], of 128 bits each, or to the first if `codes` is NULL;
 * nowhere if that is negative. T, and all sums of it, are less than 2^126 in size. */
void dpf_groups_bound(const uint64_t *totals, size_t n, size_t columns, int squares,
                      const uint64_t *factors, uint64_t most, const uint64_t *ends,
                      const uint64_t *whole, const int32_t *codes, uint64_t *out);

#endif
