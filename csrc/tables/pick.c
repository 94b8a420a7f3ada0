#include "tables/pick.h"

#include <string.h>

#define STRETCH 64 /* a mask often keeps all of so many rows, or none */

enum { NONE, SOME, ALL };

static int kept(const uint8_t *keep)
{
    uint64_t any = 0, all = UINT64_MAX, word;
    for (size_t j = 0; j < STRETCH; j += sizeof word) {
        memcpy(&word, keep + j, sizeof word);
        any |= word;
        all &= word;
    }
    return any == 0 ? NONE : all == 0x0101010101010101u ? ALL : SOME;
}

#define PICK(bits)                                                                                 \
    static size_t pick_##bits(const uint##bits##_t *restrict x, const uint8_t *restrict keep,      \
                              size_t n, uint##bits##_t *restrict out)                              \
    {                                                                                              \
        size_t i = 0, k = 0;                                                                       \
        for (; i + STRETCH <= n; i += STRETCH) {                                                   \
            const int which = kept(keep + i);                                                      \
            if (which == NONE)                                                                     \
                continue;                                                                          \
            if (which == ALL) {                                                                    \
                memcpy(out + k, x + i, STRETCH * sizeof *x);                                       \
                k += STRETCH;                                                                      \
                continue;                                                                          \
            }                                                                                      \
            for (size_t j = i; j < i + STRETCH; j++) {                                             \
                out[k] = x[j];                                                                     \
                k += keep[j] != 0;                                                                 \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            if (keep[i])                                                                           \
                out[k++] = x[i];                                                                   \
        return k;                                                                                  \
    }
PICK(8)
PICK(16)
PICK(32)
PICK(64)

size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out)
{
    switch (size) {
    case 1: return pick_8(x, keep, n, out);
    case 2: return pick_16(x, keep, n, out);
    case 4: return pick_32(x, keep, n, out);
    case 8: return pick_64(x, keep, n, out);
    default: return 0;
    }
}
