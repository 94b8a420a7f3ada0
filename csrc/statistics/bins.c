#include "statistics/bins.h"

#include <math.h>
#include <string.h>

#include "core/isa.h"
#include "summaries/quantise.h"

#define BLOCK 2048
#define TABLES 4
#define MOST_FEW 24 /* up to this number of bins, comparisons are faster than a search */
#define BASELINE_FEW 20
#define NARROW 1024            /* up to this number of cells, tables of counts fit into a cache */
#define ROWS_OF_ALL 4096       /* so many rows are counted together, so that they stay in a cache */
#define ROWS ((size_t)1 << 31) /* a counter of a table holds more than so many rows */

#define DPF_BODY "statistics/bins_body.h"
#include "core/each_isa.h"
#if DPF_X86
#include "statistics/bins_ladder.h"
#endif

/* Row i is counted in table i mod 4, so that neighbouring rows of one cell do not wait for one
 * another. */
typedef struct {
    uint32_t count[TABLES][NARROW + 1];
} tables;

static void add(tables *seen, const uint32_t *place, size_t n, uint32_t cells)
{
    size_t i = 0;
    for (; i + TABLES <= n; i += TABLES)
        for (size_t t = 0; t < TABLES; t++)
            seen->count[t][place[i + t] < cells ? place[i + t] : cells]++;
    for (; i < n; i++)
        seen->count[0][place[i] < cells ? place[i] : cells]++;
}

static void flush(tables *seen, uint32_t cells, int64_t *counts)
{
    for (size_t t = 0; t < TABLES; t++)
        for (uint32_t k = 0; k <= cells; k++)
            counts[k] += seen->count[t][k], seen->count[t][k] = 0;
}

static void add_wide(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts)
{
    for (size_t i = 0; i < n; i++)
        counts[place[i] < cells ? place[i] : cells]++;
}

int dpf_bins_place(int kind, const void *x, size_t n, const dpf_bins_axis *axis, uint32_t stride,
                   uint32_t *place)
{
    double buffer[BLOCK];
    if (!dpf_can_read(kind))
        return -1;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
        DPF_CHOSEN(bins_block)(rows, here, axis, stride, place + i);
    }
    return 0;
}

void dpf_bins_tally(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts)
{
    if (cells > NARROW || n < TABLES * (size_t)cells) {
        add_wide(place, n, cells, counts);
        return;
    }
    tables seen;
    for (size_t t = 0; t < TABLES; t++)
        memset(seen.count[t], 0, (cells + 1) * sizeof seen.count[t][0]);
    for (size_t i = 0; i < n; i += ROWS) {
        add(&seen, place + i, n - i < ROWS ? n - i : ROWS, cells);
        flush(&seen, cells, counts);
    }
}

void dpf_bins_marginals(const uint32_t *codes, size_t n, size_t stride, const uint32_t *subset,
                        size_t many, size_t of, const uint32_t *size, size_t cells,
                        int64_t *counts)
{
    uint32_t before[ROWS_OF_ALL], place[ROWS_OF_ALL]; /* before: cells without the last column */
    for (size_t from = 0; of && from < n; from += ROWS_OF_ALL) {
        const size_t here = n - from < ROWS_OF_ALL ? n - from : ROWS_OF_ALL;
        for (size_t i = 0; i < many; i++) {
            const uint32_t *columns = subset + i * of;
            if (!i || memcmp(columns, columns - of, (of - 1) * sizeof *columns)) {
                memset(before, 0, here * sizeof *before);
                for (size_t j = 0; j + 1 < of; j++)
                    for (size_t r = 0; r < here; r++)
                        before[r] = before[r] * size[j] + codes[columns[j] * stride + from + r];
            }
            const uint32_t *last = codes + columns[of - 1] * stride + from;
            for (size_t r = 0; r < here; r++)
                place[r] = before[r] * size[of - 1] + last[r];
            dpf_bins_tally(place, here, (uint32_t)cells - 1, counts + i * cells);
        }
    }
    for (size_t i = 0; !of && i < many; i++)
        counts[i] += (int64_t)n;
}

/* Counts rows of few bins, by the number of rows that are at or above each edge. */
static int by_comparison(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                         int64_t *counts)
{
    double buffer[BLOCK], edge[MOST_FEW + 4];
    uint64_t ge[MOST_FEW + 4] = {0};
    const uint32_t bins = axis->bins;
    for (uint32_t k = 0; k < MOST_FEW + 4; k++)
        edge[k] = k < bins ? axis->edges[k] : (double)INFINITY;
    edge[bins] = nextafter(axis->hi, INFINITY); /* the least number above hi */
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
        for (uint32_t k = 0; k <= bins; k += 4)
            DPF_CHOSEN(bins_compare)(rows, here, edge + k, ge + k);
    }
    for (uint32_t k = 0; k < bins; k++)
        counts[k] += (int64_t)(ge[k] - ge[k + 1]);
    counts[bins] += (int64_t)(n - (ge[0] - ge[bins]));
    return 0;
}

