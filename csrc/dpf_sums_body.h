/* The sum of at most 1024 values by splitting them at two fixed places; once per instruction set.
 * The including file defines DPF_SUFFIX and WIDE, the bytes of a vector.
 *
 * With |x| < 2^e and s = 1.5 2^(e+10), q = (x + s) - s is x rounded to a multiple of 2^(e-42), and
 * x - q is exact. 1024 such multiples add up to less than 2^(e+11), so their sum is exact in any order.
 * The rest, at most 2^(e-43), is split in the same way at 2^(e-84); where something is still left, or
 * the numbers are too large for s, the caller adds one by one.
 */
#define LANES ((size_t)WIDE / sizeof(double))
typedef double DPF_NAME(sums_vec) __attribute__((vector_size(WIDE)));
typedef int64_t DPF_NAME(sums_bits) __attribute__((vector_size(WIDE)));
#define VEC DPF_NAME(sums_vec)
#define BITS DPF_NAME(sums_bits)

static inline VEC DPF_NAME(sums_load)(const double *x)
{
    VEC v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Two parts whose sum is that of x[0 .. n - 1], n a multiple of 2 LANES; 0 if they cannot be had. */
static int DPF_NAME(split_sum)(const double *x, size_t n, double part[2])
{
    const BITS magnitude = INT64_MAX - (BITS){0};
    VEC a = {0}, b = {0};
    for (size_t i = 0; i < n; i += 2 * LANES) {
        const VEC u = (VEC)((BITS)DPF_NAME(sums_load)(x + i) & magnitude);
        const VEC v = (VEC)((BITS)DPF_NAME(sums_load)(x + i + LANES) & magnitude);
        const BITS over_a = (BITS)(u > a), over_b = (BITS)(v > b);
        a = (VEC)(((BITS)u & over_a) | ((BITS)a & ~over_a));
        b = (VEC)(((BITS)v & over_b) | ((BITS)b & ~over_b));
    }
    double top = 0;
    for (size_t l = 0; l < LANES; l++) {
        top = a[l] > top ? a[l] : top;
        top = b[l] > top ? b[l] : top;
    }
    if (!(top < 0x1p1000))
        return 0;
    int e;
    frexp(top, &e);
    const double first = ldexp(1.5, e + 10), second = ldexp(1.5, e - 32);
    const VEC s = first - (VEC){0}, t = second - (VEC){0};
    VEC high_a = {0}, high_b = {0}, low_a = {0}, low_b = {0};
    BITS left = {0};
    for (size_t i = 0; i < n; i += 2 * LANES) {
        const VEC u = DPF_NAME(sums_load)(x + i), v = DPF_NAME(sums_load)(x + i + LANES);
        const VEC qu = (u + s) - s, qv = (v + s) - s;
        const VEC ru = u - qu, rv = v - qv;
        const VEC pu = (ru + t) - t, pv = (rv + t) - t;
        high_a += qu, high_b += qv;
        low_a += pu, low_b += pv;
        left |= (BITS)(ru - pu) | (BITS)(rv - pv);
    }
    high_a += high_b, low_a += low_b;
    part[0] = part[1] = 0;
    for (size_t l = 0; l < LANES; l++) {
        part[0] += high_a[l], part[1] += low_a[l];
        if (left[l] & INT64_MAX) /* more than a zero; a NaN leaves a NaN */
            return 0;
    }
    return 1;
}

#undef LANES
#undef VEC
#undef BITS
#undef WIDE
#undef DPF_SUFFIX
