/* The bracket pass for every type, and a table of these functions. */
#define WIDE DPF_VECTOR

#if WIDE == 64
/* LANE is the lane type in the names of intrinsics (PACK in those that compress), and REG its
 * register type. The predicates have the same numbers for integers and floats. NOT_LESS is true for
 * NaN. */
#define EQUAL 0
#define NOT_LESS 5
#define OP3(a, b, c) a##b##c
#define OP(a, b, c) OP3(a, b, c)
#define LOAD(p) _mm512_loadu_si512(p)
#define COMPARE(a, b, how) OP(_mm512_cmp_, LANE, _mask)((REG)(a), (REG)(b), how)
#define COMPARE_AND(mask, a, b, how)                                                               \
    OP(_mm512_mask_cmp_, LANE, _mask)(mask, (REG)(a), (REG)(b), how)
#define KEEP(to, mask, v)                                                                          \
    _mm512_storeu_si512(to, (__m512i)OP(_mm512_maskz_compress_, PACK, )(mask, (REG)(v)))
#elif WIDE == 32
#define KEEP_BY(entry, to, v)                                                                      \
    _mm256_storeu_si256((__m256i *)(to),                                                           \
                        _mm256_permutevar8x32_epi32(                                               \
                            (__m256i)(v), _mm256_cvtepu8_epi32(_mm_loadl_epi64(                    \
                                              (const __m128i *)(entry)))))
#endif

/* Types of 64 bits. BITS returns a mask of the true lanes. KEEP stores the lanes of a mask; the
 * rest of the vector is undefined. */
#define LANE_INT int64_t
#if WIDE == 64
#define LANE_MASK __mmask8
#elif WIDE == 32
#define BITS(truth) ((uint32_t)_mm256_movemask_pd((__m256d)(truth)))
#define KEEP(to, mask, v) KEEP_BY(squeeze_pairs + (mask), to, v)
#endif

#define KIND f64
#define IN double
#define OUT double
#define IS_NAN(v) ((v) != (v))
#define LANE pd
#define PACK pd
#define REG __m512d
#include "summaries/window_body.h"

#define KIND i64
#define IN int64_t
#define OUT int64_t
#define IS_NAN(v) 0
#define LANE epi64
#define PACK epi64
#define REG __m512i
#include "summaries/window_body.h"

#define KIND u64
#define IN uint64_t
#define OUT uint64_t
#define IS_NAN(v) 0
#define LANE epu64
#define PACK epi64
#define REG __m512i
#include "summaries/window_body.h"

/* Types of 32 bits, and those of 16 bits, which are widened to int32 when they are read. */
#undef LANE_INT
#undef LANE_MASK
#undef BITS
#define LANE_INT int32_t
#if WIDE == 64
#define LANE_MASK __mmask16
#elif WIDE == 32
#undef KEEP
#define BITS(truth) ((uint32_t)_mm256_movemask_ps((__m256)(truth)))
#define KEEP(to, mask, v) KEEP_BY(squeeze + (mask), to, v)
#endif

#define KIND f32
#define IN float
#define OUT float
#define IS_NAN(v) ((v) != (v))
#define LANE ps
#define PACK ps
#define REG __m512
#include "summaries/window_body.h"

#define KIND u32
#define IN uint32_t
#define OUT uint32_t
#define IS_NAN(v) 0
#define LANE epu32
#define PACK epi32
#define REG __m512i
#include "summaries/window_body.h"

#define KIND i32
#define IN int32_t
#define OUT int32_t
#define IS_NAN(v) 0
#define LANE epi32
#define PACK epi32
#define REG __m512i
#include "summaries/window_body.h"

#undef LOAD
#define LOAD(p) _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define KIND i16
#define IN int16_t
#define OUT int32_t
#define IS_NAN(v) 0
#define LANE epi32
#define PACK epi32
#define REG __m512i
#include "summaries/window_body.h"

