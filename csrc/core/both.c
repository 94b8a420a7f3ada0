#include "core/both.h"

#include "core/isa.h"

/* The most words for one call of `both`. Each word adds at most 16 to each of four sums of 16 bits,
 * which so stay below 2^16. */
#define WORDS ((size_t)1 << 11)

#define DPF_BODY "core/both_body.h"
#include "core/each_isa.h"

int dpf_both(const uint64_t *words, size_t sets, size_t stride, const uint64_t *bits, size_t n,
             int64_t *counts)
{
    if (dpf_isa() < 0)
        return -1;
    for (size_t i = 0; i < sets; i++) {
        counts[i] = 0;
        for (size_t at = 0; at < n; at += WORDS)
            counts[i] += (int64_t)DPF_CHOSEN(both)(words + i * stride + at, bits + at,
                                       n - at < WORDS ? n - at : WORDS);
    }
    return 0;
}
