/* Exact choice among weighted runs, and exact coins of probability count e^(-c d) 2^S / W.
 *
 * A distance d stands for an exact number D >= 0 with |d - D| <= 2^-50 D + slack; infinity for one
 * that is not below DBL_MAX (1 - 2^-50). A negative d (or NaN) is a run or candidate that is
 * excluded.
 *
 * A kernel stops at the first coin that float64 bounds leave open and names its word; the caller
 * decides it with more bits and goes on from there. So the results are functions of the words
 * alone.
 *
 * Its slow twin is tests/reference/noise/choice.py.
 */
#ifndef DPF_CHOICE_H
#define DPF_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice_words.h"

#define DPF_CHOICE_NO 0
#define DPF_CHOICE_YES 1
#define DPF_CHOICE_OPEN 2

/* Distances in front of which c d may lie before weights are taken relative to a power of two. */
#define DPF_CHOICE_FARTHEST 0x1p30

typedef struct {
    const double *distance;
    const int64_t *count; /* 1 .. 2^53 each; NULL: all 1 */
    uint64_t *total;      /* running sums of the bounds W */
    size_t n;
    double c, slack;
    int64_t lift;  /* weights are taken times 2^lift, */
    int shift;     /* and their bounds times 2^shift more: S = lift + shift */
} dpf_choice_runs;

/* Fills total, lift and shift. W >= count e^(-c D) 2^S, and 0 for an excluded run; the sum is below
 * 2^63. 0, or -1 when all runs are excluded, or -2 when the nearest has c d >
 * DPF_CHOICE_FARTHEST. */
int dpf_choice_bounds(dpf_choice_runs *runs);

/* W of one run. */
static inline uint64_t dpf_choice_bound(const uint64_t *total, size_t run)
{
    return total[run] - (run ? total[run - 1] : 0);
}

/* The run in whose stretch of the running sums `point` lies: the first with total > point. */
static inline size_t dpf_choice_find(const uint64_t *total, size_t n, uint64_t point)
{
    const uint64_t *from = total;
    while (n > 1) {
        size_t half = n / 2;
        from += from[half - 1] <= point ? half : 0;
        n -= half;
    }
    return (size_t)(from - total);
}

void dpf_choice_propose(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t n);

/* Coin i is for a candidate at distance[i] of run[i]. Returns the index of an open coin (its word
 * is in *word), or n. */
size_t dpf_choice_keep(const dpf_choice_runs *runs, dpf_words *words, const int64_t *run,
                       const double *distance, double slack, uint8_t *kept, size_t from, size_t n,
                       uint64_t *word);

/* Runs out[from .. n) by proposals and coins. Returns n, or the index of a draw whose coin is open:
 * its run is in out, the word in *word. */
size_t dpf_choice_draw(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t from, size_t n,
                       uint64_t *word);

/* out[i] uniform below limit[i] >= 1 (limit_stride 0 or 1). */
void dpf_choice_below(dpf_words *words, const int64_t *limit, int limit_stride, int64_t *out, size_t n);

/* out[0 .. n) holds 0 .. n - 1, and k of them are brought to the front in random order, all orders
 * equally likely: each index gets any of those that are left (Durstenfeld, CACM 1964). 0 < n, k <=
 * n. */
#define DPF_CHOICE_BLOCK 256 /* words that are drawn at a time */
void dpf_choice_order(dpf_words *words, int64_t *out, size_t n, size_t k);

/* Verdict on U < factor e^(-c D) 2^lift for U = (word + [0, 1]) 2^-64; factor is exact to a
 * relative 2^-51 and between 2^-120 and 2^120; |lift| <= 2^31. */
int dpf_choice_verdict(uint64_t word, double c, double distance, double slack, int64_t lift,
                       double factor);

/* For upper bounds of e^(-c D): the lesser of this and dpf_choice_ceiling() is certainly not above
 * c D. For an infinite distance DBL_MAX speaks. The ceiling is a variable, as branches on constants
 * do not vectorise. */
static inline double dpf_choice_nearer(double c, double distance, double slack)
{
    double lower = distance * (1 - 0x1p-48) - slack;
    return c * (lower > 0 ? lower : 0);
}

static inline double dpf_choice_ceiling(double c, double slack, double most)
{
    double x = dpf_choice_nearer(c, 0x1.fffffffffffffp1023, slack);
    return x < most ? x : most;
}

#endif
