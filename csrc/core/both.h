/* How many bits each of several sets has in common with some others. */
#ifndef DPF_BOTH_H
#define DPF_BOTH_H

#include <stddef.h>
#include <stdint.h>

/* Writes to counts[i], for each of so many sets, how many bits are 1 in `bits` and in the words of
 * the set, which begin at words + i * stride; `n` words of each. -1 when DPFAST_ISA asks for what
 * cannot be had. */
int dpf_both(const uint64_t *words, size_t sets, size_t stride, const uint64_t *bits, size_t n,
             int64_t *counts);

#endif
