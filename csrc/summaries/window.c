#include "summaries/window.h"

#include "core/fetch.h"
#include "core/isa.h"

#include <string.h>

#define STAGE 2048
/* The number of brackets that one sieve is for. */
#define MANY 16
/* So many bytes are compared with all thresholds while they are in the first-level cache. */
#define BLOCK 8192

/* AVX2 has no instruction to compress. These tables have for each mask the indices of its lanes,
 * one byte each: 32-bit lanes, and both halves of 64-bit lanes. */
static uint64_t squeeze[256], squeeze_pairs[16];

static uint64_t lanes_in(unsigned mask)
{
    uint64_t lanes = 0;
    int at = 0;
    for (unsigned lane = 0; lane < 8; lane++)
        if (mask >> lane & 1)
            lanes |= (uint64_t)lane << (8 * at++);
    return lanes;
}

void dpf_window_init(void)
{
    for (unsigned mask = 0; mask < 256; mask++)
        squeeze[mask] = lanes_in(mask);
    for (unsigned mask = 0; mask < 16; mask++)
        squeeze_pairs[mask] = lanes_in((mask & 1) * 3 | (mask & 2) * 6 | (mask & 4) * 12 |
                                       (mask & 8) * 24);
}

#define DPF_BODY "summaries/window_types.h"
#include "core/each_isa.h"

typedef void bracket_pass(const void *, size_t, const void *, void *, size_t, dpf_window_counts *);

/* The size in bytes of a collected value. */
static const uint8_t out_size[DPF_DTYPES] = {8, 4, 8, 4, 4, 4, 8, 4, 4, 4};

static bracket_pass *pass_of(int kind)
{
    return dpf_can_read(kind) ? DPF_CHOSEN(passes)[kind] : NULL;
}

int dpf_window_pass(int kind, const void *x, size_t n, const void *pivots, void *out, size_t room,
                    dpf_window_counts *counts)
{
    bracket_pass *pass = pass_of(kind);
    memset(counts, 0, sizeof *counts);
    if (!pass)
        return -1;
    pass(x, n, pivots, out, room, counts);
    return 0;
}

#if DPF_X86
/* The kind of collected values, which are wider than those of 16 bits. */
static const uint8_t kept_kind[DPF_DTYPES] = {
    [DPF_F64] = DPF_F64, [DPF_F32] = DPF_F32, [DPF_I64] = DPF_I64, [DPF_I32] = DPF_I32,
    [DPF_I16] = DPF_I32, [DPF_U64] = DPF_U64, [DPF_U32] = DPF_U32, [DPF_U16] = DPF_I32,
};
#endif

static void add(dpf_window_counts *c, const dpf_window_counts *more)
{
    c->below += more->below, c->at_lo += more->at_lo, c->between += more->between;
    c->at_hi += more->at_hi, c->above += more->above, c->nan += more->nan, c->kept += more->kept;
}

int dpf_window_passes(int kind, const void *x, size_t n, size_t brackets, const void *const *pivots,
                      void *const *outs, const size_t *rooms, dpf_window_counts *counts)
{
    bracket_pass *pass = pass_of(kind);
    memset(counts, 0, brackets * sizeof *counts);
    if (!pass)
        return -1;
    for (size_t i = 0; i < n; i += STAGE) {
        const void *here = dpf_row(kind, x, i);
        const size_t rows = n - i < STAGE ? n - i : STAGE;
        size_t many = 1;
        for (size_t first = 0; first < brackets; first += many) {
            const void *through = here;
            size_t left = rows;
            bracket_pass *settle = pass;
#if DPF_X86
            /* Most values are in no bracket. With masks of lanes it is cheap to remove these
             * first. */
            uint64_t stage[STAGE + 8], reached[MANY] = {0};
            if (dpf_isa() == DPF_ISA_AVX512) {
                many = brackets - first < MANY ? brackets - first : MANY;
                left = sieves_avx512[kind](here, rows, many, pivots + first, stage, reached);
                settle = passes_avx512[kept_kind[kind]];
                through = stage;
            }
#endif
            for (size_t b = first; b < first + many; b++) {
                dpf_window_counts one = {0};
                settle(through, left, pivots[b], (char *)outs[b] + counts[b].kept * out_size[kind],
                       rooms[b] - counts[b].kept, &one);
#if DPF_X86
                if (through == stage) {
                    one.below = rows - reached[b - first];
                    one.above = reached[b - first] - one.at_lo - one.between - one.at_hi - one.nan;
                }
#endif
                add(counts + b, &one);
            }
        }
    }
    return 0;
}

int dpf_window_bytes(const uint8_t *x, size_t n, uint8_t flip, uint8_t first, size_t thresholds,
                     uint64_t *counts)
{
    if (dpf_isa() < 0)
        return -1;
    memset(counts, 0, thresholds * sizeof *counts);
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t take = n - i < BLOCK ? n - i : BLOCK;
        for (size_t j = 0; j < thresholds; j += 8)
            DPF_CHOSEN(window_bytes)(x + i, take, flip, (uint8_t)(first + j),
                                     thresholds - j < 8 ? thresholds - j : 8, counts + j);
    }
    return 0;
}

void dpf_window_histogram(const uint8_t *x, size_t n, uint8_t flip, uint64_t counts[256])
{
    /* Four tables, so that equal neighbouring values do not wait for one counter. */
    uint64_t part[4][256];
    size_t i = 0;
    memset(part, 0, sizeof part);
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, x + i, 8);
        part[0][word & 255]++, part[1][word >> 8 & 255]++;
        part[2][word >> 16 & 255]++, part[3][word >> 24 & 255]++;
        part[0][word >> 32 & 255]++, part[1][word >> 40 & 255]++;
        part[2][word >> 48 & 255]++, part[3][word >> 56]++;
    }
    for (; i < n; i++)
        part[0][x[i]]++;
    for (size_t v = 0; v < 256; v++)
        counts[v ^ flip] = part[0][v] + part[1][v] + part[2][v] + part[3][v];
}
