#include "dpf_rng.h"

#include <string.h>

#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define QUARTER(a, b, c, d)                                                                        \
    a += b, d ^= a, d = ROTL(d, 16), c += d, b ^= c, b = ROTL(b, 12);                              \
    a += b, d ^= a, d = ROTL(d, 8), c += d, b ^= c, b = ROTL(b, 7)

void dpf_chacha_group(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      uint32_t out[256])
{
    for (uint32_t b = 0; b < 16; b++) {
        uint32_t start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u,
                              key[0],      key[1],      key[2],      key[3],
                              key[4],      key[5],      key[6],      key[7],
                              counter + b, nonce[0],    nonce[1],    nonce[2]};
        uint32_t x[16];
        memcpy(x, start, sizeof x);
        for (int round = 0; round < 10; round++) {
            QUARTER(x[0], x[4], x[8], x[12]);
            QUARTER(x[1], x[5], x[9], x[13]);
            QUARTER(x[2], x[6], x[10], x[14]);
            QUARTER(x[3], x[7], x[11], x[15]);
            QUARTER(x[0], x[5], x[10], x[15]);
            QUARTER(x[1], x[6], x[11], x[12]);
            QUARTER(x[2], x[7], x[8], x[13]);
            QUARTER(x[3], x[4], x[9], x[14]);
        }
        for (int w = 0; w < 16; w++)
            out[16 * w + b] = x[w] + start[w];
    }
}

static void wipe(void *p, size_t bytes)
{
    memset(p, 0, bytes);
#if defined(__GNUC__) || defined(__clang__)
    __asm__ __volatile__("" : : "r"(p) : "memory");
#else
    volatile uint8_t *v = (volatile uint8_t *)p;
    for (size_t i = 0; i < bytes; i++)
        v[i] = 0;
#endif
}

static void refill(dpf_rng *rng)
{
    static const uint32_t nonce[3] = {0, 0, 0};
    uint32_t group[256];
    for (uint32_t b = 0; b < DPF_RNG_BLOCKS; b += 16) {
        dpf_chacha_group(rng->key, b, nonce, group);
        memcpy(rng->buffer + 64 * (size_t)b, group, sizeof group);
    }
    wipe(group, sizeof group);
    memcpy(rng->key, rng->buffer, 32);
    wipe(rng->buffer, 32);
    rng->at = 32;
}

void dpf_rng_seed(dpf_rng *rng, const uint8_t key[32])
{
    memcpy(rng->key, key, 32);
    rng->at = DPF_RNG_BYTES;
}

void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes)
{
    uint8_t *to = (uint8_t *)out;
    while (bytes) {
        if (rng->at == DPF_RNG_BYTES)
            refill(rng);
        size_t take = DPF_RNG_BYTES - rng->at;
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
    wipe(rng, sizeof *rng);
    rng->at = DPF_RNG_BYTES;
}
