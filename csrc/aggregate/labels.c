#include "aggregate/labels.h"

#include <string.h>

#include "core/isa.h"
#include "rng/rng.h"

#define PAIR 512 /* rows of one pair of groups */
#define PAIRS 4

#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))
#define SIP_ROUND                                                                                  \
    (v0 += v1, v1 = ROTL(v1, 13), v1 ^= v0, v0 = ROTL(v0, 32), v2 += v3, v3 = ROTL(v3, 16),        \
     v3 ^= v2, v0 += v3, v3 = ROTL(v3, 21), v3 ^= v0, v2 += v1, v1 = ROTL(v1, 17), v1 ^= v2,       \
     v2 = ROTL(v2, 32))
#define SIP_START(k0, k1)                                                                          \
    uint64_t v0 = (k0) ^ 0x736f6d6570736575u, v1 = (k1) ^ 0x646f72616e646f6du,                     \
             v2 = (k0) ^ 0x6c7967656e657261u, v3 = (k1) ^ 0x7465646279746573u
#define SIP_WORD(m) (v3 ^= (m), SIP_ROUND, SIP_ROUND, v0 ^= (m))
#define SIP_END (v2 ^= 0xff, SIP_ROUND, SIP_ROUND, SIP_ROUND, SIP_ROUND)
#define SIP_HASH (v0 ^ v1 ^ v2 ^ v3)
/* floor(h blocks / 2^64) */
#define SIP_LABEL(h, blocks)                                                                       \
    (uint32_t)((((h) >> 32) * (blocks) + (((h) & 0xffffffffu) * (uint64_t)(blocks) >> 32)) >> 32)

#define DPF_BODY "aggregate/labels_body.h"
#include "core/each_isa.h"
#if DPF_X86
#define PATH(call)                                                                                 \
    (dpf_isa() == DPF_ISA_AVX512 ? DPF_CAT(call, avx512)                                           \
     : dpf_isa() == DPF_ISA_AVX2 ? DPF_CAT(call, avx2)                                             \
                                 : DPF_CAT(call, baseline))
#else
#define PATH(call) DPF_CAT(call, baseline)
#endif

static uint64_t load(const uint8_t *from, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)from[i] << 8 * i;
    return word;
}

/* The `pairs` pairs of one layer from row PAIR * pair on; they do not cross 2^32 blocks. */
static void keystream(const uint32_t key[8], uint32_t layer, uint64_t pair, size_t pairs,
                      uint32_t *words)
{
    const uint64_t block = 32 * pair;
    const uint32_t nonce[3] = {(uint32_t)(block >> 32), layer, 0x636f6c62u};
    dpf_chacha_pairs(key, (uint32_t)block, nonce, pairs, (uint8_t *)words);
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    for (size_t i = 0; i < PAIR * pairs; i++)
        words[i] = (uint32_t)load((const uint8_t *)(words + i), 4);
#endif
}

/* The label of a row whose word of layer 0 was refused. */
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
        /* A multiple of PAIRS ends a run, so that no run crosses 2^32 blocks. */
        size_t pairs = PAIRS - (size_t)(pair % PAIRS);
        if (n + skip < PAIR * pairs)
            pairs = (n + skip + PAIR - 1) / PAIR;
        const size_t here = PAIR * pairs - skip < n ? PAIR * pairs - skip : n;
        keystream(key, 0, pair, pairs, words);
        if (PATH(scale)(words + skip, blocks, least, here, out))
            for (size_t i = 0; i < here; i++)
                if ((uint32_t)(words[skip + i] * blocks) < least)
                    out[i] = once_more(key, blocks, least, start + i);
        out += here, start += here, n -= here;
    }
    dpf_wipe(words, sizeof words);
}

static uint64_t sip(uint64_t k0, uint64_t k1, const uint8_t *data, size_t bytes, unsigned last)
{
    const uint64_t length = (uint64_t)(bytes + 1) << 56;
    SIP_START(k0, k1);
    for (; bytes >= 8; bytes -= 8, data += 8) {
        const uint64_t word = load(data, 8);
        SIP_WORD(word);
    }
    uint64_t end = load(data, bytes) | (uint64_t)last << 8 * bytes;
    if (bytes == 7) {
        SIP_WORD(end);
        end = 0;
    }
    end |= length;
    SIP_WORD(end);
    SIP_END;
    return SIP_HASH;
}

#define KEY_0 (key[0] | (uint64_t)key[1] << 32)
#define KEY_1 (key[2] | (uint64_t)key[3] << 32)

uint64_t dpf_siphash(const uint32_t key[8], const uint8_t *data, size_t bytes, unsigned last)
{
    return sip(KEY_0, KEY_1, data, bytes, last);
}

void dpf_labels_integers(const uint32_t key[8], uint32_t blocks, const uint64_t *ids, int is_signed,
                         size_t n, uint32_t *out)
{
    PATH(integers)(KEY_0, KEY_1, blocks, ids, is_signed != 0, n, out);
}

void dpf_labels_bytes(const uint32_t key[8], uint32_t blocks, const uint8_t *data,
                      const int64_t *from, unsigned kind, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t bytes = (size_t)(from[i + 1] - from[i]);
        while (bytes && data[(size_t)from[i] + bytes - 1] == 0)
            bytes--;
        const uint64_t hash = sip(KEY_0, KEY_1, data + from[i], bytes, kind);
        out[i] = SIP_LABEL(hash, blocks);
    }
}

void dpf_labels_padded(const uint32_t key[8], uint32_t blocks, const uint8_t *data, size_t width,
                       size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++, data += width) {
        size_t bytes = width;
        while (bytes && data[bytes - 1] == 0)
            bytes--;
        const uint64_t hash = sip(KEY_0, KEY_1, data, bytes, DPF_ID_BYTES);
        out[i] = SIP_LABEL(hash, blocks);
    }
}

/* One code point as UTF-8; a surrogate, which is no character, as the three bytes of its number. */
static uint8_t *encode(uint32_t code, uint8_t *to)
{
    if (code < 0x80) {
        *to++ = (uint8_t)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (uint8_t)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (uint8_t)(0xe0 | code >> 12);
        } else {
            *to++ = (uint8_t)(0xf0 | (code >> 18 & 7));
            *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (uint8_t)(0x80 | (code & 0x3f));
    return to;
}

void dpf_labels_text(const uint32_t key[8], uint32_t blocks, const uint32_t *codes, size_t width,
                     uint8_t *scratch, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++, codes += width) {
        size_t length = width;
        while (length && codes[length - 1] == 0)
            length--;
        uint8_t *end = scratch;
        for (size_t j = 0; j < length; j++)
            end = encode(codes[j], end);
        const uint64_t hash = sip(KEY_0, KEY_1, scratch, (size_t)(end - scratch), DPF_ID_TEXT);
        out[i] = SIP_LABEL(hash, blocks);
    }
}

int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks)
{
    return n == 0 || PATH(largest)(labels, n) < blocks;
}
