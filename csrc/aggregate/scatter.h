/* Sort rows into blocks, by a stable counting sort in one step or in two; and compute the extremes
 * of each block without a sort.
 *
 * Counts of labels say where the rows of each chunk and of each block begin. So the place of a row
 * depends on its block and its number alone, and chunks can be placed in any order by several
 * workers.
 *
 * The caches and the TLB can follow the ends of a few thousand blocks. For more blocks there are
 * two steps. First rows are sorted into groups of 2^shift neighbouring blocks, together with the
 * low bits of their labels. Then each group is sorted into its blocks, within the cache.
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
 * rows. Writes the low bits of its label to low[to], as `low_width` bytes: 1 or 2, or 0 for none.
 * Returns how many rows were placed. If `at` points outside of `out`, it stops before it writes
 * there, and returns less than n. */
size_t dpf_scatter_place(const uint32_t *labels, size_t n, unsigned shift, const void *from,
                         size_t width, int64_t *at, void *out, void *low, size_t low_width,
                         int64_t rows);

/* Sorts groups into blocks. Group g is rows cuts[g] .. cuts[g + 1] - 1 of `from` and `low`, counted
 * from cuts[0]. Its first block is g << shift; all groups together have `blocks` blocks. Block b
 * becomes rows offsets[b] .. offsets[b + 1] - 1 of `out`, also counted from cuts[0]. The function
 * writes offsets[b + 1], and the caller offsets[0]. Returns 0 if the low bits of a label belong to
 * no block: then `out` is unfinished, but nothing was written outside of it. */
int dpf_scatter_refine(const void *low, size_t low_width, unsigned shift, const void *from,
                       size_t width, const int64_t *cuts, size_t groups, size_t blocks,
                       int64_t *offsets, void *out);

/* Copies run g, rows cuts[g] .. cuts[g + 1] - 1 counted from cuts[0], to row at[g] of `out`, and
 * adds its length to at[g]. Returns how many runs fit into `out`. */
size_t dpf_scatter_runs(const int64_t *cuts, size_t runs, const void *from, size_t width,
                        int64_t *at, void *out, int64_t rows);

/* Updates the smallest and the largest value of each block. seen[b] = 1 if block b has a NaN, which
 * is ignored otherwise. A -0 counts as +0. */
void dpf_scatter_extremes(const uint32_t *labels, const double *x, size_t n, double *least,
                          double *most, uint8_t *seen);

#endif
