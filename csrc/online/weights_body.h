/* Eight sums are the lanes of one or several vectors. Each has the same operations in the same
 * order on all paths. */
#if DPF_VECTOR
typedef double DPF_NAME(weights_vec) __attribute__((vector_size(DPF_VECTOR)));
typedef int64_t DPF_NAME(weights_int) __attribute__((vector_size(DPF_VECTOR)));
typedef int32_t DPF_NAME(weights_count) __attribute__((vector_size(DPF_VECTOR / 2)));
typedef float DPF_NAME(weights_half) __attribute__((vector_size(DPF_VECTOR / 2)));
#define VEC DPF_NAME(weights_vec)
#define HALF DPF_NAME(weights_half)
#define COUNT DPF_NAME(weights_count)
#define INT DPF_NAME(weights_int)
#define WIDE (DPF_VECTOR / 8)
#define TRUTH(a) (INT)(a)
#define PICK(truth, a, b) (VEC)(((INT)(a) & (truth)) | ((INT)(b) & ~(truth)))
#else
#define VEC double
#define HALF float
#define COUNT int32_t
#define INT int64_t
#define WIDE 1
#define TRUTH(a) (-(int64_t)(a))
#define PICK(truth, a, b) ((truth) ? (a) : (b))
#endif
#define VECTORS (LANES / WIDE)
#define ALL(a) ((VEC){0} + (a))

/* Consecutive numbers, converted to doubles. */
#if DPF_X86 && DPF_VECTOR == 16 /* where compilers would convert one number at a time */
static inline VEC DPF_NAME(weights_floats)(const float *x)
{
    return (VEC)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)x)));
}

static inline VEC DPF_NAME(weights_counts)(const int32_t *x)
{
    return (VEC)_mm_cvtepi32_pd(_mm_loadl_epi64((const __m128i *)x));
}
#else
#if DPF_VECTOR
#define WIDEN(a) __builtin_convertvector(a, VEC)
#else
#define WIDEN(a) ((double)(a))
#endif
static inline VEC DPF_NAME(weights_floats)(const float *x)
{
    HALF own;
    memcpy(&own, x, sizeof own);
    return WIDEN(own);
}

static inline VEC DPF_NAME(weights_counts)(const int32_t *x)
{
    COUNT own;
    memcpy(&own, x, sizeof own);
    return WIDEN(own);
}
#undef WIDEN
#endif

/* Returns w of one vector of numbers of a query. Subtracts from `odd` the number of those that are
 * not from 0 to 1. */
static inline VEC DPF_NAME(weights_units)(const double *query, double unit, INT *odd)
{
    const VEC zero = {0}, one = ALL(1.0);
    VEC q;
    memcpy(&q, query, sizeof q);
    VEC c = PICK(TRUTH(q > zero), q, zero);
    c = PICK(TRUTH(c < one), c, one);
    *odd += TRUTH(c != q);
    return (c * unit + ALL(ROUND)) - ALL(ROUND);
}

