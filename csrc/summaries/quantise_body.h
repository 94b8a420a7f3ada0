/* Cells and their sums.
 *
 * v / grid + MAGIC, with MAGIC = 1.5 2^52, is a float64 whose last bits are the integer nearest to
 * v / grid. Subtracting the bits of MAGIC + first, as an integer, gives the cell. v / grid is
 * exact, because the grid is a power of two. (If it underflows, it is less than half a cell, before
 * and after.) v + MAGIC grid has the same last bits, as long as it is finite, and needs no product.
 */
#include "core/vector.h"
#if DPF_VECTOR
/* MORE is the larger of two, and LESS the smaller; where the first is NaN, each is the second.
 * EITHER is whether any of two is NaN. TIMES is the products of the lower halves of 64-bit
 * lanes. */
#if DPF_X86 && DPF_VECTOR == 64
#define EITHER(a, b) (INT) _mm512_movm_epi64(_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q))
#elif DPF_X86 && DPF_VECTOR == 32
#define EITHER(a, b) (INT) _mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q)
#elif DPF_X86
#define EITHER(a, b) (INT) _mm_cmpunord_pd((__m128d)(a), (__m128d)(b))
#else
#define EITHER(a, b) ((INT)((a) != (a)) | (INT)((b) != (b)))
#endif
#if DPF_X86 && DPF_VECTOR == 64
#define MORE(a, b) (VEC) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#define LESS(a, b) (VEC) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define TIMES(a, b) (BITS) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#elif DPF_X86 && DPF_VECTOR == 32
#define MORE(a, b) (VEC) _mm256_max_pd((__m256d)(a), (__m256d)(b))
#define LESS(a, b) (VEC) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define TIMES(a, b) (BITS) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#elif DPF_X86
#define MORE(a, b) (VEC) _mm_max_pd((__m128d)(a), (__m128d)(b))
#define LESS(a, b) (VEC) _mm_min_pd((__m128d)(a), (__m128d)(b))
#define TIMES(a, b) (BITS) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#else
#define MORE(a, b) PICK((a) > (b), a, b)
#define LESS(a, b) PICK((a) < (b), a, b)
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

/* Sums at most TILE values. So sums of cells, and of halves of their squares, stay below 2^63, and
 * the values are still in a cache if NaN have to be counted. */
