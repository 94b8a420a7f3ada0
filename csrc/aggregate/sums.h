/* Exact sums of float64 values, one for each block: no order of the rows, no cut into chunks and no
 * number of workers changes a bit.
 *
 * A sum is kept as DPF_SUMS_PLANES integers of 128 bits; number j counts units of 2^(32 j - 1074).
 * A value m 2^p with 2^53 > m has at most 85 bits there, so 2^42 values fit before any carry. Plane
 * j holds number j of all blocks side by side: real data use a few planes, and what is not used is
 * neither touched nor merged.
 *
 * Before they get there, values under labels are gathered in two doubles a block. With |x| < 2^e,
 * the first takes x rounded to a multiple of 2^(e-36), the second what is left, rounded to a
 * multiple of 2^(e-73): 2^17 such numbers add up to at most 2^53 units, so both sums are exact in
 * any order. They are flushed to the planes before they could hold more, or when larger values
 * come; what is left of a value after both, seldom anything, goes to the planes at once.
 *
 * Its slow twin is tests/reference/aggregate/blocks.py.
 */
#ifndef DPF_SUMS_H
#define DPF_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define DPF_SUMS_PLANES 64

typedef struct {
    uint64_t low, high; /* two's complement */
} dpf_sums_cell;

/* What a block has met. */
#define DPF_SUMS_NAN 1
#define DPF_SUMS_PLUS 2  /* plus infinity */
#define DPF_SUMS_MINUS 4 /* minus infinity */

typedef struct {
    size_t blocks;
    dpf_sums_cell *planes; /* DPF_SUMS_PLANES times blocks */
    uint8_t *used;         /* DPF_SUMS_PLANES: planes that are not all 0 */
    uint8_t *seen;         /* blocks: flags */
    double *near;          /* 2 blocks: sums that are not in the planes yet; NULL for none */
    size_t rows;           /* how many values they may hold */
    int e;                 /* all of them are below 2^e */
} dpf_sums;

/* Blocks for which `near` pays: it stays in the second-level cache and is flushed seldom. */
#define DPF_SUMS_NEAR 16384

/* Adds x[i] to block labels[i] < blocks. NaN and infinities only raise their flags. */
void dpf_sums_add(dpf_sums *sums, const uint32_t *labels, const double *x, size_t n);
/* Moves what is near into the planes; before another merges these sums, or rounds them. */
void dpf_sums_settle(dpf_sums *sums);
/* Adds n values to one block, at the speed of memory. Returns -1 when dpf_isa() has no path. */
int dpf_sums_add_run(const dpf_sums *sums, size_t block, const double *x, size_t n);
/* Adds x[cuts[j]] .. x[cuts[j + 1] - 1] to block first + j, for each j < runs. */
int dpf_sums_add_runs(const dpf_sums *sums, size_t first, size_t runs, const int64_t *cuts,
                      const double *x);
/* Adds the sums of `from`, of as many blocks and flushed. */
void dpf_sums_merge(const dpf_sums *sums, const dpf_sums *from);
/* The sum of each block, flushed, as fraction 2^exponent, rounded once to nearest, ties to even:
 * 0.5 <= |fraction| <= 1, or 0. Flags are not looked at. */
void dpf_sums_round(const dpf_sums *sums, double *fraction, int32_t *exponent);

#endif
