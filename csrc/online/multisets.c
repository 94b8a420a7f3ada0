#include "online/multisets.h"

#include "core/isa.h"

/* The number of multisets whose sums are computed together, so that these stay in the first-level
 * cache. */
#define BLOCK 2048

#define DPF_BODY "online/multisets_body.h"
#include "core/each_isa.h"

void dpf_multisets_sums(const uint8_t *counts, size_t stride, const int32_t *weights, size_t universe,
                        size_t from, size_t to, int32_t *out)
{
    DPF_CHOSEN(sums)(counts, stride, weights, universe, from, to, out);
}
