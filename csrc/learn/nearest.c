#include "learn/nearest.h"

#include <math.h>
#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000
#define AHEAD ((size_t)1 << 10) /* a number is prefetched this many numbers before it is read */

/* Scratch memory. */
typedef struct {
    size_t block;       /* the number of rows that are computed together */
    size_t wide;        /* the number of columns, rounded up to whole vectors */
    int64_t *sums;      /* `wide` sums for each centre; or NULL */
    uint64_t *counts;   /* the caller's count of each centre */
    double *lo, *hi, *middle, *scale, *fill; /* `wide` numbers each, one for each column */
    double *none;       /* the value of a NaN in scores: `fill`, or NaN if rows are left out */
    int64_t *base;      /* the bits of MAGIC plus the first cell of each column */
    double *y;          /* the coordinates of a block, column by column */
    int64_t *label;     /* the centres of the rows of a block */
    double *tail;       /* a copy of the last rows, with room to read beyond them */
} nearest_work;

#if !defined(__GNUC__) && !defined(__clang__)
static int64_t nearest_bits(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
#endif

#define DPF_BODY "learn/nearest_body.h"
#include "core/each_isa.h"

static nearest_work shared_out(const dpf_nearest_model *model, size_t lanes, uint64_t *scratch)
{
    const size_t width = model->width, wide = (width + lanes - 1) / lanes * lanes;
    const size_t block = width > 32 ? DPF_NEAREST_BLOCK / 4 : DPF_NEAREST_BLOCK;
    nearest_work w;
    w.block = block;
    w.wide = wide;
    w.sums = (int64_t *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    w.lo = (double *)(w.sums + (model->centres + 1) * wide);
    w.hi = w.lo + wide;
    w.middle = w.hi + wide;
    w.scale = w.middle + wide;
    w.fill = w.scale + wide;
    w.none = w.fill + wide;
    w.base = (int64_t *)(w.none + wide);
    w.y = (double *)(w.base + wide);
    w.label = (int64_t *)(w.y + wide * block);
    w.tail = (double *)(w.label + block);
    for (size_t j = 0; j < wide; j++) {
        const dpf_nearest_column nobodys = {0}, *c = j < width ? model->columns + j : &nobodys;
        w.lo[j] = c->lo, w.hi[j] = c->hi, w.middle[j] = c->middle;
        w.scale[j] = c->scale, w.fill[j] = c->fill;
        w.none[j] = model->skip ? NAN : c->fill;
        w.base[j] = MAGIC_BITS + c->first;
    }
    return w;
}

int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                uint64_t *counts, uint64_t *sums, uint64_t *scratch)
{
    if (dpf_isa() < 0)
        return -1;
    const size_t width = model->width, bins = model->centres + 1;
    nearest_work w = shared_out(model, DPF_CHOSEN(nearest_lanes), scratch);
    w.counts = counts;
    if (sums)
        memset(w.sums, 0, bins * w.wide * sizeof *w.sums);
    else
        w.sums = NULL;
    DPF_CHOSEN(nearest_rows)(rows, n, model, labels, &w);
    for (size_t i = 0; sums && i < bins; i++)
        for (size_t j = 0; j < width; j++)
            sums[i * width + j] += (uint64_t)w.sums[i * w.wide + j];
    return 0;
}
