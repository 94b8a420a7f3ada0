/* How many rows there are of each sign and magnitude: a sixteenth of an octave a cell.
 *
 * A row is counted in the cell of the upper 16 bits of its float64: a sign, 11 bits of exponent,
 * and 4 of the fraction. An integer beyond 2^53 counts as the float64 nearest to it.
 *
 * Its slow twin is tests/reference/statistics/bounds.py.
 */
#ifndef DPF_MAGNITUDES_H
#define DPF_MAGNITUDES_H

#include <stddef.h>
#include <stdint.h>

#define DPF_MAGNITUDES_CELLS 65536

/* Adds 1 to the cell of each of n rows, unless that is a NaN, which adds 1 to *nan. `kind` is that
 * of summaries/quantise.h. -1 when there is no such kind or path, or no memory. */
int dpf_magnitudes_count(int kind, const void *x, size_t n, int64_t *counts, int64_t *nan);

#endif
