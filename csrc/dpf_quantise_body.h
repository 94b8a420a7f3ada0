/* Cells and their sums for one instruction set. The including file defines DPF_SUFFIX, which ends the
 * names, and WIDE, the bytes of a vector; 0 for plain C.
 *
 * v / grid + MAGIC, with MAGIC = 1.5 2^52, is a float64 whose last bits are the integer nearest to
 * v / grid; the bits of MAGIC + first, taken off as an integer, leave the cell. v / grid is exact:
 * the grid is a power of two (what underflows is less than half a cell and stays so).
 */
#if WIDE
#define LANES (WIDE / 8)
typedef double DPF_NAME(quantise_vec) __attribute__((vector_size(WIDE)));
typedef int64_t DPF_NAME(quantise_int) __attribute__((vector_size(WIDE)));
typedef uint64_t DPF_NAME(quantise_bits) __attribute__((vector_size(WIDE)));
#define VEC DPF_NAME(quantise_vec)
#define INT DPF_NAME(quantise_int)
#define BITS DPF_NAME(quantise_bits)
/* MORE: the larger of two, and LESS: the smaller, each the second where the first is NaN. TIMES: the
 * products of the lower halves of 64-bit lanes. */
#if DPF_X86 && WIDE == 64
#define MORE(a, b) (VEC) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#define LESS(a, b) (VEC) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define TIMES(a, b) (BITS) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#elif DPF_X86 && WIDE == 32
#define MORE(a, b) (VEC) _mm256_max_pd((__m256d)(a), (__m256d)(b))
#define LESS(a, b) (VEC) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define TIMES(a, b) (BITS) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#elif DPF_X86
#define MORE(a, b) (VEC) _mm_max_pd((__m128d)(a), (__m128d)(b))
#define LESS(a, b) (VEC) _mm_min_pd((__m128d)(a), (__m128d)(b))
#define TIMES(a, b) (BITS) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#else
static inline VEC DPF_NAME(quantise_pick)(INT truth, VEC a, VEC b)
{
    return (VEC)(((INT)a & truth) | ((INT)b & ~truth));
}
#define MORE(a, b) DPF_NAME(quantise_pick)((INT)((a) > (b)), a, b)
#define LESS(a, b) DPF_NAME(quantise_pick)((INT)((a) < (b)), a, b)
#define TIMES(a, b) (((a) & UINT32_MAX) * ((b) & UINT32_MAX))
#endif
#endif

static inline uint64_t DPF_NAME(quantise_one)(double v, const dpf_quantise_cells *c, uint64_t *nan)
{
    uint64_t bits;
    *nan += v != v;
    v = v > c->lo ? v : c->lo;
    v = v < c->hi ? v : c->hi;
    v = v * c->scale + MAGIC;
    memcpy(&bits, &v, sizeof bits);
    return bits - (MAGIC_BITS + (uint64_t)c->first);
}

/* At most TILE values: their cells stay below 2^63 together, the halves of their squares too. */
static void DPF_NAME(quantise_sums)(const double *x, size_t n, const dpf_quantise_cells *c,
                                    int squares, dpf_quantise_totals *totals)
{
    uint64_t nan = 0, sum = 0, low = 0, high = 0;
    size_t i = 0;
#if WIDE
    const VEC lo = c->lo - (VEC){0}, hi = c->hi - (VEC){0};
    const VEC scale = c->scale - (VEC){0}, magic = MAGIC - (VEC){0};
    const uint64_t base = MAGIC_BITS + (uint64_t)c->first;
    INT odd = {0};
    BITS all = {0};
    if (!squares) {
        for (; i + LANES <= n; i += LANES) {
            VEC v;
            memcpy(&v, x + i, sizeof v);
            odd -= (INT)(v != v);
            v = LESS(MORE(v, lo), hi);
            all += (BITS)(v * scale + magic);
        }
        sum = 0 - base * i;
    } else {
        BITS low_halves = {0}, high_halves = {0};
        for (; i + LANES <= n; i += LANES) {
            VEC v;
            memcpy(&v, x + i, sizeof v);
            odd -= (INT)(v != v);
            v = LESS(MORE(v, lo), hi);
            const BITS u = (BITS)(v * scale + magic) - base, square = TIMES(u, u);
            all += u;
            low_halves += square & UINT32_MAX;
            high_halves += square >> 32;
        }
        for (int l = 0; l < LANES; l++)
            low += low_halves[l], high += high_halves[l];
    }
    for (int l = 0; l < LANES; l++)
        nan += (uint64_t)odd[l], sum += all[l];
#endif
    for (; i < n; i++) {
        const uint64_t u = DPF_NAME(quantise_one)(x[i], c, &nan);
        sum += u;
        if (squares)
            low += u * u & UINT32_MAX, high += u * u >> 32;
    }
    totals->nan += nan;
    add(&totals->sum, sum, 0);
    add(&totals->squares, low, 0);
    add(&totals->squares, high << 32, high >> 32);
}

