/* Reading a column as float64, clipped to [lo, hi], for all envelope*.c.
 *
 * Conversion to float64 (which rounds 64-bit integers beyond 2^53) and clipping are non-decreasing
 * functions of each row. They keep the order, so order statistics of the mapped rows are the mapped
 * order statistics. Neighbours are mapped to neighbours. So the sensitivity computed here is
 * exactly that of the statistic computed here.
 */
#ifndef DPF_ENVELOPE_COLUMN_H
#define DPF_ENVELOPE_COLUMN_H

#include "sensitivity/envelope.h"
#include "sensitivity/exp.h"

#define DPF_BLOCK 64

static inline double dpf_clip(const dpf_column *x, double v)
{
    v = v < x->lo ? x->lo : v;
    return v > x->hi ? x->hi : v;
}

#define DPF_EACH_KIND(CASE)                                                                       \
    CASE(DPF_F64, double)                                                                  \
    CASE(DPF_F32, float)                                                                   \
    CASE(DPF_I64, int64_t)                                                                 \
    CASE(DPF_I32, int32_t)                                                                 \
    CASE(DPF_I16, int16_t)                                                                 \
    CASE(DPF_I8, int8_t)                                                                   \
    CASE(DPF_U64, uint64_t)                                                                \
    CASE(DPF_U32, uint32_t)                                                                \
    CASE(DPF_U16, uint16_t)                                                                \
    CASE(DPF_U8, uint8_t)

/* The value of a rank, which must be within reach. */
static inline double dpf_at(const dpf_column *x, int64_t rank)
{
    if (rank < 1)
        return x->lo;
    if (rank > x->n)
        return x->hi;
    int64_t at = rank - x->first;
    switch (x->kind) {
#define DPF_CASE(KIND, TYPE)                                                                      \
    case KIND:                                                                                    \
        return dpf_clip(x, (double)((const TYPE *)x->values)[at]);
        DPF_EACH_KIND(DPF_CASE)
#undef DPF_CASE
    }
    return x->lo;
}

/* Writes `count` numbers to out: x_rank, x_{rank + 1}, ... for step 1, and -x_rank, -x_{rank - 1},
 * ... for step -1. Memory is read in the direction of step, so processors can prefetch. */
static inline void dpf_read(const dpf_column *x, int64_t rank, int64_t count, int step, double *out)
{
    while (count > 0 && (rank < 1 || rank > x->n)) {
        *out++ = step * dpf_at(x, rank);
        rank += step;
        count--;
    }
    while (count > 0 && (rank + step * (count - 1) < 1 || rank + step * (count - 1) > x->n)) {
        count--;
        out[count] = step * dpf_at(x, rank + step * count);
    }
    if (count <= 0)
        return;
    int64_t at = rank - x->first;
    switch (x->kind) {
#define DPF_CASE(KIND, TYPE)                                                                      \
    case KIND:                                                                                    \
        for (int64_t t = 0; t < count; t++)                                                       \
            out[t] = step * dpf_clip(x, (double)((const TYPE *)x->values)[at + step * t]);        \
        break;
        DPF_EACH_KIND(DPF_CASE)
#undef DPF_CASE
    }
}

/* The least and the greatest rank within reach, which may be 0 and n + 1. */
static inline int64_t dpf_reach_first(const dpf_column *x) { return x->first == 1 ? 0 : x->first; }
static inline int64_t dpf_reach_last(const dpf_column *x)
{
    int64_t last = x->first + x->count - 1;
    return last == x->n ? x->n + 1 : last;
}

/* e^(-beta k) for k >= 0, with an error below 0.53 ulp if the result is normal. */
static inline double dpf_weight(double beta, int64_t k)
{
    if (k == 0) /* beta may be so large that splitting it would overflow */
        return 1.0;
    double rough = beta * (double)k;
    if (!(rough < 745.3))
        return 0.0;
    dpf_pair p = dpf_product(-beta, (double)k);
    return dpf_exp_pair(p);
}

/* A k above which e^(-beta k) (hi - lo) <= floor; at most about 1e18. It uses powers of two and no
 * logarithm, so it exceeds the least such k by at most 2 ln 2 / beta. */
int64_t dpf_envelope_span(const dpf_column *x, double beta, double floor);

/* The largest candidate, raised by more than all errors, and at least the floor; see
 * sensitivity/envelope.h. */
double dpf_envelope_up(double best, double floor);

#endif
