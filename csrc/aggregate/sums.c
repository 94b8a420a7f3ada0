#include "aggregate/sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"

#define TILE 1024 /* the number of values in one split sum: 8 KB, which may be read twice */
#define MULTIPLE 16
#define DPF_SUMS_SPLIT 0x1p1000 /* only values below this are split */

#define DPF_BODY "aggregate/sums_body.h"
#include "core/each_isa.h"

static inline void add_one(const dpf_sums *sums, size_t block, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    const unsigned e = (unsigned)(bits >> 52) & 0x7ff;
    const uint64_t fraction = bits & 0xfffffffffffffu;
    if (e == 0x7ff) {
        sums->seen[block] |= fraction ? DPF_SUMS_NAN : bits >> 63 ? DPF_SUMS_MINUS : DPF_SUMS_PLUS;
        return;
    }
    const uint64_t m = fraction | (uint64_t)(e != 0) << 52, minus = 0 - (bits >> 63);
    const unsigned place = e - (e != 0), shift = place & 31;
    dpf_sums_cell *cell = sums->planes + (place >> 5) * sums->blocks + block;
    sums->used[place >> 5] = 1;
    /* In two's complement, -v is ~v + 1. */
    const uint64_t low = (m << shift) ^ minus, high = (m >> 1 >> (63 - shift)) ^ minus;
    const uint64_t sum = cell->low + low, all = sum + (minus & 1);
    cell->high += high + (sum < low) + (all < sum);
    cell->low = all;
}

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(place) __builtin_prefetch(place, 1)
#else
#define PREFETCH(place) ((void)0)
#endif
/* A cell is prefetched this many values before it is used. Without that, an addition that waits for
 * memory delays all additions after it. */
#define AHEAD 24

static void add_each(const dpf_sums *sums, const uint32_t *labels, const double *x, size_t n)
{
    const dpf_sums copy = *sums;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            uint64_t bits;
            memcpy(&bits, x + i + AHEAD, 8);
            const unsigned e = (unsigned)(bits >> 52) & 0x7ff; /* for a NaN it is the last plane */
            const size_t plane = (e - (e != 0)) >> 5;
            PREFETCH(copy.planes + plane * copy.blocks + labels[i + AHEAD]);
        }
        add_one(&copy, labels[i], x[i]);
    }
}

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#define SPLITS 0 /* where registers are wider than a double, a split is not exact */
#else
#define SPLITS 1
#endif
#define HERE 512               /* how many values are split in one step */
#define ROWS ((size_t)1 << 17) /* after at most so many values `near` is added to the planes */

void dpf_sums_settle(dpf_sums *sums)
{
    if (!sums->rows)
        return;
    for (size_t b = 0; b < sums->blocks; b++)
        for (size_t j = 2 * b; j < 2 * b + 2; j++)
            if (sums->near[j] != 0) {
                add_one(sums, b, sums->near[j]);
                sums->near[j] = 0;
            }
    sums->rows = 0;
}

/* Prepares `near` for n values below 2^exponent. */
static void make_room(dpf_sums *sums, int exponent, size_t n)
{
    if (sums->rows && exponent <= sums->e && n <= ROWS - sums->rows)
        return;
    /* An `e` far above the exponent would leave too large a remainder of each value. */
    const int keeps = sums->rows && exponent <= sums->e && sums->e - exponent <= 8;
    dpf_sums_settle(sums);
    if (!keeps)
        sums->e = exponent;
}

void dpf_sums_add(dpf_sums *sums, const uint32_t *labels, const double *x, size_t n)
{
    if (!sums->near || !SPLITS) {
        add_each(sums, labels, x, n);
        return;
    }
    while (n) {
        const size_t here = n < HERE ? n : HERE;
        double high[HERE], low[HERE];
        uint64_t top = 0, left = 0;
        for (size_t i = 0; i < here; i++) {
            uint64_t bits;
            memcpy(&bits, x + i, 8);
            bits &= INT64_MAX;
            top = bits > top ? bits : top;
        }
        const int exponent = (int)(top >> 52) - 1022; /* 1025 with NaN or infinity */
        if (exponent < -900 || exponent > 900) {
            add_each(sums, labels, x, here);
        } else {
            make_room(sums, exponent, here);
            const double s = ldexp(1.5, sums->e + 16), t = ldexp(1.5, sums->e - 21);
            for (size_t i = 0; i < here; i++) {
                high[i] = (x[i] + s) - s;
                const double r = x[i] - high[i];
                low[i] = (r + t) - t;
                const double rest = r - low[i];
                uint64_t bits;
                memcpy(&bits, &rest, 8);
                left |= bits & INT64_MAX;
            }
            for (size_t i = 0; i < here; i++) {
                double *cell = sums->near + 2 * (size_t)labels[i];
                cell[0] += high[i], cell[1] += low[i];
            }
            for (size_t i = 0; left && i < here; i++)
                if ((x[i] - high[i]) - low[i] != 0)
                    add_one(sums, labels[i], (x[i] - high[i]) - low[i]);
            sums->rows += here;
        }
        x += here, labels += here, n -= here;
    }
}

