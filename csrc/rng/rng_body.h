/* ChaCha20, twice V_LANES blocks at a time; included once per instruction set by rng/rng.c.
 *
 * Lane l of a register holds block l, so the sixteen words of a block live in sixteen registers and a
 * round never moves data across lanes. Two such sets go through each round together, because a round
 * is one long chain of dependent operations and one set alone leaves the processor waiting.
 * The vocabulary (dpf_v, V_LANES, V_ADD, V_XOR, V_ROTL_n, V_SET1, V_IOTA, V_STORE) is the including
 * file's; 2 V_LANES divides 32.
 */
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

/* Where block `block` of the call begins in the interleaved order. */
#define PLACE(block) (out + 1024 * ((block) / 16) + 4 * ((block) % 16))

/* `pairs` times 32 blocks. start: constants, key, counter of the first block, nonce. */
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
#undef DPF_SUFFIX
