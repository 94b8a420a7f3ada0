/* ChaCha20, 2 V_LANES blocks at a time.
 *
 * Lane l of a register belongs to block l. So the sixteen words of a block are in sixteen
 * registers, and a round never moves data between lanes. A round is one long chain of dependent
 * operations, during which the processor would wait. So each round computes two such sets of
 * registers together. 2 V_LANES divides 32.
 */
#if DPF_LEVEL == DPF_ISA_AVX512
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
#elif DPF_LEVEL == DPF_ISA_AVX2
#define dpf_v __m256i
#define V_LANES 8
#define V_ADD(a, b) _mm256_add_epi32(a, b)
#define V_XOR(a, b) _mm256_xor_si256(a, b)
#define V_BYTES(b0, b1, b2, b3)                                                                    \
    _mm256_setr_epi8(b0, b1, b2, b3, b0 + 4, b1 + 4, b2 + 4, b3 + 4, b0 + 8, b1 + 8, b2 + 8,       \
                     b3 + 8, b0 + 12, b1 + 12, b2 + 12, b3 + 12, b0, b1, b2, b3, b0 + 4, b1 + 4,   \
                     b2 + 4, b3 + 4, b0 + 8, b1 + 8, b2 + 8, b3 + 8, b0 + 12, b1 + 12, b2 + 12,    \
                     b3 + 12)
/* Rotations by whole bytes are one shuffle, and others are two shifts. */
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
#else /* 4 lanes if the compiler has vectors for the baseline (SSE2, NEON), else 1 */
#define SHIFT_ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#if DPF_VECTOR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
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
#endif

#define QUARTER(x, a, b, c, d)                                                                     \
    x[a] = V_ADD(x[a], x[b]), x[d] = V_ROTL_16(V_XOR(x[d], x[a]));                                 \
    x[c] = V_ADD(x[c], x[d]), x[b] = V_ROTL_12(V_XOR(x[b], x[c]));                                 \
    x[a] = V_ADD(x[a], x[b]), x[d] = V_ROTL_8(V_XOR(x[d], x[a]));                                  \
    x[c] = V_ADD(x[c], x[d]), x[b] = V_ROTL_7(V_XOR(x[b], x[c]))
#define COLUMNS(x)                                                                                 \
    QUARTER(x, 0, 4, 8, 12);                                                                       \
    QUARTER(x, 1, 5, 9, 13);                                                                       \
    QUARTER(x, 2, 6, 10, 14);                                                                      \
    QUARTER(x, 3, 7, 11, 15)
#define DIAGONALS(x)                                                                               \
    QUARTER(x, 0, 5, 10, 15);                                                                      \
    QUARTER(x, 1, 6, 11, 12);                                                                      \
    QUARTER(x, 2, 7, 8, 13);                                                                       \
    QUARTER(x, 3, 4, 9, 14)

/* The address of the first word of block number `block` of the call. */
#define PLACE(block) (out + 1024 * ((block) / 16) + 4 * ((block) % 16))

/* Writes 32 `pairs` blocks. `start` has the constants, the key, the first counter and the nonce. */
static void DPF_NAME(chacha)(const uint32_t start[16], size_t pairs, uint8_t *out)
{
    for (size_t block = 0; block < 32 * pairs; block += 2 * V_LANES) {
        const uint32_t counter = start[12] + (uint32_t)block;
        dpf_v x[16], y[16];
        for (int w = 0; w < 16; w++)
            x[w] = y[w] = V_SET1(start[w]);
        x[12] = V_ADD(V_SET1(counter), V_IOTA);
        y[12] = V_ADD(V_SET1(counter + V_LANES), V_IOTA);
        for (int round = 0; round < 10; round++) {
            COLUMNS(x);
            COLUMNS(y);
            DIAGONALS(x);
            DIAGONALS(y);
        }
        x[12] = V_ADD(x[12], V_ADD(V_SET1((uint32_t)block), V_IOTA));
        y[12] = V_ADD(y[12], V_ADD(V_SET1((uint32_t)block + V_LANES), V_IOTA));
        for (int w = 0; w < 16; w++) {
            V_STORE(PLACE(block) + 64 * w, V_ADD(x[w], V_SET1(start[w])));
            V_STORE(PLACE(block + V_LANES) + 64 * w, V_ADD(y[w], V_SET1(start[w])));
        }
    }
}

#undef QUARTER
#undef COLUMNS
#undef DIAGONALS
#undef PLACE
#undef dpf_v
#undef V_LANES
#undef V_ADD
#undef V_XOR
#undef V_ROTL_16
#undef V_ROTL_12
#undef V_ROTL_8
#undef V_ROTL_7
#undef V_SET1
#undef V_IOTA
#undef V_STORE
