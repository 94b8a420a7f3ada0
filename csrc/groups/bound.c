#include "groups/bound.h"

#include <stdlib.h>
#include <string.h>

#define TILE 512
#define FEW 16    /* so many items are sorted by insertion, and are about in one bucket */
#define TOP ((uint64_t)1 << 63)

void dpf_bound_count(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, const int32_t *codes, size_t n, uint16_t *part,
                     uint32_t *counts)
{
    uint64_t hash[TILE];
    for (size_t i = 0; i < n; i += TILE) {
        const size_t m = n - i < TILE ? n - i : TILE;
        dpf_keys_hash(key, low + i, high ? high + i : NULL, m, hash);
        for (size_t j = 0; j < m; j++) {
            const int counts_in = codes[i + j] >= 0 && (!present || present[i + j]);
            part[i + j] = counts_in ? (uint16_t)(hash[j] >> (64 - DPF_BOUND_BITS)) : DPF_BOUND_PARTS;
            if (counts_in)
                counts[part[i + j]]++;
        }
    }
}

void dpf_bound_place(const uint16_t *part, const uint64_t *low, const uint64_t *high,
                     const int32_t *codes, uint64_t start, size_t n, uint32_t *at, uint64_t *out)
{
    const size_t words = high ? DPF_BOUND_WIDE : DPF_BOUND_NARROW;
    for (size_t i = 0; i < n; i++) {
        if (part[i] == DPF_BOUND_PARTS)
            continue;
        uint64_t *to = out + words * at[part[i]]++;
        to[0] = low[i];
        to[1] = start + i;
        to[2] = (uint64_t)codes[i];
        if (high)
            to[3] = high[i];
    }
}

/* A row: its three hashes, its record, and the high word of its id. */
typedef struct {
    uint64_t unit, group, row;
    const uint64_t *record;
    uint64_t high;
} item;

static inline int same_person(const item *a, const item *b)
{
    return a->unit == b->unit && a->record[0] == b->record[0] && a->high == b->high;
}

static inline int same_group(const item *a, const item *b)
{
    return a->group == b->group && a->record[2] == b->record[2];
}

/* Compares by hashes; with `ties` also by the ids, codes and numbers behind equal hashes. */
static inline int less(const item *a, const item *b, int ties)
{
    if (a->unit != b->unit)
        return a->unit < b->unit;
    if (ties && a->record[0] != b->record[0])
        return a->record[0] < b->record[0];
    if (ties && a->high != b->high)
        return a->high < b->high;
    if (a->group != b->group)
        return a->group < b->group;
    if (ties && a->record[2] != b->record[2])
        return a->record[2] < b->record[2];
    if (a->row != b->row || !ties)
        return a->row < b->row;
    return a->record[1] < b->record[1];
}

static inline void sort(item *x, size_t n, item *scratch, int ties)
{
    for (size_t start = 0; start < n; start += FEW) {
        const size_t end = n - start < FEW ? n : start + FEW;
        for (size_t i = start + 1; i < end; i++) {
            const item own = x[i];
            size_t j = i;
            for (; j > start && less(&own, x + j - 1, ties); j--)
                x[j] = x[j - 1];
            x[j] = own;
        }
    }
    item *from = x, *to = scratch;
    for (size_t width = FEW; width < n; width *= 2) {
        for (size_t start = 0; start < n; start += 2 * width) {
            const size_t middle = n - start < width ? n : start + width;
            const size_t end = n - start < 2 * width ? n : start + 2 * width;
            size_t a = start, b = middle;
            for (size_t i = start; i < end; i++)
                to[i] = b == end || (a < middle && !less(from + b, from + a, ties)) ? from[a++]
                                                                                   : from[b++];
        }
        item *const done = from;
        from = to, to = done;
    }
    if (from != x)
        memcpy(x, from, n * sizeof *x);
}