/* Counts rows of few different integers: it counts each integer, and then adds its count to its
 * bin. Returns 0 if there may be many integers. */
static int by_value(int kind, const void *x, size_t n, const dpf_bins_axis *axis, int64_t *counts)
{
    uint32_t place[BLOCK], bin[NARROW];
    double value[NARROW];
    tables seen;
    if (kind == DPF_F64 || kind == DPF_F32 || !(axis->lo > -0x1p52) ||
        !(axis->hi < 0x1p52))
        return 0; /* only between these limits is every integer a float64 */
    int64_t lo = (int64_t)axis->lo, hi = (int64_t)axis->hi;
    lo += (double)lo < axis->lo;
    hi -= (double)hi > axis->hi;
    dpf_narrow(kind, &lo, &hi);
    if (lo > hi || hi - lo >= NARROW || n < (size_t)(hi - lo))
        return 0;
    const uint32_t most = (uint32_t)(hi - lo);
    memset(&seen, 0, sizeof seen);
    memset(bin, 0, sizeof bin);
    size_t held = 0;
    int64_t found[NARROW + 1] = {0};
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const void *rows = dpf_row(kind, x, i);
        switch ((const char *)dpf_row(kind, x, i + 1) - (const char *)rows) {
        case 1: DPF_CHOSEN(bins_direct_8)(rows, here, (uint64_t)lo, most, place); break;
        case 2: DPF_CHOSEN(bins_direct_16)(rows, here, (uint64_t)lo, most, place); break;
        case 4: DPF_CHOSEN(bins_direct_32)(rows, here, (uint64_t)lo, most, place); break;
        default: DPF_CHOSEN(bins_direct_64)(rows, here, (uint64_t)lo, most, place);
        }
        add(&seen, place, here, most + 1);
        held += here;
        if (held > ROWS) {
            flush(&seen, most + 1, found);
            held = 0;
        }
    }
    flush(&seen, most + 1, found);
    for (uint32_t k = 0; k <= most; k++)
        value[k] = (double)(lo + k);
    DPF_CHOSEN(bins_block)(value, most + 1, axis, 1, bin);
    for (uint32_t k = 0; k <= most; k++)
        counts[bin[k] < axis->bins ? bin[k] : axis->bins] += found[k];
    counts[axis->bins] += found[most + 1];
    return 1;
}

#if DPF_X86
/* Counts float32 rows of up to LADDER_MOST steps, by a search in registers. Returns 0 if there are
 * too many bins. */
static int by_ladder(const float *x, size_t n, const dpf_bins_axis *axis, int64_t *counts)
{
    uint8_t place[BLOCK];
    uint32_t seen[TABLES][LADDER_MOST + 1];
    ladder rungs;
    if (!ladder_make(&rungs, axis))
        return 0;
    for (size_t from = 0; from < n; from += ROWS) {
        const size_t to = n - from < ROWS ? n : from + ROWS;
        memset(seen, 0, sizeof seen);
        for (size_t i = from; i < to; i += BLOCK) {
            const size_t here = to - i < BLOCK ? to - i : BLOCK;
            size_t j = 0;
            ladder_block(&rungs, x + i, here, place);
            for (; j + TABLES <= here; j += TABLES)
                for (size_t t = 0; t < TABLES; t++)
                    seen[t][place[j + t]]++;
            for (; j < here; j++)
                seen[0][place[j]]++;
        }
        for (size_t t = 0; t < TABLES; t++)
            for (uint32_t k = 0; k <= LADDER_MOST; k++)
                counts[ladder_bin(axis, k)] += seen[t][k];
    }
    return 1;
}
#endif

int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                       int64_t *counts)
{
    double buffer[BLOCK];
    uint32_t place[BLOCK];
    tables seen;
    const int narrow = axis->bins <= NARROW;
    size_t held = 0;
    if (!dpf_can_read(kind))
        return -1;
    if (by_value(kind, x, n, axis, counts))
        return 0;
    if (!axis->exact && axis->bins <= (dpf_isa() == DPF_ISA_BASELINE ? BASELINE_FEW : MOST_FEW))
        return by_comparison(kind, x, n, axis, counts);
#if DPF_X86
    if (dpf_isa() == DPF_ISA_AVX512 && kind == DPF_F32 && by_ladder(x, n, axis, counts))
        return 0;
#endif
    memset(&seen, 0, sizeof seen);
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
        memset(place, 0, here * sizeof *place);
        DPF_CHOSEN(bins_block)(rows, here, axis, 1, place);
        if (!narrow) {
            add_wide(place, here, axis->bins, counts);
            continue;
        }
        add(&seen, place, here, axis->bins);
        held += here;
        if (held > ROWS) {
            flush(&seen, axis->bins, counts);
            held = 0;
        }
    }
    if (narrow)
        flush(&seen, axis->bins, counts);
    return 0;
}
