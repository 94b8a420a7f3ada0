/* How many members each of several sets has in common with one other set, all as bits. */
#ifndef DPF_BOTH_H
#define DPF_BOTH_H

#include <stddef.h>
#include <stdint.h>

/* Writes to counts[i], for each set i < `sets`, how many bits are 1 both in `bits` and in the set.
 * Set i is the `n` words from words + i * stride on. Returns 0, or -1 when dpf_isa() has no
 * path. */
int dpf_both(const uint64_t *words, size_t sets, size_t stride, const uint64_t *bits, size_t n,
             int64_t *counts);

#endif