#undef LOAD
#define LOAD(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define KIND u16
#define IN uint16_t
#define OUT int32_t
#define IS_NAN(v) 0
#define LANE epi32
#define PACK epi32
#define REG __m512i
#include "summaries/window_body.h"

#undef LANE_INT
#undef LANE_MASK
#undef KEEP
#undef BITS
#undef EQUAL
#undef NOT_LESS
#undef KEEP_BY
#undef LOAD
#undef OP3
#undef OP
#undef COMPARE
#undef COMPARE_AND

static void (*const DPF_NAME(passes)[DPF_DTYPES])(const void *, size_t, const void *, void *,
                                                         size_t, dpf_window_counts *) = {
    [DPF_F64] = DPF_NAME(window_pass_f64), [DPF_F32] = DPF_NAME(window_pass_f32),
    [DPF_I64] = DPF_NAME(window_pass_i64), [DPF_I32] = DPF_NAME(window_pass_i32),
    [DPF_I16] = DPF_NAME(window_pass_i16), [DPF_U64] = DPF_NAME(window_pass_u64),
    [DPF_U32] = DPF_NAME(window_pass_u32), [DPF_U16] = DPF_NAME(window_pass_u16),
};

#if WIDE == 64
static size_t (*const DPF_NAME(sieves)[DPF_DTYPES])(const void *, size_t, size_t,
                                                           const void *const *, void *,
                                                           uint64_t *) = {
    [DPF_F64] = DPF_NAME(window_sieve_f64), [DPF_F32] = DPF_NAME(window_sieve_f32),
    [DPF_I64] = DPF_NAME(window_sieve_i64), [DPF_I32] = DPF_NAME(window_sieve_i32),
    [DPF_I16] = DPF_NAME(window_sieve_i16), [DPF_U64] = DPF_NAME(window_sieve_u64),
    [DPF_U32] = DPF_NAME(window_sieve_u32), [DPF_U16] = DPF_NAME(window_sieve_u16),
};
#endif

/* Counts bytes for eight thresholds with one read. Only the first `group` of them are used. */
static void DPF_NAME(window_bytes)(const uint8_t *x, size_t n, uint8_t flip, uint8_t first,
                                   size_t group, uint64_t *counts)
{
    uint64_t sum[8] = {0};
    size_t i = 0;
#if WIDE == 64
    const __m512i turn = _mm512_set1_epi8((char)flip);
    __m512i t[8];
    for (int j = 0; j < 8; j++)
        t[j] = _mm512_set1_epi8((char)(first + j));
    for (; i + 64 <= n; i += 64) {
        const __m512i v = _mm512_xor_si512(_mm512_loadu_si512(x + i), turn);
        for (int j = 0; j < 8; j++)
            sum[j] += (uint64_t)__builtin_popcountll(_mm512_cmple_epu8_mask(v, t[j]));
    }
#elif WIDE
    /* Each lane is a counter of one byte, which is added to the counts before it can overflow. */
    typedef uint8_t lanes __attribute__((vector_size(WIDE)));
    while (i + WIDE <= n) {
        lanes c[8] = {{0}};
        const size_t stop = n - i < 255 * WIDE ? n - WIDE : i + 254 * WIDE;
        for (; i <= stop; i += WIDE) {
            lanes v;
            memcpy(&v, x + i, WIDE);
            v ^= flip;
            for (int j = 0; j < 8; j++)
                c[j] -= (lanes)(v <= (uint8_t)(first + j));
        }
        for (int j = 0; j < 8; j++)
            for (int l = 0; l < WIDE; l++)
                sum[j] += c[j][l];
    }
#endif
    for (; i < n; i++)
        for (int j = 0; j < 8; j++)
            sum[j] += (uint8_t)(x[i] ^ flip) <= (uint8_t)(first + j);
    for (size_t j = 0; j < group; j++)
        counts[j] += sum[j];
}
#undef WIDE
