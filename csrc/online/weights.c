#include "online/weights.h"

#include "core/bits.h"
#include "core/isa.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The number of elements that are computed together, so that intermediate results stay in the
 * first-level cache. */
#define TILE 256
#define LANES 8
/* (v + ROUND) - ROUND is v rounded to the nearest integer, for v from 0 to 2^51. */
#define ROUND 0x1.8p52
/* Logarithms of weights are at least this: e^LEAST is about the least float32 of full precision. */
#define LEAST -87.0

/* e^a for LEAST <= a <= 0, with a relative error of 1e-12 before it is rounded to float32; see
 * core/exp_below.h. Even and odd powers are summed separately, because two short chains of
 * operations take less time than a long one. */
static inline float weights_exp(double a)
{
    const double shifted = a * 0x1.71547652b82fep0 + ROUND, whole = shifted - ROUND;
    const double r = a - whole * 0x1.62e42fefa39efp-1, square = r * r;
    double even = 1.0 / 3628800 * square + 1.0 / 40320, odd = 1.0 / 362880 * square + 1.0 / 5040;
    even = ((even * square + 1.0 / 720) * square + 1.0 / 24) * square + 0.5;
    odd = (odd * square + 1.0 / 120) * square + 1.0 / 6;
    const double p = ((odd * r + even) * square + r) + 1;
    return (float)(p * double_of((bits_of(shifted) + 1023) << 52)); /* 2^whole */
}

#define DPF_BODY "online/weights_body.h"
#include "core/each_isa.h"

dpf_weights_sums dpf_weights_compare(const float *part, const int32_t *counts, const double *query,
                                     size_t n, double unit)
{
    return DPF_CHOSEN(weights_compare)(part, counts, query, n, unit);
}

dpf_weights_moved dpf_weights_move(double *log, float *part, const double *query, size_t n,
                                   double unit, double step, double bound, const double *next)
{
    return DPF_CHOSEN(weights_move)(log, part, query, n, unit, step, bound, next);
}

void dpf_weights_products(const float *rows, size_t count, size_t n, const double *p, double *out)
{
    DPF_CHOSEN(weights_products)(rows, count, n, p, out);
}
