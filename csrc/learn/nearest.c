#include "learn/nearest.h"

#include <math.h>
#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000
#define AHEAD ((size_t)1 << 10) /* numbers between what is read and what is fetched */

/* Scratch memory. */
typedef struct {
    size_t block;       /* rows that are worked on together */
    size_t wide;        /* a row's length in whole vectors */
    int64_t *sums;      /* of each centre, rows of `wide`; or NULL */
    uint64_t *counts;   /* of each centre: the caller's */
    double *lo, *hi, *middle, *scale, *fill; /* of the columns, `wide` each */
    double *none;       /* what a NaN counts as for scores: `fill`, or it stays a NaN */
    int64_t *base;      /* the bits that stand for cell 0 */
    double *y;          /* coordinates of a block, column by column */
    int64_t *label;     /* of the rows of a block */
    double *tail;       /* the last rows, with room to read beyond them */
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
