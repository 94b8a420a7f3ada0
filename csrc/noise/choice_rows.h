/* Exact choices by row: candidate j of a row has x_j = c (best - values_j), minus infinity is
 * excluded.
 *
 * best is the greatest value of its row, so that x >= 0; best - values_j as a float64 stands for
 * the exact distance in the sense of noise/choice.h, which the rounding of a subtraction satisfies
 * with slack 0.
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

/* out (rows by draws), from index `from`: candidates with probability proportional to e^-x. Returns
 * the length of out; or the index of a draw whose coin is open, with its candidate in out, W in
 * *bound and the coin's word in *word; or DPF_CHOICE_EMPTY where all of a row are excluded. scratch
 * has room for n numbers. */
size_t dpf_choice_rows(const dpf_choice_matrix *in, dpf_words *words, size_t draws, uint64_t *scratch,
                       int64_t *out, size_t from, uint64_t *bound, uint64_t *word);

/* The running sums of the bounds of each row, rows by n (for tests). */
void dpf_choice_row_sums(const dpf_choice_matrix *in, uint64_t *total);

/* out (rows) from row `from`: of the candidates whose coins of probability e^-x fall heads, one
 * uniformly. Returns `rows`; or a row with open coins, with its words in drawn and DPF_CHOICE_OPEN
 * in heads; or DPF_CHOICE_EMPTY. When the caller has decided heads[0 .. n), it goes on with decided
 * = 1. */
size_t dpf_choice_subset(const dpf_choice_matrix *in, dpf_words *words, uint64_t *drawn, uint8_t *heads,
                         int decided, int64_t *out, size_t from);

#endif