static void DPF_NAME(quantise_sums)(const double *x, size_t n, const dpf_quantise_cells *c,
                                    int squares, dpf_quantise_totals *totals)
{
    uint64_t nan = 0, sum = 0, low = 0, high = 0;
    size_t i = 0;
#if DPF_VECTOR
    const VEC lo = c->lo - (VEC){0}, hi = c->hi - (VEC){0};
    const double far = MAGIC / c->scale;
    const VEC magic = far - (VEC){0};
    const size_t most = far < 0x1p1023 ? n : 0;
    uint64_t base;
    memcpy(&base, &far, sizeof base);
    base += (uint64_t)c->first;
    INT odd = {0};
    BITS all = {0};
    if (!squares) {
        for (; i + 2 * LANES <= most; i += 2 * LANES) {
            VEC v, w;
            memcpy(&v, x + i, sizeof v);
            memcpy(&w, x + i + LANES, sizeof w);
            dpf_fetch_ahead(x + i), dpf_fetch_ahead(x + i + LANES);
            odd |= EITHER(v, w);
            all += (BITS)(LESS(MORE(v, lo), hi) + magic);
            all += (BITS)(LESS(MORE(w, lo), hi) + magic);
        }
        sum = 0 - base * i;
    } else {
        BITS low_halves = {0}, high_halves = {0};
        for (; i + LANES <= most; i += LANES) {
            VEC v;
            memcpy(&v, x + i, sizeof v);
            dpf_fetch_ahead(x + i);
            odd |= EITHER(v, v);
            const BITS u = (BITS)(LESS(MORE(v, lo), hi) + magic) - base, square = TIMES(u, u);
            all += u;
            low_halves += square & UINT32_MAX;
            high_halves += square >> 32;
        }
        for (int l = 0; l < LANES; l++)
            low += low_halves[l], high += high_halves[l];
    }
    int64_t any = 0;
    for (int l = 0; l < LANES; l++)
        any |= odd[l], sum += all[l];
    for (size_t j = 0; any && j < i; j++)
        nan += x[j] != x[j];
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

/* Adds the products of at most TILE pairs. */
static void DPF_NAME(quantise_products)(const uint32_t *a, const uint32_t *b, size_t n,
                                        dpf_quantise_whole *whole)
{
    uint64_t low = 0, high = 0;
    size_t i = 0;
#if DPF_VECTOR
    /* A lane of 64 bits has two numbers. The products of the lower numbers, and then of the upper
     * ones. */
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

#define WIDEN(KIND, TYPE)                                                                          \
    case KIND:                                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = (double)((const TYPE *)x)[i];                                                 \
        return;

static void DPF_NAME(quantise_widen)(int kind, const void *x, size_t n, double *out)
{
    switch (kind) {
        WIDEN(DPF_F64, double)
        WIDEN(DPF_F32, float)
        WIDEN(DPF_I64, int64_t)
        WIDEN(DPF_I32, int32_t)
        WIDEN(DPF_I16, int16_t)
        WIDEN(DPF_I8, int8_t)
        WIDEN(DPF_U64, uint64_t)
        WIDEN(DPF_U32, uint32_t)
        WIDEN(DPF_U16, uint16_t)
        WIDEN(DPF_U8, uint8_t)
    }
}

#undef WIDEN

/* Returns the sum of min(max(x, lo), hi) - lo, which is below 2^63. Sums of PIECE rows of 8 or 16
 * bits fit into 32 bits. */
#define CLAMPED(KIND, BITS_OF, SIGN, NARROW)                                                       \
    case KIND: {                                                                                   \
        typedef SIGN##BITS_OF##_t value;                                                           \
        typedef uint##BITS_OF##_t plain;                                                           \
        const value *const y = x, least = (value)lo, most = (value)hi;                             \
        for (size_t i = 0; i < n; i += PIECE) {                                                    \
            const size_t end = n - i < PIECE ? n : i + PIECE;                                      \
            NARROW piece = 0;                                                                      \
            for (size_t j = i; j < end; j++) {                                                     \
                const value v = y[j] < least ? least : y[j];                                       \
                piece += (plain)((plain)(v < most ? v : most) - (plain)least);                     \
            }                                                                                      \
            sum += piece;                                                                          \
        }                                                                                          \
        return sum;                                                                                \
    }

#if DPF_X86 && DPF_VECTOR == 16
/* SSE2 cannot compare integers of 64 bits. But positive float64 have the order of their bits, and
 * MAGIC_BITS + v are the bits of one, unless v is far beyond 2^51. Returns how many rows were
 * summed, or 0 if any row is beyond. */
static size_t DPF_NAME(quantise_by_bits)(const int64_t *x, size_t n, int64_t lo, int64_t hi,
                                         uint64_t shift, uint64_t *sum)
{
    const VEC least = MAGIC + (double)lo - (VEC){0}, most = MAGIC + (double)hi - (VEC){0};
    BITS all = {0}, seen = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        BITS v;
        memcpy(&v, x + i, sizeof v);
        seen |= v + shift;
        all += (BITS)LESS(MORE((VEC)(v + MAGIC_BITS), least), most);
    }
    if ((seen[0] | seen[1]) >> 61)
        return 0;
    *sum = all[0] + all[1] - i * (MAGIC_BITS + (uint64_t)lo);
    return i;
}
#endif

static uint64_t DPF_NAME(quantise_clamped)(int kind, const void *x, size_t n, int64_t lo, int64_t hi)
{
    uint64_t sum = 0;
#if DPF_X86 && DPF_VECTOR == 16
    if (kind == DPF_I64 || kind == DPF_U64) {
        const uint64_t shift = kind == DPF_I64 ? (uint64_t)1 << 60 : 0;
        const size_t done = DPF_NAME(quantise_by_bits)(x, n, lo, hi, shift, &sum);
        x = (const int64_t *)x + done, n -= done;
    }
#endif
    switch (kind) {
        CLAMPED(DPF_I64, 64, int, uint64_t)
        CLAMPED(DPF_I32, 32, int, uint64_t)
        CLAMPED(DPF_I16, 16, int, uint32_t)
        CLAMPED(DPF_I8, 8, int, uint32_t)
        CLAMPED(DPF_U64, 64, uint, uint64_t)
        CLAMPED(DPF_U32, 32, uint, uint64_t)
        CLAMPED(DPF_U16, 16, uint, uint32_t)
        CLAMPED(DPF_U8, 8, uint, uint32_t)
    }
    return sum;
}

#undef CLAMPED
#include "core/vector_end.h"
#undef MORE
#undef LESS
#undef EITHER
#undef TIMES
