/* The largest of each `block` consecutive values (its peak), in one pass at the speed of memory.
 *
 * A NaN is ignored and reported. The peak of a block of NaN is minus infinity, and -0 becomes +0.
 * So the result does not depend on the order of comparison.
 *
 * Its slow twin is tests/reference/selection/peaks.py.
 */
#ifndef DPF_PEAKS_H
#define DPF_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

/* Flags of the values of all blocks. */
#define DPF_PEAKS_NAN 1      /* there is a NaN */
#define DPF_PEAKS_INFINITE 2 /* there is a plus infinity */
#define DPF_PEAKS_ABOVE 4    /* there is a value above minus infinity */

/* Writes the peaks of n values of `kind`; block >= 1, and the last block may have fewer values.
 * `out` has room for ceil(n / block) values of the same kind. Returns the flags, or -1 when
 * dpf_isa() has no path or the kind is unknown. */
int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out);

#endif
