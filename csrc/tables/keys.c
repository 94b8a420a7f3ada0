#include "tables/keys.h"

#include <string.h>

#include "core/isa.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))
#define SIP_ROUND                                                                                  \
    (v0 += v1, v1 = ROTL(v1, 13), v1 ^= v0, v0 = ROTL(v0, 32), v2 += v3, v3 = ROTL(v3, 16),        \
     v3 ^= v2, v0 += v3, v3 = ROTL(v3, 21), v3 ^= v0, v2 += v1, v1 = ROTL(v1, 17), v1 ^= v2,       \
     v2 = ROTL(v2, 32))
#define SIP_START(k0, k1)                                                                          \
    uint64_t v0 = (k0) ^ 0x736f6d6570736575u, v1 = (k1) ^ 0x646f72616e646f6du,                     \
             v2 = (k0) ^ 0x6c7967656e657261u, v3 = (k1) ^ 0x7465646279746573u
#define SIP_WORD(m) (v3 ^= (m), SIP_ROUND, SIP_ROUND, v0 ^= (m))
#define SIP_END (SIP_ROUND, SIP_ROUND, SIP_ROUND, SIP_ROUND)
#define SIP_HASH (v0 ^ v1 ^ v2 ^ v3)

#define DPF_BODY "tables/keys_body.h"
#include "core/each_isa.h"

/* Returns up to eight bytes as a word; the first byte is the lowest. */
static uint64_t load(const uint8_t *from, size_t bytes)
{
    uint64_t word = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (bytes == 8) {
        memcpy(&word, from, 8);
        return word;
    }
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (bytes >= 4) { /* two loads of four bytes, which may overlap */
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + bytes - 4, 4);
        return first | (uint64_t)last << 8 * (bytes - 4);
    }
#endif
    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)from[i] << 8 * i;
    return word;
}

/* SipHash-2-4 of a message, followed by the byte `last` unless that is negative. */
static uint64_t sip(const dpf_keys_key *key, const uint8_t *data, size_t bytes, int last,
                    uint64_t *high)
{
    const uint64_t length = (uint64_t)(bytes + (last >= 0)) << 56;
    SIP_START(key->k0, key->k1);
    if (high)
        v1 ^= 0xee;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        const uint64_t word = load(data, 8);
        SIP_WORD(word);
    }
    uint64_t end = load(data, bytes);
    if (last >= 0)
        end |= (uint64_t)last << 8 * bytes;
    if (last >= 0 && bytes == 7) {
        SIP_WORD(end);
        end = 0;
    }
    end |= length;
    SIP_WORD(end);
    v2 ^= high ? 0xee : 0xff;
    SIP_END;
    const uint64_t low = SIP_HASH;
    if (high) {
        v1 ^= 0xdd;
        SIP_END;
        *high = SIP_HASH;
    }
    return low;
}

uint64_t dpf_siphash(const dpf_keys_key *key, const uint8_t *data, size_t bytes, uint64_t *high)
{
    return sip(key, data, bytes, -1, high);
}

#define SHORT ((uint64_t)0x20 << 56)

static inline uint64_t top_of(unsigned kind)
{
    return (uint64_t)(0x80 | (kind == DPF_KEY_BYTES) << 6) << 56;
}

/* Writes the words of a byte string. Up to 15 bytes are the words themselves, with their number and
 * their kind in the highest byte. */
static void words(const dpf_keys_key *key, const uint8_t *data, size_t bytes, unsigned kind,
                  uint64_t *low, uint64_t *high)
{
    const uint64_t top = top_of(kind);
    while (bytes && data[bytes - 1] == 0)
        bytes--;
    if (bytes < 16) {
        *low = load(data, bytes < 8 ? bytes : 8);
        *high = top | SHORT | (uint64_t)bytes << 56 | (bytes > 8 ? load(data + 8, bytes - 8) : 0);
        return;
    }
    uint64_t upper;
    *low = sip(key, data, bytes, (int)kind, &upper);
    *high = top | (upper & (((uint64_t)1 << 61) - 1));
}

/* Writes the words of 1 to 15 bytes, from two loads that may have more bytes. No branch depends on
 * the number of bytes. */
static inline void short_words(uint64_t first, uint64_t last, size_t bytes, uint64_t top,
                               uint64_t *low, uint64_t *high)
{
    const unsigned head = 8 * (unsigned)(bytes < 8 ? bytes : 8), tail = 8 * (unsigned)bytes - head;
    *low = first & (~(uint64_t)0 >> (64 - head));
    *high = top | (uint64_t)bytes << 56 | (last & (((uint64_t)1 << tail) - 1));
}

void dpf_keys_bytes(const dpf_keys_key *key, const uint8_t *data, const int64_t *from, unsigned kind,
                    size_t n, uint64_t *low, uint64_t *high)
{
    const uint64_t top = top_of(kind) | SHORT;
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = (size_t)(from[i + 1] - from[i]);
        const uint8_t *text = data + from[i];
        if (bytes - 1 < 15 && from[n] - from[i] >= 16 && text[bytes - 1])
            short_words(load(text, 8), load(text + 8, 8), bytes, top, low + i, high + i);
        else
            words(key, text, bytes, kind, low + i, high + i);
    }
}

int dpf_keys_views(const dpf_keys_key *key, const uint8_t *views, const uint8_t *const *buffers,
                   const int64_t *sizes, size_t count, const uint8_t *present, unsigned kind,
                   size_t n, uint64_t *low, uint64_t *high)
{
    const uint64_t top = top_of(kind) | SHORT;
    for (size_t i = 0; i < n; i++, views += 16) {
        const uint32_t bytes = (uint32_t)load(views, 4);
        if (bytes - 1 < 12 && views[3 + bytes]) {
            short_words(load(views + 4, 8), load(views + 12, 4), bytes, top, low + i, high + i);
            continue;
        }
        low[i] = high[i] = 0;
        if (present && !present[i])
            continue; /* the view of a missing row is undefined */
        const uint8_t *text = views + 4;
        if (bytes > 12) {
            const uint64_t buffer = load(views + 8, 4), place = load(views + 12, 4);
            if (buffer >= count || place + bytes > (uint64_t)sizes[buffer])
                return 0;
            text = buffers[buffer] + place;
        }
        words(key, text, bytes, kind, low + i, high + i);
    }
    return 1;
}

void dpf_keys_padded(const dpf_keys_key *key, const uint8_t *data, size_t width, size_t n,
                     uint64_t *low, uint64_t *high)
{
    for (size_t i = 0; i < n; i++)
        words(key, data + i * width, width, DPF_KEY_BYTES, low + i, high + i);
}

/* Writes one code point as UTF-8. A surrogate, which is no character, becomes the three bytes of
 * its number. */
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

void dpf_keys_text(const dpf_keys_key *key, const uint32_t *codes, size_t width, uint8_t *scratch,
                   size_t n, uint64_t *low, uint64_t *high)
{
    for (size_t i = 0; i < n; i++, codes += width) {
        size_t length = width;
        while (length && codes[length - 1] == 0)
            length--;
        uint8_t *end = scratch;
        for (size_t j = 0; j < length; j++)
            end = encode(codes[j], end);
        words(key, scratch, (size_t)(end - scratch), DPF_KEY_TEXT, low + i, high + i);
    }
}

void dpf_keys_hash(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high, size_t n,
                   uint64_t *out)
{
    DPF_CHOSEN(hash)(key->k0, key->k1, low, high, n, out);
}