static void DPF_NAME(quantise_each)(const double *x, size_t n, const dpf_quantise_cells *c,
                                    uint32_t *out, uint8_t *missing)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        double v = x[i];
        v = v > c->lo ? v : c->lo;
        v = v < c->hi ? v : c->hi;
        v = v * c->scale + MAGIC;
        memcpy(&bits, &v, sizeof bits);
        out[i] = (uint32_t)bits - (uint32_t)(MAGIC_BITS + (uint64_t)c->first);
    }
    if (missing)
        for (size_t i = 0; i < n; i++)
            missing[i] = x[i] != x[i];
}

/* At most TILE pairs. */
static void DPF_NAME(quantise_products)(const uint32_t *a, const uint32_t *b, size_t n,
                                        dpf_quantise_whole *whole)
{
    uint64_t low = 0, high = 0;
    size_t i = 0;
#if WIDE
    /* Pairs of numbers in 64 bits: the product of the first of each, then that of the second. */
    BITS low_halves = {0}, high_halves = {0};
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        BITS u, v;
        memcpy(&u, a + i, sizeof u);
        memcpy(&v, b + i, sizeof v);
        const BITS p = TIMES(u, v), q = TIMES(u >> 32, v >> 32);
        low_halves += (p & UINT32_MAX) + (q & UINT32_MAX);
        high_halves += (p >> 32) + (q >> 32);
    }
    for (int l = 0; l < LANES; l++)
        low += low_halves[l], high += high_halves[l];
#endif
    for (; i < n; i++) {
        const uint64_t p = (uint64_t)a[i] * b[i];
        low += p & UINT32_MAX, high += p >> 32;
    }
    add(whole, low, 0);
    add(whole, high << 32, high >> 32);
}

#define WIDEN(KIND, TYPE)                                                                           \
    case KIND:                                                                                      \
        for (size_t i = 0; i < n; i++)                                                              \
            out[i] = (double)((const TYPE *)x)[i];                                                  \
        return;

static void DPF_NAME(quantise_widen)(int kind, const void *x, size_t n, double *out)
{
    switch (kind) {
        WIDEN(DPF_QUANTISE_F64, double)
        WIDEN(DPF_QUANTISE_F32, float)
        WIDEN(DPF_QUANTISE_I64, int64_t)
        WIDEN(DPF_QUANTISE_I32, int32_t)
        WIDEN(DPF_QUANTISE_I16, int16_t)
        WIDEN(DPF_QUANTISE_I8, int8_t)
        WIDEN(DPF_QUANTISE_U64, uint64_t)
        WIDEN(DPF_QUANTISE_U32, uint32_t)
        WIDEN(DPF_QUANTISE_U16, uint16_t)
        WIDEN(DPF_QUANTISE_U8, uint8_t)
    }
}

#undef WIDEN
#undef LANES
#undef VEC
#undef INT
#undef BITS
#undef MORE
#undef LESS
#undef TIMES
#undef WIDE
#undef DPF_SUFFIX
