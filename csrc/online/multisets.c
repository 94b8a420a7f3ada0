#include "online/multisets.h"

#include "core/isa.h"

/* Multisets at a time: their sums stay in the first-level cache while the columns pass by. */
#define BLOCK 2048

#define DPF_BODY "online/multisets_body.h"
#include "core/each_isa.h"

void dpf_multisets_sums(const uint8_t *counts, size_t stride, const int32_t *weights, size_t universe,
                        size_t from, size_t to, int32_t *out)
{
    DPF_CHOSEN(sums)(counts, stride, weights, universe, from, to, out);
}
