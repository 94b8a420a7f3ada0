/* Order statistics, trimmed values and the mode of each block of rows.
 *
 * A block is only read; the functions write to the caller's scratch. A result is a value of the
 * block, so neither the order of the rows nor the instruction set changes it. A -0 is returned as
 * +0.
 *
 * A value of a rank is computed as follows. A small sample, of rows at fixed indices, has two
 * values (pivots) such that the rank is between them with high probability. One pass
 * (summaries/window.h) counts the values outside and collects those between, and the same is
 * repeated on the collected values. For rows on which this fails repeatedly there is a radix
 * selection. So the worst case is O(n), too.
 *
 * Its slow twin is tests/reference/aggregate/estimators.py.
 */
#ifndef DPF_SELECT_H
#define DPF_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* The number of values of scratch beyond the size of the largest block. */
#define DPF_SELECT_SPARE 16

/* Passes may read this many times the size of a block; then radix selection is used. */
#define DPF_SELECT_EFFORT 6

/* Block j is rows[offsets[j]] .. rows[offsets[j + 1] - 1], for j < blocks. All functions return 0,
 * or -1 when dpf_isa() has no path. dpf_window_init() must have been called before. */

/* lower[j] and upper[j] become the values of rank ranks[j] and ranks[j] + 1 of block j, counted
 * from 0. If the second rank is beyond the last row, upper[j] is lower[j]. Both are NaN for a block
 * that is empty or has a NaN. */
int dpf_select_pairs(const double *rows, const int64_t *offsets, size_t blocks,
                     const int64_t *ranks, size_t effort, double *scratch, double *lower,
                     double *upper);

/* Writes to `out` the values of each block without the cuts[j] smallest and the cuts[j] largest,
 * one block after the other; inside of a block they are in no order. 2 cuts[j] is less than the
 * size of the block. For a block that has a NaN, the first value is NaN. */
int dpf_select_trimmed(const double *rows, const int64_t *offsets, size_t blocks,
                       const int64_t *cuts, size_t effort, double *scratch, double *out);

/* out[j] becomes the most frequent value of block j, the smallest of several; NaN for a block that
 * is empty or has a NaN. `keys` has room for twice the size of the largest block. O(n). */
void dpf_select_modes(const double *rows, const int64_t *offsets, size_t blocks, uint64_t *keys,
                      double *out);

#endif
