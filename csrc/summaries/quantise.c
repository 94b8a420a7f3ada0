#include "summaries/quantise.h"

#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000u
/* So many values are summed in 64 bits before they are added to 128 bits: TILE 2^41 is below
 * 2^63. */
#define TILE ((size_t)1 << 14)
#define PIECE ((size_t)1 << 14)

static inline void add(dpf_quantise_whole *whole, uint64_t low, uint64_t high)
{
    whole->low += low;
    whole->high += high + (whole->low < low);
}

#define DPF_BODY "summaries/quantise_body.h"
#include "core/each_isa.h"

const double *dpf_quantise_floats(int kind, const void *x, size_t from, size_t n, double *buffer)
{
    const void *rows = dpf_row(kind, x, from);
    if (kind == DPF_F64)
        return rows;
    DPF_CHOSEN(quantise_widen)(kind, rows, n, buffer);
    return buffer;
}

/* Sums integers whose bounds are integers and cells, without float64, from the sum of the clamped
 * integers. Returns 0 if rows or bounds are not of this kind. */
static int whole_sum(int kind, const void *x, size_t n,
                     const dpf_quantise_cells *cells, dpf_quantise_totals *totals)
{
    /* The grid is 1 / scale, an inverse integer. So bounds are within 2^51, and every integer
     * between them is a cell, too. */
    if (kind == DPF_F64 || kind == DPF_F32 || cells->scale < 1.0 ||
        cells->scale > 0x1p41 || cells->lo != (double)(int64_t)cells->lo ||
        cells->hi != (double)(int64_t)cells->hi)
        return 0;
    int64_t lo = (int64_t)cells->lo, hi = (int64_t)cells->hi;
    const int64_t scale = (int64_t)cells->scale;
    dpf_narrow(kind, &lo, &hi);
    if (lo > hi)
        return 0;
    const uint64_t first = (uint64_t)(lo * scale - cells->first); /* the cell of lo */
    for (size_t i = 0; i < n; i += TILE) {
        const size_t here = n - i < TILE ? n - i : TILE;
        const uint64_t sum = DPF_CHOSEN(quantise_clamped)(kind, dpf_row(kind, x, i), here, lo, hi);
        add(&totals->sum, sum * (uint64_t)scale + here * first, 0);
    }
    return 1;
}

int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells, int squares,
                     dpf_quantise_totals *totals)
{
    double buffer[DPF_QUANTISE_BLOCK];
    if (!dpf_can_read(kind))
        return -1;
    if (!squares && whole_sum(kind, x, n, cells, totals))
        return 0;
    const size_t most = kind == DPF_F64 ? TILE : DPF_QUANTISE_BLOCK;
    for (size_t i = 0; i < n; i += most) {
        const size_t here = n - i < most ? n - i : most;
        const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
        DPF_CHOSEN(quantise_sums)(rows, here, cells, squares, totals);
    }
    return 0;
}

int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                      uint32_t *out, uint8_t *missing)
{
    double buffer[DPF_QUANTISE_BLOCK];
    if (!dpf_can_read(kind))
        return -1;
    for (size_t i = 0; i < n; i += DPF_QUANTISE_BLOCK) {
        const size_t here = n - i < DPF_QUANTISE_BLOCK ? n - i : DPF_QUANTISE_BLOCK;
        const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
        DPF_CHOSEN(quantise_each)(rows, here, cells, out + i, missing ? missing + i : NULL);
    }
    return 0;
}

int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n, dpf_quantise_whole *whole)
{
    if (dpf_isa() < 0)
        return -1;
    for (size_t i = 0; i < n; i += TILE)
        DPF_CHOSEN(quantise_products)(a + i, b + i, n - i < TILE ? n - i : TILE, whole);
    return 0;
}
