/* Exact sums of float64 values, one for each block. Neither the order of the rows, nor the division
 * into chunks, nor the number of workers changes a bit.
 *
 * A sum is stored as DPF_SUMS_PLANES integers of 128 bits. Integer j is in units of 2^(32 j -
 * 1074). A value m 2^p with m < 2^53 has at most 85 bits there, so 2^42 values fit without an
 * overflow. Plane j contains integer j of all blocks. Real data use a few planes; the others are
 * neither read nor merged.
 *
 * Values with labels are first added to two doubles for each block (`near`). Let |x| < 2^e. To the
 * first one is added x, rounded to a multiple of 2^(e-36). To the second one is added the
 * remainder, rounded to a multiple of 2^(e-73). 2^17 such numbers add up to at most 2^53 units, so
 * both sums are exact in any order. They are added to the planes before more values come than that,
 * or if larger values come. What remains of a value after both parts, mostly 0, is added to the
 * planes directly.
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

/* Flags of a block: which special values it has. */
#define DPF_SUMS_NAN 1
#define DPF_SUMS_PLUS 2  /* plus infinity */
#define DPF_SUMS_MINUS 4 /* minus infinity */

typedef struct {
    size_t blocks;
    dpf_sums_cell *planes; /* DPF_SUMS_PLANES times blocks */
    uint8_t *used;         /* DPF_SUMS_PLANES flags: whether a plane may be other than 0 */
    uint8_t *seen;         /* the special values of each block, as flags */
    double *near;          /* 2 blocks: sums that are not in the planes yet, or NULL */
    size_t rows;           /* how many values `near` has */
    int e;                 /* all values of `near` are below 2^e */
} dpf_sums;

/* Up to this number of blocks `near` is faster: it stays in the second-level cache, and is rarely
 * added to the planes. */
#define DPF_SUMS_NEAR 16384

/* Adds x[i] to block labels[i] < blocks. A NaN or an infinity only sets its flag. */
void dpf_sums_add(dpf_sums *sums, const uint32_t *labels, const double *x, size_t n);
/* Adds `near` to the planes. This must come before dpf_sums_merge and dpf_sums_round. */
void dpf_sums_settle(dpf_sums *sums);
/* Adds n values to one block, at the speed of memory. Returns -1 when dpf_isa() has no path. */
int dpf_sums_add_run(const dpf_sums *sums, size_t block, const double *x, size_t n);
/* Adds x[cuts[j]] .. x[cuts[j + 1] - 1] to block first + j, for each j < runs. */
int dpf_sums_add_runs(const dpf_sums *sums, size_t first, size_t runs, const int64_t *cuts,
                      const double *x);
/* Adds the sums of `from`, which has as many blocks, after dpf_sums_settle. */
void dpf_sums_merge(const dpf_sums *sums, const dpf_sums *from);
/* Writes the sum of each block, after dpf_sums_settle, as fraction 2^exponent. It is rounded once,
 * to nearest with ties to even. 0.5 <= |fraction| <= 1, or the fraction is 0. Flags are ignored. */
void dpf_sums_round(const dpf_sums *sums, double *fraction, int32_t *exponent);

#endif
