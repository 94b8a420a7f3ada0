#include "groups/sums.h"

#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define AHEAD 24 /* the sum of a row's group is prefetched this many rows before it is changed */
#define LINE 4   /* the number of sums in a line of the cache */

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000u

#define DPF_BODY "groups/sums_body.h"
#include "core/each_isa.h"

/* One block of rows: their values as float64, their cells and the indices of their groups. */
typedef struct {
    double x[DPF_QUANTISE_BLOCK];
    uint64_t cell[DPF_QUANTISE_BLOCK];
    uint32_t group[DPF_QUANTISE_BLOCK + AHEAD];
} block;

static void fill(block *b, int kind, const void *x, const int32_t *codes, size_t i, size_t m,
                 uint32_t groups, const dpf_quantise_cells *cells, int64_t nan_cell, uint64_t *nan)
{
    const double *v = dpf_quantise_floats(kind, x, i, m, b->x);
    for (size_t j = 0; j < m; j++) {
        const uint32_t g = (uint32_t)codes[i + j];
        b->group[j] = g < groups ? g : groups;
    }
    if (!DPF_CHOSEN(groups_cells)(v, m, cells, b->cell))
        return;
    for (size_t j = 0; j < m; j++)
        if (v[j] != v[j]) {
            *nan += b->group[j] < groups;
            b->cell[j] = nan_cell < 0 ? 0 : (uint64_t)nan_cell;
            if (nan_cell < 0)
                b->group[j] = groups;
        }
}

#define EACH_BLOCK(ADD)                                                                            \
    block b;                                                                                       \
    memset(b.group, 0, sizeof b.group); /* entries beyond the last row are read, too */            \
    if (!dpf_can_read(kind))                                                                       \
        return -1;                                                                                 \
    for (size_t i = 0; i < n; i += DPF_QUANTISE_BLOCK) {                                           \
        const size_t m = n - i < DPF_QUANTISE_BLOCK ? n - i : DPF_QUANTISE_BLOCK;                  \
        fill(&b, kind, x, codes, i, m, groups, cells, nan_cell, nan);                              \
        for (size_t j = 0; j < m; j++) {                                                           \
            const uint64_t u = b.cell[j];                                                          \
            dpf_prefetch(out + b.group[j + AHEAD]);                                                \
            ADD                                                                                    \
        }                                                                                          \
    }                                                                                              \
    return 0;

int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                   const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_total *out,
                   uint64_t *nan)
{
    EACH_BLOCK(dpf_groups_total *g = out + b.group[j]; g->sum += u;
               g->rows += 1 + (g->sum < u ? DPF_GROUPS_CARRY : 0);)
}

int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                      const dpf_quantise_cells *cells, int64_t nan_cell, dpf_groups_moments *out,
                      uint64_t *nan)
{
    EACH_BLOCK(dpf_groups_moments *g = out + b.group[j]; const uint64_t s = u * u; g->sum += u;
               g->rows += 1 + (g->sum < u ? DPF_GROUPS_CARRY : 0); g->low += s & UINT32_MAX;
               g->high += s >> 32;)
}

void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t g = (uint32_t)codes[i];
        counts[g < groups ? g : groups]++;
    }
}

