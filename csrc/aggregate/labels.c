#include "aggregate/labels.h"

#include "core/isa.h"
#include "rng/rng.h"

#define PAIR 512 /* rows with words from two groups of 16 ChaCha20 blocks (dpf_chacha_pairs) */
#define PAIRS 4

#define DPF_BODY "aggregate/labels_body.h"
#include "core/each_isa.h"

/* Writes the words of one layer for PAIR * `pairs` rows, from row PAIR * pair on. They must not
 * cross a multiple of 2^32 ChaCha20 blocks. */
static void keystream(const uint32_t key[8], uint32_t layer, uint64_t pair, size_t pairs,
                      uint32_t *words)
{
    const uint64_t block = 32 * pair;
    const uint32_t nonce[3] = {(uint32_t)(block >> 32), layer, 0x636f6c62u};
    dpf_chacha_pairs(key, (uint32_t)block, nonce, pairs, (uint8_t *)words);
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    for (size_t i = 0; i < PAIR * pairs; i++) {
        const uint8_t *b = (const uint8_t *)(words + i);
        words[i] = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
#endif
}

/* Draws the label of a row whose word of layer 0 was refused. */
static uint32_t once_more(const uint32_t key[8], uint32_t blocks, uint32_t least, uint64_t row)
{
    uint32_t words[PAIR], label;
    for (uint32_t layer = 1;; layer++) {
        keystream(key, layer, row / PAIR, 1, words);
        const uint64_t product = (uint64_t)words[row % PAIR] * blocks;
        label = (uint32_t)(product >> 32);
        if ((uint32_t)product >= least)
            break;
    }
    dpf_wipe(words, sizeof words);
    return label;
}

void dpf_labels_random(const uint32_t key[8], uint32_t blocks, uint64_t start, size_t n,
                       uint32_t *out)
{
    uint32_t words[PAIR * PAIRS];
    const uint32_t least = (uint32_t)(0x100000000u % blocks);
    while (n) {
        const uint64_t pair = start / PAIR;
        const size_t skip = (size_t)(start % PAIR);
        /* A run ends at a multiple of PAIRS, so it crosses no multiple of 2^32 ChaCha20 blocks. */
        size_t pairs = PAIRS - (size_t)(pair % PAIRS);
        if (n + skip < PAIR * pairs)
            pairs = (n + skip + PAIR - 1) / PAIR;
        const size_t here = PAIR * pairs - skip < n ? PAIR * pairs - skip : n;
        keystream(key, 0, pair, pairs, words);
        if (DPF_CHOSEN(scale)(words + skip, blocks, least, here, out))
            for (size_t i = 0; i < here; i++)
                if ((uint32_t)(words[skip + i] * blocks) < least)
                    out[i] = once_more(key, blocks, least, start + i);
        out += here, start += here, n -= here;
    }
    dpf_wipe(words, sizeof words);
}

void dpf_labels_keyed(const dpf_keys_key *key, uint32_t blocks, const uint64_t *low,
                      const uint64_t *high, size_t n, uint32_t *out)
{
    uint64_t hash[PAIR];
    for (size_t i = 0; i < n; i += PAIR) {
        const size_t here = n - i < PAIR ? n - i : PAIR;
        dpf_keys_hash(key, low + i, high ? high + i : NULL, here, hash);
        for (size_t j = 0; j < here; j++)
            out[i + j] = (uint32_t)(((hash[j] >> 32) * blocks
                                     + ((hash[j] & UINT32_MAX) * (uint64_t)blocks >> 32)) >> 32);
    }
}

int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks)
{
    return n == 0 || DPF_CHOSEN(largest)(labels, n) < blocks;
}
