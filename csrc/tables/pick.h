/* The rows that a mask keeps, side by side: no branch depends on the rows, so a mask that follows
 * no pattern costs no more than another. */
#ifndef DPF_PICK_H
#define DPF_PICK_H

#include <stddef.h>
#include <stdint.h>

/* Copies x[i], of `size` (1, 2, 4 or 8) bytes each, for each i of n with keep[i] = 1 and not 0;
 * returns how many. `out` has room for n. */
size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out);

#endif