int dpf_groups_cells(int kind, const void *x, size_t n, int32_t *codes, uint32_t groups,
                     const dpf_quantise_cells *cells, int64_t nan_cell, int32_t *out,
                     uint64_t *nan)
{
    block b;
    if (!dpf_can_read(kind))
        return -1;
    for (size_t i = 0; i < n; i += DPF_QUANTISE_BLOCK) {
        const size_t m = n - i < DPF_QUANTISE_BLOCK ? n - i : DPF_QUANTISE_BLOCK;
        fill(&b, kind, x, codes, i, m, groups, cells, nan_cell, nan);
        for (size_t j = 0; j < m; j++) {
            out[i + j] = (int32_t)b.cell[j];
            codes[i + j] = (int32_t)b.group[j];
        }
    }
    return 0;
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

void dpf_groups_combine(const uint64_t *totals, size_t groups, size_t columns, dpf_groups_form form,
                        unsigned shift, int64_t *out)
{
    const wide most = (wide)1 << 62;
    for (size_t g = 0; g < groups; g++, totals += columns) {
        const wide sum = ((wide)(totals[1] / DPF_GROUPS_CARRY) << 64) + totals[0];
        const wide rows = totals[1] % DPF_GROUPS_CARRY;
        wide all = form.a * sum + form.b * rows;
        if (columns == 4)
            all += form.c * (((wide)totals[3] << 32) + totals[2]);
        all >>= shift;
        out[g] = (int64_t)(all > most ? most : all < -most ? -most : all);
    }
}

void dpf_groups_columns(const uint32_t *x, size_t n, size_t columns, const int32_t *codes,
                        uint32_t groups, dpf_groups_total *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n && (uint32_t)codes[i + AHEAD] < groups)
            for (size_t j = 0; j < columns; j += LINE)
                dpf_prefetch(out + (size_t)codes[i + AHEAD] * columns + j);
        const uint32_t code = (uint32_t)codes[i];
        dpf_groups_total *g = out + (size_t)(code < groups ? code : groups) * columns;
        for (size_t j = 0; j < columns; j++, g++) {
            const uint64_t u = x[j * n + i];
            g->sum += u;
            g->rows += 1 + (g->sum < u ? DPF_GROUPS_CARRY : 0);
        }
    }
}

static inline wide wide_of(const uint64_t *words)
{
    return (wide)((uwide)words[1] << 64 | words[0]);
}

/* T k / c, rounded towards zero. */
static inline wide part_of(wide total, uint64_t k, uint64_t c)
{
    const int64_t near = (int64_t)total;
    if (near == total) { /* a division of 64 bits is many times as fast as one of 128 */
        const int64_t rest = near % (int64_t)c;
        const wide more = (wide)rest * (wide)k;
        const int64_t few = (int64_t)more;
        return (wide)(near / (int64_t)c) * (wide)k
               + (few == more ? few / (int64_t)c : more / (wide)c);
    }
    const wide whole = total / (wide)c, rest = total - whole * (wide)c;
    return whole * (wide)k + rest * (wide)k / (wide)c;
}

void dpf_groups_bound(const uint64_t *totals, size_t n, size_t columns, int squares,
                      const uint64_t *factors, uint64_t most, const uint64_t *ends,
                      const uint64_t *whole, const int32_t *codes, uint64_t *out)
{
    const size_t sums = squares ? 1 : columns / 2;
    const wide least = ends ? wide_of(ends) : 0, largest = ends ? wide_of(ends + 2) : 0;
    const wide of_rows = wide_of(factors + 2 * (sums + (size_t)squares));
    for (size_t i = 0; i < n; i++, totals += columns) {
        if (codes && codes[i] < 0)
            continue;
        const uint64_t rows = totals[1] % DPF_GROUPS_CARRY;
        if (rows == 0)
            continue;
        wide total = of_rows * (wide)rows;
        for (size_t j = 0; j < sums; j++)
            total += wide_of(factors + 2 * j)
                     * (((wide)(totals[2 * j + 1] / DPF_GROUPS_CARRY) << 64) + totals[2 * j]);
        if (squares)
            total += wide_of(factors + 2) * (((wide)totals[3] << 32) + totals[2]);
        if ((whole ? whole[i] : rows) > most)
            total = part_of(total, most, whole ? whole[i] : rows);
        if (ends)
            total = total < least ? least : total > largest ? largest : total;
        uint64_t *to = out + (codes ? 2 * (size_t)codes[i] : 0);
        total += wide_of(to);
        to[0] = (uint64_t)total;
        to[1] = (uint64_t)(total >> 64);
    }
}
