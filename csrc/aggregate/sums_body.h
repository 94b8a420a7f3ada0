/* The exact sum of at most 1024 values, each split into two parts at fixed bits. If the compiler
 * has no vectors, nothing is split.
 *
 * Let |x| < 2^e and s = 1.5 2^(e+10). Then q = (x + s) - s is x rounded to a multiple of 2^(e-42),
 * and x - q is exact. 1024 such multiples add up to less than 2^(e+11), so their sum is exact in
 * any order. The remainder x - q, at most 2^(e-43), is rounded in the same way to a multiple of
 * 2^(e-84). If something still remains, or the values are too large for s, the caller adds them one
 * by one.
 */
#include "core/vector.h"

#if DPF_VECTOR
/* The larger of |v| and m; where v is NaN, m. */
static inline VEC DPF_NAME(sums_larger)(VEC v, VEC m)
{
    const VEC size = (VEC)((INT)v & (INT64_MAX - (INT){0}));
    return PICK(size > m, size, m);
}

/* Sets `part` to two numbers whose sum is exactly that of x[0 .. n - 1]. n is a multiple of 2
 * LANES. `e` is a guess such that all |x| are below 2^e, and is set to the actual exponent. Returns
 * 0 if the sum cannot be computed in this way. */
static int DPF_NAME(split_sum)(const double *x, size_t n, int *e, double part[2])
{
    for (int trial = 0; trial < 2; trial++) {
        const VEC s = ldexp(1.5, *e + 10) - (VEC){0}, t = ldexp(1.5, *e - 32) - (VEC){0};
        VEC high_a = {0}, high_b = {0}, low_a = {0}, low_b = {0}, top_a = {0}, top_b = {0};
        INT left = {0};
        for (size_t i = 0; i < n; i += 2 * LANES) {
            const VEC u = DPF_NAME(vec_load)(x + i), v = DPF_NAME(vec_load)(x + i + LANES);
            dpf_fetch_ahead(x + i), dpf_fetch_ahead(x + i + LANES);
            const VEC qu = (u + s) - s, qv = (v + s) - s;
            const VEC ru = u - qu, rv = v - qv;
            const VEC pu = (ru + t) - t, pv = (rv + t) - t;
            top_a = DPF_NAME(sums_larger)(u, top_a), top_b = DPF_NAME(sums_larger)(v, top_b);
            high_a += qu, high_b += qv;
            low_a += pu, low_b += pv;
            left |= (INT)(ru - pu) | (INT)(rv - pv);
        }
        double top = 0;
        int rest = 0, own;
        high_a += high_b, low_a += low_b;
        top_a = DPF_NAME(sums_larger)(top_b, top_a);
        part[0] = part[1] = 0;
        for (size_t l = 0; l < LANES; l++) {
            top = top_a[l] > top ? top_a[l] : top;
            part[0] += high_a[l], part[1] += low_a[l];
            rest |= (left[l] & INT64_MAX) != 0; /* the remainder of a NaN is a NaN, so not 0 */
        }
        if (!(top < DPF_SUMS_SPLIT))
            return 0;
        frexp(top, &own);
        if (own <= *e && !rest)
            return 1;
        if (own == *e)
            return 0;
        *e = own;
    }
    return 0;
}
#else
static int DPF_NAME(split_sum)(const double *x, size_t n, int *e, double part[2])
{
    (void)x, (void)n, (void)e, (void)part;
    return 0;
}
#endif

#include "core/vector_end.h"
