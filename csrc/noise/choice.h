/* Exact choice among weighted runs, and exact coins of probability count e^(-c D) 2^S / W.
 *
 * A run is `count` candidates at the same distance below the best one. The distance d as a double
 * represents an exact number D >= 0 with |d - D| <= 2^-50 D + slack. Infinity represents any number
 * that is not below DBL_MAX (1 - 2^-50). A run or candidate with a negative d (or NaN) is excluded.
 *
 * A coin is one word of 64 random bits. A kernel stops at the first coin that float64 bounds cannot
 * decide, and returns its word. The caller decides it with further bits, and calls the kernel
 * again. So the results are functions of the random words alone.
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

/* The largest c d of the nearest run for which weights can be computed relative to a power of
 * two. */
#define DPF_CHOICE_FARTHEST 0x1p30

typedef struct {
    const double *distance;
    const int64_t *count; /* 1 .. 2^53 each, or NULL if all are 1 */
    uint64_t *total;      /* running sums of the bounds W */
    size_t n;
    double c, slack;
    int64_t lift;  /* weights are multiplied by 2^lift, */
    int shift;     /* and bounds of weights by 2^(lift + shift): S = lift + shift */
} dpf_choice_runs;

/* Sets total, lift and shift. The bound of a run is W >= count e^(-c D) 2^S, or 0 if it is
 * excluded; the sum of all bounds is below 2^63. Returns 0, -1 if all runs are excluded, or -2 if
 * the nearest run has c d > DPF_CHOICE_FARTHEST. */
int dpf_choice_bounds(dpf_choice_runs *runs);

/* Returns the bound W of one run. */
static inline uint64_t dpf_choice_bound(const uint64_t *total, size_t run)
{
    return total[run] - (run ? total[run - 1] : 0);
}

/* Returns the first run with total > point. */
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

/* Coin i decides about a candidate of run[i] at distance[i]. Returns the index of an undecided
 * coin, with its word in *word, or n. */
size_t dpf_choice_keep(const dpf_choice_runs *runs, dpf_words *words, const int64_t *run,
                       const double *distance, double slack, uint8_t *kept, size_t from, size_t n,
                       uint64_t *word);

/* Draws the runs out[from .. n) by proposals and coins. Returns n, or the index of a draw whose
 * coin is undecided: its run is in `out` and its word in *word. */
size_t dpf_choice_draw(const dpf_choice_runs *runs, dpf_words *words, int64_t *out, size_t from, size_t n,
                       uint64_t *word);

/* Draws out[i], uniform below limit[i] >= 1. limit_stride is 0 (one limit for all) or 1. */
void dpf_choice_below(dpf_words *words, const int64_t *limit, int limit_stride, int64_t *out, size_t n);

/* Fills out[0 .. n) with 0 .. n - 1, and moves k of them to the front in random order, all orders
 * equally likely: each index gets a uniform one of those that are left (Durstenfeld, CACM 1964).
 * 0 < n, k <= n. */
#define DPF_CHOICE_BLOCK 256 /* the number of words that are drawn at a time */
void dpf_choice_order(dpf_words *words, int64_t *out, size_t n, size_t k);

/* Decides whether U < factor e^(-c D) 2^lift, where U is anywhere in (word + [0, 1]) 2^-64.
 * `factor` has a relative error of at most 2^-51 and is between 2^-120 and 2^120; |lift| <=
 * 2^31. */
int dpf_choice_verdict(uint64_t word, double c, double distance, double slack, int64_t lift,
                       double factor);

/* For upper bounds of e^(-c D): the lesser of this and dpf_choice_ceiling() is at most c D. For an
 * infinite distance it is that of DBL_MAX. The ceiling is a variable, because a branch on a
 * constant does not vectorise. */
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
