/* The largest of each `block` consecutive values, in one pass at the speed of memory.
 *
 * NaN is left out of the comparisons and reported. A peak of only NaN is minus infinity, and a zero
 * comes out as +0, so the result does not depend on the order of comparison.
 *
 * Its slow twin is tests/reference/selection/peaks.py.
 */
#ifndef DPF_PEAKS_H
#define DPF_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

/* What was seen, or-ed together. */
#define DPF_PEAKS_NAN 1      /* a NaN */
#define DPF_PEAKS_INFINITE 2 /* plus infinity */
#define DPF_PEAKS_ABOVE 4    /* anything above minus infinity */

/* Peaks of n values of `kind`, block >= 1; the last block may be short. `out` has room for
 * ceil(n / block) values of the same kind. Returns flags, or -1 when dpf_isa() has no path or the
 * kind is unknown. */
int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out);

#endif
