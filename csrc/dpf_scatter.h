/* Rows into blocks: the two passes of a stable counting sort, and the tallies that need no sort.
 *
 * The first pass counts the rows of each block in each part of the data. Sums of the counts say
 * where the rows of a part and a block begin, so the second pass can place the parts in any order
 * and by several workers: every row has one place, given by its block and its row number.
 */
#ifndef DPF_SCATTER_H
#define DPF_SCATTER_H

#include <stddef.h>
#include <stdint.h>

void dpf_scatter_count(const uint32_t *labels, size_t n, int64_t *counts);

/* Copies row i, of `width` bytes, to row at[labels[i]]++ of `out`, which has `rows` rows. Returns
 * how many rows were placed: fewer than n if a cursor left the table, and nothing was written there. */
size_t dpf_scatter_place(const uint32_t *labels, const void *from, size_t n, size_t width,
                         int64_t *at, void *out, int64_t rows);

/* Smallest and largest value of each block so far; seen[b] = 1 for a block that has met a NaN, which
 * is left out. Zeros come out as +0. */
void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                          double *most, uint8_t *seen);

#endif
