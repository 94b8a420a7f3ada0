#include "summaries/quantise.h"

#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000u
/* Values between two looks at 128 bits: TILE times 2^41 is below 2^63. */
#define TILE ((size_t)1 << 14)
#define PIECE ((size_t)1 << 14)

static inline void add(dpf_quantise_whole *whole, uint64_t low, uint64_t high)
{
    whole->low += low;
    whole->high += high + (whole->low < low);
}

#define DPF_BODY "summaries/quantise_body.h"
#include "core/each_isa.h"

typedef struct {
    void (*sums)(const double *, size_t, const dpf_quantise_cells *, int, dpf_quantise_totals *);
    void (*each)(const double *, size_t, const dpf_quantise_cells *, uint32_t *, uint8_t *);
    void (*products)(const uint32_t *, const uint32_t *, size_t, dpf_quantise_whole *);
    void (*widen)(int, const void *, size_t, double *);
    uint64_t (*clamped)(int, const void *, size_t, int64_t, int64_t);
} path;

#define PATH(isa)                                                                                   \
    static const path path_##isa = {quantise_sums_##isa, quantise_each_##isa,                       \
                                    quantise_products_##isa, quantise_widen_##isa,                  \
                                    quantise_clamped_##isa};
PATH(baseline)
#if DPF_X86
PATH(avx2)
PATH(avx512)
#endif

static const path *chosen(void)
{
    switch (dpf_isa()) {
#if DPF_X86
    case DPF_ISA_AVX512: return &path_avx512;
    case DPF_ISA_AVX2: return &path_avx2;
#endif
    case DPF_ISA_BASELINE: return &path_baseline;
    default: return NULL;
    }
}

static const uint8_t sizes[DPF_DTYPES] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};

/* The path for a kind; NULL if there is none. */
static const path *path_of(int kind)
{
    return kind < 0 || kind >= DPF_DTYPES ? NULL : chosen();
}

/* The limits of integer kinds; those of 64 bits are beyond every bound. */
static const int64_t least_of[DPF_DTYPES] = {
    [DPF_I64] = INT64_MIN, [DPF_I32] = INT32_MIN,
    [DPF_I16] = INT16_MIN, [DPF_I8] = INT8_MIN};
static const int64_t most_of[DPF_DTYPES] = {
    [DPF_I64] = INT64_MAX, [DPF_I32] = INT32_MAX,
    [DPF_I16] = INT16_MAX, [DPF_I8] = INT8_MAX,
    [DPF_U64] = INT64_MAX, [DPF_U32] = UINT32_MAX,
    [DPF_U16] = UINT16_MAX, [DPF_U8] = UINT8_MAX};

/* Integers between integers that are cells need no float64: their own sum says it. 0 if they are not
 * so. */
static int whole_sum(const path *own, int kind, const void *x, size_t n,
                     const dpf_quantise_cells *cells, dpf_quantise_totals *totals)
{
    /* The grid is 1 / scale, so bounds are within 2^51 and a limit in between is a cell too. */
    if (kind == DPF_F64 || kind == DPF_F32 || cells->scale < 1.0 ||
        cells->scale > 0x1p41 || cells->lo != (double)(int64_t)cells->lo ||
        cells->hi != (double)(int64_t)cells->hi)
        return 0;
    int64_t lo = (int64_t)cells->lo, hi = (int64_t)cells->hi;
    const int64_t scale = (int64_t)cells->scale;
    lo = lo < least_of[kind] ? least_of[kind] : lo;
    hi = hi > most_of[kind] ? most_of[kind] : hi;
    if (lo > hi)
        return 0;
    const uint64_t first = (uint64_t)(lo * scale - cells->first); /* the cell of lo */
    for (size_t i = 0; i < n; i += TILE) {
        const size_t here = n - i < TILE ? n - i : TILE;
        const void *rows = (const char *)x + i * sizes[kind];
        const uint64_t sum = own->clamped(kind, rows, here, lo, hi);
        add(&totals->sum, sum * (uint64_t)scale + here * first, 0);
    }
    return 1;
}

int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells, int squares,
                     dpf_quantise_totals *totals)
{
    const path *own = path_of(kind);
    double buffer[DPF_QUANTISE_BLOCK];
    if (!own)
        return -1;
    if (!squares && whole_sum(own, kind, x, n, cells, totals))
        return 0;
    const int direct = kind == DPF_F64;
    const size_t most = direct ? TILE : DPF_QUANTISE_BLOCK;
    for (size_t i = 0; i < n; i += most) {
        const size_t here = n - i < most ? n - i : most;
        const void *rows = (const char *)x + i * sizes[kind];
        if (!direct)
            own->widen(kind, rows, here, buffer);
        own->sums(direct ? rows : buffer, here, cells, squares, totals);
    }
    return 0;
}

int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                      uint32_t *out, uint8_t *missing)
{
    const path *own = path_of(kind);
    double buffer[DPF_QUANTISE_BLOCK];
    if (!own)
        return -1;
    for (size_t i = 0; i < n; i += DPF_QUANTISE_BLOCK) {
        const size_t here = n - i < DPF_QUANTISE_BLOCK ? n - i : DPF_QUANTISE_BLOCK;
        const void *rows = (const char *)x + i * sizes[kind];
        if (kind != DPF_F64)
            own->widen(kind, rows, here, buffer);
        own->each(kind == DPF_F64 ? rows : buffer, here, cells, out + i,
                  missing ? missing + i : NULL);
    }
    return 0;
}

int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n, dpf_quantise_whole *whole)
{
    const path *own = chosen();
    if (!own)
        return -1;
    for (size_t i = 0; i < n; i += TILE)
        own->products(a + i, b + i, n - i < TILE ? n - i : TILE, whole);
    return 0;
}

int dpf_quantise_widen(int kind, const void *x, size_t n, double *out)
{
    const path *own = path_of(kind);
    if (!own)
        return -1;
    own->widen(kind, x, n, out);
    return 0;
}
