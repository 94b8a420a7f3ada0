#include "groups/codes.h"

#include "core/fetch.h"

#define TILE 512
#define AHEAD 24 /* rows whose slots are on their way */

static inline size_t place(const dpf_codes *codes, uint32_t hash)
{
    return hash >> (DPF_CODES_BITS - codes->bits);
}

/* The slot of some words, or the free one where they would stand. */
static inline dpf_codes_slot *probe(const dpf_codes *codes, uint32_t hash, uint64_t low, uint64_t high)
{
    const size_t mask = ((size_t)1 << codes->bits) - 1;
    for (size_t i = place(codes, hash);; i = (i + 1) & mask) {
        dpf_codes_slot *s = codes->slots + i;
        if (s->next == 0)
            return s;
        if (s->low == low && (codes->wide ? codes->high[s->next - 1] : 0) == high)
            return s;
    }
}

static inline size_t hashed(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                            size_t i, size_t n, uint64_t *hash)
{
    const size_t m = n - i < TILE ? n - i : TILE;
    dpf_keys_hash(&codes->key, low + i, high ? high + i : NULL, m, hash);
    return m;
}

static inline void ahead(const dpf_codes *codes, const uint64_t *hash, size_t j, size_t m)
{
    if (j < m)
        dpf_prefetch(codes->slots + place(codes, (uint32_t)(hash[j] >> 32)));
}

/* First by low words alone, whose high words are then on their way when they are compared. */
void dpf_codes_find(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                    const uint8_t *present, size_t n, int32_t *out)
{
    uint64_t hash[TILE];
    const size_t mask = ((size_t)1 << codes->bits) - 1;
    for (size_t i = 0; i < n; i += TILE) {
        const size_t m = hashed(codes, low, high, i, n, hash);
        for (size_t j = 0; j < AHEAD; j++)
            ahead(codes, hash, j, m);
        for (size_t j = 0; j < m; j++) {
            ahead(codes, hash, j + AHEAD, m);
            size_t at = place(codes, (uint32_t)(hash[j] >> 32));
            while (codes->slots[at].next && codes->slots[at].low != low[i + j])
                at = (at + 1) & mask;
            const uint32_t next = codes->slots[at].next;
            out[i + j] = (int32_t)next - 1;
            if (codes->wide && next)
                dpf_prefetch(codes->high + (next - 1));
        }
        if (codes->wide || high)
            for (size_t j = 0; j < m; j++) {
                const uint64_t own = high ? high[i + j] : 0;
                const int32_t code = out[i + j];
                if (code >= 0 && (codes->wide ? codes->high[code] : 0) != own)
                    out[i + j] = (int32_t)probe(codes, (uint32_t)(hash[j] >> 32), low[i + j], own)->next
                                 - 1;
            }
        if (present)
            for (size_t j = 0; j < m; j++)
                out[i + j] = present[i + j] ? out[i + j] : -1;
    }
}

size_t dpf_codes_add(dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, size_t n, int32_t *out, int64_t first, int64_t *fresh,
                     size_t *news)
{
    uint64_t hash[TILE];
    const uint64_t half = (uint64_t)1 << (codes->bits - 1);
    const uint32_t room = half < DPF_CODES_MOST ? (uint32_t)half : DPF_CODES_MOST;
    for (size_t i = 0; i < n; i += TILE) {
        const size_t m = hashed(codes, low, high, i, n, hash);
        for (size_t j = 0; j < AHEAD; j++)
            ahead(codes, hash, j, m);
        for (size_t j = 0; j < m; j++) {
            ahead(codes, hash, j + AHEAD, m);
            if (present && !present[i + j]) {
                out[i + j] = -1;
                continue;
            }
            const uint64_t own = high ? high[i + j] : 0;
            const uint32_t h = (uint32_t)(hash[j] >> 32);
            dpf_codes_slot *s = probe(codes, h, low[i + j], own);
            if (s->next == 0) {
                if (codes->count == room)
                    return i + j;
                if (own) {
                    codes->wide = 1;
                    codes->high[codes->count] = own;
                }
                s->low = low[i + j], s->hash = h, s->next = ++codes->count;
                fresh[(*news)++] = first + (int64_t)(i + j);
            }
            out[i + j] = (int32_t)s->next - 1;
        }
    }
    return n;
}

void dpf_codes_move(const dpf_codes *codes, dpf_codes_slot *slots)
{
    const size_t size = (size_t)1 << codes->bits, mask = 2 * size - 1;
    for (size_t i = 0; i < size; i++) {
        const dpf_codes_slot *s = codes->slots + i;
        if (s->next == 0)
            continue;
        size_t at = s->hash >> (DPF_CODES_BITS - codes->bits - 1);
        while (slots[at].next)
            at = (at + 1) & mask;
        slots[at] = *s;
    }
}

void dpf_codes_pair(const int32_t *a, const int32_t *b, size_t n, uint64_t *low, uint8_t *present)
{
    for (size_t i = 0; i < n; i++) {
        low[i] = (uint64_t)(uint32_t)a[i] << 32 | (uint32_t)b[i];
        present[i] = (a[i] | b[i]) >= 0;
    }
}
