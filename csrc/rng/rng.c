#include "rng/rng.h"

#include <string.h>

#include "core/isa.h"

/* Baseline: 4 blocks at a time where the compiler knows vectors of its own (SSE2, NEON), else 1. */
#define DPF_SUFFIX baseline
#define SHIFT_ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#if (defined(__GNUC__) || defined(__clang__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef uint32_t dpf_u32x4 __attribute__((vector_size(16)));
#define dpf_v dpf_u32x4
#define V_LANES 4
#define V_SET1(x) ((dpf_u32x4){(x), (x), (x), (x)})
#define V_IOTA ((dpf_u32x4){0, 1, 2, 3})
static inline void store_4(uint8_t *to, dpf_u32x4 x) { memcpy(to, &x, 16); }
#define V_STORE(to, x) store_4((to), (x))
#else
static void store_word(uint8_t *to, uint32_t x)
{
    to[0] = (uint8_t)x;
    to[1] = (uint8_t)(x >> 8);
    to[2] = (uint8_t)(x >> 16);
    to[3] = (uint8_t)(x >> 24);
}
#define dpf_v uint32_t
#define V_LANES 1
#define V_SET1(x) (x)
#define V_IOTA 0u
#define V_STORE(to, x) store_word((to), (x))
#endif
#define V_ADD(a, b) ((a) + (b))
#define V_XOR(a, b) ((a) ^ (b))
#define V_ROTL_16(x) SHIFT_ROTL(x, 16)
#define V_ROTL_12(x) SHIFT_ROTL(x, 12)
#define V_ROTL_8(x) SHIFT_ROTL(x, 8)
#define V_ROTL_7(x) SHIFT_ROTL(x, 7)
#include "rng/rng_body.h"

#if DPF_X86
DPF_BEGIN_AVX2
#define DPF_SUFFIX avx2
#define dpf_v __m256i
#define V_LANES 8
#define V_ADD(a, b) _mm256_add_epi32(a, b)
#define V_XOR(a, b) _mm256_xor_si256(a, b)
#define V_BYTES(b0, b1, b2, b3)                                                                    \
    _mm256_setr_epi8(b0, b1, b2, b3, b0 + 4, b1 + 4, b2 + 4, b3 + 4, b0 + 8, b1 + 8, b2 + 8,       \
                     b3 + 8, b0 + 12, b1 + 12, b2 + 12, b3 + 12, b0, b1, b2, b3, b0 + 4, b1 + 4,   \
                     b2 + 4, b3 + 4, b0 + 8, b1 + 8, b2 + 8, b3 + 8, b0 + 12, b1 + 12, b2 + 12,    \
                     b3 + 12)
/* Whole bytes turn by one shuffle, the others by two shifts. */
#define V_ROTL_16(x) _mm256_shuffle_epi8(x, V_BYTES(2, 3, 0, 1))
#define V_ROTL_8(x) _mm256_shuffle_epi8(x, V_BYTES(3, 0, 1, 2))
static inline __m256i rotl_shift_12(__m256i x)
{
    return _mm256_or_si256(_mm256_slli_epi32(x, 12), _mm256_srli_epi32(x, 20));
}
static inline __m256i rotl_shift_7(__m256i x)
{
    return _mm256_or_si256(_mm256_slli_epi32(x, 7), _mm256_srli_epi32(x, 25));
}
#define V_ROTL_12(x) rotl_shift_12(x)
#define V_ROTL_7(x) rotl_shift_7(x)
#define V_SET1(x) _mm256_set1_epi32((int)(x))
#define V_IOTA _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
#define V_STORE(to, x) _mm256_storeu_si256((__m256i *)(to), x)
#include "rng/rng_body.h"
DPF_END

DPF_BEGIN_AVX512
#define DPF_SUFFIX avx512
#define dpf_v __m512i
#define V_LANES 16
#define V_ADD(a, b) _mm512_add_epi32(a, b)
#define V_XOR(a, b) _mm512_xor_si512(a, b)
#define V_ROTL_16(x) _mm512_rol_epi32(x, 16)
#define V_ROTL_12(x) _mm512_rol_epi32(x, 12)
#define V_ROTL_8(x) _mm512_rol_epi32(x, 8)
#define V_ROTL_7(x) _mm512_rol_epi32(x, 7)
#define V_SET1(x) _mm512_set1_epi32((int)(x))
#define V_IOTA _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define V_STORE(to, x) _mm512_storeu_si512(to, x)
#include "rng/rng_body.h"
DPF_END
#endif

static void chacha(const uint32_t start[16], size_t pairs, uint8_t *out)
{
#if DPF_X86
    switch (dpf_isa()) {
    case DPF_ISA_AVX512:
        chacha_avx512(start, pairs, out);
        return;
    case DPF_ISA_AVX2:
        chacha_avx2(start, pairs, out);
        return;
    }
#endif
    chacha_baseline(start, pairs, out);
}

static void set_start(uint32_t start[16], const uint32_t key[8])
{
    start[0] = 0x61707865u;
    start[1] = 0x3320646eu;
    start[2] = 0x79622d32u;
    start[3] = 0x6b206574u;
    memcpy(start + 4, key, 32);
    memset(start + 12, 0, 16);
}

void dpf_chacha_pairs(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      size_t pairs, uint8_t *out)
{
    uint32_t start[16];
    set_start(start, key);
    start[12] = counter;
    memcpy(start + 13, nonce, 12);
    chacha(start, pairs, out);
    dpf_wipe(start, sizeof start);
}

void dpf_chacha_group(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      uint8_t out[1024])
{
    uint8_t pair[2048];
    dpf_chacha_pairs(key, counter, nonce, 1, pair);
    memcpy(out, pair, 1024);
    dpf_wipe(pair, sizeof pair);
}

void dpf_wipe(void *p, size_t bytes)
{
#if defined(__GNUC__) || defined(__clang__)
    memset(p, 0, bytes);
    __asm__ __volatile__("" : : "r"(p) : "memory");
#else
    volatile uint8_t *v = (volatile uint8_t *)p;
    for (size_t i = 0; i < bytes; i++)
        v[i] = 0;
#endif
}

/* The low byte first, whatever the machine's own order. */
static void read_key(uint32_t key[8], const uint8_t bytes[32])
{
    for (int i = 0; i < 8; i++, bytes += 4)
        key[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                 (uint32_t)bytes[3] << 24;
}

static void refill(dpf_rng *rng)
{
    uint32_t start[16];
    set_start(start, rng->key);
    chacha(start, DPF_RNG_BLOCKS / 32, rng->buffer);
    dpf_wipe(start, sizeof start);
    read_key(rng->key, rng->buffer);
    memset(rng->buffer, 0, 32);
    rng->at = 32;
}

void dpf_rng_seed(dpf_rng *rng, const uint8_t key[32])
{
    read_key(rng->key, key);
    memset(rng->buffer, 0, sizeof rng->buffer);
    rng->at = DPF_RNG_BYTES;
}

void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes)
{
    uint8_t *to = (uint8_t *)out;
    while (bytes) {
        size_t take = DPF_RNG_BYTES - rng->at;
        if (take == 0) {
            refill(rng);
            take = DPF_RNG_BYTES - rng->at;
        }
        if (take > bytes)
            take = bytes;
        memcpy(to, rng->buffer + rng->at, take);
        memset(rng->buffer + rng->at, 0, take);
        rng->at += take;
        to += take;
        bytes -= take;
    }
}

void dpf_rng_wipe(dpf_rng *rng)
{
    dpf_wipe(rng, sizeof *rng);
    rng->at = DPF_RNG_BYTES;
}
