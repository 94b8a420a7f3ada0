/* Sums of a query over many small multisets.
 *
 * Multiset i has counts[u * stride + i] copies of element u of a universe. Each element is a column
 * of bytes, so multisets are neighbours in memory, and a query is a sum of columns times weights.
 * Weights are integers, so the sums are exact and the same on every path. The caller guarantees
 * that (size of a multiset) * (largest weight) is below 2^31.
 */
#ifndef DPF_MULTISETS_H
#define DPF_MULTISETS_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = sum over u of weights[u] counts[u * stride + i], for from <= i < to. */
void dpf_multisets_sums(const uint8_t *counts, size_t stride, const int32_t *weights, size_t universe,
                        size_t from, size_t to, int32_t *out);

#endif
