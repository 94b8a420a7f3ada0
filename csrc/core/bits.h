/* A float64 and its 64 bits. */
#ifndef DPF_BITS_H
#define DPF_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double double_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline double power_of_two(int e) /* for -1022 <= e <= 1023 */
{
    return double_of((uint64_t)(e + 1023) << 52);
}

#endif
