#include "aggregate/select.h"

#include "core/isa.h"
#include "summaries/window.h"

#include <math.h>
#include <string.h>

#define DPF_BODY "aggregate/select_body.h"
#include "core/each_isa.h"

/* At most this many values are ranked by counting. */
#define FEW 64
/* The size of the largest sample. */
#define SAMPLE 1024
/* `mode` divides keys into at most 2^PARTS parts of about FULL keys. */
#define PARTS 13
#define FULL 12
/* At most this many keys are compared in pairs. */
#define PAIRED 24

/* --- doubles as integers in the same order
 * ------------------------------------------------------ */

static uint64_t key_of(double v)
{
    uint64_t bits;
    v += 0.0; /* -0 becomes +0 */
    memcpy(&bits, &v, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

static double value_of(uint64_t key)
{
    double v;
    key ^= key >> 63 ? (uint64_t)1 << 63 : UINT64_MAX;
    memcpy(&v, &key, sizeof v);
    return v;
}

static int any_nan(const double *x, size_t n)
{
    int odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= x[i] != x[i];
    return odd;
}

/* --- radix selection, for rows on which sampling fails
 * ------------------------------------- */

/* Sets found[i] to the value of rank ranks[i]. ranks[1] is ranks[0] or ranks[0] + 1. No value is
 * NaN. `to` has room for n values and may be x itself. */
static void by_digits(const double *x, size_t n, const size_t ranks[2], double *to, double found[2])
{
    size_t rank = ranks[0];
    int both = ranks[1] == ranks[0], known = 0;
    uint64_t next = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        size_t counts[256] = {0}, before = 0, kept = 0, digit = 0;
        for (size_t i = 0; i < n; i++)
            counts[key_of(x[i]) >> shift & 255]++;
        while (rank >= before + counts[digit])
            before += counts[digit++];
        if (!both && !known && rank + 1 == before + counts[digit]) {
            /* The next rank has a larger digit: it is the least value with such a digit. */
            next = UINT64_MAX;
            for (size_t i = 0; i < n; i++) {
                const uint64_t key = key_of(x[i]);
                if ((key >> shift & 255) > digit && key < next)
                    next = key;
            }
            known = 1;
        }
        for (size_t i = 0; i < n; i++)
            if ((key_of(x[i]) >> shift & 255) == digit)
                to[kept++] = x[i];
        x = to;
        n = kept;
        rank -= before;
    }
    found[0] = x[0];
    found[1] = known ? value_of(next) : x[0];
}

/* --- selection by brackets
 * ---------------------------------------------------------------------- */

static int select_two(const double *x, size_t n, const size_t wanted[2], size_t effort,
                      double *scratch, double found[2]);

/* Sets `pivots` to two values that have both ranks between them with high probability. Returns 1 if
 * the sample has a NaN, and -1 if dpf_isa() has no path. */
static int place_pivots(const double *x, size_t n, const size_t ranks[2], double pivots[2])
{
    double sample[SAMPLE];
    const size_t size = n < 2048 ? FEW : n < 32768 ? 256 : SAMPLE;
    const size_t stretch = n / size;
    /* One index in each stretch, in golden-ratio steps, so that periodic rows do not bias the
     * sample. */
    for (size_t i = 0; i < size; i++)
        sample[i] = x[i * stretch + ((uint64_t)(uint32_t)(i * 2654435769u) * stretch >> 32)];
    if (any_nan(sample, size))
        return 1;
    const double share = ((double)ranks[0] + 0.5) / (double)n, middle = share * (double)size;
    const double reach = 2.5 * sqrt(middle * (1 - share)) + 1;
    const int low = middle - reach >= 0, high = middle + reach < (double)size;
    /* A pivot is infinite if the ranks are too near to that end. */
    const size_t lo = low ? (size_t)(middle - reach) : 0;
    const size_t hi = high ? (size_t)(middle + reach) : size - 1;
    double ends[2];
    if (size <= FEW) {
        DPF_CHOSEN(select_few)(sample, size, (size_t[2]){lo, hi}, ends);
    } else {
        double scratch[SAMPLE + DPF_SELECT_SPARE], pair[2];
        if (select_two(sample, size, (size_t[2]){lo, lo}, DPF_SELECT_EFFORT, scratch, pair))
            return -1;
        ends[0] = pair[0];
        if (select_two(sample, size, (size_t[2]){hi, hi}, DPF_SELECT_EFFORT, scratch, pair))
            return -1;
        ends[1] = pair[0];
    }
    pivots[0] = low ? ends[0] : -INFINITY;
    pivots[1] = high ? ends[1] : INFINITY;
    return 0;
}

/* Sets found[i] to the value of rank wanted[i], or to NaN if any value is NaN. wanted[1] is
 * wanted[0] or wanted[0] + 1. `scratch` has room for n + DPF_SELECT_SPARE values. */
static int select_two(const double *x, size_t n, const size_t wanted[2], size_t effort,
                      double *scratch, double found[2])
{
    const double *const rows = x;
    size_t ranks[2] = {wanted[0], wanted[1]}, room = n + DPF_SELECT_SPARE, left = effort * n;
    double *to = scratch, got[2];
    int open[2] = {1, 1};
    while (n > FEW && left >= n) {
        double pivots[2];
        dpf_window_counts c;
        const int odd = place_pivots(x, n, ranks, pivots);
        if (odd < 0)
            return -1;
        if (!odd && dpf_window_pass(DPF_F64, x, n, pivots, to, room, &c))
            return -1;
        if (odd || c.nan) {
            found[0] = found[1] = NAN;
            return 0;
        }
        left -= n;
        if (ranks[0] < c.below || ranks[1] >= n - c.above) {
            /* A rank is not between the pivots. A pivot is one of the values, so both ranks are on
             * one side of it, or one of them is the pivot. */
            if (ranks[0] < c.below)
                pivots[1] = pivots[0], pivots[0] = -INFINITY;
            else
                pivots[0] = pivots[1], pivots[1] = INFINITY;
            left -= left < n ? left : n;
            if (dpf_window_pass(DPF_F64, x, n, pivots, to, room, &c))
                return -1;
        }
        const size_t start = c.below + c.at_lo, stop = start + c.between;
        for (int i = 0; i < 2; i++)
            if (open[i] && (ranks[i] < start || ranks[i] >= stop)) {
                found[i] = pivots[ranks[i] < start ? 0 : 1];
                open[i] = 0;
            }
        if (!open[0] && !open[1])
            return 0;
        if (!open[0])
            ranks[0] = ranks[1];
        if (!open[1])
            ranks[1] = ranks[0];
        if (c.kept < c.between)
            break; /* scratch is too small for all values between the pivots */
        x = to;
        n = c.between;
        to += n;
        room -= n;
        ranks[0] -= start;
        ranks[1] -= start;
    }
    if (x == rows && any_nan(x, n))
        got[0] = got[1] = NAN;
    else if (n <= FEW)
        DPF_CHOSEN(select_few)(x, n, ranks, got);
    else
        by_digits(x, n, ranks, x == rows ? scratch : to - n, got);
    for (int i = 0; i < 2; i++)
        if (open[i])
            found[i] = got[i];
    return 0;
}

/* --- blocks
 * ------------------------------------------------------------------------------------- */

int dpf_select_pairs(const double *rows, const int64_t *offsets, size_t blocks,
                     const int64_t *ranks, size_t effort, double *scratch, double *lower,
                     double *upper)
{
    if (dpf_isa() < 0)
        return -1;
    for (size_t j = 0; j < blocks; j++) {
        const size_t n = (size_t)(offsets[j + 1] - offsets[j]), rank = (size_t)ranks[j];
        double found[2] = {NAN, NAN};
        if (n && select_two(rows + offsets[j], n, (size_t[2]){rank, rank + (rank + 1 < n)}, effort,
                            scratch, found))
            return -1;
        lower[j] = found[0] + 0.0;
        upper[j] = found[1] + 0.0;
    }
    return 0;
}

int dpf_select_trimmed(const double *rows, const int64_t *offsets, size_t blocks,
                       const int64_t *cuts, size_t effort, double *scratch, double *out)
{
    if (dpf_isa() < 0)
        return -1;
    for (size_t j = 0; j < blocks; j++) {
        const double *x = rows + offsets[j];
        const size_t n = (size_t)(offsets[j + 1] - offsets[j]), cut = (size_t)cuts[j];
        double lo[2], hi[2], pivots[2];
        dpf_window_counts c;
        if (n == 0)
            continue;
        const size_t keep = n - 2 * cut, last = n - 1 - cut;
        if (select_two(x, n, (size_t[2]){cut, cut}, effort, scratch, lo) ||
            select_two(x, n, (size_t[2]){last, last}, effort, scratch, hi))
            return -1;
        if (lo[0] != lo[0]) {
            out[0] = NAN;
            for (size_t i = 1; i < keep; i++)
                out[i] = 0;
            out += keep;
            continue;
        }
        pivots[0] = lo[0], pivots[1] = hi[0];
        if (dpf_window_pass(DPF_F64, x, n, pivots, out, keep, &c))
            return -1;
        /* Values equal to an end that are not cut off. */
        size_t i = c.between;
        const size_t low = lo[0] == hi[0] ? keep : c.below + c.at_lo - cut;
        for (size_t stop = i + low; i < stop; i++)
            out[i] = lo[0];
        for (; i < keep; i++)
            out[i] = hi[0];
        out += keep;
    }
    return 0;
}

/* Sorts n keys by radix, with `other` as scratch. Returns the array that holds the result. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t n)
{
    size_t counts[8][256];
    if (n <= FEW) {
        for (size_t i = 1; i < n; i++) {
            const uint64_t key = keys[i];
            size_t j = i;
            for (; j && keys[j - 1] > key; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return keys;
    }
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < n; i++)
        for (int digit = 0; digit < 8; digit++)
            counts[digit][keys[i] >> (8 * digit) & 255]++;
    for (int digit = 0; digit < 8; digit++) {
        const int shift = 8 * digit;
        size_t at = 0;
        if (counts[digit][keys[0] >> shift & 255] == n)
            continue; /* all keys have the same digit */
        for (size_t v = 0; v < 256; v++) {
            const size_t many = counts[digit][v];
            counts[digit][v] = at;
            at += many;
        }
        for (size_t i = 0; i < n; i++)
            other[counts[digit][keys[i] >> shift & 255]++] = keys[i];
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

/* The most frequent key so far; of several equally frequent keys, the least. */
typedef struct {
    uint64_t key;
    size_t count;
} leader;

static void challenge(leader *best, uint64_t key, size_t count)
{
    if (count > best->count || (count == best->count && key < best->key)) {
        best->key = key;
        best->count = count;
    }
}

/* Updates `best` with the counts of n keys. It overwrites `keys` and `other`. */
static void tally(uint64_t *keys, uint64_t *other, size_t n, leader *best)
{
    size_t i = 0;
    if (n <= PAIRED) {
        /* No branch depends on the keys. The first of several equal keys is before all others, so
         * its count is that of all. */
        for (; i < n; i++) {
            uint64_t same = 0;
            for (size_t j = i; j < n; j++)
                same += keys[j] == keys[i];
            challenge(best, keys[i], same);
        }
        return;
    }
    while (i < n && keys[i] == keys[0])
        i++;
    if (i == n) { /* all keys are equal, which is frequent: no sort is needed */
        challenge(best, keys[0], n);
        return;
    }
    const uint64_t *sorted = sort_keys(keys, other, n);
    for (size_t from = 0; from < n; from = i) {
        for (i = from + 1; i < n && sorted[i] == sorted[from]; i++)
            ;
        challenge(best, sorted[from], i - from);
    }
}

/* Returns the part of a key, one of 2^bits, the same for equal keys. The multiplier is 2^64 over
 * the golden ratio. If all keys are in one part, the radix sort takes longer, but still linear
 * time. */
static size_t part_of(uint64_t key, unsigned bits)
{
    return (size_t)((key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static double mode(const double *x, size_t n, uint64_t *keys)
{
    size_t ends[1 << PARTS];
    uint64_t *parted = keys + n;
    leader best = {0, 0};
    unsigned bits = 1;
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(x[i]);
    if (n <= PAIRED) {
        tally(keys, parted, n, &best);
        return value_of(best.key);
    }
    while (bits < PARTS && n >> bits > FULL)
        bits++;
    memset(ends, 0, sizeof *ends << bits);
    for (size_t i = 0; i < n; i++)
        ends[part_of(keys[i], bits)]++;
    for (size_t part = 0, at = 0; part < (size_t)1 << bits; part++) {
        const size_t count = ends[part];
        ends[part] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        parted[ends[part_of(keys[i], bits)]++] = keys[i];
    for (size_t part = 0, from = 0; part < (size_t)1 << bits; from = ends[part++])
        if (ends[part] - from >= best.count && ends[part] > from)
            tally(parted + from, keys, ends[part] - from, &best);
    return value_of(best.key);
}

void dpf_select_modes(const double *rows, const int64_t *offsets, size_t blocks, uint64_t *keys,
                      double *out)
{
    for (size_t j = 0; j < blocks; j++) {
        const double *x = rows + offsets[j];
        const size_t n = (size_t)(offsets[j + 1] - offsets[j]);
        out[j] = n == 0 || any_nan(x, n) ? NAN : mode(x, n, keys);
    }
}
