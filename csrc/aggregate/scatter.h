/* Rows into blocks: a stable counting sort, in one step or in two, and the tallies that need no
 * sort.
 *
 * Counting says where the rows of each part of the data and of each block begin, so parts can be
 * placed in any order and by several workers: the index of a row follows from its block and its
 * number.
 *
 * A few thousand blocks are as many as the caches and the table of pages can follow. Beyond
 * that, rows are sorted into groups of 2^shift neighbouring blocks, with the low bits of their
 * labels beside them, and then each group into its blocks, within the cache.
 *
 * Its slow twin is tests/reference/aggregate/blocks.py.
 */
#ifndef DPF_SCATTER_H
#define DPF_SCATTER_H

#include <stddef.h>
#include <stdint.h>

/* counts[labels[i] >> shift]++ */
void dpf_scatter_count(const uint32_t *labels, size_t n, unsigned shift, int64_t *counts);

/* Copies row i, of `width` bytes, to row to = at[labels[i] >> shift]++ of `out`, which has `rows`
 * rows, and the low bits of its label to low[to]: `low_width` bytes, 1 or 2; 0 for none. Returns
 * how many rows were placed: fewer than n if a cursor left the table, and nothing was written
 * there. */
size_t dpf_scatter_place(const uint32_t *labels, size_t n, unsigned shift, const void *from,
                         size_t width, int64_t *at, void *out, void *low, size_t low_width,
                         int64_t rows);

/* Sorts groups into blocks. Group g is rows cuts[g] .. cuts[g + 1] - 1, counted from cuts[0], of
 * `from` and `low`; its blocks are g << shift and on, `blocks` in all groups together. Block b
 * becomes rows offsets[b] .. offsets[b + 1] - 1, again counted from cuts[0], of `out`, where
 * offsets[b + 1] is written and offsets[0] is left to the caller. Returns 0 if a low half names no
 * block: `out` is then unfinished, but nothing was written outside. */
int dpf_scatter_refine(const void *low, size_t low_width, unsigned shift, const void *from,
                       size_t width, const int64_t *cuts, size_t groups, size_t blocks,
                       int64_t *offsets, void *out);

/* Run g, rows cuts[g] .. cuts[g + 1] - 1 counted from cuts[0], goes to row at[g] of `out`, and
 * at[g] moves on. Returns how many runs found room. */
size_t dpf_scatter_runs(const int64_t *cuts, size_t runs, const void *from, size_t width,
                        int64_t *at, void *out, int64_t rows);

/* Smallest and largest value of each block so far; seen[b] = 1 for a block that has met a NaN,
 * which is left out. Zeros come out as +0. */
void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                          double *most, uint8_t *seen);

#endif
