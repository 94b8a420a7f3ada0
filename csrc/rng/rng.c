#include "rng/rng.h"

#include <string.h>

#include "core/isa.h"

#define DPF_BODY "rng/rng_body.h"
#include "core/each_isa.h"

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
    DPF_CHOSEN(chacha)(start, pairs, out);
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

/* Reads words with the low byte first, on machines of any byte order. */
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
    DPF_CHOSEN(chacha)(start, DPF_RNG_BLOCKS / 32, rng->buffer);
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