static double DPF_NAME(weights_all)(const VEC *lanes)
{
    double lane[LANES];
    memcpy(lane, lanes, sizeof lane);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Adds n elements to the sums; n is a multiple of eight. */
static inline void DPF_NAME(weights_eights)(const float *part, const int32_t *counts,
                                            const double *query, size_t n, double unit, VEC *told,
                                            VEC *exact, INT *odd)
{
    for (size_t i = 0; i < n; i += LANES)
        for (int v = 0; v < VECTORS; v++) {
            const size_t at = i + (size_t)v * WIDE;
            const VEC w = DPF_NAME(weights_units)(query + at, unit, odd);
            told[v] += DPF_NAME(weights_floats)(part + at) * w;
            if (counts)
                exact[v] += DPF_NAME(weights_counts)(counts + at) * w;
        }
}

static dpf_weights_sums DPF_NAME(weights_compare)(const float *part, const int32_t *counts,
                                                  const double *query, size_t n, double unit)
{
    const size_t whole = n - n % LANES, rest = n - whole;
    float p[LANES] = {0};
    int32_t c[LANES] = {0};
    double q[LANES] = {0};
    VEC told[VECTORS] = {{0}}, exact[VECTORS] = {{0}};
    INT odd = {0};
    if (counts)
        DPF_NAME(weights_eights)(part, counts, query, whole, unit, told, exact, &odd);
    else
        DPF_NAME(weights_eights)(part, NULL, query, whole, unit, told, exact, &odd);
    if (rest) {
        memcpy(p, part + whole, rest * sizeof *p);
        memcpy(q, query + whole, rest * sizeof *q);
        if (counts)
            memcpy(c, counts + whole, rest * sizeof *c);
        DPF_NAME(weights_eights)(p, c, q, LANES, unit, told, exact, &odd);
    }
    int64_t lane[WIDE], none = 0;
    memcpy(lane, &odd, sizeof lane);
    for (int l = 0; l < WIDE; l++)
        none -= lane[l];
    return (dpf_weights_sums){DPF_NAME(weights_all)(told), DPF_NAME(weights_all)(exact), (double)none};
}

/* Updates the logarithms of n elements, their weights and the sum of these; n is a multiple of
 * eight. */
static inline void DPF_NAME(weights_tile)(double *log, float *part, const double *query, size_t n,
                                          double unit, double each, double bound, VEC *total, VEC *top)
{
    const VEC least = ALL(LEAST);
    double e[TILE];
    INT odd = {0};
    for (size_t i = 0; i < n; i += LANES)
        for (int v = 0; v < VECTORS; v++) {
            const size_t at = i + (size_t)v * WIDE;
            VEC x;
            memcpy(&x, log + at, sizeof x);
            x += DPF_NAME(weights_units)(query + at, unit, &odd) * each;
            memcpy(log + at, &x, sizeof x);
            top[v] = PICK(TRUTH(x > top[v]), x, top[v]);
            x -= bound;
            x = PICK(TRUTH(x > least), x, least);
            memcpy(e + at, &x, sizeof x);
        }
    for (size_t i = 0; i < n; i++)
        part[i] = weights_exp(e[i]);
    for (size_t i = 0; i < n; i += LANES)
        for (int v = 0; v < VECTORS; v++)
            total[v] += DPF_NAME(weights_floats)(part + i + (size_t)v * WIDE);
}

static dpf_weights_moved DPF_NAME(weights_move)(double *log, float *part, const double *query,
                                                size_t n, double unit, double step, double bound,
                                                const double *next)
{
    const double each = step / unit;
    double x[LANES], q[LANES] = {0};
    float p[LANES];
    VEC total[VECTORS] = {{0}}, told[VECTORS] = {{0}}, none[VECTORS] = {{0}}, top[VECTORS];
    INT odd = {0};
    for (int v = 0; v < VECTORS; v++)
        top[v] = ALL(-INFINITY);
    for (size_t at = 0; at < n; at += TILE) {
        const size_t m = n - at < TILE ? n - at : TILE, whole = m - m % LANES, rest = m - whole;
        DPF_NAME(weights_tile)(log + at, part + at, query + at, whole, unit, each, bound, total, top);
        if (next)
            DPF_NAME(weights_eights)(part + at, NULL, next + at, whole, unit, told, none, &odd);
        if (!rest)
            continue;
        for (size_t i = 0; i < LANES; i++) /* entries beyond the end get the least weight */
            x[i] = i < rest ? log[at + whole + i] : -INFINITY;
        memcpy(q, query + at + whole, rest * sizeof *q);
        VEC last[VECTORS] = {{0}};
        DPF_NAME(weights_tile)(x, p, q, LANES, unit, each, bound, last, top);
        memcpy(log + at + whole, x, rest * sizeof *x);
        memcpy(part + at + whole, p, rest * sizeof *p);
        for (size_t i = rest; i < LANES; i++)
            p[i] = 0;
        for (int v = 0; v < VECTORS; v++)
            total[v] += DPF_NAME(weights_floats)(p + (size_t)v * WIDE);
        if (next) {
            memcpy(q, next + at + whole, rest * sizeof *q);
            DPF_NAME(weights_eights)(p, NULL, q, LANES, unit, told, none, &odd);
        }
    }
    double lane[LANES], most = -INFINITY;
    memcpy(lane, top, sizeof lane);
    for (int l = 0; l < LANES; l++)
        most = lane[l] > most ? lane[l] : most;
    return (dpf_weights_moved){DPF_NAME(weights_all)(total), DPF_NAME(weights_all)(told), most};
}

/* Multiplies `own` rows (1 or 4) by p, which is read once for all of them. */
static inline void DPF_NAME(weights_rows)(const float *rows, size_t own, size_t n, const double *p,
                                          double *out)
{
    const size_t whole = n - n % LANES, rest = n - whole;
    VEC sum[4][VECTORS] = {{{0}}};
    for (size_t i = 0; i < whole; i += LANES)
        for (int v = 0; v < VECTORS; v++) {
            const size_t at = i + (size_t)v * WIDE;
            VEC x;
            memcpy(&x, p + at, sizeof x);
            for (size_t r = 0; r < own; r++)
                sum[r][v] += DPF_NAME(weights_floats)(rows + r * n + at) * x;
        }
    for (size_t r = 0; r < own; r++) {
        double lane[LANES];
        memcpy(lane, sum[r], sizeof lane);
        for (size_t i = 0; i < rest; i++)
            lane[i] += (double)rows[r * n + whole + i] * p[whole + i];
        memcpy(sum[r], lane, sizeof lane);
        out[r] = DPF_NAME(weights_all)(sum[r]);
    }
}

static void DPF_NAME(weights_products)(const float *rows, size_t count, size_t n, const double *p,
                                       double *out)
{
    size_t row = 0;
    for (; row + 4 <= count; row += 4)
        DPF_NAME(weights_rows)(rows + row * n, 4, n, p, out + row);
    for (; row < count; row++)
        DPF_NAME(weights_rows)(rows + row * n, 1, n, p, out + row);
}

#undef HALF
#undef COUNT
#undef ALL
#undef VECTORS
#undef PICK
#undef TRUTH
#undef WIDE
#undef INT
#undef VEC
