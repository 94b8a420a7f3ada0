#include "groups/codes.h"

#include "core/fetch.h"

#define TILE 512
#define AHEAD 24 /* the slot of a row is prefetched this many rows before it is read */

static inline size_t place(const dpf_codes *codes, uint32_t hash)
{
    return hash >> (DPF_CODES_BITS - codes->bits);
}

/* Returns the slot of the words of a key, or the free slot where they belong. */
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

static inline dpf_codes_slot *shortcut(const dpf_codes *codes, uint64_t low, uint64_t high)
{
    const uint64_t product = (low ^ (high << 32 | high >> 32)) * (codes->key.k0 | 1);
    return codes->near + (product >> (64 - DPF_CODES_NEAR));
}

/* Rows without a shortcut: their indices, their words and the hashes of these. */
typedef struct {
    uint16_t row[TILE];
    uint64_t low[TILE], high[TILE], hash[TILE];
} far_rows;

/* Writes the codes of rows whose key has a shortcut, and -1 for rows without a key. Collects the
 * other rows in `far`, and returns their number. */
static inline size_t gather(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                            const uint8_t *present, size_t n, int32_t *out, far_rows *far)
{
    size_t m = 0;
    const int few = codes->count && codes->count <= DPF_CODES_FEW;
    for (size_t j = 0; j < n; j++) {
        const uint64_t upper = high ? high[j] : 0;
        const dpf_codes_slot *s = few ? shortcut(codes, low[j], upper) : codes->slots;
        const int known = few & (s->next != 0) & (s->low == low[j]);
        out[j] = known ? (int32_t)s->next - 1 : -1;
        far->row[m] = (uint16_t)j, far->low[m] = low[j], far->high[m] = upper;
        m += (!present || present[j]) & !(known && codes->high[s->next - 1] == upper);
    }
    if (present)
        for (size_t j = 0; j < n; j++)
            out[j] = present[j] ? out[j] : -1;
    dpf_keys_hash(&codes->key, far->low, far->high, m, far->hash);
    return m;
}

static inline void ahead(const dpf_codes *codes, const far_rows *far, size_t j, size_t m)
{
    if (j < m)
        dpf_prefetch(codes->slots + place(codes, (uint32_t)(far->hash[j] >> 32)));
}

/* Slots are first searched by low words alone. This prefetches the high words, which are compared
 * in a second loop. */
void dpf_codes_find(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                    const uint8_t *present, size_t n, int32_t *out)
{
    far_rows far;
    const size_t mask = ((size_t)1 << codes->bits) - 1;
    for (size_t i = 0; i < n; i += TILE, out += TILE) {
        const size_t m = gather(codes, low + i, high ? high + i : NULL, present ? present + i : NULL,
                                n - i < TILE ? n - i : TILE, out, &far);
        for (size_t j = 0; j < AHEAD; j++)
            ahead(codes, &far, j, m);
        for (size_t j = 0; j < m; j++) {
            ahead(codes, &far, j + AHEAD, m);
            size_t at = place(codes, (uint32_t)(far.hash[j] >> 32));
            while (codes->slots[at].next && codes->slots[at].low != far.low[j])
                at = (at + 1) & mask;
            const uint32_t next = codes->slots[at].next;
            out[far.row[j]] = (int32_t)next - 1;
            if (codes->wide && next)
                dpf_prefetch(codes->high + (next - 1));
        }
        if (codes->wide || high)
            for (size_t j = 0; j < m; j++) {
                int32_t *code = out + far.row[j];
                if (*code >= 0 && codes->high[*code] != far.high[j])
                    *code = (int32_t)probe(codes, (uint32_t)(far.hash[j] >> 32), far.low[j],
                                           far.high[j])->next - 1;
            }
    }
}

size_t dpf_codes_add(dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, size_t n, int32_t *out, int64_t first, int64_t *fresh,
                     size_t *news)
{
    far_rows far;
    const uint64_t half = (uint64_t)1 << (codes->bits - 1);
    const uint32_t room = half < DPF_CODES_MOST ? (uint32_t)half : DPF_CODES_MOST;
    for (size_t i = 0; i < n; i += TILE) {
        const size_t m = gather(codes, low + i, high ? high + i : NULL, present ? present + i : NULL,
                                n - i < TILE ? n - i : TILE, out + i, &far);
        for (size_t j = 0; j < AHEAD; j++)
            ahead(codes, &far, j, m);
        for (size_t j = 0; j < m; j++) {
            ahead(codes, &far, j + AHEAD, m);
            const size_t row = i + far.row[j];
            const uint32_t h = (uint32_t)(far.hash[j] >> 32);
            dpf_codes_slot *s = probe(codes, h, far.low[j], far.high[j]);
            if (s->next == 0) {
                if (codes->count == room)
                    return row;
                if (far.high[j]) {
                    codes->wide = 1;
                    codes->high[codes->count] = far.high[j];
                }
                s->low = far.low[j], s->hash = h, s->next = ++codes->count;
                fresh[(*news)++] = first + (int64_t)row;
                dpf_codes_slot *near = shortcut(codes, far.low[j], far.high[j]);
                if (near->next == 0 && codes->count <= DPF_CODES_FEW)
                    *near = *s;
            }
            out[row] = (int32_t)s->next - 1;
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