static int tied(const item *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (x[i].unit != x[i - 1].unit)
            continue;
        if (!same_person(x + i, x + i - 1))
            return 1;
        if (x[i].group == x[i - 1].group
            && (!same_group(x + i, x + i - 1) || x[i].row == x[i - 1].row))
            return 1;
    }
    return 0;
}

/* Marks the rows that count among the sorted items of a bucket. */
static void mark(const dpf_bound *bound, const item *x, size_t n, uint8_t *marks)
{
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t group = 0, row = 0;
        for (end = i; end < n && same_person(x + i, x + end); end++) {
            const int is_first = end == i || !same_group(x + end, x + end - 1);
            group += (uint64_t)is_first;
            row = is_first ? 0 : row + 1;
            if (group <= bound->groups && row < bound->rows)
                marks[x[end].record[1]] = 1;
        }
    }
}

/* Writes the items of an array of records, in the same order. */
static void fill(const dpf_bound *bound, const dpf_bound_run *run, item *x)
{
    uint64_t low[TILE], high[TILE], hash[TILE];
    const int wide = run->words == DPF_BOUND_WIDE;
    const uint64_t *record = run->records;
    for (size_t i = 0; i < run->n; i += TILE, x += TILE) {
        const size_t m = run->n - i < TILE ? run->n - i : TILE;
        for (size_t j = 0; j < m; j++, record += run->words) {
            low[j] = record[0];
            high[j] = wide ? record[3] : 0;
            x[j].record = record;
            x[j].high = high[j];
        }
        dpf_keys_hash(&bound->key, low, high, m, hash);
        for (size_t j = 0; j < m; j++) {
            x[j].unit = hash[j];
            low[j] = hash[j];
            const uint64_t code = x[j].record[2];
            high[j] = code < bound->named ? (uint64_t)bound->names[code] : code;
        }
        dpf_keys_hash(&bound->key, low, high, m, hash);
        for (size_t j = 0; j < m; j++) {
            x[j].group = hash[j] & bound->mask;
            low[j] = x[j].record[1];
            high[j] = TOP;
        }
        dpf_keys_hash(&bound->key, low, high, m, hash);
        for (size_t j = 0; j < m; j++)
            x[j].row = hash[j] & bound->mask;
    }
}

int dpf_bound_within(const dpf_bound_run *runs, size_t count, uint64_t rows)
{
    uint64_t most = 0;
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r].n; i++) {
            const uint64_t row = runs[r].records[i * runs[r].words + 1];
            most = row >= most ? row + 1 : most;
        }
    return most > rows;
}

int dpf_bound_mark(const dpf_bound *bound, const dpf_bound_run *runs, size_t count, uint8_t *marks)
{
    size_t n = 0, at = 0, bits = 1;
    for (size_t r = 0; r < count; r++)
        n += runs[r].n;
    if (n == 0)
        return 0;
    while (bits < 32 && n >> bits > FEW)
        bits++;
    const size_t buckets = (size_t)1 << bits;
    item *items = malloc(2 * n * sizeof *items);
    size_t *end = calloc(buckets + 1, sizeof *end);
    if (!items || !end) {
        free(items);
        free(end);
        return -1;
    }
    item *sorted = items + n;
#define BUCKET(i) ((size_t)(items[i].unit << DPF_BOUND_BITS >> (64 - bits)))
    for (size_t r = 0; r < count; at += runs[r].n, r++)
        fill(bound, runs + r, items + at);
    for (size_t i = 0; i < n; i++)
        end[BUCKET(i) + 1]++;
    for (size_t b = 0; b < buckets; b++)
        end[b + 1] += end[b];
    for (size_t i = 0; i < n; i++) {
        item *to = sorted + end[BUCKET(i)]++;
        *to = items[i];
        to->unit &= bound->mask;
    }
    for (size_t b = 0, start = 0; b < buckets; start = end[b], b++) {
        item *x = sorted + start;
        const size_t m = end[b] - start;
        sort(x, m, items, 0);
        if (tied(x, m))
            sort(x, m, items, 1);
        mark(bound, x, m, marks);
    }
    free(items);
    free(end);
    return 0;
}
