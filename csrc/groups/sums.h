/* Exact sums of clamped values by group. Each row has a cell, as in summaries/quantise.h; it is
 * added to the sum of the row's group. Neither the order of the rows nor their division into chunks
 * changes a bit.
 *
 * A row whose code is not in 0 .. groups - 1 is in no group, and counts in no sum of a group.
 *
 * Its slow twin is tests/reference/groups/sums.py.
 */
#ifndef DPF_GROUPS_SUMS_H
#define DPF_GROUPS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "summaries/quantise.h"

typedef struct {
    uint64_t sum, rows; /* `rows` has the number of rows in its lower 40 bits, and above them the
                         * carries of `sum` */
} dpf_groups_total;

typedef struct {
    uint64_t sum, rows, low, high; /* low and high: sums of the lower and upper halves of squares */
} dpf_groups_moments;

#define DPF_GROUPS_CARRY ((uint64_t)1 << 40)

/* Adds n rows to the groups. `out` has one more entry than there are groups, for the rows in no
 * group. A NaN counts as `nan_cell`, or if that is negative, its row does not count. *nan is
 * increased by the number of NaN in groups. Returns 0, or -1 when the kind is unknown or dpf_isa()
 * has no path. A group has less than 2^40 rows, and for dpf_groups_square less than 2^32. */
int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                   const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_total *out,
                   uint64_t *nan);

/* The same with sums of squares, for cells of at most DPF_QUANTISE_SQUARES. */
int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                      const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_moments *out,
                      uint64_t *nan);

/* Adds the number of rows of each group to counts[0 .. groups]; the last is for rows in no
 * group. */
void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts);

/* Writes the cell of each of n values, counted from the first cell; there are at most 2^31 cells.
 * The cell of a NaN is `nan_cell`. The code of a row in no group becomes `groups`, and so does that
 * of a NaN if `nan_cell` is negative. *nan and the result are as in dpf_groups_sum. */
int dpf_groups_cells(int kind, const void *x, size_t n, int32_t *codes, uint32_t groups,
                     const dpf_quantise_cells *cells, int64_t nan_cell, int32_t *out,
                     uint64_t *nan);

/* The linear combination a sum + b rows + c squares. */
typedef struct {
    int64_t a, b, c;
} dpf_groups_form;

/* out[g] = floor(form / 2^shift) of each group, clamped to [-2^62, 2^62]. `columns` is 2 for totals
 * and 4 for moments. */
void dpf_groups_combine(const uint64_t *totals, size_t groups, size_t columns, dpf_groups_form form,
                        unsigned shift, int64_t *out);

/* Adds n rows of several columns to the groups: x[j * n + i] is the number of row i in column j.
 * Group g has one total for each column, from out[g * columns] on. The last group is for rows in
 * none. */
void dpf_groups_columns(const uint32_t *x, size_t n, size_t columns, const int32_t *codes,
                        uint32_t groups, dpf_groups_total *out);

/* Bounds what each of n units adds, and adds it to `out`.
 *
 * Unit i has `columns` words of `totals`: sums and numbers of rows (dpf_groups_total), or with
 * `squares` the 4 words of dpf_groups_moments. Let T be the sum of factors times sums. The factors
 * are integers of 128 bits, low word first: one for each sum, or with `squares` those of the sum
 * and of the sum of squares, and at last that of the number of rows.
 *
 * A unit of c rows counts T min(c, most) / c, rounded towards zero, and nothing if c is 0. Unless
 * `ends` is NULL, this is clamped to two ends of 128 bits. Unless `whole` is NULL, a unit has
 * several of the n entries, and whole[i] is the number of rows of all its entries.
 *
 * The result is added to the integer of 128 bits out[codes[i]], or to the first one if `codes` is
 * NULL. If codes[i] is negative, it is ignored. T, and all sums of it, are less than 2^126 in
 * size. */
void dpf_groups_bound(const uint64_t *totals, size_t n, size_t columns, int squares,
                      const uint64_t *factors, uint64_t most, const uint64_t *ends,
                      const uint64_t *whole, const int32_t *codes, uint64_t *out);

#endif
