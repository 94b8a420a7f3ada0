/* Exact choices by row. Candidate j of a row has x_j = c (best - values_j); a value of minus
 * infinity excludes the candidate.
 *
 * best is the greatest value of its row, so x >= 0. The float64 best - values_j represents the
 * exact distance as noise/choice.h requires: the rounding of a subtraction fulfills it with slack
 * 0.
 *
 * Its slow twin is tests/reference/noise/choice.py.
 */
#ifndef DPF_CHOICE_ROWS_H
#define DPF_CHOICE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice_words.h"

typedef struct {
    const double *values; /* rows by n */
    const double *best;   /* rows */
    size_t rows, n;
    double c, slack;
} dpf_choice_matrix;

#define DPF_CHOICE_ROWS_SHIFT 40
#define DPF_CHOICE_EMPTY ((size_t)-1)

/* Draws candidates with probability proportional to e^-x into `out` (rows by draws), from index
 * `from` on. Returns the length of `out`; or the index of a draw whose coin is undecided, with its
 * candidate in `out`, W in *bound and the coin's word in *word; or DPF_CHOICE_EMPTY if all
 * candidates of a row are excluded. `scratch` has room for n numbers. */
size_t dpf_choice_rows(const dpf_choice_matrix *in, dpf_words *words, size_t draws, uint64_t *scratch,
                       int64_t *out, size_t from, uint64_t *bound, uint64_t *word);

/* The running sums of the bounds of each row, rows by n (for tests). */
void dpf_choice_row_sums(const dpf_choice_matrix *in, uint64_t *total);

/* Each candidate of a row has a coin of probability e^-x. Writes to `out` a uniform one of the
 * candidates with heads, for each row from row `from` on. Returns `rows`; or a row with undecided
 * coins, with its words in `drawn` and DPF_CHOICE_OPEN in `heads`; or DPF_CHOICE_EMPTY. After the
 * caller has decided heads[0 .. n), it calls again with decided = 1. */
size_t dpf_choice_subset(const dpf_choice_matrix *in, dpf_words *words, uint64_t *drawn, uint8_t *heads,
                         int decided, int64_t *out, size_t from);

#endif
