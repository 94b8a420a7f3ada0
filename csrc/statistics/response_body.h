/* The loops of statistics/response.c that are faster with wide registers. */
#include "core/scale_body.h"

/* Computes bits ^= u < first, and for each STRETCH rows whether u = first for any of them. */
static void DPF_NAME(compare)(const uint8_t *restrict u, uint8_t first, size_t n,
                              uint8_t *restrict bits, uint8_t *restrict ties)
{
    size_t at = 0;
    for (; n - at >= STRETCH; at += STRETCH) {
        uint8_t any = 0;
        for (size_t i = 0; i < STRETCH; i++) {
            const uint8_t byte = u[at + i];
            bits[at + i] ^= byte < first;
            any |= byte == first;
        }
        ties[at / STRETCH] = any;
    }
    if (at < n)
        ties[at / STRETCH] = 1;
    for (; at < n; at++)
        bits[at] ^= u[at] < first;
}

/* truth: whether values are not 0. widened: bits as integers of the same width. */
#define TRUTH(width)                                                                               \
    static void DPF_NAME(truth_##width)(const uint##width##_t *restrict values, size_t n,          \
                                        uint8_t *restrict bits)                                    \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            bits[i] = values[i] != 0;                                                              \
    }                                                                                              \
    static void DPF_NAME(widened_##width)(const uint8_t *restrict bits, size_t n,                  \
                                          uint##width##_t *restrict out)                           \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = bits[i];                                                                      \
    }
TRUTH(8)
TRUTH(16)
TRUTH(32)
TRUTH(64)
#undef TRUTH

/* `values` and `out` may be the same array. */
#define ANSWER(width)                                                                              \
    static void DPF_NAME(answer_##width)(const uint##width##_t *values, const uint8_t *other,      \
                                         const uint32_t *ranks, uint32_t categories,               \
                                         uint32_t instead, size_t n, uint##width##_t *out)         \
    {                                                                                              \
        const uint##width##_t least = (uint##width##_t)instead;                                    \
        const uint##width##_t last = (uint##width##_t)(categories - 1);                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint##width##_t value = values[i] <= last ? values[i] : least;                   \
            const uint##width##_t rank = (uint##width##_t)ranks[i];                                \
            const uint##width##_t new = (uint##width##_t)(rank + (rank >= value));                 \
            out[i] = other[i] ? new : value;                                                       \
        }                                                                                          \
    }
ANSWER(8)
ANSWER(16)
ANSWER(32)
ANSWER(64)
#undef ANSWER
