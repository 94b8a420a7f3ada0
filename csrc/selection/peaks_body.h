/* Peaks of one type. The including file defines
 *   KIND         the type, in the names of functions (undefined again here, like the next four)
 *   TYPE, TRUTH  the type, and the signed integer type of the same size
 *   LOWEST       a value that is not above any other
 *   IS_FLOAT     whether NaN and infinities exist
 *   WIDE         the bytes in a vector, or 0 for plain C
 *
 * Four accumulators hide the latency of a comparison. The last values of a block, if they fill no
 * vector, are read by a vector that also has earlier values: these do not change a maximum.
 */
#if WIDE
#define LANES ((size_t)WIDE / sizeof(TYPE))
typedef TYPE DPF_TYPED(peaks_vec) __attribute__((vector_size(WIDE)));
typedef TRUTH DPF_TYPED(peaks_truth) __attribute__((vector_size(WIDE)));
typedef TYPE DPF_TYPED(peaks_last) __attribute__((vector_size(16)));
typedef TRUTH DPF_TYPED(peaks_last_truth) __attribute__((vector_size(16)));
#define VEC DPF_TYPED(peaks_vec)
#define MASK DPF_TYPED(peaks_truth)
#define LAST DPF_TYPED(peaks_last)

/* Returns the larger value of each lane; where v is NaN, `than`. */
static inline VEC DPF_TYPED(peaks_larger)(VEC v, VEC than)
{
    const MASK up = (MASK)(v > than);
    return (VEC)(((MASK)v & up) | ((MASK)than & ~up));
}

static inline LAST DPF_TYPED(peaks_larger_last)(LAST v, LAST than)
{
    const DPF_TYPED(peaks_last_truth) up = (DPF_TYPED(peaks_last_truth))(v > than);
    return (LAST)(((DPF_TYPED(peaks_last_truth))v & up) | ((DPF_TYPED(peaks_last_truth))than & ~up));
}

static inline VEC DPF_TYPED(peaks_load)(const TYPE *x)
{
    VEC v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Returns the largest value of all lanes. */
static inline TYPE DPF_TYPED(peaks_across)(VEC v)
{
    LAST part[WIDE / 16];
    TYPE lane[16 / sizeof(TYPE)];
    memcpy(part, &v, sizeof v);
    for (int half = WIDE / 32; half; half /= 2)
        for (int i = 0; i < half; i++)
            part[i] = DPF_TYPED(peaks_larger_last)(part[i], part[i + half]);
    memcpy(lane, part, sizeof lane);
    for (size_t half = 8 / sizeof(TYPE); half; half /= 2)
        for (size_t i = 0; i < half; i++)
            lane[i] = lane[i] > lane[i + half] ? lane[i] : lane[i + half];
    return lane[0];
}
#endif

static int DPF_TYPED(peaks)(const void *values, size_t n, size_t block, void *peaks)
{
    const TYPE *x = (const TYPE *)values;
    TYPE *out = (TYPE *)peaks, best = LOWEST;
#if IS_FLOAT
    int nan = 0;
#if WIDE
    MASK odd = {0};
#endif
#endif
    while (n) {
        const size_t here = n < block ? n : block;
        TYPE peak = LOWEST;
        size_t i = 0;
#if WIDE
        if (here >= LANES) {
            const VEC lowest = LOWEST - (VEC){0};
            VEC m[4] = {lowest, lowest, lowest, lowest};
            for (; i + 4 * LANES <= here; i += 4 * LANES)
                for (size_t j = 0; j < 4; j++) {
                    const VEC v = DPF_TYPED(peaks_load)(x + i + j * LANES);
                    m[j] = DPF_TYPED(peaks_larger)(v, m[j]);
#if IS_FLOAT
                    odd |= (MASK)(v != v);
#endif
                }
            while (i < here) {
                const VEC v = DPF_TYPED(peaks_load)(x + (i + LANES <= here ? i : here - LANES));
                m[0] = DPF_TYPED(peaks_larger)(v, m[0]);
#if IS_FLOAT
                odd |= (MASK)(v != v);
#endif
                i += LANES;
            }
            if (here >= 4 * LANES) {
                m[0] = DPF_TYPED(peaks_larger)(m[0], m[1]);
                m[2] = DPF_TYPED(peaks_larger)(m[2], m[3]);
                m[0] = DPF_TYPED(peaks_larger)(m[0], m[2]);
            }
            peak = DPF_TYPED(peaks_across)(m[0]);
        }
#endif
        for (; i < here; i++) {
            const TYPE v = x[i];
            peak = v > peak ? v : peak;
#if IS_FLOAT
            nan |= v != v;
#endif
        }
#if IS_FLOAT
        peak += 0; /* -0 becomes +0 */
#endif
        *out++ = peak;
        best = peak > best ? peak : best;
        x += here, n -= here;
    }
#if WIDE && IS_FLOAT
    for (size_t l = 0; l < LANES; l++)
        nan |= odd[l] != 0;
#endif
#if IS_FLOAT
    return (nan ? DPF_PEAKS_NAN : 0) | (best == INFINITY ? DPF_PEAKS_INFINITE : 0) |
           (best > -INFINITY ? DPF_PEAKS_ABOVE : 0);
#else
    return out == (TYPE *)peaks ? 0 : DPF_PEAKS_ABOVE;
#endif
}
#if WIDE
#undef LANES
#undef VEC
#undef MASK
#undef LAST
#endif
#undef KIND
#undef TYPE
#undef TRUTH
#undef LOWEST
#undef IS_FLOAT