int dpf_sums_add_run(const dpf_sums *sums, size_t block, const double *x, size_t n)
{
    int e = 0; /* the exponent of the tile before, which mostly fits the next tile, too */
    if (dpf_isa() < 0)
        return -1;
    while (n) {
        double part[2];
        const size_t here = n < TILE ? n : TILE, even = here - here % MULTIPLE;
        size_t i = 0;
        if (even && DPF_CHOSEN(split_sum)(x, even, &e, part)) {
            add_one(sums, block, part[0]);
            add_one(sums, block, part[1]);
            i = even;
        }
        for (; i < here; i++)
            add_one(sums, block, x[i]);
        x += here, n -= here;
    }
    return 0;
}

int dpf_sums_add_runs(const dpf_sums *sums, size_t first, size_t runs, const int64_t *cuts,
                      const double *x)
{
    for (size_t j = 0; j < runs; j++)
        if (dpf_sums_add_run(sums, first + j, x + cuts[j], (size_t)(cuts[j + 1] - cuts[j])))
            return -1;
    return 0;
}

void dpf_sums_merge(const dpf_sums *sums, const dpf_sums *from)
{
    const size_t blocks = sums->blocks;
    for (size_t j = 0; j < DPF_SUMS_PLANES; j++) {
        if (!from->used[j])
            continue;
        dpf_sums_cell *to = sums->planes + j * blocks;
        const dpf_sums_cell *more = from->planes + j * blocks;
        for (size_t b = 0; b < blocks; b++) {
            const uint64_t low = to[b].low + more[b].low;
            to[b].high += more[b].high + (low < more[b].low);
            to[b].low = low;
        }
        sums->used[j] = 1;
    }
    for (size_t b = 0; b < blocks; b++)
        sums->seen[b] |= from->seen[b];
}

#define DIGITS (DPF_SUMS_PLANES + 4)

/* Writes the absolute value of the sum of one block as digits of 32 bits, the lowest first. Returns
 * whether the sum is negative. */
static int digits_of(const dpf_sums *sums, size_t block, uint32_t digits[DIGITS])
{
    uint64_t low = 0, high = 0;
    for (size_t j = 0; j < DIGITS; j++) {
        if (j < DPF_SUMS_PLANES && sums->used[j]) {
            const dpf_sums_cell cell = sums->planes[j * sums->blocks + block];
            low += cell.low;
            high += cell.high + (low < cell.low);
        }
        digits[j] = (uint32_t)low;
        low = low >> 32 | high << 32;
        high = high >> 32 | (0 - (high >> 63)) << 32;
    }
    if (!(high >> 63))
        return 0;
    uint64_t carry = 1;
    for (size_t j = 0; j < DIGITS; j++) {
        carry += (uint32_t)~digits[j];
        digits[j] = (uint32_t)carry;
        carry >>= 32;
    }
    return 1;
}

void dpf_sums_round(const dpf_sums *sums, double *fraction, int32_t *exponent)
{
    uint32_t digits[DIGITS];
    for (size_t b = 0; b < sums->blocks; b++) {
        const int minus = digits_of(sums, b, digits);
        int top = DIGITS - 1;
        while (top >= 0 && !digits[top])
            top--;
        if (top < 0) {
            fraction[b] = 0, exponent[b] = 0;
            continue;
        }
        /* The 64 bits from the highest 1 on, and whether any bit below them is 1. */
        uint64_t bits = (uint64_t)digits[top] << 32 | (top > 0 ? digits[top - 1] : 0);
        uint64_t below = (uint64_t)(top > 1 ? digits[top - 2] : 0) << 32;
        int first = 32 * top + 31, left = 0;
        while (!(bits >> 63)) {
            bits = bits << 1 | below >> 63;
            below <<= 1;
            first--;
        }
        for (int j = 0; j < top - 2; j++)
            left |= digits[j] != 0;
        uint64_t m = bits >> 11;
        const uint64_t rest = bits & 0x7ff;
        m += rest > 0x400 || (rest == 0x400 && (left || below || (m & 1)));
        fraction[b] = (double)m * (minus ? -0x1p-53 : 0x1p-53);
        exponent[b] = first + 1 - 1074;
    }
}
