/* Copies the rows that a mask keeps. No branch depends on a row, so a random mask takes no longer
 * than another. */
#ifndef DPF_PICK_H
#define DPF_PICK_H

#include <stddef.h>
#include <stdint.h>

/* Copies x[i], of `size` (1, 2, 4 or 8) bytes, for each i < n with keep[i] = 1; keep[i] is 0 or 1.
 * Returns how many were copied. `out` has room for n. */
size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out);

#endif
