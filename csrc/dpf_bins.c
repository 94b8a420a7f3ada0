#include "dpf_bins.h"

#include <string.h>

#include "dpf_isa.h"
#include "dpf_quantise.h"

#define BLOCK 2048
#define TABLES 4
#define NARROW 1024            /* cells of which a table each fits beside the rows */
#define ROWS ((size_t)1 << 31) /* fewer than a counter of a table can hold */

#define DPF_SUFFIX baseline
#include "dpf_bins_body.h"
#if DPF_X86
DPF_BEGIN_AVX2
#define DPF_SUFFIX avx2
#include "dpf_bins_body.h"
DPF_END
DPF_BEGIN_AVX512
#define DPF_SUFFIX avx512
#include "dpf_bins_body.h"
DPF_END
#endif

typedef void placing(const double *, size_t, const dpf_bins_axis *, uint32_t, uint32_t *);

static placing *chosen(void)
{
    switch (dpf_isa()) {
#if DPF_X86
    case DPF_ISA_AVX512: return bins_block_avx512;
    case DPF_ISA_AVX2: return bins_block_avx2;
#endif
    case DPF_ISA_BASELINE: return bins_block_baseline;
    default: return NULL;
    }
}

static const uint8_t sizes[DPF_QUANTISE_KINDS] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};

/* Rows as float64: where they are, or in the buffer. NULL if there is no such kind or path. */
static const double *floats(int kind, const void *x, size_t from, size_t n, double *buffer)
{
    const void *rows = (const char *)x + from * sizes[kind];
    if (kind == DPF_QUANTISE_F64)
        return rows;
    return dpf_quantise_widen(kind, rows, n, buffer) ? NULL : buffer;
}

/* Neighbouring rows of one cell must not wait for one another: every fourth has its own table. */
typedef struct {
    uint32_t count[TABLES][NARROW + 1];
} tables;

static void add(tables *own, const uint32_t *place, size_t n, uint32_t cells)
{
    size_t i = 0;
    for (; i + TABLES <= n; i += TABLES)
        for (size_t t = 0; t < TABLES; t++)
            own->count[t][place[i + t] < cells ? place[i + t] : cells]++;
    for (; i < n; i++)
        own->count[0][place[i] < cells ? place[i] : cells]++;
}

static void flush(tables *own, uint32_t cells, int64_t *counts)
{
    for (size_t t = 0; t < TABLES; t++)
        for (uint32_t k = 0; k <= cells; k++)
            counts[k] += own->count[t][k], own->count[t][k] = 0;
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
    placing *own = chosen();
    if (!own || kind < 0 || kind >= DPF_QUANTISE_KINDS)
        return -1;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const double *rows = floats(kind, x, i, here, buffer);
        if (!rows)
            return -1;
        own(rows, here, axis, stride, place + i);
    }
    return 0;
}

void dpf_bins_tally(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts)
{
    if (cells > NARROW || n < TABLES * (size_t)cells) {
        add_wide(place, n, cells, counts);
        return;
    }
    tables own;
    memset(&own, 0, sizeof own);
    for (size_t i = 0; i < n; i += ROWS) {
        add(&own, place + i, n - i < ROWS ? n - i : ROWS, cells);
        flush(&own, cells, counts);
    }
}

int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                       int64_t *counts)
{
    double buffer[BLOCK];
    uint32_t place[BLOCK];
    tables own;
    placing *put = chosen();
    const int narrow = axis->bins <= NARROW;
    size_t held = 0;
    if (!put || kind < 0 || kind >= DPF_QUANTISE_KINDS)
        return -1;
    memset(&own, 0, sizeof own);
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t here = n - i < BLOCK ? n - i : BLOCK;
        const double *rows = floats(kind, x, i, here, buffer);
        if (!rows)
            return -1;
        memset(place, 0, here * sizeof *place);
        put(rows, here, axis, 1, place);
        if (!narrow) {
            add_wide(place, here, axis->bins, counts);
            continue;
        }
        add(&own, place, here, axis->bins);
        held += here;
        if (held > ROWS) {
            flush(&own, axis->bins, counts);
            held = 0;
        }
    }
    if (narrow)
        flush(&own, axis->bins, counts);
    return 0;
}
