/* Counts of rows by sign and magnitude. A cell is a sixteenth of an octave.
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

/* Adds 1 to the cell of each of n rows, or to *nan if the row is a NaN. `kind` is that of
 * core/dtype.h. Returns 0, or -1 when the kind is unknown, dpf_isa() has no path, or there is no
 * memory. */
int dpf_magnitudes_count(int kind, const void *x, size_t n, int64_t *counts, int64_t *nan);

#endif
