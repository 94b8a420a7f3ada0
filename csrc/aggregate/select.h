/* Order statistics, trimmed values and the mode of each block of rows.
 *
 * A block is only read; everything else happens in the caller's scratch. What comes out is a value
 * of the block, so no order of the rows and no instruction set changes it. A zero comes out as +0.
 *
 * A value of given rank is found by bracketing: two values of a small sample, of rows at fixed
 * indices, are almost surely on either side of it, one pass (summaries/window.h) counts what lies
 * outside and collects what lies between, and so on in what was collected. When rows are made so
 * that the samples lead astray, a radix selection takes over, so the worst case is O(n) too.
 *
 * Its slow twin is tests/reference/aggregate/estimators.py.
 */
#ifndef DPF_SELECT_H
#define DPF_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* Values of scratch beyond the rows of the largest block. */
#define DPF_SELECT_SPARE 16

/* Times the size of a block that passes may read before radix selection takes over. */
#define DPF_SELECT_EFFORT 6

/* Block j is rows[offsets[j]] .. rows[offsets[j + 1] - 1], for j < blocks. All functions return 0,
 * or -1 when dpf_isa() has no path, and have made tables ready by dpf_window_init(). */

/* lower[j], upper[j] = the values of rank ranks[j] and ranks[j] + 1 of block j, counted from 0; the
 * second is the first again where there is none. Both are NaN for an empty block and for one
 * that holds a NaN. */
int dpf_select_pairs(const double *rows, const int64_t *offsets, size_t blocks,
                     const int64_t *ranks, size_t effort, double *scratch, double *lower,
                     double *upper);

/* The values of each block but the cuts[j] smallest and the cuts[j] largest, one block after the
 * other and in no order, to `out`; 2 cuts[j] < size. NaN first for a block that holds a NaN. */
int dpf_select_trimmed(const double *rows, const int64_t *offsets, size_t blocks,
                       const int64_t *cuts, size_t effort, double *scratch, double *out);

/* The value that occurs most often in each block, the smallest of several; NaN for an empty block
 * and for one that holds a NaN. `keys` takes twice the size of the largest block. O(n). */
void dpf_select_modes(const double *rows, const int64_t *offsets, size_t blocks, uint64_t *keys,
                      double *out);

#endif
